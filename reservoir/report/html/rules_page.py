"""The report of a plan and its rules: how well each family operates years that it never saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.planning.checks import Check
from reservoir.report.html.page import Heading, Picture, Section, render
from reservoir.report.html.plan_page import plan_heading, plan_sections
from reservoir.report.html.rules_robustness import robustness_rows
from reservoir.report.html.rules_scores import LIMITS, SERVICE, energy_table, scores_table
from reservoir.report.html.tables import acceptance_table
from reservoir.rules import FAMILIES, Forecast
from reservoir.rules.evaluation.acceptance import FITTED_NETWORK, SEARCHED_NETWORK, STRONG, WEAK, best_fitted
from reservoir.rules.evaluation.evaluation import Evaluation, FamilyResult, Sample, SimulationMode
from reservoir.rules.evaluation.findings import sentence_on_test
from reservoir.rules.evaluation.robustness import robustness_table
from reservoir.rules.evaluation.shortfalls import shortfalls


def rules_report(
    evaluation: Evaluation,
    saved: SavedPlan,
    checks: Sequence[Check],
    origin: Mapping[str, Any],
    plan_pictures: Sequence[Picture],
    rules_pictures: Sequence[Picture],
) -> str:
    """Write the report of a plan with its rules.

    Parameters
    ----------
    evaluation : Evaluation
    saved : SavedPlan
        The plan, with its own acceptance table and provenance.
    checks : sequence of Check
        Acceptance table of the rules.
    origin : mapping
        Provenance of the rules, see `reservoir.report.rules_folder.rules_provenance`.
    plan_pictures, rules_pictures : sequence of Picture
        Figures of both; none for a report without.
    """
    *of_plan, provenance = plan_sections(saved.plan, saved.checks, saved.origin, plan_pictures)
    of_rules = [*_units(evaluation, saved), *rules_sections(evaluation, checks, rules_pictures)]
    return render(_heading(evaluation, saved, checks), [*of_plan, *of_rules, provenance, _rules_provenance(origin)])


def _units(evaluation: Evaluation, saved: SavedPlan) -> Iterator[Section]:
    """Say so where the rules are in other units than the plan."""
    ours, theirs = (each.units.as_dict for each in (evaluation.plan, saved.plan))
    if ours != theirs:
        flow, volume, level = (f"{ours[what]} (the plan: {theirs[what]})" for what in ("flow", "volume", "level"))
        sentence = f"Tables and figures of the rules have flows in {flow}, volumes in {volume} and levels in {level}."
        yield Section("rules-units", "Units of the rules", text=(sentence,))


def rules_sections(evaluation: Evaluation, checks: Sequence[Check], pictures: Sequence[Picture]) -> list[Section]:
    """The rules' part of the report."""
    outside = shortfalls(evaluation)
    sections = [
        Section(
            "rules-shortfalls",
            "Storage limits violated by rules",
            items=tuple(map(evaluation.plan.units.text, outside)),
            warning=True,
        )
        if outside
        else None,
        Section("rules", "Operation rules", text=_overview(evaluation), facts=tuple(_families(evaluation))),
        Section(
            "rules-energy",
            "Energy by rule",
            text=_ENERGY_EXPLAINED,
            facts=_ENERGY_FACTS,
            tables=tuple(energy_table(evaluation, mode) for mode in SimulationMode),
        ),
        Section(
            "rules-service",
            "Reliability of the rules",
            text=(_targets(evaluation),),
            facts=_SERVICE_FACTS,
            tables=tuple(scores_table(evaluation, mode, "service", SERVICE) for mode in SimulationMode),
        ),
        Section(
            "rules-limits",
            "Limits and repairs",
            facts=_LIMITS_FACTS,
            tables=tuple(scores_table(evaluation, mode, "limits", LIMITS) for mode in SimulationMode),
        ),
        _robustness(evaluation),
        Section(
            "rules-acceptance",
            "Acceptance of the rules",
            tables=(acceptance_table(checks, evaluation.plan.units, "rules-acceptance-table"),),
        ),
        Section("rules-figures", "Figures of the rules", pictures=tuple(pictures)) if pictures else None,
    ]
    return [section for section in sections if section is not None]


_ENERGY_EXPLAINED = (
    "Every family operates the whole record twice. Training: one rule, fitted to all years, operates all years. "
    "Held-out: each year is operated by a rule fitted without it (cross-validation); this is the performance to expect "
    "in future years.",
)
_ENERGY_FACTS = (
    ("Mean, median", "Annual energy."),
    ("Of foresight", "Mean energy as a percentage of perfect foresight: an operator who knows all inflows in advance."),
    ("Regret", "Mean annual energy below perfect foresight: the cost of not knowing future inflows."),
    ("Worst decile", "Mean of the 10 % of years with the least energy."),
    ("Spill", "Mean annual volume released without passing the turbines."),
    (
        "End storage",
        "Energies are compared at equal end storage: the energy value of water left at the end (+) or drawn from the "
        "initial storage (−). It is included in the energies of the table.",
    ),
)
_SERVICE_FACTS = (
    ("Reliable", "Reliability: share of years, or months, that reach the target."),
    (
        "Resilient",
        "Resilience: share of failures followed by a year, or month, that reaches the target; 100 % if none fails.",
    ),
    ("Shortfall", "Vulnerability: mean shortfall of failing years, or months, in percent of the target."),
)
_LIMITS_FACTS = (
    ("At a limit", "Months that end at the lower or upper storage limit."),
    ("Repaired", "Months in which the physical limits did not permit the release of the rule."),
    (
        "Outside, largest",
        "Months that end outside the storage limits, which no permitted release avoids, and the largest deviation. A "
        "rule that violates limits which perfect foresight satisfies is not recommended.",
    ),
)


_ROBUSTNESS_FACTS = (
    ("Energy", "Mean annual energy of a member, at equal end storage."),
    ("Worst decile", "Mean of the 10 % of members with the least energy, or firm power, or the most regret."),
    ("Firm power", "Mean power of a month that is exceeded in 90 % of the months of a member."),
    ("Regret", "Annual energy of the member's perfect foresight minus that of the rule."),
    ("Violating", "Share of members with any month outside the storage limits."),
)


def _robustness(evaluation: Evaluation) -> Section | None:
    table = robustness_table(evaluation)
    if table is None:
        return None
    text = (
        "Each member is operated from its start to its end by rules that were not fitted to it, and compared with "
        "perfect foresight of this member.",
    )
    return Section(
        "rules-robustness", "Robustness over members", text, facts=_ROBUSTNESS_FACTS, tables=(robustness_rows(table),)
    )


def _heading(evaluation: Evaluation, saved: SavedPlan, checks: Sequence[Check]) -> Heading:
    """The plan's, with the checks of both and the best rule."""
    heading = plan_heading(saved.plan, [*saved.checks, *checks])
    best = best_fitted(evaluation)
    if best is None:
        return heading
    found = (f"of perfect foresight, best fitted rule ({best.family}), held-out years", _part_of_foresight(best))
    return replace(heading, figures=(*heading.figures, found))


def _overview(evaluation: Evaluation) -> tuple[str, ...]:
    knows = {
        Forecast.MONTH: "the month, the storage at its start, its mean inflow (a perfect one-month forecast) "
        "and the inflow of the month before",
        Forecast.NONE: "the month, the storage at its start and the inflow of the month before",
    }[evaluation.forecast]
    text = [
        "The plan above uses the future inflows of each year; an operator does not know them. These rules, fitted to "
        f"{evaluation.fitted_to or 'the plan'}, use only {knows}.",
        f"Cross-validation: {evaluation.cross_validation}; held-out years are operated by rules fitted to the others.",
    ]
    best = best_fitted(evaluation)
    if best is not None:
        text.append(
            f"The best family fitted to the plan is {best.family}: on held-out years it generates "
            f"{_part_of_foresight(best)} of the energy of perfect foresight over the whole record."
            f"{_compared(evaluation)}"
        )
    tested = sentence_on_test(evaluation)
    return (*text, *([tested] if tested else []), *_stages(evaluation))


def _stages(evaluation: Evaluation) -> tuple[str, ...]:
    """What searching further made of the network that was fitted to the plan, if both were evaluated."""
    found = {result.family: result for result in evaluation.families}
    if not {FITTED_NETWORK, SEARCHED_NETWORK} <= set(found):
        return ()
    fitted, searched = found[FITTED_NETWORK], found[SEARCHED_NETWORK]
    units = evaluation.plan.units
    misfits = [units.text(f"{result.misfit_m3s[Sample.HELD_OUT]:,.0f} m³/s") for result in (fitted, searched)]
    return (
        f"The network of {SEARCHED_NETWORK} is trained in two stages. The first ({FITTED_NETWORK}) fits it to the "
        f"releases of the plan: root mean square error {misfits[0]} (held-out years, in the states of the plan), "
        f"{_part_of_foresight(fitted)} of the energy of perfect foresight. The second maximises the simulated energy: "
        f"root mean square error {misfits[1]}, {_part_of_foresight(searched)} of the energy.",
    )


def _compared(evaluation: Evaluation) -> str:
    """What the baselines make, as far as they were evaluated."""
    baselines = [
        f"{_part_of_foresight(result)} by {result.family}, the {what} baseline"
        for result in evaluation.families
        for name, what in ((STRONG, "strong"), (WEAK, "weak"))
        if result.family == name
    ]
    return f" For comparison: {', and '.join(baselines)}." if baselines else ""


def _part_of_foresight(result: FamilyResult) -> str:
    return f"{result.scores[SimulationMode.CONTINUOUS, Sample.HELD_OUT].percent_of_foresight:.2f} %"


def _targets(evaluation: Evaluation) -> str:
    targets = evaluation.targets
    energy = f"{targets.annual_gwh:,.0f} GWh per year, or {targets.firm_mw:,.0f} MW in every month"
    if targets.guaranteed:
        return f"Target: the guaranteed energy of the reservoir, {energy}."
    return f"No guaranteed energy is given. Target: the power that the plan exceeds in 90 % of months, {energy}."


def _families(evaluation: Evaluation) -> list[tuple[str, str]]:
    return [(result.family, FAMILIES[result.family].summary) for result in evaluation.families]


def _test_facts(origin: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The record or ensemble that rules were tested on, if any."""
    test = origin.get("test")
    if test is None:
        return []
    members = f"{test['members']} members, each of {test['years_each']} years; " if "members" in test else ""
    named = test["file"] or "inflow made in Python"
    return [
        ("Test", f"{named}: {members}{test['first']} to {test['last']}"),
        *([("Test caveat", test["caveat"])] if test["caveat"] else []),
    ]


def _rules_provenance(origin: Mapping[str, Any]) -> Section:
    first, last = origin["years"]
    facts = (
        ("Created", str(origin["created"])),
        ("Program", f"{origin['program']['name']} {origin['program']['version']}"),
        ("Plan", f"created {origin['plan']['created']} by {origin['plan']['solver']}"),
        ("Years", f"{first} to {last}"),
        ("Forecast", str(origin["forecast"])),
        ("Cross-validation", str(origin["cross_validation"])),
        *_test_facts(origin),
    )
    return Section("rules-provenance", "Provenance of the rules", facts=facts)
