"""Horizons proved together on a device have the bounds that compiled code proves of each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir import bundled_case
from reservoir.certificate import on_device
from reservoir.certificate import together as proofs_together
from reservoir.certificate.bound import Effort, Known, prove_bound
from reservoir.certificate.together import parts_together, prove_together
from reservoir.hydro.objectives import Horizon
from reservoir.problems.reservoir.record import record_problems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import solve
from tests.certificate.cases import every_case, problems_of
from tests.hydro.random_reservoirs import random_reservoir
from tests.year_ends import cyclic

EVERY = every_case()
CASES = {
    **{name: EVERY[name] for name in ("random 0", "revenue", "zoo 1")},
    "losses": EVERY["losses"][1:2],
    "cyclic": problems_of(cyclic(random_reservoir(2))),
}
#: Brackets of power laws are a little wider on a device.
SAME = 1e-12
EFFORT = Effort(gap=1e-4, seconds=600.0, threads=2)


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


@pytest.fixture(scope="module")
def horizons() -> list[Known]:
    return known_of(CASES["random 0"])


@pytest.mark.parametrize("name", CASES)
def test_bounds_are_those_of_each_horizon(name, device):
    horizons = known_of(CASES[name])
    assert_same(prove_together(device, horizons, EFFORT), [prove_bound(*each, EFFORT) for each in horizons])


def test_the_bound_of_a_record_is_that_of_compiled_code(device):
    case, effort = bundled_case("carryover"), replace(EFFORT, gap=1e-2)
    (problems,) = record_problems(case.reservoir(), case.inflow().span(0, 5), Horizon(None)).batches
    (record,) = known_of(problems)
    assert_same(prove_together(device, [record], effort), [prove_bound(*record, effort)])


def test_horizons_end_at_different_levels(horizons, device):
    told = []
    found = prove_together(device, horizons, replace(EFFORT, gap=3e-7), told.append)
    assert len({each.levels for each in found}) == len(horizons)
    assert found[0].levels < found[1].levels  # its steps are in front of those that are left
    assert told == sorted(told)
    assert told[-1] == len(horizons)


def test_what_is_proved_does_not_depend_on_launches(horizons, device, monkeypatch):
    together, launches, spans = prove_together(device, horizons, EFFORT), [], on_device._spans

    def counted(number, most):
        launches.append(list(spans(number, most)))
        return launches[-1]

    monkeypatch.setattr(on_device, "_spans", counted)
    monkeypatch.setattr(on_device, "_MOST_PAIRS", 10_007)
    monkeypatch.setattr(proofs_together, "_PAIRS_TOGETHER", 40_000)
    assert prove_together(device, horizons, EFFORT) == together
    assert sum(map(len, launches)) > len(launches) > max(each.levels for each in together)


def test_parts_are_of_one_plant_and_of_some_steps(horizons, monkeypatch):
    others = known_of(CASES["zoo 1"])
    assert list(map(len, parts_together(horizons + others))) == [len(horizons), len(others)]
    monkeypatch.setattr(proofs_together, "_STEPS_TOGETHER", 24)
    parts = list(parts_together(horizons + others))
    assert list(map(len, parts)) == [2, 1, 2, 1]
    assert [each.year.label for part in parts for each in part] == [each.year.label for each in horizons + others]


def test_horizons_without_a_schedule_are_proved_infeasible_beside_others(horizons, device):
    known = horizons[0]
    flow = np.where(np.arange(12) < 3, known.year.limits.inflow_m3s, 0.0)
    dry = known.year.limits.changed(inflow_m3s=flow, release_lower_m3s=300.0)
    given = [Known(replace(known.year, limits=dry), known.storages_hm3, None), *horizons]
    found = prove_together(device, given, EFFORT)
    assert found[0].infeasible
    assert found[0].infeasible_step is not None
    assert_same(found, [prove_bound(*each, EFFORT) for each in given])
