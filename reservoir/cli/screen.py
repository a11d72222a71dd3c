"""What is shown while a command works and at its end; rich leaves colours and bars out where nobody would see them."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from reservoir.cli.screen_table import Column, show_table
from reservoir.text.printable import printable
from reservoir.text.strict_json import strict_json

if TYPE_CHECKING:
    from reservoir.cli.options import Inputs
    from reservoir.planning.checks import Check
    from reservoir.planning.plan import Plan, StageProgress

#: Width where output goes into a pipe or a file: more than anything needs.
_PIPE_WIDTH = 100_000
_USUAL_WIDTH = 80


# What it says of fonts and settings is nothing that a user of this program can mend.
logging.getLogger("matplotlib").setLevel(logging.CRITICAL)


class PrintableConsole(Console):
    """A console that escapes what a terminal would obey: texts come from files that others wrote."""

    def render_str(self, text: str, **style: Any) -> Text:  # type: ignore[override]
        """Make what is printed of a string; rich asks for every one."""
        return super().render_str(printable(text), **style)


def console(stderr: bool = False) -> Console:
    """A console on standard output (or error) that does not cut lines in pipes."""
    stream = sys.stderr if stderr else sys.stdout
    width = _terminal_width(stream) if stream.isatty() else _PIPE_WIDTH
    return PrintableConsole(file=stream, width=width, highlight=False, soft_wrap=False)


def _terminal_width(stream: TextIO) -> int:
    """Columns of a terminal, as COLUMNS or else the terminal itself tells; some tell 0."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and len(told) < 5 and int(told):
        return int(told)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError):
        return _USUAL_WIDTH


@contextmanager
def progress_bars() -> Iterator[StageProgress]:
    """A bar a stage, on standard error, and only on a terminal."""
    screen = console(stderr=True)
    columns = (
        TextColumn("{task.description:<28}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=screen, disable=not screen.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


def show_inputs(found: Inputs) -> None:
    """Say what is worked on, what of it came with the program, and what must be said about it."""
    screen = console()
    plant, record = found.reservoir, found.inflow
    count = len(record.labels)
    years = f"{count} years, {record.labels[0]} to {record.labels[-1]}" if count > 1 else f"1 year, {record.labels[0]}"
    rows = (
        ("Reservoir", plant.name, plant.source, found.bundled_reservoir, plant.caveat),
        ("Inflow", years, record.source, found.bundled_inflow, record.caveat),
    )
    for title, what, source, bundled, caveat in rows:
        screen.print(f"[bold]{title:<10}[/]{escape(what)} ({'bundled' if bundled else escape(source)})", soft_wrap=True)
        if caveat:
            screen.print(f"{'':<10}[yellow]{escape(caveat)}[/]", soft_wrap=True)
    screen.print(f"{'':<10}{escape(record.scale)}", soft_wrap=True)
    for note in (*plant.notes, *record.notes):
        screen.print(f"{'':<10}[yellow]{escape(note)}[/]", soft_wrap=True)


def show_solver(plan: Plan) -> None:
    """Say which engine solved a plan, where, with which driver and seed, how long it took, and if one is stronger."""
    from reservoir.solvers import solver_named

    first = plan.solutions[0]
    driver = f" ({first.settings['platform']} {first.settings['driver']})" if "driver" in first.settings else ""
    busy = f", {first.device_seconds:.3g} s of them on the device" if first.device_seconds is not None else ""
    seed = f", seed {first.settings['seed']}" if "seed" in first.settings else ""
    line = f"{first.solver} on {first.device}{driver}{seed}: {first.wall_seconds:.3g} s{busy}"
    screen = console()
    screen.print(f"[bold]{'Solver':<10}[/]{escape(line)}", soft_wrap=True)
    if solver_named(first.solver).stronger:
        screen.print(f"{'':<10}{escape(solver_named(first.solver).stronger)}", soft_wrap=True)
    for note in plan.notes[len(plan.inflow.notes) + len(plan.reservoir.notes) :]:
        screen.print(f"{'':<10}[yellow]{escape(note)}[/]", soft_wrap=True)


def show_checks(checks: Sequence[Check]) -> None:
    """Print an acceptance table."""
    columns = (Column("check"), Column("value", "right"), Column("threshold", "right"), Column("pass", "center"))
    rows = []
    for check in checks:
        sign = "≥" if check.at_least else "≤"
        verdict = "[green]yes[/]" if check.passed else "[bold red]NO[/]"
        rows.append((escape(check.check), f"{check.value:.3g}", f"{sign} {check.threshold:.3g}", verdict))
    show_table(columns, rows, title="Acceptance")


def show_json(content: Any) -> None:
    """Print JSON on standard output."""
    sys.stdout.write(strict_json(content))


def checks_json(checks: Sequence[Check]) -> dict[str, Any]:
    """An acceptance table as JSON."""
    return {"checks": [check.as_dict() for check in checks]}
