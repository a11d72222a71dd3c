"""The step is the paper's, and one: for arrays in Python and for numbers in compiled code, on random reservoirs."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.elementwise import mean
from reservoir.hydro.jit import compiled_part
from reservoir.hydro.plant import exact_plant, plant_of
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import enforce_limits, head_at, power_at, relative_violation, release_to_reach, turbined_at
from tests.hydro import paper
from tests.hydro.random_reservoirs import States, random_reservoir, random_states

STATES = 240
#: Dead storage, as a part of the lowest storage: below it nothing is released.
DEAD = 0.9
NAMES = ("release", "end", "violation", "head", "turbined", "power", "release to reach the upper bound")


@pytest.fixture(params=range(12))
def reservoir(request: pytest.FixtureRequest) -> Reservoir:
    return random_reservoir(request.param)


@compiled_part
def compiled_steps(plant, states, capacity, out):
    for at in range(len(states.storage)):
        storage, inflow, per_flow = states.storage[at], states.inflow[at], states.hm3_per_m3s[at]
        storages, releases = (states.lowest[at], states.highest[at]), (states.least[at], states.most[at])
        dead = DEAD * states.lowest[at]
        release, end = enforce_limits(storage, states.wanted[at], inflow, per_flow, storages, releases, dead)
        out[0, at], out[1, at] = release, end
        out[2, at] = relative_violation(end, storages[0], storages[1], capacity)
        out[3, at] = head_at(plant, mean(storage, end), release)
        out[4, at] = turbined_at(plant, out[3, at], release)
        out[5, at] = power_at(plant, mean(storage, end), release)
        out[6, at] = release_to_reach(storage, storages[1], inflow, per_flow)


def in_arrays(reservoir: Reservoir, states: States) -> np.ndarray:
    """The same for all states at once."""
    plant, storages, flow = plant_of(reservoir), (states.lowest, states.highest), (states.inflow, states.hm3_per_m3s)
    bounds = storages, (states.least, states.most), DEAD * states.lowest
    release, end = enforce_limits(states.storage, states.wanted, *flow, *bounds)
    middle = mean(states.storage, end)
    head = head_at(plant, middle, release)
    violation = relative_violation(end, *storages, reservoir.storage_upper_hm3.max())
    power, reach = power_at(plant, middle, release), release_to_reach(states.storage, states.highest, *flow)
    return np.stack([release, end, violation, head, turbined_at(plant, head, release), power, reach])


def by_the_paper(reservoir: Reservoir, states: States) -> np.ndarray:
    """The same but for the last row, state by state, as years of one step: a day whose flows are so much larger."""
    rows = []
    for state in states_one_by_one(states):
        per_day = state.hm3_per_m3s / 0.0864
        inflow, least, most = ([flow * per_day] for flow in (state.inflow, state.least, state.most))
        dead = DEAD * state.lowest
        year = paper.Year(inflow, [1], least, most, [state.lowest], [state.highest], state.storage, None, dead)
        (release,), storages = paper.repaired(year, [state.wanted * per_day])
        release /= per_day
        storages[1] = max(storages[1], 0.0)
        (violation,) = paper.violations(replace(year, dead=0.0), storages)
        head = paper.head_m(reservoir, sum(storages) / 2, release)
        turbined = paper.turbined(reservoir, head, release)
        rows.append([release, storages[1], violation, head, turbined, paper.specific_power(reservoir, head) * turbined])
    return np.transpose(rows)


def states_one_by_one(states: States) -> list[States]:
    return [States(*map(float, state)) for state in zip(*states, strict=True)]


def test_compiled_code_and_arrays_have_one_step_and_it_is_the_papers(reservoir: Reservoir) -> None:
    states = random_states(reservoir, STATES)
    compiled = np.empty((len(NAMES), STATES))
    compiled_steps(exact_plant(reservoir), states, float(reservoir.storage_upper_hm3.max()), compiled)
    assert (compiled[2] > 0).any()
    assert (compiled[0] != states.wanted).any()
    assert (compiled[0] < states.least).any()
    assert (compiled[4] < compiled[0]).any()
    for other in (in_arrays(reservoir, states), by_the_paper(reservoir, states)):
        for name, one, each in zip(NAMES, compiled, other, strict=False):
            np.testing.assert_allclose(each, one, rtol=1e-9, atol=1e-12 * np.abs(one).max(), err_msg=name)
