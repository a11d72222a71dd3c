"""``reservoir prove``: check a finished plan, or anyone's schedule, and prove how far from the best possible it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.cli.options import FilePath

if TYPE_CHECKING:
    from reservoir.planning.checked_schedule import CheckedSchedule
    from reservoir.planning.checks import Check

#: Sentences of one kind that are shown on the screen.
_SHOWN = 12


@click.command("prove")
@click.argument("plan", metavar="PLAN_DIR|SCHEDULE.csv", type=FilePath())
@click.option(
    "--reservoir", "reservoir_file", metavar="FILE.toml", type=FilePath(), help="Reservoir, or system, of SCHEDULE.csv."
)
@click.option("--inflow", "inflow_file", metavar="INFLOW.csv", type=FilePath(), help="Inflow of SCHEDULE.csv.")
@options.reading
@options.horizon
@options.step
@options.proof_gap
@options.proof_seconds
@options.proof_device
@options.json
@options.debug
def command(
    plan: Path,
    reservoir_file: Path | None,
    inflow_file: Path | None,
    reading: dict[str, Any],
    horizon: str | None,
    step: str | None,
    gap: float,
    prove_seconds: float,
    device: str,
    as_json: bool,
) -> int:
    """Check a finished plan, or anyone's schedule, and prove how far from the best possible it is.

    PLAN_DIR is a folder written by "reservoir plan". SCHEDULE.csv has a release for each step (date or year and month,
    release_m3s); it needs --reservoir and --inflow. Storages, power, energy and violations are recomputed from the
    releases; then a number is proved for each year (or horizon) that no schedule within the limits can exceed. Nothing
    of the solver is trusted. The proof of PLAN_DIR is written into it, as "reservoir plan --prove" does. The exit
    status is 1 if a check fails.
    """
    from reservoir.cli.screen import progress_bars
    from reservoir.io.level_table import has_levels
    from reservoir.io.plan_folder.files import SYSTEM
    from reservoir.io.plan_folder.saved_plan import read_plan, require_follows
    from reservoir.planning.checks import plan_checks
    from reservoir.planning.proof import prove_plan
    from reservoir.planning.system_proof import prove_system_plan

    if options.names_system(reservoir_file) or (plan / SYSTEM).is_file():
        others = [*filter(None, (reservoir_file, inflow_file, horizon, step, *reading.values()))]
        if plan.is_dir() and not others:
            return _prove_system_folder(plan, gap, prove_seconds, device, as_json)
        _is_schedule(plan, reservoir_file, inflow_file or reservoir_file, others)
        assert reservoir_file is not None
        checked = _read_system(plan, reservoir_file, inflow_file, reading, horizon, step)
        with progress_bars() as progress:
            checked = checked.proven(prove_system_plan(checked.plan, gap, prove_seconds, progress, device))
        return _show(checked.plan, checked.checks(), as_json, checked)
    case = plan if has_levels(plan) else None  # a workbook of its own, with the schedule in a sheet
    files = options.CaseFiles.of(reservoir_file or case, inflow_file, reading)
    if _is_schedule(plan, files.reservoir, files.inflow, [*filter(None, (horizon, step, *reading.values()))]):
        given = _read(plan, files, reading["sheet"], horizon, step)
        with progress_bars() as progress:
            given = given.proven(prove_plan(given.plan, gap, prove_seconds, progress, device))
        return _show(given.plan, given.checks(), as_json, given)
    from reservoir.report.folder import claimed_for_proof, write_proof

    with claimed_for_proof(plan) as claim:
        saved = read_plan(plan)
        require_follows(saved)
        with progress_bars() as progress:
            proven = prove_plan(saved.plan, gap, prove_seconds, progress, device)
        folder = write_proof(saved, proven, claim)
    return _show(proven, plan_checks(proven), as_json, folder=folder)


def _prove_system_folder(folder: Path, gap: float, seconds: float, device: str, as_json: bool) -> int:
    """Prove bounds of a joint plan, and write them into its folder."""
    from reservoir.cli.screen import progress_bars
    from reservoir.io.plan_folder.saved_system import read_system_plan
    from reservoir.planning.checks import system_checks
    from reservoir.planning.system_proof import prove_system_plan
    from reservoir.report.folder import PRICES, SYSTEM_YEARS, claimed_for_proof
    from reservoir.report.system_folder import write_system_proof

    with claimed_for_proof(folder, (SYSTEM_YEARS, PRICES)) as claim:
        saved = read_system_plan(folder)
        with progress_bars() as progress:
            proven = prove_system_plan(saved.plan, gap, seconds, progress, device)
        written = write_system_proof(saved, proven, claim)
    return _show(proven, system_checks(proven), as_json, folder=written)


def _read_system(
    schedule: Path,
    system_file: Path,
    inflow: Path | None,
    reading: dict[str, Any],
    horizon: str | None,
    step: str | None,
) -> CheckedSchedule:
    from reservoir.io.given_schedule import read_given_schedules
    from reservoir.io.records.dates import DateStyle
    from reservoir.planning.checked_system import checked_system

    of_record, of_schedule = (
        options.sheets_for(one, other, reading["sheet"]) for one, other in ((inflow, schedule), (schedule, inflow))
    )
    system, inflows = options.read_case(system_file, inflow, {**reading, "sheet": of_record}, step)
    dates = DateStyle(reading["dates"] or "", reading["first_year"] or 0)
    return checked_system(system, inflows, read_given_schedules(schedule, inflows, of_schedule, dates), horizon)


def _is_schedule(plan: Path, reservoir_file: Path | None, inflow_file: Path | None, others: list[Any]) -> bool:
    """Whether a schedule in a file of its own is named; a plan's folder has its reservoir and inflow."""
    from reservoir.errors import InputError

    if plan.is_dir():
        if reservoir_file or inflow_file or others:
            problem = "a plan's folder has its own reservoir and inflow"
            mend = f"leave these options out, or name the schedule in it: {plan / 'schedule.csv'}"
            raise InputError(problem, "--gap, --prove-seconds, --device and --json alone", mend, str(plan))
        return False
    if not plan.exists():
        problem, expected = "there is no such folder or file", "a folder of reservoir plan, or a schedule"
        raise InputError(problem, expected, "check the name", str(plan))
    missing = [name for name, file in (("--reservoir", reservoir_file), ("--inflow", inflow_file)) if file is None]
    if missing:
        problem = f"a schedule alone does not say what it is of: {' and '.join(missing)} missing"
        mend = "name them, or give the folder of a plan"
        raise InputError(problem, "the reservoir file and the inflow of the schedule", mend, str(plan))
    return True


def _read(
    plan: Path, files: options.CaseFiles, sheet: Sequence[str], horizon: str | None, step: str | None
) -> CheckedSchedule:
    from reservoir.hydro.system import System
    from reservoir.io.given_schedule import read_given_schedule
    from reservoir.io.records.dates import DateStyle
    from reservoir.io.workbook import own_sheets
    from reservoir.planning.checked_schedule import checked_schedule

    of_schedule = own_sheets(plan, sheet)
    if plan not in (files.reservoir, files.inflow):  # a workbook of its own has sheets of its own
        sheet = [name for name in sheet if name not in of_schedule]
        files = files._replace(reading={**files.reading, "sheet": sheet})
    reservoir = files.plant(step, sheet)
    assert files.inflow is not None
    record = System.of(reservoir).on_calendar(options.read_record(files.inflow, files.reading, reservoir, step))
    schedule = read_given_schedule(
        plan, record, of_schedule, DateStyle(files.reading["dates"] or "", files.reading["first_year"] or 0)
    )
    return checked_schedule(reservoir, record, schedule, horizon)


def _show(
    plan: Any, checks: list[Check], as_json: bool, given: CheckedSchedule | None = None, folder: Path | None = None
) -> int:
    """Print what was proved, and the folder where it was written; the exit status."""
    from reservoir.cli import say
    from reservoir.cli.screen import checks_json, show_checks, show_json
    from reservoir.planning.checks import all_pass
    from reservoir.planning.sentences import proof_sentences

    if as_json:
        assert plan.proofs is not None
        content = checks_json(checks) | {"proof": plan.proofs.as_dict(), "years": _years(plan)}
        if given:
            content |= {"limits_not_kept": list(given.missed), "differences": list(map(str, given.differences))}
            content |= {"columns_not_read": list(given.not_read), "notes": list(given.notes)}
        show_json(content | ({"folder": str(folder)} if folder else {}))
        return 0 if all_pass(checks) else 1
    if given:
        say(given.energy_sentence())
        for note in given.notes:
            say(note[:1].upper() + note[1:])
        if given.not_read:
            say(f"Not read: {', '.join(given.not_read)}")
        for sentences in (given.missed, [str(each) for each in given.differences]):
            more = [f"... and {len(sentences) - _SHOWN:,} more of this kind"] if len(sentences) > _SHOWN else []
            for sentence in (*sentences[:_SHOWN], *more):
                say(sentence)
    for sentence in proof_sentences(plan):
        say(sentence)
    show_checks(checks, plan.units)
    if folder:
        say(f"Written to {folder}")
    return 0 if all_pass(checks) else 1


def _years(plan: Any) -> list[dict[str, Any]]:
    """Bound and gap of each year, those that are not known as null."""
    names = ["year", "proven_bound", "proven_gap"]
    summary = plan.summary()[names].astype(object)
    return [dict(zip(names, row, strict=True)) for row in summary.where(summary.notna(), None).to_numpy().tolist()]
