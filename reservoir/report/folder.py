"""A plan as a folder of files, written as a whole or not at all; and a proof that is added to it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import Mistake, OutputError
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.inflow import Inflow, first_days
from reservoir.io.output import Claim, claimed, claimed_new, drafted, nothing, write_new
from reservoir.io.plan_folder import files
from reservoir.io.plan_folder.arrays import write_arrays
from reservoir.io.plan_folder.files import FIGURES, FILES, FORMAT, INFLOW, MEMBERS, PROVENANCE, RESERVOIR, SUMMARY
from reservoir.io.plan_folder.files import write_json as write_json
from reservoir.io.plan_folder.formats import DATASETS, PlanFormat, append_to_dataset, format_of, write_dataset
from reservoir.io.plan_folder.saved_plan import SavedPlan, copy_inputs, plan_arrays, proof_arrays
from reservoir.io.plan_folder.tables import read_cells, read_sheets, write_table
from reservoir.io.plan_folder.tables import write_tables as tables_written
from reservoir.io.workplace import contents, leaves
from reservoir.planning.checks import Check, plan_checks, proof_lines, system_checks
from reservoir.planning.columns import PROVEN_BOUND, PROVEN_GAP, forms_of_cells
from reservoir.planning.operated_record import members_table, schedule_columns
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import chosen, shortfall_months, shortfalls
from reservoir.planning.stopwatch import Profile, Timer, untimed
from reservoir.text.strict_json import strict_json

if TYPE_CHECKING:
    from reservoir.planning.system_plan import SystemPlan

#: The plan for people: opens in any browser, offline.
REPORT = "report.html"
#: What `reservoir rules` adds.
RULES, SCORES, ROBUSTNESS, RULES_PROVENANCE = "rules", "scores.csv", "robustness.csv", "rules.json"
RULES_REPORT, RULES_WORKBOOK = "rules.html", "rules.xlsx"
#: Fits of rules that are kept until the rules are written.
FITS = "rules.parts"
#: What `reservoir plan --profile` adds.
PROFILE = "profile.json"
#: Of a joint plan: a row a year, with the sums of its reservoirs.
SYSTEM_YEARS = "system.csv"
#: What a proof of a joint plan has beside: prices of the water of links, and their figure.
PRICES, PRICED, _PICTURES = "prices.csv", "water-prices", (".png", ".svg")
#: All that is written to a plan's folder; one that holds anything else is not replaced.
OWN_NAMES = {
    *(PROVENANCE, REPORT, FIGURES, files.ARRAYS, files.SCHEDULE, SUMMARY, files.WATER_VALUES, RESERVOIR, INFLOW),
    *(
        SYSTEM_YEARS,
        PRICES,
        files.SYSTEM,
        MEMBERS,
        *files.DATASET_NAMES,
        RULES,
        RULES_REPORT,
        SCORES,
        ROBUSTNESS,
        RULES_PROVENANCE,
        FITS,
        PROFILE,
    ),
}
#: Columns, and arrays, of what is proved.
_PROVEN = (PROVEN_BOUND, PROVEN_GAP)
#: Years and months outside their limits that a provenance names; tables have all.
MOST_TOLD = 10_000
#: Bytes of a name in that of a folder: no disk takes more than 255.
_MOST_OF_A_NAME = 180
_PACKAGES = ("numpy", "pandas", "scipy", "numba", "pyopencl", "pocl-binary-distribution", "matplotlib")


def claimed_for_plan(target: Path | None, name: str, *, force: bool = False) -> AbstractContextManager[Claim]:
    """Keep a folder for the plan of a reservoir from before it is computed; by default a new one under ``./reports``.

    Raises
    ------
    OutputError
        If it cannot or may not be written, or if another run is writing there.
    """
    if target is None:
        return claimed_new(new_folder(f"plan-{name}"))
    return claimed(target, partial(check_target, force=force), own_files)


def claimed_empty(target: Path | None, name: str) -> AbstractContextManager[Claim]:
    """Keep a folder from before its content is computed; by default a new one of a name under ``./reports``.

    Raises
    ------
    OutputError
        If it holds something or cannot be written, or if another run is writing there.
    """
    return claimed_new(new_folder(name)) if target is None else claimed(target, check_new)


def check_new(target: Path) -> None:
    """Refuse a folder that holds something.

    Raises
    ------
    OutputError
        If it exists and is not an empty folder.
    """
    to_replace(target, False, mend="choose another --out")


def new_folder(name: str, now: datetime | None = None) -> Path:
    """A folder under ``./reports``, named by what it is and the time."""
    moment = (now or datetime.now()).strftime("%Y%m%d-%H%M%S")
    short = name.encode()[:_MOST_OF_A_NAME].decode(errors="ignore")
    return Path("reports") / f"{short}-{moment}"


def check_target(target: Path, force: bool) -> None:
    """Refuse a folder that may not be replaced.

    Raises
    ------
    OutputError
        If it exists and holds something and `force` is off; if it is no plan folder, or holds what no plan writes.
    """
    present = to_replace(target, force)
    if present and not (target / PROVENANCE).is_file():
        mend = f"choose another --out; --force replaces only plan folders, which contain {PROVENANCE}"
        raise OutputError("is not a plan folder and is not replaced", file=str(target), mend=mend)
    refuse_foreign(target, [name for name in present if name not in OWN_NAMES], "that do not belong to a plan")


def to_replace(target: Path, force: bool, mend: str = "choose another --out, or replace it with --force") -> list[str]:
    """Names of all that a folder holds; nothing where there is none.

    Raises
    ------
    OutputError
        If it is a file; if it holds something and `force` is off, with how to mend that.
    """
    if not target.exists():
        return []
    if not target.is_dir():
        raise OutputError("is a file, not a folder", file=str(target), mend="choose another --out")
    present = contents(target)
    if present and not force:
        raise OutputError("already exists and is not empty", file=str(target), mend=mend)
    return present


def refuse_foreign(target: Path, foreign: Sequence[str], whose: str) -> None:
    """OutputError for what a folder holds that is not to be replaced, if anything."""
    if foreign:
        problem = f"contains files {whose} ({', '.join(foreign[:5])}) and is not replaced"
        raise OutputError(problem, file=str(target), mend="move these files elsewhere, or choose another --out")


def own_files(folder: Path) -> list[str]:
    """Paths in a plan's folder of all that was written to it; among its figures, those that it tells of."""
    drawn = set[str]()
    for origin in (PROVENANCE, RULES_PROVENANCE):
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            drawn |= {*json.loads((folder / origin).read_text(encoding="utf-8"))["figures"]}
    written = leaves(folder, OWN_NAMES)
    return [leaf for leaf in written if not leaf.startswith(f"{FIGURES}/") or Path(leaf).stem in drawn]


def write_plan(
    plan: Plan,
    target: Path | Claim,
    checks: Sequence[Check],
    *,
    force: bool = False,
    figures: bool = True,
    kind: PlanFormat = PlanFormat.CSV,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    watch: Timer = untimed,
    tell: Callable[[str], None] = warnings.warn,
) -> Path:
    """Write tables, provenance, copies of the inputs, figures and the report into a new folder.

    `kind` is the format of the tables, `watch` times every figure, the report and what else is written, `tell` is told
    of figures that fail, which are left out. Everything is written to a hidden folder first and put in its place at the
    end, so that an interruption or a full disk leaves nothing half-written and an older plan untouched.
    Returns where it was written.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    with watch("write"), drafted(target, partial(check_target, force=force), own_files) as claim:
        draft, left_out, captions = claim.draft, dict[str, str](), dict[str, str]()
        names = write_tables(plan, draft, kind) + write_arrays(plan_arrays(plan), draft)
        copied = copy_inputs(plan, draft)
        if figures:
            with watch("import matplotlib"):
                from reservoir.report.figures.figures import plan_captions, save_figures

            captions = plan_captions(plan, left_out=left_out)
            shown = partial(progress, "figures")
            save_figures(plan, draft / FIGURES, shown, watch=watch, left_out=left_out)
            captions = {name: plan.units.text(text) for name, text in captions.items() if name not in left_out}
        names += [name for name in (RESERVOIR, INFLOW) if (draft / name).exists()]
        names += [f"{FIGURES}/{name}.svg" for name in captions]
        texts = figure_texts(plan) if figures else ()
        calendar = asdict(plan.inflow.calendar) | {"step": str(plan.inflow.calendar.step)}
        origin = provenance(plan, checks) | {"figures": captions, files.CALENDAR: calendar}
        origin |= {FILES: files.file_hashes(draft, names)} | figures_left_out(left_out, tell, *texts)
        origin |= {} if kind is PlanFormat.CSV else {FORMAT: str(kind)}
        for name, copy in copied.items():
            origin[name] |= copy
        files.write_provenance(draft, origin)
        with watch("report"):
            write_report(plan, draft, checks, origin)
    return claim.place


def save_plan(
    plan: Plan | SystemPlan, folder: str | Path, *, force: bool = False, figures: bool = True, format: str | None = None
) -> Path:
    """Write a plan to a folder as ``reservoir plan`` does, completely or not at all.

    Parameters
    ----------
    plan : Plan or SystemPlan
    folder : str or Path
        The folder; its parents are made.
    force : bool
        Replace an earlier plan there.
    figures : bool
        Draw the figures.
    format : str, optional
        Of the tables: ``"csv"``, ``"xlsx"`` (one workbook, with the extra ``excel``), ``"netcdf"`` or ``"zarr"``; by
        default CSV below 5,000 years, then NetCDF if the extra ``netcdf`` is installed.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    OutputError
        If the folder contains something and `force` is off, or contains files that belong to no plan, or cannot be
        written.
    """
    kind = format_of(format, plan.inflow.years, plan.inflow.steps)
    try:
        if not isinstance(plan, Plan):
            from reservoir.report.system_folder import write_system_plan

            return write_system_plan(plan, Path(folder), system_checks(plan), force=force, figures=figures, kind=kind)
        return write_plan(plan, Path(folder), plan_checks(plan), force=force, figures=figures, kind=kind)
    except OutputError as error:  # names the arguments in place of the options of the command

        def renamed(mistake: Mistake) -> Mistake:
            return replace(mistake, mend=mistake.mend.replace("--out", "folder").replace("--force", "force=True"))

        raise OutputError(map(renamed, error.mistakes)) from error


def write_tables(plan: Plan, folder: Path, kind: PlanFormat) -> list[str]:
    """Write the tables of a plan into a folder, and return the names of the files, or folders, that were written.

    `kind` is that of the schedule and the summary; other tables are CSV, or sheets of the same workbook.
    """
    members = members_table(plan)
    tables: dict[str, dict[str, Any]] = {} if members is None else {MEMBERS: dict(members)}
    datasets = list[str]()
    if kind in (PlanFormat.CSV, PlanFormat.XLSX):
        tables |= {files.SCHEDULE: schedule_columns(plan.step_table, plan), SUMMARY: plan.summary_columns()}
    else:
        write_dataset(plan.to_xarray(copy=False), folder, kind)
        datasets = [DATASETS[kind]]
    for name in forms_of_cells("summary"):
        if name in tables.get(SUMMARY, ()):
            tables[SUMMARY][name] = as_written(name, tables[SUMMARY][name])
    if plan.water_values:
        tables[files.WATER_VALUES] = dict(plan.water_values.table)
    in_units = {name: plan.units.columns(table) for name, table in tables.items()}
    if kind is PlanFormat.XLSX and members is None and plan.inflow.calendar.step is TimeStep.MONTH:
        in_units[files.SCHEDULE] = {"date": first_days(plan.inflow.calendar), **in_units[files.SCHEDULE]}
    return [*datasets, *tables_written(in_units, folder, files.XLSX if kind is PlanFormat.XLSX else "")]


def as_written(name: str, numbers: NDArray[Any]) -> NDArray[np.object_]:
    """Cells of a column of the summary that has a form of its own; empty where a number is not known."""
    form = forms_of_cells("summary")[name]
    return np.array([form.format(number) if np.isfinite(number) else "" for number in numbers.tolist()], object)


def figures_left_out(left_out: Mapping[str, str], tell: Callable[[str], None], *texts: str) -> dict[str, Any]:
    """Tell of each figure that failed, and note it for provenance; nothing if none did.

    Told too is which of the `texts` of figures no font here can show.
    """
    if not "".join(texts).isascii():
        from reservoir.report.figures.style import undrawn_sentence

        if sentence := undrawn_sentence(*texts):
            tell(sentence)
    if not left_out:
        return {}
    from reservoir.report.figures.figures import left_out_sentences

    for sentence in left_out_sentences(left_out):
        tell(sentence)
    return {"figures_left_out": dict(left_out)}


def figure_texts(drawn: Any) -> tuple[str, ...]:
    """Texts of others in the figures of a plan or a front: names and caveats."""
    members = drawn.inflow.members
    return (drawn.reservoir.name, *drawn.caveats, *([] if members is None else map(str, members)))


def write_profile(profile: Profile, folder: Path) -> Path:
    """Add to a plan's folder where the seconds of its making went; returns the file.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    path = folder / PROFILE
    write_new(path, strict_json(profile.as_dict()), force=True, choose="check the free space", replace="")
    return path


def provenance(plan: Plan, checks: Sequence[Check]) -> dict[str, Any]:
    """Where a plan comes from: versions, hashes, seed, device, settings, time, and what was found."""
    first = plan.solutions[0]
    return {
        **run_provenance(),
        "reservoir": source(plan.reservoir) | {"name": plan.reservoir.name},
        "inflow": source(plan.inflow) | record_provenance(plan.inflow),
        "years": plan.inflow.years,
        "units": plan.units.as_dict,
        "horizon": str(plan.start.horizon if plan.start else plan.horizon),
        "start": plan.start.as_dict() if plan.start else None,
        **({} if plan.end_value_gwh_per_hm3 is None else {"end_value_gwh_per_hm3": plan.end_value_gwh_per_hm3}),
        **({} if plan.objective.is_energy else {"objective": objective_provenance(plan)}),
        "solver": first.solver,
        "device": first.device,
        "settings": dict(plan.settings),
        "sources": plan.source_counts,
        "second_run": {"settings": dict(plan.sources.second_settings)} if plan.sources else None,
        "reference": {"solver": plan.references[0].solver, **plan.references[0].settings} if plan.references else None,
        "seconds": {stage: round(seconds, 4) for stage, seconds in plan.seconds.items()},
        "device_seconds": first.device_seconds,
        "energy_gwh": float(plan.kept_energy_gwh.sum()),
        "not_in_energy": list(chosen(plan.inflow.labels, ~plan.keeps_limits))[:MOST_TOLD],
        "violation": float(plan.violation.sum()),
        "caveats": list(plan.caveats),
        "notes": list(plan.notes),
        "stopped": plan.stopped or None,
        "shortfall_months": shortfall_months(plan),
        "shortfalls": shortfalls(plan, MOST_TOLD),
        **({} if plan.firm_bounds is None else {"firm_power": plan.firm_bounds.as_dict(plan.firm_power_mw)}),
        **({} if plan.proofs is None else {"proof": plan.proofs.as_dict()}),
        "checks": [check.as_dict() for check in checks],
    }


def objective_provenance(plan: Plan | SystemPlan) -> dict[str, Any]:
    """What was optimised, unless it is energy, and what it comes to in the years that keep their limits."""
    objective, kept = plan.objective, plan.keeps_limits
    return {
        "title": objective.title,
        "unit": objective.unit,
        "weights": {str(goal): weight for goal, weight in objective.weights.items()},
        "value": float(plan.benefit[kept].sum()),
        **({"firm_share": objective.firm_share} if objective.is_firm else {}),
    }


def record_provenance(record: Inflow) -> dict[str, Any]:
    """How an inflow record was understood: its years, the unit of its file, who named that, and the mean flow."""
    members = None if record.members is None else len(record.members)
    return {
        **({} if members is None else {"members": members, "years_each": record.calendar.years_each}),
        "first": record.labels[0],
        "last": record.labels[-1],
        "unit": record.unit,
        "unit_from": record.unit_from,
        **({"reading": dict(record.reading)} if record.reading else {}),
        "mean_m3s": record.mean_m3s,
    }


def run_provenance() -> dict[str, Any]:
    """What ran, where and when."""
    versions = dict[str, str]()
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {
        "program": {"name": "reservoir", "version": import_module("reservoir").__version__, "packages": versions},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()},
    }


def source(read: Any) -> dict[str, str]:
    """The file that a reservoir or a record was read from, and its caveat."""
    return {"file": Path(read.source).name, "sha256": read.sha256, "caveat": read.caveat}


def write_report(
    plan: Plan, folder: Path, checks: Sequence[Check], origin: Mapping[str, Any], drawn: Path | None = None
) -> None:
    """Write the page of a plan into a folder, with the figures that lie in it, or in another one of the same plan."""
    from reservoir.report.html.page import read_pictures
    from reservoir.report.html.plan_page import TITLES, plan_report

    before = drawn or folder
    pictures = read_pictures(before / FIGURES, TITLES, origin["figures"])
    pages = (("Operation rules", RULES_REPORT),) if (before / RULES_REPORT).is_file() else ()
    (folder / REPORT).write_text(plan_report(plan, checks, origin, pictures, pages), encoding="utf-8")


def claimed_for_proof(folder: Path, tables: Sequence[str] = (SUMMARY,)) -> AbstractContextManager[Claim]:
    """Keep a plan's folder from before its plan is read until it has the proof; `tables` are those that it changes.

    Raises
    ------
    InputError
        If it is no folder, cannot be written, or if another run is writing there.
    """

    def replaced(place: Path) -> list[str]:
        proven = {f"{files.ARRAYS}/{name}.npy" for name in _PROVEN} | {f"{FIGURES}/{PRICED}{end}" for end in _PICTURES}
        written = leaves(place, (PROVENANCE, REPORT, *tables, *files.DATASET_NAMES, files.ARRAYS, FIGURES))
        return [leaf for leaf in written if leaf in proven or not leaf.startswith((f"{files.ARRAYS}/", f"{FIGURES}/"))]

    files.require_folder(folder)
    return claimed(folder, nothing, replaced)


def write_proof(
    saved: SavedPlan[Any],
    plan: Any,
    claim: Claim,
    table: str = SUMMARY,
    further: Callable[[Path], tuple[list[str], dict[str, str]]] = lambda draft: ([], {}),
    report: Callable[..., None] = write_report,
) -> Path:
    """Write what is proved of a plan into its folder, in place of an earlier proof; rules and all else stay.

    `saved` is the plan as it was read, `plan` the same with its proofs. `table` has its years; `further` writes what
    else belongs to a proof, and returns the files and the captions of figures; `report` is as `write_report`. Returns
    the folder.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    with drafted(claim, nothing) as claim:
        before = {check.check for check in proof_lines(saved.plan)}
        checks = [check for check in saved.checks if check.check not in before] + proof_lines(plan)
        written = _proven_tables(saved, plan, claim.draft, table) + write_arrays(proof_arrays(plan), claim.draft)
        names, captions = further(claim.draft)
        stated = [(name, value) for name, value in saved.origin.items() if name != "proof"]
        place = [name for name, _ in stated].index("checks")  # what is proved stands before the checks of it
        stated.insert(place, ("proof", plan.proofs.as_dict() if plan.proofs else None))
        origin = dict(stated) | {"checks": [check.as_dict() for check in checks]}
        origin["figures"] = {**origin["figures"], **captions}
        origin |= {FILES: saved.origin[FILES] | files.file_hashes(claim.draft, [*written, *names])}
        files.write_provenance(claim.draft, origin)
        report(plan, claim.draft, checks, origin, drawn=saved.folder)
    return claim.place


def _proven_tables(saved: SavedPlan[Any], plan: Any, draft: Path, table: str) -> list[str]:
    """The table of the years, or the dataset, with the proof and all else as it stands there; their names."""
    summary, names = plan.summary_columns(), list[str]()
    if FORMAT in saved.origin:
        kind = PlanFormat(saved.origin[FORMAT])
        name = DATASETS[kind]
        if kind is PlanFormat.XLSX:
            tables = read_sheets(saved.folder / name)
            tables[table] = _with_proof(tables[table], summary)
            return tables_written(tables, draft, name)
        (shutil.copytree if kind is PlanFormat.ZARR else shutil.copyfile)(saved.folder / name, draft / name)
        variables = [each if table == SUMMARY else f"system_{each}" for each in _PROVEN]
        append_to_dataset(plan.to_xarray(copy=False)[variables], draft, kind)
        names.append(name)
    if table not in saved.origin[FILES]:
        return names
    write_table(_with_proof(dict(read_cells(saved.folder / table)), summary), draft / table)
    return [*names, table]


def _with_proof(table: Mapping[str, Any], summary: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The table of the years with the columns of what is proved, in place of earlier ones."""
    proved = {name: as_written(name, summary[name]) for name in _PROVEN}
    columns = list[tuple[str, Any]]()
    for name, column in table.items():
        columns += [] if name in _PROVEN else [(name, column)]
        columns += proved.items() if name == "gap" else ()
    return dict(columns) | proved  # of a system, behind all others
