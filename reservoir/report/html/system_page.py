"""The report of a joint plan: one HTML file with the system, its sum, each reservoir, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reservoir.planning.checks import Check
from reservoir.planning.columns import shown_columns
from reservoir.planning.key_figures import gap_percentage
from reservoir.planning.operated_system import OperatedSystem
from reservoir.planning.sentences import energy_sentence, objective_sentence, proof_sentences
from reservoir.planning.simulation import SystemSimulation
from reservoir.planning.system_plan import SystemPlan
from reservoir.report.html.page import Column, Heading, HtmlTable, Picture, Section, render
from reservoir.report.html.plan_page import SHOWN_YEARS, firm_power_figures, provenance_facts
from reservoir.report.html.tables import checks_section, result_table, without_constants
from reservoir.text.quantities import counted, quantity

#: Headings of the figures.
TITLES = {
    "system": "The system",
    "storage-fans": "Storage through the year",
    "energy-by-month": "Energy by month and plant",
    "spill-by-month": "Spill by month",
    "head-lost": "Head lost to lakes below",
    "water-prices": "Price of water",
}


def system_report(
    plan: SystemPlan, checks: Sequence[Check], origin: Mapping[str, Any], pictures: Sequence[Picture]
) -> str:
    """Write the report of a joint plan; arguments are as of `plan_page.plan_report`."""
    kept = plan.keeps_limits
    claims = [check.passed for check in checks if check.passed is not None]
    energy = plan.kept_energy_gwh
    figures = firm_power_figures(plan)
    figures += [(f"energy a {plan.year_word}", f"{quantity(float(energy.mean()))} GWh" if energy.size else "–")]
    figures += [
        (f"{name}, energy a {plan.year_word}", f"{quantity(float(site.energy_gwh[kept].mean()))} GWh")
        for name, site in plan.sites.items()
        if energy.size
    ]
    if plan.proofs is not None and np.isfinite(plan.proofs.worst_gap):
        figures.append(("proven: no schedule is better by more", gap_percentage(plan.proofs.worst_gap)))
    figures.append(("checks passed", f"{sum(claims)} of {len(claims)}"))
    notes = map(plan.units.text, plan.notes)  # which may begin with the name of a reservoir
    heading = Heading(
        title=f"Joint plan of {plan.system.name}, {plan.inflow.span_text}",
        description=plan.system.description,
        caveats=(*(caveat[:1].upper() + caveat[1:] for caveat in plan.caveats), *notes),
        figures=tuple(figures),
    )
    sections = [
        _outside(plan),
        Section("planned", "Summary", facts=tuple(_facts(plan, origin))),
        checks_section("acceptance", "Checks", checks, plan.units),
        Section("figures", "Figures", pictures=tuple(pictures)) if pictures else None,
        Section("reservoirs", "Reservoirs", tables=(_reservoir_table(plan),)),
        Section("links", "Links", tables=(_link_table(plan),)) if plan.system.links else None,
        Section("years", "Years", tables=(_year_table(plan),)) if plan.inflow.years <= SHOWN_YEARS else None,
        Section("provenance", "Provenance", facts=tuple(provenance_facts(origin))),
    ]
    return render(heading, [section for section in sections if section is not None])


def simulation_report(run: SystemSimulation, checks: Sequence[Check], origin: Mapping[str, Any]) -> str:
    """Write the report of given releases of a system; arguments are as of `system_report`."""
    claims, energies = [check.passed for check in checks if check.passed is not None], {"": run.energy_gwh}
    energies |= {f"{name}, ": site.energy_gwh for name, site in run.sites.items()}
    figures = [(f"{whose}energy a year", f"{quantity(float(energy.mean()))} GWh") for whose, energy in energies.items()]
    rule = origin.get("rule")
    decided_by = "Given releases" if rule is None else f"Rule {rule['family']}"
    heading = Heading(
        title=f"{decided_by} of {run.system.name}, {run.inflow.span_text}",
        description=run.system.description,
        caveats=(*run.caveats, *map(run.units.text, run.notes)),
        figures=(*figures, ("checks passed", f"{sum(claims)} of {len(claims)}")),
    )
    years = f"{run.inflow.span_text}, {counted(run.inflow.years)} of inflow by {run.inflow.calendar.step.noun}"
    facts = (
        ("System", f"{run.system.name}: {', '.join(run.sites)}; {run.system.installed_mw:,.6g} MW installed"),
        ("Record", years),
        ("Horizon", str(run.horizon)),
        *([("Rule", f"{rule['family']} ({', '.join(rule['files'])})")] if rule else []),
    )
    told, title = tuple(origin["shortfalls"]), "Limits or demands violated"
    sections = [
        Section("shortfalls", title, items=told, warning=True) if told else None,
        Section("operated", "Summary", facts=facts),
        checks_section("acceptance", "Checks", checks, run.units),
        Section("reservoirs", "Reservoirs", tables=(_reservoir_table(run),)),
        Section("links", "Links", tables=(_link_table(run),)) if run.system.links else None,
        Section("years", "Years", tables=(_year_table(run),)) if run.inflow.years <= SHOWN_YEARS else None,
        Section("provenance", "Provenance", facts=tuple(provenance_facts(origin))),
    ]
    return render(heading, [section for section in sections if section is not None])


def _facts(plan: SystemPlan, origin: Mapping[str, Any]) -> list[tuple[str, str]]:
    installed = f"{plan.system.installed_mw:,.6g} MW installed"
    facts = [
        ("System", f"{plan.system.name}: {', '.join(plan.sites)}; {installed}"),
        (
            "Record",
            f"{plan.inflow.span_text}, {counted(plan.inflow.years)} of inflow by {plan.inflow.calendar.step.noun}",
        ),
        ("Horizon", "" if plan.horizon.is_year else str(plan.horizon)),
        ("Objective", objective_sentence(plan)),
        ("Energy", energy_sentence(plan)),
        (
            "Solver",
            ", ".join(f"{name} ({counted(count, plan.year_word)})" for name, count in plan.source_counts.items()),
        ),
        ("Seed", str(origin["settings"].get("seed", ""))),
        ("Reference", "none: what is best of several reservoirs is not known; stages are compared with each other"),
        *(("Proof", sentence) for sentence in proof_sentences(plan)),
    ]
    return [fact for fact in facts if fact[1]]


def _outside(plan: SystemPlan) -> Section | None:
    """Which years violate limits, and in which reservoirs."""
    if plan.keeps_limits.all():
        return None
    items = []
    for year in np.flatnonzero(~plan.keeps_limits).tolist():
        where = [name for name, site in plan.sites.items() if site.violation[year] > 0]
        items.append(f"{plan.inflow.labels[year]}: {', '.join(where)}")
    text = f"{counted(len(items), plan.year_word)} of {plan.inflow.years} violate limits or demands."
    return Section("shortfalls", "Limits or demands violated", (text,), items=tuple(items[:24]), warning=True)


def _year_table(plan: OperatedSystem) -> HtmlTable:
    summary = plan.summary_columns()
    columns = [column for column in shown_columns("system_years", "page") if column.name in summary]
    values = {column.name: summary[column.name].tolist() for column in columns}
    names = {plan.year_word.capitalize(): plan.inflow.labels}
    names |= {"Schedule": plan.source.tolist()} if isinstance(plan, SystemPlan) else {}
    marked = np.flatnonzero(~plan.keeps_limits).tolist()
    caption = f"The sum of all reservoirs, a row a {plan.year_word}."
    return without_constants(
        result_table(
            "yearly-table", caption, names, columns, values, plan.units, benefit=plan.objective.unit, marked=marked
        )
    )


def _reservoir_table(plan: OperatedSystem) -> HtmlTable:
    """Means of the years within limits, a row a reservoir."""
    kept, tables = plan.shown_years, {name: site.summary_columns() for name, site in plan.sites.items()}
    names = [
        column for column in shown_columns("site_years", "page") if any(column.name in each for each in tables.values())
    ]
    values = {
        column.name: [
            float(np.mean(table[column.name][kept])) if column.name in table else 0.0 for table in tables.values()
        ]
        for column in names
    }
    rows = {
        "Reservoir": list(tables),
        "Capacity": [f"{site.reservoir.installed_mw:,.6g} MW" for site in plan.sites.values()],
    }
    caption = f"Means of a {plan.year_word} within limits."
    return without_constants(result_table("reservoir-table", caption, rows, names, values, plan.units))


def _link_table(plan: OperatedSystem) -> HtmlTable:
    flow = plan.units.unit_name("m³/s")
    rows = []
    for link in plan.system.links:
        mean = plan.mean_flow_m3s(link) / plan.units.size("flow_m3s")
        lost = ", ".join(
            text
            for text, there in (
                (f"{link.lost_share:.3g} of it", link.lost_share),
                (plan.units.stated(link.lost_m3s, "m3/s"), link.lost_m3s),
            )
            if there
        )
        cells = (
            link.share_in_words,
            f"{mean:,.4g}",
            link.travel_in_words(plan.system.step) or "–",
            lost or "–",
            "yes" if link.backwater else "–",
        )
        rows.append((str(link), *cells))
    heads = (
        Column("Link", text=True),
        Column("Carries", text=True),
        Column("Mean flow", flow),
        Column("Travel time", text=True),
        Column("Lost", text=True),
        Column("Backwater", text=True),
    )
    return HtmlTable(
        "link-table", "Where releases go; a release that no link carries leaves the system.", heads, tuple(rows)
    )
