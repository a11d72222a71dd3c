"""``reservoir simulate``: simulate an inflow record with an operation rule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.cli.options import FilePath, FiniteNumber, told_in
from reservoir.text.quantities import counted, quantity

if TYPE_CHECKING:
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.rules.scores import RecordEvaluation

#: Longer names of what is optimised do not fit before a line.
_TITLE = 12


@click.command("simulate")
@options.rule
@click.argument("inflow_file", metavar="INFLOW.csv", type=FilePath())
@options.rule_reservoir
@options.reading
@options.step
@click.option(
    "--level",
    type=FiniteNumber(),
    help="Forebay level at the start of the record, m (or as --units).  [default: the reservoir's initial level]",
)
@click.option("--yearly", is_flag=True, help="Start every year from that level instead of carrying the storage over.")
@click.option("--foresight/--no-foresight", default=True, help="Compare with perfect foresight over the record.")
@options.units_of_plan
@options.table_format
@options.out("a new folder")
@options.json
@options.debug
def command(
    rule_file: Path,
    inflow_file: Path,
    reservoir_file: Path | None,
    reading: dict[str, Any],
    step: str | None,
    level: float | None,
    yearly: bool,
    foresight: bool,
    unit_system: str | None,
    table_format: str,
    out: Path | None,
    as_json: bool,
) -> None:
    """Simulate an inflow record with an operation rule.

    Writes simulation.csv (every month), summary.csv (every year) and simulation.json to a new folder. Releases are
    corrected to satisfy the physical limits; months with a correction are counted as repairs.
    """
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
    units, start = inputs.units(unit_system), None
    if level is not None:
        with told_in(units):
            start = storage_at_level(inputs.reservoir, level * units.size("level_m"), "--level")
    workbook = format_of(table_format, inflow.years, inflow.steps) is PlanFormat.XLSX
    with claimed_empty(out, f"simulation-{inputs.rule.family}") as claim, progress_bars() as progress:
        how: dict[str, Any] = {"start_hm3": start, "continuous": not yearly, "foresight": foresight}
        run = evaluate_record(inputs.rule, inputs.reservoir, inflow, **how, progress=progress)
        target = write_simulation(run, claim, inputs.file, units, workbook=workbook)
    if as_json:
        score = units.values(run.score.as_dict())
        show_json({"units": units.as_dict, "score": score, "folder": str(target)})
    else:
        _show(run, units, said_units(units, unit_system))
        say(f"Written to {target}")


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
