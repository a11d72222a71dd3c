"""What a rule of a reservoir advises for a month, of numbers as they are typed: for machines, and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.plant import storage_at_level
from reservoir.hydro.unit_system import UnitSystem, told_in
from reservoir.io.rule_inputs import RuleInputs
from reservoir.rules.advice import (
    Advice,
    AnalogueYears,
    MarginalWorth,
    Outlook,
    Situation,
    advise,
    alike,
    marginal_worth,
    step_of_month,
)
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.system_replan import REPLAN
from reservoir.text.quantities import quantity
from reservoir.text.strict_json import known

#: Months of the outlook where none are asked for, and the quantiles that are told of them.
USUAL_MONTHS = 12
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Spill is told of from this fraction of the release on.
_VISIBLE = 5e-4


def on_forecast(inputs: RuleInputs, flow_m3s: FloatArray, source: str) -> RuleInputs:
    """The inputs with a rule that decides by a forecast, shape (members, months), in place of futures of its own.

    Raises
    ------
    InputError
        If the forecast has too many members.
    """
    from reservoir.rules.families.replan import MOST_MEMBERS, ReplanOnForecast

    if len(flow_m3s) > MOST_MEMBERS:
        problem, expected = f"has {len(flow_m3s):,} members", f"at most {MOST_MEMBERS:,}"
        raise InputError(problem, expected, "give fewer of them", file=source)
    return replace(inputs, rule=ReplanOnForecast.of(cast(Any, inputs.rule), flow_m3s))


def situation_of(
    inputs: RuleInputs,
    month: int,
    level: float | None,
    storage: float | None,
    inflow: float | None,
    inflow_before: float | None,
    flood_index: float | None,
    units: UnitSystem,
) -> Situation:
    """What is known of a month, of numbers in the units given; inflows that are None are means of the fitted years.

    Raises
    ------
    InputError
        If one is missing or out of range; its column is the option of ``reservoir operate``.
    """
    rule, plant, flow = inputs.rule, inputs.reservoir, units.size("inflow_m3s")
    step, means = step_of_month(plant, month), rule.months.inflow_m3s
    expected, forecast = means[step], getattr(rule, "forecast_m3s", None)
    if forecast is not None:
        expected = sum(member[0] for member in forecast) / len(forecast)
        if inflow is not None:
            raise InputError("is given together with --ensemble", "one of them", column="--inflow")
    elif rule.forecast == "month" and inflow is None:
        problem = "is missing: this rule uses the month's inflow"
        mend = "give the expected inflow, or use a rule fitted with --forecast none"
        raise InputError(problem, f"a mean flow in {units.amount(0.0, 'm3s')[1]}", mend, column="--inflow")
    expected = expected if inflow is None else inflow * flow
    before = means[step - 1] if inflow_before is None else inflow_before * flow
    with told_in(units):
        if (level is None) == (storage is None):
            problem = "is missing" if level is None else "is given together with --storage"
            names = units.amount(0.0, "m")[1], units.amount(0.0, "hm3")[1]
            raise InputError(problem, "either --level in {} or --storage in {}".format(*names), column="--level")
        if storage is None:
            start = storage_at_level(plant, cast(float, level) * units.size("level_m"), "--level")
        else:
            (low, high), start = plant.level.domain, storage * units.size("storage_hm3")
            if not low <= start <= high:
                least, most = (units.amount(bound, "hm3")[0] for bound in (low, high))
                form = ",.0f" if most >= 1000 else ",.6g"  # no digit of a bound is rounded away
                ends = f"{least:{form}} to {most:{form}} {units.unit_name('hm3')}"
                what = f"{ends}, the range of the level curve of {plant.name}"
                raise InputError("is outside the level curve", what, column="--storage", value=start)
    if (space := plant.flood_space) is not None and flood_index is None:
        expected_value = f"a value of {space.column}, {space.values[0]:g} to {space.values[-1]:g} in its table"
        raise InputError("is missing: the flood space depends on it", expected_value, column="--flood-index")
    if space is None and flood_index is not None:
        raise InputError("is given, but the reservoir has no flood space", "leave it out", column="--flood-index")
    return Situation(step, start, expected, before, flood_index)


def assumed_words(inflow: float | None, inflow_before: float | None) -> str:
    """A sentence on the inflows that are not given; empty if none is missing."""
    names = [name for name, given in (("inflow", inflow), ("previous inflow", inflow_before)) if given is None]
    return f"Not given, mean of the fitted years used: {', '.join(names)}" if names else ""


@dataclass(frozen=True, eq=False)
class RuleAdvice:
    """A month's advice by one rule, with what is known around it.

    Parameters
    ----------
    inputs : RuleInputs
    month : int
        Calendar month.
    situation : Situation
    advice : Advice
    ahead : Outlook or None
        Of a rule that replans.
    zone : str or None
        Of the dispatch chart: the rule's own, or that of the chart beside it.
    similar : AnalogueYears or None
        Of the plan.
    worth : MarginalWorth or None
        What water is worth around the decision: by the rule, or by the table of water values beside it.
    """

    inputs: RuleInputs
    month: int
    situation: Situation
    advice: Advice
    ahead: Outlook | None
    zone: str | None
    similar: AnalogueYears | None
    worth: MarginalWorth | None

    @classmethod
    def of(
        cls,
        inputs: RuleInputs,
        month: int,
        situation: Situation,
        months: int = USUAL_MONTHS,
        beside: RuleAdvice | None = None,
    ) -> RuleAdvice:
        """Ask a rule, and its plan; one that replans looks some months ahead.

        The plan is not asked again where the advice of another of its rules is `beside`, for the same situation.
        """
        rule, plant, ahead = inputs.rule, inputs.reservoir, None
        advice = advise(rule, plant, situation)
        if rule.family == REPLAN:
            from reservoir.rules.families.replan import outlook

            ahead = outlook(cast(Any, rule), plant, situation, advice.release_m3s, months)
        chart = cast(Any, inputs.beside("zones"))
        zone = None if chart is None else chart.zone(situation.step, situation.storage_hm3)
        if beside is not None and beside.situation == situation:
            similar = beside.similar
        else:
            schedule = inputs.schedule
            similar = None if schedule is None else alike(schedule, plant, month, situation)
        worth = marginal_worth(rule, situation, advice)
        table = None if worth is not None else inputs.beside("water-value")
        worth = worth if table is None else marginal_worth(table, situation, advice)
        return cls(inputs, month, situation, advice, ahead, zone, similar, worth)

    def as_dict(self, units: UnitSystem) -> dict[str, Any]:
        """All of it for machines."""
        situation = {name: at for name, at in asdict(self.situation).items() if at is not None}
        return {
            "family": self.inputs.rule.family,
            "reservoir": self.inputs.reservoir.name,
            "month": self.month,
            "units": units.as_dict,
            "situation": units.values(situation),
            "advice": units.values(asdict(self.advice)),
            "zone": self.zone,
            "water_value": None if self.worth is None else self._worth_as_json(units),
            "optimised_years": None if self.similar is None else known(units.values(asdict(self.similar))),
            "caveats": self.inputs.caveats,
        } | ({} if self.ahead is None else {"outlook": _outlook_as_json(self.ahead, units)})

    def rows(self, units: UnitSystem) -> list[tuple[str, str]]:
        """The decision, what it comes to and what is known around it: titles and words."""
        situation, advice = self.situation, self.advice
        flow, volume, written = (
            partial(units.written, ending="m3s"),
            partial(units.written, ending="hm3"),
            units.written,
        )
        level, before = float(self.inputs.reservoir.level(situation.storage_hm3)), flow(situation.inflow_before_m3s)
        release = flow(advice.release_m3s)
        if advice.spill_m3s > 0 and advice.spill_m3s >= _VISIBLE * advice.release_m3s:
            release += f", of which {flow(advice.spill_m3s)} spilled"
        release += f" (the rule gave {flow(advice.asked_m3s)}, outside the limits)" if advice.repaired else ""
        rows = [
            ("Start of month", f"level {written(level, 'm', ',.2f')}, storage {volume(situation.storage_hm3)}"),
            ("Inflow", f"{flow(situation.inflow_m3s)}, previous month {before}"),
            ("Release", release),
            (
                "End of month",
                f"level {written(advice.end_level_m, 'm', ',.2f')}, storage {volume(advice.end_storage_hm3)}",
            ),
            ("Power", f"{quantity(advice.power_mw)} MW, mean head {written(advice.head_m, 'm', ',.1f')}"),
            ("Energy", f"{quantity(advice.energy_gwh)} GWh in the month"),
        ]
        if advice.loss_hm3:
            rows.append(("Losses", f"{volume(advice.loss_hm3)} of evaporation and seepage in the month"))
        if advice.withdrawal_m3s or advice.shortage_m3s:
            short = f", {flow(advice.shortage_m3s)} less than demanded" if advice.shortage_m3s > 0 else ""
            rows.append(("Withdrawal", f"{flow(advice.withdrawal_m3s)}{short}"))
        rows += [] if self.zone is None else [("Zone", f"{self.zone} output (dispatch chart)")]
        rows += [] if self.similar is None else [("Optimised years", _alike_words(self.similar, units))]
        rows += [] if self.worth is None else [("Water value", self._worth_words(units))]
        return rows + ([] if self.ahead is None else _outlook_rows(self.ahead, units))

    def warnings(self, units: UnitSystem) -> list[str]:
        """What is missed this month."""
        said, advice, written = list[str](), self.advice, units.written
        if advice.starts_below_dead:
            start, dead = self.situation.storage_hm3, float(self.inputs.reservoir.storage_lower_hm3.min())
            below = f"{written(start, 'hm3')}, is below dead storage, {written(dead, 'hm3')}"
            said.append(f"The storage at the start, {below}: nothing is released before the lake is above it.")
        if advice.missing_m3s:
            least, missing = (
                written(each, "m3s") for each in (advice.missing_m3s + advice.release_m3s, advice.missing_m3s)
            )
            why = f"of the minimum release of {least}: there is no more water above dead storage."
            said.append(f"{missing} are missing {why}")
        if not advice.within_bounds:
            said.append("No permitted release satisfies the storage limits of this month.")
        return said

    def _worth_words(self, units: UnitSystem) -> str:
        worth, unit = cast(MarginalWorth, self.worth), self.inputs.reservoir.objective.unit
        amounts = (units.per_volume(value, unit) for value in (worth.kept, worth.last, worth.more))
        kept, last, more = (f"{quantity(value)} {of}" for value, of in amounts)
        return (
            f"kept {kept} later (by {worth.source}); released now, the last of it makes {last}, more would make {more}"
        )

    def _worth_as_json(self, units: UnitSystem) -> dict[str, Any]:
        worth, unit = cast(MarginalWorth, self.worth), self.inputs.reservoir.objective.unit
        values = {"kept": worth.kept, "last_released": worth.last, "one_more_released": worth.more}
        ending = units.column("_gwh_per_hm3" if unit == "GWh" else "_per_hm3")
        in_units = {f"{name}{ending}": units.per_volume(value, unit)[0] for name, value in values.items()}
        return {"by_rule": worth.source, "unit": unit} | in_units


def _outlook_as_json(ahead: Outlook, units: UnitSystem) -> dict[str, Any]:
    """The outlook for machines: probabilities, and quantiles of the storage at the end of each month."""
    levels = np.quantile(ahead.storage_hm3[:, 1:], _QUANTILES, axis=0).T
    months = [
        {"month": int(month)}
        | units.values(
            {f"storage_q{100 * share:02.0f}_hm3": float(each) for share, each in zip(_QUANTILES, row, strict=True)}
        )
        for month, row in zip(ahead.calendar_month, levels, strict=True)
    ]
    return {
        "members": len(ahead.storage_hm3),
        "refill_probability": ahead.refill_probability,
        "spill_probability": ahead.spill_probability,
        "firm_mw": ahead.firm_mw,
        "firm_probability": ahead.firm_probability,
        "months": months,
    }


def _outlook_rows(ahead: Outlook, units: UnitSystem) -> list[tuple[str, str]]:
    """The outlook as rows on the screen."""
    members, months = ahead.power_mw.shape
    low, middle, high = np.quantile(ahead.storage_hm3[:, -1], [0.1, 0.5, 0.9])
    chances = [f"full in {ahead.refill_probability:.0%}", f"spill in {ahead.spill_probability:.0%}"]
    if ahead.firm_mw is not None and ahead.firm_probability is not None:
        chances.append(f"at least {quantity(ahead.firm_mw)} MW in every month in {ahead.firm_probability:.0%}")
    end = MONTH_NAMES[ahead.calendar_month[-1] - 1]
    lowest, highest = quantity(units.amount(float(low), "hm3")[0]), units.written(float(high), "hm3")
    median = units.written(float(middle), "hm3")
    storage = f"{lowest} to {highest} at the end of {end} in 80 % of them, median {median}"
    return [(f"Next {months} months", f"of {members:,} futures: {', '.join(chances)}"), ("Storage", storage)]


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
    span = f"each {median}" if quantity(lowest) == quantity(highest) else span
    return f"{span}, in the {len(similar.labels)} most similar years: {', '.join(similar.labels)}"
