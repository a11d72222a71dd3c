"""Vectors of every width behave as so many scalars."""

import numpy as np
import pytest

from tests.kernels.device import WIDTHS, Run

KERNEL = """
__kernel void test(__global float *out, __global const float *a, __global const float *b) {
    const int first = get_global_id(0) * LANES;
    const reals x = LOAD_LANES(__global, a + first), y = LOAD_LANES(__global, b + first);
    const ints less = x < y;
    const uints whole = (uints)(16777215u);
    STORE_LANES(LESSER(x, y), __global, out + first);
    STORE_LANES(GREATER(x, y), __global, out + COUNT + first);
    STORE_LANES(CHOOSE(less, x * 2.0f, y), __global, out + 2 * COUNT + first);
    STORE_LANES(FUSED(x, y, (reals)(1.0f)), __global, out + 3 * COUNT + first);
    const ints early = (ints)(LANE_NUMBERS) + first < 10;
    STORE_LANES(CHOOSE(early, (reals)(1.0f), (reals)(0.0f)), __global, out + 4 * COUNT + first);
    STORE_LANES((reals)(ANY(less) ? 1.0f : 0.0f), __global, out + 5 * COUNT + first);
    STORE_LANES(TO_REALS(whole), __global, out + 6 * COUNT + first);
    for (int left = BITS_OF(less), order = 1; left; left &= left - 1, ++order)
        out[7 * COUNT + first + FIRST_BIT(left)] = order;
}
"""


@pytest.mark.parametrize("lanes", WIDTHS)
def test_every_operation_works_lane_by_lane(run: Run, lanes: int) -> None:
    draw = np.random.default_rng(lanes)
    count = 64
    x, y = draw.normal(size=(2, count)).astype(np.float32)
    y[:32] = x[:32] - np.abs(y[:32])  # in the first half nothing is less
    constants = {"LANES": lanes, "COUNT": count}
    out = run(["common/vector/lanes.cl"], KERNEL, constants, np.zeros((8, count), "f4"), count // lanes, x, y)
    less = x < y
    np.testing.assert_array_equal(out[0], np.minimum(x, y))
    np.testing.assert_array_equal(out[1], np.maximum(x, y))
    np.testing.assert_array_equal(out[2], np.where(less, x * 2, y))
    np.testing.assert_allclose(out[3], x * y + 1, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(out[4], np.arange(count) < 10)
    np.testing.assert_array_equal(out[5], np.repeat(less.reshape(-1, lanes).any(axis=1), lanes))
    np.testing.assert_array_equal(out[6], np.full(count, 16_777_215))
    counted = np.cumsum(less.reshape(-1, lanes), axis=1).ravel()
    np.testing.assert_array_equal(out[7], np.where(less, counted, 0))
