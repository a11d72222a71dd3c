"""A device bounds brackets with a free flow, and tells of mean storages, as compiled code does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from reservoir.certificate import on_device
from reservoir.certificate.bound import told_by_mean
from reservoir.certificate.cells import pairs_of
from reservoir.certificate.on_device import BracketsOnDevice, definitions
from reservoir.certificate.reachable import Reachable
from reservoir.certificate.stages import freed
from reservoir.certificate.together import Together
from reservoir.errors import DeviceError
from reservoir.opencl import Session, assemble
from tests.certificate.device_cases import CASES, boxes_of, narrowed, of_device, on_host, random_cells, tabled
from tests.certificate.test_below_dead_storage import sinking
from tests.certificate.test_free_flow import NAMES, backed_up, free_of

SOURCE = assemble(on_device.FILES_IF_FREE, definitions(free=True))
WITH_MEANS = assemble((*on_device.FILES_IF_FREE, *on_device.FILES_IN_DOUBLE), definitions(free=True))
#: Segments of the mean storage.
ROOM = 24


def within(cells):
    """Most storages that cells may have."""
    lower, upper = np.quantile(cells.lower, 0.02), np.quantile(cells.upper, 0.98)
    return Reachable(np.full(13, lower), np.full(13, upper), None, may_run_dry=False)


def with_free_flow(name, horizons, seed=3):
    """Horizons of a case into which part of the inflow is free; of turbines and lakes below, anything may be so."""
    problems, random = CASES[name], np.random.default_rng(seed)
    for stages in horizons:
        free = free_of(problems, random)
        above = backed_up(problems, random)[1]
        slack = 0.02 * np.abs(free.price * free.upper).max()
        stages = above(freed(stages, free, slack))
        below, over = 3.0 * random.random((2, 12))
        most = problems.model.reservoir.installed_mw * random.choice([0.5, 2.0], 12)
        levels = {"tailwater": stages.tailwater - below, "tailwater_most": stages.tailwater_most + over}
        yield stages.changed(turbined_power=most, **levels)


def free_boxes(name, *, every_term=False, told=True):
    """The plant of a case with curves of + - * / alone, horizons with a free flow, and random cells of each."""
    plant, horizons, cells = boxes_of(name)
    plant, horizons = tabled(plant, list(with_free_flow(name, horizons)))
    if every_term:
        plant, horizons = narrowed(plant, horizons, np.random.default_rng(5))
    if told:
        horizons = [told_by_mean(plant, *of, ROOM) for of in zip(horizons, map(within, cells), strict=True)]
    return plant, horizons, cells


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("every_term", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_device_bounds_as_compiled_code_to_the_last_bit(name, every_term, told, device):
    plant, horizons, cells = free_boxes(name, every_term=every_term, told=told)
    expected = on_host(plant, horizons, cells)
    assert np.isfinite(expected).sum() > 200
    assert np.array_equal(of_device(device, plant, horizons, pairs_of(cells)), expected)


def filled(device, plant, horizons, cells):
    with Session(device) as session:
        on = BracketsOnDevice(session, plant, [each.without_range for each in horizons])
        return on.told_by_mean(list(map(within, cells)), ROOM)


def all_told(by_mean):
    """All numbers that are told."""
    number = by_mean.number
    ends = [by_mean.edges[step, : count + 1] for step, count in enumerate(number)]
    lines = [each[step, :count] for each in by_mean[2:] for step, count in enumerate(number)]
    return np.concatenate([number, *ends, *lines])


@pytest.mark.parametrize("every_term", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_device_tells_of_mean_storages_as_compiled_code_to_the_last_bit(name, every_term, device):
    plant, horizons, cells = free_boxes(name, every_term=every_term)
    for found, stages in zip(filled(device, plant, horizons, cells), horizons, strict=True):
        assert stages.by_mean.number.min() > 0
        assert np.array_equal(all_told(found), all_told(stages.by_mean))


#: Mistakes in the kernels.
MISTAKES = {
    "the side is a point": ("UP(fabs(a.by_flow) * sides.flow)", "0.0"),
    "weights forget the free flow": ("AND_FLOW(-a.by_flow / along.by_flow)", "AND_FLOW(0.0)"),
    "slopes over the free flow are not added": ("a.by_flow + by * along.by_flow", "a.by_flow"),
    "nor mixed": ("rest * a.by_flow + share * b.by_flow", "a.by_flow"),
    "nor part of a size": ("size + fabs(a.by_flow) * box->sides.flow", "size"),
    "the free flow has no range of slopes": ("above(magnitude(subtract(slopes, point(slope))) * far)", "0.0"),
    "told at the middle of the side": ("box.off = middle - side.at", "box.off = 0.0"),
    "no cross term of storage and the free flow": ("above(above(box.product + across))", "box.product"),
    "no cross term of storage and release": ("box.product = across", "box.product = 0.0"),
    "storages change the release": ("box.release_x = box.release_y = box.release_x_box", "box.release_x_box"),
    "the deviation of the release alone": ("box.release_1 = above(box.release_1 + box.far)", ""),
    "no lake below": ("if (tail.value.low >= lake.high) return tail;", "return tail;"),
    "the tailrace always rises": ("found.slope = hull(tail.slope, NOUGHT)", "found.slope = tail.slope"),
    "it bends no more than before": ("lesser(tail.curvature.low, 0.0), INFINITY}", "tail.curvature.low, 0.0}"),
    "a power that is wanted counts for nothing": ("lesser(power.high, HIGH(stage->turbined_power))", "power.high"),
    "turbines let everything through": ("scale_jet(stage->plant_factor, at[on_box].capacity)", "at[on_box].capacity"),
    "a flow of the wrong sign": ("scaled_jet(sign, flow[1])", "flow[1]"),
    "a shortage that counts as none is not turbined": ("above(UP(released.value + spare))", "released.value"),
    "the free flow costs nothing": ("own = at_price(own, unsigned_of(price), charged, box);", ""),
    "the release is not paid": ("return at_price(own, unsigned_of(paid), released, box);", "return own;"),
    "a price of the wrong sign": ("charged = price.high > 0.0", "charged = price.high < 0.0"),
    "a pay of the wrong sign": ("released = paid.high > 0.0", "released = paid.high < 0.0"),
    "its shortage that counts as none is not paid": ("UP(ROUNDING * size)) + spare", "UP(ROUNDING * size))"),
    "what the turbines take is not paid": ("sum->base = at_price(sum->base, paid, taken, box);", ""),
    "nor what that rounds": ("paid.high * (size_of(taken, box) + size_of(turbined->made, box))", "0.0"),
    "more flows in than may": ("minus, minus.value + upper)", "minus, minus.value + 2.0 * upper)"),
    "less flows in than may": ("most, most.value - lower)", "most, most.value - upper)"),
    "a net flow for the free one": ("brought.most = from_net(minus,", "brought.most = from_net(flow,"),
    "the side is left out": ("return by_release ? side : add(net, side);", "return by_release ? side : net;"),
    "turbines that stand still are paid": ("brought.paid = runs &&", "brought.paid ="),
    "they are charged for the release alone": ("!(ranges[which].low <= least_of_all)", "which > 0"),
    "they are charged twice": ("charge = negative(paid_for)", "charge = scale(-2.0, paid_for)"),
    "what that rounds is left out": ("UP(values.value + UP(ROUNDING * size))), charge", "values.value), charge"),
    "the best release at a node": ("left + (at - place) * (LOW(told->best[place + 1]) - left)", "left"),
    "means beyond what is told": ("mean.low < HIGH(told->edges[0]) ||", ""),
    "missing water is told of": ("> 0.0 && y.low <= HIGH(stage->touched)) return INFINITY", "< 0.0) return INFINITY"),
    "the price of stored water forgotten": ("by_x = stored - slope_x", "by_x = -slope_x"),
    "one corner of a box": ("highest + second * (away - half_mean)", "highest + first * (away - half_mean)"),
    "no bend between": ("which == 1 ? lesser(greater(bend, low), high)", "which == 1 ? low"),
    "the next segment": ("int left = 0, right = count;", "int left = count - 1, right = count;"),
    "a slope of the wrong sign": ("value + slope * (at - center)", "value - slope * (at - center)"),
    "water is stored for nothing": ("(base - stored * (mid_y - mid_x)) + ROUNDING", "base + ROUNDING"),
    "what means round is left out": ("(mid_y - mid_x)) + ROUNDING * size", "(mid_y - mid_x))"),
    "a box by itself never does better": ("*loose = over > LOW(stage->free_slack)", "*loose = false"),
    "what is told is never enough": ("if (known < INFINITY && !loose)", "if (false)"),
    "what is told is always enough": ("if (brings.low <= lesser(start, end) - net.high", "if (true"),
    "always parts of the free flow": (
        "brings.high - brings.low > net.high - net.low",
        "false",
    ),
    "a hint of the release for one of the flow": ("best -= release_of(", "release_of("),
    "the whole range is always enough": ("if (!(least > floor + above_floor)) return least;", "return least;"),
    "no slack": ("LOW(stage->free_slack), -OF_LOSS", "0.0, -OF_LOSS"),
    "a middle where no step is": ("if (found > -INFINITY) above_floor =", "above_floor ="),
    "means tell of what ends below dead storage": ("if (y.high < LOW(stage->dead)) return INFINITY;", ""),
    "something is released there": (
        "? HIGH(stage->at_rest) : HIGH(stage->release_upper)",
        "? HIGH(stage->release_upper) : HIGH(stage->release_upper)",
    ),
    "nor a part of what is lost": ("-OF_LOSS * floor", "0.0"),
    "one side of the best": ("if (end == range.low) return", "return"),
    "parts are never narrower": ("&& width > narrowest && parts", "&& false && parts"),
    "far ends do not count": ("floor = greater(floor, found);", ""),
    "parts do not grow": ("width = 2.0 * width;", ""),
}


def sinking_boxes():
    """The same of a lake that losses take below dead storage, with cells about there."""
    year, stages, known = sinking(share=1e3, slack=5.0)
    plant, (stages,) = tabled(year.model.exact, [stages])
    dead, random = float(year.limits.dead_hm3), np.random.default_rng(4)
    cells = random_cells(year, random)
    lowest = np.append(known.lower, known.lower[-1])[np.repeat(np.arange(14), 12)]
    middle = lowest + 1.5 * random.random(len(lowest)) * (dead - lowest)
    half = (dead - lowest) * 10.0 ** random.uniform(-4, -1, len(lowest))
    cells = cells._replace(lower=middle - half, upper=middle + half)
    return plant, [told_by_mean(plant, stages, known, ROOM)], [cells]


@pytest.fixture(scope="module")
def by_compiled_code():
    """Boxes with every term and without, and below dead storage, and their brackets by compiled code."""
    cases = [("losses", True), ("random 0", False), ("random 1", True)]
    given = [*(free_boxes(name, every_term=every_term) for name, every_term in cases), sinking_boxes()]
    return [(of, on_host(*of)) for of in given]


def with_mistake(monkeypatch, source, before, after):
    assert source.count(before) == 1
    monkeypatch.setattr(on_device, "assemble", lambda *_: source.replace(before, after))


def test_a_device_bounds_what_ends_below_dead_storage_as_compiled_code_to_the_last_bit(device):
    plant, horizons, cells = sinking_boxes()
    expected = on_host(plant, horizons, cells)
    assert np.isfinite(expected).sum() > 50
    assert np.array_equal(of_device(device, plant, horizons, pairs_of(cells)), expected)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_kernel_is_found_out(mistake, by_compiled_code, device, monkeypatch):
    with_mistake(monkeypatch, SOURCE, *MISTAKES[mistake])
    found = [of_device(device, *of[:2], pairs_of(of[2])) for of, _ in by_compiled_code]
    assert any(not np.array_equal(each, brackets) for each, (_, brackets) in zip(found, by_compiled_code, strict=True))


#: Mistakes in the kernel that tells of mean storages.
OF_MEANS = {
    "without a slope": ("slope = fabs(rises) < INFINITY ? rises : 0.0", "slope = 0.0"),
    "at the storage alone": ("told, segment, segment, -value", "told, point(segment.low), segment, -value"),
    "water is stored for nothing": ("slope_x = stored + 0.5", "slope_x = 0.5"),
    "what that rounds is left out": ("above(value + over + rounded)", "value + over"),
    "segments do not grow": ("length = 2.0 * length;", ""),
    "nor shrink": ("0.5 * length >= least)", "false)"),
    "the last one is short": ("edge + 1.5 * length < stop", "edge + length < stop"),
    "they begin too late": ("point(within[0]), point(within[1])", "point(within[2]), point(within[1])"),
    "beyond the limits of the release": ("lesser(greater(best_release(told, storage)", "lesser(greater(1e6"),
}


@pytest.mark.parametrize("mistake", OF_MEANS)
def test_a_mistake_in_what_is_told_of_mean_storages_is_found_out(mistake, by_compiled_code, device, monkeypatch):
    with_mistake(monkeypatch, WITH_MEANS, *OF_MEANS[mistake])
    plant, horizons, cells = by_compiled_code[0][0]
    told = zip(filled(device, plant, horizons, cells), horizons, strict=True)
    assert not all(np.array_equal(all_told(found), all_told(stages.by_mean)) for found, stages in told)


def test_what_waits_together_is_bounded_as_by_itself(device):
    given = [free_boxes(name) for name in ("random 0", "random 1")]
    together = Together(device)

    def bounded(of):
        plant, stages, cells = of
        told = together.told_by_mean(plant, stages, within(cells))
        return told, together.bounded(plant, told, cells, np.zeros(cells.first_pair[-1]))

    each = [(plant, *of) for plant, horizons, cells in given for of in zip(horizons, cells, strict=True)] * 2
    with ThreadPoolExecutor(len(each)) as pool:
        found = list(pool.map(bounded, each))
    for (plant, stages, cells), (told, brackets) in zip(each, found, strict=True):
        assert np.array_equal(all_told(told.by_mean), all_told(told_by_mean(plant, stages, within(cells)).by_mean))
        assert np.array_equal(brackets, on_host(plant, [told], [cells]))


def test_a_device_that_fails_fails_all_that_wait(device, monkeypatch):
    plant, horizons, cells = free_boxes("random 0", told=False)
    together = Together(device)

    def fails(*_, **__):
        raise DeviceError("gone", mend="choose another")

    monkeypatch.setattr(BracketsOnDevice, "bound", fails)
    with ThreadPoolExecutor(3) as pool:
        asked = [
            pool.submit(together.bounded, plant, *of, np.zeros(of[1].first_pair[-1]))
            for of in zip(horizons, cells, strict=True)
        ]
    for each in asked:
        with pytest.raises(DeviceError, match="gone"):
            each.result()
