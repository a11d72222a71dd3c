"""A joint plan as a folder of files, written as a whole or not at all."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.inflow import COMPANIONS, first_days
from reservoir.io.output import Claim, drafted
from reservoir.io.plan_folder import files
from reservoir.io.plan_folder.arrays import record_arrays, write_arrays
from reservoir.io.plan_folder.files import FIGURES, FILES, FORMAT, SUMMARY
from reservoir.io.plan_folder.formats import DATASETS, PlanFormat, write_dataset
from reservoir.io.plan_folder.saved_plan import SavedPlan, proof_arrays
from reservoir.io.plan_folder.saved_system import SOURCES
from reservoir.io.plan_folder.tables import write_tables
from reservoir.planning.checks import Check
from reservoir.planning.columns import forms_of_cells
from reservoir.planning.firm_power import MOST_NAMED
from reservoir.planning.infeasible_years import infeasible_provenance
from reservoir.planning.operated_system import OperatedSystem
from reservoir.planning.simulation import SystemSimulation
from reservoir.planning.stopwatch import Timer, untimed
from reservoir.planning.system_plan import SystemPlan
from reservoir.report.folder import (
    PRICED,
    PRICES,
    REPORT,
    SYSTEM_YEARS,
    as_written,
    check_new,
    check_target,
    figures_left_out,
    objective_provenance,
    own_files,
    record_provenance,
    run_provenance,
    source,
    write_proof,
)

#: What a folder of a single reservoir has not.
KIND = "kind"


def write_system_plan(
    plan: SystemPlan,
    target: Path | Claim,
    checks: Sequence[Check],
    *,
    force: bool = False,
    figures: bool = True,
    kind: PlanFormat = PlanFormat.CSV,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    watch: Timer = untimed,
    tell: Callable[[str], None] = warnings.warn,
) -> Path:
    """Write a joint plan as `reservoir.report.folder.write_plan` writes one of a single reservoir.

    ``schedule.csv`` and ``summary.csv`` have a row for each reservoir, ``system.csv`` has the sums.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    with watch("write"), drafted(target, partial(check_target, force=force), own_files) as claim:
        draft, left_out, captions = claim.draft, dict[str, str](), dict[str, str]()
        names = _write_tables(plan, draft, kind) + write_arrays(_arrays(plan), draft)
        names += _copy_inputs(plan, draft)
        names += _write_prices(plan, draft)
        if figures:
            with watch("import matplotlib"):
                from reservoir.report.figures.system import save_system_figures, system_captions

            captions = system_captions(plan, left_out)
            save_system_figures(plan, draft / FIGURES, partial(progress, "figures"), watch=watch, left_out=left_out)
            captions = {name: text for name, text in captions.items() if name not in left_out}
        names += [f"{FIGURES}/{name}.svg" for name in captions]
        texts = (plan.system.name, *plan.sites, *plan.caveats) if figures else ()
        calendar = asdict(plan.inflow.calendar) | {"step": str(plan.inflow.calendar.step)}
        origin = system_provenance(plan, checks) | {"figures": captions, files.CALENDAR: calendar}
        origin |= {FILES: files.file_hashes(draft, names)} | figures_left_out(left_out, tell, *texts)
        origin |= {} if kind is PlanFormat.CSV else {FORMAT: str(kind)}
        files.write_provenance(draft, origin)
        with watch("report"):
            _write_report(plan, draft, checks, origin)
    return claim.place


def write_system_proof(saved: SavedPlan[SystemPlan], plan: SystemPlan, claim: Claim) -> Path:
    """Write what is proved of a joint plan into its folder (`reservoir.report.folder.write_proof`).

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """

    def further(draft: Path) -> tuple[list[str], dict[str, str]]:
        names, left_out, captions = _write_prices(plan, draft), dict[str, str](), dict[str, str]()
        if saved.origin["figures"]:
            from reservoir.report.figures.system import save_system_figures, system_captions

            save_system_figures(plan, draft / FIGURES, left_out=left_out, only=PRICED)
            figures_left_out(left_out, warnings.warn)
            captions = {name: text for name, text in system_captions(plan, left_out).items() if name == PRICED}
        return [*names, *(f"{FIGURES}/{name}.svg" for name in captions)], captions

    return write_proof(saved, plan, claim, SYSTEM_YEARS, further, _write_report)


def _write_report(
    plan: SystemPlan, folder: Path, checks: Sequence[Check], origin: Mapping[str, Any], drawn: Path | None = None
) -> None:
    """Write the page of a joint plan into a folder, with the figures that lie in it, or else in `drawn`."""
    from reservoir.report.html.page import read_pictures
    from reservoir.report.html.system_page import TITLES, system_report

    pictures = []
    for name, caption in origin["figures"].items():
        there = folder if drawn is None or (folder / FIGURES / f"{name}.svg").exists() else drawn
        pictures += read_pictures(there / FIGURES, TITLES, {name: caption})
    (folder / REPORT).write_text(system_report(plan, checks, origin, pictures), encoding="utf-8")


def write_system_simulation(
    run: SystemSimulation,
    target: Path | Claim,
    checks: Sequence[Check],
    kind: PlanFormat = PlanFormat.CSV,
    rule: Mapping[str, Any] | None = None,
) -> Path:
    """Write a system that was operated with given releases: as a plan, with ``simulation.json``.

    `rule` says which rule asked for them, if one did.

    Raises
    ------
    OutputError
        If the folder exists already or cannot be written.
    """
    with drafted(target, check_new) as claim:
        _write_tables(run, claim.draft, kind)
        _copy_inputs(run, claim.draft)
        origin = _origin(run, checks) | {"shortfalls": run.shortfalls(), "horizon": str(run.horizon)}
        origin |= {} if rule is None else {"rule": dict(rule)}
        files.write_json(claim.draft / "simulation.json", origin)
        from reservoir.report.html.system_page import simulation_report

        (claim.draft / REPORT).write_text(simulation_report(run, checks, origin), encoding="utf-8")
    return claim.place


def _write_tables(plan: OperatedSystem, folder: Path, kind: PlanFormat) -> list[str]:
    tables: dict[str, dict[str, Any]] = {SYSTEM_YEARS: plan.summary_columns()}
    datasets = list[str]()
    if kind in (PlanFormat.CSV, PlanFormat.XLSX):
        tables |= {files.SCHEDULE: plan.schedule_columns(), SUMMARY: plan.by_reservoir_columns()}
    else:
        write_dataset(plan.to_xarray(), folder, kind)
        datasets = [DATASETS[kind]]
    for name in forms_of_cells("summary"):
        if name in tables[SYSTEM_YEARS]:
            tables[SYSTEM_YEARS][name] = as_written(name, tables[SYSTEM_YEARS][name])
    in_units = {name: plan.units.columns(table) for name, table in tables.items()}
    return [*datasets, *write_tables(in_units, folder, files.XLSX if kind is PlanFormat.XLSX else "")]


def _write_prices(plan: SystemPlan, folder: Path) -> list[str]:
    """Write what the water that links bring is worth by the proofs, if there are any; the name of the file.

    In the unit that ``plan.json`` states, or in GWh as the names say; ends of ranges that nothing bounds are empty.
    """
    if plan.proofs is None or not plan.proofs.prices:  # a plan that is read back has none
        return []
    places = [plan.system.names.index(name) for name in plan.fed]
    days = first_days(plan.inflow.calendar)
    columns = {
        "first_day": days.astype(str).astype(object).repeat(len(places)),
        "reservoir": np.tile(np.array(plan.fed, object), len(days)),
    }
    size, unit = plan.units.per_volume(1.0, plan.objective.unit)[0], "gwh_" * (plan.objective.unit == "GWh")
    for name, prices in zip(("price", "least_price", "most_price"), plan.prices_per_hm3, strict=True):
        finite = np.where(np.isfinite(prices), size * prices, np.nan)
        columns[plan.units.column(f"{name}_{unit}per_hm3")] = finite[:, places].swapaxes(1, 2).ravel()
    return write_tables({PRICES: columns}, folder, "")


def _arrays(plan: SystemPlan) -> dict[str, Any]:
    """What the plan is read from again: releases, storages and records of all reservoirs, on one axis."""
    stacked = {name: plan.operation.stacked(name) for name in ("release_m3s", "storage_hm3", "power_mw")}
    of_sites = [record_arrays(inflow) for inflow in plan.inflows.values()]
    found = dict.fromkeys(name for each in of_sites for name in each if name != "members")
    unsaid = np.full(plan.inflow.flow_m3s.shape, np.nan)  # of a site whose record says nothing of it
    records = {name: np.stack([each.get(name, unsaid) for each in of_sites], axis=1) for name in found}
    members = {"members": of_sites[0]["members"]} if "members" in of_sites[0] else {}
    names = list(plan.source_counts)
    sources = np.array([names.index(source) for source in plan.sources])
    return {**stacked, **records, **members, SOURCES: sources, **proof_arrays(plan)}


def _copy_inputs(plan: OperatedSystem, folder: Path) -> list[str]:
    """Write the system with its reservoirs, and the record: the local inflow of each, and what it says beside it."""
    import reservoir

    reservoir.write_system(replace(plan.system, inflow_of={}), folder / files.SYSTEM)
    calendar = plan.inflow.calendar
    dates = calendar.starts.astype("datetime64[M]" if calendar.step is TimeStep.MONTH else "datetime64[D]")
    table: dict[str, Any] = {"date": dates.astype(str).astype(object).ravel()}
    if (members := plan.inflow.member_of_year) is not None:
        table = {"member": np.repeat(members, calendar.steps), **table}
    table |= {name: inflow.flow_m3s.ravel() for name, inflow in plan.inflows.items()}
    table |= {
        f"{name}_{field}": getattr(inflow, field).ravel()
        for name, inflow in plan.inflows.items()
        for field in COMPANIONS
        if getattr(inflow, field) is not None
    }
    return [files.SYSTEM, *write_tables({files.INFLOW: table}, folder, "")]


def _origin(plan: OperatedSystem, checks: Sequence[Check]) -> dict[str, Any]:
    """Where years that are operated come from, and what they come to."""
    return {
        **run_provenance(),
        KIND: "system",
        "system": source(plan.system) | {"name": plan.system.name, "reservoirs": list(plan.sites)},
        "reservoir": source(plan.system) | {"name": plan.system.name},
        "inflow": source(plan.inflow) | record_provenance(plan.inflow),
        "inflows": {name: source(inflow) | record_provenance(inflow) for name, inflow in plan.inflows.items()},
        "years": plan.inflow.years,
        "units": plan.units.as_dict,
        "energy_gwh": float(plan.kept_energy_gwh.sum()),
        "energy_gwh_by_reservoir": {
            name: float(site.energy_gwh[plan.keeps_limits].sum()) for name, site in plan.sites.items()
        },
        "violation": float(plan.violation.sum()),
        "caveats": list(plan.caveats),
        "notes": list(map(plan.units.text, plan.notes)),
        "checks": [check.as_dict() for check in checks],
    }


def system_provenance(plan: SystemPlan, checks: Sequence[Check]) -> dict[str, Any]:
    """Where a joint plan comes from: versions, hashes, seed, device, settings, time, and what was found."""
    first, found = plan.solutions[0], _origin(plan, checks)
    planned = {
        "horizon": str(plan.horizon),
        "start": {name: start.as_dict() for name, start in plan.starts.items()} or None,
        **({} if plan.objective.is_energy else {"objective": objective_provenance(plan)}),
        "solver": first.solver,
        "device": first.device,
        "settings": dict(first.settings),
        "sources": plan.source_counts,
        "reference": None,
        "seconds": {stage: round(seconds, 4) for stage, seconds in plan.seconds.items()},
        "stopped": plan.stopped or None,
        **({} if plan.proofs is None else {"proof": plan.proofs.as_dict()}),
        **({"firm_power": {"kept_mw": plan.firm_power_mw[:MOST_NAMED].tolist()}} if plan.objective.is_firm else {}),
        "infeasible": infeasible_provenance(plan.system, plan.problems, plan.infeasible, plan.units),
    }
    return found | planned
