"""``reservoir check``: read an inflow record, and say how it was understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
@click.argument("inflow_file", metavar="INFLOW.csv", required=False, type=FilePath())
@click.option("--reservoir", "reservoir_file", metavar="FILE.toml", type=FilePath(), help="Reservoir or system file.")
@options.reading
@options.step
@options.units
@click.option("--out", type=FilePath(), help="Figure of the record to write: .png or .svg.  [default: none]")
@click.option("--force", is_flag=True, help="Replace an existing figure.")
@options.json
@options.debug
def command(
    inflow_file: Path | None,
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
    the mean inflow beside its turbines' capacity. Ends with 1 where these make a unit doubtful that nobody gave, or
    where an annual release is more than a year has.

    With a system file, every reservoir's record and the system: flows with all that comes from above, totals given as
    local inflow, sums, travel times that the flows contradict, and least releases that cannot be given, which end with
    1 too; and tailraces that a lower lake reaches without backwater.
    """
    from reservoir.cli import say
    from reservoir.cli.screen import show_json
    from reservoir.hydro.inflow_check import InflowCheck
    from reservoir.hydro.unit_system import UnitSystem

    if out is not None:
        _require_figure(out, force=force)
    if options.names_system(reservoir_file):
        assert reservoir_file is not None
        return _check_system(reservoir_file, inflow_file, reading, step, unit_system, out, as_json=as_json)
    files = options.CaseFiles.of(reservoir_file, inflow_file, reading)
    if files.inflow is None:
        raise click.UsageError("Missing argument 'INFLOW.csv': only a system file may name the records itself.")
    reservoir = None if files.reservoir is None else files.plant(step, reading["sheet"])
    inflow = options.read_record(files.inflow, files.reading, reservoir, step)
    check, units = InflowCheck(inflow, reservoir), UnitSystem.of(unit_system or "si")
    if out is not None and not _draw(check, units, out, force=force):
        out = None
    if as_json:
        show_json(check.as_dict(units) | ({"figure": str(out)} if out else {}))
    else:
        _show(check, units)
        if out is not None:
            say(f"Written to {out}")
    return 1 if check.all_doubts else 0


def _check_system(
    file: Path,
    inflow_file: Path | None,
    reading: dict[str, Any],
    step: str | None,
    unit_system: str | None,
    out: Path | None,
    *,
    as_json: bool,
) -> int:
    """Check the records of a system, each and together."""
    from reservoir.cli.screen import show_json, show_line, show_notes
    from reservoir.errors import InputError
    from reservoir.hydro.curve_checks import notes_of_file
    from reservoir.hydro.system_check import SystemCheck
    from reservoir.hydro.unit_system import UnitSystem

    if out is not None:
        mend = "leave out --out, or give the file of one reservoir and --column"
        raise InputError("does not draw systems yet", "the record of one reservoir", mend, column="--out")
    system, inflows = options.read_case(file, inflow_file, reading, step)
    check, units = SystemCheck(system, inflows), UnitSystem.of(unit_system or "si")
    notes = [*notes_of_file(system.content)]
    if as_json:
        show_json(check.as_dict(units) | {"notes": notes})
        return 1 if check.doubts else 0
    show_line("System", f"{system.name} ({system.source})")
    show_notes(*notes, system.caveat)
    of_each = {name: each.sentences(units) for name, each in check.checks.items()}
    first = next(iter(of_each.values()))
    alike = [topic for topic, said in first.items() if all(each.get(topic) == said for each in of_each.values())]
    _show_topics({topic: first[topic] for topic in alike})
    for reservoir in system.reservoirs:
        show_line("Reservoir", f"{reservoir.name} ({reservoir.source})")
        own = of_each[reservoir.name] | {"Size": check.sizes[reservoir.name].sentences(units)["Size"]}
        show_notes(*map(units.text, reservoir.notes), reservoir.caveat)
        _show_topics({topic: said for topic, said in own.items() if topic not in alike})
    _show_topics(check.sentences(units))
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
    _show_topics(check.sentences(units))


def _show_topics(topics: Mapping[str, Sequence[str]]) -> None:
    from reservoir.cli.screen import show_line

    for topic, sentences in topics.items():
        for place, sentence in enumerate(sentences):
            show_line("" if place else topic, sentence, "bold red" if topic == "Doubt" else "bold")
