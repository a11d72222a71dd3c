"""What sums of terms round in float32 is part of the bound: it is compared with exact sums of the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.certificate.on_device import outwards
from reservoir.certificate.stages import FIELDS
from reservoir.opencl import Session
from tests.certificate.single_kernels import NO_MARGIN_OF_SUMS, built

COUNT = 20_000
TERMS = """
typedef struct {
    float half_x, half_y;
    Affine values, made, taken, installed, flow;
} Terms;

__kernel void of_terms(__global const Stage *stages, __global const Terms *given, __global float *found) {
    const int place = get_global_id(0);
    const Terms of = given[place];
    const Powers powers = {of.made, of.taken, of.installed};
    const Affine minus = {-of.flow.value, -of.flow.by_x, -of.flow.by_y};
    Geometry box;
    box.sides.x = of.half_x;
    box.sides.y = of.half_y;
    const real price = LOW(stages[place].missing_price), heaviest = price > 0.0f ? price : INFINITY;
    const real least = LOW(stages[place].release_lower);
    found[place] = bound_with_costs(stages + place, of.values, &powers, of.flow, minus, least, heaviest, &box);
}
"""


def random_steps(random):
    """Numbers of steps with every kind of term, each of them nothing at times."""
    some = {name: random.integers(0, 2, COUNT) for name in FIELDS}
    near = 1 + 10.0 ** random.uniform(-6, 0, (3, COUNT)) * random.choice([-1, 1], (3, COUNT))
    worth = 10.0 ** random.uniform(-3, 3, COUNT)
    cost = some["power_cost"] * worth * random.uniform(0, 3, COUNT)
    return {name: np.zeros(COUNT) for name in FIELDS} | {
        "release_lower": np.where(some["release_lower"], 1000 * near[0], 0.0),
        "release_upper": np.where(some["release_upper"], 1000 * near[1], 1e5),
        "spare": 1e-3 * some["spare"],
        "power_lower": np.where(some["power_lower"], 100 * near[2] * random.random(COUNT), -1.0),
        "offset": some["offset"] * random.normal(0, 300, COUNT) * worth,
        "power_value": some["power_value"] * worth,
        "power_target": 100 * near[2],
        "power_cost": cost,
        "power_cost_squared": some["power_cost_squared"] * worth / 100 * random.random(COUNT),
        "power_cost_most": np.where(some["power_cost_most"], 50 * cost, 1e30),
        "supply_target": some["supply_target"] * 1000 * near[0],
        "supply_cost_squared": some["supply_cost_squared"] * worth / 1e4,
        "missing_price": some["missing_price"] * worth * random.uniform(0, 3, COUNT),
    }


def random_affines(random, worth):
    """Half widths, and affine functions on the box: values, power made and taken, installed, and the release."""
    half = 10.0 ** random.uniform(-7, 1, (COUNT, 2))

    def affine(size):
        return np.column_stack([size, size[:, None] * random.normal(0, 1, (COUNT, 2))])

    values = affine(random.normal(0, 100, COUNT) * worth)
    made, taken = (affine(100 * (1 + 1e-3 * random.normal(size=COUNT))) for _ in range(2))
    installed = np.column_stack([random.uniform(90, 130, COUNT), np.zeros((COUNT, 2))])
    flow = affine(1000 * (1 + 10.0 ** random.uniform(-7, -2, COUNT)))
    return np.column_stack([half, values, made, taken, installed, flow]).astype(np.float32)


def worth_of(step, given, share):
    """What steps are worth, and whether they keep their limits, at places of their boxes."""
    dx, dy = (np.array(share) * given[:, :2]).T
    values, made, taken, installed, flow = (
        given[:, first] + given[:, first + 1] * dx + given[:, first + 2] * dy for first in range(2, 17, 3)
    )
    power = np.minimum(np.minimum(made, taken), installed)
    short = np.maximum(step["power_target"] - power, 0)
    cost = np.minimum((step["power_cost"] + step["power_cost_squared"] * short) * short, step["power_cost_most"])
    dry = np.maximum(step["supply_target"] - flow - step["spare"], 0)
    worth = values + step["offset"] + step["power_value"] * power - cost - step["supply_cost_squared"] * dry**2
    worth = worth - step["missing_price"] * np.maximum(step["release_lower"] - flow, 0)
    kept = (flow <= step["release_upper"]) & (power >= np.maximum(step["power_lower"], 0))
    return worth, kept & ((step["release_lower"] <= flow) | (step["missing_price"] > 0))


def excess(device, *mistakes, seed=11, wide=0.0):
    """By how much each step is worth more than its bound, where one of the places in its box keeps the limits.

    Intervals of numbers of steps reach farther at either end by a part of these.
    """
    random = np.random.default_rng(seed)
    step = random_steps(random)
    given = random_affines(random, np.maximum(step["power_value"], 1e-3))
    numbers = np.stack([step[name] for name in FIELDS], axis=1)
    beyond = wide * random.integers(0, 2, (*numbers.shape, 2)) * np.abs(numbers)[..., None] * [-1, 1]
    with Session(device) as session:
        session.upload(stages=outwards(numbers) + beyond.astype(np.float32), given=given)
        session.allocate(found=(COUNT, np.float32))
        session.run(built(device, TERMS, *mistakes), "of_terms", COUNT, None, "stages", "given", "found")
        found = session.download("found").astype(np.float64)
    most = np.full(COUNT, -np.inf)
    shares = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)] + random.uniform(-1, 1, (20, 2)).tolist()
    for share in shares:
        worth, kept = worth_of(step, given.astype(np.float64), share)
        most = np.where(kept, np.maximum(most, worth), most)
    compared = most > -np.inf
    return most[compared] - found[compared]


@pytest.mark.parametrize("wide", [0.0, 1e-4])
def test_no_step_is_worth_more_than_the_bound_of_its_terms(wide, device):
    over = excess(device, wide=wide)
    assert len(over) > 10_000
    assert over.max() <= 0


def test_without_a_margin_for_what_sums_round_some_are(device):
    assert (excess(device, *NO_MARGIN_OF_SUMS) > 0).sum() > 20


@pytest.mark.parametrize("end", ["LOW", "HIGH"])
def test_the_wrong_end_of_an_interval_is_found_out(end, device):
    right, wrong = ("low", "high") if end == "LOW" else ("high", "low")
    mistake = f"#define {end}(x) (x).{right}", f"#define {end}(x) (x).{wrong}"
    assert (excess(device, mistake, wide=1e-4) > 0).sum() > 20
