"""Numbers of distributions in compiled code are those of the formulas in float64."""

import numpy as np
import pytest

from reservoir.hydro.jit import compiled
from reservoir.solvers.rng import cauchy, logarithm, normal


@compiled
def _all(one, other, found) -> None:
    for i in range(len(one)):
        found[0, i], found[1, i], found[2, i] = normal(one[i], other[i]), cauchy(one[i]), logarithm(one[i])


@pytest.fixture(scope="module")
def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of uniform numbers and what is made of them."""
    one, other = np.random.default_rng(1).random((2, 20_000), np.float32)
    one[:3], other[:3] = (2.0**-23, 0.25, 1 - 2.0**-23), (0.0, 0.5, 0.75)
    found = np.empty((3, len(one)), np.float32)
    _all(one, other, found)
    return one.astype(float), other.astype(float), found


def test_normal_numbers(drawn) -> None:
    one, other, (found, _, _) = drawn
    assert found == pytest.approx(np.sqrt(-2 * np.log1p(-one)) * np.cos(2 * np.pi * other), abs=1e-5)


def test_cauchy_numbers_but_for_the_last_thousandth(drawn) -> None:
    one, _, (_, found, _) = drawn
    inner = np.abs(one - 0.5) < 0.499
    assert found[inner] == pytest.approx(np.tan(np.pi * (one[inner] - 0.5)), rel=1e-2, abs=1e-6)
    usual = np.abs(one - 0.5) < 0.45
    assert found[usual] == pytest.approx(np.tan(np.pi * (one[usual] - 0.5)), rel=1e-4, abs=1e-6)


def test_logarithms(drawn) -> None:
    one, _, (_, _, found) = drawn
    assert found == pytest.approx(np.log(one), rel=1e-6, abs=2e-7)
