"""No stage of a schedule with a free flow exceeds the bound of a box that contains it; and mistakes are found out."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from reservoir.certificate import boxes
from reservoir.certificate.bound import bound_pairs, prove_bound, told_by_mean
from reservoir.certificate.cells import Cells
from reservoir.certificate.reachable import Reachable
from reservoir.certificate.stages import ByMean, freed, stages_of
from reservoir.hydro.compiled_year import step_value
from reservoir.hydro.jit import compiled as compiled_code
from reservoir.hydro.plant import plant_with_cursors
from reservoir.hydro.rows import HM3_PER_M3S, INFLOW, TAILWATER
from reservoir.hydro.step import release_to_reach
from reservoir.solvers.dp.free_flow import FreeFlow, fill_best
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
    prices.append(worth * random.normal(0.0, 0.7, 12) * (random.random(12) < 0.5))
    prices.append(random.random(12))
    free = FreeFlow.between((lower, upper), prices, (0.0, float(problems.limits.capacity_hm3.max())))
    free.best[:] = random.random(free.best.shape) * problems.limits.release_upper_m3s.max()
    return free


def backed_up(problems, random):
    """Problems backed up by a lake below, if they have losses, and what a proof is told of its level."""
    if not problems.limits.lake:
        return problems, lambda stages: stages
    level = problems.model.reservoir.tailrace(random.random(12) * problems.limits.release_upper_m3s[0])
    less, more = random.random(2) * random.choice([0.0, 0.3])

    def above(stages):
        return stages.changed(tailwater=level - less, tailwater_most=level + more)

    return replace(problems, limits=problems.limits.changed(tailwater=level)), above


def with_levels(free, year, operation, random):
    """The free flow of a plant that is paid for the level of the lake below, and charged for its own.

    The lake may be lower and higher than it is, by a little or by much; what a metre is paid is about what it makes.
    """
    less, more = random.random((2, 12)) * random.choice([0.01, 0.3, 5.0], 12)
    of_head = operation.stage_benefit / operation.head_m.clip(min=1.0)
    paid, charged = (random.uniform(0.0, 2.0, 12) * of_head.clip(min=0.0) for _ in range(2))
    lowest_m = operation.mean_level_m - random.uniform(0.0, 5.0, 12)
    free = free._replace(levels=np.stack([paid, less + more, charged, lowest_m]))
    return free, year.limits.arrays().rows[TAILWATER] - less


def excess_of(problems, bracket, count, seed=1, levels=False):
    """Largest excess of a stage over its bound, relative to what the stage is worth, and how many were compared."""
    random, worst, compared = np.random.default_rng(seed), -np.inf, 0
    for _ in range(count):
        free = free_of(problems, random)
        problems, above = backed_up(problems, random)
        if levels:  # have prices where nothing is paid for what the turbines take
            free.turbined[:] = 0.0
            free.upper[:] = free.lower + random.choice([0.0, 1e-3, 1.0]) * (free.upper - free.lower)
        flow = free.lower + random.random(12) * (free.upper - free.lower)
        limits = problems.limits
        fed = replace(problems, limits=limits.changed(inflow=limits.inflow_m3s + flow))
        for made in random_schedules(fed, 1, random):
            for place in range(len(problems)):
                operation, year = made.operation[place], problems[place]
                storages = operation.storage_hm3
                widths = np.ptp(storages) * 10.0 ** random.uniform(-5, -0.3, 13) + 1e-9
                worth = operation.stage_benefit + free.paid * operation.release_m3s - free.price * flow
                worth += free.turbined * operation.turbined_m3s + free.power * operation.power_mw
                if levels:
                    free, lowest = with_levels(free, year, operation, random)
                    paid, _, charged, lowest_m = free.levels
                    worth += paid * (year.limits.arrays().rows[TAILWATER] - lowest)
                    worth -= charged * (operation.mean_level_m - lowest_m)
                    year = replace(year, limits=year.limits.changed(tailwater=lowest))
                scale = np.abs(worth).max() + np.abs(free.price * flow).max() + 1e-9
                slopes = random.normal(size=13) * scale / (np.ptp(storages) + 1e-9)
                share = random.random(13)
                low = storages - share * widths
                low, high = np.minimum(low, storages), np.maximum(low + widths, storages)
                value = random.normal(size=13)
                cells = Cells(*one_cell_a_time(13), low, high, value, slopes)
                stages = freed(stages_of(year.limits), free, 1e-3 * scale)
                bounds = bracket(year, stages if levels else above(stages), cells)
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


WITH_LAKE = ["losses", "negative prices, shortage", "zoo 1"]


@pytest.mark.parametrize("bracket", ["compiled", "by_mean", "by_both"])
@pytest.mark.parametrize("name", WITH_LAKE)
def test_no_stage_exceeds_the_bound_of_its_box_where_levels_have_prices(name, bracket):
    worst, compared = excess_of(CASES[name], globals()[bracket], 40, levels=True)
    assert compared > 120
    assert worst <= ROUNDING


#: Mistakes in what prices of levels add, and problems that show them.
OF_LEVELS = {
    "the lake is paid at its lowest": ("paid * rise + above_own", "0.0 * rise + above_own", "zoo 1"),
    "no other level is better than the lowest": ("max(above(paid - low), 0.0)", "0.0", "zoo 1"),
    "no other level is better than the highest": ("max(above(high - paid), 0.0)", "0.0", "zoo 1"),
    "the tailrace is below the lake": ("paid * above(max(min(own[0][1], lake[1]) - lake[0], 0.0))", "0.0", "zoo 1"),
    "a metre makes twice as much": ("return max(low, 0.0) * worth", "return 2.0 * max(low, 0.0) * worth", "zoo 1"),
    "a metre makes half as much": ("max(high, 0.0) * most", "0.5 * max(high, 0.0) * most", "zoo 1"),
    "its own level costs twice": ("rounded), charged, level)", "rounded), 2.0 * charged, level)", "zoo 1"),
}


@pytest.mark.parametrize("mistake", OF_LEVELS)
def test_a_mistake_in_what_prices_of_levels_add_is_found_out(mistake):
    before, after, name = OF_LEVELS[mistake]
    assert SOURCE.count(before) == 1
    with np.errstate(divide="ignore", invalid="ignore"):  # as compiled code
        assert excess_of(CASES[name], by(SOURCE), 1, levels=True)[0] <= ROUNDING
        assert excess_of(CASES[name], by(SOURCE.replace(before, after)), 12, levels=True)[0] > ROUNDING


@pytest.mark.parametrize(
    ("installed", "turbines", "made"),
    [
        (99.0, 99.0, (2.0, 6.0)),
        (99.0, 1.0, (0.5, 0.7)),
        (99.0, 20.0, (0.5, 6.0)),
        (20.0, 99.0, (0.0, 6.0)),
        (1.0, 9.0, (0.0, 0.0)),
    ],
)
def test_a_metre_of_head_makes_what_the_least_of_three_powers_does(installed, turbines, made):
    year = CASES["losses"][0]
    stages = stages_of(year.limits).changed(power_value=1.0, plant_factor=1.0, operating_storage=-1.0)
    level, per = ((0.0, 1.0), (0.0, 0.0), (0.0, 0.0)), ((1.0, 1.5), (0.2, 0.3), (0.0, 0.0))
    water = boxes.Water(level, level, per, ((turbines, 1.01 * turbines), (0.5, 0.7), (0.0, 0.0)))
    plant = year.model.exact._replace(installed_mw=installed)
    found = boxes._made_by_head(plant, stages, 0, water, (10.0, 20.0), (5.0, 6.0))
    assert found == pytest.approx(made)
    idle = boxes._made_by_head(plant, stages.changed(operating_storage=5.5), 0, water, (10.0, 20.0), (5.0, 6.0))
    assert idle == pytest.approx((0.0, made[1]))


def told(year, stages, cells):
    """Steps and what is told of them by mean storage, on all that the cells may have."""
    known = Reachable(np.full(13, cells.lower.min()), np.full(13, cells.upper.max()), None, may_run_dry=False)
    return told_by_mean(year.model.exact, stages, known, 6)


def by_mean(year, stages, cells):
    """Bounds by what is told of mean storages alone: no range binds, and all is near enough."""
    stages = told(year, stages, cells)
    assert stages.by_mean.number.min() > 0
    return compiled(year, stages.without_range.changed(free_slack=np.inf), cells)


def by_both(year, stages, cells):
    """Bounds by what is told of mean storages where that is close, else the lesser of it and that of the box."""
    return compiled(year, told(year, stages, cells), cells)


@pytest.mark.parametrize("bracket", [by_mean, by_both])
@pytest.mark.parametrize("name", NAMES)
def test_no_stage_exceeds_what_is_told_of_its_mean_storage(name, bracket):
    worst, compared = excess_of(CASES[name], bracket, 20)
    assert compared > 60
    assert worst <= ROUNDING


@pytest.mark.parametrize("name", ["random 0", "random 2", "losses", "zoo 0"])
def test_nothing_that_flows_in_freely_for_nothing_changes_no_bound(name):
    problems, random = CASES[name], np.random.default_rng(3)
    nothing = np.zeros(12)
    free = FreeFlow.between((nothing, nothing), (nothing,) * 4, (0.0, float(problems.limits.capacity_hm3.max())))
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
    "told at the middle of the side": ("moved_by = above(above(middle * part[2]))", "moved_by = 0.0", "random 3"),
    "what the turbines take is not paid": ("moved(total.base, paid, taken), total", "total.base, total", "random 0"),
    "what they take is charged twice": ("moved(rounded, -paid, flow)", "moved(rounded, -2.0 * paid, flow)", "random 1"),
    "a lake below is a metre higher": (
        "level = max(value[0], lake[0]), max(value[1], lake[1])",
        "level = max(value[0], lake[0]) + 1.0, max(value[1], lake[1]) + 1.0",
        "losses",
    ),
    "they let through a tenth": (
        "through = scale_jet(factor, enclose",
        "through = scale_jet(0.1 * factor, enclose",
        "random 1",
    ),
    "they make most power of a tenth": (
        "(multiply(most, of_one[0])",
        "(multiply(most, scale(0.1, of_one[0]))",
        "random 0",
    ),
    "they are charged for the release alone": (
        "if between[0] <= least_of_all:",
        "if between is ranges[0]:",
        "random 0",
    ),
    "the side is a point": ("value += abs(a[3]) * box.part[0]", "value += 0.0", "random 0"),
    "the last parts are left out": ("while edge != end:", "while False:", "random 0"),
    "less flows in than may": (
        "with_value(minus, minus[0] + upper)",
        "with_value(minus, minus[0] + lower)",
        "random 1",
    ),
}


#: Mistakes that only what is bilinear shows, and how wide the free flow is there, as a part of half a storage.
CURVED = {
    "no cross term": ("bend_mr * box.product)", "0.0 * box.product)", 1.8),
    "no cross term of storage and the free flow": (
        "above(above(box.product + above(box.mean_1 * part[1])))",
        "box.product",
        1.8,
    ),
    "no cross term of storage and release": ("product = above(box.mean_1 * part[1])", "product = 0.0", 4.0),
}


def by(source):
    """Brackets of a cell a time by the source of the bound."""
    bracket_bound = function_of(source)

    def bracket(year, stages, cells):
        low, high, steps = cells.lower, cells.upper, range(12)
        value, slope = np.diff(cells.value), cells.slope
        boxes_of = [((low[step], high[step]), (low[step + 1], high[step + 1])) for step in steps]
        slopes = [(slope[step], slope[step + 1]) for step in steps]
        return np.array(
            [
                bracket_bound(year.model.exact, stages, step, *boxes_of[step], value[step], slopes[step])
                for step in steps
            ]
        )

    return bracket


@compiled_code
def benefit(plant, rows, step, x, y, release):
    """Of a step between two storages, and what it releases net of what flows in freely."""
    net = release_to_reach(x, y, rows.rows[INFLOW, step], rows.rows[HM3_PER_M3S, step], rows, step)
    return step_value(plant, rows, step, x, y, release)[0], net


def excess_of_flat(problems, bracket_bound, wide, count):
    """Largest excess at corners of boxes in whose middle prices and values leave no slope, and how many there were."""
    random, worst, compared, year, step = np.random.default_rng(5), -np.inf, 0, problems[0], 0
    limits, rows, plant = year.limits, year.limits.arrays(), plant_with_cursors(year.model.exact)
    capacity, near = float(limits.capacity_hm3.max()), 1e-4

    def slopes(point):
        """Of the benefit and of what is released net, over both storages and the release."""
        ends = [[benefit(plant, rows, step, *(point + sign * each)) for sign in (1, -1)] for each in near * np.eye(3)]
        return np.array([np.subtract(*pair) for pair in ends]) / (2 * near)

    for _ in range(count):
        least, most = (float(each[step]) for each in (limits.release_lower_m3s, limits.release_upper_m3s))
        x, y = capacity * random.uniform(0.4, 0.9, 2)
        half, release = capacity * 10.0 ** random.uniform(-3.5, -2.0), random.uniform(least, 0.5 * most)
        across, price = wide * half / float(limits.hm3_per_m3s[step]), random.normal()
        flow = release - benefit(plant, rows, step, x, y, release)[1]
        of_benefit, of_net = slopes(np.array([x, y, release])).T
        slope_x, slope_y, paid = of_benefit + of_net * price
        paid = price - paid
        flows, prices = (flow - across, flow + across), (price, paid)
        flows, prices = (tuple(np.full(12, each) for each in pair) for pair in (flows, (*prices, 0.0, 0.0)))
        free = FreeFlow.between(flows, prices, (0.0, capacity))
        free.best[:] = release
        sides = (x - half, x + half), (y - half, y + half)
        bound = bracket_bound(year.model.exact, freed(stages_of(limits), free), step, *sides, 0.0, (slope_x, -slope_y))
        for one, other, third in itertools.product((-1.0, 1.0), repeat=3):
            at, brought = (x + one * half, y + other * half), flow + third * across
            there = brought + benefit(plant, rows, step, *at, release)[1]
            worth = benefit(plant, rows, step, *at, there)[0] + paid * there - price * brought
            worth -= half * (one * slope_x + other * slope_y)
            if least <= there <= most:
                size = abs(worth) + abs(paid * there) + abs(price * brought)
                worst, compared = max(worst, (worth - bound) / size), compared + 1
    return worst, compared


@pytest.mark.parametrize("mistake", CURVED)
def test_a_mistake_in_what_is_bilinear_is_found_out(mistake):
    (before, after, wide), name = CURVED[mistake], "losses"
    assert SOURCE.count(before) == 1
    with np.errstate(divide="ignore", invalid="ignore"):
        worst, compared = excess_of_flat(CASES[name], function_of(SOURCE), wide, 20)
        assert compared > 30
        assert worst <= ROUNDING
        assert excess_of_flat(CASES[name], function_of(SOURCE.replace(before, after)), wide, 20)[0] > ROUNDING


def test_the_tailrace_is_no_lower_than_a_lake_below_and_rises_as_it_does_or_not_at_all():
    tail = (96.0, 98.0), (0.01, 0.02), (-0.003, -0.001)
    assert boxes._backed_up(tail, (90.0, 95.0)) == tail
    assert boxes._backed_up(tail, (99.0, 99.5)) == ((99.0, 99.5), (0.0, 0.0), (0.0, 0.0))
    level, slope, curvature = boxes._backed_up(tail, (97.0, 97.5))
    assert (level, slope) == ((97.0, 98.0), (0.0, 0.02))
    assert curvature == (-0.003, np.inf)  # it bends upwards at the lake's level


@pytest.mark.parametrize("mistake", MUTATIONS)
def test_a_mistake_in_the_bound_of_a_free_flow_is_found_out(mistake):
    before, after, name = MUTATIONS[mistake]
    assert SOURCE.count(before) == 1
    with np.errstate(divide="ignore", invalid="ignore"):  # as compiled code
        assert excess_of(CASES[name], by(SOURCE), 1)[0] <= ROUNDING
        assert excess_of(CASES[name], by(SOURCE.replace(before, after)), 8)[0] > ROUNDING


#: Mistakes in what is told of mean storages, and in how it is read.
OF_MEANS = {
    "a slope of the wrong sign": (
        "above(here + over + rounded), slope, over",
        "above(here + over + rounded), -slope, over",
    ),
    "half of the releases": ("max(released[0], below(brings[0]", "max(0.5 * released[1], below(brings[0]"),
    "a point of a segment": ("(segment, segment), -here", "((middle, middle), (middle, middle)), -here"),
    "water is stored for nothing": ("(base - stored * (mid_y - mid_x))", "base"),
    "the price of stored water forgotten beside the middle": (
        "by_x, by_y, middle, half = stored",
        "by_x, by_y, middle, half = 0.0",
    ),
    "one corner of a box": ("highest + second * (away - half)", "highest + first * (away - half)"),
    "the next segment": ("(between, right) if", "(between + 1, right) if"),
}


def excess_of_means(problems, source, count):
    """Largest excess of the best releases at corners of boxes over what is told of their mean storages by a source."""
    random, worst, year, step = np.random.default_rng(5), -np.inf, problems[0], 0
    limits, rows, plant = year.limits, year.limits.arrays(), plant_with_cursors(year.model.exact)
    capacity, bracket_bound = float(limits.capacity_hm3.max()), function_of(source)
    releases = np.linspace(float(limits.release_lower_m3s[step]), float(limits.release_upper_m3s[step]), 401)
    for _ in range(count):
        free = free_of(problems, random)
        free.turbined[:], free.power[:] = 0.0, 0.0
        fill_best(plant, rows, free, 1.0)
        center, reach = capacity * random.uniform(0.4, 0.9), 0.1 * capacity
        stages = freed(stages_of(limits), free).without_range._replace(by_mean=ByMean.empty(1, 3))
        ends = np.full(2, center - reach), np.full(2, center + reach)
        bracket_bound.__globals__["fill_by_mean"](year.model.exact, stages, *ends)
        stored = free.price[step] / float(limits.hm3_per_m3s[step])
        for _ in range(10):
            (x, y), half = center + reach * random.uniform(-0.7, 0.7, 2), 0.25 * reach * random.random(2)
            box, slopes = ((x - half[0], x + half[0]), (y - half[1], y + half[1])), stored * random.uniform(0.0, 2.0, 2)
            bound = bracket_bound(year.model.exact, stages.changed(free_slack=np.inf), step, *box, 0.0, tuple(slopes))
            for away in half * np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)]):
                at = np.array([x, y]) + away
                of_step = np.array([benefit(plant, rows, step, *at, each) for each in releases])
                worth = of_step[:, 0] + free.paid[step] * releases - free.price[step] * (releases - of_step[:, 1])
                excess = worth.max() - slopes[0] * away[0] + slopes[1] * away[1] - bound
                worst = max(worst, float(excess / np.abs(worth).max()))
    return worst


@pytest.mark.parametrize("mistake", OF_MEANS)
def test_a_mistake_in_what_is_told_of_mean_storages_is_found_out(mistake):
    before, after = OF_MEANS[mistake]
    assert SOURCE.count(before) == 1
    with np.errstate(divide="ignore", invalid="ignore"):
        assert excess_of_means(CASES["random 1"], SOURCE, 1) <= ROUNDING
        assert excess_of_means(CASES["random 1"], SOURCE.replace(before, after), 4) > ROUNDING
