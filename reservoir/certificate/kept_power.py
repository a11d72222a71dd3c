"""The highest storages of schedules that keep a power: rigorous bounds, and a proof where there is none.

Whoever gives a power in a step releases at least what makes it at the best head there can be, and ends the step no
higher than that leaves. Followed from the highest start on, with as many steps that may fail as are allowed, the
storages are no lower than those of any schedule that keeps the power: where they fall below what the rest of the
horizon needs, none keeps it. All is proved in interval arithmetic, as in `reachable`, and holds for any curves. Where
more water never harms, the schedule that follows these storages keeps the power: the largest power is found as well.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate import stages as field
from reservoir.certificate.reachable import gentle, proved_storage, reachable
from reservoir.certificate.stages import TOLERANCE, Stages, power_demanded, stages_of, without_tolerance_of_power
from reservoir.hydro.curves.enclosures import enclose, enclose_conversion, multiply_jets, scale_jet
from reservoir.hydro.curves.intervals import Interval, above, below, subtract
from reservoir.hydro.jit import compiled_as_written, part_as_written
from reservoir.hydro.plant import Plant
from reservoir.problems.reservoir.year import ReservoirYears

FloatArray = NDArray[np.float64]

#: Iterations for the least release of a step, and for the lowest storage at its start; relative precision of both.
_ROUNDS, _TRIES, _CLOSE = 40, 60, 1e-12
#: Parts of the range of the head, where its power does not surely rise with it.
_SLICES = 16
#: Times that a cyclic horizon is followed until it ends where it began.
_CYCLES = 200
_INFINITY = float("inf")


class Tracks(NamedTuple):
    """What a horizon is followed with: bounds of its storages (hm3), and a row of results for each number of failures.

    Parameters
    ----------
    lower, upper : ndarray, shape (steps + 1,)
        Of all schedules that keep the limits, as of `reachable`.
    exempt : ndarray of bool, shape (steps,)
        Steps of which the power is not asked.
    margin : float
        By what bounds are moved outwards, hm3.
    highest : ndarray, shape (failures + 1, steps + 1)
        Filled with the highest storages; minus infinity where there are none.
    failed : ndarray of bool, shape (failures + 1, steps)
        Filled: whether the step that ends there fails.
    """

    lower: FloatArray
    upper: FloatArray
    exempt: NDArray[np.bool_]
    margin: float
    highest: FloatArray
    failed: NDArray[np.bool_]


class HighestPower(NamedTuple):
    """What no schedule of a horizon can exceed, and one that should come close.

    Parameters
    ----------
    not_kept_mw : float
        It is proved that no schedule keeps this power.
    storages_hm3 : ndarray, shape (steps + 1,)
        The highest storages at a power just below; of no schedule where more water can do harm.
    exempt : ndarray of bool, shape (steps,)
        Steps that fail on that way.
    """

    not_kept_mw: float
    storages_hm3: FloatArray
    exempt: NDArray[np.bool_]


def highest_power(
    year: ReservoirYears, failures: int, most_mw: float, precision: float, threads: int = 1, least_mw: float = 0.0
) -> HighestPower | None:
    """Bound the largest power that all steps of a horizon can give but so many.

    Parameters
    ----------
    year : ReservoirYears
    failures : int
        Steps that may fail.
    most_mw : float
        More than the plant can give.
    precision : float
        How close, relatively, the schedule's power and the one that is not kept are tried.
    threads : int
        Powers tried at once, of those that may come next; the result does not depend on them.
    least_mw : float
        Power that is tried first.

    Returns
    -------
    HighestPower or None
        None if it is proved that no schedule keeps the limits and the least power, or if nothing is proved, as the lake
        may run dry.
    """
    stages = stages_of(year.limits)
    tracks = _tracks(year, stages, failures)
    if tracks is None:
        return None
    cyclic = bool(year.limits.cyclic)

    def is_kept(power: float) -> bool:
        own = tracks._replace(highest=np.empty_like(tracks.highest), failed=np.empty_like(tracks.failed))
        return bool(_followed(year.model.exact, stages, own, cyclic, (power, power), 0.0, np.empty(0))[1])

    powers = least_mw, most_mw
    if threads > 2 and is_kept(least_mw):
        powers = _narrowed(is_kept, *powers, precision, threads)
    not_kept, some_keep = _followed(year.model.exact, stages, tracks, cyclic, powers, precision, np.empty(0))
    if not some_keep:
        return None
    storages, exempt = _way(tracks)
    if cyclic:
        storages[-1] = storages[0]
    return HighestPower(float(not_kept), storages, exempt)


def _narrowed(
    is_kept: Callable[[float], bool], low: float, high: float, precision: float, threads: int
) -> tuple[float, float]:
    """Halve the interval between a power that is kept and one that is not, as `_followed` does, some times at once."""
    with ThreadPoolExecutor(threads) as pool:
        while high - low > precision * high:
            intervals, tried = [(low, high)], list[float]()
            while len(tried) < (1 << (threads + 1).bit_length() - 1) - 1:  # all that the next halvings may try
                lowest, highest = intervals[len(tried)]
                tried.append(0.5 * (lowest + highest))
                intervals += [(lowest, tried[-1]), (tried[-1], highest)]
            kept, place = list(pool.map(is_kept, tried)), 0
            while place < len(tried) and high - low > precision * high:
                if kept[place]:
                    low, place = tried[place], 2 * place + 2
                else:
                    high, place = tried[place], 2 * place + 1
    return low, high


def proved_impossible(year: ReservoirYears) -> bool:
    """Whether it is proved that no schedule keeps the limits of a horizon, a lowest power among them."""
    dry = reachable(year.limits, stages_of(year.limits)).may_run_dry
    return not dry and highest_power(year, 0, 1.0, 1.0) is None


def storages_keeping(
    year: ReservoirYears, power_mw: float, exempt: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray] | None:
    """Lowest and highest storages of schedules that keep a power in all steps but some, shape (steps + 1,).

    The highest are rigorous; the lowest are those from which the highest lead on. None if there are none, or if the
    lake may run dry.
    """
    stages = without_tolerance_of_power(stages_of(year.limits))
    tracks = _tracks(year, stages, 0)
    if tracks is None:
        return None
    lowest = np.empty(year.limits.steps + 1)
    tracks = tracks._replace(exempt=exempt)
    powers = power_mw, power_mw
    if not _followed(year.model.exact, stages, tracks, bool(year.limits.cyclic), powers, 0.0, lowest)[1]:
        return None
    return np.minimum(lowest, tracks.highest[0]), tracks.highest[0]


def _tracks(year: ReservoirYears, stages: Stages, failures: int) -> Tracks | None:
    known, steps = reachable(year.limits, stages), year.limits.steps
    if known.empty_step is not None or known.may_run_dry:
        return None
    rows = failures + 1
    return Tracks(
        known.lower,
        known.upper,
        np.zeros(steps, np.bool_),
        TOLERANCE * float(year.limits.capacity_hm3),
        np.empty((rows, steps + 1)),
        np.empty((rows, steps), np.bool_),
    )


def _way(tracks: Tracks) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The storages that lead to the highest end, and the steps that fail on the way."""
    steps = len(tracks.exempt)
    row = int(np.argmax(tracks.highest[:, -1]))  # the fewest failures of those that end as high
    storages, exempt = np.empty(steps + 1), np.zeros(steps, np.bool_)
    storages[steps] = tracks.highest[row, steps]
    for step in range(steps - 1, -1, -1):
        exempt[step] = tracks.failed[row, step]
        row -= int(exempt[step])
        storages[step] = tracks.highest[row, step]
    return storages, exempt


@compiled_as_written
def _followed(
    plant: Plant,
    stages: Stages,
    tracks: Tracks,
    cyclic: bool,
    powers: tuple[float, float],
    precision: float,
    lowest: FloatArray,
) -> tuple[float, bool]:
    """Follow the largest power between two, and back from the end the lowest storages, if these are asked for.

    Returns a power that is proved not to be kept, and whether some schedules may keep the first. One function: it is
    long to compile.
    """
    low, high = powers
    if not _follow(plant, stages, tracks, cyclic, low):
        return low, False
    if precision > 0.0:
        while high - low > precision * high:
            tried = 0.5 * (low + high)
            if _follow(plant, stages, tracks, cyclic, tried):
                low = tried
            else:
                high = tried
        _follow(plant, stages, tracks, cyclic, low)
    if len(lowest):
        _lead_back(plant, stages, tracks, cyclic, low, lowest)
    return high, True


@part_as_written
def _lead_back(plant: Plant, stages: Stages, tracks: Tracks, cyclic: bool, power: float, lowest: FloatArray) -> None:
    """Fill the lowest storages from which the highest lead to the end."""
    steps, highest = len(tracks.exempt), tracks.highest[0]
    lowest[steps] = tracks.lower[steps]
    for _ in range(_CYCLES if cyclic else 1):
        for step in range(steps - 1, -1, -1):
            lowest[step] = _least_start(plant, stages, tracks, step, highest[step], lowest[step + 1], power)
        if not cyclic or lowest[0] <= lowest[steps] + tracks.margin:
            break
        lowest[steps] = lowest[0]


@part_as_written
def _follow(plant: Plant, stages: Stages, tracks: Tracks, cyclic: bool, power: float) -> bool:
    """Fill the highest storages of schedules that keep a power; False if it is proved that there are none."""
    start, highest = tracks.upper[0], tracks.highest
    for _ in range(_CYCLES if cyclic else 1):
        if start < tracks.lower[0]:
            return False
        highest[:, 0] = start
        for step in range(len(tracks.exempt)):
            reached, kept = False, -_INFINITY
            for row in range(len(highest)):
                if row == 0 or highest[row, step] != highest[row - 1, step]:
                    asked = 0.0 if tracks.exempt[step] else power
                    kept = _end(plant, stages, tracks, step, highest[row, step], asked)
                best, fails = kept, False
                if row > 0:
                    end = _end(plant, stages, tracks, step, highest[row - 1, step], 0.0)
                    if end > best:
                        best, fails = end, True
                highest[row, step + 1], tracks.failed[row, step] = best, fails
                reached = reached or best > -_INFINITY
            if not reached:
                return False
        ends = highest[-1, -1]
        if not cyclic or ends >= start - tracks.margin:
            break
        start = ends  # a schedule ends where it began, so no higher than that
    return True


@part_as_written
def _end(plant: Plant, stages: Stages, tracks: Tracks, step: int, start: float, power: float) -> float:
    """The highest end of a step that gives a power from a start, or from below it; minus infinity if there is none."""
    if start == -_INFINITY:
        return start
    rows, margin = stages.rows, tracks.margin
    lowest, end = min(tracks.lower[step], tracks.lower[step + 1]), tracks.upper[step + 1]
    if gentle(stages, step, lowest, max(start, end)):
        asked, release = max(power, power_demanded(stages, step)), rows[field.RELEASE_LOWER, step]
        spare = rows[field.SPARE, step]
        most = above(rows[field.RELEASE_UPPER, step] + spare)
        end = min(proved_storage(stages, step, start, release, 1.0, margin, 1.0), end)
        lowest = max(lowest, rows[field.OPERATING_STORAGE, step])
        for _ in range(_ROUNDS if asked > 0.0 else 0):
            highest = above(0.5 * (start + end))
            if highest < lowest:
                return -_INFINITY
            needed = _least_release(plant, stages, step, (lowest, highest), (release, most), asked)
            if needed > most:
                return -_INFINITY
            if needed <= release + _CLOSE * most:
                break
            release = needed
            end = min(end, proved_storage(stages, step, start, below(release - spare), 1.0, margin, 1.0))
    return end if end >= tracks.lower[step + 1] else -_INFINITY


@part_as_written
def _least_release(
    plant: Plant, stages: Stages, step: int, storage: Interval, release: Interval, power: float
) -> float:
    """No release of an interval that is less than this gives a power at mean storages of an interval."""
    if above(plant.installed_mw * stages.rows[field.PLANT_FACTOR, step]) < power:
        return _INFINITY
    level, tail = enclose(plant.level, storage)[0], enclose(plant.tailrace, release)[0]
    head = subtract(level, tail)
    per, full, rises = _most_at(plant, stages, step, head)
    if not rises:
        width, most, most_full = (head[1] - head[0]) / _SLICES, 0.0, 0.0
        for part in range(_SLICES):
            low = head[0] if part == 0 else head[0] + part * width
            high = head[1] if part == _SLICES - 1 else above(head[0] + (part + 1) * width)
            per, full, _ = _most_at(plant, stages, step, (low, high))
            if not full < power:
                most, most_full = max(most, per), max(most_full, full)
        per, full = most, most_full
    if full < power or not per > 0.0:
        return _INFINITY
    return below(below(power / per))


@part_as_written
def _most_at(plant: Plant, stages: Stages, step: int, head: Interval) -> tuple[float, float, bool]:
    """Most power of 1 m3/s, and of all that the turbines take, at heads; and whether both surely rise with it."""
    factor, top = stages.rows[field.PLANT_FACTOR, step], (head[1], head[1])
    per = enclose_conversion(plant.conversion, head)
    full = scale_jet(factor, multiply_jets(per, enclose(plant.capacity, head)))
    per_rises, full_rises = per[1][0] >= 0.0, full[1][0] >= 0.0
    most, most_full = per[0][1], full[0][1]
    if per_rises or full_rises:
        per = enclose_conversion(plant.conversion, top)
        full = scale_jet(factor, multiply_jets(per, enclose(plant.capacity, top)))
        most = min(most, per[0][1]) if per_rises else most
        most_full = min(most_full, full[0][1]) if full_rises else most_full
    return most, most_full, per_rises and full_rises


@part_as_written
def _least_start(
    plant: Plant, stages: Stages, tracks: Tracks, step: int, highest: float, target: float, power: float
) -> float:
    """The lowest start of a step whose highest end is a target or more; the highest, if none lower is found."""
    asked = 0.0 if tracks.exempt[step] else power
    low, high = float(tracks.lower[step]), highest
    if low >= high or _end(plant, stages, tracks, step, low, asked) >= target:
        return min(low, high)
    of_low, of_high = -_INFINITY, _end(plant, stages, tracks, step, high, asked) - target
    for tries in range(_TRIES):
        if high - low <= tracks.margin or not of_high >= 0.0:
            break
        tried = 0.5 * (low + high)
        if of_high > 0.0 and of_low > -_INFINITY and tries % 3 < 2:  # a little above where the line between both ends
            line = high - of_high * (high - low) / (of_high - of_low) + 0.25 * tracks.margin
            tried = min(max(line, low + 1e-3 * (high - low)), high - 1e-3 * (high - low))
        of_tried = _end(plant, stages, tracks, step, tried, asked) - target
        if of_tried >= 0.0:
            high, of_high = tried, of_tried
        else:
            low, of_low = tried, of_tried
    return high
