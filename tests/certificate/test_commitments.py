"""Bounds of systems know commitments: no schedule that keeps them exceeds a bound, and it is close to the best."""

import numpy as np
import pytest

from reservoir.certificate.multipliers import multipliers
from reservoir.certificate.system import SystemProblem
from reservoir.planning.system_plan import optimise_system
from tests.planning.test_commitments import BOTH, two_lakes
from tests.problems.test_systems_by_hand import GWH


@pytest.fixture(scope="module")
def committed():
    plan = optimise_system(two_lakes(400), BOTH, solver="slp", horizon="record")
    (batch,) = plan.problems.batches
    return batch, batch.operate(plan.solutions.position)


def test_a_bound_is_less_by_what_a_commitment_costs(committed):
    batch, schedule = committed
    problem, prices = SystemProblem(batch, schedule), multipliers(batch, schedule)
    assert len(prices) == 3
    np.testing.assert_allclose(prices[2, ::12] * batch.hm3_per_m3s[0, ::12], [GWH / 1000, 0.0], rtol=1e-2, atol=1e-6)
    bound = problem.proven(prices, 1e-3, 60.0).bound
    assert problem.fitness == pytest.approx((400 + 2 * 1060) * GWH / 1000, rel=1e-2)  # and next to nothing below
    assert problem.fitness <= bound <= 1.01 * problem.fitness
    free = problem.proven(prices * [[1.0], [1.0], [0.0]], 1e-3, 60.0).bound
    assert free >= 1.04 * problem.fitness  # 260 at a price of 1 and 1,200 at 2


#: Mistakes in what is owed: part of the volume that is taken.
OWED = {"none": 1.0, "more is owed": 1.05, "a little more is owed": 1.0 + 1e-5}


@pytest.mark.parametrize("mistake", OWED)
def test_no_schedule_that_keeps_it_is_charged_more_than_it_is_paid(committed, monkeypatch, mistake):
    batch, schedule = committed
    owed = SystemProblem._owed_hm3
    monkeypatch.setattr(SystemProblem, "_owed_hm3", lambda self, place: OWED[mistake] * owed(self, place))
    random, problem, least, kept = np.random.default_rng(1), SystemProblem(batch, schedule), np.inf, 0
    near = batch.positions_of(schedule)
    for share in (0.0, *(0.3 * random.random(40))):
        made = batch.operate(near + share * (random.random(near.shape) - near))
        if made.violation_sum[0] > 0:
            continue
        kept += 1
        prices = np.zeros((3, batch.steps))
        prices[2, :12] = random.normal(1.0, 2.0, 12)  # of the year that has nothing to spare
        frees, paid = problem.frees(prices)
        paid += sum(float(free.paid @ own.release_m3s[0]) for free, own in zip(frees, made.of_reservoirs, strict=True))
        least = min(least, paid)
    assert kept > 5
    assert (least >= 0.0) == (mistake == "none")
