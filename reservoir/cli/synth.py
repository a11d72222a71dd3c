"""``reservoir synth``: synthetic inflow from a record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.cli.options import FilePath, named_as
from reservoir.text.quantities import counted, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reservoir.hydro.inflow import Inflow
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.report.synthetic_files import SyntheticFiles
    from reservoir.synthetic.acceptance import Assessment

#: An ensemble is held in memory.
_MOST_YEARS = 1_000_000
#: Options by the arguments that messages name.
_NAMES = {
    "method": "--method",
    "mean": "--mean",
    "cv": "--cv",
    "shift_season": "--shift-season",
    "member_years": "--member-years",
}


# fmt: off
_OPTIONS = (
    options.inputs,
    click.option("--years", type=click.IntRange(1, _MOST_YEARS), default=1000, show_default=True,
        help="Years to make, rounded up to whole members."),
    click.option("--member-years", type=click.IntRange(1, _MOST_YEARS),
        help="Years of each member.  [default: as many as the record has]"),
    click.option("--method", metavar="NAME", default="kirsch", show_default=True,
        help="kirsch, thomas-fiering or knn."),
    options.seed,
    click.option("--mean", metavar="PERCENT", help="Change of the mean flow, such as -10%."),
    click.option("--cv", metavar="PERCENT", help="Change of every month's coefficient of variation, such as +15%."),
    click.option("--shift-season", metavar="DAYS", help="Days by which the season comes later, such as 15d or -15d."),
    click.option("--check/--no-check", default=True, show_default=True,
        help="Compare with the record, with a reservoir also the optimised energy; status 1 if a check fails."),
    options.device, options.units,
    click.option("--format", "table_format", type=click.Choice(["csv", "xlsx", "netcdf"]),
        help="Format of the ensemble; of xlsx, the table of the checks is a sheet beside it.  [default: as --out ends, "
        "else csv]"),
    click.option("--out", type=FilePath(),
        help="File to write: a workbook if it ends in .xlsx, NetCDF if it ends in .nc, else CSV.  [default: "
        "inflow-METHOD.csv in the current folder]"),
    click.option("--force", is_flag=True, help="Replace existing files."),
    options.json, options.debug,
)
# fmt: on


@click.command("synth")
@options.taking(_OPTIONS)
def command(
    request: options.Request,
    years: int,
    member_years: int | None,
    method: str,
    seed: int,
    mean: str | None,
    cv: str | None,
    shift_season: str | None,
    check: bool,
    device: str,
    unit_system: str | None,
    table_format: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Make synthetic inflow from a record: an ensemble of members that are like it, and none of which ever was.

    The acceptance table compares members as long as the record with the record. With --reservoir or --case, dynamic
    programming optimises both, and energy and firm power are compared too. The table in full and a figure are written
    beside the output. With climate adjustments, the record is adjusted in the same way before it is compared.

    Of a system, the inflow of all reservoirs is made together: a column each, and correlations among them are compared.
    """
    from reservoir.cli import warn
    from reservoir.cli.screen import checks_json, progress_bars, show_json
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.io.records.sites import as_recorded
    from reservoir.planning.checks import all_pass
    from reservoir.report.synthetic_files import SyntheticFiles
    from reservoir.synthetic.acceptance import assessed, what_to_try
    from reservoir.synthetic.ensemble import Adjustments, synthetic_inflow
    from reservoir.synthetic.sites import synthetic_sites

    units = UnitSystem.of(unit_system or "si")
    with named_as(_NAMES | {"format": "--format"}):
        adjustments = Adjustments.of(mean, cv, shift_season)
        reservoir, system, notes = None, None, tuple[str, ...]()
        if request.names_system:
            system, sites = request.read_system()
            source: Any = synthetic_sites(sites, method, seed=seed, adjustments=adjustments)
        else:
            given = options.CaseFiles.of(request.reservoir_file, request.inflow_file, request.reading)
            if given.inflow is None or given.reservoir or request.case:
                inputs = request.read()  # neither file nor case is the bundled case
                reservoir, record = inputs.reservoir, inputs.inflow
            else:
                record = options.read_record(given.inflow, given.reading, None)
            source = synthetic_inflow(record, method, seed=seed, adjustments=adjustments)
        of_member = member_years or source.calendar.years
        members = -(-years // of_member)
        ensemble = source.ensemble(members, of_member)
        if system:
            ensemble, notes = as_recorded(system, ensemble)
        target = _target(out, f"inflow-{method}", table_format, members * of_member)
        files = SyntheticFiles(target, sites=source.sites, checked=check, force=force, units=units, tell=warn)
    assessment, to_try = None, ""
    if check:
        with progress_bars() as progress:
            how: dict[str, Any] = {"device": device, "progress": progress}
            assessment = assessed(source, members, reservoir, **how)
            to_try = what_to_try(source, assessment, members, reservoir, **how)
    files.write(ensemble, source, assessment)
    passed = assessment is None or all_pass(assessment.checks)
    if as_json:
        content: dict[str, Any] = {"members": members, "member_years": of_member, "caveat": ensemble.caveat}
        content |= {"sites": list(source.sites), "notes": list(notes)} if system else {}
        content["files"] = [str(path) for path in files.written]
        if assessment:
            content |= checks_json(assessment.checks) | {"not_checked": assessment.not_checked, "pass": passed}
            content |= {"try": to_try} if to_try else {}
        show_json(content)
    else:
        records = {site: each.record for site, each in source.sites.items()}
        made = zip(records.items(), ensemble.values() if system else [ensemble], strict=True)
        _show([(site, record, each) for (site, record), each in made], notes, files, assessment, to_try, units)
    return 0 if passed else 1


#: How the file of a format ends.
_ENDINGS = {"csv": ".csv", "xlsx": ".xlsx", "netcdf": ".nc"}


def _target(out: Path | None, name: str, asked: str | None, years: int) -> Path:
    """The file of an ensemble of so many years, refused where its name is that of another format than is asked for."""
    from reservoir.errors import InputError
    from reservoir.hydro.calendar import MONTHS_PER_YEAR
    from reservoir.io.workbook import MOST_ROWS, require_openpyxl

    target = out or Path(f"{name}{_ENDINGS[asked or 'csv']}")
    by_name = next((kind for kind, ending in _ENDINGS.items() if target.name.casefold().endswith(ending)), "csv")
    if asked not in (None, by_name):
        problem, expected = f"is not that of --out {target}", f"a name that ends in {_ENDINGS[asked]}"
        raise InputError(
            problem, expected, "name the file so, or leave one of them out", column="--format", value=asked
        )
    if by_name == "xlsx":
        require_openpyxl(years * MONTHS_PER_YEAR, MOST_ROWS - 2)  # the heading and the caveat are read, too
    return target


def _show(
    sites: Sequence[tuple[str, Inflow, Inflow]],
    notes: Sequence[str],
    files: SyntheticFiles,
    assessment: Assessment | None,
    to_try: str,
    units: UnitSystem,
) -> None:
    from reservoir.cli import say
    from reservoir.cli.screen import show_checks, show_line, show_notes

    for site, record, ensemble in sites:
        of_member, of_site = ensemble.calendar.years_each, f"{site}: " if site else ""
        years = f"{counted(ensemble.years // of_member, 'member')} of {counted(of_member, 'year')}"
        mean, unit = units.amount(ensemble.mean_m3s, "m3s")
        show_line("Record", f"{of_site}{record.labels[0]} to {record.labels[-1]}, {record.scale_in(units)}")
        show_line("Synthetic", f"{of_site}{years}, mean flow {quantity(mean)} {unit}")
    left_out = "The record's evaporation and withdrawals are left out: members have inflow alone."
    own = dict.fromkeys(units.text(note) for _, record, _ in sites for note in record.notes)
    has_conditions = any(record.has_conditions for _, record, _ in sites)
    show_notes(ensemble.caveat, *own, left_out if has_conditions else "", *notes)
    if assessment:
        show_checks(assessment.checks)
        if assessment.not_checked:
            say(f"Not checked: {assessment.not_checked}")
        if to_try:
            say(f"Try {to_try}")
    say(f"Written to {', '.join(map(str, files.written))}")
