"""The report of a plan and its rules: how well each family operates years that it never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reservoir.checks import Check
from reservoir.report.html import plan_heading, plan_sections
from reservoir.report.page import Column, Picture, Section, Table, render
from reservoir.report.tables import acceptance_table, counted, number
from reservoir.rules import FAMILIES, Forecast
from reservoir.rules.acceptance import best_fitted
from reservoir.rules.evaluation import Evaluation, Run, Sample
from reservoir.saved_plan import SavedPlan

#: Scores that are shown: name, title, unit, form.
_SCORES = (
    ("mean_gwh", "Mean", "GWh", "{:,.0f}"),
    ("percent_of_foresight", "Part of foresight", "%", "{:.2f}"),
    ("regret_gwh", "Regret", "GWh", "{:,.0f}"),
    ("median_gwh", "Median", "GWh", "{:,.0f}"),
    ("worst_decile_gwh", "Worst decile", "GWh", "{:,.0f}"),
    ("worst_gwh", "Worst year", "GWh", "{:,.0f}"),
    ("reliability", "Reliability", "part", "{:.3f}"),
    ("resilience", "Resilience", "part", "{:.3f}"),
    ("vulnerability", "Vulnerability", "part", "{:.3f}"),
    ("firm_reliability", "Firm reliability", "part", "{:.3f}"),
    ("firm_resilience", "Firm resilience", "part", "{:.3f}"),
    ("firm_vulnerability", "Firm vulnerability", "part", "{:.3f}"),
    ("spill_hm3", "Spill", "hm³ a year", "{:,.0f}"),
    ("months_at_limit", "Months at a limit", "", "{:,.0f}"),
    ("repairs", "Repairs", "", "{:,.0f}"),
    ("end_charge_gwh", "End charge", "GWh a year", "{:,.1f}"),
)


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
    return render(plan_heading(saved.plan, saved.checks), sections)


def rules_sections(evaluation: Evaluation, checks: Sequence[Check], pictures: Sequence[Picture]) -> list[Section]:
    """The rules' part of the report."""
    sections = [
        Section("rules", "Operation rules", text=_told(evaluation), facts=tuple(_families(evaluation))),
        Section(
            "rules-scores",
            "How well the rules operate",
            text=_SCORES_EXPLAINED,
            tables=(_scores_table(evaluation, Run.CONTINUOUS), _scores_table(evaluation, Run.YEARLY)),
        ),
        Section("rules-acceptance", "Acceptance of the rules", tables=(acceptance_table(checks, "rules-acceptance"),)),
        Section("rules-figures", "Figures of the rules", pictures=tuple(pictures)) if pictures else None,
    ]
    return [section for section in sections if section is not None]


_SCORES_EXPLAINED = (
    "Every family operates the whole record twice: with the rule fitted to all years (training), and with every year "
    "decided by a rule that was fitted to the other blocks of years alone (held-out). Energies are compared at equal "
    "end storage: what a run leaves over or short at its end is charged at the energy that the water would make, and "
    "stands apart as end charge.",
    "Reliability is the part of the years that reach the energy stated above, resilience the part of the failing years "
    "that are followed by one that reaches it (1 where none fails), vulnerability the mean shortfall of the failing "
    "years as a part of it; the same for months and firm power. A repair is a month in which the physical limits did "
    "not allow what the rule asked for.",
)


def _told(evaluation: Evaluation) -> tuple[str, ...]:
    knows = {
        Forecast.MONTH: "the month, the storage at its start, the month's mean inflow (a perfect one-month forecast) "
        "and the inflow of the month before",
        Forecast.NONE: "the month, the storage at its start and the inflow of the month before",
    }[evaluation.forecast]
    targets = evaluation.targets
    energy = f"{targets.annual_gwh:,.0f} GWh a year, {targets.firm_mw:,.0f} MW in every month"
    source = (
        f"Held against the energy that the reservoir guarantees: {energy}."
        if targets.guaranteed
        else f"The reservoir guarantees no energy; held against what the plan exceeds in nine months of ten: {energy}."
    )
    best = best_fitted(evaluation)
    said = [
        "The plan above knows the inflows of its year; an operator does not. These rules were fitted to its years and "
        f"know only {knows}.",
        f"Cross-validation: {evaluation.cross_validation}. {source}",
    ]
    if best is not None:
        percent = best.scores[Run.CONTINUOUS, Sample.HELD_OUT].percent_of_foresight
        said.append(
            f"The best family fitted to the plan is {best.family}: on held-out years it makes {percent:.2f} % of the "
            "energy of perfect foresight over the whole record."
        )
    return tuple(said)


def _families(evaluation: Evaluation) -> list[tuple[str, str]]:
    return [(result.family, FAMILIES[result.family].summary) for result in evaluation.families]


def _scores_table(evaluation: Evaluation, run: Run) -> Table:
    rows = [
        (
            result.family,
            str(sample),
            *(number(result.scores[run, sample].as_dict()[name], form) for name, _, _, form in _SCORES),
        )
        for result in evaluation.families
        for sample in Sample
    ]
    foresight = evaluation.foresight_gwh[run]
    top = ("perfect foresight", "all", number(float(foresight.mean()), "{:,.0f}"), "100.00", "0")
    return Table(
        name=f"scores-{run}",
        caption={
            Run.CONTINUOUS: f"Storage carried through {counted(evaluation.training.years, 'year')}; perfect foresight "
            "knows the whole record.",
            Run.YEARLY: "Every year from the plan's initial storage; perfect foresight is the plan.",
        }[run],
        columns=(
            Column("Family", text=True),
            Column("Years", text=True),
            *(Column(title, unit) for _, title, unit, _ in _SCORES),
        ),
        rows=((*top, *[""] * (len(_SCORES) - 3)), *rows),
    )


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
