"""``reservoir simulate``: simulate an inflow record with an operation rule."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.cli.options import FilePath, NamedNumber, named_as, of_one, require_of_one, require_of_several
from reservoir.hydro.unit_system import told_in
from reservoir.text.quantities import counted, quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reservoir.hydro.system import System
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.planning.simulation import SystemSimulation
    from reservoir.rules.scores import RecordEvaluation

#: Longer names of what is optimised do not fit before a line.
_TITLE = 12


@click.command("simulate")
@click.argument("rule_file", metavar="RULE.json", type=FilePath(), required=False)
@click.argument("inflow_file", metavar="INFLOW.csv", type=FilePath(), required=False)
@options.rule_reservoir
@click.option(
    "--releases",
    metavar="FILE",
    type=FilePath(),
    help="Of a system, in place of a rule: releases of every step. Of schedule.csv in the folder of a plan, the plan's "
    "horizon counts; else storages are carried over from year to year.",
)
@options.reading
@options.step
@click.option(
    "--level",
    "levels",
    type=NamedNumber(),
    multiple=True,
    metavar="[NAME=]NUMBER",
    help="Forebay level at the start of the record, m (or as --units); of a system NAME=LEVEL.  [default: the "
    "reservoir's initial level, or what --releases says]",
)
@click.option("--yearly", is_flag=True, help="Start every year from that level instead of carrying the storage over.")
@click.option("--foresight/--no-foresight", default=True, help="Compare with perfect foresight over the record.")
@options.units_of_plan
@options.table_format
@options.out("a new folder")
@options.json
@options.debug
def command(
    rule_file: Path | None,
    inflow_file: Path | None,
    reservoir_file: Path | None,
    releases: Path | None,
    reading: dict[str, Any],
    step: str | None,
    levels: tuple[tuple[str, float], ...],
    yearly: bool,
    foresight: bool,
    unit_system: str | None,
    table_format: str,
    out: Path | None,
    as_json: bool,
) -> int | None:
    """Simulate an inflow record with an operation rule.

    Writes simulation.csv (every month), summary.csv (every year) and simulation.json to a new folder. Releases are
    corrected to satisfy the physical limits; months with a correction are counted as repairs. Of a system, a rule
    decides for all reservoirs, or the releases of --releases are operated: simulate INFLOW.csv --reservoir SYSTEM.toml
    --releases schedule.csv.
    """
    from reservoir.cli.operate_system import system_file_of

    system_file = system_file_of(rule_file if inflow_file else None, reservoir_file)
    if system_file is not None:
        require_of_one({"--no-foresight": None if foresight else True})
        if (releases is None) == (inflow_file is None):
            from reservoir.errors import InputError

            problem = "is missing, and so is a rule" if releases is None else "is given together with a rule"
            mend = "simulate RULE.json INFLOW.csv, or simulate INFLOW.csv --reservoir SYSTEM.toml --releases FILE"
            raise InputError(problem, "a rule, or releases of every step", mend, column="--releases")
        how: dict[str, Any] = {"levels": levels, "horizon": "year" if yearly else None, "out": out}
        how |= {"unit_system": unit_system, "table_format": table_format, "as_json": as_json}
        if releases is None:
            assert rule_file is not None
            return _by_rule(rule_file, system_file, inflow_file, reading, step, **how)
        return _simulate_system(system_file, rule_file, releases, reading, step, **how)
    require_of_several({"--releases": releases})
    if rule_file is None or inflow_file is None:
        context, missing = click.get_current_context(), "inflow_file" if rule_file else "rule_file"
        raise click.MissingParameter(ctx=context, param=next(p for p in context.command.params if p.name == missing))
    from reservoir.cli import say
    from reservoir.cli.operate import read_rule_inputs, said_units
    from reservoir.cli.screen import progress_bars, show_json
    from reservoir.hydro.plant import storage_at_level
    from reservoir.io.plan_folder.formats import PlanFormat, format_of
    from reservoir.report.folder import claimed_empty
    from reservoir.report.rules_folder import write_simulation
    from reservoir.rules.scores import evaluate_record

    inputs = read_rule_inputs(
        rule_file, reservoir_file, step, options.sheets_for(reservoir_file, inflow_file, reading["sheet"])
    )
    inflow = options.read_record(inflow_file, reading, inputs.reservoir, plan_unit=inputs.record_unit)
    units, start, level = inputs.units(unit_system), None, of_one(levels, "--level")
    if level is not None:
        with told_in(units):
            start = storage_at_level(inputs.reservoir, level * units.size("level_m"), "--level")
    workbook = format_of(table_format, inflow.years, inflow.steps) is PlanFormat.XLSX
    with claimed_empty(out, f"simulation-{inputs.rule.family}") as claim, progress_bars() as progress:
        how = {"start_hm3": start, "continuous": not yearly, "foresight": foresight}
        run = evaluate_record(inputs.rule, inputs.reservoir, inflow, **how, progress=progress)
        target = write_simulation(run, claim, inputs.file, units, workbook=workbook)
    if as_json:
        score = units.values(run.score.as_dict())
        show_json({"units": units.as_dict, "score": score, "folder": str(target)})
    else:
        _show(run, units, said_units(units, unit_system))
        say(f"Written to {target}")
    return None


def _by_rule(
    rule_file: Path,
    system_file: Path,
    record: Path | None,
    reading: dict[str, Any],
    step: str | None,
    *,
    levels: tuple[tuple[str, float], ...],
    horizon: str | None,
    unit_system: str | None,
    **shown: Any,
) -> int:
    """Operate a system with a rule; arguments are options of the command."""
    from reservoir.cli.operate import said_units
    from reservoir.hydro.objectives import RECORD
    from reservoir.io.rule_inputs import read_system_rule_inputs
    from reservoir.rules.system_simulation import simulate_system_rule

    inputs = read_system_rule_inputs(rule_file, system_file)
    units = inputs.units(unit_system)
    with named_as({"start_hm3": "--level"}, ("start_hm3",)), told_in(units):
        system, inflows = options.read_case(system_file, record, reading, step, inputs.record_unit)
        starts = storages_at(system, levels, units)
        run = simulate_system_rule(inputs.rule, system, inflows, horizon=horizon or RECORD, starts_hm3=starts)
    rule = f"{inputs.file.family} ({rule_file.name})"
    notes = (*run.notes, *filter(None, [said_units(units, unit_system)]))
    return _finished(replace(run, units=units, notes=notes), ("Rule", rule), inputs.file.provenance, **shown)


def storages_at(system: System, levels: tuple[tuple[str, float], ...], units: UnitSystem) -> dict[str, float]:
    """Storages of the reservoirs whose levels are given as NAME=LEVEL."""
    from reservoir.hydro.plant import storage_at_level

    plants = dict(zip(system.names, system.reservoirs, strict=True))
    system.require_named([name for name, _ in levels], "--level")
    return {name: storage_at_level(plants[name], level * units.size("level_m"), "--level") for name, level in levels}


def _simulate_system(
    system_file: Path,
    record: Path | None,
    releases: Path,
    reading: dict[str, Any],
    step: str | None,
    *,
    levels: tuple[tuple[str, float], ...],
    horizon: str | None,
    unit_system: str | None,
    **shown: Any,
) -> int:
    """Operate a system with given releases; arguments are options of the command."""
    from reservoir.hydro.objectives import RECORD
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.io.given_schedule import read_given_schedules
    from reservoir.io.plan_folder.files import PROVENANCE, read_provenance
    from reservoir.io.records.dates import DateStyle
    from reservoir.planning.checked_schedule import RELEASE, START
    from reservoir.planning.checked_system import not_read_of
    from reservoir.planning.simulation import simulate_system

    units = UnitSystem.of(unit_system or "si")
    if horizon is None:
        of_plan = releases.with_name(PROVENANCE).is_file()
        horizon = str(read_provenance(releases.parent).get("horizon", RECORD)) if of_plan else RECORD
    with named_as({"releases": "--releases", "start_hm3": "--level"}, ("start_hm3",)), told_in(units):
        of_record, of_releases = (
            options.sheets_for(one, other, reading["sheet"]) for one, other in ((record, releases), (releases, record))
        )
        system, inflows = options.read_case(system_file, record, {**reading, "sheet": of_record}, step)
        dates = DateStyle(reading["dates"] or "", reading["first_year"] or 0)
        given = read_given_schedules(releases, inflows, of_releases, dates)
        schedule = next(iter(given.values()))
        first = inflows.labels.index(schedule.inflow.labels[0])
        inflows = inflows.span(first, first + schedule.inflow.years)
        starts: dict[str, Any] = {
            name: each.columns[START][:, 0] for name, each in given.items() if START in each.columns
        }
        starts |= storages_at(system, levels, units)
        asked = {name: each.columns[RELEASE] for name, each in given.items()}
        run = simulate_system(system, inflows, asked, horizon=horizon, starts_hm3=starts)
    of_file = [*schedule.notes, *([f"not read: {', '.join(unread)}"] if (unread := not_read_of(given)) else [])]
    run = replace(run, units=units, notes=(*(f"{releases.name}: {note}" for note in of_file), *run.notes))
    return _finished(run, ("Releases", releases.name), **shown)


def _finished(
    run: SystemSimulation,
    decided: tuple[str, str],
    decided_by: Mapping[str, Any] | None = None,
    *,
    table_format: str,
    out: Path | None,
    as_json: bool,
) -> int:
    """Write the run and show it; what decided is a title and words, and what the folder says of it."""
    from reservoir.cli import say
    from reservoir.cli.screen import checks_json, show_checks, show_json, show_line, show_system_inputs
    from reservoir.io.plan_folder.formats import PlanFormat
    from reservoir.planning.checks import all_pass, operated_checks
    from reservoir.report.folder import claimed_empty
    from reservoir.report.system_folder import write_system_simulation

    checks, units = operated_checks(run), run.units
    with claimed_empty(out, f"simulation-{run.system.name}") as claim:
        target = write_system_simulation(run, claim, checks, PlanFormat(table_format), decided_by)
    shortfalls = run.shortfalls()
    if as_json:
        shown = checks_json(checks) | {"folder": str(target), "energy_gwh": float(run.energy_gwh.sum())}
        by_reservoir = {name: float(site.energy_gwh.sum()) for name, site in run.sites.items()}
        shown |= {"energy_gwh_by_reservoir": by_reservoir, "violation": float(run.violation.sum())}
        show_json(shown | {"shortfalls": shortfalls, "notes": list(map(units.text, run.notes))})
    else:
        show_system_inputs(run.system, run.inflows, units, (*run.caveats, *run.notes))
        show_line(decided[0], f"{decided[1]}; horizon: {run.horizon}")
        show_line("Energy", f"{quantity(float(run.energy_gwh.mean()))} GWh a year")
        for name, site in run.sites.items():
            show_line("", f"{name}: {quantity(float(site.energy_gwh.mean()))} GWh a year")
        for sentence in shortfalls:
            show_line("Violation", sentence, "red")
        show_checks(checks, units)
        say(f"Written to {target}")
    return 0 if all_pass(checks) else 1


def _show(run: RecordEvaluation, units: UnitSystem, units_note: str) -> None:
    from rich.markup import escape

    from reservoir.cli.screen import console
    from reservoir.planning.notes import below_dead_notes
    from reservoir.rules.findings import DEMANDS, spill_with_room

    screen, score, labels = console(), run.score, run.inflow.labels
    years = f"{len(labels)} years, {labels[0]} to {labels[-1]}" if len(labels) > 1 else f"1 year, {labels[0]}"
    if run.inflow.members is not None:
        years = run.inflow.span_text
    screen.print(f"[bold]{escape(run.reservoir.name)}[/], {years}, rule {escape(score.family)}", soft_wrap=True)
    screen.print(f"Inflow: {escape(run.inflow.scale_in(units))}", soft_wrap=True)
    sunk = below_dead_notes(run.reservoir, run.inflow, run.operation)
    notes = map(units.text, (*run.reservoir.notes, *run.inflow.notes, *sunk))
    for caveat in (units_note, run.inflow.caveat, run.reservoir.caveat, *notes):
        if caveat:
            screen.print(f"[yellow]{escape(caveat)}[/]", soft_wrap=True)
    title = run.reservoir.objective.title
    rows = [
        ((title[:1].upper() + title[1:]) if len(title) < _TITLE else "Objective", _brought(run)),
        ("Targets", _targets(run)),
        ("Spill", f"{units.written(score.spill_hm3, 'hm3')} a year"),
    ]
    if spilled := spill_with_room(run, units):
        rows.append(("", f"with room left in the lake: {spilled}"))
    months = counted(run.inflow.flow_m3s.size, run.inflow.calendar.step.noun)
    rows.append(("Repairs", f"{score.repairs} of {months}"))
    if score.months_violated:
        largest = f"by up to {units.written(score.largest_violation_hm3, 'hm3', ',.3g')}"
        months = counted(score.months_violated, "month")
        rows.append(("Violation", f"storage outside its limits in {months}, {largest}"))
    if run.foresight is not None:
        whole = "over the record" if run.inflow.members is None else "over each member"
        span = whole if run.continuous else "in every year"
        part = f"regret {quantity(score.regret)} {score.objective.unit}".strip() + " a year against"
        if score.has_percent:
            part = f"{score.percent_of_foresight:.2f} % of"
        rows.insert(1, ("Foresight", f"{part} perfect foresight {span}"))
    if not score.objective.is_energy:
        rows.insert(1, ("Energy", f"{quantity(score.mean_energy_gwh)} GWh a year"))
    if score.months_unmet:
        rows.append(("Demands", f"{DEMANDS} is missed in {counted(score.months_unmet, 'month')}"))
    for title, text in rows:
        screen.print(f"{title:<12}{text}", soft_wrap=True)
    for sentence in run.shortfalls(units, each_month=False):
        screen.print(f"[red]{escape(sentence)}[/]", soft_wrap=True)


def _brought(run: RecordEvaluation) -> str:
    """What a year brings, and what water left at the end has to do with it."""
    score = run.score
    mean = f"{quantity(score.mean)} {score.objective.unit}".strip()
    if run.foresight is None:
        worst = f"worst year {quantity(score.worst)}"
        return f"{mean} a year ({worst}); water left at the end is not valued without foresight"
    return (
        f"{mean} a year at equal end storage (worst year {quantity(score.worst)}; "
        f"includes {score.end_storage_value:+,.3g} for the water left at the end)"
    )


def _targets(run: RecordEvaluation) -> str:
    if run.targets is None:
        return "none: the reservoir file gives no guaranteed energy or power"
    return (
        f"{quantity(run.targets.annual_gwh)} GWh a year reached in {run.score.reliability:.0%} of the years, "
        f"{quantity(run.targets.firm_mw)} MW in {run.score.firm_reliability:.0%} of the months"
    )
