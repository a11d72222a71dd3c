"""Bounds of years, and the storages from which each can be completed (Yu et al. 2020, eq. 11-17).

The backward recursion of eq. 16-17 uses the bounds of the release, not a particle's own later releases: the interval
is then the set of storages from which the year can still be completed, and it is the same for every particle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.compiled_year import MOST_UNROLLED
from reservoir.hydro.conditions import NO_CONDITIONS
from reservoir.hydro.reach import draw_in, follow_corridor, left_by_losses
from reservoir.hydro.record_conditions import RecordConditions, stacked
from reservoir.hydro.record_terms import RecordTerms, stacked_terms
from reservoir.hydro.rows import Lake, YearRows, empty_years
from reservoir.hydro.step import volume_gained

FloatArray = NDArray[np.float64]

#: Reachable bounds are drawn in by this part of the largest storage, so that rounding never asks for a release just
#: outside its bounds.
EXACT_MARGIN = 1e-12


@dataclass(frozen=True, eq=False)
class Limits:
    """Inflow and bounds of horizons with equally many steps, all of them cyclic or none: "years" here and below.

    Arrays have shape (years, steps) unless said otherwise. ``limits[i]`` is one year: the same without the axis of
    years, as are all results; a slice or a list of places is some of the years.

    Parameters
    ----------
    inflow_m3s : ndarray
        Mean inflow of each step.
    hm3_per_m3s : ndarray
        hm3 that 1 m3/s carries in each step.
    release_lower_m3s, release_upper_m3s : ndarray
        Bounds of the release (eq. 11).
    storage_lower_hm3, storage_upper_hm3 : ndarray
        Bounds of the storage at the end of each step (eq. 12); where the end is fixed, both are it (eq. 13).
    initial_storage_hm3 : ndarray, shape (years,), or None
        Storage at the start; None of cyclic years, where it is chosen within `start_bounds_hm3`.
    start_bounds_hm3 : ndarray, shape (years, 2)
        Between which the start may be chosen; both the initial storage where that is fixed.
    dead_hm3 : ndarray, shape (years,)
        Storage below which no water can be released: the lowest bound that the reservoir has.
    conditions : RecordConditions or None
        Losses of the lake and demands on the plant, if there are any.
    terms : RecordTerms or None
        Of the objective, unless it is energy.
    """

    inflow_m3s: FloatArray
    hm3_per_m3s: FloatArray
    release_lower_m3s: FloatArray
    release_upper_m3s: FloatArray
    storage_lower_hm3: FloatArray
    storage_upper_hm3: FloatArray
    initial_storage_hm3: FloatArray | None
    start_bounds_hm3: FloatArray
    dead_hm3: FloatArray
    conditions: RecordConditions | None = None
    terms: RecordTerms | None = None

    def __len__(self) -> int:
        return len(self.inflow_m3s)

    def __getitem__(self, years: int | slice | NDArray[np.integer]) -> Limits:
        columns = (getattr(self, field.name) for field in fields(self))
        arrays: Any = (None if column is None else column[years] for column in columns)
        return Limits(*arrays)

    @classmethod
    def of(cls, years: Sequence[Limits]) -> Limits:
        """Limits of years that were made one by one, at least one."""
        columns = {name: [getattr(year, name) for year in years] for name in _ARRAYS}
        arrays: Any = {name: None if each[0] is None else np.stack(each) for name, each in columns.items()}
        conditions, terms = [year.conditions for year in years], [year.terms for year in years]
        return cls(**arrays, conditions=stacked(conditions), terms=stacked_terms(terms))

    @property
    def steps(self) -> int:
        """Number of steps of a year."""
        return int(self.inflow_m3s.shape[-1])

    @property
    def cyclic(self) -> bool:
        """Whether the years end where they began, at a storage the plan chooses."""
        return self.initial_storage_hm3 is None

    @property
    def capacity_hm3(self) -> FloatArray:
        """Largest storage that any bound of a year allows, shape (years,)."""
        return np.asarray(np.maximum(self.storage_upper_hm3.max(axis=-1), self.start_bounds_hm3[..., 1]))

    @property
    def reaches_down(self) -> bool:
        """Whether losses take the lake below dead storage in some year whatever is done (`reaching_down`)."""
        return bool(np.any(self.storage_lower_hm3 < np.asarray(self.dead_hm3)[..., np.newaxis]))

    def starting_at(self, storage_hm3: float | FloatArray) -> Limits:
        """Fix the start of each year, and the end too where it is cyclic."""
        start = np.broadcast_to(np.asarray(storage_hm3, np.float64), self.inflow_m3s.shape[:-1])
        lower, upper = self.storage_lower_hm3.copy(), self.storage_upper_hm3.copy()
        if self.cyclic:
            lower[..., -1] = upper[..., -1] = start
        return replace(
            self,
            storage_lower_hm3=lower,
            storage_upper_hm3=upper,
            initial_storage_hm3=start,
            start_bounds_hm3=np.stack([start, start], axis=-1),
        )

    @property
    def net_inflow_m3s(self) -> FloatArray:
        """Inflow less the withdrawal that is demanded."""
        return self.inflow_m3s if self.conditions is None else self.inflow_m3s - self.conditions.withdrawal_m3s

    @property
    def least_draft_m3s(self) -> FloatArray:
        """Least draft (`conditions`): the least release, less the withdrawal that can be cut."""
        least = self.release_lower_m3s
        return least if self.conditions is None else least - self.conditions.withdrawal_m3s

    def delivering(self) -> Limits:
        """The same with withdrawals that cannot be cut."""
        if self.conditions is None:
            return self
        none = replace(self.conditions, withdrawal_m3s=np.zeros_like(self.inflow_m3s))
        return replace(self, inflow_m3s=self.net_inflow_m3s, conditions=none)

    def gains_hm3(self) -> tuple[FloatArray, FloatArray]:
        """Storage gained in each step with the least and with the most draft, before evaporation and seepage."""
        most = volume_gained(self.net_inflow_m3s, self.least_draft_m3s, self.hm3_per_m3s)
        least = volume_gained(self.net_inflow_m3s, self.release_upper_m3s, self.hm3_per_m3s)
        return most, least

    @property
    def gain_at_rest_hm3(self) -> FloatArray:
        """Storage gained in each step if nothing is released or withdrawn, before evaporation and seepage."""
        return np.asarray(volume_gained(self.inflow_m3s, 0.0, self.hm3_per_m3s))

    def arrays(
        self,
        margin: float = EXACT_MARGIN,
        dtype: type = np.float64,
        lake: tuple[Any, Any] | None = None,
        saving: bool | None = None,
    ) -> YearRows:
        """The years, or the year, as compiled code reads them: one array.

        Parameters
        ----------
        margin : float
            By what part of the largest storage reachable bounds are drawn in.
        dtype : type
            Of the arrays.
        lake : tuple, optional
            Forms of the curves of area and seepage; by default they are exact. Not read in float64.
        saving : bool, optional
            See `reachable_storage`; by default with a margin of searches in float32.
        """
        slack = margin * self.capacity_hm3
        saving = margin > EXACT_MARGIN if saving is None else saving
        years = self._step_rows(margin)
        reach = reachable_storage(self, slack, saving=saving, losses=years)
        drift, tilt, middle = _drift(self, slack, years)
        found = dict(zip(("reach_lower", "reach_upper", "drift_lower", "drift_upper"), (*reach, *drift), strict=True))
        if years.lake:
            found |= {"tilt_lower": tilt[0], "tilt_upper": tilt[1]}
            years.middle_start[:] = middle
        for name, row in found.items():
            getattr(years, name)[:] = row.reshape(-1, self.steps)
        if self.inflow_m3s.ndim == 1:
            years = years._replace(rows=years.rows[0, 0], numbers=years.numbers[0, 0])
        if dtype == np.float64:
            return years
        unrolled = (0,) * (self.steps if self.steps <= MOST_UNROLLED else 0)
        return years.converted(dtype, years.lake if lake is None else Lake(*lake), unrolled)

    def _step_rows(self, margin: float) -> YearRows:
        """The years in float64, many of them or one, with all but what depends on later steps."""
        conditions, terms, volume = self.conditions, self.terms, self.hm3_per_m3s
        lake: Lake | tuple[()] = () if conditions is None else conditions.lake
        count = self.inflow_m3s.size // self.steps
        years = empty_years(count, self.steps, lake, priced=terms is not None, cyclic=self.cyclic)
        least_hm3 = (self.release_lower_m3s * volume).max(axis=-1)
        values: dict[str, Any] = {
            "inflow": self.net_inflow_m3s,
            "hm3_per_m3s": volume,
            "release_lower": self.least_draft_m3s,
            "release_upper": self.release_upper_m3s,
            "storage_lower": self.storage_lower_hm3,
            "storage_upper": self.storage_upper_hm3,
            "start": 0.0 if self.initial_storage_hm3 is None else self.initial_storage_hm3,
            "capacity": self.capacity_hm3,
            "dead": self.dead_hm3,
            "per_missing": np.divide(1.0, least_hm3, out=np.zeros_like(least_hm3), where=least_hm3 > 0),
        }
        if conditions is not None:
            values |= conditions.fields(volume, margin) | conditions.numbers
        if terms is not None:
            values |= terms.of_steps._asdict()
        for name, value in values.items():
            getattr(years, name)[:] = value
        return years

    def joined(self, years: int) -> Limits:
        """Consecutive horizons joined, so many at a time; they divide the number of horizons."""
        shape = len(self) // years, years * self.steps
        per_step = set(_ARRAYS) - set(OF_HORIZON)
        return replace(
            self,
            **{name: getattr(self, name).reshape(shape) for name in per_step},
            initial_storage_hm3=None if self.initial_storage_hm3 is None else self.initial_storage_hm3[::years],
            start_bounds_hm3=self.start_bounds_hm3[::years],
            dead_hm3=self.dead_hm3[::years],
            conditions=None if self.conditions is None else self.conditions.reshaped(*shape),
            terms=None if self.terms is None else self.terms.reshaped(*shape),
        )


#: A storage beyond a bound by less than this part of the largest is so by rounding.
_SLACK = 1e-9
#: The fields of `Limits` that are arrays.
_ARRAYS = tuple(field.name for field in fields(Limits) if field.name not in ("conditions", "terms"))
#: Those that have no axis of steps.
OF_HORIZON = ("initial_storage_hm3", "start_bounds_hm3", "dead_hm3")


def reachable_storage(
    limits: Limits, slack_hm3: float | FloatArray = 0.0, *, saving: bool = False, losses: YearRows | None = None
) -> tuple[FloatArray, FloatArray]:
    """Storages at the end of each step from which the rest of the year can be completed (eq. 16-17).

    Where a lake sinks below dead storage whatever is done, no water is held back before: what saving is worth, its
    price decides.

    Parameters
    ----------
    limits : Limits
        A cyclic year is taken with an open end.
    slack_hm3 : float or ndarray, shape (years,)
        How far each step of the recursion is drawn in.
    saving : bool
        Hold water back nevertheless where the lake comes up again, for searches that price alone leads astray.
    losses : YearRows, optional
        The years' rows, if they are made already.

    Returns
    -------
    lower, upper : ndarray, shape (years, steps)
        Always within the storage bounds and never crossed; where no storage would do, the nearest bound.
    """
    gains = _drawn_in(limits.gains_hm3(), slack_hm3)
    least, dead = _of_minimum(limits, limits.dead_hm3)

    def drawn(storage_lower: FloatArray, release_lower: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower, upper = (np.array(bound, order="C") for bound in (storage_lower, limits.storage_upper_hm3))
        rows: list[Any] = [*_as_years(limits, *gains, lower, upper, losses=losses), release_lower, dead]
        draw_in(*rows)
        return lower, upper

    lower, upper = drawn(limits.storage_lower_hm3, least)
    if not limits.reaches_down:
        return lower, upper
    highest = _followed(limits, limits.gain_at_rest_hm3, (lower, upper))[1]
    sinks = _sinks(limits, highest)
    if not saving:
        freed = np.logical_or.accumulate(sinks[..., ::-1], axis=-1)[..., ::-1]
        return np.where(freed, limits.storage_lower_hm3, lower), upper
    # Below dead storage to the end, and above the bounds, no step has anything of what was saved.
    sinks = sinks & (highest[..., 1:] >= limits.storage_lower_hm3)
    freed = np.logical_and.accumulate(sinks[..., ::-1], axis=-1)[..., ::-1]
    lower, _ = drawn(
        np.where(freed, -np.inf, limits.storage_lower_hm3), np.where(freed.reshape(least.shape), 0.0, least)
    )
    return np.where(freed, limits.storage_lower_hm3, lower), upper


def _sinks(limits: Limits, highest_hm3: FloatArray) -> NDArray[np.bool_]:
    """Steps that end below dead storage by losses whatever is done, shape (years, steps)."""
    empty = limits.dead_hm3 - _SLACK * limits.capacity_hm3
    return np.asarray(highest_hm3[..., 1:] < empty[..., np.newaxis])


def corridor(limits: Limits) -> tuple[FloatArray, FloatArray]:
    """Storages that can be reached from the start and from which the year can be completed.

    Where no storage within the bounds can be reached, the reachable one nearest to them stands alone. Where there is
    too little water to stay above dead storage, they reach down to what losses alone leave.

    Returns
    -------
    lower, upper : ndarray, shape (years, steps + 1)
        From the start of the first step to the end of the last.
    """
    return _followed(limits, limits.gain_at_rest_hm3, reachable_storage(limits))[:2]


def _followed(
    limits: Limits, gain_at_rest_hm3: FloatArray, reach_hm3: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The corridor, and what is missing of the least drafts whatever was done before, hm3, shape (years, steps)."""
    lower, upper = (np.empty((*limits.inflow_m3s.shape[:-1], limits.steps + 1)) for _ in range(2))
    lower[..., 0], upper[..., 0] = limits.start_bounds_hm3[..., 0], limits.start_bounds_hm3[..., 1]
    missing = np.zeros_like(limits.inflow_m3s)
    rows: list[Any] = [*_as_years(limits, *limits.gains_hm3(), *reach_hm3)]
    rows += [gain_at_rest_hm3.reshape(-1, limits.steps), np.reshape(limits.dead_hm3, -1)]
    rows += [each.reshape(-1, each.shape[-1]) for each in (lower, upper, missing)]
    follow_corridor(*rows)
    return lower, upper, missing


def _of_minimum(limits: Limits, dead_hm3: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least releases and dead storage as `draw_in` reads them."""
    return limits.release_lower_m3s.reshape(-1, limits.steps), np.array(dead_hm3, np.float64).reshape(-1)


def _as_years(limits: Limits, *rows: FloatArray, losses: YearRows | None = None) -> tuple[Any, ...]:
    """Rows of one year or of many as those of many, the volume of a flow, and the years with losses, or nothing."""
    each_year = [each.reshape(-1, limits.steps) for each in (*rows, limits.hm3_per_m3s)]
    if limits.conditions is None:
        return *each_year, NO_CONDITIONS
    return *each_year, losses or limits._step_rows(EXACT_MARGIN)


def satisfiable(limits: Limits) -> NDArray[np.bool_]:
    """Whether some releases within their bounds keep the storage within its bounds all year, shape (years,).

    With all withdrawals that are demanded; nothing is said of a lowest power, nor of the change of release.
    """
    # Of a cyclic year the middle start: the interval holds good starts only, if there are any.
    fixed = limits.starting_at(limits.start_bounds_hm3.sum(axis=-1) / 2)
    delivering = fixed.delivering()
    lower, upper, missing = _followed(delivering, fixed.gain_at_rest_hm3, reachable_storage(delivering))
    slack = _SLACK * fixed.capacity_hm3[..., np.newaxis]
    kept = (upper[..., 1:] >= fixed.storage_lower_hm3 - slack) & (lower[..., 1:] <= fixed.storage_upper_hm3 + slack)
    return np.asarray(np.all(kept & (missing <= slack), axis=-1))


def reaching_down(limits: Limits) -> Limits:
    """Let years from a start end steps below dead storage in which losses take the lake there whatever is done.

    That is no violation of any decision, as far as losses alone take a lake that was down to dead storage before.
    """
    if limits.conditions is None:
        return limits
    _, upper, _ = _followed(limits, limits.gain_at_rest_hm3, reachable_storage(limits))
    sunk = np.flatnonzero(_sinks(limits, upper).any(axis=-1))
    if not sunk.size:
        return limits
    years, lower = limits[sunk], limits.storage_lower_hm3.copy()
    left, dead = np.empty(years.inflow_m3s.shape), years.dead_hm3
    start, at_rest = np.array(years.initial_storage_hm3), _as_years(years, years.gain_at_rest_hm3)
    rows: list[Any] = [start, *at_rest, np.array(dead), left]
    left_by_losses(*rows)
    ends = years.storage_lower_hm3
    lower[sunk] = np.where(ends == dead[:, np.newaxis], left, ends)
    return replace(limits, storage_lower_hm3=lower)


def _drawn_in(gains_hm3: tuple[FloatArray, FloatArray], slack_hm3: float | FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gains with the least and the most release, drawn in by each year's slack."""
    (most, least), slack = gains_hm3, np.asarray(slack_hm3)[..., np.newaxis]
    return most - slack, least + slack


def later_sum(gains: FloatArray) -> FloatArray:
    """Sum of the gains of all later steps, for the end of each step; shape (..., steps)."""
    sums = np.zeros_like(gains)
    sums[..., :-1] = np.cumsum(gains[..., :0:-1], axis=-1)[..., ::-1]
    return sums


class _Drift(NamedTuple):
    """How the reachable bounds of a cyclic year follow its start, which is also its end.

    Without the bounds of the months, they are ``start - drift + tilt * (start - middle)``, lower and upper.
    """

    drift: tuple[FloatArray, FloatArray]
    tilt: tuple[FloatArray, FloatArray]
    middle_hm3: FloatArray


def _drift(limits: Limits, slack_hm3: FloatArray, years: YearRows) -> _Drift:
    gains = _drawn_in(limits.gains_hm3(), slack_hm3)
    middle = limits.start_bounds_hm3.mean(axis=-1)
    if limits.conditions is None or not limits.cyclic:
        none = np.zeros_like(gains[0])
        return _Drift((later_sum(gains[0]), later_sum(gains[1])), (none, none), middle)
    spread = 1e-3 * limits.capacity_hm3
    found = []
    for ends in (middle - spread, middle + spread):
        # Storages that lead to this end of the year, whatever the bounds of the months.
        before = tuple(np.full_like(gains[0], bound) for bound in (-np.inf, np.inf))
        for each in before:
            each[..., -1] = ends
        of_minimum = _of_minimum(limits, np.full_like(limits.dead_hm3, -np.inf))
        rows: list[Any] = [*_as_years(limits, *gains, *before, losses=years), *of_minimum]
        draw_in(*rows)
        found.append(before)
    below, above = found
    width = 2 * spread[..., np.newaxis]
    drifts = tuple(middle[..., np.newaxis] - (low + high) / 2 for low, high in zip(below, above, strict=True))
    tilts = tuple((high - low) / width - 1 for low, high in zip(below, above, strict=True))
    return _Drift((drifts[0], drifts[1]), (tilts[0], tilts[1]), middle)
