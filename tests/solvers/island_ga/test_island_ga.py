"""The island genetic algorithm: the same tours in every scheme and shape, and nothing but tours."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir import runtime
from reservoir.errors import DeviceError, InputError
from reservoir.problems.base import PERMUTATION, REAL
from reservoir.problems.tours import TourProblem, tour_problem
from reservoir.solvers import Solutions, solve
from reservoir.solvers.island_ga import CROSSOVERS, MUTATIONS, DeviceIslandSettings, IslandSettings
from reservoir.solvers.island_ga.engine import SCHEMES, Evolution, island_layout
from tests.solvers.engines import each_of
from tests.solvers.toys import Toy

#: Schemes whose work groups need not all be at work at once, and those with a population each.
ANYWHERE = ("lim-is", "tim", "sak", "lim-async")
SINGLE = ("sak", "slk")
ENGINES = each_of(["island-ga", "island-ga-sequential"])
BRIEF = {"islands": 3, "island_size": 20, "iterations": 23, "migrate_every": 7, "migrants": 2}


@pytest.fixture(scope="module")
def att48() -> TourProblem:
    return tour_problem(runtime.package_path("data", "tsp/att48.tsp"))


def random_cities(count: int, rng_stream_id: int = 0) -> TourProblem:
    points = np.random.default_rng(count).uniform(0, 1000, (count, 2))
    costs = np.rint(np.hypot(*(points[:, None] - points).transpose(2, 0, 1))).astype(np.int32)
    return TourProblem(f"{count} cities", costs, rng_stream_id)


def best(problem, solver: str = "island-ga", **options) -> Solutions:
    return solve([problem], solver=solver, **options)[0]


def serial_of(problem, scheme: str, **options) -> Solutions:
    """What the serial engine finds: with one island if the scheme has one population."""
    if scheme in SINGLE:
        options |= {"islands": 1, "island_size": options["islands"] * options["island_size"]}
    return best(problem, "island-ga-sequential", **options)


@pytest.mark.parametrize("cities", [3, 4, 31, 32, 33, 255, 257])
@pytest.mark.parametrize("scheme", ANYWHERE)
def test_every_individual_is_a_permutation(device, scheme, cities):
    found = best(random_cities(cities), scheme=scheme, keep_population=True, **BRIEF)
    population = found.settings["population"][:, :cities]
    assert len(population) == 60
    np.testing.assert_array_equal(np.sort(population, axis=1), np.tile(np.arange(cities), (60, 1)))
    assert found.violation == 0


@pytest.mark.parametrize("mutation", MUTATIONS[PERMUTATION])
@pytest.mark.parametrize("crossover", CROSSOVERS[PERMUTATION])
@pytest.mark.parametrize(
    "shape", [{}, {"team": 1, "items": 7}, {"team": 1, "items": 33}, {"team": 4, "items": 8}, {"team": 32, "items": 64}]
)
def test_operators_make_permutations_and_the_serial_engines_tours_in_every_shape(device, crossover, mutation, shape):
    operators = {"crossover": crossover, "mutation": mutation, "crossover_fraction": 0.4}
    problem = random_cities(37)
    found = best(problem, keep_population=True, **BRIEF, **operators, **shape)
    population = found.settings["population"][:, :37]
    np.testing.assert_array_equal(np.sort(population, axis=1), np.tile(np.arange(37), (60, 1)))
    assert found.position.tolist() == best(problem, "island-ga-sequential", **BRIEF, **operators).position.tolist()


@pytest.mark.parametrize("scheme", [name for name in ANYWHERE if SCHEMES[name].repeatable])
def test_a_scheme_finds_the_serial_engines_tour_and_its_trace(device, att48, scheme):
    found, serial = best(att48, scheme=scheme, **BRIEF), serial_of(att48, scheme, **BRIEF)
    assert found.position.tolist() == serial.position.tolist()
    assert found.fitness == found.fitness_float32 == serial.fitness
    assert found.evaluations == serial.evaluations
    if scheme not in SINGLE:
        assert found.trace_fitness.tolist() == serial.trace_fitness.tolist()


@pytest.mark.parametrize("islands", [2, 5, 33])
@pytest.mark.parametrize("scheme", ["lim-cg", "slk"])
def test_schemes_whose_groups_wait_find_the_serial_engines_tour(device, att48, scheme, islands):
    """PoCL has a thread a core, and may be late with it; a GPU runs a group a unit at once."""
    if islands > device.compute_units:
        pytest.skip(f"{islands} work groups wait for each other: the device has {device.compute_units} units")
    brief = BRIEF | {"islands": islands}
    for _ in range(20):
        try:
            found = best(att48, scheme=scheme, **brief)
        except DeviceError as error:
            assert "items at the same time, as this scheme requires" in str(error)
        else:
            assert found.position.tolist() == serial_of(att48, scheme, **brief).position.tolist()
            return
    assert device.kind == "CPU", "a GPU runs a group a unit at once"
    pytest.skip(f"the device did not run {islands} work groups at once: {scheme} was not tried with them")


@pytest.mark.parametrize("scheme", ["lim-cg", "slk"])
def test_one_group_alone_needs_to_wait_for_nobody(device, att48, scheme):
    brief = BRIEF | {"islands": 1, "island_size": 16 if scheme == "lim-cg" else 4}
    one_unit = {"lanes": None} if scheme == "lim-cg" else {"items": 8}
    found = best(att48, scheme=scheme, **brief, **one_unit)
    assert found.position.tolist() == serial_of(att48, scheme, **brief).position.tolist()


def test_a_barrier_of_the_grid_is_refused_where_islands_are_not_all_at_work(device, att48):
    many = BRIEF | {"islands": 40 * device.compute_units}
    with pytest.raises(DeviceError, match=r"does not run .* work groups.*at the same time.*lim-is or lim-async"):
        best(att48, scheme="lim-cg", **many)


def test_mailboxes_need_no_barrier_and_say_whether_all_islands_were_at_work(device, att48):
    found = best(att48, scheme="lim-async", **BRIEF | {"islands": 40 * device.compute_units})
    assert found.settings["resident"] is False
    assert found.settings["slice_stages"] == 1
    assert found.violation == 0
    alone = best(att48, scheme="lim-async", **BRIEF | {"islands": 1})
    assert alone.settings["resident"] is True
    assert alone.position.tolist() == serial_of(att48, "lim-async", **BRIEF | {"islands": 1}).position.tolist()


def test_slices_of_any_length_run_all_iterations(device, att48):
    """With 40 islands a unit a launch is one after the other; the last slice is shorter."""
    wide = BRIEF | {"islands": 40 * device.compute_units, "migrate_every": 4}
    for stages in (1, 4, 50):
        found = best(att48, scheme="lim-async", slice_stages=stages, **wide)
        assert found.trace_generations.tolist() == [4, 8, 12, 16, 20, 23]
        assert np.all(np.diff(found.trace_fitness) >= 0)
        assert found.trace_fitness[-1] == found.fitness


def test_only_mailboxes_depend_on_luck():
    assert [name for name, scheme in SCHEMES.items() if not scheme.repeatable] == ["lim-async"]


@pytest.mark.parametrize("scheme", [name for name in ANYWHERE if SCHEMES[name].repeatable])
def test_the_same_seed_gives_the_same_bytes(device, att48, scheme):
    one, again, other = (best(att48, scheme=scheme, seed=seed, keep_population=True, **BRIEF) for seed in (5, 5, 6))
    populations = [each.settings["population"].tobytes() for each in (one, again, other)]
    assert populations[0] == populations[1] != populations[2]


@pytest.mark.parametrize("migrants", [0, 1, 5])
def test_a_launch_of_migration_moves_the_best_over_the_worst_and_nothing_else(device, att48, monkeypatch, migrants):
    class Watched(Evolution):
        """Keeps the population before and after the first migration."""

        def run(self, kernel, *arguments):
            first = kernel == "migrate" and not self.launches[kernel]
            if first:
                seen.append([self.launch.session.download(name) for name in ("genes", self.fitness)])
            super().run(kernel, *arguments)
            if first:
                seen.append([self.launch.session.download(name) for name in ("genes", self.fitness_after)])

    seen = []
    monkeypatch.setattr("reservoir.solvers.island_ga.engine.Evolution", Watched)
    best(att48, **BRIEF | {"migrants": migrants})
    (genes, fitness), (genes_after, fitness_after) = seen
    expected, expected_fitness = genes.copy(), fitness.copy()
    ranking = [20 * island + np.argsort(-fitness[20 * island :][:20], kind="stable") for island in range(3)]
    for island in range(3):
        for migrant in range(migrants):
            at, come = ranking[island][19 - migrant], ranking[island - 1][migrant]
            expected[at, :48], expected_fitness[at] = genes[come, :48], fitness[come]
    np.testing.assert_array_equal(genes_after[:, :48], expected[:, :48])
    np.testing.assert_array_equal(fitness_after, expected_fitness)


def test_launches_and_meetings_are_counted(device, att48):
    """Three stages: two migrations and the end."""
    brief = BRIEF | {"migrate_every": 10}
    found = {name: best(att48, scheme=name, counted=True, **brief).settings for name in ("lim-is", "tim", "sak")}
    assert found["lim-is"]["launches"] == 1 + 3 + 2
    assert found["tim"]["launches"] == 1 + 23 + 2
    assert found["sak"]["launches"] == 1 + 3 * 23
    assert all(each["grid_meetings"] == 0 for each in found.values())
    assert found["lim-is"]["group_meetings"] == 2 + 3 + 2 * 23 + 2 * 4
    alone = best(att48, scheme="lim-cg", counted=True, **brief | {"islands": 1}).settings
    assert (alone["launches"], alone["grid_meetings"]) == (1, 3)


def test_an_island_that_is_too_large_is_refused_and_a_smaller_one_offered_that_fits(device, att48):
    poor = replace(device, local_memory_bytes=16 * 1024)
    settings = DeviceIslandSettings(island_size=1000).for_encoding(PERMUTATION)
    with pytest.raises(DeviceError, match=r"1000 individuals needs .* bytes of local memory.*islands of \d+") as caught:
        island_layout(poor, att48, settings, islands=8)
    offered = int(str(caught.value).split("islands of ")[1].split()[0])
    island_layout(poor, att48, replace(settings, island_size=offered), islands=8)
    with pytest.raises(DeviceError):
        island_layout(poor, att48, replace(settings, island_size=offered + 1), islands=8)


def test_many_problems_of_different_kinds_are_solved_together(device, att48):
    problems = [att48, Toy(), random_cities(20, rng_stream_id=3), replace(att48, rng_stream_id=9)]
    together = solve(problems, solver="island-ga", **BRIEF)
    for problem, found in zip(problems, together, strict=True):
        alone = best(problem, **BRIEF)
        assert (found.position.tolist(), found.fitness) == (alone.position.tolist(), alone.fitness)
    assert together[0].position.tolist() != together[3].position.tolist()  # another stream


def test_other_operators_reach_the_optimum(device, att48):
    strong = {"crossover": "order", "mutation": "two-opt", "crossover_fraction": 0.35, "iterations": 300}
    assert -best(att48, **strong).fitness == att48.optimum == 10_628


def test_larger_populations_find_shorter_tours(device, att48):
    small, large = (
        np.mean([-best(att48, islands=islands, iterations=400, seed=seed).fitness for seed in (1, 2, 3)])
        for islands in (2, 32)
    )
    assert large < small


@pytest.mark.parametrize("solver", ENGINES)
def test_every_year_comes_within_a_thousandth_of_the_optimum(years, reference_optima, solver):
    found = solve(years, solver=solver)
    for mine, reference in zip(found, reference_optima, strict=True):
        assert mine.evaluations <= 400_000
        assert mine.violation == 0
        assert (reference.fitness - mine.fitness) / reference.fitness < 1e-3


@pytest.mark.parametrize("shape", [{"lanes": 1}, {"lanes": 4}, {"lanes": 1, "items": 16}, {"scheme": "tim"}])
def test_years_differ_from_the_serial_engine_by_rounding_alone(device, years, shape):
    brief = {"islands": 2, "island_size": 30, "iterations": 3, "migrate_every": 2}
    found = solve(years, solver="island-ga", **brief, **shape)
    serial = solve(years, solver="island-ga-sequential", **brief)
    for mine, other in zip(found, serial, strict=True):
        np.testing.assert_allclose(mine.position, other.position, rtol=1e-3)
        assert mine.fitness == pytest.approx(other.fitness, rel=1e-5)


@pytest.mark.parametrize("solver", ENGINES)
def test_a_fitness_that_is_no_number_never_becomes_the_best(solver):
    toy = Toy(nothing=float("nan"), edge=0.5)
    found = best(toy, solver, islands=2, island_size=16, iterations=60)
    assert np.isfinite(found.fitness)
    assert found.position[0] <= 0.5


@pytest.mark.parametrize("solver", ENGINES)
def test_noise_is_in_what_is_judged_alone(solver):
    found = best(Toy(noisy=True), solver, islands=2, island_size=16, iterations=60)
    assert found.fitness_float32 < found.fitness <= 0
    assert found.fitness_float32 > found.fitness - 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"islands": 0}, "islands is out of range"),
        ({"iterations": 0}, "iterations is out of range"),
        ({"migrants": 70}, r"too many migrants.*at most half of an island, 64"),
        ({"selection_fraction": 0.6}, "selection_fraction is out of range"),
        ({"crossover": "blend"}, r"no such crossover for permutation encoding.*one-point, order"),
        ({"mutation": "gaussian"}, r"no such mutation for permutation encoding.*swap, two-opt"),
        ({"scheme": "lim"}, r"no such scheme.*lim-is, lim-cg, lim-async, tim, sak, slk"),
        ({"slice_stages": 0}, "slice_(stages|generations) is out of range"),
        ({"team": 33}, r"the team size is out of range.*1 to 32"),
        ({"team": 4, "items": 6}, r"not a multiple of the team size.*a multiple of 4"),
        ({"scheme": "sak", "team": 2}, "this scheme has no teams"),
        ({"scheme": "sak", "islands": 2000}, "island_size is out of range"),
    ],
)
def test_settings_that_cannot_be_are_refused(device, att48, options, message):
    with pytest.raises(InputError, match=message):
        best(att48, **options)


def test_the_evaluations_asked_for_are_not_exceeded():
    for evaluations in (3000, 30_000, 400_000):
        settings = IslandSettings(evaluations=evaluations).for_encoding(REAL)
        assert evaluations - settings.islands * settings.bred < settings.work["evaluations"] <= evaluations
    assert IslandSettings(evaluations=1).generations == 1


def test_as_many_are_bred_as_lose():
    settings = IslandSettings()
    assert (settings.parents, settings.crossed, settings.bred - settings.crossed) == (38, 83, 7)
