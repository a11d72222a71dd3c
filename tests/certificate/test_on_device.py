"""A device bounds brackets as compiled code does, whatever its power function errs."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.certificate import on_device
from reservoir.certificate.cells import pairs_of
from reservoir.certificate.on_device import BracketsOnDevice, plant_arrays
from reservoir.hydro.curves.curve import Table
from reservoir.opencl import Session, assemble, build
from tests.certificate.device_cases import CASES, boxes_of, narrowed, of_device, on_host, tabled

#: Of brackets of power laws, which a device bounds by wider intervals: as parts of the largest.
LESS, MORE = 1e-14, 1e-12


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


def test_what_is_no_number_bounds_nothing(device):
    plant, horizons, cells = boxes_of("random 4")
    cells[0].value[0] = np.nan
    pairs = pairs_of(cells)
    found = of_device(device, plant, horizons, pairs)[: pairs.first_pair[1]]
    assert set(found) == {-np.inf, np.inf}


def test_horizons_of_other_lakes_are_refused():
    plant, horizons, _ = boxes_of("losses")
    other = horizons[0]._replace(lake=horizons[0].lake._replace(area=Table((0.0, 1.0), (1.0, 2.0)).compiled()))
    with pytest.raises(ValueError, match="another area"):
        plant_arrays(plant, [*horizons, other])


#: A power that errs by as many units in the last place as OpenCL allows, up or down; and its enclosures.
POWER = "pow(x, exponent)"
ERRING = "pow(x, exponent) * (1.0 + {} * 15.0 * EPS)"
POWERS = """
__kernel void of_points(__global const double *x, const double exponent, __global double *low, __global double *high) {
    const int place = get_global_id(0);
    Interval found[3];
    raised(point(x[place]), exponent, found);
    for (int lower = 0; lower < 3; ++lower) {
        low[3 * place + lower] = found[lower].low;
        high[3 * place + lower] = found[lower].high;
    }
}
"""


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(("widened", "holds"), [("0x1p-47", True), ("0x1p-49", False)])
def test_powers_are_enclosed_whatever_a_device_may_err(sign, widened, holds, device):
    source = assemble(on_device.FILES[:2], {}) + POWERS
    assert source.count(POWER) == 2
    source = source.replace(POWER, ERRING.format(sign)).replace("EPS_OF_POWER 0x1p-47", f"EPS_OF_POWER {widened}")
    program = build(device, source, as_written=True)
    x = np.concatenate([10.0 ** np.random.default_rng(2).uniform(-6, 5, 4096), 10.0 ** np.arange(-25.0, 26.0)])
    for exponent in (0.3, 1.7, -0.6, 5.5):
        with Session(device) as session:
            session.upload(x=x)
            session.allocate(low=((len(x), 3), np.float64), high=((len(x), 3), np.float64))
            session.run(program, "of_points", len(x), None, "x", np.float64(exponent), "low", "high")
            low, high = session.download("low"), session.download("high")
        exact = np.longdouble(x[:, None]) ** (np.longdouble(exponent) - np.arange(3))
        assert bool(np.all((low < exact) & (exact < high))) == holds
        assert np.all(high - low < 1e-11 * exact)


def test_powers_of_nothing_have_no_bound_where_they_rise_without_one(device):
    program = build(device, assemble(on_device.FILES[:2], {}) + POWERS, as_written=True)
    with Session(device) as session:
        session.upload(x=np.zeros(1))
        session.allocate(low=((1, 3), np.float64), high=((1, 3), np.float64))
        session.run(program, "of_points", 1, None, "x", np.float64(1.0), "low", "high")
        low, high = session.download("low")[0], session.download("high")[0]
    assert low[0] == 0.0
    assert high[0] < 1e-200
    assert low[1] < 1.0 < high[1]
    assert low[2] < high[2] == np.inf
