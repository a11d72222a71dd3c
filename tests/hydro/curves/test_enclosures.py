"""Ranges of curves contain what they are ranges of: a million sampled values for each kind of curve."""

import numpy as np
import pytest

from reservoir.hydro.conversion import Conversion
from reservoir.hydro.curves import enclosures
from reservoir.hydro.curves.curve import Polynomial, PowerLaw, Table
from reservoir.hydro.jit import compiled_as_written

INTERVALS, SAMPLES = 50_000, 20
HEADS = Table((20.0, 40.0, 55.0, 80.0, 100.0), (0.8, 0.86, 0.9, 0.89, 0.85))
RATES = Table((20.0, 40.0, 60.0, 100.0), (20.0, 9.8, 6.4, 3.9))
CURVES = {
    "table": Table((0.0, 1.0, 2.0, 4.0, 7.0, 9.0), (0.0, 1.0, 1.5, 4.0, 4.0, 8.0)),
    "falling table": Table((-2.0, 3.0, 5.0, 11.0), (9.0, 4.0, 3.9, -1.0)),
    "polynomial": Polynomial((1.0, -2.0, 0.5, 0.1, -0.01, 0.002), (-1.0, 5.0)),
    "line": Polynomial((3.0, 2.0), (0.0, 8.0)),
    "constant": Polynomial((3.0,), (0.0, 8.0)),
    "power law": PowerLaw(2.0, 0.18, 0.0, 0.6, (0.0, 9.0)),
    "steep power law": PowerLaw(-3.0, -0.2, -1.5, 2.3, (-1.0, 9.0)),
    "falling power law": PowerLaw(1.0, 4.0, 0.0, -0.5, (0.5, 9.0)),
}
CONVERSIONS = {
    "efficiency": Conversion(False, 9.80665e-3, *HEADS.domain, HEADS),
    "rate": Conversion(True, 0.0, *RATES.domain, RATES),
}


@compiled_as_written
def of_curve(curve, low, high, out):
    for place in range(len(low)):
        value, slope, curvature = enclosures.enclose(curve, (low[place], high[place]))
        out[place, 0, 0], out[place, 0, 1] = value
        out[place, 1, 0], out[place, 1, 1] = slope
        out[place, 2, 0], out[place, 2, 1] = curvature


@compiled_as_written
def of_conversion(conversion, low, high, out):
    for place in range(len(low)):
        value, slope, curvature = enclosures.enclose_conversion(conversion, (low[place], high[place]))
        out[place, 0, 0], out[place, 0, 1] = value
        out[place, 1, 0], out[place, 1, 1] = slope
        out[place, 2, 0], out[place, 2, 1] = curvature


def drawn(domain):
    """Intervals of all widths in the domain and beyond it, and points in each."""
    random, (first, last) = np.random.default_rng(3), domain
    width = (last - first) * 10.0 ** random.uniform(-7, 0.3, INTERVALS)
    low = random.uniform(first - 0.3 * (last - first), last + 0.2 * (last - first), INTERVALS)
    high = low + width
    inside = low[:, None] + (high - low)[:, None] * random.random((INTERVALS, SAMPLES))
    return low, high, np.clip(np.sort(inside, axis=1), low[:, None], high[:, None])


def assert_contains(found, low, high, x, y):
    value, slope, curvature = np.moveaxis(found, 1, 0)
    rounding = 1e-13 * (1.0 + np.abs(y))  # of what is sampled
    assert np.all(y >= value[:, :1] - rounding)
    assert np.all(y <= value[:, 1:] + rounding)
    step = np.diff(x, axis=1)
    apart = step > 1e-6
    with np.errstate(divide="ignore", invalid="ignore"):
        chord, rounding = np.diff(y, axis=1) / step, 4e-13 * (1.0 + np.abs(y[:, 1:])) / step
        assert np.all((chord >= slope[:, :1] - rounding)[apart])
        assert np.all((chord <= slope[:, 1:] + rounding)[apart])
        bend, rounding = np.diff(chord, axis=1) / (x[:, 2:] - x[:, :-2]) * 2, 1e-8
        apart = (step[:, 1:] > 1e-3) & (step[:, :-1] > 1e-3)
        assert np.all((bend >= curvature[:, :1] - rounding)[apart])
        assert np.all((bend <= curvature[:, 1:] + rounding)[apart])
    return value


@pytest.mark.parametrize("name", CURVES)
def test_ranges_contain_values_slopes_and_curvatures(name):
    curve = CURVES[name]
    low, high, x = drawn(curve.domain)
    found = np.empty((INTERVALS, 3, 2))
    of_curve(curve.compiled(), low, high, found)
    value = assert_contains(found, low, high, x, curve(x))
    narrow = high - low < 1e-3  # where the range is that of a line, the enclosure is not much wider
    ends = np.stack([curve(low), curve(high)])
    assert np.all((value[:, 1] - value[:, 0] - np.ptp(ends, axis=0))[narrow] < 1e-4)


@pytest.mark.parametrize("name", CONVERSIONS)
def test_ranges_of_a_composed_curve_contain_values_slopes_and_curvatures(name):
    conversion = CONVERSIONS[name]
    low, high, x = drawn((conversion.lower, conversion.upper))
    found = np.empty((INTERVALS, 3, 2))
    compiled = conversion._replace(curve=conversion.curve.compiled())
    of_conversion(compiled, low, high, found)
    assert_contains(found, low, high, x, conversion(x))
