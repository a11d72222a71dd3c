"""A curve is what its definition says, inside its domain and beyond, in Python and in compiled code."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from reservoir.hydro.curves.curve import Curve, Polynomial, PowerLaw, Table, constant
from reservoir.hydro.curves.forms import CurveCursor
from reservoir.hydro.elementwise import curve_value
from reservoir.hydro.jit import compiled_part

TABLE = Table((160.0, 168.0, 181.0, 200.0, 256.0), (2.39, 2.27, 2.11, 1.91, 1.49))
CURVES: dict[str, Curve] = {
    "table": TABLE,
    "table of two points": Table((0.0, 10.0), (5.0, 7.0)),
    "table with a level stretch": Table((0.0, 1.0, 2.0, 3.0), (1.0, 4.0, 4.0, 9.0)),
    "polynomial": Polynomial((400.0, 0.55, -0.0012), (10.0, 130.0)),
    "polynomial of degree 6": Polynomial((3.0, -1.0, 0.5, 0.0, 1e-2, -2e-3, 1e-5), (-4.0, 9.0)),
    "constant": constant(8.8, (30.0, 100.0)),
    "power law": PowerLaw(362.0, 0.16, 0.0, 0.6, (5.0, 250.0)),
    "power law from its origin": PowerLaw(362.0, 0.16, 2.0, 1.7, (2.0, 250.0)),
    "falling power law": PowerLaw(0.0, 380.0, 0.0, -1.0, (150.0, 260.0)),
}

# Rises are level or at least a billionth: the reciprocal of a smaller slope can overflow in scipy's weights.
rises = st.floats(0.0, 30.0).map(lambda rise: round(rise, 9))
points = st.lists(st.tuples(st.floats(0.01, 50.0), rises), min_size=1, max_size=15)


@compiled_part
def compiled_values(curve, x, values):
    for each in range(len(x)):
        values[each] = curve_value(curve, x[each])


def compiled(curve: Curve, x: np.ndarray) -> np.ndarray:
    """Values of a curve in compiled code."""
    values = np.empty_like(x)
    compiled_values(curve.compiled(), x, values)
    return values


def by_cursor(curve: Curve, x: np.ndarray) -> np.ndarray:
    """The same from a cursor, which begins where the last value was."""
    values = np.empty_like(x)
    compiled_values(CurveCursor(curve.compiled(), np.zeros(1, np.int64)), x, values)
    return values


def around(curve: Curve, count: int = 501) -> np.ndarray:
    """Points inside a curve's domain and half its width beyond, its ends among them."""
    lower, upper = curve.domain
    margin = (upper - lower) / 2
    return np.concatenate([np.linspace(lower - margin, upper + margin, count), curve.domain])


def table_of(first: float, increments: list[tuple[float, float]]) -> Table:
    """A table that never falls."""
    steps = np.array([(first, 0.0), *increments])
    x, y = np.cumsum(steps, axis=0).T
    return Table(tuple(x.tolist()), tuple(y.tolist()))


@given(st.floats(-100, 100), points)
def test_a_table_is_scipys_monotone_cubic(first: float, increments: list[tuple[float, float]]) -> None:
    table = table_of(first, increments)
    x = np.linspace(*table.domain, 97)
    np.testing.assert_allclose(table(x), PchipInterpolator(table.x, table.y)(x), rtol=1e-12, atol=1e-12)


@given(st.lists(st.tuples(st.floats(0.01, 50.0), st.floats(-30.0, 30.0).map(lambda y: round(y, 9))), min_size=2))
def test_a_table_that_rises_and_falls_is_scipys_too(points: list[tuple[float, float]]) -> None:
    widths, y = np.array(points).T
    table = Table(tuple(np.cumsum(widths).tolist()), tuple(y.tolist()))
    x = np.linspace(*table.domain, 97)
    np.testing.assert_allclose(table(x), PchipInterpolator(table.x, table.y)(x), rtol=1e-12, atol=1e-12)


@given(st.floats(-100, 100), points)
def test_a_table_that_never_falls_gives_a_curve_that_never_falls(
    first: float, increments: list[tuple[float, float]]
) -> None:
    table = table_of(first, increments)
    values = table(around(table)[:-2])
    assert np.all(np.diff(values) >= -1e-9 * (1 + np.abs(values[1:])))


def test_a_table_passes_through_its_points() -> None:
    np.testing.assert_allclose(TABLE(TABLE.x), TABLE.y, rtol=1e-14)


def test_a_table_never_overshoots_its_points() -> None:
    steep = Table((0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 0.0, 10.0, 10.0, 0.0))
    values = steep(np.linspace(0, 4, 1001))
    assert values.min() >= 0
    assert values.max() <= 10


def test_a_polynomial_is_the_sum_of_its_powers() -> None:
    x = np.linspace(-4, 9, 101)
    expected = sum(c * x**power for power, c in enumerate(CURVES["polynomial of degree 6"].coefficients))
    np.testing.assert_allclose(CURVES["polynomial of degree 6"](x), expected, rtol=1e-12)


def test_a_power_law_is_its_formula() -> None:
    x = np.linspace(5, 250, 101)
    np.testing.assert_allclose(CURVES["power law"](x), 362 + 0.16 * x**0.6, rtol=1e-14)


def test_a_constant_is_the_same_everywhere() -> None:
    assert set(CURVES["constant"](around(CURVES["constant"])).tolist()) == {8.8}


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_is_held_at_its_ends_outside_its_domain(name: str) -> None:
    curve = CURVES[name]
    width = curve.domain[1] - curve.domain[0]
    for end, outwards in zip(curve.domain, (-1, 1), strict=True):
        for far in (0.1, 0.5, 10.0):
            assert float(curve(end + far * width * outwards)) == float(curve(end))


@pytest.mark.parametrize("name", CURVES)
def test_compiled_code_evaluates_the_same_curve_inside_and_outside(name: str) -> None:
    curve = CURVES[name]
    x = around(curve)
    np.testing.assert_allclose(compiled(curve, x), curve(x), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", CURVES)
def test_a_cursor_gives_the_curves_own_values_in_any_order(name: str) -> None:
    curve = CURVES[name]
    x = around(curve)
    for order in (x, x[::-1], np.random.default_rng(1).permutation(x)):
        np.testing.assert_array_equal(by_cursor(curve, order), compiled(curve, order))


@settings(max_examples=50)
@given(st.floats(-100, 100), points, st.floats(-0.5, 1.5))
def test_compiled_code_finds_the_right_piece_of_any_table(
    first: float, increments: list[tuple[float, float]], part: float
) -> None:
    table = table_of(first, increments)
    lower, upper = table.domain
    x = np.array([lower + part * (upper - lower), *table.x])
    np.testing.assert_allclose(compiled(table, x), table(x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_takes_a_number_and_an_array_of_any_shape(name: str) -> None:
    curve = CURVES[name]
    x = around(curve)[:6]
    np.testing.assert_array_equal(curve(x.reshape(2, 3)), curve(x).reshape(2, 3))
    assert float(curve(x[1])) == curve(x)[1]
