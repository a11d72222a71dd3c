"""The compiled L-SHADE goes the way of the kernel as far as rounding lets it, and finds the same optima."""

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.problems.base import Problem
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import Solutions, solve
from reservoir.solvers.lshade import LshadeSettings
from reservoir.solvers.lshade.sequential import _run, new_population
from tests.solvers.toys import Toy
from tests.year_ends import cyclic, free


def run(problems: list[Problem], **options: object) -> Solutions:
    return solve(problems, solver="lshade-sequential", **{"evaluations": 4000, **options})


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_year_comes_within_a_hundred_thousandth_of_the_optimum(
    years: list[ReservoirYears], reference_optima, seed: int
) -> None:
    found = solve(years, solver="lshade-sequential", seed=seed)
    assert found.violation.tolist() == [0.0] * 5
    best = [each.fitness for each in reference_optima]
    assert (found.fitness / best).tolist() == pytest.approx([1.0] * 5, abs=1e-5)


@pytest.mark.parametrize("end", [lambda same: same, cyclic, free])
def test_other_reservoirs_and_year_ends_come_as_close(small, small_inflow, end) -> None:
    problems = reservoir_problems(end(small), small_inflow)[:2]
    best, found = solve(problems, solver="dp"), solve(problems, solver="lshade-sequential")
    assert found.violation.tolist() == [0.0] * 2
    assert (found.fitness / best.fitness).tolist() == pytest.approx([1.0] * 2, abs=1e-5)


def test_the_device_finds_the_same_optima(device, years: list[ReservoirYears]) -> None:
    """Where they have converged: after 30,000 evaluations seeds still differ by more than the optima may."""
    there, here = (solve(years, solver=name, evaluations=200_000).fitness for name in ("lshade", "lshade-sequential"))
    assert here / there == pytest.approx(np.ones(5), abs=1e-6)


@pytest.mark.parametrize("archive", [0.0, 0.1, 1.0, 2.6])
@pytest.mark.parametrize("toy", [Toy(dimension=4, centre=0.7), Toy(noisy=True)], ids=["plain", "noisy"])
def test_ten_generations_are_those_of_the_device(device, toy: Toy, archive: float) -> None:
    options = {"evaluations": 4000, "trace_points": 10**5, "archive_fraction": archive}
    there, here = (solve([toy], solver=name, **options)[0] for name in ("lshade", "lshade-sequential"))
    assert here.trace_fitness[:10] == pytest.approx(there.trace_fitness[:10], rel=1e-4)
    assert (here.evaluations, here.generations) == (there.evaluations, there.generations)


def test_repaired_positions_are_bred_as_on_the_device(device, years: list[ReservoirYears]) -> None:
    """Without an archive, into which the last bit of a fitness decides who goes."""
    options = {"evaluations": 4000, "trace_points": 10**5, "archive_fraction": 0.0}
    there, here = (solve(years, solver=name, **options).trace_fitness for name in ("lshade", "lshade-sequential"))
    for mine, theirs in zip(here, there, strict=True):
        assert mine[:5] == pytest.approx(theirs[:5], rel=1e-6)


def test_exchanges_are_those_of_the_device(device, years: list[ReservoirYears]) -> None:
    options = {"evaluations": 2000, "trace_points": 10**5, "archive_fraction": 0.0, "exchange_interval": 1}
    there, here = (solve(years, solver=name, **options).trace_fitness for name in ("lshade", "lshade-sequential"))
    for mine, theirs in zip(here, there, strict=True):
        assert mine[-1] > mine[0], "exchanges alone improve the best"
        assert mine[:10] == pytest.approx(theirs[:10], rel=1e-5)


def test_members_are_repaired_and_in_order(years: list[ReservoirYears]) -> None:
    settings, (year, *_) = LshadeSettings(evaluations=2000), years
    sizes = settings.sizes(12)
    population = new_population(year, settings, 1, np.empty((0, 12), np.float32))
    _run(year.compiled_context(fine=True), population, sizes, 1, np.empty(len(sizes), np.float32))
    last = sizes[-1]
    assert np.all(np.diff(population.fitness[:last]) <= 0)
    for row, fitness in zip(population.order[:last], population.fitness[:last], strict=True):
        position = population.position[row].astype(float)
        assert year.operate(position).release_m3s == pytest.approx(position, rel=1e-4)
        assert year.certify(position).fitness == pytest.approx(fitness, rel=1e-4)


def test_the_best_member_survives_every_generation(years: list[ReservoirYears]) -> None:
    for solution in run(years):
        assert np.all(np.diff(solution.trace_fitness) >= 0)
        assert solution.trace_fitness[-1] == pytest.approx(solution.fitness, rel=1e-4)


def test_members_stay_within_their_bounds() -> None:
    toy = Toy(dimension=3, centre=40.0)
    found = run([toy])[0]
    assert found.position == pytest.approx(toy.upper, rel=1e-4)
    assert np.all(found.position <= toy.upper)


@pytest.mark.parametrize("nothing", [float("nan"), float("-inf")])
def test_what_has_no_fitness_is_never_the_best(nothing: float) -> None:
    found = run([Toy(nothing=nothing, edge=0.0)])[0]
    assert found.position[0] <= 0
    assert found.position == pytest.approx([0.0, 1.0, 1.0], abs=1e-2)


def test_the_smallest_budget_is_one_generation() -> None:
    found = run([Toy()], evaluations=1)[0]
    assert (found.generations, found.evaluations) == (1, 2 * 54)


def test_given_positions_are_members_of_the_first_population() -> None:
    toy = Toy(centre=0.3)
    found = run([toy], evaluations=1, first=[[[0.3, 0.3, 0.3]]])[0]
    assert found.position == pytest.approx([0.3] * 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"evaluations": 0}, "evaluations is out of range.*found 0"),
        ({"fewest_members": 3}, "fewest_members is out of range.*found 3.*expected 4 to"),
        ({"lanes": 8}, "the solver lshade-sequential has no setting lanes"),
    ],
)
def test_settings_that_cannot_be_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run([Toy()], **options)
