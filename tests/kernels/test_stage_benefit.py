"""The stage benefit of any objective in OpenCL C is that in Python, at every width of vectors."""

import numpy as np
import pytest

from reservoir.hydro.benefit import objective_per_stage_benefit, stage_benefit
from reservoir.hydro.rows import TERMS, filled_years
from tests.kernels.device import WIDTHS, Run

STEPS, EACH = 12, 2 * max(WIDTHS)
FLOAT32, FLOAT64 = 3e-6, 1e-13

KERNEL = """
__kernel void test(__global REAL *out, __global const REAL *rows, __global const REAL *states) {
    const int first = get_global_id(0) * LANES;
    __global const REAL *row = rows + first / EACH * 8;
    const Terms terms = {row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]};
    const struct { Terms terms; } step = {terms};
    reals power, release;
    for (int lane = 0; lane < LANES; ++lane) {
        REAL_OF(power, lane) = states[first + lane];
        REAL_OF(release, lane) = states[STATES + first + lane];
    }
    const reals many = STAGE_BENEFIT(reals, power, release, step, 1);
    for (int lane = 0; lane < LANES; ++lane) {
        out[first + lane] = REAL_OF(many, lane);
        out[STATES + first + lane] = STAGE_BENEFIT(REAL, states[first + lane], states[STATES + first + lane], step, 1);
    }
}
"""


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("double", [0, 1])
def test_a_benefit_on_a_device_is_that_in_python(run: Run, double: int, lanes: int) -> None:
    random = np.random.default_rng(8)
    terms = dict(zip(TERMS, random.uniform(0.1, 2, (8, STEPS)), strict=True))
    terms |= {"power_target": random.uniform(0, 80, STEPS), "supply_target": random.uniform(0, 80, STEPS)}
    terms["power_cost_most"] = np.where(np.arange(STEPS) % 2, 1e30, 30.0)
    year = filled_years(terms).some((0, 0))
    power, release = random.uniform(0, 100, (2, STEPS, EACH))
    expected = stage_benefit(year, (slice(None), np.newaxis), power, release, 2.6)
    states, dtype = STEPS * EACH, np.float64 if double else np.float32
    found = run(
        ["common/vector/lanes.cl", "problems/reservoir/stage_benefit.cl"],
        KERNEL,
        {"TERMS": 1, "LANES": lanes, "DOUBLE": double, "STATES": states, "EACH": EACH},
        np.zeros((2, states), dtype),
        states // lanes,
        np.stack([*terms.values()], axis=1).astype(dtype),
        np.stack([power.ravel(), release.ravel()]).astype(dtype),
    )
    assert len({float(cost) for cost in np.sign(expected).ravel()}) == 2
    scale = np.abs(expected).max()
    for each in found:
        np.testing.assert_allclose(each, expected.ravel(), rtol=0, atol=(FLOAT64 if double else FLOAT32) * scale)
    assert objective_per_stage_benefit(year) == 1
