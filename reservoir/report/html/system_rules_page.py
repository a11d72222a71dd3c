"""The page of the rules of a system: side by side for all reservoirs together and for each, and what they get wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reservoir.planning.checks import Check
from reservoir.planning.columns import shown_columns
from reservoir.report.html.page import Heading, HtmlTable, Picture, Section, render
from reservoir.report.html.rules_page import rules_provenance_section
from reservoir.report.html.tables import checks_section, result_table, without_constants
from reservoir.rules import FAMILIES, Forecast
from reservoir.rules.families.separable import SEPARABLE
from reservoir.rules.families.system_replan import REPLAN
from reservoir.rules.scores import benefit_suffix
from reservoir.rules.system_evaluation import ALL, SystemEvaluation
from reservoir.text.quantities import counted

#: What families do that are not as of one reservoir.
_SUMMARIES = {
    SEPARABLE: "the releases of all reservoirs together that bring most in the month and leave most worth behind: a "
    "table of values for each, upstream ones paid by what water is worth below",
    REPLAN: "those of separable, or others beside them that make clearly more in futures of all sites, each "
    "followed for months",
}
_KNOWS = {
    Forecast.MONTH: "the month, the storages at its start, its mean inflow (a perfect one-month forecast) and the "
    "inflow of the month before",
    Forecast.NONE: "the month, the storages at its start and the inflow of the month before",
}


def system_rules_report(
    evaluation: SystemEvaluation, checks: Sequence[Check], origin: Mapping[str, Any], pictures: Sequence[Picture]
) -> str:
    """Write the page of the rules of a system; arguments are as of `rules_page.rules_report`."""
    plan, best = evaluation.plan, evaluation.ranked[0]
    claims = [check.passed for check in checks if check.passed is not None]
    part = f"{100 * best.charged / best.best:.2f} % of perfect foresight" if best.best > 0 else best.family
    heading = Heading(
        title=f"Operation rules of {plan.system.name}, {plan.inflow.span_text}",
        description=plan.system.description,
        caveats=plan.caveats,
        figures=(
            (f"best rule ({best.family}), held-out years", part),
            ("checks passed", f"{sum(claims)} of {len(claims)}"),
        ),
        pages=(("Plan", "report.html"),),
    )
    facts = tuple(
        (family, _SUMMARIES[family] if family in _SUMMARIES else FAMILIES[family].summary)
        for family in evaluation.rules
    )
    text = (
        "The joint plan knows the inflows to come; an operator does not. These rules use only "
        f"{_KNOWS[evaluation.forecast]}. "
        f"Cross-validation: {evaluation.cross_validation}; held-out years are operated by rules fitted to the others. "
        f"Storage is carried through {counted(plan.inflow.years, 'year')}.",
        f"Perfect foresight is {evaluation.foresight.words}.",
        *([] if evaluation.bound is None else [f"Bound: {evaluation.bound.words}."]),
    )
    sections = [
        Section("rules", "Operation rules", text=text, facts=facts),
        Section("rules-scores", "Rules side by side", tables=(_table(evaluation, ALL),)),
        *(
            Section(f"rules-of-{place}", f"Rules of {name}", tables=(_table(evaluation, name),))
            for place, name in enumerate(plan.system.names)
        ),
        Section("rules-findings", "Findings", text=(_FOUND,), facts=tuple(origin["findings"].items())),
        checks_section("rules-acceptance", "Checks of the rules", checks, plan.units),
        Section("rules-figures", "Figures of the rules", pictures=tuple(pictures)) if pictures else None,
        rules_provenance_section(origin),
    ]
    return render(heading, [section for section in sections if section is not None])


_FOUND = (
    "What each family does otherwise than perfect foresight, in years that it has not seen. No check of this result."
)


def _table(evaluation: SystemEvaluation, reservoir: str) -> HtmlTable:
    """The scores of one reservoir, or of all together, by family; with months outside limits marked."""
    plan, table = evaluation.plan, evaluation.table()
    rows = table[table["reservoir"] == reservoir]
    suffix = benefit_suffix(plan.objective)
    columns = [
        column
        for kind in ("energy", "limits")
        for column in shown_columns("system_scores", "page", kind)
        if rows[column.benefit_name(suffix)].notna().any()
    ]
    names = {
        "Family": [str(family).replace("foresight", "perfect foresight") for family in rows["family"]],
        "Years": rows["sample"].astype(str).tolist(),
    }
    values = {column.name: rows[column.benefit_name(suffix)].tolist() for column in columns}
    marked = np.flatnonzero(rows["months_violated"].to_numpy() > 0).tolist()
    caption = "All reservoirs together." if reservoir == ALL else f"{reservoir}; water left at the end is not valued."
    shown = result_table(
        f"scores-{reservoir}", caption, names, columns, values, plan.units, benefit=plan.objective.unit, marked=marked
    )
    return without_constants(shown)
