"""No schedule exceeds what a device bounds, and a mistake in a kernel is found out."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.certificate import on_device
from reservoir.certificate.cells import pairs_of
from reservoir.certificate.on_device import definitions
from reservoir.opencl import assemble
from tests.certificate.device_cases import CASES, boxes_of, excess_of, narrowed, of_device, on_host, tabled

ROUNDING = 1e-11


@pytest.mark.parametrize("name", CASES)
def test_no_stage_exceeds_the_bound_of_a_device(name, device):
    worst, compared = excess_of(device, name, 150)
    assert compared > 300
    assert worst <= ROUNDING


#: Mistakes in the kernels that schedules show, and problems that do.
MUTATIONS = {
    "no remainder by curvature": ("return UP(greater(one, other)", "return 0.0 * UP(greater(one, other)", "random 4"),
    "a slope of the wrong sign": ("made_r = subtract(mid->per.value", "made_r = add(mid->per.value", "random 1"),
    "the value at the start added": ("{base, -slope_x, slope_y}", "{base, slope_x, slope_y}", "random 0"),
    "no losses": ("point(mid_x)), lost_here.value", "point(mid_x)), NOUGHT", "losses"),
    "the wrong bound of the release": ("minus, minus.value + most)", "minus, minus.value + least)", "random 2"),
    "the installed capacity is half": ("HIGH(stage->plant_factor)), 0.0", "0.5), 0.0", "random 3"),
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
    "one piece of a curve": ("(piece < curve->pieces && LOW(curve->breaks[piece]) <= x.high)", "false"),
    "every derivative monotone": ("next_order.low >= 0.0 || next_order.high <= 0.0;", "true;"),
    "a head that is never held": ("held.slope = (Interval){0.0, 1.0};", ""),
    "turbines that never stand still": ("runs >= 0; --runs", "runs >= 1; --runs"),
    "a cost without a most": ("1 + (LOW(stage->power_cost_most) < UNLIMITED)", "1"),
    "a kink elsewhere": ("LOW(stage->power_target), sum.kinked", "LOW(stage->power_lower), sum.kinked"),
    "no shortage that counts as none": ("release.high + HIGH(stage->spare)", "release.high"),
}


@pytest.mark.parametrize("mistake", RARE)
def test_a_mistake_in_a_kernel_is_found_out_by_compiled_code(mistake, device, monkeypatch):
    plant, horizons, cells = boxes_of("random 1")
    plant, horizons = narrowed(*tabled(plant, horizons), np.random.default_rng(5))
    with_mistake(monkeypatch, *RARE[mistake])
    found = of_device(device, plant, horizons, pairs_of(cells))
    assert not np.array_equal(found, on_host(plant, horizons, cells), equal_nan=True)
