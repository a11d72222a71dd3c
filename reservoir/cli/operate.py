"""``reservoir operate``: recommend this month's release with a rule."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import operate_outlook, options
from reservoir.cli.call_words import told_in
from reservoir.cli.path_types import FilePath, FiniteNumber
from reservoir.errors import InputError, Mistake
from reservoir.text.quantities import quantity

if TYPE_CHECKING:
    from reservoir.cli.rule_inputs import RuleInputs
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.rules.advice import Advice, AnalogueYears, MarginalWorth, Situation

#: No river carries as much (m3/s), and no lake holds as much (hm3).
_MOST = 1e9
#: Spill is told of from this fraction of the release on.
_VISIBLE = 5e-4


class Amount(click.ParamType):  # type: ignore[type-arg] # generic in click 8.4 and later alone
    """A flow or a volume: a number of 0 or more."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number, which is neither infinite nor none."""
        try:
            amount = float(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if not 0 <= amount <= _MOST:
            self.fail(f"{value!r} is not between 0 and {_MOST:g}", param, ctx)
        return amount


_amount = Amount()


@click.command("operate")
@options.rule
@options.rule_reservoir
@click.option("--month", type=click.IntRange(1, 12), required=True, help="Calendar month, 1 to 12.")
@click.option("--level", type=FiniteNumber(), help="Forebay level at the start of the month, m (or as --units).")
@click.option(
    "--storage", type=_amount, help="Storage at the start of the month, hm3 (or as --units), instead of --level."
)
@click.option("--inflow", type=_amount, help="Expected mean inflow of the month, m3/s (or as --units).")
@click.option("--inflow-before", type=_amount, help="Mean inflow of the previous month, m3/s (or as --units).")
@click.option(
    "--replan", is_flag=True, help="Decide by many futures: with the rule of the family replan beside this one."
)
@click.option(
    "--members", type=click.IntRange(1, 10_000), help="Futures of a replan rule.  [default: those of the rule]"
)
@click.option(
    "--ensemble",
    type=FilePath(),
    help="Forecast of the inflow with members, from the month on: CSV (date, member, inflow) or NetCDF. A replan rule "
    "decides with it instead of --inflow.",
)
@click.option(
    "--months-ahead", type=click.IntRange(1, 60), help="Months of the outlook of a replan rule.  [default: 12]"
)
@click.option("--figure", type=FilePath(), help="Draw the outlook of a replan rule into this .png or .svg file.")
@options.units_of_plan
@options.json
@options.debug
def command(
    rule_file: Path,
    reservoir_file: Path | None,
    month: int,
    level: float | None,
    storage: float | None,
    inflow: float | None,
    inflow_before: float | None,
    replan: bool,
    members: int | None,
    ensemble: Path | None,
    months_ahead: int | None,
    figure: Path | None,
    unit_system: str | None,
    as_json: bool,
) -> None:
    """Recommend this month's release.

    Prints the release that a rule recommends, the resulting level, power and energy, the zone of the dispatch chart,
    and the releases of the optimised years in similar months. Inflows that are not given are replaced by their mean
    over the years that the rule was fitted to; a rule fitted with a one-month forecast needs --inflow. A replan rule
    also tells the probability of refill, spill and firm power in the months to come.
    """
    from reservoir.cli.rule_inputs import read_rule_inputs, said_units
    from reservoir.rules.advice import Situation, advise, step_of_month

    found = read_rule_inputs(rule_file, reservoir_file)
    units = found.units(unit_system)
    found = _replanned(found) if replan else found
    found = operate_outlook.with_futures(found, month, members, months_ahead, ensemble, figure)
    inflow = _inflow(found, inflow, units)
    step = step_of_month(found.reservoir, month)
    means, flow = found.rule.months.inflow_m3s, units.size("inflow_m3s")
    with told_in(units):
        start = _storage(found, level, storage, units)
    situation = Situation(
        step,
        start,
        means[step] if inflow is None else inflow,
        means[step - 1] if inflow_before is None else inflow_before * flow,
    )
    advice = advise(found.rule, found.reservoir, situation)
    ahead = operate_outlook.outlook_of(found, situation, advice.release_m3s, months_ahead)
    zone, similar, caveats = _zone(found, situation), _alike(found, month, situation), _caveats(found)
    worth = _worth(found, situation, advice)
    if as_json:
        from reservoir.cli.screen import show_json
        from reservoir.text.strict_json import known

        show_json(
            {
                "family": found.rule.family,
                "reservoir": found.reservoir.name,
                "month": month,
                "units": units.as_dict,
                "situation": units.values(asdict(situation)),
                "advice": units.values(asdict(advice)),
                "zone": zone,
                "water_value": None if worth is None else _worth_as_json(worth, found, units),
                "optimised_years": None if similar is None else known(units.values(asdict(similar))),
                "caveats": caveats,
            }
            | ({} if ahead is None else {"outlook": operate_outlook.as_json(ahead, units)})
        )
    else:
        assumed = [name for name, given in (("inflow", inflow), ("previous inflow", inflow_before)) if given is None]
        further = [] if worth is None else [("Water value", _worth_words(worth, found, units))]
        further += [] if ahead is None else operate_outlook.rows(ahead, units)
        notes = (*caveats, *filter(None, [said_units(units, unit_system)]))
        _show(found, situation, advice, zone, similar, notes, assumed, units, further)
    if figure is not None and ahead is not None:
        operate_outlook.write_figure(ahead, found, units, caveats, figure)


def _inflow(found: RuleInputs, inflow: float | None, units: UnitSystem) -> float | None:
    """Inflow expected in the month, m3/s: as given, or the mean of the forecast; None where it is not needed."""
    mean = operate_outlook.mean_inflow(found.rule)
    if mean is not None and inflow is not None:
        raise InputError(Mistake("is given together with --ensemble", "one of them", column="--inflow"))
    if found.rule.forecast == "month" and inflow is None:
        problem = "is missing: this rule uses the month's inflow"
        mend = "give the expected inflow, or use a rule fitted with --forecast none"
        raise InputError(Mistake(problem, f"a mean flow in {units.amount(0.0, 'm3s')[1]}", mend, column="--inflow"))
    return mean if inflow is None else inflow * units.size("inflow_m3s")


def _storage(found: RuleInputs, level: float | None, storage: float | None, units: UnitSystem) -> float:
    from reservoir.hydro.plant import storage_at_level

    if (level is None) == (storage is None):
        problem = "is missing" if level is None else "is given together with --storage"
        names = units.amount(0.0, "m")[1], units.amount(0.0, "hm3")[1]
        raise InputError(Mistake(problem, "either --level in {} or --storage in {}".format(*names), column="--level"))
    if level is not None:
        return storage_at_level(found.reservoir, level * units.size("level_m"), "--level")
    low, high = found.reservoir.level.domain
    assert storage is not None
    storage *= units.size("storage_hm3")
    if not low <= storage <= high:
        least, most = units.amount(low, "hm3")[0], units.written(high, "hm3", ",.0f")
        expected = f"{least:,.0f} to {most}, the range of the level curve of {found.reservoir.name}"
        raise InputError(Mistake("is outside the level curve", expected, column="--storage", value=storage))
    return storage


def _replanned(found: RuleInputs) -> RuleInputs:
    """The inputs with the rule that re-plans, of the same plan."""
    rule = found.beside(operate_outlook.FAMILY)
    if rule is None:
        problem = "needs the rule of the family replan beside this one, and there is none"
        mend = 'fit it: "reservoir rules PLAN_DIR", with all families or with --family replan'
        raise InputError(Mistake(problem, mend=mend, column="--replan"))
    return replace(found, rule=rule)


def _zone(found: RuleInputs, situation: Situation) -> str | None:
    """The zone of the dispatch chart: the rule's own, or that of the chart beside it."""
    chart: Any = found.beside("zones")
    return None if chart is None else chart.zone(situation.step, situation.storage_hm3)


def _alike(found: RuleInputs, month: int, situation: Situation) -> AnalogueYears | None:
    from reservoir.io.plan_folder.tables import read_schedule
    from reservoir.io.rule_file import require_same_plan
    from reservoir.rules.advice import alike

    if found.plan_folder is None:
        return None
    schedule = read_schedule(found.plan_folder)
    require_same_plan(found.file, found.plan_folder)
    return alike(schedule, found.reservoir, month, situation)


def _caveats(found: RuleInputs) -> tuple[str, ...]:
    """What must be said of the reservoir, and of the inflow that the rule was fitted to."""
    from reservoir.io.plan_folder.files import read_caveats

    if found.plan_folder is not None:
        return read_caveats(found.plan_folder)
    return (found.reservoir.caveat,) if found.reservoir.caveat else ()


def _worth(found: RuleInputs, situation: Situation, advice: Advice) -> MarginalWorth | None:
    """What water is worth around a decision: by the rule, or by the table of water values beside it."""
    from reservoir.rules.advice import marginal_worth

    own = marginal_worth(found.rule, situation, advice)
    table = None if own is not None else found.beside("water-value")
    return own if table is None else marginal_worth(table, situation, advice)


def _worth_words(worth: MarginalWorth, found: RuleInputs, units: UnitSystem) -> str:
    amounts = (units.per_volume(each, found.reservoir.objective.unit) for each in (worth.kept, worth.last, worth.more))
    kept, last, more = (f"{quantity(value)} {unit}" for value, unit in amounts)
    return f"kept {kept} later (by {worth.source}); released now, the last of it makes {last}, more would make {more}"


def _worth_as_json(worth: MarginalWorth, found: RuleInputs, units: UnitSystem) -> dict[str, Any]:
    unit = found.reservoir.objective.unit
    values = {"kept": worth.kept, "last_released": worth.last, "one_more_released": worth.more}
    ending = units.column("_gwh_per_hm3" if unit == "GWh" else "_per_hm3")
    in_units = {f"{name}{ending}": units.per_volume(value, unit)[0] for name, value in values.items()}
    return {"by_rule": worth.source, "unit": unit} | in_units


def _show(
    found: RuleInputs,
    situation: Situation,
    advice: Advice,
    zone: str | None,
    similar: AnalogueYears | None,
    notes: tuple[str, ...],
    assumed: list[str],
    units: UnitSystem,
    further: list[tuple[str, str]],
) -> None:
    from rich.markup import escape

    from reservoir.cli.screen import console
    from reservoir.hydro.calendar import MONTH_NAMES

    plant, rule = found.reservoir, found.rule
    screen = console()
    month = MONTH_NAMES[int(plant.months[situation.step]) - 1]
    level = float(plant.level(situation.storage_hm3))
    screen.print(f"[bold]{escape(plant.name)}[/], {month}, rule {escape(rule.family)}", soft_wrap=True)
    for note in notes:
        screen.print(f"[yellow]{escape(note[:1].upper() + note[1:])}[/]", soft_wrap=True)
    flow, volume, written = partial(units.written, ending="m3s"), partial(units.written, ending="hm3"), units.written
    before = flow(situation.inflow_before_m3s)
    rows = [
        ("Start of month", f"level {written(level, 'm', ',.2f')}, storage {volume(situation.storage_hm3)}"),
        ("Inflow", f"{flow(situation.inflow_m3s)}, previous month {before}"),
        ("Release", f"[bold]{flow(advice.release_m3s)}[/]{_release_note(advice, units)}"),
        ("End of month", f"level {written(advice.end_level_m, 'm', ',.2f')}, storage {volume(advice.end_storage_hm3)}"),
        ("Power", f"{quantity(advice.power_mw)} MW, mean head {written(advice.head_m, 'm', ',.1f')}"),
        ("Energy", f"{quantity(advice.energy_gwh)} GWh in the month"),
    ]
    if advice.loss_hm3:
        rows.append(("Losses", f"{volume(advice.loss_hm3)} of evaporation and seepage in the month"))
    if advice.withdrawal_m3s or advice.shortage_m3s:
        short = f", {flow(advice.shortage_m3s)} less than demanded" if advice.shortage_m3s > 0 else ""
        rows.append(("Withdrawal", f"{flow(advice.withdrawal_m3s)}{short}"))
    if zone is not None:
        rows.append(("Zone", f"{zone} output (dispatch chart)"))
    if similar is not None:
        rows.append(("Optimised years", _alike_words(similar, units)))
    for title, text in rows + further:
        screen.print(f"{title:<18}{text}", soft_wrap=True)
    if assumed:
        screen.print(f"[yellow]Not given, mean of the fitted years used: {', '.join(assumed)}[/]", soft_wrap=True)
    if advice.starts_below_dead:
        start, dead = volume(situation.storage_hm3), volume(float(plant.storage_lower_hm3.min()))
        below = f"The storage at the start, {start}, is below dead storage, {dead}"
        screen.print(f"[bold red]{below}: nothing is released before the lake is above it.[/]", soft_wrap=True)
    if advice.missing_m3s:
        least, missing = advice.missing_m3s + advice.release_m3s, units.written(advice.missing_m3s, "m3s")
        why = f"of the minimum release of {units.written(least, 'm3s')}: there is no more water above dead storage."
        screen.print(f"[bold red]{missing} are missing {why}[/]", soft_wrap=True)
    if not advice.within_bounds:
        screen.print("[bold red]No permitted release satisfies the storage limits of this month.[/]", soft_wrap=True)


def _release_note(advice: Advice, units: UnitSystem) -> str:
    seen = advice.spill_m3s > 0 and advice.spill_m3s >= _VISIBLE * advice.release_m3s
    spill = f", of which {units.written(advice.spill_m3s, 'm3s')} spilled" if seen else ""
    asked = f" (the rule gave {units.written(advice.asked_m3s, 'm3s')}, outside the limits)" if advice.repaired else ""
    return spill + asked


def _alike_words(similar: AnalogueYears, units: UnitSystem) -> str:
    def more(apart: float, ending: str) -> str:
        """How much a planned month differs from the present one."""
        return f"{'+' if apart >= 0 else '-'}{units.written(abs(apart), ending)}"

    if not similar.labels:
        apart = (
            f"storage {more(similar.storage_apart_hm3, 'hm3')}, inflow {more(similar.inflow_apart_m3s, 'm3s')}, "
            f"distance {similar.nearest_distance:.1f}"
        )
        return f"none began the month like this: the nearest, {similar.nearest}, differs ({apart}; like it: up to 1)"
    lowest, highest = (units.amount(each, "m3s")[0] for each in (similar.lowest_m3s, similar.highest_m3s))
    unit, median = units.amount(0.0, "m3s")[1], units.written(similar.median_m3s, "m3s")
    span = f"{quantity(lowest)} to {quantity(highest)} {unit}, median {median}"
    return f"{span}, in the {len(similar.labels)} most similar years: {', '.join(similar.labels)}"
