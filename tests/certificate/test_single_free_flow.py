"""Brackets with a free flow in float32 are never less than the true ones, and hardly more than those in double."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.certificate import on_device
from reservoir.certificate.bound import told_by_mean
from reservoir.certificate.cells import pairs_of
from reservoir.certificate.on_device import definitions
from reservoir.opencl import assemble, build
from tests.certificate.device_cases import boxes_about, excess_of_points, narrowed, of_device, tabled
from tests.certificate.single_kernels import NO_OUTWARD_ROUNDING
from tests.certificate.test_free_flow import NAMES
from tests.certificate.test_free_flow_on_device import ROOM, free_boxes, with_free_flow, within
from tests.certificate.test_single_brackets import with_wide_numbers

SOURCE = assemble(on_device.FILES_IF_FREE, definitions(single=True, free=True))


def some_flow(stages, random):
    """Steps with one of the flows that may flow in freely."""
    share = np.clip(random.uniform(-0.2, 1.2, len(stages.inflow)), 0.0, 1.0)
    flow = stages.free_lower + share * (stages.free_upper - stages.free_lower)
    return stages.changed(free_lower=flow, free_upper=flow, free_slack=0.0)


def boxes(name, width, *, told):
    """Boxes about schedules of a case, with every kind of term, a free flow, and a lake below of a known level."""
    plant, horizons, cells = boxes_about(name, 6, width)
    plant, horizons = narrowed(*tabled(plant, list(with_free_flow(name, horizons))), np.random.default_rng(5))
    horizons = [each.changed(tailwater_most=each.tailwater) for each in horizons]
    if told:
        horizons = [told_by_mean(plant, *of, ROOM) for of in zip(horizons, map(within, cells), strict=True)]
    return plant, horizons, cells


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_no_step_between_storages_of_a_box_exceeds_its_bound_whatever_flows_in(name, told, wide, device, monkeypatch):
    plant, horizons, cells = boxes(name, (-9, -0.3), told=told)
    if wide:
        with_wide_numbers(monkeypatch)
    over = excess_of_points(device, plant, horizons, cells, 8, at=some_flow)
    assert len(over) > 60
    assert over.max() <= 0


@pytest.mark.parametrize("name", NAMES)
def test_bounds_are_those_of_double_and_a_little_more(name, device):
    plant, horizons, cells = free_boxes(name)
    pairs = pairs_of(cells)
    double, single = (of_device(device, plant, horizons, pairs, single=each) for each in (False, True))
    finite = np.isfinite(double)
    assert np.array_equal(single[~finite], double[~finite])
    more = (single[finite] - double[finite]) / np.abs(double[finite]).max()
    assert 0 < np.median(more) < 1e-5
    assert np.quantile(more, 0.9) < 1e-4
    assert np.quantile(np.abs(more), 0.99) < 1e-2  # another part or weight may be the better one


#: Mistakes in what is rounded outwards, or in which end of an interval is taken.
MISTAKES = {
    "nothing is rounded outwards": (
        NO_OUTWARD_ROUNDING[0],
        ("#define ROUNDING 0x1p-19f", "#define ROUNDING 0.0f"),
        ("#define ROUNDING_OF_LEVELS 0x1p-18f", "#define ROUNDING_OF_LEVELS 0.0f"),
    ),
    "the least price of a flow": (("found.value = above(found.value + more);", ""),),
    "the most of the lower end": (("brings = {LOW(stage->free_lower)", "brings = {HIGH(stage->free_lower)"),),
    "the least of the upper end": (("HIGH(stage->free_upper)};", "LOW(stage->free_upper)};"),),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_wrong_rounding_is_found_out(mistake, device, monkeypatch):
    plant, horizons, cells = boxes("random 1", (-12, -9), told=False)
    if len(MISTAKES[mistake]) == 1:
        with_wide_numbers(monkeypatch)
    else:  # what flows in is known, too
        horizons = [some_flow(each, np.random.default_rng(4)) for each in horizons]
    assert excess_of_points(device, plant, horizons, cells, 8, at=some_flow).max() <= 0
    source, whole = SOURCE, on_device.assemble
    for before, after in MISTAKES[mistake]:
        assert source.count(before) == 1
        source = source.replace(before, after)
    monkeypatch.setattr(on_device, "assemble", lambda files, of: source if "SINGLE" in of else whole(files, of))
    assert excess_of_points(device, plant, horizons, cells, 8, at=some_flow).max() > 0


def test_its_kernels_name_no_double(device):
    build(device, "#define double no_type\n" + SOURCE, on_device.SINGLE_OPTIONS, as_written=True)
