"""Horizons proved together on a device have the bounds that compiled code proves of each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir import bundled_case
from reservoir.certificate import on_device, proofs_together
from reservoir.certificate.bound import Effort, prove_bound
from reservoir.certificate.proofs_together import Known, parts_together, prove_together
from reservoir.hydro.horizon import Horizon
from reservoir.problems.reservoir.record import record_problems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import solve
from reservoir.zoo.zoo import zoo_case
from tests.certificate.cases import YEARS, every_case, problems_of
from tests.hydro.random_reservoirs import random_reservoir
from tests.year_ends import cyclic, free

CASES = {
    **{name: every_case()[name] for name in ("random 0", "random 4", "losses", "revenue", "zoo 1")},
    "cyclic": problems_of(cyclic(random_reservoir(3))),
}
#: Brackets of power laws are a little wider on a device.
SAME = 1e-12
#: A level more than the first cells, for some horizons.
EFFORT = Effort(gap=2e-6, seconds=120.0, threads=2)


def known_of(problems: ReservoirYears) -> list[Known]:
    """The horizons with their best schedules by dynamic programming."""
    found = solve(problems, solver="dp")
    made = problems.certify(np.stack([each.position for each in found]))
    return [
        Known(year, made.operation.storage_hm3[place], None if made.violation[place] else float(made.fitness[place]))
        for place, year in enumerate(problems)
    ]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.bound == pytest.approx(other.bound, rel=SAME, abs=SAME)
        assert (one.infeasible_step, one.levels, one.boxes) == (other.infeasible_step, other.levels, other.boxes)


@pytest.mark.parametrize("name", CASES)
def test_bounds_are_those_of_each_horizon(name, device):
    horizons = known_of(CASES[name])
    assert_same(prove_together(device, horizons, EFFORT), [prove_bound(*each, EFFORT) for each in horizons])


def test_horizons_end_at_different_levels(device):
    horizons, told = known_of(CASES["random 4"]), []
    horizons[1] = horizons[1]._replace(fitness=horizons[1].fitness * 1.01)  # what is so good ends at once
    horizons.insert(0, horizons[-1]._replace(fitness=0.99 * horizons[-1].fitness))
    found = prove_together(device, horizons, EFFORT, told.append)
    assert len({each.levels for each in found}) > 2
    assert told == sorted(told)
    assert told[-1] == len(horizons)
    assert_same(found, [prove_bound(*each, EFFORT) for each in horizons])
