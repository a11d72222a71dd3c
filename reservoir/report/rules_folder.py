"""Add rules to a plan's folder: the rules, their scores, figures, and a report of both; as a whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reservoir.checks import Check
from reservoir.errors import InputError, Mistake, OutputError
from reservoir.plan import StageProgress, silent_stage
from reservoir.plan_tables import AGAIN
from reservoir.report.draft_folder import check_parent, drafted
from reservoir.report.folder import (
    FIGURES,
    FLOAT_FORMAT,
    REPORT,
    RULES,
    RULES_PROVENANCE,
    SCORES,
    run_provenance,
    write_json,
)
from reservoir.rules.belonging import belongings
from reservoir.rules.evaluation import Evaluation
from reservoir.rules.rule_file import write_rule
from reservoir.rules.shortfalls import shortfalls
from reservoir.saved_plan import SavedPlan


def check_rules_target(folder: Path, force: bool) -> None:
    """Refuse, before anything is computed, a folder that cannot be written or has rules already.

    Raises
    ------
    OutputError
        Without `force` if the folder has rules; if nothing can be written there.
    """
    if ((folder / RULES).exists() or (folder / RULES).is_symlink()) and not force:
        mend = "replace them with --force, or copy the plan's folder and fit the copy's"
        raise OutputError(Mistake("exists already", file=str(folder / RULES), mend=mend))
    check_parent(folder)


def write_rules(
    evaluation: Evaluation,
    saved: SavedPlan,
    checks: Sequence[Check],
    *,
    force: bool = False,
    figures: bool = True,
    progress: StageProgress = silent_stage,
) -> Path:
    """Write ``rules/*.json``, ``scores.csv``, ``rules.json``, figures and the report into a plan's folder.

    Raises
    ------
    OutputError
        If the folder has rules already and `force` is off, or cannot be written.
    """
    check_rules_target(saved.folder, force)
    with drafted(saved.folder) as draft:
        shutil.copytree(saved.folder, draft, symlinks=True, dirs_exist_ok=True)
        _remove_earlier(draft)
        origin = rules_provenance(evaluation, saved, checks)
        _write_rule_files(evaluation, saved, draft / RULES, origin)
        evaluation.table().to_csv(draft / SCORES, index=False, float_format=FLOAT_FORMAT)
        captions = _write_figures(evaluation, draft / FIGURES, progress) if figures else {}
        write_json(draft / RULES_PROVENANCE, origin | {"figures": captions})
        _write_report(evaluation, saved, checks, draft, origin, captions)
    return saved.folder


def _remove_earlier(folder: Path) -> None:
    """Remove earlier rules and their figures, whatever stands in their place."""
    from reservoir.report.figures import KINDS
    from reservoir.report.rules_figures import RULES_TITLES

    drawings = [folder / FIGURES / f"{name}.{kind}" for name in RULES_TITLES for kind in KINDS]
    for path in (folder / RULES, *drawings):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def rules_provenance(evaluation: Evaluation, saved: SavedPlan, checks: Sequence[Check]) -> dict[str, Any]:
    """Where rules come from: versions, the plan, what they were told, and what was found."""
    training, targets = evaluation.training, evaluation.targets
    return {
        **run_provenance(),
        "plan": {name: saved.origin[name] for name in ("created", "reservoir", "inflow", "solver", "settings")},
        "years": [training.labels[0], training.labels[-1]],
        "forecast": str(evaluation.forecast),
        "cross_validation": evaluation.cross_validation,
        "folds": evaluation.folds,
        "targets": {
            "annual_gwh": targets.annual_gwh,
            "firm_mw": targets.firm_mw,
            "guaranteed_by_the_reservoir_file": targets.guaranteed,
        },
        "caveats": list(evaluation.plan.caveats),
        "shortfalls": shortfalls(evaluation),
        "checks": [check.as_dict() for check in checks],
    }


def check_pictures(saved: SavedPlan) -> None:
    """Refuse a plan whose figures cannot be shown in the report, before any rule is fitted.

    Raises
    ------
    InputError
        With every figure that is unknown or broken.
    """
    from reservoir.report.html import TITLES
    from reservoir.report.page import read_pictures

    mistakes = []
    for name, caption in saved.origin["figures"].items():
        drawing = str(saved.folder / FIGURES / f"{name}.svg")
        try:
            read_pictures(saved.folder / FIGURES, TITLES, {name: caption})
        except KeyError:
            mistakes.append(Mistake("is no figure that this version draws", mend=AGAIN, file=drawing))
        except (OSError, SyntaxError, RecursionError, ValueError):
            mistakes.append(Mistake("is no drawing that a report can hold", mend=AGAIN, file=drawing))
    if mistakes:
        raise InputError(mistakes)


def _write_rule_files(evaluation: Evaluation, saved: SavedPlan, folder: Path, origin: Mapping[str, Any]) -> None:
    folder.mkdir()
    fitted_to = {name: origin[name] for name in ("plan", "years", "created", "caveats")}
    fitted_to |= belongings(evaluation.plan.reservoir, saved.folder)
    for result in evaluation.families:
        write_rule(result.rule, folder / f"{result.family}.json", fitted_to)


def _write_figures(evaluation: Evaluation, folder: Path, progress: StageProgress) -> dict[str, str]:
    """Write the figures, and return how to read each."""
    from reservoir.report.figures import write_figures
    from reservoir.report.rules_figures import rules_captions, rules_figures

    write_figures(rules_figures(evaluation), folder, lambda done, total: progress("figures", done, total))
    return rules_captions(evaluation)


def _write_report(
    evaluation: Evaluation,
    saved: SavedPlan,
    checks: Sequence[Check],
    folder: Path,
    origin: Mapping[str, Any],
    captions: Mapping[str, str],
) -> None:
    from reservoir.report.html import TITLES
    from reservoir.report.page import read_pictures
    from reservoir.report.rules_figures import RULES_TITLES
    from reservoir.report.rules_html import rules_report

    plan_pictures = read_pictures(folder / FIGURES, TITLES, saved.origin["figures"])
    rules_pictures = read_pictures(folder / FIGURES, RULES_TITLES, captions)
    text = rules_report(evaluation, saved, checks, origin, plan_pictures, rules_pictures)
    (folder / REPORT).write_text(text, encoding="utf-8")
