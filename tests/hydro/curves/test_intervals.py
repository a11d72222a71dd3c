"""Interval arithmetic in float64 against exact rational arithmetic."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from reservoir.hydro.curves import intervals
from reservoir.hydro.jit import compiled_as_written

CASES = 3000


@compiled_as_written
def operated(a, b, out):
    for place in range(len(a)):
        one, other = (a[place, 0], a[place, 1]), (b[place, 0], b[place, 1])
        out[place, 0] = intervals.add(one, other)[0]
        out[place, 1] = intervals.add(one, other)[1]
        out[place, 2] = intervals.subtract(one, other)[0]
        out[place, 3] = intervals.subtract(one, other)[1]
        out[place, 4] = intervals.multiply(one, other)[0]
        out[place, 5] = intervals.multiply(one, other)[1]
        out[place, 6] = intervals.reciprocal(one)[0]
        out[place, 7] = intervals.reciprocal(one)[1]
        out[place, 8] = intervals.square(one)[0]
        out[place, 9] = intervals.square(one)[1]


@pytest.fixture(scope="module")
def pairs():
    random = np.random.default_rng(1)
    ends = random.choice([-1.0, 1.0], (2, CASES, 2)) * 10.0 ** random.uniform(-9, 9, (2, CASES, 2))
    ends[:, : CASES // 3, 1] = ends[:, : CASES // 3, 0]  # intervals of one number: all of the width is rounding
    return np.sort(ends, axis=-1)


EXACT = {
    0: lambda a, b: [x + y for x in a for y in b],
    2: lambda a, b: [x - y for x in a for y in b],
    4: lambda a, b: [x * y for x in a for y in b],
    6: lambda a, b: [1 / x for x in a] if a[0] * a[1] > 0 else [Fraction(0)],
    8: lambda a, b: [x * x for x in a] + ([Fraction(0)] if a[0] * a[1] < 0 else []),
}


@pytest.mark.parametrize("column", EXACT)
def test_an_operation_contains_the_exact_result_and_is_tight(pairs, column):
    out = np.empty((CASES, 10))
    operated(*pairs, out)
    for one, other, found in zip(*pairs, out[:, column : column + 2], strict=True):
        exact = EXACT[column]([Fraction(x) for x in one], [Fraction(x) for x in other])
        low, high = min(exact), max(exact)
        if np.isfinite(found).all():
            assert Fraction(found[0]) <= low <= high <= Fraction(found[1])
            size = max(abs(low), abs(high))
            assert low - Fraction(found[0]) <= size * Fraction(1, 2**50)
            assert Fraction(found[1]) - high <= size * Fraction(1, 2**50)
        else:
            assert column == 6
            assert one[0] * one[1] < 0


def test_a_sum_is_rounded_outwards_and_not_to_nearest():
    out = np.empty((1, 10))
    operated(np.array([[0.1, 0.1]]), np.array([[0.2, 0.2]]), out)
    exact = Fraction(0.1) + Fraction(0.2)
    assert Fraction(out[0, 0]) < exact < Fraction(out[0, 1])


@compiled_as_written
def powers(x, exponents, out):
    for place in range(len(x)):
        found = intervals.powers((x[place], x[place]), exponents[place])
        out[place, 0, 0], out[place, 0, 1] = found[0]
        out[place, 1, 0], out[place, 1, 1] = found[1]
        out[place, 2, 0], out[place, 2, 1] = found[2]


def powers_of(x, exponents):
    out = np.empty((len(x), 3, 2))
    powers(np.asarray(x), np.asarray(exponents), out)
    return out


def test_a_power_of_a_fraction_contains_the_exact_result():
    """``x**(p/q)`` lies between two numbers if ``x**p`` lies between their powers of ``q``, which are exact."""
    random = np.random.default_rng(2)
    x, quarters = 10.0 ** random.uniform(-6, 6, 2000), random.integers(1, 12, 2000)
    for base, number, found in zip(x, quarters.tolist(), powers_of(x, quarters / 4.0), strict=True):
        for lower, (low, high) in enumerate(found):
            exact = Fraction(base) ** (number - 4 * lower)
            assert Fraction(low) ** 4 <= exact <= Fraction(high) ** 4
            assert high - low <= 1e-14 * high


@pytest.mark.parametrize(("digits", "wide"), [((-18, 18), 1e-14), ((-140, -19), 1e-11), ((19, 140), 1e-11)])
@pytest.mark.parametrize("exponent", [0.05, 0.1, 0.3, 0.45, 0.7, 1.9, 2.3, -0.6, -9.7])
def test_powers_contain_the_exact_ones_though_a_lower_exponent_is_rounded(exponent, digits, wide):
    x = 10.0 ** np.random.default_rng(3).uniform(*digits, 500)
    with localcontext(prec=60):
        for base, found in zip(x, powers_of(x, np.full(500, exponent)), strict=True):
            for lower, (low, high) in enumerate(found):
                exact = Decimal(base) ** (Decimal(exponent) - lower)
                assert Decimal(low) <= exact <= Decimal(high)
                if 1e-280 < exact < 1e300:
                    assert high - low <= wide * high


def test_powers_of_nothing_have_no_bound_where_they_rise_without_one():
    (value, slope, bend) = powers_of([0.0], [1.0])[0]
    assert value[0] == 0.0
    assert value[1] < 1e-200
    assert slope[0] < 1.0 < slope[1]
    assert bend[0] < bend[1] == np.inf
