"""``reservoir check``: read an inflow record, and say how it was understood."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.cli.options import FilePath

if TYPE_CHECKING:
    from reservoir.hydro.inflow_check import InflowCheck
    from reservoir.hydro.unit_system import UnitSystem

_ADVICE = {"choose": "choose another --out", "replace": "give --force to replace it"}


@click.command("check")
@click.argument("inflow_file", metavar="INFLOW.csv", type=FilePath())
@click.option("--reservoir", "reservoir_file", metavar="FILE.toml", type=FilePath(), help="Reservoir file.")
@options.reading
@options.step
@options.units
@click.option("--out", type=FilePath(), help="Figure of the record to write: .png or .svg.  [default: none]")
@click.option("--force", is_flag=True, help="Replace an existing figure.")
@options.json
@options.debug
def command(
    inflow_file: Path,
    reservoir_file: Path | None,
    reading: dict[str, Any],
    step: str | None,
    unit_system: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Read an inflow record, and say how it was understood. Plans nothing.

    Shows unit, mean flow, years and their names, gaps, zeros in wet months, values that stay the same, and outliers
    among the values of each calendar month; with a reservoir also its active storage beside the mean annual inflow, and
    the mean inflow beside its turbines' capacity. Ends with 1 where these make a unit doubtful that nobody gave.
    """
    from reservoir.cli import say
    from reservoir.cli.screen import show_json
    from reservoir.hydro.inflow_check import InflowCheck
    from reservoir.hydro.unit_system import UnitSystem

    if out is not None:
        _require_figure(out, force=force)
    files = options.CaseFiles.of(reservoir_file, inflow_file, reading)
    reservoir = None if files.reservoir is None else files.plant(step, reading["sheet"])
    inflow = options.read_record(inflow_file, files.reading, reservoir, step)
    check, units = InflowCheck(inflow, reservoir), UnitSystem.of(unit_system or "si")
    if out is not None and not _draw(check, units, out, force=force):
        out = None
    if as_json:
        show_json(check.as_dict(units) | ({"figure": str(out)} if out else {}))
    else:
        _show(check, units)
        if out is not None:
            say(f"Written to {out}")
    return 1 if check.doubts else 0


def _require_figure(out: Path, *, force: bool) -> None:
    """Refuse a figure that cannot be written."""
    from reservoir.errors import InputError
    from reservoir.io.output import require_free

    if out.suffix.casefold() not in (".png", ".svg"):
        expected, mend = "a name that ends in .png or .svg", "choose another name"
        raise InputError("no figure has this name", expected, mend, column="--out", value=str(out))
    require_free(out, force=force, **_ADVICE)


def _draw(check: InflowCheck, units: UnitSystem, out: Path, *, force: bool) -> bool:
    """Whether the figure could be drawn, and was written."""
    from reservoir.cli.screen import drawn
    from reservoir.io.output import write_new
    from reservoir.report.figures.inflow import inflow_record_figure

    figure = drawn(out, lambda: inflow_record_figure(check, units), check.inflow.caveat)
    if figure is not None:
        write_new(out, lambda path: path.write_bytes(figure), force=force, **_ADVICE)
    return figure is not None


def _show(check: InflowCheck, units: UnitSystem) -> None:
    from reservoir.cli.screen import show_line, show_notes

    show_line("Inflow", check.inflow.source)
    if check.reservoir:
        show_line("Reservoir", f"{check.reservoir.name} ({check.reservoir.source})")
        show_notes(*map(units.text, check.reservoir.notes))
    show_notes(check.inflow.caveat, check.reservoir.caveat if check.reservoir else "")
    for topic, sentences in check.sentences(units).items():
        for place, sentence in enumerate(sentences):
            show_line("" if place else topic, sentence, "bold red" if topic == "Doubt" else "bold")
