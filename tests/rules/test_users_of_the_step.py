"""Whoever operates a reservoir makes what its step makes: solvers, certificate, simulation, families of rules."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from reservoir.hydro.benefit import in_objective_unit, stage_benefit
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.elementwise import mean
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.jit import compiled_part
from reservoir.hydro.plant import Plant, plant_of, plant_with_cursors
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import enforce_limits, power_at, relative_violation
from reservoir.planning.plan import optimise
from reservoir.problems.fitness import fitness_of
from reservoir.problems.mlp import Perceptron
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.rules import Forecast, Training
from reservoir.rules.base.physics import Physics, month_end
from reservoir.rules.base.record_operation import generated, record_of
from reservoir.rules.base.rule import Months
from reservoir.rules.base.simulation import simulate
from reservoir.rules.families.ann import Scales, input_names
from reservoir.rules.families.ann_training import NetworkOperation
from reservoir.rules.families.zones import fit_standard
from reservoir.solvers.dp import recursion, sequential
from tests.hydro.random_reservoirs import States, random_reservoir, random_states

STATES = 120
YEARS = 4


class Outcome(NamedTuple):
    """What steps come to, each of shape (steps,); ``benefit`` in GWH."""

    release: np.ndarray
    end: np.ndarray
    benefit: np.ndarray
    violation: np.ndarray


@dataclass(frozen=True)
class Trial:
    """A random reservoir, and years planned for it."""

    reservoir: Reservoir
    training: Training
    years: list[ReservoirYears]


@pytest.fixture(scope="module", params=range(3))
def trial(request: pytest.FixtureRequest) -> Trial:
    reservoir = random_reservoir(request.param)
    flows = np.random.default_rng(request.param).uniform(0.05, 0.8, (YEARS, 12)) * reservoir.release_upper_m3s
    plan = optimise(reservoir, Inflow(flow_m3s=flows, calendar=Calendar(1990, YEARS, 1)), solver="dp")
    return Trial(reservoir, Training.of(plan), list(plan.problems.each))


def by_the_step(plant: Plant, reservoir: Reservoir, states: States, largest_hm3: float | None = None) -> Outcome:
    """What states come to by the step, with the curves that a plant has.

    What is missing of a least release is relative to the largest volume of one, of these states if it is not given.
    """
    storages, releases = (states.lowest, states.highest), (states.least, states.most)
    flows, dead = (states.inflow, states.hm3_per_m3s), reservoir.storage_lower_hm3.min()
    release, end = enforce_limits(states.storage, states.wanted, *flows, storages, releases, dead)
    power = power_at(plant, mean(states.storage, end), release)
    most = np.max(states.least * states.hm3_per_m3s) if largest_hm3 is None else largest_hm3
    violation = relative_violation(np.maximum(end, dead), *storages, reservoir.storage_upper_hm3.max())
    violation = violation + np.maximum(states.least - release, 0) * states.hm3_per_m3s / (most or 1.0)
    benefit = in_objective_unit((), stage_benefit((), 0, power, release, states.hm3_per_m3s))
    return Outcome(release, end, benefit, violation)


def walked(
    reservoir: Reservoir, limits: States, start: float, wanted: Callable[[int, float], float]
) -> tuple[Outcome, float]:
    """Steps one after another, with the exact curves; their outcomes, and the storage at the end."""
    plant, found, storage = plant_of(reservoir), [], start
    for number in range(len(limits.inflow)):
        state = States(storage, wanted(number, storage), *(each[number] for each in limits[2:]))
        largest = float(np.max(limits.least * limits.hm3_per_m3s))
        found.append(by_the_step(plant, reservoir, state, largest))
        storage = float(found[-1].end)
    return Outcome._make(np.array(found, float).T), storage


def year_states(year: ReservoirYears) -> States:
    """The steps of a year, whose storages are to stay in reach of its end."""
    arrays = year.exact_year
    bounds = arrays.reach_lower, arrays.reach_upper, arrays.release_lower, arrays.release_upper
    nothing = np.zeros(len(arrays.inflow))
    return States(nothing, nothing, arrays.inflow, arrays.hm3_per_m3s, *bounds)


def record_states(trial: Trial) -> States:
    """The steps of all years, one after another, with no reach of anything."""
    reservoir, training = trial.reservoir, trial.training
    monthly = (
        reservoir.storage_lower_hm3,
        reservoir.storage_upper_hm3,
        reservoir.release_lower_m3s,
        reservoir.release_upper_m3s,
    )
    flows, nothing = training.inflow_m3s.ravel(), np.zeros(training.inflow_m3s.size)
    return States(nothing, nothing, flows, training.hm3_per_m3s.ravel(), *(np.tile(each, YEARS) for each in monthly))


def fitness_in_year(year: ReservoirYears, position: np.ndarray) -> tuple[float, Outcome]:
    found, _ = walked(year.model.reservoir, year_states(year), float(year.exact_year.start), lambda at, _: position[at])
    return found.benefit.sum() - year.penalty * found.violation.sum(), found


def positions(year: ReservoirYears) -> np.ndarray:
    return year.lower + np.random.default_rng(5).random((20, year.dimension)) * (year.upper - year.lower)


@compiled_part
def sequential_fitness(context, position, scratch):
    return fitness_of(context, position, scratch)


@compiled_part
def generated_states(plant, record, storage, asked, out):
    for at in range(len(storage)):
        out[0, at], out[1, at], out[2, at] = generated(plant, record, at, storage[at], asked[at])


def test_the_certificate_of_a_year_is_that_of_its_steps(trial: Trial) -> None:
    for year in trial.years:
        for position in positions(year):
            expected, found = fitness_in_year(year, position)
            operation = year.operate(position)
            np.testing.assert_allclose(operation.release_m3s, found.release, rtol=1e-10)
            np.testing.assert_allclose(operation.storage_hm3[1:], found.end, rtol=1e-10)
            assert year.certify(position).fitness == pytest.approx(expected, rel=1e-9)


def test_sequential_solvers_see_the_certificates_fitness_but_for_forms_and_float32(trial: Trial) -> None:
    for year in trial.years:
        context, scratch = year.compiled_context(), np.empty((2, year.dimension + 1), np.float32)
        for position in positions(year):
            found = sequential_fitness(context, position.astype(np.float32), scratch)
            expected, outcome = fitness_in_year(year, position)
            tolerance = 2e-4 * outcome.benefit.sum() + 1e-5 * year.penalty
            assert found == pytest.approx(expected, abs=tolerance)


def test_dynamic_programming_values_a_trajectory_as_its_steps_do(trial: Trial) -> None:
    year = trial.years[0]
    arrays, plant = year.exact_year, year.model.exact
    steps, states = len(arrays.inflow), 40
    lower, upper = sequential.corridor(year.limits)
    grid = np.linspace(lower, upper, states, axis=1)
    values, choices = np.empty((steps + 1, states)), np.empty((steps, states), np.int64)
    cursors = plant_with_cursors(plant)
    recursion.bellman(cursors, arrays, grid, year.penalty, values, choices, np.empty(states), ())
    storages, releases = np.empty(steps + 1), np.empty(steps)
    recursion.trace(arrays, grid, values, choices, storages, releases)
    expected, found = fitness_in_year(year, releases)
    np.testing.assert_allclose(found.end, storages[1:], rtol=1e-9)
    assert values[0].max() == pytest.approx(expected, rel=1e-9)


def test_a_month_of_a_simulation_ends_as_its_step_does(trial: Trial) -> None:
    states = random_states(trial.reservoir, STATES)
    expected = by_the_step(plant_of(trial.reservoir), trial.reservoir, states)
    for at, (storage, wanted, inflow, volume, lowest, highest, least, most) in enumerate(zip(*states, strict=True)):
        dead = float(trial.reservoir.storage_lower_hm3.min())
        release, draft, end = month_end(storage, wanted, inflow, volume, (lowest, highest), (least, most), dead)
        assert (release, end) == pytest.approx((expected.release[at], expected.end[at]), rel=1e-12)
        assert draft == release


def test_dynamic_programming_of_rules_sees_the_step_by_its_table_of_the_plant(trial: Trial) -> None:
    physics, bounds = Physics.of(trial.training), (trial.reservoir.storage_lower_hm3, trial.reservoir.storage_upper_hm3)
    states = random_states(trial.reservoir, STATES)
    for month in range(12):
        of_month = States(*(each[month::12] for each in states))
        of_month = of_month._replace(hm3_per_m3s=np.full(STATES // 12, physics.months.volume_per_flow[month]))
        end, gained = physics.after(month, of_month.storage, of_month.wanted, of_month.inflow)
        largest = 1 / physics.months.per_missing_hm3 if physics.months.per_missing_hm3 else 0.0
        expected = by_the_step(plant_of(trial.reservoir), trial.reservoir, of_month, largest)
        cost = trial.reservoir.penalty * expected.violation
        np.testing.assert_allclose(end, expected.end, rtol=1e-12)
        middle = mean(of_month.storage, expected.end)
        told = (middle >= bounds[0].min()) & (middle <= bounds[1].max())  # beyond, the table ends and the curves do not
        assert told.any()
        tolerance = 1e-4 * expected.benefit.max()
        np.testing.assert_allclose(gained[told], (expected.benefit - cost)[told], rtol=1e-9, atol=tolerance)


def test_searches_of_rules_generate_what_the_step_does(trial: Trial) -> None:
    record = record_of(trial.training, Months.of(trial.training), Forecast.MONTH)
    limits, random = record_states(trial), np.random.default_rng(2)
    storage = limits.lowest + random.uniform(-0.2, 1.1, len(limits.inflow)) * (limits.highest - limits.lowest)
    asked = limits.least + random.random(len(storage)) * (limits.most - limits.least)
    found = np.empty((3, len(storage)))
    generated_states(trial.years[0].model.exact, record, storage, asked, found)
    expected = by_the_step(plant_of(trial.reservoir), trial.reservoir, limits._replace(storage=storage, wanted=asked))
    assert (expected.violation > 0).any()
    np.testing.assert_allclose(found[0], expected.benefit, rtol=1e-9)
    np.testing.assert_allclose(found[1], expected.end, rtol=1e-12)
    cost = trial.reservoir.penalty * expected.violation
    np.testing.assert_allclose(found[2], cost, rtol=1e-9, atol=1e-6 * trial.reservoir.penalty)


@pytest.mark.parametrize("part", [0.0, 0.35, 1.0])
def test_a_network_that_always_decides_the_same_makes_what_its_steps_make(trial: Trial, part: float) -> None:
    network = Perceptron(len(input_names(Forecast.MONTH)), 3, 1, bias=True)
    operation = NetworkOperation.of(trial.training, network, Forecast.MONTH, Scales.of(trial.training))
    position = np.zeros(network.dimension)
    position[-1] = part
    limits, record = record_states(trial), operation.record

    def wanted(at: int, storage: float) -> float:
        volume, bounds = record.expected_hm3_per_m3s[at], (limits.least[at], limits.most[at])
        ends = limits.highest[at], limits.lowest[at]
        filling, emptying = (np.clip(record.expected_inflow[at] - (end - storage) / volume, *bounds) for end in ends)
        return filling + part * (emptying - filling)

    found, end = walked(trial.reservoir, limits, float(record.start), wanted)
    left = (end - record.start) * record.water_value
    expected = (found.benefit.sum() - trial.reservoir.penalty * found.violation.sum() + left) / YEARS
    assert float(operation.mean_benefits(position[None])[0]) == pytest.approx(expected, rel=1e-8)


def test_a_simulation_is_the_steps_one_after_another(trial: Trial) -> None:
    rule, training = fit_standard(trial.training, Forecast.MONTH), trial.training
    start = float(training.storage_start_hm3[0, 0])
    years = Inflow(flow_m3s=training.inflow_m3s, calendar=Calendar(1990, YEARS, 1))
    run = simulate(rule, training.model, years, start)
    limits, asked = record_states(trial), run.asked_m3s.ravel()
    wanted = np.clip(asked, limits.least, limits.most)
    found, end = walked(trial.reservoir, limits, start, lambda at, _: wanted[at])
    assert run.end_storage_hm3[-1] == pytest.approx(end, rel=1e-10)
    assert run.energy_gwh.sum() == pytest.approx(found.benefit.sum(), rel=1e-9)
