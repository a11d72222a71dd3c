"""Output of a command while it runs and at its end; rich omits colours and bars where there is no terminal."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from reservoir.cli.console import console
from reservoir.cli.screen_table import Column, show_table
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.text.quantities import counted
from reservoir.text.strict_json import strict_json

if TYPE_CHECKING:
    from reservoir.cli.options import Inputs
    from reservoir.planning.checks import Check
    from reservoir.planning.plan import Plan, StageProgress

#: The time to go follows from the speed of so many last seconds.
SPEED_SECONDS = 600.0

# What it says of fonts and settings is nothing that a user of this program can mend.
logging.getLogger("matplotlib").setLevel(logging.CRITICAL)


@contextmanager
def progress_bars() -> Iterator[StageProgress]:
    """A bar a stage, on standard error, and only on a terminal."""
    screen = console(stderr=True)
    columns = (
        TextColumn("{task.description:<28}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("to go"),
    )
    silent = not screen.is_terminal
    with Progress(*columns, console=screen, disable=silent, speed_estimate_period=SPEED_SECONDS) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total, completed=done)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


def show_inputs(found: Inputs, units: UnitSystem = SI) -> None:
    """Say what is worked on, what of it came with the program, and what must be said about it."""
    from reservoir.hydro.inflow_check import InflowCheck

    screen = console()
    plant, record = found.reservoir, found.inflow
    units = units.keeping(plant, record)
    for title, told in (("Warning", (found.stranger,)), ("Doubt", InflowCheck(record, plant).doubts)):
        for sentence in filter(None, told):
            screen.print(f"[bold red]{title:<10}{escape(units.text(sentence))}[/]", soft_wrap=True)
    years = f"{counted(record.years)}, {record.span_text}"
    rows = (
        ("Reservoir", plant.name, plant.source, found.bundled_reservoir, plant.caveat),
        ("Inflow", years, record.source, found.bundled_inflow, record.caveat),
    )
    for title, what, source, bundled, caveat in rows:
        screen.print(f"[bold]{title:<10}[/]{escape(what)} ({'bundled' if bundled else escape(source)})", soft_wrap=True)
        if caveat:
            screen.print(f"{'':<10}[yellow]{escape(caveat)}[/]", soft_wrap=True)
    screen.print(f"{'':<10}{escape(record.scale_in(units))}", soft_wrap=True)
    for note in (*plant.notes, *(note for note in record.notes if note != found.stranger)):
        screen.print(f"{'':<10}[yellow]{escape(units.text(note))}[/]", soft_wrap=True)


def show_solver(plan: Plan) -> None:
    """Say which engine solved a plan, where, with which driver and seed, how long it took, and whose the schedules are.

    Whose is said only if some are not of the engine's first run.
    """
    from reservoir.planning.sentences import source_sentence

    first = plan.solutions[0]
    made = plan.settings
    driver = f" ({made['platform']} {made['driver']})" if "driver" in made else ""
    busy = f", {first.device_seconds:.3g} s on the device" if first.device_seconds is not None else ""
    seed = f", seed {made['seed']}" if "seed" in made else ""
    line = f"{first.solver} on {first.device}{driver}{seed}: {first.wall_seconds:.3g} s{busy}"
    screen = console()
    screen.print(f"[bold]{'Solver':<10}[/]{escape(line)}", soft_wrap=True)
    if sentence := source_sentence(plan):
        screen.print(f"[bold]{'Sources':<10}[/]{escape(sentence)}", soft_wrap=True)
    for note in plan.notes[len(plan.inflow.notes) + len(plan.reservoir.notes) :]:
        screen.print(f"{'':<10}[yellow]{escape(plan.units.text(note))}[/]", soft_wrap=True)


def show_checks(checks: Sequence[Check], units: UnitSystem = SI) -> None:
    """Print an acceptance table."""
    columns = (Column("check"), Column("value", "right"), Column("threshold", "right"), Column("pass", "center"))
    rows = []
    for check in (each.in_units(units) for each in checks):
        verdict = {True: "[green]yes[/]", False: "[bold red]NO[/]", None: ""}[check.passed]
        rows.append((escape(check.check), f"{check.value:.3g}", check.limit, verdict))
    show_table(columns, rows, title="Acceptance")


def show_json(content: Any) -> None:
    """Print JSON on standard output."""
    sys.stdout.write(strict_json(content))


def checks_json(checks: Sequence[Check]) -> dict[str, Any]:
    """An acceptance table as JSON."""
    return {"checks": [check.as_dict() for check in checks]}
