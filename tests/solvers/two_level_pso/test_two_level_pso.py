"""The swarm of two levels does what its paper says, in every form, and trains as well as least squares."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from reservoir.errors import InputError
from reservoir.problems.functions import FUNCTIONS, function_problems
from reservoir.problems.mlp import Perceptron, TrainingError
from reservoir.solvers import solve
from reservoir.solvers.two_level_pso import FUSED, GLOBAL, STEPS, VARIANTS, TwoLevelSettings
from tests.solvers.engines import each_of
from tests.solvers.two_level_pso.reference_two_level import Swarm

ENGINES = each_of(["ann-pso", "ann-pso-parallel"])
SETTLING = {"inertia": 0.7298, "cognitive": 1.49618, "social": 1.49618, "velocity_fraction": 0.5}
#: A swarm whose last group is smaller than the others, and whose last exchange comes early.
ODD = {"particles": 11, "group": 4, "generations": 25, "exchange_every": 10, "velocity_fraction": 0.1}


def task(network=None, count=40, rng_stream_id=0, reach=1.0):
    """Samples of a network with weights at random."""
    network = network or Perceptron(2, 3, 1, bias=True)
    random = np.random.default_rng(5)
    inputs = random.uniform(-1, 1, (count, network.inputs))
    return TrainingError(
        network, inputs, network(random.normal(0, 2, network.dimension), inputs), None, reach, rng_stream_id
    )


def sphere():
    return function_problems(FUNCTIONS["f1"], 1, dimension=5)[0]


def best(problem, solver="ann-pso", **options):
    return solve([problem], solver=solver, **options)[0]


@pytest.mark.parametrize("problem", [task(), sphere()], ids=["training", "sphere"])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_engine_follows_the_papers_steps(device, problem, seed):
    swarm = Swarm(problem, TwoLevelSettings(**ODD), seed, lambda at: problem.certify(at).fitness)
    position, fitness = swarm.run()
    for found in (best(problem, seed=seed, **ODD), best(problem, "ann-pso-parallel", seed=seed, **ODD)):
        assert found.position == pytest.approx(position, abs=1e-4 * np.ptp([problem.lower, problem.upper]))
        assert found.fitness == pytest.approx(fitness, rel=1e-4)


@pytest.mark.parametrize("problem", [task(), sphere()], ids=["training", "sphere"])
def test_without_a_local_level_everybody_follows_the_best_of_all(device, problem):
    swarm = Swarm(problem, TwoLevelSettings(**ODD), 1, lambda at: problem.certify(at).fitness)
    position, fitness = swarm.run(local=False)
    found = best(problem, variant=GLOBAL, **ODD)
    assert found.fitness == pytest.approx(fitness, rel=1e-4)
    assert found.position == pytest.approx(position, abs=1e-4 * np.ptp([problem.lower, problem.upper]))


@pytest.mark.parametrize("random", ["stream", "congruential", "congruential-printed"])
@pytest.mark.parametrize("problem", [task(), sphere()], ids=["training", "sphere"])
def test_a_kernel_a_step_and_all_steps_in_one_are_the_same(device, problem, random):
    one, other = (best(problem, variant=variant, random=random, **ODD) for variant in (FUSED, STEPS))
    assert one.position.tobytes() == other.position.tobytes()
    assert one.trace_fitness.tobytes() == other.trace_fitness.tobytes()


def test_a_swarm_of_one_group_has_no_local_level(device):
    options = {"particles": 12, "group": 12, "generations": 30, "exchange_every": 7}
    one, other = (best(task(), variant=variant, **options) for variant in (FUSED, GLOBAL))
    assert one.position.tobytes() == other.position.tobytes()


@pytest.mark.parametrize(("lanes", "items"), [(1, 1), (1, 8), (1, 64), (4, 1), (16, 1)])
@pytest.mark.parametrize("problem", [task(Perceptron(3, 4, 2), 100), sphere()], ids=["training", "sphere"])
def test_lanes_and_work_items_make_no_difference(device, problem, lanes, items):
    options = {"particles": 20, "group": 8, "generations": 12}
    usual, other = best(problem, **options), best(problem, lanes=lanes, items=items, **options)
    assert other.position == pytest.approx(usual.position, abs=1e-4 * np.ptp([problem.lower, problem.upper]))


@pytest.mark.parametrize("items", [48, 64])
def test_more_work_items_than_particles_lead_every_group_as_one_item_does(device, items):
    problems = function_problems(FUNCTIONS["f1"], 8, dimension=5)
    options = {"solver": "ann-pso", "lanes": 1, "particles": 20, "group": 8, "generations": 24, "exchange_every": 3}
    one, many = (solve(problems, items=each, **options) for each in (1, items))
    for usual, other in zip(one, many, strict=True):
        assert other.trace_fitness == pytest.approx(usual.trace_fitness, rel=1e-5)


def test_problems_beside_each_other_are_solved_as_alone(device):
    problems = [task(rng_stream_id=stream) for stream in range(3)]
    together = solve(problems, solver="ann-pso", **ODD)
    assert [each.position.tobytes() for each in together] == [
        best(problem, **ODD).position.tobytes() for problem in problems
    ]
    assert len({each.position.tobytes() for each in together}) == 3


@pytest.mark.parametrize("solver", ENGINES)
def test_a_swarm_begins_where_it_is_told_and_never_loses_it(solver):
    problem = task()
    good = best(problem, generations=200, **SETTLING).position
    found = best(problem, solver, first=[np.stack([good, good + 3])], particles=8, generations=1)
    assert found.fitness >= problem.certify(good.astype(np.float32)).fitness - 1e-7


@pytest.mark.parametrize("solver", ENGINES)
def test_first_positions_that_do_not_fit_are_refused(solver):
    dimension = task().dimension
    for first in ([np.zeros((1, dimension + 1))], [np.zeros((9, dimension))], [np.zeros((1, dimension))] * 2, []):
        with pytest.raises(InputError, match="the first positions have the wrong shape"):
            best(task(), solver, first=first, particles=8, generations=1)


@pytest.mark.parametrize("solver", ENGINES)
def test_the_trail_holds_the_best_position_of_every_exchange(solver):
    found = best(task(), solver, best_position_history=True, **ODD)
    assert found.trace_generations.tolist() == [10, 20, 25]
    assert found.best_position_history.shape == (3, task().dimension)
    assert found.best_position_history[-1].tolist() == found.position.tolist()
    assert np.all(np.diff(found.trace_fitness) >= 0)
    fitness = [task().certify(position).fitness for position in found.best_position_history]
    assert found.trace_fitness == pytest.approx(fitness, rel=1e-5)
    assert best(task(), solver, **ODD).best_position_history.size == 0


def test_threads_make_no_difference():
    one, other = (best(task(), "ann-pso-parallel", threads=threads, **ODD) for threads in (1, 3))
    assert one.position.tobytes() == other.position.tobytes()
    with pytest.raises(InputError, match="threads is out of range"):
        best(task(), "ann-pso-parallel", threads=0)


def test_unknown_variants_and_schemes_are_answered_with_those_there_are(device):
    with pytest.raises(InputError, match=", ".join(VARIANTS)):
        best(task(), variant="quantum")
    with pytest.raises(InputError, match="stream, congruential, congruential-printed"):
        best(task(), random="dice")


@pytest.mark.parametrize("solver", ENGINES)
@pytest.mark.parametrize(
    ("hidden", "weights", "within"), [(1, [3, 1, 2, -1], 1e-3), (2, [3, 1, 2, -4, 2, 1.5, -1], 0.02)]
)
def test_training_a_tiny_network_comes_to_what_least_squares_find(device, solver, hidden, weights, within):
    network = Perceptron(1, hidden, 1, bias=True)
    x, random = np.linspace(-1, 1, 30)[:, None], np.random.default_rng(0)
    problem = TrainingError(network, x, network(weights, x) + random.normal(0, 0.1, (30, 1)), reach=4.0)
    starts = random.normal(0, 2, (20, network.dimension))
    fits = (least_squares(lambda at: (network(at, x) - problem.desired).ravel(), start) for start in starts)
    least = min(problem.value(fit.x) for fit in fits)
    found = best(problem, solver, particles=256, group=32, generations=1000, **SETTLING)
    assert least * 0.999 < -found.fitness < least * (1 + within)


@pytest.mark.parametrize("solver", ENGINES)
def test_a_sample_without_weight_is_not_trained_on(solver):
    problem = task()
    spoilt = problem.desired.copy()
    spoilt[::2] = spoilt[::2] + 0.1 * np.sign(spoilt[::2] - spoilt.mean())
    spoilt = np.clip(spoilt, problem.desired.min(), problem.desired.max())  # the range is that of all samples
    weights = np.arange(len(spoilt)) % 2
    one, other = (
        best(TrainingError(problem.network, problem.inputs, desired, weights), solver, **ODD)
        for desired in (problem.desired, spoilt)
    )
    assert one.position.tobytes() == other.position.tobytes()


@pytest.mark.parametrize(
    ("inputs", "desired", "message"),
    [
        (np.zeros((4, 3)), np.arange(4.0)[:, None], "the samples do not fit the network"),
        (np.zeros((4, 2)), np.arange(5.0)[:, None], "the samples do not fit the network"),
        (np.zeros((0, 2)), np.zeros((0, 1)), "the samples do not fit the network"),
        (np.full((4, 2), np.nan), np.arange(4.0)[:, None], "a value that is not finite"),
        (np.zeros((4, 2)), np.ones((4, 1)), "the same in all samples"),
    ],
)
def test_samples_that_cannot_be_learnt_are_refused(inputs, desired, message):
    with pytest.raises(InputError, match=message):
        TrainingError(Perceptron(2, 3, 1), inputs, desired)


@pytest.mark.parametrize("reach", [0.0, -1.0, np.inf, np.nan])
def test_first_weights_need_room(reach):
    with pytest.raises(InputError, match="reach of the initial weights is out of range"):
        task(reach=reach)


@pytest.mark.parametrize("bias", [False, True])
def test_the_mean_of_networks_is_a_network(bias):
    network, random = Perceptron(3, 4, 2, bias), np.random.default_rng(6)
    positions, inputs = random.normal(0, 1, (5, network.dimension)), random.uniform(-1, 1, (9, 3))
    mean, position = network.mean_of(positions)
    assert (str(mean), len(position)) == ("3-20-2", mean.dimension)
    assert mean(position, inputs) == pytest.approx(np.mean([network(each, inputs) for each in positions], axis=0))


def test_the_papers_networks_have_its_dimensions():
    shapes = {(3, 8, 1): 32, (7, 8, 1): 64, (4, 6, 12): 96, (6, 8, 10): 128, (15, 32, 1): 512, (6, 30, 2): 240}
    assert {shape: Perceptron(*shape).dimension for shape in shapes} == shapes
    assert Perceptron(5, 8, 1, bias=True).dimension == 57
    assert str(Perceptron(6, 30, 2)) == "6-30-2"
