"""No stage of any schedule exceeds the bound of a box that contains it; and a bound with a mistake is found out."""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

from reservoir.certificate import boxes
from reservoir.certificate.stages import stages_of
from tests.certificate.cases import brackets_around, every_case, random_schedules

CASES = every_case()
ROUNDING = 1e-11


def excess_of(problems, bracket, count, seed=1):
    """Largest excess of a stage over its bound, relative to what the stage is worth; and how many were compared."""
    random, worst, compared = np.random.default_rng(seed), -np.inf, 0
    for made in random_schedules(problems, count, random):
        for place in range(len(problems)):
            operation, year = made.operation[place], problems[place]
            storages = operation.storage_hm3
            widths = np.ptp(storages) * 10.0 ** random.uniform(-5, -0.3, len(storages)) + 1e-9
            benefit = operation.stage_benefit
            scale = np.abs(benefit).max() + 1e-9
            slopes = random.normal(size=len(storages)) * scale / (np.ptp(storages) + 1e-9)
            bounds, values = bracket(year, storages, widths, slopes, random)
            exact = benefit + np.diff(values)
            kept = operation.violation == 0
            over = (exact - bounds)[kept] / (scale + np.abs(values).max())
            worst, compared = max(worst, float(over.max(initial=-np.inf))), compared + int(kept.sum())
    return worst, compared


@pytest.mark.parametrize("name", CASES)
def test_no_stage_exceeds_the_bound_of_its_box(name):
    worst, compared = excess_of(CASES[name], brackets_around, 150)
    assert compared > 300
    assert worst <= ROUNDING


@pytest.mark.parametrize("name", ["random 0", "random 1", "losses", "power-shortage", "zoo 0"])
def test_the_bound_is_tight_on_a_small_box(name):
    problems, random = CASES[name], np.random.default_rng(2)
    for made in random_schedules(problems, 20, random):
        operation, year = made.operation[0], problems[0]
        storages, widths = operation.storage_hm3, np.full(13, 1e-7)
        bounds, values = brackets_around(year, storages, widths, np.zeros(13), random)
        short = bounds - operation.stage_benefit - np.diff(values)
        kept = operation.violation == 0
        assert np.all(short[kept] <= 1e-5 * np.abs(operation.stage_benefit).max() + 1e-9)


#: Mistakes in the source of the bound, and problems that show them.
MUTATIONS = {
    "no remainder by curvature": ("(max(one, other) + bend_mr * box.product)", "0.0 * max(one, other)", "random 4"),
    "a slope of the wrong sign": ("made_r = subtract(at.per[0],", "made_r = add(at.per[0],", "random 1"),
    "the value at the start added": ("(base, -slopes[0], slopes[1])", "(base, slopes[0], slopes[1])", "random 0"),
    "no losses": ("(mid_x, mid_x)), lost_here[0])", "(mid_x, mid_x)), _ZERO)", "losses"),
    "the wrong bound of the release": ("minus[0] + most)", "minus[0] + least)", "random 2"),
    "the installed capacity is half": (
        "installed_mw * stages.rows[field.PLANT_FACTOR, step]",
        "installed_mw * 0.5",
        "random 3",
    ),
    "a tangent less steep": ("return Tangent(level, slope,", "return Tangent(level, worth,", "power-shortage"),
}
SOURCE = inspect.getsource(boxes)


def function_of(source):
    """The bound by its source, run by Python; curves and intervals stay compiled."""
    tree = ast.parse(source)
    for each in tree.body:
        if isinstance(each, ast.FunctionDef):
            each.decorator_list = []
    space = {"__name__": "mutated_box"}
    exec(compile(tree, "mutated_box", "exec"), space)  # our own
    return space["bracket_bound"]


def bracket_of(source):
    """Bounds of brackets by the source of the bound."""
    bracket_bound = function_of(source)

    def bracket(year, storages, widths, slopes, random):
        share = random.random(len(storages))
        low = storages - share * widths
        high = np.maximum(low + widths, storages)
        low = np.minimum(low, storages)
        value, stages = random.normal(size=len(storages)), stages_of(year.limits)
        bounds = [
            bracket_bound(
                year.model.exact,
                stages,
                step,
                (low[step], high[step]),
                (low[step + 1], high[step + 1]),
                value[step + 1] - value[step],
                (slopes[step], slopes[step + 1]),
            )
            for step in range(len(storages) - 1)
        ]
        return np.array(bounds), value + slopes * (storages - 0.5 * (low + high))

    return bracket


@pytest.mark.parametrize("mistake", MUTATIONS)
def test_a_mistake_in_the_bound_is_found_out(mistake):
    before, after, name = MUTATIONS[mistake]
    assert SOURCE.count(before) == 1
    assert excess_of(CASES[name], bracket_of(SOURCE), 3)[0] <= ROUNDING
    assert excess_of(CASES[name], bracket_of(SOURCE.replace(before, after)), 12)[0] > ROUNDING
