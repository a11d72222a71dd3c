"""A step of Bellman's recursion over the futures of an ensemble, as ``ensemble_values.cl`` has it.

A reservoir's steps are tables, which are read instead of curves: they are made with the functions of ``hydro/step.py``
in float64, and neither the kernel nor the compiled code knows any physics beside the water balance. Functions of a step
are written in the operations of `hydro.elementwise`, all in float32: on arrays of futures and storages in Python, on
numbers in the compiled recursion (`backward`), which runs on CPU threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.elementwise import choose, clip, every, greater, lesser, mean, whole

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]

#: Storages outside their bounds by less than this part of the largest are within: float32 tells no more.
ROUNDING = 1e-6

#: Numbers of a step that are the same at every storage, in the order of `StepTables.scalars`.
SCALARS = (
    "volume",
    "per_volume",
    "draft_lower",
    "draft_upper",
    "storage_lower",
    "storage_upper",
    "cost_below",
    "cost_above",
    "dead",
    "least",
    "nothing",
    "cost_short",
    "cost_missing",
)


@dataclass(frozen=True, eq=False)
class StepTables:
    """The steps of a water year.

    Parameters
    ----------
    storage_hm3 : tuple of float
        Lowest and highest of the storages that values are known at, which are evenly apart.
    states : int
        How many of them.
    scalars : ndarray, shape (steps, 13)
        Of each step: hm3 that 1 m3/s carries and its reciprocal, bounds of the draft (m3/s) and of the storage at its
        end (hm3), and the cost of a hm3 below and above them, in the unit of the objective. Of water that is not there
        (`hydro.step.there_is`): dead storage (hm3), the least draft and the draft that takes no water (m3/s), and what
        a m3/s costs that a draft is cut by below its lower bound down to the least one, and below that.
    losses_hm3 : ndarray, shape (steps, means)
        Evaporation and seepage, by mean storage, evenly from the lowest to the highest; zeros where there are none.
    benefit : ndarray, shape (steps, means, drafts)
        Benefit less the cost of unmet demands, by mean storage and by draft, evenly between 0 and `most_draft_m3s`.
    most_draft_m3s : float
    """

    storage_hm3: tuple[float, float]
    states: int
    scalars: FloatArray
    losses_hm3: FloatArray
    benefit: FloatArray
    most_draft_m3s: float

    @property
    def steps(self) -> int:
        """Steps of a water year."""
        return len(self.scalars)

    @property
    def grid_hm3(self) -> FloatArray:
        """Storages that values are known at."""
        return np.linspace(*self.storage_hm3, self.states)

    def in_float32(self) -> TableArrays:
        """As solvers read them."""
        low, high = self.storage_hm3
        _, means, drafts = self.benefit.shape
        return TableArrays(
            np.float32(low),
            np.float32((high - low) / (self.states - 1)),
            np.float32((self.states - 1) / (high - low)),
            np.float32((means - 1) / (high - low)),
            np.float32((drafts - 1) / self.most_draft_m3s),
            np.float32(ROUNDING * max(abs(low), abs(high))),
            bool(self.losses_hm3.any()),
            self.states,
            means,
            drafts,
            np.ascontiguousarray(self.scalars, np.float32),
            *(np.ascontiguousarray(each, np.float32).reshape(-1) for each in (self.losses_hm3, self.benefit)),
        )


class TableArrays(NamedTuple):
    """`StepTables` in float32.

    ``lowest``, ``spacing`` and ``states_per_hm3`` say where the storages begin and how far apart they are;
    ``means_per_hm3`` and ``drafts_per_m3s`` the same of the tables. A storage is within its bounds if it is outside by
    no more than ``rounding`` hm3. ``lossy`` tells whether any water is lost. ``losses`` and ``benefit`` hold the tables
    of all steps one behind the other, of ``means`` storages and ``drafts`` drafts.
    """

    lowest: Any
    spacing: Any
    states_per_hm3: Any
    means_per_hm3: Any
    drafts_per_m3s: Any
    rounding: Any
    lossy: bool
    states: int
    means: int
    drafts: int
    scalars: Any
    losses: Any
    benefit: Any


#: Drafts that are compared: at even distances over the whole range, then between the neighbours of the best.
INTERVALS, ROUNDS = 8, 3
#: Iterations for the storage at the end of a step with losses.
LOSS_ROUNDS = 3
_ZERO: Any = np.float32(0)


def best_value(tables: TableArrays, step: Any, storage: Any, inflow: Any, later: Float32Array, first: Any) -> Any:
    """Value of a storage at the start of a step: the best of the drafts between what fills and what empties.

    Parameters
    ----------
    tables : TableArrays
    step : int
    storage, inflow : float
    later : ndarray, shape (values,)
        Values of the storages at the end of the step, one future behind the other.
    first : int
        Place of the future's first value.
    """
    low: Any = draft_to_reach(tables, step, storage, tables.scalars[step, 5], inflow)
    high: Any = draft_to_reach(tables, step, storage, tables.scalars[step, 4], inflow)
    chosen: Any = low
    most: Any = value_of_draft(tables, step, storage, low, inflow, later, first)
    for searching in range(ROUNDS):
        width = (high - low) / np.float32(INTERVALS)
        begin = low
        for interval in range(1, INTERVALS + (1 if searching == 0 else 0)):
            draft = begin + np.float32(interval) * width
            value: Any = value_of_draft(tables, step, storage, draft, inflow, later, first)
            better = value > most
            chosen, most = choose(better, draft, chosen), choose(better, value, most)
        low, high = greater(chosen - width, low), lesser(chosen + width, high)
    return most


def draft_to_reach(tables: TableArrays, step: Any, storage: Any, end: Any, inflow: Any) -> Any:
    """Draft that a step ends at a storage with, within its bounds."""
    lost: Any = loss_at(tables, step, mean(storage, end)) if tables.lossy else _ZERO
    wanted = inflow + (storage - end - lost) * tables.scalars[step, 1]
    return clip(wanted, tables.scalars[step, 2], tables.scalars[step, 3])


def value_of_draft(
    tables: TableArrays, step: Any, storage: Any, draft: Any, inflow: Any, later: Float32Array, first: Any
) -> Any:
    """What a draft makes in a step, and the value of the storage that it leaves."""
    end: Any = end_with(tables, step, storage, draft, inflow)
    taken, missed = draft, _ZERO
    if not every(end >= tables.scalars[step, 8] - tables.rounding):
        taken, end = there_is(tables, step, storage, draft, end, inflow)
        missed = cost_of_cut(tables, step, taken)
    made = benefit_at(tables, step, mean(storage, end), taken)
    below = tables.scalars[step, 4] - tables.rounding - greater(end, tables.scalars[step, 8])
    above = end - tables.scalars[step, 5] - tables.rounding
    cost = greater(below, _ZERO) * tables.scalars[step, 6] + greater(above, _ZERO) * tables.scalars[step, 7]
    left: Any = between(later, first, tables.states, (end - tables.lowest) * tables.states_per_hm3)
    return made - cost - missed + left


def end_with(tables: TableArrays, step: Any, storage: Any, draft: Any, inflow: Any) -> Any:
    """Storage at the end of a step with a draft."""
    lossless = storage + (inflow - draft) * tables.scalars[step, 0]
    end = lossless
    if tables.lossy:
        for _ in range(LOSS_ROUNDS):
            end = lossless - loss_at(tables, step, mean(storage, end))
    return end


def there_is(tables: TableArrays, step: Any, storage: Any, draft: Any, end: Any, inflow: Any) -> Any:
    """A draft and the storage that it leads to, cut to the water that is there (`hydro.step.there_is`)."""
    dead, nothing = tables.scalars[step, 8], tables.scalars[step, 10]
    lost: Any = loss_at(tables, step, mean(storage, dead)) if tables.lossy else _ZERO
    most = inflow + (storage - dead - lost) * tables.scalars[step, 1]
    at_rest: Any = greater(end_with(tables, step, storage, nothing, inflow), _ZERO)
    short = end < dead - tables.rounding
    cut, left = clip(most, nothing, draft), choose(most > nothing, dead, at_rest)
    return choose(short, cut, draft), choose(short, left, end)


def cost_of_cut(tables: TableArrays, step: Any, draft: Any) -> Any:
    """Cost of what a draft misses: below its lower bound the withdrawal, and below the least draft the least release.

    Above 0 the tables of benefits know the withdrawal.
    """
    least = tables.scalars[step, 9]
    short = greater(tables.scalars[step, 2] - greater(draft, least), _ZERO) * tables.scalars[step, 11]
    return short + greater(least - draft, _ZERO) * tables.scalars[step, 12]


def loss_at(tables: TableArrays, step: Any, mean_storage: Any) -> Any:
    """Evaporation and seepage, hm3."""
    place = (mean_storage - tables.lowest) * tables.means_per_hm3
    return between(tables.losses, step * tables.means, tables.means, place)


def benefit_at(tables: TableArrays, step: Any, mean_storage: Any, draft: Any) -> Any:
    """Benefit of a draft at a mean storage."""
    means, drafts = tables.means, tables.drafts
    row: Any = clip((mean_storage - tables.lowest) * tables.means_per_hm3, _ZERO, np.float32(means - 1))
    column: Any = clip(draft * tables.drafts_per_m3s, _ZERO, np.float32(drafts - 1))
    above, left = lesser(whole(row), means - 2), lesser(whole(column), drafts - 2)
    down, right = row - np.float32(above), column - np.float32(left)
    place = (step * means + above) * drafts + left
    upper: Any = tables.benefit[place]
    upper = upper + right * (tables.benefit[place + 1] - upper)
    lower: Any = tables.benefit[place + drafts]
    lower = lower + right * (tables.benefit[place + drafts + 1] - lower)
    return upper + down * (lower - upper)


def between(values: Float32Array, first: Any, count: int, place: Any) -> Any:
    """Value at a place between even points, of which so many begin at `first`; held at the ends."""
    held: Any = clip(place, _ZERO, np.float32(count - 1))
    left = lesser(whole(held), count - 2)
    at: Any = first + left
    low: Any = values[at]
    return low + (held - np.float32(left)) * (values[at + 1] - low)
