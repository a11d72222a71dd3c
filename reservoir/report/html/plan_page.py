"""The report of a plan: one HTML file with the plan, its quality and its provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reservoir.planning.checks import Check
from reservoir.planning.key_figures import FIRM, gap_percentage, gap_words, key_figures, spill_words
from reservoir.planning.operated_record import members_table
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import (
    horizon_text,
    limits_word,
    objective_sentence,
    outside_sentences,
    shortfall_months,
    shortfalls_by_kind,
    source_sentence,
)
from reservoir.report.html.page import Heading, Picture, Section, render
from reservoir.report.html.tables import checks_section, kept_years, member_table, monthly_table, yearly_table
from reservoir.text.quantities import counted, percentage, quantity, typeset_unit

if TYPE_CHECKING:
    from reservoir.planning.system_plan import SystemPlan

#: Years of which a report has a row each; the tables have all.
SHOWN_YEARS = 2_000

#: Headings of the figures of a plan.
TITLES = {
    "storage-fan": "Storage through the year",
    "typical-years": "Wet, normal and dry year",
    "record-trace": "The whole record",
    "convergence": "Convergence of the solver",
    "annual-energy": "Annual energy and spill",
    "members": "Members of the ensemble",
    "water-values": "Water values by month and storage",
    "linkage": "Interdependence of months",
}


def plan_report(
    plan: Plan,
    checks: Sequence[Check],
    origin: Mapping[str, Any],
    pictures: Sequence[Picture],
    pages: tuple[tuple[str, str], ...] = (),
) -> str:
    """Write the report of a plan.

    Parameters
    ----------
    plan : Plan
    checks : sequence of Check
        Its acceptance table.
    origin : mapping
        Its provenance, see `reservoir.report.folder.provenance`; the same one gives the same bytes.
    pictures : sequence of Picture
        Its figures; none for a report without.
    pages : tuple of (str, str)
        Pages beside it: what they are of, and where they are.
    """
    return render(replace(plan_heading(plan, checks), pages=pages), plan_sections(plan, checks, origin, pictures))


def plan_heading(plan: Plan, checks: Sequence[Check]) -> Heading:
    """What the report is about, and what a reader must know before any number."""
    caveats = (*plan.caveats, *map(plan.units.text, plan.notes))
    return Heading(
        title=f"Operation plan of {plan.reservoir.name}, {plan.inflow.span_text}",
        description=plan.reservoir.description,
        caveats=tuple(caveat[:1].upper() + caveat[1:] for caveat in caveats),
        figures=tuple(_key_figures(plan, checks)),
    )


def plan_sections(
    plan: Plan, checks: Sequence[Check], origin: Mapping[str, Any], pictures: Sequence[Picture]
) -> list[Section]:
    """Make the parts of the report in their order."""
    members = members_table(plan)
    sections = [
        _shortfalls(plan),
        Section("planned", "Summary", facts=tuple(_planned(plan, origin))),
        checks_section("acceptance", "Checks", checks, plan.units),
        Section("figures", "Figures", pictures=tuple(pictures)) if pictures else None,
        Section("months", "Months", tables=(monthly_table(plan),)),
        None if members is None else Section("members", "Members", tables=(member_table(members, plan.units),)),
        Section("years", "Years", tables=(yearly_table(plan),)) if plan.inflow.years <= SHOWN_YEARS else None,
        Section("provenance", "Provenance", facts=tuple(provenance_facts(origin))),
    ]
    return [section for section in sections if section is not None]


def firm_power_figures(plan: Plan | SystemPlan) -> list[tuple[str, str]]:
    """The least and the largest firm power of all problems, with their name; nothing if it is no goal."""
    if not (plan.objective.is_firm and plan.keeps_limits.any()):
        return []
    lowest, highest = (quantity(float(power)) for power in (plan.firm_power_mw.min(), plan.firm_power_mw.max()))
    return [("firm power planned", f"{lowest} MW" if lowest == highest else f"{lowest} to {highest} MW")]


def _key_figures(plan: Plan, checks: Sequence[Check]) -> list[tuple[str, str]]:
    objective, kept, one, key = plan.objective, plan.benefit[plan.keeps_limits], plan.year_word, key_figures(plan)
    claims = [check.passed for check in checks if check.passed is not None]
    of = "" if plan.keeps_limits.all() else f", mean of {kept_years(plan)}"
    figures = firm_power_figures(plan)
    if not (objective.is_energy or objective.is_firm) and kept.size:
        figures.append((f"{objective.title} a {one}", f"{quantity(float(kept.mean()))} {objective.unit}".strip()))
    if key is None:
        figures.append((f"energy a {one}", f"– (no {one} satisfies its {limits_word(plan)})"))
    else:
        spill, part = spill_words(key, plan)
        figures += [
            (f"energy a {one}{of}", f"{quantity(key.energy_gwh)} GWh"),
            (f"worst {one}, {key.worst_year}", f"{quantity(key.worst_energy_gwh)} GWh"),
            (f"best {one}, {key.best_year}", f"{quantity(key.best_energy_gwh)} GWh"),
            (f"firm power, in {FIRM} {plan.inflow.calendar.step.noun}s", f"{quantity(key.firm_power_mw)} MW"),
            (f"spill a {one}, {part}", spill),
            ("capacity factor", percentage(key.capacity_factor)),
        ]
    if plan.proofs is not None and np.isfinite(plan.proofs.worst_gap):
        figures.append(("proven: no schedule is better by more", gap_percentage(plan.proofs.worst_gap)))
    elif gap_words(plan):
        worst = float(np.nanmax(np.abs(plan.gap)))
        figures.append((f"largest gap of a {one} to the best of dynamic programming", gap_percentage(worst)))
    figures.append(("checks passed", f"{sum(claims)} of {len(claims)}"))
    return figures


def _planned(plan: Plan, origin: Mapping[str, Any]) -> list[tuple[str, str]]:
    first, years, energy = plan.solutions[0], counted(plan.inflow.years, "year"), plan.kept_energy_gwh
    settings, one = origin["settings"], "year" if plan.horizon.is_year else "problem"
    # Of all years; scenarios exclude each other, and have a mean.
    made = f"{quantity(float(energy.sum()))} GWh in {kept_years(plan)}"
    if plan.start and energy.size:
        made = f"{quantity(float(energy.mean()))} GWh, mean of {kept_years(plan)}"
    guaranteed, reached = plan.reservoir.guaranteed_energy_gwh, ""
    if guaranteed is not None:
        of_years = f"{int((energy >= guaranteed).sum())} of {kept_years(plan)}"
        reached = f"{guaranteed:,g} GWh per year, reached in {of_years}"
    facts = [
        ("Reservoir", f"{plan.reservoir.name}, {plan.reservoir.installed_mw:,g} MW installed"),
        ("Record", f"{plan.inflow.span_text}, {years} of inflow by {plan.inflow.calendar.step.noun}"),
        ("Horizon", "" if plan.horizon.is_year and not plan.start else horizon_text(plan)),
        ("Mean inflow", plan.units.written(float(plan.inflow.annual_mean_m3s.mean()), "m3s")),
        ("Inflow unit", f"{typeset_unit(plan.inflow.unit)} ({plan.inflow.unit_from})" if plan.inflow.unit else ""),
        ("Energy", made if energy.size else ""),
        ("Objective", objective_sentence(plan)),
        ("Guaranteed energy", reached),
        ("Solver", f"{first.solver} on {first.device}"),
        ("Seed", str(settings.get("seed", ""))),
        ("Schedules", source_sentence(plan)),
        ("Reference", f"dynamic programming, every {one}" if plan.references else "none"),
    ]
    return [fact for fact in facts if fact[1]]


def _shortfalls(plan: Plan) -> Section | None:
    months, step = shortfall_months(plan), plan.inflow.calendar.step.noun
    if not months:
        return None
    sentences = shortfalls_by_kind(plan)
    years = int((~plan.keeps_limits).sum())
    ends, violates = ("ends", "violates") if months == 1 else ("end", "violate")
    outside, title = f"{ends} with a storage outside its limits", "Storage limits violated"
    if plan.operation.has_conditions:
        outside, title = f"{violates} limits or demands", "Limits or demands violated"
    text = (
        f"{counted(months, step)} in {years} of {counted(plan.inflow.years, 'year')} {outside}.",
        f"{'; '.join(outside_sentences(plan))}. These years are excluded from means, sums and medians.",
    )
    more = (f"plan.json lists every {step}.",) if months > len(sentences) else ()
    return Section("shortfalls", title, text, items=(*sentences, *more), warning=True)


def provenance_facts(origin: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a page says of where a plan comes from."""

    def listed(pairs: Mapping[str, Any] | None) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in (pairs or {}).items())

    program, settings, files = (
        origin["program"],
        dict(origin.get("settings", {})),
        [origin["reservoir"], origin["inflow"]],
    )
    driver = " ".join(str(settings.pop(name)) for name in ("platform", "driver") if name in settings)
    reservoir, inflow = (
        f"{source['file']}, SHA-256 {source['sha256']}" if source["sha256"] else source["file"] for source in files
    )
    facts = [
        ("Created", str(origin["created"])),
        ("Program", f"{program['name']} {program['version']}, Python {origin['machine']['python']}"),
        ("Packages", listed(program["packages"])),
        ("Reservoir file", reservoir),
        ("Inflow file", inflow),
        ("Solver", f"{origin['solver']} on {origin['device']}" if "solver" in origin else ""),
        ("Driver", driver),
        ("Settings", listed(settings)),
        ("Reference", listed(origin.get("reference"))),
        ("Seconds", listed(origin.get("seconds"))),
    ]
    return [fact for fact in facts if fact[1]]
