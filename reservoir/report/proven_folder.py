"""Add a proof to a plan's folder: table, arrays, provenance and report as if it had been made with the plan."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from reservoir.io.csv_table import write_table
from reservoir.io.output import Claim, claimed, drafted, nothing
from reservoir.io.plan_folder import files
from reservoir.io.plan_folder.arrays import write_arrays
from reservoir.io.plan_folder.files import ARRAYS, FILES, FORMAT, SUMMARY
from reservoir.io.plan_folder.formats import DATASETS, PlanFormat, append_to_dataset
from reservoir.io.plan_folder.saved_plan import SavedPlan, proof_arrays
from reservoir.io.plan_folder.tables import read_cells
from reservoir.io.workplace import leaves
from reservoir.planning.checks import Check, proof_lines
from reservoir.planning.columns import PROVEN_BOUND, PROVEN_GAP
from reservoir.planning.plan import Plan
from reservoir.report.folder import REPORT, as_written, write_report

_COLUMNS = (PROVEN_BOUND, PROVEN_GAP)
#: The column that they follow.
_BEFORE = "gap"


def claimed_for_proof(folder: Path) -> AbstractContextManager[Claim]:
    """Keep a plan's folder from before its plan is read until it has the proof.

    Raises
    ------
    InputError
        If it is no folder, cannot be written, or if another run is writing there.
    """

    def replaced(place: Path) -> list[str]:
        proven = {f"{ARRAYS}/{name}.npy" for name in _COLUMNS}
        written = leaves(place, (files.PROVENANCE, REPORT, SUMMARY, *files.DATASET_NAMES, ARRAYS))
        return [leaf for leaf in written if leaf in proven or not leaf.startswith(f"{ARRAYS}/")]

    files.require_folder(folder)
    return claimed(folder, nothing, replaced)


def write_proof(saved: SavedPlan, plan: Plan, claim: Claim) -> Path:
    """Write what is proved of a plan into its folder, in place of an earlier proof; rules and all else stay.

    `saved` is the plan as it was read, `plan` the same with its proofs. Returns the folder.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    with drafted(claim, nothing) as claim:
        before = {check.check for check in proof_lines(saved.plan)}
        checks = [check for check in saved.checks if check.check not in before] + proof_lines(plan)
        written = [_write_table(saved, plan, claim.draft), *write_arrays(proof_arrays(plan), claim.draft)]
        origin = _provenance(saved, plan, checks, files.file_hashes(claim.draft, written))
        files.write_provenance(claim.draft, origin)
        write_report(plan, claim.draft, checks, origin, drawn=saved.folder)
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
    """That of the plan with the proof before the checks, which follow from it."""
    assert plan.proofs is not None
    origin: dict[str, Any] = {}
    for name, value in saved.origin.items():
        if name == "checks":
            origin |= {"proof": plan.proofs.as_dict(), name: [check.as_dict() for check in checks]}
        elif name != "proof":
            origin[name] = value
    return origin | {FILES: dict(saved.origin[FILES]) | hashes}
