"""The simulation of a record by a rule as a folder of files, written as a whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.io.csv_table import write_table
from reservoir.io.placing.claim import Claim
from reservoir.io.placing.draft_folder import drafted
from reservoir.io.rule_file import RuleFile
from reservoir.report.folder import record_provenance, run_provenance, write_json
from reservoir.report.new_folder import check_new
from reservoir.rules.evaluation.evaluation import RecordEvaluation
from reservoir.text.strict_json import known


def write_simulation(run: RecordEvaluation, target: Path | Claim, rule_file: RuleFile, units: UnitSystem = SI) -> Path:
    """Write ``simulation.csv``, ``summary.csv`` and ``simulation.json``; both tables in the units that are given.

    Raises
    ------
    OutputError
        If the folder exists already or cannot be written.
    """
    with drafted(target, check_new) as claim:
        draft = claim.draft
        write_table(units.table(run.schedule()), draft / "simulation.csv")
        write_table(units.table(run.summary()), draft / "summary.csv")
        write_json(draft / "simulation.json", simulation_provenance(run, rule_file, units))
    return claim.place


def simulation_provenance(run: RecordEvaluation, rule_file: RuleFile, units: UnitSystem = SI) -> dict[str, Any]:
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
        "units": units.as_dict,
        "start_hm3": run.start_hm3,
        "continuous": run.continuous,
        "score": known(run.score.as_dict()),
        "shortfalls": run.shortfalls(units),
    }
