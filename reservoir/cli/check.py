"""``reservoir check``: read an inflow record, and say how it was understood."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.cli.path_types import FilePath

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

    Shows unit, mean flow, years and their names, gaps, and outliers among the values of each calendar month; with a
    reservoir also its active storage beside the mean annual inflow, and the mean inflow beside its turbines' capacity.
    Ends with 1 where these make a unit doubtful that nobody gave.
    """
    from reservoir.cli.screen import show_json
    from reservoir.cli.streams import say
    from reservoir.hydro.inflow_check import InflowCheck
    from reservoir.hydro.unit_system import UnitSystem

    if out is not None:
        _require_figure(out, force=force)
    reservoir = None if reservoir_file is None else options.read_plant(reservoir_file, step)
    inflow = options.read_record(inflow_file, reading, reservoir, step)
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
    from reservoir.errors import InputError, Mistake
    from reservoir.io.output import require_free

    if out.suffix.casefold() not in (".png", ".svg"):
        expected, mend = "a name that ends in .png or .svg", "choose another name"
        raise InputError(Mistake("no figure has this name", expected, mend, column="--out", value=str(out)))
    require_free(out, force=force, **_ADVICE)


def _draw(check: InflowCheck, units: UnitSystem, out: Path, *, force: bool) -> bool:
    """Whether the figure could be drawn, and was written."""
    from reservoir.cli.streams import warn
    from reservoir.io.output import write_new
    from reservoir.report.figures.figures import attempted, left_out_sentences
    from reservoir.report.figures.inflow_record import inflow_record_figure
    from reservoir.report.figures.style import rendered

    left_out: dict[str, str] = {}
    kind = out.suffix.casefold()[1:]
    drawn = attempted(out.name, lambda: rendered(inflow_record_figure(check, units), kind), left_out)
    if drawn is not None:
        write_new(out, lambda path: path.write_bytes(drawn), force=force, **_ADVICE)
    for sentence in left_out_sentences(left_out):
        warn(sentence)
    return drawn is not None


def _show(check: InflowCheck, units: UnitSystem) -> None:
    from rich.markup import escape

    from reservoir.cli.screen import console

    screen = console()
    screen.print(f"[bold]{'Inflow':<10}[/]{escape(check.inflow.source)}", soft_wrap=True)
    if check.reservoir:
        name = f"{check.reservoir.name} ({check.reservoir.source})"
        screen.print(f"[bold]{'Reservoir':<10}[/]{escape(name)}", soft_wrap=True)
        for note in check.reservoir.notes:
            screen.print(f"{'':<10}[yellow]{escape(units.text(note))}[/]", soft_wrap=True)
    for caveat in (check.inflow.caveat, check.reservoir.caveat if check.reservoir else ""):
        if caveat:
            screen.print(f"{'':<10}[yellow]{escape(caveat)}[/]", soft_wrap=True)
    for topic, sentences in check.sentences(units).items():
        for place, sentence in enumerate(sentences):
            style = "bold red" if topic == "Doubt" else "bold"
            screen.print(f"[{style}]{'' if place else topic:<10}[/]{escape(sentence)}", soft_wrap=True)
