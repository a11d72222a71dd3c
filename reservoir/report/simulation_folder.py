"""The simulation of a record by a rule as a folder of files, written as a whole or not at all."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from reservoir.errors import Mistake, OutputError
from reservoir.report.draft_folder import check_parent, drafted
from reservoir.report.folder import FLOAT_FORMAT, new_folder, record_provenance, run_provenance, write_json
from reservoir.rules.record_run import RecordRun
from reservoir.rules.rule_file import RuleFile
from reservoir.strict_json import known


def default_simulation_folder(family: str, now: datetime | None = None) -> Path:
    """A folder under ``./reports`` that does not exist yet."""
    return new_folder(f"simulation-{family}", now)


def check_new(target: Path) -> None:
    """Refuse, before anything is computed, a folder that holds something or cannot be written.

    Raises
    ------
    OutputError
        If it exists and is not an empty folder; if its parent cannot be written.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        problem = "exists already and is not empty" if target.is_dir() else "is a file, not a folder"
        raise OutputError(Mistake(problem, file=str(target), mend="choose another --out"))
    check_parent(target)


def write_simulation(run: RecordRun, target: Path, rule_file: RuleFile) -> Path:
    """Write ``simulation.csv``, ``summary.csv`` and ``simulation.json``.

    Raises
    ------
    OutputError
        If the folder exists already or cannot be written.
    """
    check_new(target)
    with drafted(target) as draft:
        run.schedule().to_csv(draft / "simulation.csv", index=False, float_format=FLOAT_FORMAT)
        run.summary().to_csv(draft / "summary.csv", index=False, float_format=FLOAT_FORMAT)
        write_json(draft / "simulation.json", simulation_provenance(run, rule_file))
    return target


def simulation_provenance(run: RecordRun, rule_file: RuleFile) -> dict[str, Any]:
    """Where a simulation comes from: versions, the hashes of its files, how it was run, and its scores."""
    return {
        **run_provenance(),
        "rule": {
            "file": Path(rule_file.source).name,
            "sha256": rule_file.sha256,
            "family": run.rule.family,
            "forecast": str(run.rule.forecast),
        },
        "reservoir": {"name": run.reservoir.name, "sha256": run.reservoir.sha256, "caveat": run.reservoir.caveat},
        "inflow": {
            "file": Path(run.inflow.source).name,
            "sha256": run.inflow.sha256,
            "caveat": run.inflow.caveat,
            "notes": [*run.inflow.notes, *run.reservoir.notes],
            **record_provenance(run.inflow),
        },
        "start_hm3": run.start_hm3,
        "continuous": run.continuous,
        "score": known(run.score.as_dict()),
        "shortfalls": run.shortfalls(),
    }
