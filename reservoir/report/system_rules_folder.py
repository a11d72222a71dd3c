"""What rules of a system are written as: into the folder of a joint plan, with scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from reservoir.hydro.unit_system import SI
from reservoir.io.output import Claim, drafted
from reservoir.io.plan_folder.files import schedule_sha256
from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.io.plan_folder.tables import write_tables
from reservoir.io.rule_file import SCHEDULE_HASH, UNITS
from reservoir.io.system_rule_file import write_system_rule
from reservoir.planning.checks import Check
from reservoir.planning.system_plan import SystemPlan
from reservoir.report.folder import RULES, RULES_PROVENANCE, RULES_WORKBOOK, SCORES, run_provenance, write_json
from reservoir.report.rules_folder import check_rules_target, own_files
from reservoir.rules.system_evaluation import SystemEvaluation


def write_system_rules(
    evaluation: SystemEvaluation,
    saved: SavedPlan[SystemPlan],
    checks: Sequence[Check],
    *,
    claim: Claim | None = None,
    force: bool = False,
    workbook: bool = False,
) -> Path:
    """Write ``rules/*.json``, ``scores.csv`` and ``rules.json`` into the folder of a joint plan.

    A family with a rule for each reservoir has a file for each, ``FAMILY-RESERVOIR.json``. `claim` is that of the run,
    if it has claimed the folder before.

    Raises
    ------
    OutputError
        If the folder has rules already and `force` is off, or cannot be written.
    """
    plan = evaluation.plan
    with drafted(claim or saved.folder, partial(check_rules_target, force=force), own_files) as claim:
        draft, origin = claim.draft, system_rules_provenance(evaluation, saved, checks)
        fitted_to = {name: origin[name] for name in ("plan", "years", "created", "caveats")}
        fitted_to |= {} if plan.units == SI else {UNITS: plan.units.name}
        fitted_to |= {SCHEDULE_HASH: schedule_sha256(saved.folder)}
        (draft / RULES).mkdir()
        for family, rules in evaluation.rules.items():
            write_system_rule(family, rules, plan.system, draft / RULES, fitted_to)
        write_tables({SCORES: plan.units.columns(evaluation.table())}, draft, RULES_WORKBOOK if workbook else "")
        write_json(draft / RULES_PROVENANCE, origin)
    return claim.place


def system_rules_provenance(
    evaluation: SystemEvaluation, saved: SavedPlan[SystemPlan], checks: Sequence[Check]
) -> dict[str, Any]:
    """Where rules come from: versions, the plan, what they were told, and what was found."""
    plan = evaluation.plan
    return {
        **run_provenance(),
        "plan": {name: saved.origin[name] for name in ("created", "system", "inflows", "solver", "settings")},
        "years": [str(plan.inflow.labels[0]), str(plan.inflow.labels[-1])],
        "forecast": str(evaluation.forecast),
        "units": plan.units.as_dict,
        "cross_validation": evaluation.cross_validation,
        "folds": evaluation.folds,
        "foresight": evaluation.foresight.words,
        "caveats": list(plan.caveats),
        "best": evaluation.ranked[0].family,
        "checks": [check.as_dict() for check in checks],
    }
