"""What to do this month: the release that a rule recommends, what it comes to, and what optimised years did.

And what a hm3 is worth around the decision: kept in the reservoir, and through the plant now.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTHS_PER_YEAR, Calendar
from reservoir.hydro.conditions import demanded, loss_volume
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.power import generation
from reservoir.hydro.record_rows import conditions_in
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import REPAIR_TOLERANCE
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.rules.base.physics import month_end
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import require_no_ramps

if TYPE_CHECKING:
    # For which an operator who asks about no years does not wait.
    import pandas as pd

FloatArray = NDArray[np.float64]

#: Optimised years that are like the present one: at most this part of all, and so many at least, as far as they are
#: no farther away than `FARTHEST`.
FEWEST_ALIKE, PART_ALIKE = 5, 0.15
#: Distance beyond which a month is not like the present one: 1 is a standard deviation over the years of storage or
#: inflow, or if that is more, the part of the range of storage or of the mean inflow that follows.
FARTHEST = 1.0
LEAST_SPREAD = 0.05
#: Of no leap year; what a month loses is told by its mean length.
_SOME_YEAR = 2001


@dataclass(frozen=True)
class Situation:
    """What is known on the first day of a month: its step of the water year, from 0, and the storage.

    ``inflow_m3s`` is the mean inflow expected in the month, ``inflow_before_m3s`` that of the month before;
    ``flood_index`` is what the flood space depends on, if the reservoir has one.
    """

    step: int
    storage_hm3: float
    inflow_m3s: float
    inflow_before_m3s: float
    flood_index: float | None = None


@dataclass(frozen=True)
class AnalogueYears:
    """What the optimised years did in the month that began most like this one.

    ``labels`` are empty where none is near enough (`FARTHEST`); then the releases are NaN. The nearest year, its
    storage and inflow less the present ones, and their distance are told in any case.
    """

    labels: tuple[str, ...]
    lowest_m3s: float
    median_m3s: float
    highest_m3s: float
    nearest: str
    nearest_distance: float
    storage_apart_hm3: float
    inflow_apart_m3s: float


@dataclass(frozen=True)
class Advice:
    """A month's recommendation.

    ``release_m3s`` keeps the limits; ``repaired`` tells that the rule had asked for ``asked_m3s`` instead. End storage,
    level, power and energy are those of the expected inflow. ``loss_hm3`` is evaporation and seepage; where the
    withdrawal demanded is not delivered, there is a shortage; ``missing_m3s`` is missing of the least release.
    ``within_bounds`` tells of the storage at the end, and that a lake which began above dead storage may lose more.
    Whether it began below is ``starts_below_dead``.
    """

    asked_m3s: float
    release_m3s: float
    repaired: bool
    turbined_m3s: float
    spill_m3s: float
    end_storage_hm3: float
    end_level_m: float
    head_m: float
    power_mw: float
    energy_gwh: float
    loss_hm3: float
    withdrawal_m3s: float
    shortage_m3s: float
    missing_m3s: float
    starts_below_dead: bool
    within_bounds: bool


def advise(rule: Rule, plant: Reservoir, situation: Situation) -> Advice:
    """Ask a rule for a month's release, and work out what it comes to.

    Losses and demands are those that the reservoir itself states for the month.
    """
    step, known = situation.step, situation.inflow_m3s if rule.forecast is Forecast.MONTH else None
    if plant.flood_space is not None:
        rule = rule.limited(np.array([highest_storage(plant, situation)]))
    asked = rule.release(step, situation.storage_hm3, known, situation.inflow_before_m3s)
    require_no_ramps(plant)
    return advice_of(asked, plant, situation, rule.months.volume_per_flow[step])


@lru_cache(8)
def stated_conditions(plant: Reservoir, flood_index: float | None = None, tailwater_m: float | None = None) -> Any:
    """Losses and demands that a reservoir itself states, as of `conditions_in`, for the year at place 0."""
    dry_year = Inflow(np.zeros((1, MONTHS_PER_YEAR)), Calendar(_SOME_YEAR, 1, plant.first_month))
    if plant.flood_space is not None:
        dry_year = replace(dry_year, flood_index=np.full((1, MONTHS_PER_YEAR), flood_index or 0.0))
    return conditions_in(plant, dry_year, tailwater_m)


def advice_of(
    asked: float, plant: Reservoir, situation: Situation, volume: float, tailwater_m: float | None = None
) -> Advice:
    """What a release that is asked for comes to, in a month in which a flow of 1 m3/s carries a volume.

    A lake below may back the plant up to a level.
    """
    step, storage, inflow = situation.step, situation.storage_hm3, situation.inflow_m3s
    dead = float(plant.storage_lower_hm3.min())
    storages = float(plant.storage_bounds_hm3[0, step]), highest_storage(plant, situation)
    releases = plant.release_bounds_m3s[:, step].tolist()
    conditions = stated_conditions(plant, situation.flood_index, tailwater_m), (0, step)
    ended = month_end(storage, asked, inflow, volume, storages, releases, dead, *conditions)
    release, draft, end = map(float, ended)
    mean_storage, demand = (storage + end) / 2, float(demanded(*conditions))
    made = generation(plant, mean_storage, release, *conditions)
    power = float(made.power_mw)
    lost = float(loss_volume(*conditions, mean_storage, volume))
    if end <= 0:  # no more is lost than there was
        lost = storage + (inflow - demand - draft) * volume - end
    slack = REPAIR_TOLERANCE * storages[1]
    below = storage < dead - slack
    return Advice(
        asked_m3s=asked,
        release_m3s=release,
        repaired=abs(release - asked) > REPAIR_TOLERANCE * releases[1],
        turbined_m3s=float(made.turbined_m3s),
        spill_m3s=release - float(made.turbined_m3s),
        end_storage_hm3=end,
        end_level_m=float(plant.level(end)),
        head_m=float(made.head_m),
        power_mw=power,
        energy_gwh=power * volume * GWH_PER_MW_VOLUME,
        loss_hm3=lost,
        withdrawal_m3s=demand - (release - draft),
        shortage_m3s=release - draft,
        missing_m3s=max(releases[0] - release, 0.0),
        starts_below_dead=below,
        within_bounds=storages[0] - slack <= (end if below else max(end, dead)) <= storages[1] + slack,
    )


def share_outside(rule: Rule, plant: Reservoir, situation: Situation, release_m3s: float, inflows: FloatArray) -> float:
    """Part of the inflows that the month may have, m3/s, with which it ends outside the storage limits.

    The release is the one decided, as far as the limits allow.
    """
    step, dead = situation.step, float(plant.storage_lower_hm3.min())
    low, high = float(plant.storage_bounds_hm3[0, step]), highest_storage(plant, situation)
    releases = plant.release_bounds_m3s[:, step].tolist()
    conditions = stated_conditions(plant, situation.flood_index), (0, step)
    start, asked = (np.full(len(inflows), each) for each in (situation.storage_hm3, release_m3s))
    volume = rule.months.volume_per_flow[step]
    end = month_end(start, asked, inflows, volume, (low, high), releases, dead, *conditions)[2]
    slack = REPAIR_TOLERANCE * high
    end = end if situation.storage_hm3 < dead - slack else np.maximum(end, dead)
    return float(((end < low - slack) | (end > high + slack)).mean())


#: Full is a storage of at least this part of the range of storages, and spill more than this part of a release.
_FULL, _SPILL = 0.995, 5e-4
#: Firm power is made that is missed by no more than this part.
_FIRM = 1 - 1e-6


@dataclass(frozen=True, eq=False)
class Outlook:
    """Futures from the month that is decided on, in arrays of shape (members, months).

    Parameters
    ----------
    steps, calendar_month : ndarray of int, shape (months,)
        Steps of the water year, from 0, and their calendar months.
    upper_hm3 : ndarray, shape (months,)
        The highest storage at the end of each month.
    storage_hm3 : ndarray, shape (members, months + 1)
    release_m3s, spill_m3s, power_mw : ndarray, shape (members, months)
    highest_hm3 : float
        The highest storage that the reservoir may have in any month, and the lowest.
    lowest_hm3 : float
    firm_mw : float or None
        Power that the reservoir's file promises.
    """

    steps: NDArray[np.int64]
    calendar_month: NDArray[np.int64]
    upper_hm3: FloatArray
    storage_hm3: FloatArray
    release_m3s: FloatArray
    spill_m3s: FloatArray
    power_mw: FloatArray
    highest_hm3: float
    lowest_hm3: float
    firm_mw: float | None

    @property
    def refill_probability(self) -> float:
        """Part of the futures in which the reservoir is full at the end of some month."""
        full = self.lowest_hm3 + _FULL * (self.highest_hm3 - self.lowest_hm3)
        return float((self.storage_hm3[:, 1:].max(axis=1) >= full).mean())

    @property
    def spill_probability(self) -> float:
        """Part of the futures in which water passes the turbines by in some month."""
        return float((self.spill_m3s > _SPILL * self.release_m3s).any(axis=1).mean())

    @property
    def firm_probability(self) -> float | None:
        """Part of the futures in which every month makes the firm power; None where none is promised."""
        return None if self.firm_mw is None else float((self.power_mw >= _FIRM * self.firm_mw).all(axis=1).mean())


def highest_storage(plant: Reservoir, situation: Situation) -> float:
    """Highest storage at the end of the month, hm3, with the flood space that its index asks for, if that is known."""
    upper, space = float(plant.storage_bounds_hm3[1, situation.step]), plant.flood_space
    if space is None or situation.flood_index is None:
        return upper
    index = np.full((1, len(plant.months)), situation.flood_index)
    return min(upper, float(space.upper_of(index, plant.step, plant.first_month)[0, situation.step]))


def step_of_month(plant: Reservoir, month: int) -> int:
    """Step of the water year that is a calendar month."""
    return int(np.flatnonzero(plant.months == month)[0])


def alike(schedule: pd.DataFrame, plant: Reservoir, month: int, situation: Situation) -> AnalogueYears:
    """Find the optimised years whose month began most like this one, by storage and inflow.

    Parameters
    ----------
    schedule : DataFrame
        Months of a plan, see `schedule_table`.
    plant : Reservoir
    month : int
        Calendar month.
    situation : Situation
    """
    rows = schedule[schedule["month"] == month]
    storage = rows["storage_start_hm3"].to_numpy(float) - situation.storage_hm3
    inflow = rows["inflow_m3s"].to_numpy(float) - situation.inflow_m3s
    active = float(plant.storage_upper_hm3.max() - plant.storage_lower_hm3.min())
    scales = (
        max(float(storage.std()), LEAST_SPREAD * active, 1e-9),
        max(float(inflow.std()), LEAST_SPREAD * float(rows["inflow_m3s"].mean()), 1e-9),
    )
    distance = np.hypot(storage / scales[0], inflow / scales[1])
    most = max(FEWEST_ALIKE, round(PART_ALIKE * len(rows)))
    order = np.argsort(distance, kind="stable")
    near = np.sort(order[:most][distance[order[:most]] <= FARTHEST])
    release = rows["release_m3s"].to_numpy(float)[near]
    names = [rows[name].to_numpy() for name in ("member", "year") if name in rows]
    labels = [": ".join(map(str, each)) for each in zip(*names, strict=True)]
    first = int(order[0])
    return AnalogueYears(
        tuple(labels[place] for place in near.tolist()),
        *((float(release.min()), float(np.median(release)), float(release.max())) if near.size else (np.nan,) * 3),
        labels[first],
        float(distance[first]),
        float(storage[first]),
        float(inflow[first]),
    )


#: The volume whose worth is told, hm3.
_VOLUME = 1.0


@dataclass(frozen=True)
class MarginalWorth:
    """The worth of one hm3 around a decision, in the unit of the objective: GWh per hm3 where that is energy.

    ``kept`` is what one hm3 more at the end of the month is worth later, by the table of the family ``source``. One hm3
    less released would make ``last`` less now, and one more ``more``: the two differ where the turbines are just full
    or the head falls. A decision is right where ``kept`` lies between them, unless a limit holds it.
    """

    source: str
    kept: float
    last: float
    more: float


def marginal_worth(rule: Rule, situation: Situation, advice: Advice) -> MarginalWorth | None:
    """Weigh a decision with the values of water that a rule knows; None of a rule that knows none.

    Parameters
    ----------
    rule : Rule
        Not necessarily the one that decided.
    situation : Situation
    advice : Advice
        The decision.
    """
    known = situation.inflow_m3s if rule.forecast is Forecast.MONTH else None
    kept = rule.water_value(situation.step, advice.end_storage_hm3, known, situation.inflow_before_m3s)
    physics = rule.physics
    if kept is None or physics is None:
        return None
    # Without the cost of violations: that says what a limit costs, not what water makes.
    flow = _VOLUME / physics.months.volume_per_flow[situation.step]
    releases = np.maximum(advice.release_m3s + np.array([-flow, 0.0, flow]), 0.0)
    made = physics.made(situation.step, situation.storage_hm3, releases, situation.inflow_m3s)
    less, now, more = made.tolist()
    return MarginalWorth(rule.family, kept, (now - less) / _VOLUME, (more - now) / _VOLUME)
