"""Lakes of a system that losses take below dead storage: nothing is released there, in paths and in bounds alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir.certificate.bound import told_by_mean
from reservoir.certificate.boxes import bracket_bound, loss_jet
from reservoir.certificate.multipliers import multipliers
from reservoir.certificate.reachable import reachable
from reservoir.certificate.stages import freed, stages_of
from reservoir.certificate.system import SystemProblem
from reservoir.hydro.plant import plant_with_cursors
from reservoir.planning.system_plan import optimise_system
from reservoir.solvers.dp.free_flow import FreeFlow, fill_best
from reservoir.zoo import Part, zoo_system
from tests.certificate.test_boxes import ROUNDING, SOURCE, function_of
from tests.certificate.test_little_water import dry, evaporating, free
from tests.hydro.random_reservoirs import random_reservoir

#: Mistakes in what is bounded of steps that end there, and whether bounds are too small or needlessly large then.
MISTAKES = {
    "nothing may lead there": ("most = stages.rows[field.AT_REST, step]", "most = -1.0", False),
    "as much is released as above": ("most = stages.rows[field.AT_REST, step]", "most = most", True),
}


def sinking(share=0.01, slack=0.0):
    """A year whose lake losses take below dead storage, its stages with a free flow, and what storages it reaches."""
    problems = dry(evaporating(free(random_reservoir(3))), 0.02, 0.1)
    zero = np.zeros_like(problems.limits.release_lower_m3s)
    year = replace(problems, limits=problems.limits.changed(release_lower=zero))[0]
    limits = year.limits
    most = share * float(limits.dead_hm3) / float(limits.hm3_per_m3s[0])
    flows, price = (np.zeros(12), np.full(12, most)), np.full(12, 0.1)
    prices = price, np.full(12, 2.0), np.zeros(12), np.zeros(12)  # what is released is worth much more than it costs
    flow = FreeFlow.between(flows, prices, (0.0, float(limits.capacity_hm3)))
    fill_best(plant_with_cursors(year.model.exact), limits.arrays(), flow, 1.0)
    stages = freed(stages_of(limits), flow, slack)
    return year, stages, reachable(limits, stages)


def excesses(bracket):
    """By how much bounds of small boxes below dead storage are above what their steps come to, as parts of that."""
    year, stages, known = sinking()
    limits, rows, random = year.limits, year.limits.arrays(), np.random.default_rng(2)
    dead, most, price = float(limits.dead_hm3), float(stages.free.upper[0]), stages.free.price
    stages = told_by_mean(year.model.exact, stages, known)
    for step in range(12):
        gain, volume = float(rows.inflow[step]), float(limits.hm3_per_m3s[step])
        for start, share in random.random((20, 2)):
            brought, end = float(share) * most, dead
            start = float(known.lower[step] + start * (dead - known.lower[step]))
            for _ in range(30):
                mean = 0.5 * (start + end)
                end = start + (gain + brought) * volume - loss_jet(stages.rows, stages.lake, step, (mean, mean))[0][0]
            if end < dead * (1.0 - 1e-6):
                x, y = ((at - 1e-8 * dead, at + 1e-8 * dead) for at in (start, end))
                worth = -price[step] * brought
                yield (bracket(year.model.exact, stages, step, x, y, 0.0, (0.0, 0.0)) - worth) / abs(worth)


def test_a_step_that_ends_below_dead_storage_comes_to_what_flows_in_costs():
    found = np.array(list(excesses(bracket_bound)))
    assert len(found) > 15
    assert found.min() >= -ROUNDING
    assert np.median(found) < 1e-3


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_steps_that_end_there_is_found_out(mistake):
    before, after, loose = MISTAKES[mistake]
    assert SOURCE.count(before) == 1
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.array(list(excesses(function_of(SOURCE.replace(before, after)))))
    assert np.median(found) > 1e-1 if loose else found.min() < -ROUNDING


def test_a_river_whose_lake_sinks_is_proved_near_its_schedule():
    plan = optimise_system(*zoo_system(158, 1, part=Part.TEST), solver="slp")
    batch, schedule = plan.problems.batches[0], plan.operation
    assert schedule.violation_sum[0] == 0
    problem, prices = SystemProblem(batch, schedule), multipliers(batch, schedule)
    sunk = 0
    for single, path in zip(problem.singles, problem.valued(prices)[-1], strict=True):
        dead = float(single.year.limits.dead_hm3)
        below = path.storages_hm3[1:] < dead * (1.0 - 1e-6)
        sunk += int(np.any(single.known.lower < dead * (1.0 - 1e-6)))
        assert path.released_m3s[0][below].max(initial=0.0) < 1e-3
    assert sunk == 1
    bound = problem.proven(prices, 1e-2, 60.0).bound
    assert problem.fitness <= bound <= problem.fitness + 2e-2 * problem.size
