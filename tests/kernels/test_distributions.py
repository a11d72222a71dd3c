"""Normal and Cauchy numbers on the device are those of their distributions, in every width of a vector."""

import numpy as np
import pytest
from scipy import stats

from tests.kernels.device import WIDTHS

FILES = ("common/vector/lanes.cl", "common/rng/distributions.cl")
KERNEL = """
__kernel void test(__global float *out, __global const float *first, __global const float *second) {
    const int place = get_global_id(0) * LANES;
    reals one, other;
    for (int lane = 0; lane < LANES; ++lane) {
        REAL_OF(one, lane) = first[place + lane];
        REAL_OF(other, lane) = second[place + lane];
    }
    const reals found = DRAWN;
    for (int lane = 0; lane < LANES; ++lane) out[place + lane] = REAL_OF(found, lane);
}
"""
COUNT = 4096


def drawn(run, lanes: int, what: str, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    constants = {"LANES": lanes, "DRAWN": what}
    return run(FILES, KERNEL, constants, np.zeros(COUNT, "f4"), COUNT // lanes, first, second)


@pytest.mark.parametrize("lanes", WIDTHS)
def test_normal_numbers_are_box_and_mullers(run, lanes: int) -> None:
    radial, angle = np.random.default_rng(1).random((2, COUNT), np.float32)
    radial[:3], angle[:3] = (0, 2**-23, 1 - 2**-23), (0, 0.25, 0.5)
    expected = np.sqrt(-2 * np.log1p(-radial.astype(float))) * np.cos(2 * np.pi * angle.astype(float))
    found = drawn(run, lanes, "normal_lanes(one, other)", radial, angle)
    np.testing.assert_allclose(found, expected, atol=3e-6, rtol=3e-6)
    assert stats.kstest(found, "norm").pvalue > 0.05


@pytest.mark.parametrize("lanes", WIDTHS)
def test_cauchy_numbers_are_the_inverse_of_their_distribution(run, lanes: int) -> None:
    part = np.random.default_rng(2).uniform(0.001, 0.999, COUNT).astype("f4")
    part[:2] = 0.5, 0.75
    expected = stats.cauchy.ppf(part.astype(float))
    np.testing.assert_allclose(drawn(run, lanes, "cauchy_lanes(one)", part, part), expected, rtol=2e-4, atol=2e-6)
