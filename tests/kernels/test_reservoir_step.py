"""The step in OpenCL C is the step in Python, on random states of random reservoirs, at every width of vectors."""

import numpy as np
import pytest

from reservoir.hydro.benefit import stage_benefit
from reservoir.hydro.curves.approximation import approximate
from reservoir.hydro.elementwise import mean
from reservoir.hydro.jit import compiled_part
from reservoir.hydro.step import enforce_limits, power_at, relative_violation, release_to_reach, unmet_minimum
from reservoir.problems.reservoir.plant_source import STEP_FILES, plant_constants, plant_numbers, plant_source
from tests.hydro.random_reservoirs import States, random_reservoir, random_states
from tests.kernels.device import WIDTHS, Run

#: States of one step: as many as the widest vector has lanes.
TOGETHER = max(WIDTHS)
STATES = 12 * TOGETHER
#: How far rounding lets two expressions of a step lie apart, as a part of the largest value.
FLOAT32, FLOAT64 = 5e-6, 1e-12
OUTPUTS = ("release", "end", "cost", "power", "benefit", "release to reach the upper bound", "missing")
#: Dead storage, as a part of the lowest storage: below it nothing is released.
DEAD = 0.9

KERNEL = """
__kernel void test(__global REAL *out, __global const REAL *steps, __global const REAL *states) {
    const int first = get_global_id(0) * LANES;
    __global const REAL *row = steps + first / TOGETHER * 11;
    const Step step = {row[0], row[1], 1 / row[1], row[2], row[3], row[8], 1, row[9], row[10]};
    const REAL lowest = row[4], highest = row[5];
    reals storage, asked, found[7];
    for (int lane = 0; lane < LANES; ++lane) {
        REAL_OF(storage, lane) = states[first + lane];
        REAL_OF(asked, lane) = states[STATES + first + lane];
    }
    const reals unlimited = STORAGE_AFTER(storage, step.inflow, asked, (reals)(step.per_flow));
    const reals target = LESSER(GREATER(unlimited, (reals)(lowest)), (reals)(highest));
    const reals wanted = STEERED_RELEASE(asked, unlimited, target, (reals)(step.per_volume));
    const StepEnd kept = limit_release(storage, wanted, target, step);
    found[0] = kept.release;
    found[1] = kept.end;
    found[2] = cost_outside(kept.end, lowest, highest, row[6], row[7]);
    found[3] = power_at(storage + kept.end, kept.release, step);
    found[4] = STAGE_BENEFIT(reals, found[3], found[0], step, (reals)(step.per_flow));
    found[5] = RELEASE_TO_REACH(storage, (reals)(highest), step.inflow, (reals)(step.per_volume));
    found[6] = missing_cost(kept.release, step);
    for (int each = 0; each < 7; ++each)
        for (int lane = 0; lane < LANES; ++lane) out[each * STATES + first + lane] = REAL_OF(found[each], lane);
}
"""


@compiled_part
def in_python(plant, states, capacity, out):
    """What a step comes to by the functions of `step`, a row each of `OUTPUTS`, with the forms of the curves."""
    for at in range(len(states.storage)):
        storage, inflow, per_flow = states.storage[at], states.inflow[at], states.hm3_per_m3s[at]
        storages, releases = (states.lowest[at], states.highest[at]), (states.least[at], states.most[at])
        bounds = storages, releases, DEAD * storages[0]
        out[0, at], out[1, at] = enforce_limits(storage, states.wanted[at], inflow, per_flow, *bounds)
        out[2, at] = relative_violation(out[1, at], storages[0], storages[1], capacity)
        out[3, at] = power_at(plant, mean(storage, out[1, at]), out[0, at])
        out[4, at] = stage_benefit((), at, out[3, at], out[0, at], per_flow)
        out[5, at] = release_to_reach(storage, storages[1], inflow, per_flow)
        out[6, at] = unmet_minimum(out[0, at], releases[0], 1.0)


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("double", [0, 1])
@pytest.mark.parametrize("seed", range(6))
def test_a_step_on_a_device_is_the_step_in_python(run: Run, seed: int, double: int, lanes: int) -> None:
    reservoir = random_reservoir(seed)
    forms = approximate(reservoir)
    plant = forms.plant
    many = random_states(reservoir, STATES, seed)
    one_of = np.arange(STATES) // TOGETHER * TOGETHER
    states = States(many.storage, many.wanted, *(each[one_of] for each in many[2:]))
    states = states._replace(inflow=np.where(one_of // TOGETHER % 3 == 0, 0.0, states.inflow))
    steps = np.stack(
        [
            *(getattr(states, name) for name in ("inflow", "hm3_per_m3s", "least", "most", "lowest", "highest")),
            1 / states.lowest,
            1 / states.highest,
            DEAD * states.lowest,
            *(np.full(STATES, number) for number in plant_numbers(reservoir).values()),
        ],
        axis=1,
    )[::TOGETHER]
    dtype = np.float64 if double else np.float32
    constants = plant_constants() | {"LANES": lanes, "DOUBLE": double, "STATES": STATES, "TOGETHER": TOGETHER}
    found = run(
        ["common/vector/lanes.cl", *STEP_FILES],
        KERNEL,
        constants,
        np.zeros((len(OUTPUTS), STATES), dtype),
        STATES // lanes,
        steps.astype(dtype),
        np.stack([states.storage, states.wanted]).astype(dtype),
        between=plant_source(forms),
    )
    expected = np.empty((len(OUTPUTS), STATES))
    in_python(plant, states, float(reservoir.storage_upper_hm3.max()), expected)
    assert (expected[2] > 0).any()
    assert (expected[0] != states.wanted).any()
    assert (expected[1] <= DEAD * states.lowest).any()
    for name, each, reference in zip(OUTPUTS, found, expected, strict=True):
        of_curves = name in ("power", "benefit")  # whose constants are float32 however a device reckons
        scale = 1.0 if name == "cost" else np.abs(reference).max()  # a violation is a difference of storages
        tolerance = FLOAT32 if of_curves or not double else FLOAT64
        np.testing.assert_allclose(each, reference, rtol=0, atol=tolerance * scale, err_msg=name)
