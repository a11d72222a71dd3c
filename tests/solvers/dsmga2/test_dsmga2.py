"""DSMGA-II goes as its paper says: beside an independent program, and by what must hold of any run."""

import math

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.problems.bits import FAMILIES
from reservoir.problems.tours import tour_problem
from reservoir.runtime import package_path
from reservoir.solvers import solve
from reservoir.solvers.dsmga2 import MODELS, Dsmga2Settings
from reservoir.solvers.dsmga2.engine import run_all
from reservoir.solvers.dsmga2.linkage import scale_bits
from reservoir.solvers.dsmga2.run import CLIMBING, HIT, MIXING
from tests.solvers.dsmga2.reference_dsmga2 import Reference
from tests.solvers.toys import Toy

CASES = [("mk", 20, 24), ("ftrap", 24, 30), ("cyc", 24, 20), ("mk", 55, 20)]
#: Those that build the same sets.
EXACT = ("sequential", "on-demand", "lossless")


def run_of(problem, model, **settings):
    given = {"population": 30, "generations": 30, **settings}
    return run_all([problem], Dsmga2Settings(model=model, **given), seed=7)[0][0]


@pytest.mark.parametrize(("family", "bits", "population"), CASES)
def test_every_exact_model_goes_as_the_independent_program(device, family, bits, population):
    problem = FAMILIES[family].of(bits, rng_stream_id=3)
    reference = Reference(
        lambda genes: problem.certify(np.array(genes)).fitness,
        bits,
        population,
        problem.optimum,
        scale_bits(bits, population),
        seed=7,
        rng_stream_id=3,
    )
    generations = reference.run(6)
    for model in EXACT:
        run = run_of(problem, model, population=population, generations=6)
        tally = run.population.tally
        assert run.generations == generations
        assert tally[[MIXING, CLIMBING, HIT]].tolist() == [reference.mixing, reference.climbing, reference.hit]
        assert run.population.genes[:, :bits].tolist() == reference.people
        np.testing.assert_allclose(run.population.fitness, reference.worth)


@pytest.mark.parametrize("model", MODELS)
def test_what_is_kept_beside_the_genes_agrees_with_them(device, model):
    run = run_of(FAMILIES["ftrap"].of(60, 1), model, generations=4)
    population = run.population
    genes = population.genes[:, :60]
    keys = [np.bitwise_xor.reduce(population.zobrist[row == 1], initial=np.uint64(0)) for row in genes]
    assert population.keys.tolist() == keys
    columns = (population.columns[:, :, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    np.testing.assert_array_equal(columns.reshape(60, -1)[:, : len(genes)], genes.T)
    assert population.fitness.tolist() == [run.problem.certify(row).fitness for row in genes]
    assert not population.genes[:, 60:].any()


@pytest.mark.parametrize("model", MODELS)
def test_the_best_never_becomes_worse(device, model):
    run = run_of(FAMILIES["cyc"].of(60, 2), model)
    assert (np.diff(run.trace) >= 0).all()
    assert run.best[1] == run.trace[-1]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("family", "bits"), [("mk", 60), ("ftrap", 60), ("cyc", 60)])
def test_traps_are_solved(device, model, family, bits):
    problems = [FAMILIES[family].of(bits, stream) for stream in range(4)]
    found = solve(problems, solver="dsmga2", population=150, model=model)
    for problem, solution in zip(problems, found, strict=True):
        assert solution.fitness == pytest.approx(problem.optimum, abs=1e-12)
        assert 0 < solution.settings["evaluations_to_optimum"] <= solution.evaluations
        counted = solution.settings["climbing_evaluations"] + solution.settings["mixing_evaluations"]
        assert counted == solution.evaluations
        assert solution.settings["climbing_evaluations"] == 150 * (bits + 1)


@pytest.mark.parametrize("model", MODELS)
def test_problems_beside_each_other_do_not_change_each_other(device, model):
    problems = [FAMILIES["ftrap"].of(60, stream) for stream in range(3)] + [FAMILIES["mk"].of(40, 9)]
    settings = {"solver": "dsmga2", "population": 40, "model": model, "generations": 5}
    together = solve(problems, threads=2, **settings)
    alone = [solve([problem], threads=1, **settings)[0] for problem in problems]
    for one, other in zip(together, alone, strict=True):
        assert one.position.tobytes() == other.position.tobytes()
        assert one.evaluations == other.evaluations


def test_the_linkage_of_a_trap_is_that_of_its_blocks():
    problem = FAMILIES["mk"].of(30, 1)
    linkage = solve([problem], solver="dsmga2", population=200)[0].linkage
    blocks = np.kron(np.eye(6, dtype=bool), np.ones((5, 5), bool))
    within, between = linkage[blocks & ~np.eye(30, dtype=bool)], linkage[~blocks]
    assert within.min() > 2 * between.max()


def test_a_device_tells_the_same_linkage(device, years):
    host, built_there = (
        solve(years[:2], solver="dsmga2", population=40, generations=3, model=model)
        for model in ("sequential", "lossless")
    )
    for one, other in zip(host, built_there, strict=True):
        np.testing.assert_array_equal(one.linkage, other.linkage)
        assert other.device_seconds > 0
        assert one.device_seconds is None


def test_threads_are_no_setting_of_the_algorithm(years):
    (settings,) = (each.settings for each in solve(years[:1], solver="dsmga2", population=19, generations=1, threads=3))
    names = list(settings)
    assert names.index("linkage_generations") < names.index("seed") < names.index("threads")
    assert (settings["population"], settings["threads"]) == (20, 3)


def test_a_stop_ends_with_the_best_of_each_population_so_far(years):
    told = []

    def after_two(so_far):
        told.append(so_far)
        return len(told) == 2

    found = solve(years[:3], solver="dsmga2", population=20, generations=6, stop=after_two)
    assert [(each.solver, each.done, each.total) for each in told] == [("dsmga2", 3, 3)] * 2
    assert told[1].fitness.tolist() == found.fitness.tolist()
    assert found.generations.tolist() == [2, 2, 2]
    alone = solve(years[:3], solver="dsmga2", population=20, generations=2)
    assert found.position.tobytes() == alone.position.tobytes()


def test_the_last_generation_is_not_followed_by_a_question(years):
    told = []
    found = solve(years[:2], solver="dsmga2", population=20, generations=3, stop=lambda state: told.append(state))
    assert len(told) == found.generations.max() - 1


def test_a_stop_leaves_out_populations_of_a_size_that_has_not_begun_on_the_device(device):
    problems = [FAMILIES["ftrap"].of(bits, 1) for bits in (24, 24, 30, 24)]
    told = []
    call = {"solver": "dsmga2", "population": 20, "model": "lossless", "device": str(device.index)}
    found = solve(problems, **call, stop=lambda state: told.append((state.done, state.total)) or True)
    assert told == [(3, 4)]
    assert len(found) == 2  # those in front of the first that has not begun


def test_every_year_comes_within_a_third_of_a_percent_of_the_optimum(years, reference_optima):
    for solution, best in zip(solve(years, solver="dsmga2"), reference_optima, strict=True):
        assert solution.violation == 0
        assert solution.fitness > best.fitness * (1 - 3e-3)


def test_a_fitness_that_is_no_number_never_becomes_a_best():
    toys = [Toy(rng_stream_id=stream, nothing=math.nan, edge=0.0) for stream in range(30, 34)]
    for solution in solve(toys, solver="dsmga2", population=20):
        assert math.isfinite(solution.fitness)
        assert solution.position[0] <= 0


def test_a_fitness_that_is_nowhere_a_number_ends():
    solution = solve(
        [Toy(rng_stream_id=41, nothing=math.nan, edge=-math.inf)], solver="dsmga2", population=10, generations=3
    )[0]
    assert solution.fitness_float32 == -math.inf


def test_a_noisy_problem_draws_noise_and_others_none():
    quiet, noisy = (
        solve([Toy(rng_stream_id=5, noisy=noise)], solver="dsmga2", population=10, generations=3)[0]
        for noise in (False, True)
    )
    assert quiet.fitness_float32 == pytest.approx(quiet.fitness, rel=1e-5, abs=1e-6)
    assert noisy.fitness_float32 != noisy.fitness


@pytest.mark.parametrize("loci", [1, 2, 3, 4])
@pytest.mark.parametrize("model", MODELS)
def test_a_few_bits_are_enough(device, model, loci):
    toy = Toy(dimension=1)
    found = solve([toy], solver="dsmga2", population=6, bits=loci, model=model, generations=5)[0]
    levels = np.linspace(toy.lower[0], toy.upper[0], 2**loci)
    assert found.fitness == pytest.approx(max(toy.certify(np.array([level])).fitness for level in levels), abs=1e-5)


def test_a_run_ends_where_all_are_equal():
    problem = FAMILIES["mk"].of(10, 1)
    flat = type(problem)("flat", 10, problem.context._replace(values=np.zeros(6)), 1.0)
    solution = solve([flat], solver="dsmga2", population=10)[0]
    assert solution.generations == 1
    assert solution.settings["evaluations_to_optimum"] == 0


def test_an_odd_population_has_one_more():
    assert Dsmga2Settings(population=31).individuals == 32


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population": 3}, "population is out of range.*found 3.*expected 4 to"),
        ({"bits": 0}, "bits is out of range"),
        ({"bits": 21}, "bits is out of range.*1 to 20"),
        ({"threads": 0}, "threads is out of range"),
        ({"bits": 20, "population": 3.5}, "population is out of range"),
        ({"model": "guess"}, "no such model building.*on-demand, sequential, lossless, lossy"),
    ],
)
def test_settings_out_of_range_are_told(years, settings, message):
    with pytest.raises(InputError, match=message):
        solve(years[:1], solver="dsmga2", **settings)


def test_what_is_no_problem_for_a_solver_is_told():
    with pytest.raises(InputError, match=r"clpso does not support bit string encoding.*choose the solver dsmga2"):
        solve([FAMILIES["mk"].of(10)], solver="clpso")
    with pytest.raises(
        InputError, match=r"dsmga2 does not support permutation encoding.*real vector encoding or .*bit string encoding"
    ):
        solve([tour_problem(package_path("data", "tsp/att48.tsp"))], solver="dsmga2")
