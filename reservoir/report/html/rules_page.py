"""The report of a plan and its rules: how well each family operates years that it never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.planning.checks import Check
from reservoir.report.html.page import Heading, Picture, Section, render
from reservoir.report.html.plan_page import plan_heading, plan_sections
from reservoir.report.html.rules_scores import LIMITS, SERVICE, energy_table, scores_table
from reservoir.report.html.tables import acceptance_table
from reservoir.rules import FAMILIES, Forecast
from reservoir.rules.evaluation.acceptance import FITTED_NETWORK, SEARCHED_NETWORK, STRONG, WEAK, best_fitted
from reservoir.rules.evaluation.evaluation import Evaluation, FamilyResult, Sample, SimulationMode
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
    sections = [*of_plan, *rules_sections(evaluation, checks, rules_pictures), provenance, _rules_provenance(origin)]
    return render(_heading(evaluation, saved, checks), sections)


def rules_sections(evaluation: Evaluation, checks: Sequence[Check], pictures: Sequence[Picture]) -> list[Section]:
    """The rules' part of the report."""
    outside = shortfalls(evaluation)
    sections = [
        Section("rules-shortfalls", "Bounds that rules do not keep", items=tuple(outside), warning=True)
        if outside
        else None,
        Section("rules", "Operation rules", text=_told(evaluation), facts=tuple(_families(evaluation))),
        Section(
            "rules-energy",
            "How much energy the rules make",
            text=_ENERGY_EXPLAINED,
            facts=_ENERGY_FACTS,
            tables=tuple(energy_table(evaluation, mode) for mode in SimulationMode),
        ),
        Section(
            "rules-service",
            "How reliably the rules serve",
            text=(_targets(evaluation),),
            facts=_SERVICE_FACTS,
            tables=tuple(scores_table(evaluation, mode, "service", SERVICE) for mode in SimulationMode),
        ),
        Section(
            "rules-limits",
            "How the rules keep the limits",
            facts=_LIMITS_FACTS,
            tables=tuple(scores_table(evaluation, mode, "limits", LIMITS) for mode in SimulationMode),
        ),
        Section(
            "rules-acceptance",
            "Acceptance of the rules",
            tables=(acceptance_table(checks, "rules-acceptance-table"),),
        ),
        Section("rules-figures", "Figures of the rules", pictures=tuple(pictures)) if pictures else None,
    ]
    return [section for section in sections if section is not None]


_ENERGY_EXPLAINED = (
    "Every family operates the whole record twice. On training years it decides by the rule that was fitted to all "
    "years, which has seen what it is tested on; on held-out years every year is decided by a rule that was fitted to "
    "other years alone: this is what to expect of it in years to come.",
)
_ENERGY_FACTS = (
    ("Mean, median", "Energy of a year."),
    ("Part of foresight", "The mean, as a part of what an operator makes who knows all inflows in advance."),
    ("Regret", "What perfect foresight makes more in a year, on average: the price of not knowing the future."),
    ("Worst decile", "Mean of the poorest tenth of the years."),
    ("Spill", "Water released past the turbines."),
    (
        "End charge",
        "Energies are compared at equal end storage. What a run leaves over at its end (+) or has taken out of the "
        "store (−) counts as the energy that this water would make; the energies in the table hold it.",
    ),
)
_SERVICE_FACTS = (
    ("Reliable", "Part of the years, or months, that reach the target; the more, the better."),
    (
        "Resilient",
        "Part of the failures after which the next year, or month, reaches the target again; 100 % where none fails.",
    ),
    ("Shortfall", "What the failing years, or months, lack of the target on average (vulnerability)."),
)
_LIMITS_FACTS = (
    ("At a limit", "Months that end at the lower or the upper bound of the storage."),
    ("Repaired", "Months in which the physical limits did not allow the release that the rule asked for."),
    (
        "Outside, farthest",
        "Months that end with a storage above or below its bounds, whatever the release, and the largest amount. A "
        "rule that leaves bounds which perfect foresight keeps is not recommended.",
    ),
)


def _heading(evaluation: Evaluation, saved: SavedPlan, checks: Sequence[Check]) -> Heading:
    """The plan's, with the checks of both and the best rule."""
    heading = plan_heading(saved.plan, [*saved.checks, *checks])
    best = best_fitted(evaluation)
    if best is None:
        return heading
    found = (f"of perfect foresight on held-out years, best rule fitted ({best.family})", _part_of_foresight(best))
    return replace(heading, figures=(*heading.figures, found))


def _told(evaluation: Evaluation) -> tuple[str, ...]:
    knows = {
        Forecast.MONTH: "the month, the storage at its start, the month's mean inflow (a perfect one-month forecast) "
        "and the inflow of the month before",
        Forecast.NONE: "the month, the storage at its start and the inflow of the month before",
    }[evaluation.forecast]
    said = [
        "The plan above knows the inflows of its year; an operator does not. These rules were fitted to its years and "
        f"know only {knows}.",
        f"Cross-validation: {evaluation.cross_validation}; what is held out is operated by rules fitted to the rest.",
    ]
    best = best_fitted(evaluation)
    if best is not None:
        said.append(
            f"The best family fitted to the plan is {best.family}: on held-out years it makes "
            f"{_part_of_foresight(best)} of the energy of perfect foresight over the whole record."
            f"{_compared(evaluation)}"
        )
    return (*said, *_stages(evaluation))


def _stages(evaluation: Evaluation) -> tuple[str, ...]:
    """What searching further made of the network that was fitted to the plan, if both were evaluated."""
    found = {result.family: result for result in evaluation.families}
    if not {FITTED_NETWORK, SEARCHED_NETWORK} <= set(found):
        return ()
    fitted, searched = found[FITTED_NETWORK], found[SEARCHED_NETWORK]
    misfits = [f"{result.misfit_m3s[Sample.HELD_OUT]:,.0f} m³/s" for result in (fitted, searched)]
    return (
        f"The network of {SEARCHED_NETWORK} is trained in two stages. As the first leaves it ({FITTED_NETWORK}) it "
        f"releases what the plan releases but for {misfits[0]} (root mean square, held-out years, in the plan's own "
        f"situations) and makes {_part_of_foresight(fitted)} of the energy of perfect foresight; after the second, "
        f"which searches for the energy that the operation itself makes, it misses the plan by {misfits[1]} and makes "
        f"{_part_of_foresight(searched)}.",
    )


def _compared(evaluation: Evaluation) -> str:
    """What the baselines make, as far as they were evaluated."""
    baselines = [
        f"{_part_of_foresight(result)} by {result.family}, the {what} baseline"
        for result in evaluation.families
        for name, what in ((STRONG, "strong"), (WEAK, "weak"))
        if result.family == name
    ]
    return f" It is to be compared with {', and '.join(baselines)}." if baselines else ""


def _part_of_foresight(result: FamilyResult) -> str:
    return f"{result.scores[SimulationMode.CONTINUOUS, Sample.HELD_OUT].percent_of_foresight:.2f} %"


def _targets(evaluation: Evaluation) -> str:
    targets = evaluation.targets
    energy = f"{targets.annual_gwh:,.0f} GWh in a year, as steady power {targets.firm_mw:,.0f} MW in every month"
    if targets.guaranteed:
        return f"The target is the energy that the reservoir guarantees: {energy}."
    return f"The reservoir guarantees no energy; the target is what the plan exceeds in nine months of ten: {energy}."


def _families(evaluation: Evaluation) -> list[tuple[str, str]]:
    return [(result.family, FAMILIES[result.family].summary) for result in evaluation.families]


def _rules_provenance(origin: Mapping[str, Any]) -> Section:
    first, last = origin["years"]
    facts = (
        ("Made", str(origin["created"])),
        ("Program", f"{origin['program']['name']} {origin['program']['version']}"),
        ("Plan", f"made {origin['plan']['created']} by {origin['plan']['solver']}"),
        ("Years", f"{first} to {last}"),
        ("Forecast", str(origin["forecast"])),
        ("Cross-validation", str(origin["cross_validation"])),
    )
    return Section("rules-provenance", "Provenance of the rules", facts=facts)
