"""No stage of a schedule with a free flow exceeds the bound of a box that contains it; and mistakes are found out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir.certificate.bound import bound_pairs, prove_bound
from reservoir.certificate.cells import Cells
from reservoir.certificate.stages import freed, stages_of
from reservoir.solvers.dp.free_flow import FreeFlow
from tests.certificate.cases import every_case, one_cell_a_time, random_schedules
from tests.certificate.test_boxes import ROUNDING, SOURCE, function_of

CASES = every_case()
NAMES = ["random 0", "random 1", "random 3", "losses", "revenue", "zoo 0", "zoo 1"]


def free_of(problems, random):
    """A free flow of all steps at prices of either sign, whose best releases are told wrong."""
    most = problems.limits.inflow_m3s.max() * random.random(12)
    lower, upper = 0.2 * most, most * random.choice([0.2, 0.3, 1.0])
    worth = problems.model.reservoir.installed_mw / float(problems.limits.release_upper_m3s.max())
    prices = [worth * random.normal(1.0, 0.7, 12) for _ in range(2)]
    free = FreeFlow.between((lower, upper), prices, (0.0, float(problems.limits.capacity_hm3.max())))
    free.best[:] = random.random(free.best.shape) * problems.limits.release_upper_m3s.max()
    return free


def excess_of(problems, bracket, count, seed=1):
    """Largest excess of a stage over its bound, relative to what the stage is worth, and how many were compared."""
    random, worst, compared = np.random.default_rng(seed), -np.inf, 0
    for _ in range(count):
        free = free_of(problems, random)
        flow = free.lower + random.random(12) * (free.upper - free.lower)
        limits = problems.limits
        fed = replace(problems, limits=limits.changed(inflow=limits.inflow_m3s + flow))
        for made in random_schedules(fed, 1, random):
            for place in range(len(problems)):
                operation, year = made.operation[place], problems[place]
                storages = operation.storage_hm3
                widths = np.ptp(storages) * 10.0 ** random.uniform(-5, -0.3, 13) + 1e-9
                worth = operation.stage_benefit + free.paid * operation.release_m3s - free.price * flow
                scale = np.abs(worth).max() + np.abs(free.price * flow).max() + 1e-9
                slopes = random.normal(size=13) * scale / (np.ptp(storages) + 1e-9)
                share = random.random(13)
                low = storages - share * widths
                low, high = np.minimum(low, storages), np.maximum(low + widths, storages)
                value = random.normal(size=13)
                cells = Cells(*one_cell_a_time(13), low, high, value, slopes)
                bounds = bracket(year, freed(stages_of(year.limits), free, 1e-3 * scale), cells)
                values = value + slopes * (storages - 0.5 * (low + high))
                over = (worth + np.diff(values) - bounds)[operation.violation == 0] / (scale + np.abs(values).max())
                worst, compared = max(worst, float(over.max(initial=-np.inf))), compared + len(over)
    return worst, compared


def compiled(year, stages, cells):
    brackets = np.zeros(12)
    bound_pairs(year.model.exact, stages, cells, brackets, 0, 12)
    return brackets


@pytest.mark.parametrize("name", NAMES)
def test_no_stage_with_a_free_flow_exceeds_the_bound_of_its_box(name):
    worst, compared = excess_of(CASES[name], compiled, 100)
    assert compared > 300
    assert worst <= ROUNDING


@pytest.mark.parametrize("name", ["random 0", "random 2", "losses", "zoo 0"])
def test_nothing_that_flows_in_freely_for_nothing_changes_no_bound(name):
    problems, random = CASES[name], np.random.default_rng(3)
    nothing = np.zeros(12)
    free = FreeFlow.between((nothing, nothing), (nothing, nothing), (0.0, float(problems.limits.capacity_hm3.max())))
    for made in random_schedules(problems, 20, random):
        storages, year = made.operation[0].storage_hm3, problems[0]
        cells = Cells(*one_cell_a_time(13), storages - 1.0, storages + 1.0, random.normal(size=13), np.zeros(13))
        known, freely = (
            compiled(year, each, cells) for each in (stages_of(year.limits), freed(stages_of(year.limits), free))
        )
        np.testing.assert_allclose(freely, known, rtol=1e-11, atol=1e-9)
    path = problems[0].limits.start_bounds_hm3.mean() + nothing[0] * np.ones(13)
    known, freely = (
        prove_bound(problems[0], path, None, stages=each).bound
        for each in (None, freed(stages_of(problems[0].limits), free))
    )
    assert freely == pytest.approx(known, rel=1e-4)


#: Mistakes in the source of the bound, and problems that show them.
MUTATIONS = {
    "the free flow costs nothing": (
        "moved(moved(own, abs(price), charged)",
        "moved(moved(own, 0.0, charged)",
        "random 0",
    ),
    "the release is not paid": (", abs(paid), released)", ", 0.0, released)", "random 0"),
    "a price of the wrong sign": (
        "charged = brought[1] if price > 0.0",
        "charged = brought[1] if price < 0.0",
        "random 0",
    ),
    "a pay of the wrong sign": (
        "released = flows.most if paid > 0.0",
        "released = flows.most if paid < 0.0",
        "random 1",
    ),
    "no curvature over the side": ("slopes = part[1], part[1], (", "slopes = 0.0, 0.0, (", "losses"),
    "told at the middle of the side": ("moved_by = above(above(middle * part[2]))", "moved_by = 0.0", "random 3"),
    "the side is a point": ("value += abs(a[3]) * box.part[0]", "value += 0.0", "random 0"),
    "the last parts are left out": ("while (edge < upper) if up else (edge > lower):", "while False:", "random 0"),
    "less flows in than may": (
        "with_value(minus, minus[0] + upper)",
        "with_value(minus, minus[0] + lower)",
        "random 1",
    ),
}


@pytest.mark.parametrize("mistake", MUTATIONS)
def test_a_mistake_in_the_bound_of_a_free_flow_is_found_out(mistake):
    before, after, name = MUTATIONS[mistake]
    assert SOURCE.count(before) == 1

    def by(source):
        bracket_bound = function_of(source)

        def bracket(year, stages, cells):
            low, high = cells.lower, cells.upper
            boxes_of = [((low[step], high[step]), (low[step + 1], high[step + 1])) for step in range(12)]
            value, slope = np.diff(cells.value), cells.slope
            return np.array(
                [
                    bracket_bound(year.model.exact, stages, step, *box, value[step], (slope[step], slope[step + 1]))
                    for step, box in enumerate(boxes_of)
                ]
            )

        return bracket

    with np.errstate(divide="ignore", invalid="ignore"):  # as compiled code
        assert excess_of(CASES[name], by(SOURCE), 1)[0] <= ROUNDING
        assert excess_of(CASES[name], by(SOURCE.replace(before, after)), 8)[0] > ROUNDING
