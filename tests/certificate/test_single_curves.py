"""Ranges of curves in float32 contain those in float64, whatever is rounded and wherever numbers are."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.certificate.on_device import downwards, plant_arrays, upwards
from reservoir.hydro.curves.curve import Polynomial, PowerLaw
from reservoir.hydro.curves.enclosures import enclose, enclose_conversion
from reservoir.opencl import Session
from tests.certificate.device_cases import boxes_of
from tests.certificate.single_kernels import built

COUNT = 2000
#: By how much the numbers of another curve differ, as a part of them.
APART = 1e-4
KERNEL = """
__kernel void of_intervals(__global const PlantNumbers *numbers, __global const CurveShape *shapes,
                           __global const Given *curves, __global const Interval *x, __global Jet *found) {
    const int place = get_global_id(0);
    const Plant plant = {numbers, shapes, curves};
    found[place] = CALL;
}
"""
LEVEL, CONVERSION = "enclose(&plant, LEVEL, x[place])", "enclose_conversion(&plant, x[place])"
KINDS = ("table", "polynomial", "power law")
#: Reservoirs with a conversion by output and by rate.
BY_OUTPUT, BY_RATE = "random 1", "zoo 1"
TAKEN_FOR_FLOATS = ("#define GIVEN(x) (x)", "#define GIVEN(x) point((x).low)")
NOT_OUTWARDS = (("#define EPS 0x1p-23f", "#define EPS 0.0f"), ("EPS_OF_POWER 0x1.1p-19f", "EPS_OF_POWER 0.0f"))


def curve_of(kind):
    """A curve whose numbers are no floats."""
    if kind == "table":
        return boxes_of("random 0")[0].tailrace
    if kind == "polynomial":
        return Polynomial((311.1, 0.317, -2.3e-4, 1e-7), (10.1, 1234.5)).compiled()
    return PowerLaw(factor=3.3, exponent=0.37, offset=123.456, origin=0.1, domain=(0.1, 99.9)).compiled()


def with_other_numbers(curve):
    """A curve whose numbers but for its exponent are changed a little."""
    random = np.random.default_rng(6)
    breaks, coefficients = (
        each * (1 + APART * random.random(each.shape)) for each in (curve.breaks, curve.coefficients)
    )
    return curve._replace(origin=curve.origin * (1 - APART), breaks=breaks, coefficients=coefficients)


def intervals_about(places, random):
    """Of all widths, from before the first to behind the last; many are points, the first, or beside one of them."""
    first, last = places[0], places[-1]
    middle = random.uniform(first - 0.1 * (last - first), last + 0.1 * (last - first), COUNT)
    half = (last - first) * 10.0 ** random.uniform(-9, -1, COUNT)
    x = np.stack([middle - half, middle + half], axis=-1)
    x[::5] = x[::5, :1]
    x[1::50] = first
    beside = x[2::5]
    beside[:] = random.choice(places, (len(beside), 1)) * (1 + APART * random.uniform(-1, 1, (len(beside), 1)))
    return x


def between(arrays):
    """The numbers of a plant as intervals that contain those of several."""
    hulls = {
        name: np.stack([each[..., 0].min(axis=0), each[..., 1].max(axis=0)], axis=-1)
        for name in ("numbers", "curves")
        for each in [np.stack([getattr(of, name) for of in arrays])]
    }
    return arrays[0]._replace(**hulls)


def enclosed(device, call, x, plants, *mistakes):
    """What a kernel finds, from numbers between those of plants; shape (intervals, 3, 2)."""
    horizons = boxes_of("random 0")[1]
    arrays = between([plant_arrays(plant, horizons, single=True) for plant in plants])
    ends = np.stack([downwards(x[:, 0]), upwards(x[:, 1])], axis=-1)
    with Session(device) as session:
        session.upload(**arrays.given, x=ends)
        session.allocate(found=((len(x), 3, 2), np.float32))
        program = built(device, KERNEL.replace("CALL", call), *mistakes)
        session.run(program, "of_intervals", len(x), None, "numbers", "shapes", "curves", "x", "found")
        return session.download("found").astype(np.float64)


def contains(found, x, exact):
    """Whether values, slopes and curvatures at places in the intervals are in what was found."""
    held = []
    for share in (0.0, np.random.default_rng(5).random(len(x)), 1.0):
        at = np.array([exact((each, each)) for each in x[:, 0] + share * (x[:, 1] - x[:, 0])])
        held.append(np.all((found[..., 0] <= at[..., 1]) & (at[..., 0] <= found[..., 1])))
    return all(held)


def curves_hold(device, curves, *mistakes):
    plant, x = boxes_of("random 0")[0], intervals_about(curves[0].breaks, np.random.default_rng(4))
    found = enclosed(device, LEVEL, x, [plant._replace(level=curve) for curve in curves], *mistakes)
    return all(contains(found, x, lambda at, curve=curve: enclose(curve, at)) for curve in curves)


@pytest.mark.parametrize("kind", KINDS)
def test_curves_are_enclosed_whose_numbers_are_no_floats(kind, device):
    assert curves_hold(device, [curve_of(kind)])
    assert not curves_hold(device, [curve_of(kind)], *NOT_OUTWARDS)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_curves_may_be_anywhere_in_their_intervals(kind, device):
    curves = [curve_of(kind), with_other_numbers(curve_of(kind))]
    assert curves_hold(device, curves)
    assert not curves_hold(device, curves, TAKEN_FOR_FLOATS)


def test_a_curve_is_held_anywhere_in_the_interval_of_its_end(device):
    curves = [curve_of("power law"), with_other_numbers(curve_of("power law"))]
    assert not curves_hold(
        device, curves, ("lesser(greater(x.high, HIGH(first)), HIGH(last))", "lesser(x.high, HIGH(last))")
    )


def conversions_of(name):
    """A reservoir's conversion of head, held well within the domain of its curve, and at other bounds nearby."""
    conversion = boxes_of(name)[0].conversion
    first, last = conversion.curve.breaks[[0, -1]]
    lower, upper = first + 0.3 * (last - first), first + 0.7 * (last - first)
    bounds = [(lower, upper), (lower * (1 + APART), upper * (1 - APART))]
    return [conversion._replace(lower=low, upper=high) for low, high in bounds]


def conversions_hold(device, name, *mistakes):
    plant, conversions, random = boxes_of(name)[0], conversions_of(name), np.random.default_rng(4)
    places = np.array([*conversions[0].curve.breaks[[0, -1]], conversions[0].lower, conversions[0].upper])
    x = intervals_about(np.sort(places), random)
    found = enclosed(device, CONVERSION, x, [plant._replace(conversion=each) for each in conversions], *mistakes)
    return all(contains(found, x, lambda at, by=each: enclose_conversion(by, at)) for each in conversions)


@pytest.mark.parametrize("name", [BY_OUTPUT, BY_RATE])
def test_a_head_is_held_anywhere_in_the_intervals_of_its_bounds(name, device):
    assert conversions_hold(device, name)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("lesser(greater(head.low, LOW(low)), LOW(high))", "lesser(greater(head.low, HIGH(low)), LOW(high))"),
        ("lesser(greater(head.high, HIGH(low)), HIGH(high))", "lesser(greater(head.high, HIGH(low)), LOW(high))"),
        ("head.high <= LOW(low) || head.low >= HIGH(high)", "head.high <= HIGH(low) || head.low >= LOW(high)"),
        ("head.low < HIGH(low) || head.high > LOW(high)", "head.low < LOW(low) || head.high > HIGH(high)"),
    ],
)
def test_the_wrong_end_of_a_bound_of_the_head_is_found_out(before, after, device):
    assert not conversions_hold(device, BY_OUTPUT, (before, after))
