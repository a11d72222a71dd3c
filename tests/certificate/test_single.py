"""Numbers, intervals and powers in float32 contain what they stand for, whatever is rounded."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reservoir.certificate.cells import Pairs
from reservoir.certificate.on_device import downwards, outwards, single_cells, upwards
from reservoir.opencl import Session
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


def test_what_values_differ_by_on_a_cell_is_between_its_bounds():
    random, count = np.random.default_rng(9), 4000
    lower = random.uniform(0, 1e4, count)
    upper = lower + 10.0 ** random.uniform(-9, 3, count)
    value, slope = 10.0 ** random.uniform(-3, 7, (2, count)) * random.normal(size=(2, count))
    steps = np.zeros(count, np.int32)
    cells = single_cells(Pairs(steps, steps, np.zeros(count + 1, np.int32), lower, upper, value, slope))
    assert np.all((cells.lower <= lower) & (upper <= cells.upper))
    middle, middle_32 = 0.5 * (lower + upper), np.float32(0.5) * (cells.lower + cells.upper)
    for place in range(count):
        for at in map(Fraction, (lower[place], upper[place], random.uniform(lower[place], upper[place]))):
            double = Fraction(value[place]) + Fraction(slope[place]) * (at - Fraction(middle[place]))
            offset = at - Fraction(float(middle_32[place]))
            single = Fraction(float(cells.value[place])) + Fraction(float(cells.slope[place])) * offset
            assert cells.least[place] <= double - single <= cells.most[place]


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
