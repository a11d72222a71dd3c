"""Rows of years as they are given, and the storages from which each can be completed (Yu et al. 2020, eq. 11-17).

The backward recursion of eq. 16-17 uses the bounds of the release, not a particle's own later releases: the interval
is then the set of storages from which the year can still be completed, and it is the same for every particle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.attributes import POWER_DEMAND, units_of
from reservoir.hydro.compiled_year import MOST_UNROLLED, draw_in, follow_corridor, left_by_losses
from reservoir.hydro.conditions import NO_CONDITIONS
from reservoir.hydro.curves.curve import constant
from reservoir.hydro.record_rows import NEVER_HM3, UNLIMITED_M3S
from reservoir.hydro.rows import ATTRIBUTE_FIELDS, FIELDS, NUMBERS, TERMS, Lake, YearRows, filled_years, per_shortage
from reservoir.hydro.step import volume_gained
from reservoir.hydro.units import HM3_PER_KM2_MM

FloatArray = NDArray[np.float64]
#: What is taken of an array of years.
_Taken = Callable[[FloatArray], FloatArray]

#: Reachable bounds are drawn in by this part of the largest storage, so that rounding never asks for a release just
#: outside its bounds.
EXACT_MARGIN = 1e-12
#: Part by which a lowest power is raised, over the margin of reachable bounds: that of float32 solvers is 1e-6, and
#: their curves change power by up to 2e-4.
POWER_PER_MARGIN = 200.0
#: Between which storages a year may start.
_STARTS = ("start_lower", "start_upper")


@cache
def _without_unit(name: str) -> str:
    """Name of the row or number that a name with its unit stands for."""
    stem = units_of(name)[0]
    return stem if name != "hm3_per_m3s" else name


@dataclass(frozen=True, eq=False)
class Limits:
    """Inflow and bounds of horizons with equally many steps, all of them cyclic or none: "years" here and below.

    ``limits.inflow_m3s`` is the row of that name of the one reservoir, shape (years, steps), ``limits.dead_hm3`` the
    number, shape (years,), and so on: names are those of `rows`, here with their units. ``limits[i]`` is one year: the
    same without the axis of years, as are all results; a slice or a list of places is some of the years.

    Parameters
    ----------
    rows : mapping of str to ndarray, shape (years, reservoirs, steps)
        What is given of each step, by field (`record_rows.record_rows`), and the terms of an objective that is not
        energy. Storages are those at the end of a step (eq. 12); where the end is fixed, both bounds are it (eq. 13).
        A row that is the same in all years is stored once: its stride over the years is 0.
    numbers : mapping of str to ndarray, shape (years, reservoirs)
        What is given of each year; ``start_lower`` and ``start_upper``, between which the start of a cyclic year may be
        chosen, are both the initial storage where that is fixed. Below ``dead`` no water can be released: it is the
        lowest bound that the reservoir has.
    lake : Lake or ()
        Curves of the lake that Python can call; nothing of a reservoir without losses and demands.
    cyclic : bool
        Whether the years end where they began, at a storage the plan chooses.
    """

    rows: Mapping[str, FloatArray]
    numbers: Mapping[str, FloatArray]
    lake: Lake | tuple[()] = ()
    cyclic: bool = True

    @classmethod
    def given(cls, rows: Mapping[str, ArrayLike], numbers: Mapping[str, ArrayLike], lake: Any = ()) -> Limits:
        """Years of one reservoir, that start anywhere within the bounds of their end, by rows of shape (years, steps).

        Numbers have the shape (years,), or stand for all years.
        """
        none = np.asarray(rows["inflow"], np.float64)[..., np.newaxis, :]
        bare = cls({"inflow": none}, {}, lake)
        made = bare.changed(**rows, **numbers)
        return made.changed(start_lower=made.storage_lower_hm3[..., -1], start_upper=made.storage_upper_hm3[..., -1])

    def __len__(self) -> int:
        return len(self.rows["inflow"])

    def __getitem__(self, years: int | slice | NDArray[np.integer]) -> Limits:
        return self._of(lambda row: row[years], lambda number: number[years])

    def _of(self, of_rows: _Taken, of_numbers: _Taken) -> Limits:
        """What functions take of each row, and of each number."""
        rows = {name: of_rows(row) for name, row in self.rows.items()}
        return replace(self, rows=rows, numbers={name: of_numbers(each) for name, each in self.numbers.items()})

    def __getattr__(self, name: str) -> FloatArray:
        if not name.startswith("_") and name not in ("rows", "numbers"):  # these are asked for before they are there
            stem = _without_unit(name)
            if stem in self.rows:
                return self.rows[stem][..., 0, :]
            if stem in self.numbers:
                return self.numbers[stem][..., 0]
        raise AttributeError(name)

    @classmethod
    def of(cls, years: Sequence[Limits]) -> Limits:
        """Limits of years that were made one by one, at least one."""
        rows, numbers = (
            {name: np.stack([given[name] for given in of_years]) for name in of_years[0]}
            for of_years in ([year.rows for year in years], [year.numbers for year in years])
        )
        return replace(years[0], rows=rows, numbers=numbers)

    def linked(self, arriving_m3s: FloatArray | None, tailwater_m: FloatArray | None) -> Limits:
        """With what links bring to the inflow, and the level of a lake that backs the plant up, where there are any."""
        limits = self if arriving_m3s is None else self.changed(inflow=self.inflow_m3s + arriving_m3s)
        return limits if tailwater_m is None else limits.changed(tailwater=tailwater_m)

    def changed(self, **values: ArrayLike) -> Limits:
        """With other rows, of shapes that broadcast to (years, steps), or numbers, by name; the others are not copied.

        ``start_bounds_hm3``, shape (years, 2), are both numbers of the start.
        """
        rows, numbers, shape = dict(self.rows), dict(self.numbers), self.inflow_m3s.shape
        if (bounds := values.pop("start_bounds_hm3", None)) is not None:
            values |= dict(zip(_STARTS, np.moveaxis(np.asarray(bounds), -1, 0), strict=True))
        for name, value in values.items():
            stem, array = _without_unit(name), np.asarray(value, np.float64)
            of_years = stem in NUMBERS or stem in _STARTS
            if not of_years and stem not in FIELDS:
                raise AttributeError(name)
            filled = shape[:-1] if of_years else shape
            array = array if array.shape == filled else np.broadcast_to(array, filled)
            if of_years:
                numbers[stem] = array[..., np.newaxis]
            else:
                rows[stem] = array[..., np.newaxis, :]
        return replace(self, rows=rows, numbers=numbers)

    def with_terms(self, terms: Mapping[str, ArrayLike]) -> Limits:
        """With other terms of the objective, or with none: energy."""
        rows = {name: row for name, row in self.rows.items() if name not in TERMS}
        return replace(self, rows=rows).changed(**terms)

    def with_conditions(self) -> Limits:
        """With losses and demands of nothing, where there are none: for code that reckons with them in all years."""
        if self.lake:
            return self
        nothing = dict.fromkeys(("evaporation", "withdrawal", ATTRIBUTE_FIELDS[POWER_DEMAND], "end_value"), 0.0)
        numbers = {"operating_storage": NEVER_HM3, "ramp_up": UNLIMITED_M3S, "ramp_down": UNLIMITED_M3S}
        lake = Lake(*(constant(0.0, (0.0, 1.0)) for _ in range(2)))
        return replace(self, lake=lake).changed(**nothing, **numbers, plant_factor=1.0)

    def from_step(self, first: int) -> Limits:
        """The steps from one on."""
        return self._of(lambda row: row[..., first:], lambda number: number)

    def joined(self, years: int) -> Limits:
        """Consecutive horizons joined, so many at a time; they divide the number of horizons."""
        count = len(self) // years

        def joined(row: FloatArray) -> FloatArray:
            return row.reshape(count, years, *row.shape[1:]).swapaxes(1, 2).reshape(count, row.shape[1], -1)

        return self._of(joined, lambda number: number[::years])

    def windows(self, years: NDArray[np.integer], steps: NDArray[np.integer]) -> Limits:
        """Steps of years, shape (windows, length), each window with the numbers of its year, shape (windows,)."""
        return self._of(lambda row: row[years[:, np.newaxis], :, steps].swapaxes(1, 2), lambda number: number[years])

    @property
    def steps(self) -> int:
        """Number of steps of a year."""
        return int(self.rows["inflow"].shape[-1])

    @property
    def priced(self) -> bool:
        """Whether the objective has terms: it is not energy."""
        return TERMS[0] in self.rows

    @property
    def ramps(self) -> bool:
        """Whether the release may change by so much only."""
        return bool(self.lake) and bool(np.min([self.ramp_up, self.ramp_down]) < UNLIMITED_M3S)

    @property
    def demands_power(self) -> bool:
        """Whether some step has a lowest power."""
        return bool(self.lake) and bool(np.any(self.power_demanded_mw > 0))

    @property
    def power_demanded_mw(self) -> FloatArray:
        """Lowest power of each step of a reservoir with demands, shape (years, steps)."""
        return self.rows[ATTRIBUTE_FIELDS[POWER_DEMAND]][..., 0, :]

    @property
    def initial_storage_hm3(self) -> FloatArray | None:
        """Storage at the start, shape (years,); None of cyclic years."""
        return None if self.cyclic else self.start_lower

    @property
    def start_bounds_hm3(self) -> FloatArray:
        """Between which storages the start may be chosen, shape (years, 2)."""
        return np.stack([self.start_lower, self.start_upper], axis=-1)

    @property
    def capacity_hm3(self) -> FloatArray:
        """Largest storage that any bound of a year allows, shape (years,)."""
        return np.asarray(np.maximum(self.storage_upper_hm3.max(axis=-1), self.start_upper))

    @property
    def reaches_down(self) -> bool:
        """Whether losses take the lake below dead storage in some year whatever is done (`reaching_down`)."""
        return bool(np.any(self.storage_lower_hm3 < self.dead_hm3[..., np.newaxis]))

    def begun_at(self, storage_hm3: ArrayLike) -> Limits:
        """Years that begin at a storage, shape (years,); of cyclic ones, the end is open."""
        return replace(self, cyclic=False).changed(start_lower=storage_hm3, start_upper=storage_hm3)

    def ending_within(self, lower_hm3: ArrayLike, upper_hm3: ArrayLike) -> Limits:
        """With other bounds of the storage at the end of the last step, shape (years,)."""
        ends = {}
        for name, end in (("storage_lower", lower_hm3), ("storage_upper", upper_hm3)):
            row = self.rows[name][..., 0, :]
            row = np.array(row[:1] if row.ndim == 2 and row.strides[0] == 0 and np.ndim(end) == 0 else row)
            row[..., -1] = end
            ends[name] = row
        return self.changed(**ends)

    def starting_at(self, storage_hm3: ArrayLike) -> Limits:
        """Fix the start of each year, and the end too where it is cyclic."""
        return (self.ending_within(storage_hm3, storage_hm3) if self.cyclic else self).begun_at(storage_hm3)

    @property
    def net_inflow_m3s(self) -> FloatArray:
        """Inflow less the withdrawal that is demanded."""
        return self.inflow_m3s - self.withdrawal_m3s if self.lake else self.inflow_m3s

    @property
    def least_draft_m3s(self) -> FloatArray:
        """Least draft (`conditions`): the least release, less the withdrawal that can be cut."""
        return self.release_lower_m3s - self.withdrawal_m3s if self.lake else self.release_lower_m3s

    def delivering(self) -> Limits:
        """The same with withdrawals that cannot be cut."""
        return self.changed(inflow=self.net_inflow_m3s, withdrawal=0.0) if self.lake else self

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
        derived = {"reach_lower": reach[0], "reach_upper": reach[1], **_drift(self, slack, years)}
        for name, row in derived.items():
            getattr(years, name)[:] = row.reshape(-1, self.steps)
        if self.inflow_m3s.ndim == 1:
            years = years._replace(rows=years.rows[0, 0], numbers=years.numbers[0, 0])
        if dtype == np.float64:
            return years
        unrolled = (0,) * (self.steps if self.steps <= MOST_UNROLLED else 0)
        return years.converted(dtype, years.lake if lake is None else Lake(*lake), unrolled)

    def _step_rows(self, margin: float) -> YearRows:
        """The years in float64, many of them or one, with all but what depends on later steps."""
        volume = self.hm3_per_m3s
        lake = Lake(*(curve.compiled() for curve in self.lake)) if self.lake else ()
        least_hm3 = (self.release_lower_m3s * volume).max(axis=-1)
        rows: dict[str, Any] = {name: row[..., 0, :] for name, row in self.rows.items()}
        numbers: dict[str, Any] = {
            **{name: number[..., 0] for name, number in self.numbers.items() if name not in _STARTS},
            "start": 0.0 if self.cyclic else self.start_lower,
            "capacity": self.capacity_hm3,
            "per_missing": np.divide(1.0, least_hm3, out=np.zeros_like(least_hm3), where=least_hm3 > 0),
        }
        if self.lake:
            rows |= {
                "inflow": self.net_inflow_m3s,
                "release_lower": self.least_draft_m3s,
                "evaporation": self.evaporation_mm * HM3_PER_KM2_MM,
                ATTRIBUTE_FIELDS[POWER_DEMAND]: self.power_demanded_mw * (1 + POWER_PER_MARGIN * margin),
                "per_shortage": per_shortage(self.withdrawal_m3s, volume),
            }
        return filled_years(rows, numbers, lake, cyclic=self.cyclic)


#: A storage beyond a bound by less than this part of the largest is so by rounding.
_SLACK = 1e-9


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
    gains, least = _drawn_in(limits.gains_hm3(), slack_hm3), limits.release_lower_m3s

    def drawn(storage_lower: FloatArray, release_lower: FloatArray) -> tuple[FloatArray, FloatArray]:
        bounds = np.array(storage_lower, order="C"), np.array(limits.storage_upper_hm3, order="C")
        _draw_in(limits, gains, bounds, release_lower, limits.dead_hm3, losses)
        return bounds

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
    lower, _ = drawn(np.where(freed, -np.inf, limits.storage_lower_hm3), np.where(freed, 0.0, least))
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
    rows += [gain_at_rest_hm3.reshape(-1, limits.steps), np.array(limits.dead_hm3).reshape(-1)]
    rows += [each.reshape(-1, each.shape[-1]) for each in (lower, upper, missing)]
    follow_corridor(*rows)
    return lower, upper, missing


def _draw_in(
    limits: Limits,
    gains_hm3: tuple[FloatArray, FloatArray],
    bounds_hm3: tuple[FloatArray, FloatArray],
    release_lower_m3s: FloatArray,
    dead_hm3: FloatArray,
    losses: YearRows | None = None,
) -> None:
    """Draw bounds of storages in (`compiled_year.draw_in`)."""
    rows: list[Any] = [*_as_years(limits, *gains_hm3, *bounds_hm3, losses=losses)]
    rows += [_writable(release_lower_m3s, limits), np.array(dead_hm3, np.float64).reshape(-1)]
    draw_in(*rows)


def _writable(row: FloatArray, limits: Limits) -> FloatArray:
    """A row of many years, copied where it is stored once for all: compiled code is of one type of array."""
    return np.require(row, requirements=("C", "W")).reshape(-1, limits.steps)


def _as_years(limits: Limits, *rows: FloatArray, losses: YearRows | None = None) -> tuple[Any, ...]:
    """Rows of one year or of many as those of many, the volume of a flow, and the years with losses, or nothing."""
    each_year = [_writable(row, limits) for row in (*rows, limits.hm3_per_m3s)]
    if not limits.lake:
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
    if not limits.lake:
        return limits
    _, upper, _ = _followed(limits, limits.gain_at_rest_hm3, reachable_storage(limits))
    sunk = np.flatnonzero(_sinks(limits, upper).any(axis=-1))
    if not sunk.size:
        return limits
    years, lower = limits[sunk], limits.storage_lower_hm3.copy()
    left, dead = np.empty(years.inflow_m3s.shape), years.dead_hm3
    start, at_rest = np.array(years.start_lower), _as_years(years, years.gain_at_rest_hm3)
    rows: list[Any] = [start, *at_rest, np.array(dead), left]
    left_by_losses(*rows)
    ends = years.storage_lower_hm3
    lower[sunk] = np.where(ends == dead[:, np.newaxis], left, ends)
    return limits.changed(storage_lower=lower)


def _drawn_in(gains_hm3: tuple[FloatArray, FloatArray], slack_hm3: float | FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gains with the least and the most release, drawn in by each year's slack."""
    (most, least), slack = gains_hm3, np.asarray(slack_hm3)[..., np.newaxis]
    return most - slack, least + slack


def later_sum(gains: FloatArray) -> FloatArray:
    """Sum of the gains of all later steps, for the end of each step; shape (..., steps)."""
    sums = np.zeros_like(gains)
    sums[..., :-1] = np.cumsum(gains[..., :0:-1], axis=-1)[..., ::-1]
    return sums


def _drift(limits: Limits, slack_hm3: FloatArray, years: YearRows) -> dict[str, FloatArray]:
    """How the reachable bounds of a cyclic year follow its start, which is also its end: rows of `years`, by field.

    Without the bounds of the months, they are ``start - drift + tilt * (start - middle)``, lower and upper; the middle
    start is filled in.
    """
    gains = _drawn_in(limits.gains_hm3(), slack_hm3)
    middle = limits.start_bounds_hm3.mean(axis=-1)
    if years.lake:
        years.middle_start[:] = middle
    if not (years.lake and limits.cyclic):
        return {"drift_lower": later_sum(gains[0]), "drift_upper": later_sum(gains[1])}
    spread, found = 1e-3 * limits.capacity_hm3, []
    for ends in (middle - spread, middle + spread):
        # Storages that lead to this end of the year, whatever the bounds of the months.
        before = np.full_like(gains[0], -np.inf), np.full_like(gains[0], np.inf)
        for bound in before:
            bound[..., -1] = ends
        _draw_in(limits, gains, before, limits.release_lower_m3s, np.full_like(limits.dead_hm3, -np.inf), years)
        found.append(before)
    width, derived = 2 * spread[..., np.newaxis], {}
    for side, low, high in zip(("lower", "upper"), *found, strict=True):
        derived[f"drift_{side}"] = middle[..., np.newaxis] - (low + high) / 2
        derived[f"tilt_{side}"] = (high - low) / width - 1
    return derived


def always_repairable(limits: Limits, year: YearRows) -> NDArray[np.bool_]:
    """Whether repair (eq. 18-19) of releases within their bounds always keeps storages and releases within theirs.

    Parameters
    ----------
    limits : Limits
    year : YearRows
        Its arrays, with the margin that the repair uses.

    Returns
    -------
    ndarray of bool, shape (years,)
        Never with losses or demands, which are not looked at here. Where it holds, solvers skip the checks that no
        release can violate.
    """
    if limits.lake:
        return np.zeros(limits.inflow_m3s.shape[:-1], bool)
    gain_most = volume_gained(year.inflow, year.release_lower, year.hm3_per_m3s)
    gain_least = volume_gained(year.inflow, year.release_upper, year.hm3_per_m3s)
    always = np.array(True)
    for bound in (0, 1):  # a cyclic year's reach moves with its start, its ends apart the most
        start = limits.start_bounds_hm3[..., bound, np.newaxis]
        lower, upper = year.reach_lower, year.reach_upper
        if year.cyclic:
            lower, upper = (np.clip(start - drift, lower, upper) for drift in (year.drift_lower, year.drift_upper))
            always = always & ((lower[..., -1:] <= start) & (start <= upper[..., -1:]))[..., 0]
        least, most = (
            np.concatenate([start, ends[..., :-1]], axis=-1) + gains
            for ends, gains in ((lower, gain_most), (upper, gain_least))
        )
        always = always & ~np.any((least < lower) | (most > upper), axis=-1)
    return always


def without_foresight(limits: Limits, starts_hm3: FloatArray) -> YearRows:
    """Years from given starts; no storage is steered towards what later months will need, which nobody knows.

    Nor is it a violation where losses take the lake below dead storage (`step.there_is`).

    Parameters
    ----------
    limits : Limits
    starts_hm3 : ndarray, shape (years,)
    """
    years = limits.begun_at(starts_hm3).arrays()
    dead = years.dead[..., np.newaxis]
    sinks = years.storage_lower == dead
    return years.changed(
        reach_lower=years.storage_lower,
        reach_upper=years.storage_upper,
        storage_lower=np.where(sinks, np.minimum(dead, 0.0), years.storage_lower),
    )
