"""Add a proof to a plan's folder: table, provenance and report as if it had been made with the plan; whole or not."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from reservoir.io.csv_table import write_table
from reservoir.io.placing.claim import Claim
from reservoir.io.placing.draft_folder import claimed, drafted, nothing
from reservoir.io.placing.moves import leaves
from reservoir.io.plan_folder.formats import DATASETS, PlanFormat, append_to_dataset
from reservoir.io.plan_folder.provenance import FILES, FORMAT, file_hashes, require_folder
from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.io.plan_folder.tables import FIGURES, NETCDF, PROVENANCE, SUMMARY, ZARR, read_cells
from reservoir.planning.checks import Check, proof_lines
from reservoir.planning.plan import Plan
from reservoir.planning.proofs import PROVEN_BOUND, PROVEN_GAP
from reservoir.report.folder import REPORT, RULES_PROVENANCE, write_json
from reservoir.report.html.page import Picture, read_pictures, render, renewed
from reservoir.report.html.plan_page import TITLES, plan_heading, plan_sections
from reservoir.report.plan_tables import as_written
from reservoir.text.strict_json import read_json

_COLUMNS = (PROVEN_BOUND, PROVEN_GAP)
#: The column that they follow.
_BEFORE = "gap"
_MOST_BYTES = 10_000_000


def claimed_for_proof(folder: Path) -> AbstractContextManager[Claim]:
    """Keep a plan's folder from before its plan is read until it has the proof.

    Raises
    ------
    InputError
        If it is no folder, cannot be written, or if another run is writing there.
    """
    require_folder(folder)
    return claimed(folder, nothing, lambda place: leaves(place, (PROVENANCE, REPORT, SUMMARY, NETCDF, ZARR)))


def write_proof(saved: SavedPlan, plan: Plan, claim: Claim) -> Path:
    """Write what is proved of a plan into its folder, in place of an earlier proof; rules and all else stay.

    Parameters
    ----------
    saved : SavedPlan
        As it was read.
    plan : Plan
        With its proofs.
    claim : Claim

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InputError
        If a figure of the plan is not as it was written.
    OutputError
        If the folder cannot be written.
    """
    pictures = read_pictures(saved.folder / FIGURES, TITLES, saved.origin["figures"])
    with drafted(claim, nothing) as claim:
        before = {check.check for check in proof_lines(saved.plan)}
        checks = [check for check in saved.checks if check.check not in before] + proof_lines(plan)
        table = _write_table(saved, plan, claim.draft)
        write_json(claim.draft / PROVENANCE, _provenance(saved, plan, checks, file_hashes(claim.draft, [table])))
        (claim.draft / REPORT).write_text(_report(saved, plan, checks, pictures), encoding="utf-8")
    return claim.place


def _write_table(saved: SavedPlan, plan: Plan, draft: Path) -> str:
    """The table of the years, or the dataset, with the proof and all else as it stands there; its name."""
    summary = plan.summary()
    if FORMAT in saved.origin:
        kind = PlanFormat(saved.origin[FORMAT])
        name = DATASETS[kind]
        (shutil.copytree if kind is PlanFormat.ZARR else shutil.copyfile)(saved.folder / name, draft / name)
        append_to_dataset(plan.to_xarray(copy=False)[list(_COLUMNS)], draft, kind)
        return name
    table = read_cells(saved.folder / SUMMARY).drop(columns=list(_COLUMNS), errors="ignore")
    at = list(table).index(_BEFORE) + 1
    for column in reversed(_COLUMNS):
        table.insert(at, column, as_written(column, summary[column]))
    write_table(table, draft / SUMMARY)
    return SUMMARY


def _provenance(saved: SavedPlan, plan: Plan, checks: Sequence[Check], hashes: dict[str, str]) -> dict[str, Any]:
    assert plan.proofs is not None
    found: dict[str, Any] = {}
    for name, value in saved.origin.items():
        if name == "checks":
            found |= {"proof": plan.proofs.as_dict(), name: [check.as_dict() for check in checks]}
        elif name != "proof":
            found[name] = value
    return found | {FILES: dict(saved.origin.get(FILES, {})) | hashes}


def _report(saved: SavedPlan, plan: Plan, checks: Sequence[Check], pictures: Sequence[Picture]) -> str:
    """The report of the plan; where it has rules too, with what it says of them."""
    rules, page = saved.folder / RULES_PROVENANCE, saved.folder / REPORT
    sections = plan_sections(plan, checks, saved.origin, pictures)
    if not (rules.is_file() and page.is_file()):
        return render(plan_heading(plan, checks), sections)
    of_rules = [Check(str(each["check"]), *_claim(each["pass"])) for each in read_json(rules, _MOST_BYTES)["checks"]]
    return renewed(page.read_text(encoding="utf-8"), render(plan_heading(plan, [*checks, *of_rules]), sections))


def _claim(passed: bool | None) -> tuple[float, float | None]:
    """A value and a threshold that come to this."""
    return (0.0, None) if passed is None else (0.0 if passed else 1.0, 0.0)
