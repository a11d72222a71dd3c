"""``reservoir operate``: recommend this month's release with a rule."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import operate_outlook, operate_worth, options
from reservoir.cli.call_words import told_in
from reservoir.cli.path_types import FilePath
from reservoir.errors import InputError, Mistake
from reservoir.text.quantities import quantity

if TYPE_CHECKING:
    from reservoir.cli.rule_inputs import RuleInputs
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.rules.advice import Advice, AnalogueYears, Situation

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
@click.option("--level", type=float, help="Forebay level at the start of the month, m (or as --units).")
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
@options.units
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
    from reservoir.cli.rule_inputs import read_rule_inputs
    from reservoir.cli.screen import show_json
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.rules.advice import Situation, advise, step_of_month
    from reservoir.text.strict_json import known

    found, units = read_rule_inputs(rule_file, reservoir_file), UnitSystem.of(unit_system or "si")
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
    worth = operate_worth.worth_of(found, situation, advice)
    if as_json:
        show_json(
            {
                "family": found.rule.family,
                "reservoir": found.reservoir.name,
                "month": month,
                "situation": units.values(asdict(situation)),
                "advice": units.values(asdict(advice)),
                "zone": zone,
                "water_value": None if worth is None else operate_worth.as_json(worth, found, units),
                "optimised_years": None if similar is None else known(units.values(asdict(similar))),
                "caveats": caveats,
            }
            | ({} if ahead is None else {"outlook": operate_outlook.as_json(ahead, units)})
        )
    else:
        assumed = [name for name, given in (("inflow", inflow), ("previous inflow", inflow_before)) if given is None]
        further = [] if worth is None else [("Water value", operate_worth.words(worth, found))]
        further += [] if ahead is None else operate_outlook.rows(ahead)
        _show(found, situation, advice, zone, similar, caveats, assumed, units, further)
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
        raise InputError(Mistake(problem, "a mean flow in m3/s", mend, column="--inflow"))
    return mean if inflow is None else inflow * units.size("inflow_m3s")


def _storage(found: RuleInputs, level: float | None, storage: float | None, units: UnitSystem) -> float:
    from reservoir.hydro.level_storage import storage_at_level

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
        expected = f"{low:,.0f} to {high:,.0f} hm3, the range of the level curve of {found.reservoir.name}"
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
    from reservoir.io.plan_folder.saved_tables import read_schedule
    from reservoir.io.rule_belonging import require_same_plan
    from reservoir.rules.advice import alike

    if found.plan_folder is None:
        return None
    schedule = read_schedule(found.plan_folder)
    require_same_plan(found.file, found.plan_folder)
    return alike(schedule, found.reservoir, month, situation)


def _caveats(found: RuleInputs) -> tuple[str, ...]:
    """What must be said of the reservoir, and of the inflow that the rule was fitted to."""
    from reservoir.io.plan_folder.tables import read_caveats

    if found.plan_folder is not None:
        return read_caveats(found.plan_folder)
    return (found.reservoir.caveat,) if found.reservoir.caveat else ()


def _show(
    found: RuleInputs,
    situation: Situation,
    advice: Advice,
    zone: str | None,
    similar: AnalogueYears | None,
    caveats: tuple[str, ...],
    assumed: list[str],
    units: UnitSystem,
    further: list[tuple[str, str]],
) -> None:
    from rich.markup import escape

    from reservoir.cli.console import console
    from reservoir.hydro.calendar import MONTH_NAMES

    plant, rule = found.reservoir, found.rule
    screen = console()
    month = MONTH_NAMES[int(plant.months[situation.step]) - 1]
    level = float(plant.level(situation.storage_hm3))
    screen.print(f"[bold]{escape(plant.name)}[/], {month}, rule {escape(rule.family)}", soft_wrap=True)
    for caveat in caveats:
        screen.print(f"[yellow]{escape(caveat[:1].upper() + caveat[1:])}[/]", soft_wrap=True)
    rows = [
        ("Start of month", f"level {level:,.2f} m, storage {quantity(situation.storage_hm3)} hm3"),
        (
            "Inflow",
            f"{quantity(situation.inflow_m3s)} m3/s, previous month {quantity(situation.inflow_before_m3s)} m3/s",
        ),
        ("Release", f"[bold]{quantity(advice.release_m3s)} m3/s[/]{_release_note(advice)}"),
        ("End of month", f"level {advice.end_level_m:,.2f} m, storage {quantity(advice.end_storage_hm3)} hm3"),
        ("Power", f"{quantity(advice.power_mw)} MW, mean head {advice.head_m:,.1f} m"),
        ("Energy", f"{quantity(advice.energy_gwh)} GWh in the month"),
    ]
    if advice.loss_hm3:
        rows.append(("Losses", f"{quantity(advice.loss_hm3)} hm3 of evaporation and seepage in the month"))
    if advice.withdrawal_m3s or advice.shortage_m3s:
        short = f", {quantity(advice.shortage_m3s)} m3/s less than demanded" if advice.shortage_m3s > 0 else ""
        rows.append(("Withdrawal", f"{quantity(advice.withdrawal_m3s)} m3/s{short}"))
    if zone is not None:
        rows.append(("Zone", f"{zone} output (dispatch chart)"))
    if similar is not None:
        rows.append(("Optimised years", _alike_words(similar)))
    for title, text in rows + further:
        screen.print(f"{title:<18}{units.text(text)}", soft_wrap=True)
    if assumed:
        screen.print(f"[yellow]Not given, mean of the fitted years used: {', '.join(assumed)}[/]", soft_wrap=True)
    if advice.missing_m3s:
        least = f"{quantity(advice.missing_m3s)} of the {quantity(advice.missing_m3s + advice.release_m3s)} m3/s"
        missing = f"{least} that are the minimum release are missing: there is no more water above dead storage."
        screen.print(f"[bold red]{units.text(missing)}[/]", soft_wrap=True)
    if not advice.within_bounds:
        screen.print("[bold red]No permitted release satisfies the storage limits of this month.[/]", soft_wrap=True)


def _release_note(advice: Advice) -> str:
    seen = advice.spill_m3s >= _VISIBLE * advice.release_m3s
    spill = f", of which {quantity(advice.spill_m3s)} m3/s spilled" if seen else ""
    asked = f" (the rule gave {quantity(advice.asked_m3s)} m3/s, outside the limits)" if advice.repaired else ""
    return spill + asked


def _more(apart: float) -> str:
    """How much a planned month differs from the present one."""
    sign = "+" if apart >= 0 else "-"
    return f"{sign}{quantity(abs(apart))}"


def _alike_words(similar: AnalogueYears) -> str:
    if not similar.labels:
        apart = (
            f"storage {_more(similar.storage_apart_hm3)} hm3, inflow {_more(similar.inflow_apart_m3s)} m3/s, "
            f"distance {similar.nearest_distance:.1f}"
        )
        return f"none began the month like this: the nearest, {similar.nearest}, differs ({apart}; like it: up to 1)"
    span = (
        f"{quantity(similar.lowest_m3s)} to {quantity(similar.highest_m3s)} m3/s, "
        f"median {quantity(similar.median_m3s)} m3/s"
    )
    return f"{span}, in the {len(similar.labels)} most similar years: {', '.join(similar.labels)}"
