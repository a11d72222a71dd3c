"""Networks in kernels: the forward pass and the training error are numpy's, an operation is the physics'."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.planning.plan import optimise
from reservoir.problems.mlp import Perceptron, TrainingError, sigmoid
from reservoir.rules import Forecast, Training
from reservoir.rules.families.ann import Scales, input_names
from reservoir.rules.families.ann_operation import NetworkOperation, operate_networks
from tests.kernels.device import WIDTHS

SIGMOID = """
__kernel void test(__global float *out, __global const float *x) {
    const int first = get_global_id(0) * LANES;
    const reals found = sigmoid(LOAD_LANES(__global, x + first));
    STORE_LANES(found, __global, out + first);
}
"""
ERROR = """
__kernel void test(__global float *out, __global const float *positions, __global const float *context) {
    __local float weights[DIM];
    const int place = get_global_id(0);
    for (int d = 0; d < DIM; ++d) weights[d] = positions[place * DIM + d];
    float sum = 0;
    for (int member = 0; member < MEMBERS; ++member) {
        const reals share = share_of_sum(weights, member, MEMBERS, context);
        for (int lane = 0; lane < LANES; ++lane) sum += REAL_OF(share, lane);
    }
    out[place] = fitness_of_sum(sum, context);
}
"""
OPERATION = """
__kernel void test(__global float *out, __global const float *positions, __global const float *context) {
    const int first = get_global_id(0) * LANES;
    reals position[DIM];
    for (int d = 0; d < DIM; ++d)
        for (int lane = 0; lane < LANES; ++lane) REAL_OF(position[d], lane) = positions[(first + lane) * DIM + d];
    STORE_LANES(fitness(position, context), __global, out + first);
}
"""
NETWORKS = (Perceptron(1, 1, 1), Perceptron(3, 8, 1), Perceptron(6, 30, 2), Perceptron(4, 7, 3, bias=True))


@pytest.mark.parametrize("lanes", WIDTHS)
def test_the_sigmoid_is_within_two_ten_millionths(run, lanes):
    x = np.concatenate([np.linspace(-30, 30, 4094), [-1e30, 1e30]]).astype(np.float32)
    found = run(
        ["common/vector/lanes.cl", "common/math/sigmoid.cl"],
        SIGMOID,
        {"LANES": lanes},
        np.zeros_like(x),
        len(x) // lanes,
        x,
    )
    assert np.abs(found - sigmoid(x)).max() < 2e-7


def fitness_of(run, problem, positions, lanes, members=1, tile=1):
    kernel = problem.kernel()
    constants = {**kernel.constants, "LANES": lanes, "TILE": tile, "MEMBERS": members, "CONTEXT_SPACE": "__global"}
    files = ["common/vector/lanes.cl", *kernel.files]
    given = positions.astype(np.float32)
    return run(files, ERROR, constants, np.zeros(len(given), np.float32), len(given), given, problem.kernel_context())


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_the_forward_pass_is_numpys_to_a_millionth(run, lanes, network):
    """One sample counts, and its desired outputs are 0: the error is then the output's size over the range of 1."""
    random = np.random.default_rng(lanes)
    inputs, desired = random.uniform(-1, 1, (20, network.inputs)), np.zeros((20, network.outputs))
    desired[1] = 1.0
    positions = random.uniform(-1, 1, (6, network.dimension))
    for sample in (0, 7, 19):
        problem = TrainingError(network, inputs, desired, weights=np.arange(20) == sample)
        expected = [np.sqrt(np.mean(network(each.astype(np.float32), inputs[sample]) ** 2)) for each in positions]
        assert -fitness_of(run, problem, positions, lanes) == pytest.approx(np.array(expected), abs=1e-6)


@pytest.mark.parametrize(("lanes", "members", "tile"), [(1, 1, 1), (1, 5, 4), (1, 64, 2), (4, 3, 1), (16, 1, 1)])
@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_the_error_is_eq_3_however_it_is_shared_out(run, network, lanes, members, tile):
    random = np.random.default_rng(7)
    inputs, desired = random.uniform(-1, 1, (101, network.inputs)), random.normal(3, 5, (101, network.outputs))
    problem = TrainingError(network, inputs, desired, weights=random.uniform(0, 2, 101))
    positions = random.normal(0, 2, (5, network.dimension)).astype(np.float32)
    found = -fitness_of(run, problem, positions, lanes, members, tile)
    assert found == pytest.approx([problem.value(each) for each in positions], rel=2e-6)


def test_compiled_code_makes_the_same_error():
    from reservoir.solvers import solve

    for network in NETWORKS:
        random = np.random.default_rng(8)
        inputs, desired = random.uniform(-1, 1, (600, network.inputs)), random.normal(0, 1, (600, network.outputs))
        found = solve([TrainingError(network, inputs, desired)], solver="ann-pso-parallel", particles=4, generations=3)
        assert found[0].fitness_float32 == pytest.approx(found[0].fitness, rel=2e-6)


@pytest.fixture(scope="module", params=["month", "none", "month, members"])
def operation(request, xiaowan, five_years):
    """Five years, or members of one year each, and more behind them."""
    forecast, _, members = request.param.partition(", ")
    given = replace(five_years, calendar=replace(five_years.calendar, years_each=1)) if members else five_years
    training = Training.of(optimise(xiaowan, given, solver="dp", reference=False))
    network = Perceptron(len(input_names(Forecast(forecast))), 5, 1, bias=True)
    more = training.inflow_m3s[::-1] * 1.3
    return NetworkOperation.of(training, network, Forecast(forecast), Scales.of(training), more_m3s=more)


@pytest.mark.parametrize("lanes", WIDTHS)
def test_an_operation_in_the_kernel_is_that_of_the_physics(run, operation, lanes):
    kernel = operation.kernel()
    constants = {**kernel.constants, "LANES": lanes, "CONTEXT_SPACE": "__global"}
    positions = np.random.default_rng(9).normal(0, 1.5, (32, operation.dimension)).astype(np.float32)
    files = ["common/vector/lanes.cl", *kernel.files]
    found = run(
        files,
        OPERATION,
        constants,
        np.zeros(32, np.float32),
        32 // lanes,
        positions,
        operation.kernel_context(),
        between=kernel.source,
    )
    assert found == pytest.approx(
        operation.mean_benefits(positions), rel=1e-4
    )  # the forms of the curves are not the curves


def test_compiled_code_in_float32_operates_alike(operation):
    positions = np.random.default_rng(10).normal(0, 1.5, (8, operation.dimension)).astype(np.float32)
    found = np.empty(8, np.float32)
    operate_networks(operation.compiled_context(), positions, found)
    assert found == pytest.approx(operation.mean_benefits(positions), rel=1e-4)
