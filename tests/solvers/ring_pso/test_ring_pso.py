"""Ring PSO: both engines find the same, nothing is torn, and the published values are met."""

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.problems.functions import RING_FUNCTIONS, FunctionProblem
from reservoir.solvers import solve
from reservoir.solvers.ring_pso import ASYNC, CLAMP, MODES, RING, STAR, STOP, SYNC, RingSettings
from tests.solvers.engines import each_of
from tests.solvers.toys import Toy

BRIEF = {"particles": 7, "generations": 30, "trace_points": 10}
ENGINES = ("ring-pso", "ring-pso-sequential")


def problems(name: str, dimension: int, count: int = 2) -> list[FunctionProblem]:
    return [FunctionProblem(RING_FUNCTIONS[name], dimension, stream) for stream in range(count)]


def solved(tasks, solver: str = "ring-pso", **options):
    return solve(tasks, solver=solver, **options)


@pytest.mark.parametrize("items", [1, 3, 16, 64])
@pytest.mark.parametrize("name", RING_FUNCTIONS)
def test_the_device_differs_from_the_sequential_engine_by_rounding_alone(device, name, items):
    tasks = problems(name, 10)
    brief = BRIEF | {"generations": 6}
    for mine, other in zip(solved(tasks, items=items, **brief), solved(tasks, ENGINES[1], **brief), strict=True):
        np.testing.assert_allclose(mine.position, other.position, rtol=2e-3, atol=1e-4 * tasks[0].function.reach)
        np.testing.assert_allclose(mine.trace_fitness, other.trace_fitness, rtol=2e-3)
        assert mine.evaluations == other.evaluations == 7 * 7


@pytest.mark.parametrize("wall", [CLAMP, STOP])
@pytest.mark.parametrize("solver", each_of(ENGINES))
def test_positions_keep_their_bounds(solver, wall):
    tasks = [Toy(centre=5.0)]  # the optimum is outside
    found = solved(tasks, solver, wall=wall, **BRIEF)[0]
    np.testing.assert_allclose(found.position, tasks[0].upper)


def test_a_particle_is_informed_by_its_neighbours_alone_and_the_ring_is_closed(device):
    """One generation: a particle can only have moved towards a best of its own or of its two neighbours."""
    from reservoir.solvers.ring_pso.sequential import _informant_in_ring

    values = np.array([3.0, 9.0, 2.0, 5.0, 1.0, 7.0, 0.0], np.float32)
    informants = [_informant_in_ring.py_func(values, particle) for particle in range(7)]
    assert informants == [1, 1, 1, 3, 5, 5, 5]
    assert _informant_in_ring.py_func(np.array([4.0, 1.0, 2.0], np.float32), 1) == 0
    assert _informant_in_ring.py_func(np.array([1.0, 2.0, 4.0], np.float32), 0) == 2  # the last is its left neighbour
    assert _informant_in_ring.py_func(np.array([4.0, 4.0], np.float32), 1) == 1  # itself, if nobody is better


@pytest.mark.parametrize("particles", [2, 3, 33])
def test_rings_of_any_size_agree(device, particles):
    tasks = problems("rastrigin", 5, 3)
    brief = BRIEF | {"particles": particles, "generations": 5}
    for mine, other in zip(solved(tasks, **brief), solved(tasks, ENGINES[1], **brief), strict=True):
        assert mine.fitness_float32 == pytest.approx(other.fitness_float32, rel=1e-3)


@pytest.mark.parametrize("items", [1, 4])
@pytest.mark.parametrize("slice_generations", [1, 7, 10_000])
def test_no_read_is_torn(device, items, slice_generations):
    """Every best that a particle reads of a neighbour is held against its fitness, to the last bit."""
    tasks = problems("rastrigin", 12, 3)
    found = solved(
        tasks, mode=ASYNC, checked=True, items=items, slice_generations=slice_generations, particles=16, generations=400
    )
    assert found[0].settings["pairs_torn"] == 0
    assert found[0].settings["pairs_seen"] > (500 if slice_generations < 400 else 30)


def test_the_check_finds_pairs_that_do_not_belong_together(device, monkeypatch):
    """A best whose fitness is another than its position's is counted as torn."""
    from reservoir.solvers import device_engine as engine_program

    def spoiled(files, constants, original=engine_program.assemble):
        return original(files, constants).replace("posted_values[to], value)", "posted_values[to], value + 1.0f)")

    monkeypatch.setattr(engine_program, "assemble", spoiled)
    found = solved(problems("sphere", 4, 1), mode=ASYNC, checked=True, particles=8, generations=50)
    assert found[0].settings["pairs_torn"] > 0


def test_one_particle_group_at_work_at_a_time_runs_in_slices_and_says_so(device):
    tasks = problems("sphere", 6, 1)
    crowd = {"particles": 50 * device.compute_units, "generations": 23}
    found = solved(tasks, mode=ASYNC, slice_generations=5, **crowd)[0]
    assert found.settings["resident"] is False
    assert found.settings["slice_generations"] == 5
    assert found.trace_generations.tolist() == list(range(1, 24))
    assert np.all(np.diff(found.trace_fitness) >= 0)
    assert found.trace_fitness[-1] == found.fitness_float32


def test_the_asynchronous_form_finds_what_the_synchronous_one_finds(device):
    tasks = problems("rastrigin", 16, 12)
    sync, later = (
        np.median([-each.fitness for each in solved(tasks, mode=mode, generations=800)]) for mode in (SYNC, ASYNC)
    )
    assert later < 2 * sync


@pytest.mark.parametrize("solver", each_of(ENGINES))
@pytest.mark.parametrize("mode", MODES)
def test_a_fitness_that_is_no_number_never_becomes_a_best(solver, mode):
    toy = Toy(nothing=float("nan"), edge=0.5)
    found = solved([toy], solver, **({"mode": mode} if solver == "ring-pso" else {}), **BRIEF)[0]
    assert np.isfinite(found.fitness)
    assert found.position[0] <= 0.5


@pytest.mark.parametrize("solver", each_of(ENGINES))
@pytest.mark.parametrize("mode", MODES)
def test_noise_is_in_what_is_judged_alone(solver, mode):
    found = solved([Toy(noisy=True)], solver, **({"mode": mode} if solver == "ring-pso" else {}), **BRIEF)[0]
    assert found.fitness - 0.5 < found.fitness_float32 <= found.fitness <= 0


def test_the_same_seed_gives_the_same_bytes_in_sync_mode(device):
    one, again, other = (solved(problems("griewank", 8), seed=seed, **BRIEF) for seed in (4, 4, 5))
    assert [each.position.tobytes() for each in one] == [each.position.tobytes() for each in again]
    assert one[0].position.tobytes() != other[0].position.tobytes()


def test_problems_of_different_kinds_are_solved_together(device, years):
    tasks = [*problems("sphere", 3, 1), *years[:2], *problems("sphere", 5, 1)]
    for task, found in zip(tasks, solved(tasks, **BRIEF), strict=True):
        assert found.position.tolist() == solved([task], **BRIEF)[0].position.tolist()


@pytest.mark.parametrize(
    ("name", "mean", "deviation"),
    [("sphere", 0.0, 0.0), ("griewank", 0.018, 0.024), ("rosenbrock", 50.16, 36.9), ("rastrigin", 48.35, 14.43)],
)
def test_standard_pso_2006_meets_its_published_values(name, mean, deviation):
    """Clerc's check values: 30 variables, 30,000 evaluations, 50 runs."""
    settings = RingSettings.standard_2006(30, 30_000).as_dict()
    found = [-each.fitness for each in solved(problems(name, 30, 50), ENGINES[1], topology=STAR, **settings)]
    error = np.hypot(deviation, np.std(found)) / np.sqrt(50)
    assert abs(np.mean(found) - mean) <= max(3 * error, 1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "later"}, r"no such mode.*sync, async"),
        ({"slice_generations": 0}, "slice_(stages|generations) is out of range"),
        ({"wall": "bounce"}, r"no such wall.*clamp, stop"),
        ({"inertia": -1.0}, "inertia is out of range"),
    ],
)
def test_settings_that_cannot_be_are_refused(device, options, message):
    with pytest.raises(InputError, match=message):
        solved(problems("sphere", 3, 1), **options)


def test_topologies_and_dimensions_are_checked():
    with pytest.raises(InputError, match=rf"no such topology.*{RING}, {STAR}"):
        solved(problems("sphere", 3, 1), ENGINES[1], topology="wheel")
    with pytest.raises(InputError, match=r"number of variables.*2 to 1,024"):
        FunctionProblem(RING_FUNCTIONS["sphere"], 1)
