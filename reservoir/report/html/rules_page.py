"""The page of a plan's rules: how well each family operates years that it never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from reservoir.hydro.unit_system import SI
from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.planning.checks import Check
from reservoir.planning.columns import MEAN_ENERGY, shown, shown_columns
from reservoir.planning.plan import Plan
from reservoir.report.html.page import HtmlTable, Picture, Section, render
from reservoir.report.html.plan_page import plan_heading
from reservoir.report.html.tables import checks_section, result_table, without_constants, without_rows_of
from reservoir.rules import FAMILIES, Forecast
from reservoir.rules.base.targets import STRICTER_SHARE, Targets
from reservoir.rules.evaluation import TEST, Evaluation, Sample, robustness_table
from reservoir.rules.findings import (
    BASELINES,
    FITTED_NETWORK,
    SEARCHED_NETWORK,
    best_fitted,
    best_names,
    better_than,
    findings,
    sentence_on_test,
    shortfalls,
    spills,
)
from reservoir.rules.scores import SimulationMode, benefit_suffix, worst_decile
from reservoir.text.quantities import counted, typeset_unit

#: How the years follow each other, and what perfect foresight of them knows.
_MODES = {
    SimulationMode.CONTINUOUS: ("Storage carried through {years}", "perfect foresight knows the whole record"),
    SimulationMode.YEARLY: ("Every year from the plan's initial storage", "perfect foresight knows the year"),
}
_ENERGY_EXPLAINED = (
    "Every family operates the whole record twice. Training: one rule, fitted to all years, operates all years. "
    "Held-out: each year is operated by a rule fitted without it (cross-validation); this is the performance to expect "
    "in future years.",
)
_ENERGY_FACTS = (
    ("Mean, median", "Of a year: energy, or what else the plan optimises."),
    (
        "Of foresight",
        "As a percentage of perfect foresight: an operator who knows all inflows in advance. Limits and demands that "
        "foresight keeps and a rule does not are charged with the penalty of the plan.",
    ),
    ("Regret", "How much less than perfect foresight, a year: the cost of not knowing future inflows."),
    ("Worst decile", "Mean of the poorest 10 % of the years."),
    ("Energy", "Mean annual energy; a column of its own if the plan optimises something else."),
    ("Spill", "Mean annual volume released without passing the turbines."),
    (
        "End storage",
        "What the water is worth that a rule leaves at the end (+) or has drawn from the initial storage (−): by as "
        "much perfect foresight brings less, or more, if it ends with the same storage. It is included in the mean, "
        "never in a single year of a record.",
    ),
)
_SERVICE_FACTS = (
    ("Reliable", "Reliability: share of years, or months, that reach the target."),
    (
        "Resilient",
        "Resilience: share of failures followed by a year, or month, that reaches the target; 100 % if none fails.",
    ),
    ("Shortfall", "Vulnerability: mean shortfall of failing years, or months, in percent of the target."),
    ("Strict", "Share of months that reach the stricter target of power."),
    ("Supplied", "Share of months that deliver the withdrawal, or the release, that is demanded."),
)
_LIMITS_FACTS = (
    ("At a limit", "Months that end at the lower or upper storage limit."),
    ("Repaired", "Months in which the physical limits did not permit the release of the rule."),
    (
        "Outside, largest",
        "Months that end outside the storage limits, which no permitted release avoids, and the largest deviation. A "
        "rule that violates limits which perfect foresight satisfies is not recommended.",
    ),
    ("Demands unmet", "Months in which a withdrawal or the lowest power is not delivered."),
)


_ROBUSTNESS_FACTS = (
    ("Best, median, worst", "Mean annual energy of a member, or what else is optimised, at equal end storage."),
    ("Worst decile", "Mean of the poorest 10 % of the members, or of those with the least firm power, or most regret."),
    ("Firm power", "Mean power of a month that is exceeded in 90 % of the months of a member."),
    ("Regret", "How much more perfect foresight of the member brings than the rule, a year."),
    ("Violating", "Share of members with any month outside the storage limits."),
)


def rules_report(
    evaluation: Evaluation,
    saved: SavedPlan[Plan],
    checks: Sequence[Check],
    origin: Mapping[str, Any],
    pictures: Sequence[Picture],
) -> str:
    """Write the page of a plan's rules; that of the plan stands beside it.

    Parameters
    ----------
    evaluation : Evaluation
    saved : SavedPlan
        The plan, as it is in its folder.
    checks : sequence of Check
        Acceptance table of the rules.
    origin : mapping
        Provenance of the rules, see `reservoir.report.rules_folder.rules_provenance`.
    pictures : sequence of Picture
        Their figures; none for a page without.
    """
    sections = [*rules_sections(evaluation, checks, pictures), rules_provenance_section(origin)]
    ours, theirs = (plan.units.as_dict for plan in (evaluation.plan, saved.plan))
    if ours != theirs:
        flow, volume, level = (f"{ours[what]} (the plan: {theirs[what]})" for what in ("flow", "volume", "level"))
        sentence = f"Tables and figures of the rules have flows in {flow}, volumes in {volume} and levels in {level}."
        sentence = typeset_unit(sentence)
        sections = [Section("rules-units", "Units of the rules", text=(sentence,)), *sections]
    heading = plan_heading(evaluation.plan, checks)
    figures, best = list(heading.figures), best_fitted(evaluation)
    if best is not None:
        named = [(f"best fitted rule ({best_names(evaluation)})", best)]
        named += [(f"{each.family}, better than that", each) for each in better_than(evaluation, best)]
        for name, result in named:
            part, of, _ = result.held_out.score.beside_foresight.partition(" of perfect foresight")
            figures.append((f"{'of perfect foresight, ' if of else ''}{name}, held-out years", part))
    title = heading.title.replace("Operation plan", "Operation rules", 1)
    return render(replace(heading, title=title, pages=(("Plan", "report.html"),), figures=tuple(figures)), sections)


def rules_sections(evaluation: Evaluation, checks: Sequence[Check], pictures: Sequence[Picture]) -> list[Section]:
    """The rules' part of the report."""
    outside, objective, units = shortfalls(evaluation), evaluation.plan.objective.title, evaluation.plan.units
    said = [*findings(evaluation), *spills(evaluation)]

    def tables(kind: str) -> tuple[HtmlTable, ...]:
        first, *others = (scores_table(evaluation, mode, kind) for mode in evaluation.modes)
        further = (without_rows_of(table, first) for table in others)
        same = "".join(f" {table.caption}" for table in others if not without_rows_of(table, first).rows)
        shown = replace(first, caption=f"{first.caption} The same:{same}") if same else first
        return tuple(map(without_constants, (shown, *(table for table in further if table.rows))))

    sections = [
        Section("rules-shortfalls", "Limits and demands that rules do not keep", items=tuple(outside), warning=True)
        if outside
        else None,
        Section(
            "rules",
            "Operation rules",
            text=_overview(evaluation),
            facts=tuple((result.family, FAMILIES[result.family].summary) for result in evaluation.families),
        ),
        Section(
            "rules-energy",
            f"{objective[:1].upper()}{objective[1:]} by rule",
            text=_ENERGY_EXPLAINED,
            facts=_ENERGY_FACTS,
            tables=tables("energy"),
        ),
        Section(
            "rules-service",
            "Reliability of the rules",
            text=(_targets(evaluation.targets),),
            facts=tuple(each for each in _SERVICE_FACTS if each[0] != "Strict" or evaluation.targets.has_stricter),
            tables=tables("service"),
        ),
        Section("rules-limits", "Limits and repairs", facts=_LIMITS_FACTS, tables=tables("limits")),
        _robustness(evaluation),
        Section(
            "rules-findings",
            "Findings",
            text=("What the families do against each other, on held-out years. No check of this result.",),
            facts=tuple((finding.compared, f"{finding.found}.") for finding in said),
        )
        if said
        else None,
        checks_section("rules-acceptance", "Checks of the rules", checks, units),
        Section("rules-figures", "Figures of the rules", pictures=tuple(pictures)) if pictures else None,
    ]
    return [section for section in sections if section is not None]


def _overview(evaluation: Evaluation) -> tuple[str, ...]:
    knows = {
        Forecast.MONTH: "the month, the storage at its start, its mean inflow (a perfect one-month forecast) "
        "and the inflow of the month before",
        Forecast.NONE: "the month, the storage at its start and the inflow of the month before",
    }[evaluation.forecast]
    text = [
        "The plan uses the future inflows of each year; an operator does not know them. These rules, fitted to "
        f"{evaluation.fitted_to or 'the plan'}, use only {knows}.",
        f"Cross-validation: {evaluation.cross_validation}; held-out years are operated by rules fitted to the others.",
    ]
    best = best_fitted(evaluation)
    if best is not None:
        baselines = [
            f"{result.held_out.score.beside_foresight} by {result.family}, the {BASELINES[result.family]} baseline"
            for result in evaluation.families
            if result.family in BASELINES
        ]
        text.append(
            f"The best family fitted to the plan is {best_names(evaluation)}: on held-out years "
            f"{best.held_out.score.beside_foresight} over the whole record."
            + (f" For comparison: {', and '.join(baselines)}." if baselines else "")
        )
    text += filter(None, (evaluation.without_years, sentence_on_test(evaluation)))
    fitted, searched = map(evaluation.result_of, (FITTED_NETWORK, SEARCHED_NETWORK))
    if fitted is not None and searched is not None:
        misfits = [
            evaluation.plan.units.stated(result.misfit_m3s[Sample.HELD_OUT], "m³/s", ",.0f")
            for result in (fitted, searched)
        ]
        text.append(
            f"The network of {SEARCHED_NETWORK} is trained in two stages. The first ({FITTED_NETWORK}) fits it to the "
            f"releases of the plan: root mean square error {misfits[0]} (held-out years, in the states of the plan), "
            f"{fitted.held_out.score.beside_foresight}. The second maximises what the simulation brings: root mean "
            f"square error {misfits[1]}, {searched.held_out.score.beside_foresight}."
        )
    return tuple(text)


def _targets(targets: Targets) -> str:
    energy = f"{targets.annual_gwh:,.0f} GWh per year, or {targets.firm_mw:,.0f} MW in every month"
    if targets.guaranteed:
        return f"Target: {targets.origin}, {energy}."
    if targets.share is not None:
        return f"Target: {targets.firm_mw:,.4g} MW in every month, {targets.origin}."
    stricter = (
        f"The stricter target, {targets.firm_95_mw:,.0f} MW, is given in {100 * STRICTER_SHARE:g} % of the months"
    )
    return f"Nothing is guaranteed in the reservoir file. Target: {targets.origin}, {energy}. {stricter}."


def scores_table(evaluation: Evaluation, mode: SimulationMode, kind: str) -> HtmlTable:
    """Columns of one kind of the scores of a mode by family; those with months outside their limits are marked.

    Energies stand below those of perfect foresight.
    """
    scores, objective = evaluation.scores_of(mode), evaluation.plan.objective
    # Beside another objective, the energy has a column; one of the stricter target would be another's again.
    without = {MEAN_ENERGY} if objective.is_energy else set[str]()
    without |= set() if evaluation.targets.has_stricter else {"firm_95_reliability"}
    columns = [each for each in shown_columns("scores", "page", kind) if each.name not in without]
    top = _foresights(evaluation, mode) if kind == "energy" else []
    values = {
        each.name: [
            *(best.get(each.name, np.nan) for _, best in top),
            *(getattr(score, each.name) for _, score in scores),
        ]
        for each in columns
    }
    names = {
        "Family": ["perfect foresight"] * len(top) + [result.family for result, _ in scores],
        "Years": [years for years, _ in top] + [str(score.sample) for _, score in scores],
    }
    outside = top and evaluation.foresights[mode].violations.months > 0
    marked = {len(top) + place for place, (_, score) in enumerate(scores) if score.months_violated}
    marked |= set(range(len(top))) if outside else set()
    caption = f"{'; '.join(_MODES[mode] if top else _MODES[mode][:1])}."
    caption = caption.format(years=counted(evaluation.training.years, "year"))
    units, benefit = evaluation.plan.units, objective.unit
    return result_table(f"{kind}-{mode}", caption, names, columns, values, units, benefit=benefit, marked=marked)


def _foresights(evaluation: Evaluation, mode: SimulationMode) -> list[tuple[str, dict[str, Any]]]:
    """What perfect foresight of the record comes to, and of the test: the years, and values by names of columns."""
    records = [("all", evaluation.foresights[mode], evaluation.plan.inflow)]
    for test in evaluation.tests[:1] if mode is SimulationMode.CONTINUOUS else ():
        records += [] if test.foresight is None else [(TEST, test.foresight, test.inflow)]
    objective, rows = evaluation.plan.objective, []
    for years, foresight, inflow in records:
        operation = foresight.operation.in_years(inflow.steps)
        benefit = shown(objective, operation.benefit)
        poorest = shown(objective, np.array([worst_decile(operation.benefit), operation.benefit.min()]))
        values = {
            "mean": benefit.mean(),
            "percent_of_foresight": np.nan if objective.is_cost else 100.0,
            "regret": 0.0,
            "median": np.median(benefit),
            "worst_decile": poorest[0],
            "worst": poorest[1],
            "spill_hm3": float((operation.spill_m3s * inflow.calendar.hm3_per_m3s).sum(axis=1).mean()),
            MEAN_ENERGY: operation.annual_energy_gwh.mean(),
        }
        rows.append((years, values))
    return rows


def _robustness(evaluation: Evaluation) -> Section | None:
    """The members of ensembles; families that violate limits in any member are marked."""
    table, objective = robustness_table(evaluation), evaluation.plan.objective
    if table is None:
        return None
    text = (
        "Each member is operated from its start to its end by rules that were not fitted to it, and compared with "
        "perfect foresight of this member.",
    )
    columns, suffix = shown_columns("robustness", "page"), benefit_suffix(objective)
    members = dict(zip(table["sample"].astype(str), table["members"], strict=True))
    caption = f"{'; '.join(f'{sample}: {count:,} members' for sample, count in members.items())}.".capitalize()
    names = {
        "Family": [str(family).replace("foresight", "perfect foresight") for family in table["family"]],
        "Members": table["sample"].astype(str).tolist(),
    }
    values = {column.name: table[column.benefit_name(suffix)].tolist() for column in columns}
    marked = np.flatnonzero(table["violating_members"] > 0).tolist()
    rows = result_table("robustness", caption, names, columns, values, SI, benefit=objective.unit, marked=marked)
    return Section("rules-robustness", "Robustness over members", text, facts=_ROBUSTNESS_FACTS, tables=(rows,))


def rules_provenance_section(origin: Mapping[str, Any]) -> Section:
    """Where rules come from."""
    facts = [
        ("Created", str(origin["created"])),
        ("Program", f"{origin['program']['name']} {origin['program']['version']}"),
        ("Plan", f"created {origin['plan']['created']} by {origin['plan']['solver']}"),
        ("Years", " to ".join(origin["years"])),
        ("Forecast", str(origin["forecast"])),
        ("Cross-validation", str(origin["cross_validation"])),
    ]
    if test := origin.get("test"):
        members = f"{test['members']} members, each of {test['years_each']} years; " if "members" in test else ""
        named = test["file"] or "inflow made in Python"
        facts.append(("Test", f"{named}: {members}{test['first']} to {test['last']}"))
        facts += [("Test caveat", test["caveat"])] if test["caveat"] else []
    return Section("rules-provenance", "Provenance of the rules", facts=tuple(facts))
