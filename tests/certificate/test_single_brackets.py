"""Brackets in float32 are never less than the true ones, and hardly more than those in double."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from reservoir.certificate import on_device
from reservoir.certificate.cells import pairs_of
from reservoir.certificate.on_device import BracketsOnDevice, plant_arrays
from reservoir.errors import DeviceError
from reservoir.opencl import Session, build
from tests.certificate.device_cases import (
    CASES,
    boxes_about,
    boxes_of,
    excess_of,
    excess_of_points,
    narrowed,
    of_device,
    tabled,
)
from tests.certificate.single_kernels import NO_OUTWARD_ROUNDING, SOURCE, with_mistakes

#: Widths of boxes: all, and such that bounds are larger by what is rounded alone; powers of ten.
ALL, POINTS = (-5, -0.3), (-12, -9)
#: Boxes of less than this part of the range of storages, on which bounds are alike whatever weights were chosen.
NARROW = 1e-3
#: By how much bounds are larger than in double, most of them, as a part of the largest.
MORE = 2e-5


@pytest.mark.parametrize("width", [ALL, POINTS])
@pytest.mark.parametrize("name", CASES)
def test_no_stage_exceeds_the_bound(name, width, device):
    worst, compared = excess_of(device, name, 100, single=True, width=width)
    assert compared > 300
    assert worst <= 0


def widths_of(pairs):
    """The wider cell of each pair, as a part of the range of storages."""
    x = np.repeat(np.arange(len(pairs.first_end)), np.diff(pairs.first_pair))
    y = pairs.first_end[x] + np.arange(pairs.number) - pairs.first_pair[x]
    width = (pairs.upper - pairs.lower) / np.ptp(pairs.lower)
    return np.maximum(width[x], width[y])


def assert_close(device, plant, horizons, cells):
    """Bounds in float32 are those in double and a little more; of wide boxes, another bound may be the better one."""
    pairs = pairs_of(cells)
    double, single = (of_device(device, plant, horizons, pairs, single=each) for each in (False, True))
    finite = np.isfinite(double)
    assert np.array_equal(single[~finite], double[~finite])
    more = (single[finite] - double[finite]) / np.abs(double[finite]).max()
    narrow = widths_of(pairs)[finite] < NARROW
    assert narrow.sum() > 300
    assert more[narrow].min() > 0
    assert more[narrow].max() < MORE
    assert more.min() > -0.2 * MORE
    assert np.quantile(more, 0.99) < MORE


@pytest.mark.parametrize("name", CASES)
def test_bounds_are_those_of_double_and_a_little_more(name, device):
    assert_close(device, *boxes_of(name))


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_term_and_limit_is_bounded_as_in_double(name, device):
    plant, horizons, cells = boxes_of(name)
    assert_close(device, *narrowed(*tabled(plant, horizons), np.random.default_rng(5)), cells)


def with_wide_numbers(monkeypatch, by=1e-4):
    """Intervals of numbers of plants and steps that reach farther at either end: the true number may be anywhere."""
    random = np.random.default_rng(1)

    def wide(ends):
        return ends + (random.integers(0, 2, ends.shape) * by * np.abs(ends) * [-1, 1]).astype(np.float32)

    def arrays(*given, single):
        made = plant_arrays(*given, single=single)
        if not single:
            return made
        curves, exponents = wide(made.curves), made.shapes[:, 0] + 1
        curves[exponents] = made.curves[exponents]
        return made._replace(numbers=wide(made.numbers), curves=curves, stages=wide(made.stages))

    monkeypatch.setattr(on_device, "plant_arrays", arrays)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_no_step_between_storages_of_a_box_exceeds_its_bound_whatever_its_terms(name, wide, device, monkeypatch):
    plant, horizons, cells = boxes_about(name, 8, (-9, -0.3))
    plant, horizons = narrowed(*tabled(plant, horizons), np.random.default_rng(5))
    if wide:
        with_wide_numbers(monkeypatch)
    over = excess_of_points(device, plant, horizons, cells, 10)
    assert len(over) > 100
    assert over.max() <= 0


def with_kernels(monkeypatch, *mistakes):
    source = with_mistakes(*mistakes)
    monkeypatch.setattr(on_device, "assemble", lambda *_: source)


@pytest.mark.parametrize("name", ["power-shortage", "unused-capacity"])
def test_without_outward_rounding_a_stage_exceeds_its_bound(name, device, monkeypatch):
    with_kernels(monkeypatch, *NO_OUTWARD_ROUNDING)
    assert excess_of(device, name, 100, single=True, width=POINTS)[0] > 0


def test_without_what_values_differ_by_a_stage_exceeds_its_bound(device, monkeypatch):
    monkeypatch.setattr(on_device, "add_differences", lambda *_: None)
    assert excess_of(device, "zoo 0", 100, single=True, width=POINTS)[0] > 0


@pytest.mark.parametrize("name", CASES)
def test_a_number_may_be_anywhere_in_its_interval(name, device, monkeypatch):
    with_wide_numbers(monkeypatch)
    worst, compared = excess_of(device, name, 60, single=True, width=POINTS)
    assert compared > 300
    assert worst <= 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#define GIVEN(x) (x)", "#define GIVEN(x) point((x).low)"),
        ("#define LOW(x) (x).low", "#define LOW(x) (x).high"),
        ("#define HIGH(x) (x).high", "#define HIGH(x) (x).low"),
        ("{ return multiply(factor, a); }", "{ return multiply(point(factor.low), a); }"),
    ],
)
def test_the_wrong_end_of_an_interval_is_found_out(before, after, device, monkeypatch):
    with_wide_numbers(monkeypatch)
    with_kernels(monkeypatch, (before, after))
    assert excess_of(device, "random 2", 60, single=True, width=POINTS)[0] > 0


def test_dead_pairs_stay_so_and_launches_do_not_matter(device, monkeypatch):
    plant, horizons, cells = boxes_of("random 4")
    pairs = pairs_of(cells)
    every = of_device(device, plant, horizons, pairs, single=True)
    alive = np.random.default_rng(8).random(pairs.number) < 0.5
    monkeypatch.setattr(on_device, "_MOST_PAIRS", 1009)
    some = of_device(device, plant, horizons, pairs, np.where(alive, 0.0, -np.inf), single=True)
    assert np.array_equal(some, np.where(alive, every, -np.inf))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39, -1e39])
def test_what_is_no_number_bounds_nothing(value, device):
    plant, horizons, cells = boxes_of("random 4")
    cells[0].value[0] = value
    pairs = pairs_of(cells)
    found = of_device(device, plant, horizons, pairs, single=True)[: pairs.first_pair[1]]
    assert set(found) == {-np.inf, np.inf}


def test_a_device_without_double_bounds_in_float32(device, monkeypatch):
    plant, horizons, cells = boxes_of("random 4")
    expected = of_device(device, plant, horizons, pairs_of(cells), single=True)
    monkeypatch.setattr(on_device, "has_double", lambda _: False)
    assert np.array_equal(of_device(device, plant, horizons, pairs_of(cells)), expected)


def test_its_kernels_name_no_double(device):
    build(device, "#define double no_type\n" + SOURCE, on_device.SINGLE_OPTIONS, as_written=True)


def test_a_device_that_rounds_as_it_likes_is_refused(device, monkeypatch):
    monkeypatch.setattr(on_device, "has_double", lambda _: False)
    plant, horizons, _ = boxes_of("random 4")
    with Session(device) as session:
        other = SimpleNamespace(profile="EMBEDDED_PROFILE")
        monkeypatch.setattr(session, "device", replace(device, device=other))
        with pytest.raises(DeviceError, match=r"nor promises to round to nearest.*prove bounds on CPU threads"):
            BracketsOnDevice(session, plant, horizons)
