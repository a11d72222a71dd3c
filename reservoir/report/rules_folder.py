"""Add rules to a plan's folder: the rules, their scores, figures, and a report of both; as a whole or not at all."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from reservoir.errors import Mistake, OutputError
from reservoir.hydro.unit_system import SI
from reservoir.io.csv_table import write_table
from reservoir.io.placing.claim import Claim
from reservoir.io.placing.draft_folder import claimed, drafted
from reservoir.io.placing.moves import leaves
from reservoir.io.plan_folder.provenance import require_folder
from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.io.plan_folder.tables import FIGURES
from reservoir.io.rule_file import UNITS, belongings, write_rule
from reservoir.planning.checks import Check
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.report.folder import (
    REPORT,
    ROBUSTNESS,
    RULES,
    RULES_PROVENANCE,
    SCORES,
    figures_left_out,
    record_provenance,
    run_provenance,
    write_json,
)
from reservoir.rules.evaluation.evaluation import Evaluation
from reservoir.rules.evaluation.findings import findings, shortfalls
from reservoir.rules.evaluation.robustness import robustness_table


def check_rules_target(folder: Path, force: bool) -> None:
    """Refuse a folder that has rules already, or whose figures lie elsewhere.

    Raises
    ------
    OutputError
        Without `force` if the folder has rules; if its folder of figures is a link.
    """
    if ((folder / RULES).exists() or (folder / RULES).is_symlink()) and not force:
        mend = "replace the rules with --force, or fit rules in a copy of the plan folder"
        raise OutputError(Mistake("already exists", file=str(folder / RULES), mend=mend))
    if (folder / FIGURES).is_symlink():
        mend = "replace the link with the folder of figures"
        raise OutputError(Mistake("is a link, and links are not followed", file=str(folder / FIGURES), mend=mend))


def claimed_for_rules(folder: Path, *, force: bool = False) -> AbstractContextManager[Claim]:
    """Keep a plan's folder from before its plan is read until it has its rules.

    Raises
    ------
    InputError
        If it is no folder, cannot or may not be written, or if another run is writing there.
    """
    require_folder(folder)
    return claimed(folder, partial(check_rules_target, force=force), own_files)


def write_rules(
    evaluation: Evaluation,
    saved: SavedPlan,
    checks: Sequence[Check],
    *,
    claim: Claim | None = None,
    force: bool = False,
    figures: bool = True,
    progress: StageProgress = silent_stage,
    tell: Callable[[str], None] = warnings.warn,
) -> Path:
    """Write ``rules/*.json``, ``scores.csv``, ``rules.json``, figures and the report into a plan's folder.

    Where members were held out or tested on, ``robustness.csv`` too.

    The folder stays the same one, and whatever else it holds, or comes to hold meanwhile, stays in it. `claim` is that
    of the run, if it has claimed the folder before; `tell` is told of figures that fail, which are left out.

    Raises
    ------
    OutputError
        If the folder has rules already and `force` is off, or cannot be written.
    """
    check = partial(check_rules_target, force=force)
    with drafted(claim or saved.folder, check, own_files) as claim:
        draft = claim.draft
        origin = rules_provenance(evaluation, saved, checks)
        _write_rule_files(evaluation, saved, draft / RULES, origin)
        write_table(evaluation.plan.units.table(evaluation.table()), draft / SCORES)
        robustness = robustness_table(evaluation)
        if robustness is not None:
            write_table(robustness, draft / ROBUSTNESS)
        left_out: dict[str, str] = {}
        captions = _write_figures(evaluation, draft / FIGURES, progress, left_out) if figures else {}
        write_json(draft / RULES_PROVENANCE, origin | {"figures": captions} | figures_left_out(left_out, tell))
        _write_report(evaluation, saved, checks, draft, origin, captions)
    return claim.place


def own_files(folder: Path) -> list[str]:
    """Paths in a plan's folder of what rules replace: earlier rules, their scores and figures, and the report."""
    from reservoir.report.figures.figures import KINDS
    from reservoir.report.figures.rules_figures import RULES_TITLES

    drawings = {f"{FIGURES}/{name}.{kind}" for name in RULES_TITLES for kind in KINDS}
    found = leaves(folder, (RULES, SCORES, ROBUSTNESS, RULES_PROVENANCE, REPORT, FIGURES))
    return [leaf for leaf in found if leaf in drawings or leaf.split("/")[0] != FIGURES]


def rules_provenance(evaluation: Evaluation, saved: SavedPlan, checks: Sequence[Check]) -> dict[str, Any]:
    """Where rules come from: versions, the plan, what they were told, and what was found."""
    training, targets = evaluation.training, evaluation.targets
    return {
        **run_provenance(),
        "plan": {name: saved.origin[name] for name in ("created", "reservoir", "inflow", "solver", "settings")},
        "years": [training.labels[0], training.labels[-1]],
        **({"fitted_to": evaluation.fitted_to} if evaluation.fitted_to else {}),
        "forecast": str(evaluation.forecast),
        "units": evaluation.plan.units.as_dict,
        "cross_validation": evaluation.cross_validation,
        "folds": evaluation.folds,
        "targets": {
            "annual_gwh": targets.annual_gwh,
            "firm_mw": targets.firm_mw,
            "firm_95_mw": targets.firm_95_mw,
            "guaranteed_by_the_reservoir_file": targets.guaranteed,
            "origin": targets.origin,
        },
        **_test_provenance(evaluation),
        "caveats": list(evaluation.caveats),
        "shortfalls": [evaluation.plan.units.text(each) for each in shortfalls(evaluation)],
        "findings": [each.as_dict() for each in findings(evaluation)],
        "checks": [check.as_dict() for check in checks],
    }


def _test_provenance(evaluation: Evaluation) -> dict[str, Any]:
    """The record or ensemble that rules were tested on, if any."""
    if not evaluation.tests:
        return {}
    inflow = evaluation.tests[0].inflow
    told = {"file": Path(inflow.source).name, "sha256": inflow.sha256, "caveat": inflow.caveat}
    return {"test": told | {"notes": list(inflow.notes)} | record_provenance(inflow)}


def check_pictures(saved: SavedPlan) -> None:
    """Refuse a plan whose figures cannot be shown in the report, before any rule is fitted.

    Raises
    ------
    InputError
        With every figure that is unknown, missing or broken.
    """
    from reservoir.report.html.page import read_pictures
    from reservoir.report.html.plan_page import TITLES

    read_pictures(saved.folder / FIGURES, TITLES, saved.origin["figures"])


def _write_rule_files(evaluation: Evaluation, saved: SavedPlan, folder: Path, origin: Mapping[str, Any]) -> None:
    folder.mkdir()
    fitted_to = {name: origin[name] for name in ("plan", "years", "created", "caveats")}
    fitted_to |= {"fitted_to": evaluation.fitted_to} if evaluation.fitted_to else {}
    fitted_to |= {} if saved.plan.units == SI else {UNITS: saved.plan.units.name}
    fitted_to |= belongings(evaluation.plan.reservoir, saved.folder)
    for result in evaluation.families:
        write_rule(result.rule, folder / f"{result.family}.json", fitted_to)


def _write_figures(
    evaluation: Evaluation, folder: Path, progress: StageProgress, left_out: dict[str, str]
) -> dict[str, str]:
    """Write the figures, and return how to read each; note those that fail."""
    from reservoir.report.figures.figures import write_figures
    from reservoir.report.figures.rules_figures import rules_captions, rules_figures

    def told(done: int, total: int) -> None:
        progress("figures", done, total)

    captions = rules_captions(evaluation, left_out)
    write_figures(rules_figures(evaluation, left_out), folder, told, left_out=left_out)
    return {name: caption for name, caption in captions.items() if name not in left_out}


def _write_report(
    evaluation: Evaluation,
    saved: SavedPlan,
    checks: Sequence[Check],
    folder: Path,
    origin: Mapping[str, Any],
    captions: Mapping[str, str],
) -> None:
    from reservoir.report.figures.rules_figures import RULES_TITLES
    from reservoir.report.html.page import read_pictures
    from reservoir.report.html.plan_page import TITLES
    from reservoir.report.html.rules_page import rules_report

    plan_pictures = read_pictures(saved.folder / FIGURES, TITLES, saved.origin["figures"])
    rules_pictures = read_pictures(folder / FIGURES, RULES_TITLES, captions)
    text = rules_report(evaluation, saved, checks, origin, plan_pictures, rules_pictures)
    (folder / REPORT).write_text(text, encoding="utf-8")
