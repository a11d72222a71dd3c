"""Output of a command while it runs and at its end; rich omits colours and bars where there is no terminal."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TextIO

from rich.box import HEAVY_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.text.quantities import counted, printable, quantity
from reservoir.text.strict_json import strict_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reservoir.cli.options import Inputs
    from reservoir.hydro.site_inflows import SiteInflows
    from reservoir.hydro.system import System
    from reservoir.planning.checks import Check
    from reservoir.planning.plan import Plan
    from reservoir.planning.system_plan import SystemPlan

#: Width where output goes into a pipe or a file: more than anything needs.
_PIPE_WIDTH = 100_000
_USUAL_WIDTH = 80
#: Nothing here is as high; without both numbers rich reads COLUMNS and LINES, and ends with one of 5,000 digits.
_HEIGHT = 24


class PrintableConsole(Console):
    """A console that escapes what a terminal would obey: texts come from files that others wrote."""

    def render_str(self, text: str, **style: Any) -> Text:  # type: ignore[override]
        """Make what is printed of a string; rich asks for every one."""
        return super().render_str(printable(text), **style)


def console(stderr: bool = False) -> Console:
    """A console on standard output (or error) that does not cut lines in pipes."""
    stream = sys.stderr if stderr else sys.stdout
    width = _terminal_width(stream) if stream.isatty() else _PIPE_WIDTH
    return PrintableConsole(file=stream, width=width, height=_HEIGHT, highlight=False, soft_wrap=False)


def _terminal_width(stream: TextIO) -> int:
    """Columns of a terminal, as COLUMNS or else the terminal itself tells; some tell 0."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and len(columns) < 5 and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError):
        return _USUAL_WIDTH


def show_line(title: str, text: str, style: str = "bold", *, body: str = "", width: int = 10) -> None:
    """Print a line behind its title, each in a style; an empty title leaves its place free.

    On a terminal it goes on below itself.
    """
    screen, shown = console(), f"[{body}]{escape(text)}[/]" if body else escape(text)
    if not screen.is_terminal:
        screen.print(f"[{style}]{escape(title):<{width}}[/]{shown}", soft_wrap=True)
        return
    line = Table.grid()
    line.add_column(width=max(width, cell_len(title) + 1))
    line.add_column(overflow="fold")
    line.add_row(f"[{style}]{escape(title)}[/]", shown)
    screen.print(line)


def show_notes(*notes: str) -> None:
    """Print notes below what they are on, each in a line; an empty one is none."""
    for note in filter(None, notes):
        show_line("", note, body="yellow")


def drawn(file: Path, figure: Callable[[], Figure], *texts: str) -> bytes | None:
    """A figure in the format of a file's name; None where it cannot be drawn, which is said.

    Said too is which of the `texts` of others in it no font can show.
    """
    from reservoir.cli import warn
    from reservoir.report.figures.figures import attempted, left_out_sentences
    from reservoir.report.figures.style import rendered, undrawn_sentence

    left_out: dict[str, str] = {}
    content = attempted(file.name, lambda: rendered(figure(), file.suffix.casefold()[1:]), left_out)
    for sentence in filter(None, (*left_out_sentences(left_out), undrawn_sentence(*texts))):
        warn(sentence)
    return content


#: Words are not folded narrower than this.
_LEAST_WORDS = 16


@dataclass(frozen=True)
class Column:
    """A column: its title and side; those on the left hold words, which may be folded."""

    title: str
    side: Literal["left", "right", "center"] = "left"


def show_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    caption: str = "",
    lines_after: Collection[int] = (),
    most_columns: int | None = None,
    screen: Console | None = None,
) -> None:
    """Print a table, as wide as it needs to be, or folded into the screen; on a very narrow one a line a cell.

    Parameters
    ----------
    columns : sequence of Column
    rows : sequence of sequence of str
        Cells in rich's markup.
    title, caption : str
        Lines before and after it.
    lines_after : collection of int
        Rows behind which a line is drawn.
    most_columns : int, optional
        How many of the columns a file or a pipe gets; a terminal gets as many of them all as it has room for.
    screen : Console, optional
        Standard output if not given.
    """
    screen = screen or console()
    widths = _widths(columns, rows, screen.width)
    if most_columns is not None and (widths is None or screen.width == _PIPE_WIDTH):
        counts = range(len(columns) if screen.width < _PIPE_WIDTH else most_columns, 0, -1)
        tried = ((count, _widths(columns[:count], rows, screen.width)) for count in counts)
        count, widths = next((each for each in tried if each[1] is not None), (most_columns, None))
        columns, rows = columns[:count], [row[:count] for row in rows]
    if title:
        screen.print(f"[bold]{title}[/]", soft_wrap=True)
    if widths is None:
        for row in rows:
            for column, cell in zip(columns, row, strict=True):
                if cell:
                    screen.print(f"{column.title}: {cell}" if column.title else cell, soft_wrap=True)
            screen.print()
    else:
        table = Table(box=HEAVY_HEAD)
        for column, width in zip(columns, widths, strict=True):
            table.add_column(column.title, width=width, justify=column.side, overflow="fold")
        for number, row in enumerate(rows):
            table.add_row(*row, end_section=number in lines_after)
        screen.print(table)
    if caption:
        screen.print(caption, soft_wrap=True)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], most: int) -> list[int] | None:
    """Width of each column in so many characters; None if numbers would be cut."""
    wished, least = [], []
    for place, column in enumerate(columns):
        longest = max((cell_len(Text.from_markup(row[place]).plain) for row in rows), default=1)
        heading = max(map(cell_len, column.title.split()), default=1)
        wished.append(max(cell_len(column.title), longest, 1))
        least.append(max(heading, min(longest, _LEAST_WORDS) if column.side == "left" else longest))
    room = most - 3 * len(columns) - 1
    if sum(least) > room:
        return None
    widths = [min(pair) for pair in zip(wished, least, strict=True)]
    while sum(widths) < min(room, sum(wished)):
        short = [wish - width for wish, width in zip(wished, widths, strict=True)]
        widths[short.index(max(short))] += 1
    return widths


class _Bar(BarColumn):
    """A bar that runs to and fro until a first piece is done: a launch on a device tells nothing before its end."""

    def render(self, task: Task) -> ProgressBar:
        """The bar of a stage."""
        bar = super().render(task)
        bar.pulse = bar.pulse or not task.completed
        return bar


#: The time to go follows from the speed of so many last seconds.
SPEED_SECONDS = 600.0

# What it says of fonts and settings is nothing that a user of this program can mend.
logging.getLogger("matplotlib").setLevel(logging.CRITICAL)


#: Set to ``lines``, progress is told to another program where there is no terminal.
PROGRESS = "RESERVOIR_PROGRESS"
#: Seconds from a line of a stage to its next.
_LINE_SECONDS = 0.2


@contextmanager
def progress_bars() -> Iterator[Callable[[str, float, int | None], None]]:
    """A bar a stage, on standard error, and only on a terminal, with the time that it takes.

    What is compiled, the first time on a machine, has bars of its own: how many functions, or programs of a device, are
    ready, not yet of how many. With the environment variable `PROGRESS`, a line of JSON is written for each change
    instead, at most five a second of a stage, and always its last.
    """
    screen = console(stderr=True)
    lines = os.environ.get(PROGRESS) == "lines" and not screen.is_terminal
    built = Counter[str]()
    with ExitStack() as stack:
        if not lines and not screen.is_terminal:
            yield lambda stage, done, total: None
            return
        show = stack.enter_context(_told_in_lines(screen.file) if lines else _told_in_bars(screen))

        def show_compiling(name: str, parts: int, ready: bool) -> None:
            show(f"compiling {name}", parts, parts if ready else None)

        def show_building(device: str, ready: bool) -> None:
            built[device] += ready
            show(f"compiling for {device}", built[device], built[device] if ready else None)

        from reservoir.hydro.jit import compiling_told  # takes a moment
        from reservoir.opencl.program import builds_told

        stack.enter_context(compiling_told(show_compiling))
        stack.enter_context(builds_told(show_building))
        yield show


@contextmanager
def _told_in_bars(screen: Console) -> Iterator[Callable[[str, float, int | None], None]]:
    columns = (
        TextColumn("{task.description:<28}"),
        _Bar(bar_width=32),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("to go"),
    )
    with Progress(*columns, console=screen, speed_estimate_period=SPEED_SECONDS) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: float, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


@contextmanager
def _told_in_lines(stream: IO[str]) -> Iterator[Callable[[str, float, int | None], None]]:
    """Lines for a program; a change that comes too soon waits for a later one, of any stage, or for the end."""
    waiting: dict[str, tuple[str, bool]] = {}
    written: dict[str, tuple[float, bool]] = {}

    def write(now: float) -> None:
        for stage, (line, whole) in [*waiting.items()]:
            then, was_whole = written.get(stage, (-inf, False))
            if now - then >= _LINE_SECONDS or (whole and not was_whole):
                written[stage] = now, whole
                waiting.pop(stage, None)
                stream.write(line)
        stream.flush()

    def show(stage: str, done: float, total: int | None) -> None:
        line = json.dumps({"stage": stage, "done": float(done), "total": total})
        waiting[stage] = f"{line}\n", done == total
        write(time.monotonic())

    yield show
    write(inf)


def show_inputs(inputs: Inputs, units: UnitSystem = SI) -> None:
    """Say what is worked on, what of it came with the program, and what must be said about it."""
    from reservoir.hydro.inflow_check import InflowCheck

    plant, record = inputs.reservoir, inputs.inflow
    for title, doubts in (("Warning", (inputs.stranger,)), ("Doubt", InflowCheck(record, plant).doubts)):
        for sentence in filter(None, doubts):
            show_line(title, units.text(sentence), "bold red", body="bold red")
    years = f"{counted(record.years)}, {record.span_text}"
    for title, what, source, bundled, caveat in (
        ("Reservoir", plant.name, plant.source, inputs.bundled_reservoir, plant.caveat),
        ("Inflow", years, record.source, inputs.bundled_inflow, record.caveat),
    ):
        show_line(title, f"{what} ({'bundled' if bundled else source})")
        show_notes(caveat)
    show_line("", record.scale_in(units))
    show_notes(*map(units.text, (*plant.notes, *(note for note in record.notes if note != inputs.stranger))))


def show_system_inputs(
    system: System, inflows: SiteInflows, units: UnitSystem, notes: Sequence[str] | None = None
) -> None:
    """Say which system and which record a command works on, with what the user should know: `notes`, else theirs."""
    links = ", ".join(map(str, system.links)) or "none"
    show_line("System", f"{system.name}: {', '.join(system.names)}; links: {links} ({system.source or 'made here'})")
    first = inflows.first
    show_line("Inflow", f"{first.span_text}, {counted(first.years)} ({first.source})")
    show_line("", inflows.scale_in(units))
    of_each = (note for each in system.reservoirs for note in (each.caveat, *(f"{each.name}: {a}" for a in each.notes)))
    own = dict.fromkeys((system.caveat, inflows.caveat, *of_each, *inflows.notes))
    show_notes(*map(units.text, own if notes is None else notes))


def show_system(plan: SystemPlan) -> None:
    """Say what a joint plan is of, how it was found, and what it comes to."""
    from reservoir.planning.sentences import energy_sentence, objective_sentence

    units, first, kept = plan.units, plan.solutions[0], plan.keeps_limits
    show_system_inputs(plan.system, plan.inflows, units, (*plan.caveats, *plan.notes))
    seconds = ", ".join(f"{stage} {spent:.3g} s" for stage, spent in plan.seconds.items() if stage != "prepare")
    show_line("Solver", f"{first.device}: {seconds}")
    of_sources = ", ".join(f"{name} {count}" for name, count in plan.source_counts.items())
    show_line("Sources", f"schedules of {counted(plan.inflow.years, plan.year_word)}: {of_sources}")
    show_line("Energy", energy_sentence(plan))
    if sentence := objective_sentence(plan):
        show_line("Objective", sentence)
    for name, site in plan.sites.items() if kept.any() else ():
        show_line("", f"{name}: {quantity(float(site.energy_gwh[kept].mean()))} GWh a {plan.year_word}")
    if not kept.all():
        outside = [str(label) for label, fine in zip(plan.inflow.labels, kept, strict=True) if not fine]
        listed = ", ".join(outside[:_MOST_LISTED]) + (" and others" if len(outside) > _MOST_LISTED else "")
        show_line("Limits", f"{counted(len(outside), plan.year_word)} violate limits or demands: {listed}", "red")
    from reservoir.planning.sentences import proof_sentences

    for sentence in proof_sentences(plan):
        show_line("Proof", sentence)


#: Years that are named.
_MOST_LISTED = 12


def show_solver(plan: Plan) -> None:
    """Say which engine solved a plan, where, with which driver and seed, how long it took, and whose the schedules are.

    Whose is said only if some are not of the engine's first run.
    """
    from reservoir.planning.sentences import source_sentence

    first, made = plan.solutions[0], plan.settings
    driver = f" ({made['platform']} {made['driver']})" if "driver" in made else ""
    busy = f", {first.device_seconds:.3g} s on the device" if first.device_seconds is not None else ""
    seed = f", seed {made['seed']}" if "seed" in made else ""
    show_line("Solver", f"{first.solver} on {first.device}{driver}{seed}: {first.wall_seconds:.3g} s{busy}")
    if sentence := source_sentence(plan):
        show_line("Sources", sentence)
    show_notes(*map(plan.units.text, plan.notes[len(plan.inflow.notes) + len(plan.reservoir.notes) :]))


def show_checks(checks: Sequence[Check], units: UnitSystem = SI) -> None:
    """Print what checks say: a sentence where all pass, else their table, and what failing ones mean."""
    from reservoir.planning.checks import failed_sentences, passed_sentence

    if sentence := passed_sentence(checks):
        show_line("Checks", sentence)
        return
    columns = (Column("check"), Column("value", "right"), Column("threshold", "right"), Column("pass", "center"))
    rows = []
    for check in (each.in_units(units) for each in checks):
        verdict = {True: "[green]yes[/]", False: "[bold red]NO[/]", None: ""}[check.passed]
        rows.append((escape(check.check), f"{check.value:.3g}", check.limit, verdict))
    show_table(columns, rows, title="Acceptance")
    for sentence in failed_sentences(checks):
        show_line("Failed", sentence, "bold red")


def show_json(content: Any) -> None:
    """Print JSON on standard output."""
    sys.stdout.write(strict_json(content))


def checks_json(checks: Sequence[Check]) -> dict[str, Any]:
    """An acceptance table as JSON."""
    return {"checks": [check.as_dict() for check in checks]}
