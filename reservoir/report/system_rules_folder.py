"""What rules of a system are written as: into the folder of a joint plan, with scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from reservoir.hydro.unit_system import SI
from reservoir.io.output import Claim, drafted
from reservoir.io.plan_folder.files import FIGURES, schedule_sha256
from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.io.plan_folder.tables import write_tables
from reservoir.io.rule_file import SCHEDULE_HASH, UNITS
from reservoir.io.system_rule_file import write_system_rule
from reservoir.planning.checks import Check
from reservoir.planning.solving import StageProgress, silent_stage
from reservoir.planning.system_plan import SystemPlan
from reservoir.report.folder import (
    RULES,
    RULES_PROVENANCE,
    RULES_REPORT,
    RULES_WORKBOOK,
    SCORES,
    figures_left_out,
    run_provenance,
    write_json,
)
from reservoir.report.rules_folder import check_rules_target, own_files
from reservoir.rules.system_evaluation import SystemEvaluation
from reservoir.rules.system_findings import system_findings


def write_system_rules(
    evaluation: SystemEvaluation,
    saved: SavedPlan[SystemPlan],
    checks: Sequence[Check],
    *,
    claim: Claim | None = None,
    force: bool = False,
    figures: bool = True,
    workbook: bool = False,
    progress: StageProgress = silent_stage,
    tell: Callable[[str], None] = warnings.warn,
) -> Path:
    """Write ``rules/*.json``, ``scores.csv``, ``rules.json``, figures and ``rules.html`` into a joint plan's folder.

    A family with a rule for each reservoir has a file for each, ``FAMILY-RESERVOIR.json``. `claim` is that of the run,
    if it has claimed the folder before.

    Raises
    ------
    OutputError
        If the folder has rules already and `force` is off, or cannot be written.
    """
    from reservoir.report.figures.system_rules import SYSTEM_RULES_TITLES
    from reservoir.report.html.page import read_pictures
    from reservoir.report.html.system_rules_page import system_rules_report

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
        captions, left_out = dict[str, str](), dict[str, str]()
        if figures:
            from reservoir.report.figures.figures import write_figures
            from reservoir.report.figures.system_rules import system_rules_captions, system_rules_figures

            captions, drawn = system_rules_captions(evaluation, left_out), system_rules_figures(evaluation)
            write_figures(drawn, draft / FIGURES, partial(progress, "figures"), left_out=left_out)
            captions = {name: caption for name, caption in captions.items() if name not in left_out}
        texts = (plan.system.name, *plan.sites, *plan.caveats) if figures else ()
        origin |= figures_left_out(left_out, tell, *texts)
        write_json(draft / RULES_PROVENANCE, origin | {"figures": captions})
        pictures = read_pictures(draft / FIGURES, SYSTEM_RULES_TITLES, captions)
        page = system_rules_report(evaluation, checks, origin, pictures)
        (draft / RULES_REPORT).write_text(page, encoding="utf-8")
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
        **({} if evaluation.bound is None else {"bound": evaluation.bound.as_dict}),
        "caveats": list(plan.caveats),
        "best": evaluation.ranked[0].family,
        "findings": system_findings(evaluation),
        "checks": [check.as_dict() for check in checks],
    }
