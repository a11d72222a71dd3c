"""Bands of pairs of cells lose no path: brackets and lengths are those of all pairs, and no schedule is pruned."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reservoir.certificate.bound import Threads, _through
from reservoir.certificate.cells import first_intervals, halved
from reservoir.certificate.reachable import reachable
from reservoir.certificate.stages import stages_of
from reservoir.certificate.tables import cell_values
from reservoir.solvers import solve
from tests.certificate.cases import problems_of, random_schedules
from tests.hydro.random_reservoirs import random_reservoir
from tests.year_ends import cyclic, free

ENDS = [free, cyclic]
COST = 3.0


def first_of(problems):
    """The first problem, its first cells, and the storages of a schedule."""
    year = problems[0]
    storages = next(random_schedules(problems, 1, np.random.default_rng(3))).operation.storage_hm3[0]
    return year, first_intervals(reachable(year.limits, stages_of(year.limits)), storages, cyclic=year.limits.cyclic)


def lengths(year, intervals):
    """Brackets of the pairs, lengths of the longest paths through them, and where cells are cut."""
    table, brackets = cell_values(year, intervals, None, COST), np.where(intervals.alive, 0.0, -np.inf)
    Threads().bounded(year.model.exact, stages_of(year.limits), table.cells, brackets)
    return brackets, _through(table, brackets, cyclic=year.limits.cyclic)[0], table.cut


def in_full(intervals, of_pairs, missing):
    """Of all pairs of cells of each step, those of a band in their places."""
    dense = np.full((len(intervals.first_end), len(intervals.lower)), missing)
    for x, (begin, stop) in enumerate(zip(intervals.first_pair[:-1], intervals.first_pair[1:], strict=True)):
        dense[x, intervals.first_end[x] : intervals.first_end[x] + stop - begin] = of_pairs[begin:stop]
    return dense


def with_full_bands(intervals):
    """The same cells and pairs, where from each cell the band is all cells of the next time."""
    count = np.diff(intervals.first)
    first_end, ends = np.repeat(intervals.first[1:-1], count[:-1]), np.repeat(count[1:], count[:-1])
    first_pair = np.concatenate([[0], np.cumsum(ends)])
    dense = in_full(intervals, intervals.alive, False)
    alive = np.concatenate([row[end : end + n] for row, end, n in zip(dense, first_end, ends, strict=True)])
    return intervals._replace(first_end=first_end, first_pair=first_pair, alive=alive)


def is_alive(intervals, storages):
    """Whether each step of a schedule is in a pair that is alive."""
    dense = in_full(intervals, intervals.alive, False)
    places = [
        cells.start + np.flatnonzero((intervals.lower[cells] <= storage) & (storage <= intervals.upper[cells]))
        for cells, storage in zip(intervals.by_time, storages, strict=True)
    ]
    return [dense[np.ix_(x, y)].any() for x, y in pairwise(places)]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("seed", range(3))
def test_brackets_and_paths_of_bands_are_those_of_all_pairs(end, seed):
    year, intervals = first_of(problems_of(end(random_reservoir(seed))))
    _, through, cut = lengths(year, intervals)
    kept = through > np.quantile(through[np.isfinite(through)], 0.6)
    intervals = halved(intervals, kept, cut, cyclic=year.limits.cyclic)
    whole = with_full_bands(intervals)
    assert len(intervals.alive) < len(whole.alive)
    for banded, full in zip(lengths(year, intervals)[:2], lengths(year, whole)[:2], strict=True):
        np.testing.assert_array_equal(in_full(intervals, banded, -np.inf), in_full(whole, full, -np.inf))


def near_the_best(problems, count, random):
    """Storages and fitness of schedules that keep the limits, some near the best one of the first problem, some not."""
    (best,) = solve([problems[0]], solver="dp")
    for _ in range(count):
        away = random.random() * (random.random(problems.lower.shape) - 0.5) * (problems.upper - problems.lower)
        made = problems.certify(np.clip(best.position + 0.2 * away, problems.lower, problems.upper))
        if made.violation[0] == 0:
            yield made.operation.storage_hm3[0], float(made.fitness[0])


@pytest.mark.parametrize("end", ENDS)
def test_no_schedule_leaves_the_pairs_that_are_worth_as_much_as_it(end):
    problems = problems_of(end(random_reservoir(1)))
    year, intervals = first_of(problems)
    schedules = list(near_the_best(problems, 300, np.random.default_rng(4)))
    assert len(schedules) > 50
    threshold = float(np.quantile([fitness for _, fitness in schedules], 0.5))
    for _ in range(3):
        _, through, cut = lengths(year, intervals)
        intervals = halved(intervals, through > threshold, cut, cyclic=year.limits.cyclic)
        assert all(all(is_alive(intervals, storages)) for storages, fitness in schedules if fitness > threshold)
    assert not all(all(is_alive(intervals, storages)) for storages, fitness in schedules if fitness < threshold)
