"""No schedule exceeds what a device bounds, and a mistake in a kernel is found out."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.certificate import on_device
from reservoir.certificate.pairs import pairs_of
from reservoir.certificate.paths import Cells
from reservoir.certificate.plant_buffers import definitions
from reservoir.certificate.stages import stages_of
from reservoir.opencl import assemble
from tests.certificate.cases import one_cell_a_time, random_schedules
from tests.certificate.device_cases import CASES, boxes_of, narrowed, of_device, on_host, tabled

ROUNDING = 1e-11


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
            cells.append(Cells(*one_cell_a_time(times), low, high, value, slope))
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
    "another end": ("return first_end[x] + pair - first_pair[x]", "return first_end[x] + 1", "random 0"),
}


def with_mistake(monkeypatch, before, after):
    source = assemble(on_device.FILES, definitions())
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
