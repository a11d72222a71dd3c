"""A device bounds brackets as compiled code does, no schedule exceeds them, and a mistake in a kernel is found out."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.certificate import on_device
from reservoir.certificate.on_device import BracketsOnDevice
from reservoir.certificate.pairs import pairs_of
from reservoir.certificate.paths import Cells, bound_pairs
from reservoir.certificate.plant_buffers import plant_arrays
from reservoir.certificate.stages import stages_of
from reservoir.errors import DeviceError
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.curves.forms import exact_value
from reservoir.opencl import Session, assemble, build
from tests.certificate.cases import every_case, random_schedules

CASES = every_case()
CELLS = 12
#: Of brackets of power laws, which a device bounds by wider intervals: as parts of the largest.
LESS, MORE = 1e-13, 1e-11
ROUNDING = 1e-11


def random_cells(year, random, cells=CELLS):
    """Cells from 1e-7 of the range of storage to half of it, with values as a benefit may have."""
    lower, upper = float(year.limits.storage_lower_hm3.min()), float(year.limits.storage_upper_hm3.max())
    places, width = np.arange(year.limits.steps + 2) * cells, upper - lower
    middle = random.uniform(lower, upper, places[-1])
    half = 0.5 * width * 10.0 ** random.uniform(-7, np.log10(0.5), len(middle))
    value, slope = 100 * random.normal(size=(2, len(middle)))
    pairs = np.arange(year.limits.steps + 1) * cells**2
    return Cells(places, pairs, middle - half, middle + half, value, slope / width)


def without_power(curve):
    """A curve with a table in place of a power law."""
    if not curve.is_power:
        return curve
    x = np.linspace(*curve.breaks, 9)
    return Table(tuple(x), tuple(exact_value(curve, each) for each in x)).compiled()


def tabled(plant, stages):
    """Plant and steps whose curves need nothing but + - * /."""
    conversion = plant.conversion._replace(curve=without_power(plant.conversion.curve))
    curves = {name: without_power(getattr(plant, name)) for name in ("level", "tailrace", "capacity")}
    lake = {name: without_power(getattr(stages[0], name)) for name in ("area", "seepage")}
    return plant._replace(conversion=conversion, **curves), [each._replace(**lake) for each in stages]


def narrowed(plant, stages, random):
    """Tables that end within the heads and storages of the boxes, and steps with every kind of term at once."""
    inner = {name: inner_table(getattr(plant, name), 0.3) for name in ("level", "capacity")}
    curve = inner_table(plant.conversion.curve, 0.4)
    conversion = plant.conversion._replace(curve=curve, lower=float(curve.breaks[0]), upper=float(curve.breaks[-1]))
    return plant._replace(conversion=conversion, **inner), [with_every_term(plant, each, random) for each in stages]


def inner_table(curve, left_out):
    """A table of a curve but for a part of its domain at either end."""
    first, last = curve.breaks[0], curve.breaks[-1]
    x = np.linspace(first + left_out * (last - first), last - left_out * (last - first), 6)
    return Table(tuple(x), tuple(exact_value(curve, each) for each in x)).compiled()


def with_every_term(plant, stages, random):
    steps, most = len(stages.per_flow), plant.installed_mw
    cost = stages.power_value * random.uniform(0.0, 3.0, steps)
    return stages._replace(
        spare=1e-3 * stages.most * random.integers(0, 2, steps),
        power_lower=np.where(random.random(steps) < 0.3, 0.1 * most, -1.0),
        power_target=random.uniform(0.1, 0.9, steps) * most,
        power_cost=cost,
        power_cost_squared=cost / most * random.integers(0, 2, steps),
        power_cost_most=np.where(random.random(steps) < 0.5, 0.2 * cost * most, 1e30),
        supply_target=random.uniform(0.0, 0.5, steps) * stages.most,
        supply_cost_squared=cost / stages.most,
        operating_storage=float(np.quantile(plant.level.breaks, 0.6)),
    )


def on_host(plant, horizons, cells):
    brackets = []
    for stages, each in zip(horizons, cells, strict=True):
        brackets.append(np.zeros(each.first_pair[-1]))
        bound_pairs(plant, stages, each, brackets[-1], 0, len(stages.per_flow))
    return np.concatenate(brackets)


def of_device(device, plant, horizons, pairs, brackets=None):
    with Session(device) as session:
        given = np.zeros(pairs.number) if brackets is None else brackets
        return BracketsOnDevice(session, plant, horizons).bound(pairs, given)


def boxes_of(name, seed=3):
    """The plant of a case, its horizons, and random cells of each."""
    random, years = np.random.default_rng(seed), [CASES[name][place] for place in range(len(CASES[name]))]
    horizons = [stages_of(year.limits) for year in years]
    return years[0].model.exact, horizons, [random_cells(year, random) for year in years]


@pytest.mark.parametrize("name", CASES)
def test_a_device_bounds_as_compiled_code_to_the_last_bit(name, device):
    plant, horizons, cells = boxes_of(name)
    plant, horizons = tabled(plant, horizons)
    expected = on_host(plant, horizons, cells)
    assert np.isfinite(expected).sum() > 500
    found = of_device(device, plant, horizons, pairs_of(cells))
    assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_term_and_limit_is_bounded_as_by_compiled_code(name, device):
    plant, horizons, cells = boxes_of(name)
    plant, horizons = narrowed(*tabled(plant, horizons), np.random.default_rng(5))
    expected = on_host(plant, horizons, cells)
    assert np.isfinite(expected).sum() > 200
    found = of_device(device, plant, horizons, pairs_of(cells))
    assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.parametrize("name", CASES)
def test_power_laws_are_bounded_a_little_wider(name, device):
    plant, horizons, cells = boxes_of(name)
    expected = on_host(plant, horizons, cells)
    found = of_device(device, plant, horizons, pairs_of(cells))
    finite = np.isfinite(expected)
    assert np.array_equal(found[~finite], expected[~finite])
    apart = (found[finite] - expected[finite]) / np.abs(expected[finite]).max()
    assert apart.min() >= -LESS
    assert apart.max() <= MORE


def excess_of(device, name, count):
    """Largest excess of a stage over its bound, relative to what the stage is worth; and how many were compared.

    The boxes of one schedule contain it, and those of all schedules and years are bounded at once.
    """
    problems, random = CASES[name], np.random.default_rng(1)
    horizons, cells, exact, kept, scales = [], [], [], [], []
    for made in random_schedules(problems, count, random):
        for place in range(len(problems)):
            operation = made.operation[place]
            storages, benefit = operation.storage_hm3, operation.stage_benefit
            times, range_hm3 = len(storages), np.ptp(storages) + 1e-9
            widths, share = range_hm3 * 10.0 ** random.uniform(-5, -0.3, times), random.random(times)
            low, high = storages - share * widths, storages + (1 - share) * widths
            scale = np.abs(benefit).max() + 1e-9
            value, slope = random.normal(size=times), random.normal(size=times) * scale / range_hm3
            horizons.append(stages_of(problems[place].limits))
            cells.append(Cells(np.arange(times + 1), np.arange(times), low, high, value, slope))
            exact.append(benefit + np.diff(value + slope * (storages - 0.5 * (low + high))))
            kept.append(operation.violation == 0)
            scales.append(np.full(times - 1, scale + np.abs(value).max()))
    found = of_device(device, problems[0].model.exact, horizons, pairs_of(cells))
    over = (np.concatenate(exact) - found) / np.concatenate(scales)
    compared = np.concatenate(kept)
    return float(over[compared].max(initial=-np.inf)), int(compared.sum())


@pytest.mark.parametrize("name", CASES)
def test_no_stage_exceeds_the_bound_of_a_device(name, device):
    worst, compared = excess_of(device, name, 150)
    assert compared > 300
    assert worst <= ROUNDING


def test_the_pairs_of_a_cell_may_be_any_in_a_row(device):
    plant, horizons, cells = boxes_of("losses")
    dense, random = pairs_of(cells), np.random.default_rng(6)
    every = of_device(device, plant, horizons, dense)
    count = np.diff(dense.first_pair)
    left_out = (random.random(len(count)) * (count + 1)).astype(np.int32)
    kept = (random.random(len(count)) * (count - left_out + 1)).astype(np.int32)
    some = dense._replace(first_end=dense.first_end + left_out, first_pair=np.cumsum([0, *kept], dtype=np.int32))
    chosen = np.concatenate(
        [np.arange(n) + place for n, place in zip(kept, dense.first_pair[:-1] + left_out, strict=True)]
    )
    assert (kept == 0).sum() > 100
    assert np.array_equal(of_device(device, plant, horizons, some), every[chosen])


def test_dead_pairs_stay_so_and_levels_follow_each_other(device):
    plant, horizons, cells = boxes_of("random 4")
    pairs = pairs_of(cells)
    alive = np.random.default_rng(8).random(pairs.number) < 0.5
    with Session(device) as session:
        brackets = BracketsOnDevice(session, plant, horizons)
        every = brackets.bound(pairs, np.zeros(pairs.number))
        first = brackets.bound(pairs_of(cells[:1]), np.zeros(cells[0].first_pair[-1]))
        some = brackets.bound(pairs, np.where(alive, 0.0, -np.inf))
    assert np.array_equal(first, every[: len(first)])
    assert np.array_equal(some, np.where(alive, every, -np.inf))


def test_a_device_without_double_is_refused(device, monkeypatch):
    monkeypatch.setattr(on_device, "has_double", lambda _: False)
    with Session(device) as session, pytest.raises(DeviceError, match="does not support double precision"):
        BracketsOnDevice(session, *boxes_of("random 4")[:2])


def test_horizons_of_other_lakes_are_refused():
    plant, horizons, _ = boxes_of("losses")
    other = horizons[0]._replace(area=Table((0.0, 1.0), (1.0, 2.0)).compiled())
    with pytest.raises(ValueError, match="another area"):
        plant_arrays(plant, [*horizons, other])


#: A power that errs by as many units in the last place as OpenCL allows, up or down; and its enclosure.
POWER = "return pow(x, exponent);"
ERRING = "return pow(x, exponent) * (1.0 + {} * 15.0 * EPS);"
POWERS = """
__kernel void powers(__global const double *x, const double exponent, __global double *low, __global double *high) {
    const int place = get_global_id(0);
    const Interval found = power(point(x[place]), exponent);
    low[place] = found.low;
    high[place] = found.high;
}
"""


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(("widened", "holds"), [("0x1p-47", True), ("0x1p-49", False)])
def test_powers_are_enclosed_whatever_a_device_may_err(sign, widened, holds, device):
    source = assemble(on_device.FILES[:1], {}).replace(POWER, ERRING.format(sign)) + POWERS
    program = build(device, source.replace("EPS_OF_POWER 0x1p-47", f"EPS_OF_POWER {widened}"), as_written=True)
    x = 10.0 ** np.random.default_rng(2).uniform(-6, 5, 4096)
    for exponent in (0.3, 1.7, -0.6, -1.4):
        with Session(device) as session:
            session.upload(x=x)
            session.allocate(low=(x.shape, np.float64), high=(x.shape, np.float64))
            session.run(program, "powers", len(x), None, "x", np.float64(exponent), "low", "high")
            low, high = session.download("low"), session.download("high")
        exact = np.longdouble(x) ** np.longdouble(exponent)
        assert bool(np.all((low < exact) & (exact < high))) == holds
    assert source.count(ERRING.format(sign)) == 1


#: Mistakes in the kernels that schedules show, and problems that do.
MUTATIONS = {
    "no remainder by curvature": ("(greater(one, other) + bend_mr", "0.0 * (greater(one, other) + bend_mr", "random 4"),
    "a slope of the wrong sign": ("made_r = subtract(mid->per.value", "made_r = add(mid->per.value", "random 1"),
    "the value at the start added": ("{base, -slope_x, slope_y}", "{base, slope_x, slope_y}", "random 0"),
    "no losses": ("point(mid_x)), lost_here.value", "point(mid_x)), NOUGHT", "losses"),
    "the wrong bound of the release": ("{minus.value + most,", "{minus.value + least,", "random 2"),
    "the installed capacity is half": ("installed_mw * stage->plant_factor", "installed_mw * 0.5", "random 3"),
    "a tangent less steep": ("tangent.worth = slope;", "", "power-shortage"),
    "a rate that rises": ("multiply(negative(a.slope), squared)", "multiply(a.slope, squared)", "zoo 0"),
    "no supply": ("sum->base = moved(sum->base, tangent, flow);", "", "supply-shortage"),
    "another step": ("stages + steps[x]", "stages", "random 0"),
    "another end": ("first_end[x] + pair - first_pair[x]", "first_end[x] + 1", "random 0"),
}


def with_mistake(monkeypatch, before, after):
    source = assemble(on_device.FILES, on_device.definitions())
    assert source.count(before) == 1
    monkeypatch.setattr(on_device, "assemble", lambda *_: source.replace(before, after))


@pytest.mark.parametrize("mistake", MUTATIONS)
def test_a_mistake_in_a_kernel_is_found_out_by_schedules(mistake, device, monkeypatch):
    before, after, name = MUTATIONS[mistake]
    with_mistake(monkeypatch, before, after)
    assert excess_of(device, name, 60)[0] > ROUNDING


#: Mistakes that rarely make a bound too small, which compiled code shows.
RARE = {
    "no kink where a curve is held": ("= with_jump(found.curvature,", "= hull(found.curvature,"),
    "a kink of the other sign": ("at_last ? negative(slope) : slope)", "slope)"),
    "one piece of a curve": ("(piece < curve->pieces && curve->breaks[piece] <= x.high)", "false"),
    "every derivative monotone": ("next_order.low >= 0.0 || next_order.high <= 0.0;", "true;"),
    "a head that is never held": ("held.slope = (Interval){0.0, 1.0};", ""),
    "turbines that never stand still": ("runs >= 0; --runs", "runs >= 1; --runs"),
    "a cost without a most": ("1 + (stage->power_cost_most < UNLIMITED)", "1"),
    "a kink elsewhere": ("stage->power_target, sum.kinked, box)", "stage->power_lower, sum.kinked, box)"),
    "no shortage that counts as none": ("release.high + stage->spare", "release.high"),
}


@pytest.mark.parametrize("mistake", RARE)
def test_a_mistake_in_a_kernel_is_found_out_by_compiled_code(mistake, device, monkeypatch):
    plant, horizons, cells = boxes_of("random 1")
    plant, horizons = narrowed(*tabled(plant, horizons), np.random.default_rng(5))
    with_mistake(monkeypatch, *RARE[mistake])
    found = of_device(device, plant, horizons, pairs_of(cells))
    assert not np.array_equal(found, on_host(plant, horizons, cells), equal_nan=True)
