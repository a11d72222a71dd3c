"""What rules are written as: into a plan's folder with scores, figures and a page, or as the simulation of a record."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from reservoir.errors import OutputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.io.output import Claim, claimed, drafted
from reservoir.io.plan_folder.files import FIGURES, require_folder
from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.io.plan_folder.tables import write_tables
from reservoir.io.rule_file import UNITS, RuleFile, belongings, write_rule
from reservoir.io.workplace import leaves
from reservoir.planning.checks import Check
from reservoir.planning.plan import Plan, StageProgress, silent_stage
from reservoir.report.folder import (
    ROBUSTNESS,
    RULES,
    RULES_PROVENANCE,
    RULES_REPORT,
    RULES_WORKBOOK,
    SCORES,
    check_new,
    figure_texts,
    figures_left_out,
    record_provenance,
    run_provenance,
    source,
    write_json,
)
from reservoir.rules.evaluation import Evaluation, robustness_table
from reservoir.rules.findings import findings, shortfalls, spills
from reservoir.rules.scores import RecordEvaluation
from reservoir.text.strict_json import known


def check_rules_target(folder: Path, force: bool) -> None:
    """Refuse a folder that has rules already, or whose figures lie elsewhere.

    Raises
    ------
    OutputError
        Without `force` if the folder has rules; if its folder of figures is a link.
    """
    if ((folder / RULES).exists() or (folder / RULES).is_symlink()) and not force:
        mend = "replace the rules with --force, or fit rules in a copy of the plan folder"
        raise OutputError("already exists", file=str(folder / RULES), mend=mend)
    if (folder / FIGURES).is_symlink():
        mend = "replace the link with the folder of figures"
        raise OutputError("is a link, and links are not followed", file=str(folder / FIGURES), mend=mend)


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
    saved: SavedPlan[Plan],
    checks: Sequence[Check],
    *,
    claim: Claim | None = None,
    force: bool = False,
    figures: bool = True,
    workbook: bool = False,
    progress: StageProgress = silent_stage,
    tell: Callable[[str], None] = warnings.warn,
) -> Path:
    """Write ``rules/*.json``, ``scores.csv``, ``rules.json``, figures and ``rules.html`` into a plan's folder.

    Where members were held out or tested on, ``robustness.csv`` too; with `workbook`, both are sheets of
    ``rules.xlsx``.

    The folder stays the same one, and whatever else it holds, or comes to hold meanwhile, stays in it. `claim` is that
    of the run, if it has claimed the folder before; `tell` is told of figures that fail, which are left out.

    Raises
    ------
    OutputError
        If the folder has rules already and `force` is off, or cannot be written.
    """
    from reservoir.report.figures.rules_figures import RULES_TITLES
    from reservoir.report.html.page import read_pictures
    from reservoir.report.html.rules_page import rules_report

    check = partial(check_rules_target, force=force)
    with drafted(claim or saved.folder, check, own_files) as claim:
        draft, left_out, captions = claim.draft, dict[str, str](), dict[str, str]()
        origin = rules_provenance(evaluation, saved, checks)
        fitted_to = {name: origin[name] for name in ("plan", "years", "created", "caveats")}
        fitted_to |= {"fitted_to": evaluation.fitted_to} if evaluation.fitted_to else {}
        fitted_to |= {} if saved.plan.units == SI else {UNITS: saved.plan.units.name}
        fitted_to |= belongings(evaluation.plan.reservoir, saved.folder)
        (draft / RULES).mkdir()
        for result in evaluation.families:
            write_rule(result.rule, draft / RULES / f"{result.family}.json", fitted_to)
        tables: dict[str, Any] = {SCORES: evaluation.plan.units.columns(evaluation.table())}
        robustness = robustness_table(evaluation)
        tables |= {} if robustness is None else {ROBUSTNESS: robustness}
        write_tables(tables, draft, RULES_WORKBOOK if workbook else "")
        if figures:
            from reservoir.report.figures.figures import write_figures
            from reservoir.report.figures.rules_figures import rules_captions, rules_figures

            captions, drawn = rules_captions(evaluation, left_out), rules_figures(evaluation, left_out)
            write_figures(drawn, draft / FIGURES, partial(progress, "figures"), left_out=left_out)
            captions = {name: caption for name, caption in captions.items() if name not in left_out}
        origin |= figures_left_out(left_out, tell, *(figure_texts(evaluation.plan) if figures else ()))
        write_json(draft / RULES_PROVENANCE, origin | {"figures": captions})
        pictures = read_pictures(draft / FIGURES, RULES_TITLES, captions)
        page = rules_report(evaluation, saved, checks, origin, pictures)
        (draft / RULES_REPORT).write_text(page, encoding="utf-8")
    return claim.place


def own_files(folder: Path) -> list[str]:
    """Paths in a plan's folder of what rules replace: earlier rules, their scores, figures and page."""
    from reservoir.report.figures.figures import KINDS
    from reservoir.report.figures.rules_figures import RULES_TITLES
    from reservoir.report.figures.system_rules import SYSTEM_RULES_TITLES

    drawings = {f"{FIGURES}/{name}.{kind}" for name in (*RULES_TITLES, *SYSTEM_RULES_TITLES) for kind in KINDS}
    paths = leaves(folder, (RULES, SCORES, ROBUSTNESS, RULES_WORKBOOK, RULES_PROVENANCE, RULES_REPORT, FIGURES))
    return [leaf for leaf in paths if leaf in drawings or leaf.split("/")[0] != FIGURES]


def rules_provenance(evaluation: Evaluation, saved: SavedPlan[Plan], checks: Sequence[Check]) -> dict[str, Any]:
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
            **({} if targets.share is None else {"reliability": targets.share}),
        },
        **({"test": _of_inflow(evaluation.tests[0].inflow)} if evaluation.tests else {}),
        "caveats": list(evaluation.caveats),
        "shortfalls": shortfalls(evaluation),
        "findings": [each.as_dict() for each in findings(evaluation)],
        "spills": [each.as_dict() for each in spills(evaluation)],
        "checks": [check.as_dict() for check in checks],
    }


def _of_inflow(inflow: Inflow) -> dict[str, Any]:
    """Where a record or an ensemble comes from, and what it spans."""
    return source(inflow) | {"notes": list(inflow.notes)} | record_provenance(inflow)


def write_simulation(
    run: RecordEvaluation, target: Path | Claim, rule_file: RuleFile, units: UnitSystem = SI, *, workbook: bool = False
) -> Path:
    """Write ``simulation.csv``, ``summary.csv`` and ``simulation.json``; both tables in the units that are given.

    With `workbook`, the tables are sheets of ``simulation.xlsx``.

    Raises
    ------
    OutputError
        If the folder exists already or cannot be written.
    """
    with drafted(target, check_new) as claim:
        draft = claim.draft
        tables = {"simulation.csv": units.columns(run.schedule()), "summary.csv": units.columns(run.summary())}
        write_tables(tables, draft, "simulation.xlsx" if workbook else "")
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
        "inflow": _of_inflow(run.inflow) | {"notes": [*run.inflow.notes, *run.reservoir.notes]},
        "units": units.as_dict,
        "start_hm3": run.start_hm3,
        "continuous": run.continuous,
        "score": known(run.score.as_dict()),
        "shortfalls": run.shortfalls(units),
    }
