"""Steps of a horizon as the bounds of boxes read them: one array, ``rows[field, step]``; kernels get it as it stands.

A new term, a price of the water on a link or the range of a flow that is free, is a field here and where it is read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import inlined_as_written
from reservoir.hydro.limits import Limits
from reservoir.hydro.rows import NO_TAILWATER, TERMS, UNLIMITED, Lake, without_negative_prices
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.solvers.dp.free_flow import FreeFlow

FloatArray = NDArray[np.float64]

#: Schedules are bounded that keep every limit but for this part: of the largest storage, and of the largest release.
#: What float64 rounds in a schedule, or a table of it, is less.
TOLERANCE = 1e-9
#: `conditions` calls a demand kept that is missed by less than 1e-6 of it, a minimum release for want of water as well;
#: a little more is allowed for here.
DEMAND_TOLERANCE = 1.1e-6
#: More than what a few operations on numbers round.
_ROUNDED = 1e-14
#: In place of bounds of a free flow, m3/s.
_ANY_FLOW = 1e15
#: Segments of the mean storage of a step at most, of which something is told (`ByMean`).
SEGMENTS = 128
#: Of those the mean storage has parts with so much room each, which are told of at a time on a device.
OF_PART = 8
#: Fields of a step; those that `hydro.rows` has too mean the same but for tolerances.
(
    INFLOW,  # less the withdrawal, m3/s
    HM3_PER_M3S,
    RELEASE_LOWER,  # with its tolerance, as the next, m3/s
    RELEASE_UPPER,
    AT_REST,  # draft that takes nothing of the lake, with its tolerance: of those that end below dead storage, m3/s
    MISSING_PRICE,  # of a m3/s missing of the least release, where touching dead storage allows it; 0 elsewhere
    MISSING_AS_NONE,  # what counts as nothing of it there, m3/s; in the least release where there is no such price
    SPARE,  # by how much more than the draft the release may be: the shortage that counts as none, m3/s
    DEAD,  # hm3
    TOUCHED,  # up to where a step touches dead storage that ends there: more by the tolerance, hm3
    OPERATING_STORAGE,  # mean storage below which the turbines stand still, hm3
    HAS_LOSSES,  # 0 or 1: whether there is a lake
    EVAPORATION,
    PLANT_FACTOR,
    POWER_LOWER,  # with its tolerance; below 0 where none is demanded
    OFFSET,
    POWER_VALUE,
    POWER_TARGET,
    POWER_COST,
    POWER_COST_SQUARED,
    POWER_COST_MOST,
    SUPPLY_TARGET,
    SUPPLY_COST_SQUARED,
    FREE_LOWER,  # what flows in freely besides (`Stages.free`), with its tolerance, m3/s
    FREE_UPPER,
    FREE_PRICE,  # of a m3/s of it, in the unit of the objective
    RELEASE_PAID,  # for a m3/s of the release
    TURBINED_PAID,  # for a m3/s of what the turbines take, besides
    TURBINED_POWER,  # MW for which they take no more, where that is less than is installed
    TAILWATER,  # m, between which the lake below may be: the tailrace is no lower
    TAILWATER_MOST,
    FREE_SLACK,  # by how much a bound may be larger for the width of its part of the free flow
    LEVEL_PAID,  # for a metre by which the lake below is above its lowest (`Stages.high`)
    LEVEL_CHARGED,  # for a metre by which its own level is above its lowest, which is in the offset
) = range(34)
_names = list(globals())
#: Their names, in order.
FIELDS = tuple(name.lower() for name in _names[_names.index("INFLOW") :])


class ByMean(NamedTuple):
    """What a step comes to at most that ends where it begins and whatever flows in freely, on segments of its storage.

    Parameters
    ----------
    number : ndarray of int, shape (steps,)
        Segments of each step; 0 where nothing is told.
    edges : ndarray, shape (steps, room + 1)
        Their ends, hm3.
    value, slope, over : ndarray, shape (steps, room)
        At the middle of each segment, and over the storage: a straight line that is no less; and by about how much it
        may be more than the best release comes to.
    """

    number: NDArray[np.int64]
    edges: FloatArray
    value: FloatArray
    slope: FloatArray
    over: FloatArray

    @staticmethod
    def parts(room: int) -> tuple[int, int]:
        """Parts of the mean storage, and how many segments each has room for."""
        parts = max(room // OF_PART, 1)
        return parts, room // parts

    @classmethod
    def empty(cls, steps: int, room: int) -> ByMean:
        """Nothing is told yet (`boxes.fill_by_mean`)."""
        return cls(np.zeros(steps, np.int64), np.empty((steps, room + 1)), *np.zeros((3, steps, room)))


class Stages(NamedTuple):
    """Steps of one horizon; in Python ``stages.inflow`` is the row of that name, and so on.

    Parameters
    ----------
    rows : ndarray, shape (fields, steps)
    lake : Lake or ()
        Curves of its area and seepage; nothing where there are no losses: compiled code has a form with and one without
        (`boxes.loss_jet`).
    free : FreeFlow or ()
        Of a reservoir with a free flow (`freed`), where the best releases are; else nothing, as of the lake.
    by_mean : ByMean or ()
        Of such a reservoir.
    high : ndarray, shape (fields, steps), or ()
        The rows with the lake below as high as it may be, where the plant is paid for its level.
    """

    rows: FloatArray
    lake: Any
    free: Any = ()
    by_mean: Any = ()
    high: Any = ()

    def __getattr__(self, name: str) -> FloatArray:
        """A row by name, shape (steps,)."""
        if name not in FIELDS:
            raise AttributeError(name)
        row: FloatArray = self.rows[FIELDS.index(name)]
        return row

    def changed(self, **values: Any) -> Stages:
        """A copy with other rows, by name."""
        rows = self.rows.copy()
        for name, value in values.items():
            rows[FIELDS.index(name)] = value
        return self._replace(rows=rows)._below(self.high[TAILWATER]) if len(self.high) else self._replace(rows=rows)

    def _below(self, highest_m: FloatArray) -> Stages:
        """With the level up to which the lake below may be, which the plant is paid for."""
        high = self.rows.copy()
        high[[TAILWATER, TAILWATER_MOST]] = highest_m
        return self._replace(high=high)

    @property
    def without_range(self) -> Stages:
        """Whatever flows in freely, and with the largest release wherever a step ends."""
        return self.changed(free_lower=-_ANY_FLOW, free_upper=_ANY_FLOW, missing_price=0.0, dead=-1.0)

    @property
    def net(self) -> Stages:
        """With the free flow taken of the release: of the same range of storages, which knows nothing of it."""
        if not self.free:
            return self
        lower = np.nextafter(self.release_lower - self.free_upper, -np.inf)
        upper = np.nextafter(self.release_upper - self.free_lower, np.inf)
        return self.changed(release_lower=lower, release_upper=upper)


@inlined_as_written
def power_demanded(stages: Stages, step: int) -> float:
    """Lowest power of a step with its tolerance, MW; below 0 where none is demanded."""
    power: float = stages.rows[POWER_LOWER, step]
    return power


def without_tolerance_of_power(stages: Stages) -> Stages:
    """Steps that demand all of their lowest power, for searches."""
    return stages.changed(power_lower=stages.power_lower / (1 - DEMAND_TOLERANCE))


def stages_of(limits: Limits, missing_penalty: float = 0.0) -> Stages:
    """The steps of one horizon; limits to the change of release are left out, which makes the bound no smaller.

    Parameters
    ----------
    limits : Limits
    missing_penalty : float
        What a relative violation of the least release costs, if it may fall short where dead storage is touched: of a
        horizon without withdrawals, which would be cut before it.
    """
    year, volume = limits.arrays(), np.array(limits.hm3_per_m3s, np.float64)
    least, most = (np.array(each, np.float64) for each in (limits.release_lower_m3s, limits.release_upper_m3s))
    allowed = TOLERANCE * (float(limits.capacity_hm3) / volume + most)
    # Only dead storage cuts the least release: in steps that may end there and must release something.
    may_touch = (limits.storage_lower_hm3 <= limits.dead_hm3) & (limits.release_lower_m3s > 0)
    price = np.where(may_touch, missing_penalty * year.per_missing * volume, 0.0)
    as_none = DEMAND_TOLERANCE * (limits.release_lower_m3s * limits.hm3_per_m3s).max() / limits.hm3_per_m3s
    as_none = np.where(may_touch, as_none.clip(max=limits.release_lower_m3s), 0.0)
    fields: dict[str, Any] = {"power_lower": -1.0, "plant_factor": 1.0, "operating_storage": -1.0}
    fields |= {"power_value": volume * GWH_PER_MW_VOLUME, "power_cost_most": UNLIMITED}  # energy, unless the year says
    fields |= {"turbined_power": UNLIMITED, "tailwater": NO_TAILWATER, "tailwater_most": NO_TAILWATER}
    lake: Lake | tuple[()] = ()
    spare = np.zeros(limits.steps)
    if year.lake:
        spare = np.divide(DEMAND_TOLERANCE, year.per_shortage, out=spare, where=year.withdrawal > 0)
        fields["power_lower"] = np.where(year.power_lower > 0, year.power_lower * (1 - DEMAND_TOLERANCE), -1.0)
        fields["operating_storage"] = year.operating_storage
        fields |= {name: getattr(year, name) for name in ("evaporation", "plant_factor")}
        fields |= {"turbined_power": year.power_upper, "tailwater": year.tailwater, "tailwater_most": year.tailwater}
        lost = np.any(year.evaporation != 0) or np.any(year.lake.seepage.coefficients != 0)
        lake = year.lake if lost else ()
    if year.priced:
        fields |= without_negative_prices({name: getattr(year, name) for name in TERMS}, fields["power_lower"])
        paid = np.where(year.power_value < 0, np.abs(fields["offset"]) + np.abs(year.offset), 0.0)
        fields["offset"] = fields["offset"] + _ROUNDED * paid
    fields |= {
        "inflow": limits.net_inflow_m3s,
        "hm3_per_m3s": volume,
        "release_lower": least - allowed - spare - np.where(price > 0, 0.0, as_none),
        "release_upper": most + allowed,
        "at_rest": allowed + np.array(limits.net_inflow_m3s - limits.inflow_m3s, np.float64),
        "missing_price": price,
        "missing_as_none": np.where(price > 0, as_none, 0.0),
        "spare": spare,
        "dead": limits.dead_hm3,
        "touched": limits.dead_hm3 + TOLERANCE * limits.capacity_hm3,
        "has_losses": bool(lake),
    }
    return Stages(np.zeros((len(FIELDS), limits.steps)), lake).changed(**fields)


def freed(stages: Stages, free: FreeFlow, slack: float = 0.0) -> Stages:
    """Steps into which part of the inflow is free, within bounds that all that it may be is within.

    Bounds may be larger by the slack for its sake, in the unit of the objective: they are made of fewer parts then.
    """
    rounded = _ROUNDED * (np.abs(free.lower) + np.abs(free.upper))
    priced = stages.changed(
        free_lower=free.lower - TOLERANCE * np.abs(free.lower) - rounded,
        free_upper=free.upper + TOLERANCE * np.abs(free.upper) + rounded,
        free_price=free.price,
        release_paid=free.paid,
        turbined_paid=free.turbined,
        power_value=stages.power_value + free.power,
        free_slack=slack,
    )
    if len(free.levels):
        paid, rise, charged, lowest_m = free.levels
        priced = priced.changed(level_paid=paid, level_charged=charged, offset=priced.offset + charged * lowest_m)
        if np.any(rise):
            priced = priced._below(np.nextafter(priced.tailwater + rise, np.inf))
    return priced._replace(free=free, by_mean=ByMean.empty(len(free.lower), 0))
