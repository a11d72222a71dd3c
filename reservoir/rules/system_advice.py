"""What to do this month on a river: the releases that a rule recommends for all reservoirs, and why.

What a release comes to is worked out reservoir by reservoir, with what links bring of the decisions above; what water
is worth is told for where it is and for where links take it; and the decision is followed into many futures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.conditions import unmet_power
from reservoir.hydro.power import generation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import REPAIR_TOLERANCE
from reservoir.hydro.system import System
from reservoir.rules.advice import Advice, Outlook, Situation, advice_of, stated_conditions
from reservoir.rules.base.physics import month_end
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import FloatArray, require_no_ramps
from reservoir.rules.families.separable import (
    Separable,
    SystemRule,
    arriving_late,
    arriving_later,
    at_once,
    brings,
    carried_worth,
)
from reservoir.rules.inflow_model import normal_numbers
from reservoir.rules.joint_inflow import JointInflowModel

#: Futures that a decision is followed into where no forecast says them, and the seed that draws them.
FUTURES, SEED = 100, 1


@dataclass(frozen=True, eq=False)
class SystemSituation:
    """What is known of a river on the first day of a month, of its reservoirs from upstream to downstream.

    Parameters
    ----------
    step : int
        Of the water year, from 0.
    storage_hm3 : ndarray, shape (reservoirs,)
    local_m3s : ndarray, shape (reservoirs, inflows)
        Local inflows of the month that may come: one, classes of the rule, or the members of a forecast.
    probability : ndarray, shape (inflows,)
    before_m3s : ndarray, shape (reservoirs,)
        Local inflow of the month before.
    released_m3s : ndarray, shape (reservoirs,)
        Released in the months before, which is under way.
    is_given : ndarray of bool, shape (reservoirs,)
        Whose inflow of the month is not what may come, but told.
    """

    step: int
    storage_hm3: FloatArray
    local_m3s: FloatArray
    probability: FloatArray
    before_m3s: FloatArray
    released_m3s: FloatArray
    is_given: NDArray[np.bool_]

    @property
    def expected_m3s(self) -> FloatArray:
        """Mean local inflow of the month, shape (reservoirs,)."""
        return np.asarray(self.local_m3s @ self.probability)


@dataclass(frozen=True, eq=False)
class SiteAdvice:
    """The recommendation for one reservoir.

    Parameters
    ----------
    situation : Situation
        With all that flows in.
    arriving_m3s : float
        What links bring of it.
    advice : Advice
        At the expected inflow.
    worth : SiteWorth or None
        What water is worth around the decision; None of rules that do not know it, and where nothing is stored.
    """

    situation: Situation
    arriving_m3s: float
    advice: Advice
    worth: SiteWorth | None


@dataclass(frozen=True)
class SiteWorth:
    """The worth of one hm3 around a decision, in the unit of the objective.

    ``kept`` is what one hm3 more at the end of the month is worth there later; ``below`` what one hm3 released is worth
    to those below; ``last`` and ``more`` what the plant makes of the last hm3 that it releases, and of one more. A
    decision is right where ``kept`` lies between ``last`` and ``more`` with ``below`` added, unless a limit holds it.
    """

    kept: float
    below: float
    last: float
    more: float


@dataclass(frozen=True, eq=False)
class SiteOutlook(Outlook):
    """As `Outlook`; ``missed``, shape (members, months), is where a limit or a demand is not kept."""

    missed: Any

    @property
    def miss_probability(self) -> float:
        """Part of the futures in which some month misses a limit or a demand."""
        return float(self.missed.any(axis=1).mean())


@dataclass(frozen=True, eq=False)
class _River:
    """The links of a system, in months that a volume of 1 m3/s is known of.

    Parameters
    ----------
    system : System
    volume : ndarray, shape (steps,)
    released_m3s : ndarray, shape (reservoirs,)
        Released in every month before the first.
    """

    system: System
    volume: FloatArray
    released_m3s: FloatArray

    def before(self) -> dict[int, float]:
        """What each link, by its place, carried in months before the first."""
        released = (float(self.released_m3s[self.system.names.index(link.source)]) for link in self.system.links)
        return {
            number: link.of_release(each, each)
            for number, (link, each) in enumerate(zip(self.system.links, released, strict=True))
        }

    def late(self, step: int, carried: Sequence[Mapping[int, Any]] = ()) -> list[Any]:
        """What each link brings in a step of what it carried in earlier months, the latest of them last."""
        before = self.before()

        def earlier(number: int, late: int) -> Any:
            return carried[-late][number] if late <= len(carried) else before[number]

        links = enumerate(self.system.links)
        return [arriving_late(link, partial(earlier, number), self.volume, step) for number, link in links]

    def later(self, step: int, months: int) -> FloatArray:
        """The same of a step and of those after it, of what was carried before the first, shape (months, links)."""
        before = self.before()

        def earlier(number: int, late: int) -> float:
            return before[number]

        links = enumerate(self.system.links)
        later = [arriving_later(link, partial(earlier, of), self.volume, step, months) for of, link in links]
        return np.array(later).reshape(len(before), months).T

    def arriving(self, place: int, late: Sequence[Any], flows: Mapping[int, Any]) -> Any:
        """What links bring to a reservoir, of what they carry now, by their places."""
        total: Any = 0.0
        for number, link in enumerate(self.system.links):
            if link.target == self.system.names[place]:
                total = total + brings(link, late[number], flows[number])
        return total

    def carried(self, place: int, release: Any, turbined: Any) -> dict[int, Any]:
        """What the links of a reservoir carry."""
        name = self.system.names[place]
        of_it = ((number, link) for number, link in enumerate(self.system.links) if link.source == name)
        return {number: link.of_release(release, turbined) for number, link in of_it}


def months_of(rule: SystemRule) -> Any:
    """The months of a water year as the rule of each reservoir knows them, by its name (`Months`)."""
    return {name: each.months for name, each in rules_of(rule).items()}


def local_means(rule: SystemRule, system: System) -> FloatArray:
    """Mean local inflow of each month by the fitted years, m3/s, shape (reservoirs, steps).

    Of rules that know all that flows in alone: less what the links would bring of means above that nothing stores.
    """
    if isinstance(rule, Separable):
        return rule.means_m3s
    of_all = {name: np.array([months.inflow_m3s]) for name, months in months_of(rule).items()}
    volume = np.array([next(iter(months_of(rule).values())).volume_per_flow])
    brought = [system.brought_m3s(place, of_all, volume)[0] for place in range(len(system.names))]
    return np.asarray(np.maximum(np.stack([of_all[name][0] for name in system.names]) - np.stack(brought), 0.0))


def rules_of(rule: SystemRule) -> Mapping[str, Rule]:
    """A rule for each reservoir: also of one of all together, as the values of each decide for themselves."""
    return rule.of_each if isinstance(rule, Separable) else rule


def advise_system(
    rule: SystemRule, system: System, situation: SystemSituation, values: Separable | None = None
) -> dict[str, SiteAdvice]:
    """Ask a rule for a month's releases, and work out what they come to, by the name of the reservoir.

    Parameters
    ----------
    rule : SystemRule
    system : System
    situation : SystemSituation
    values : Separable, optional
        What weighs the decision, where the rule itself does not.

    Raises
    ------
    InputError
        If a reservoir limits the change of its release, which rules do not know.
    """
    for each in system.reservoirs:
        require_no_ramps(each)
        if each.flood_space is not None:
            problem = f"the flood space of {each.name} depends on a column, which advice for systems does not know yet"
            raise InputError(problem, "upper_hm3 by month", f"ask for {each.name} with its own rule", each.source)
    step, local = situation.step, situation.expected_m3s
    months = list(months_of(rule).values())
    river = _River(system, np.array(months[0].volume_per_flow), situation.released_m3s)
    late, volume = river.late(step), float(river.volume[step])
    asked: list[float] | None = None
    if isinstance(rule, Separable):
        upper = np.array([site.storage_upper_hm3[step] for site in rule.sites])
        ahead = river.later(step, rule.months_weighed)
        weighed = situation.storage_hm3, situation.local_m3s, situation.probability, ahead, upper
        asked, values = rule.best_releases(system, step, *weighed).tolist(), rule
    flows, found = dict[int, Any](), list[tuple[Situation, float, Advice]]()
    of_before = river.late((step - 1) % MONTHS_PER_YEAR), river.before()
    for place, plant in enumerate(system.reservoirs):
        arriving = float(river.arriving(place, late, flows))
        earlier = float(situation.before_m3s[place] + river.arriving(place, *of_before))
        own = Situation(step, float(situation.storage_hm3[place]), float(local[place]) + arriving, earlier)
        wanted = asked[place] if asked is not None else _asked(rule, plant, own)
        advice = advice_of(wanted, plant, own, volume)
        flows |= river.carried(place, advice.release_m3s, advice.turbined_m3s)
        found.append((own, arriving, advice))
    for place, plant in enumerate(system.reservoirs):
        below = system.backed_up_by(place)
        if below is not None:
            own, arriving, advice = found[place]
            storages = (found[below][0].storage_hm3 + found[below][2].end_storage_hm3) / 2
            level = float(system.reservoirs[below].level(storages))
            found[place] = own, arriving, advice_of(advice.asked_m3s, plant, own, volume, level)
    worth: Sequence[SiteWorth | None] = [None] * len(found)
    if values is not None:
        of_each = _worth(values, system, situation, [(own, advice) for own, _, advice in found])
        worth = [
            None if plant.is_run_of_river else each for plant, each in zip(system.reservoirs, of_each, strict=True)
        ]
    return {
        name: SiteAdvice(own, arriving, advice, weighed_by)
        for name, (own, arriving, advice), weighed_by in zip(system.names, found, worth, strict=True)
    }


def _asked(rule: Any, plant: Reservoir, own: Situation) -> float:
    each: Rule = rule[plant.name]
    known = own.inflow_m3s if each.forecast is Forecast.MONTH else None
    return each.release(own.step, own.storage_hm3, known, own.inflow_before_m3s)


def _worth(
    values: Separable, system: System, situation: SystemSituation, decided: Sequence[tuple[Situation, Advice]]
) -> list[SiteWorth]:
    step, volume = situation.step, values.sites[0].months.volume_per_flow
    found, arriving, flow = dict[int, SiteWorth](), dict[str, float](), 1.0 / volume[step]
    for place, (own, advice) in reversed(list(enumerate(decided))):  # those below first
        site, below = values.sites[place], 0.0
        inflows = own.inflow_m3s + situation.local_m3s[place] - situation.expected_m3s[place]
        ends, _ = site.after(step, own.storage_hm3, np.full_like(inflows, advice.asked_m3s), inflows)
        kept = values.water_value(place, step, situation.local_m3s, situation.probability, ends)
        for link in system.links:
            if link.source != site.reservoir or link.target is None:
                continue
            release, turbined = advice.release_m3s, advice.turbined_m3s
            more_turbined = turbined if advice.spill_m3s > REPAIR_TOLERANCE * release else turbined + flow
            part = (link.of_release(release + flow, more_turbined) - link.of_release(release, turbined)) / flow
            later = carried_worth(system, link, values.per_arrival, volume, step, least=1) / volume[step]
            below += part * (at_once(link) * arriving[link.target] + later)
        # One hm3 more that arrives is kept, or is released where the lake is full, and is worth a little by its head.
        some = own.inflow_m3s + np.array([0.0, flow])
        end, release_then, made = site.outcome(step, own.storage_hm3, np.full(2, advice.asked_m3s), some)
        arriving[site.reservoir] = float(np.diff(made + kept * end + below * release_then * volume[step])[0])
        releases = np.maximum(advice.release_m3s + np.array([-flow, 0.0, flow]), 0.0)
        less, now, more = site.made(step, own.storage_hm3, releases, own.inflow_m3s).tolist()
        found[place] = SiteWorth(kept, float(below), now - less, more - now)
    return [found[place] for place in range(len(decided))]


def futures_of(
    inflow: JointInflowModel | None,
    situation: SystemSituation,
    months: int,
    forecast_m3s: FloatArray | None = None,
    members: int = FUTURES,
) -> FloatArray | None:
    """Local inflow of months to come, shape (futures, months, reservoirs); None where nothing is known of it.

    Those of a forecast, shape (members, months, reservoirs), or of the first month what is given. All else is drawn
    from an inflow model, given the months before; without one, futures end with the forecast. Of more members or months
    the first ones are the same.
    """
    if inflow is None:
        return None if forecast_m3s is None else forecast_m3s[:, :months]
    step, before, sites = situation.step, situation.before_m3s[np.newaxis, np.newaxis], len(inflow.sites)
    if forecast_m3s is None:
        normal = normal_numbers(SEED, members, MONTHS_PER_YEAR + 1, sites, step)
        first = np.where(situation.is_given, situation.expected_m3s, inflow.futures(step, before, normal)[0])
    else:
        first = forecast_m3s[:, :months]
    further, count = months - first.shape[1], len(first)
    latest = np.concatenate([np.repeat(before, count, axis=0), first], axis=1)[:, :-3:-1]
    normal = normal_numbers(SEED, count, MONTHS_PER_YEAR + further, sites, MONTHS_PER_YEAR + step)
    after = (step + first.shape[1]) % MONTHS_PER_YEAR
    return np.concatenate([first, inflow.futures(after, latest, normal[:, np.newaxis])[:, 0]], axis=1)


def outlook_of_system(
    rule: SystemRule,
    system: System,
    situation: SystemSituation,
    decided: Mapping[str, SiteAdvice],
    local_m3s: FloatArray,
) -> dict[str, SiteOutlook]:
    """Follow a decision into futures, by the name of the reservoir.

    The releases of the first month are those decided, as far as each future's limits allow. In later months each
    reservoir's own rule decides by what is known there; that of separable values weighs with what links pay.

    Parameters
    ----------
    rule, system, situation
        As of `advise_system`.
    decided : mapping of str to SiteAdvice
    local_m3s : ndarray, shape (futures, months, reservoirs)
        From `futures_of`.
    """
    rules, plants = list(rules_of(rule).values()), system.reservoirs
    count, months = local_m3s.shape[:2]
    volume = np.array(rules[0].months.volume_per_flow)
    river = _River(system, volume, situation.released_m3s)
    steps = (situation.step + np.arange(months)) % MONTHS_PER_YEAR
    storages = [np.full((count, months + 1), start) for start in situation.storage_hm3]
    releases, spills, powers, missed = (np.zeros((len(plants), count, months)) for _ in range(4))
    before = [np.full(count, each.situation.inflow_before_m3s) for each in decided.values()]
    conditions = [stated_conditions(plant) for plant in plants]
    carried = list[dict[int, Any]]()
    for at, step in enumerate(steps.tolist()):
        late, flows = river.late(step, carried), dict[int, Any]()
        for place, plant in enumerate(plants):
            own, inflow = rules[place], local_m3s[:, at, place] + river.arriving(place, late, flows)
            wanted = np.full(count, decided[plant.name].advice.release_m3s)
            if at:
                wanted = own.releases(step, storages[place][:, at], own.known(inflow), before[place])
            lower, upper = plant.storage_bounds_hm3[:, step].tolist()
            least, most = plant.release_bounds_m3s[:, step].tolist()
            year = conditions[place], (0, step)
            dead, start = float(plant.storage_lower_hm3.min()), storages[place][:, at]
            release, draft, end = month_end(
                start, wanted, inflow, volume[step], (lower, upper), (least, most), dead, *year
            )
            made = generation(plant, (start + end) / 2, release, *year)
            releases[place, :, at], powers[place, :, at] = release, made.power_mw
            spills[place, :, at] = np.maximum(release - made.turbined_m3s, 0.0)
            slack, of_flow = REPAIR_TOLERANCE * float(plant.storage_upper_hm3.max()), REPAIR_TOLERANCE * most
            outside = (np.maximum(end, dead) < lower - slack) | (end > upper + slack)
            missed[place, :, at] = outside | (release < least - of_flow) | (release - draft > of_flow)
            missed[place, :, at] += unmet_power(*year, made.power_mw) > 0
            storages[place][:, at + 1], before[place] = end, inflow
            flows |= river.carried(place, release, made.turbined_m3s)
        carried.append(flows)
    return {
        plant.name: SiteOutlook(
            steps,
            plant.months[steps],
            plant.storage_bounds_hm3[1, steps],
            storages[place],
            releases[place],
            spills[place],
            powers[place],
            float(plant.storage_upper_hm3.max()),
            float(plant.storage_lower_hm3.min()),
            None,
            missed[place] > 0,
        )
        for place, plant in enumerate(plants)
    }
