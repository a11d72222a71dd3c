"""``reservoir tradeoff``: the front between two goals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.text.quantities import told_apart

if TYPE_CHECKING:
    from reservoir.planning.tradeoff import Tradeoff

#: Options by the arguments that messages name.
_NAMES = {"between": "--between", "objective": "--between", "horizon": "--horizon"}
#: Points that the screen shows.
_SHOWN = 11


@click.command("tradeoff")
@options.inputs
@click.option(
    "--between",
    metavar="GOAL,GOAL",
    default="energy,firm-power",
    show_default=True,
    help="Two of energy, revenue, firm-power, power-shortage, supply-shortage, unused-capacity.",
)
@click.option("--points", type=click.IntRange(3, 1001), default=21, show_default=True, help="Points of the front.")
@options.horizon
@options.step
@options.device
@click.option("--figures/--no-figures", default=True, help="Draw the figure.")
@options.units
@options.table_format
@options.out("a new folder")
@options.json
@options.debug
def command(
    request: options.Request,
    between: str,
    step: str | None,
    figures: bool,
    unit_system: str | None,
    table_format: str,
    out: Path | None,
    as_json: bool,
    **search: Any,
) -> None:
    """Find the front between two goals: what more of one costs of the other.

    Writes front.csv, a figure, report.html and a reservoir file for each point to a new folder; `reservoir plan --point
    FOLDER/NAME` plans a point in full.
    """
    from reservoir.cli import say, warn
    from reservoir.cli.options import named_as
    from reservoir.cli.screen import progress_bars, show_inputs, show_json, show_system_inputs
    from reservoir.hydro.unit_system import UnitSystem, told_in
    from reservoir.io.plan_folder.formats import PlanFormat, format_of
    from reservoir.planning.tradeoff import tradeoff
    from reservoir.report.folder import claimed_empty
    from reservoir.report.tradeoff_folder import tradeoff_provenance, write_tradeoff

    several = request.names_system
    read: Any = request.read_system(step) if several else request.read(step)
    operated, inflow = read if several else (read.reservoir, read.inflow)
    units, workbook = UnitSystem.of(unit_system or "si"), format_of(table_format, 1) is PlanFormat.XLSX
    with claimed_empty(out, f"tradeoff-{operated.name}") as claim:
        if not as_json:
            if several:
                show_system_inputs(operated, inflow, units)
            else:
                show_inputs(read, units)
        with progress_bars() as progress, named_as(_NAMES), told_in(units):
            goals = [name.strip() for name in between.split(",")]
            front = replace(tradeoff(operated, inflow, goals, progress=progress, **search), units=units)
        target = write_tradeoff(front, claim, figures=figures, workbook=workbook, tell=warn)
    if as_json:
        show_json(tradeoff_provenance(front) | {"folder": str(target)})
    else:
        _show(front)
        say(f"Written to {target}")


def _show(front: Tradeoff) -> None:
    from reservoir.cli.screen import Column, show_notes, show_table
    from reservoir.hydro.reservoir import Reservoir
    from reservoir.planning.notes import carry_over_note

    if isinstance(front.reservoir, Reservoir):
        show_notes(carry_over_note(front.reservoir, front.inflow, front.horizon))
    step = max(-(-len(front.points) // _SHOWN), 1)
    places = sorted({*range(0, len(front.points), step), len(front.points) - 1})
    points = [front.points[place] for place in places]
    values = map(told_apart, zip(*(point.values for point in points), strict=True))
    rows = list(zip([point.name for point in points], *values, strict=True))
    show_table((Column("point"), *(Column(label, "right") for label in front.labels)), rows)
