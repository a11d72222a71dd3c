"""A device bounds brackets as compiled code does, no schedule exceeds its bound, and a mistake in a kernel is found out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reservoir.certificate import on_device
from reservoir.certificate.on_device import BracketsOnDevice
from reservoir.certificate.pairs import Pairs, pairs_of
from reservoir.certificate.paths import Cells, bound_pairs
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


#: Mistakes in the kernels, and problems that show them.
MUTATIONS = {
    "no remainder by curvature": ("(greater(one, other) + bend_mr", "0.0 * (greater(one, other) + bend_mr", "random 4"),
    "a slope of the wrong sign": ("made_r = subtract(mid->per.value", "made_r = add(mid->per.value", "random 1"),
    "the value at the start added": ("{base, -slope_x, slope_y}", "{base, slope_x, slope_y}", "random 0"),
    "no losses": ("point(mid_x)), lost_here.value", "point(mid_x)), NOUGHT", "losses"),
    "the wrong bound of the release": ("{minus.value + most,", "{minus.value + least,", "random 2"),
    "the installed capacity is half": ("installed_mw * stage->plant_factor", "installed_mw * 0.5", "random 3"),
    "a tangent less steep": ("tangent.worth = slope;", "", "power-shortage"),
    "another step": ("stages + steps[x]", "stages", "random 0"),
    "another end": ("first_end[x] + pair - first_pair[x]", "first_end[x - 1] + pair - first_pair[x]", "random 0"),
}


@pytest.mark.parametrize("mistake", MUTATIONS)
def test_a_mistake_in_a_kernel_is_found_out(mistake, device, monkeypatch):
    before, after, name = MUTATIONS[mistake]
    source = assemble(on_device.FILES, on_device.definitions())
    assert source.count(before) == 1
    monkeypatch.setattr(on_device, "assemble", lambda *_: source.replace(before, after))
    assert excess_of(device, name, 60)[0] > ROUNDING
