"""Numbers, intervals, powers and curves in float32 contain what they stand for, whatever is rounded."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reservoir.certificate.plant_buffers import plant_arrays
from reservoir.certificate.single import downwards, outwards, upwards
from reservoir.hydro.curves.curve import Polynomial, PowerLaw
from reservoir.hydro.curves.enclosures import enclose
from reservoir.opencl import Session
from tests.certificate.device_cases import boxes_of
from tests.certificate.single_kernels import built

#: Numbers of less are moved to 0, or from it.
SMALLEST = 2.0**-100


@given(st.floats(allow_nan=False))
def test_numbers_are_between_two_floats_in_a_row(number):
    (found,) = outwards(np.array([number]))
    low, high = map(float, found)
    assert low <= number <= high
    assert all(end == 0 or abs(end) >= SMALLEST for end in (low, high))
    if abs(number) >= SMALLEST:
        with np.errstate(over="ignore"):
            assert np.nextafter(found[0], np.float32(np.inf)) >= found[1]


@given(st.floats(allow_nan=False, width=32))
def test_a_float_that_a_device_flushes_nowhere_stays_itself(number):
    if number == 0 or abs(number) >= SMALLEST:
        assert outwards(np.array([number])).tolist() == [[number, number]]


def test_zero_and_infinity_are_floats():
    ends = np.array([0.0, np.inf, -np.inf])
    assert np.array_equal(downwards(ends), ends)
    assert np.array_equal(upwards(ends), ends)


OPERATIONS = """
__kernel void of_pairs(__global const Interval *a, __global const Interval *b, __global Interval *found) {
    const int place = get_global_id(0), all = get_global_size(0);
    found[place] = add(a[place], b[place]);
    found[all + place] = subtract(a[place], b[place]);
    found[2 * all + place] = multiply(a[place], b[place]);
    found[3 * all + place] = scale(b[place].low, a[place]);
    found[4 * all + place] = square(a[place]);
    found[5 * all + place] = reciprocal(a[place]);
}
"""


def random_intervals(random, count):
    """Of all sizes and signs: some of them points, or with a 0, or of numbers that products of are flushed."""
    size = 10.0 ** (random.choice([0, 1, 6, 12, 17], count) * random.choice([-1, 1], count))
    size = np.where(random.random(count) < 0.05, 1e-29, size)
    ends = random.normal(size=(count, 2)) * size[:, None]
    with_0, same = random.random((2, count)) < 0.3
    ends[with_0, 1] = 0.0
    ends[same, 1] = ends[same, 0]
    return np.sort(outwards(ends)[..., 0], axis=1)


def exact_ends(a, b):
    """Of each operation, values that it takes: at the ends."""
    (p, q), (r, s) = ([Fraction(float(end)) for end in each] for each in (a, b))
    return [
        (p + r, q + s),
        (p - s, q - r),
        (p * r, p * s, q * r, q * s),
        (r * p, r * q),
        (p * p, q * q, Fraction(0) if p <= 0 <= q else p * p),
        () if p <= 0 <= q else (1 / p, 1 / q),
    ]


def operations_that_fail(device, *mistakes):
    random = np.random.default_rng(1)
    a, b = random_intervals(random, 1500), random_intervals(random, 1500)
    with Session(device) as session:
        session.upload(a=a, b=b)
        session.allocate(found=((6, len(a), 2), np.float32))
        session.run(built(device, OPERATIONS, *mistakes), "of_pairs", len(a), None, "a", "b", "found")
        found = session.download("found")
    failed = set()
    for place in range(len(a)):
        for operation, exact in enumerate(exact_ends(a[place], b[place])):
            low, high = map(float, found[operation, place])
            assert not np.isnan([low, high]).any()
            if not all(low <= each <= high for each in exact):
                failed.add(operation)
    return failed


def test_operations_contain_what_exact_ones_give(device):
    assert operations_that_fail(device) == set()


def test_without_outward_rounding_no_operation_does(device):
    assert operations_that_fail(device, ("#define EPS 0x1p-23f", "#define EPS 0.0f")) >= {0, 1, 2, 3, 4}


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_quotient_may_err_by_two_and_a_half_units(sign, device):
    errs = f"* (1.0f + {sign} * 2.0f * 0x1p-23f)"
    erring = ("{1.0 / a.high, 1.0 / a.low}", f"{{(1.0 / a.high) {errs}, (1.0 / a.low) {errs}}}")
    narrow = ("EPS_OF_QUOTIENT 0x1.5p-22f", "EPS_OF_QUOTIENT 0.0f")
    assert operations_that_fail(device, erring) == set()
    assert operations_that_fail(device, erring, narrow) == {5}


POWERS = """
__kernel void of_points(__global const float *x, const float low, const float high, __global Interval *found) {
    const int place = get_global_id(0);
    Interval here[3];
    raised(point(x[place]), (Interval){low, high}, here);
    for (int lower = 0; lower < 3; ++lower) found[3 * place + lower] = here[lower];
}
"""
EXPONENTS = (0.3, 1.7, -0.6, 5.5, 2.0, 1.0000000001, 9.99)


def raised(device, x, exponent, *mistakes):
    """Enclosures of powers with an exponent, and with one and two less; shape (numbers, 3, 2)."""
    ends = outwards(np.array(exponent))
    with Session(device) as session:
        session.upload(x=x)
        session.allocate(found=((len(x), 3, 2), np.float32))
        session.run(built(device, POWERS, *mistakes), "of_points", len(x), None, "x", *ends, "found")
        return session.download("found").astype(np.longdouble)


def powers_hold(device, *mistakes):
    """Whether all powers are enclosed, in intervals that are a small part of them."""
    x = np.concatenate([10.0 ** np.random.default_rng(2).uniform(-6, 5, 4096), 10.0 ** np.arange(-25.0, 26.0)])
    x, held, widest = x.astype(np.float32), [], 0.0
    for exponent in EXPONENTS:
        found = raised(device, x, exponent, *mistakes)
        exact = np.longdouble(x[:, None]) ** (np.longdouble(exponent) - np.arange(3))
        held.append(bool(np.all((found[..., 0] <= exact) & (exact <= found[..., 1]))))
        usual = (exact > 1e-30) & (exact < 1e35)
        widest = max(widest, float((np.diff(found, axis=-1)[..., 0] / exact)[usual].max()))
    assert widest < 1e-3
    return all(held)


def test_powers_of_nothing_have_no_bound_where_they_rise_without_one(device):
    ((value, slope, curvature),) = raised(device, np.zeros(1, np.float32), 1.0)
    assert value[0] == 0.0
    assert value[1] < 1e-25
    assert slope[0] < 1.0 < slope[1]
    assert curvature[0] < curvature[1] == np.inf


@pytest.mark.parametrize("sign", [-1, 1])
def test_powers_are_enclosed_whatever_a_device_may_err(sign, device):
    erring = ("    return pow(x, exponent);", f"    return pow(x, exponent) * (1.0f + {sign} * 14.0f * 0x1p-23f);")
    assert powers_hold(device)
    assert powers_hold(device, erring)
    assert not powers_hold(device, erring, ("EPS_OF_POWER 0x1.1p-19f", "EPS_OF_POWER 0.0f"))


def test_powers_allow_for_what_an_exponent_is_rounded_by(device):
    assert not powers_hold(device, ("1.25f * shifted", "0.0f * shifted"))


CURVES = """
__kernel void of_intervals(__global const PlantNumbers *numbers, __global const CurveShape *shapes,
                           __global const Given *curves, __global const Interval *x, __global Jet *found) {
    const int place = get_global_id(0);
    const Plant plant = {numbers, shapes, curves};
    found[place] = enclose(&plant, LEVEL, x[place]);
}
"""


def curve_of(kind):
    """A curve whose numbers are no floats."""
    if kind == "table":
        return boxes_of("random 0")[0].tailrace
    if kind == "polynomial":
        return Polynomial((311.1, 0.317, -2.3e-4, 1e-7), (10.1, 1234.5)).compiled()
    return PowerLaw(factor=3.3, exponent=0.37, offset=123.456, origin=0.1, domain=(0.1, 99.9)).compiled()


def intervals_about(curve, random, count=2000):
    """Of all widths, within the domain and somewhat beyond; many are points, the first end, or points beside breaks."""
    first, last = curve.breaks[0], curve.breaks[-1]
    middle = random.uniform(first - 0.1 * (last - first), last + 0.1 * (last - first), count)
    half = (last - first) * 10.0 ** random.uniform(-9, -1, count)
    x = np.stack([middle - half, middle + half], axis=-1)
    x[::5] = x[::5, :1]
    x[1::50] = first
    beside = x[2::5]
    beside[:] = random.choice(curve.breaks, (len(beside), 1)) * (1 + 1e-4 * random.uniform(-1, 1, (len(beside), 1)))
    return x


def numbers_of(curve):
    """A plant with that curve of levels, as a kernel reads it."""
    plant, horizons, _ = boxes_of("random 0")
    return plant_arrays(plant._replace(level=curve), horizons, single=True)


def with_other_numbers(curve, random):
    """A curve whose numbers but for its exponent are changed by up to a ten-thousandth."""
    breaks, coefficients = (
        each * (1 + 1e-4 * random.random(each.shape)) for each in (curve.breaks, curve.coefficients)
    )
    return curve._replace(origin=curve.origin * (1 - 1e-4), breaks=breaks, coefficients=coefficients)


def is_enclosed(device, curves, *mistakes):
    """Whether enclosures from numbers that are between those of two curves contain values and slopes of both."""
    random, arrays = np.random.default_rng(4), [numbers_of(curve) for curve in curves]
    ends = np.stack([each.curves for each in arrays])
    given = arrays[0]._replace(curves=np.stack([ends[..., 0].min(axis=0), ends[..., 1].max(axis=0)], axis=-1))
    x = intervals_about(curves[0], random)
    floats = np.stack([downwards(x[:, 0]), upwards(x[:, 1])], axis=-1)
    with Session(device) as session:
        session.upload(**given._asdict(), x=floats)
        session.allocate(found=((len(x), 3, 2), np.float32))
        buffers = "numbers", "shapes", "curves", "x", "found"
        session.run(built(device, CURVES, *mistakes), "of_intervals", len(x), None, *buffers)
        found = session.download("found").astype(np.float64)
    held = []
    for curve in curves:
        for share in (0.0, random.random(len(x)), 1.0):
            exact = np.array([enclose(curve, (at, at)) for at in x[:, 0] + share * (x[:, 1] - x[:, 0])])
            held.append(np.all((found[..., 0] <= exact[..., 1]) & (exact[..., 0] <= found[..., 1])))
    return all(held)


@pytest.mark.parametrize("kind", ["table", "polynomial", "power law"])
def test_curves_are_enclosed_whose_numbers_are_no_floats(kind, device):
    curve = curve_of(kind)
    assert is_enclosed(device, [curve])
    exact = ("#define EPS 0x1p-23f", "#define EPS 0.0f"), ("EPS_OF_POWER 0x1.1p-19f", "EPS_OF_POWER 0.0f")
    assert not is_enclosed(device, [curve], *exact)


@pytest.mark.parametrize("kind", ["table", "polynomial", "power law"])
def test_numbers_of_curves_may_be_anywhere_in_their_intervals(kind, device):
    curves = [curve_of(kind), with_other_numbers(curve_of(kind), np.random.default_rng(6))]
    assert is_enclosed(device, curves)
    assert not is_enclosed(device, curves, ("#define GIVEN(x) (x)", "#define GIVEN(x) point((x).low)"))
