"""The functions of ring PSO's paper: the same in compiled code and on a device, with and without shared dimensions."""

import math

import numpy as np
import pytest

from reservoir.opencl import Session, assemble, build
from reservoir.problems.functions import RING_FUNCTIONS, FunctionProblem
from reservoir.solvers import GENERAL_SOLVERS, solve
from tests.solvers.engines import each_of

KERNEL = """
__kernel void test(__global float *out, __global const float *positions, __global const float *context) {
    float position[DIM], sum = 0, product = 1;
    for (int d = 0; d < DIM; ++d) position[d] = positions[get_global_id(0) * DIM + d];
    for (int d = DIM - 1; d >= 0; --d) add_term(position[d], position[min(d + 1, DIM - 1)], d, &sum, &product, context);
    out[2 * get_global_id(0)] = fitness(position, context);
    out[2 * get_global_id(0) + 1] = fitness_of_terms(sum, product);
}
"""


def plainly(name, x):
    """As the paper's sources define them."""
    count, places = len(x), np.arange(1, len(x) + 1)
    if name == "sphere":
        return np.sum(x**2)
    if name == "elliptic":
        return np.sum(1e6 ** ((places - 1) / (count - 1)) * x**2)
    if name == "rastrigin":
        return np.sum(x**2 - 10 * np.cos(2 * np.pi * x) + 10)
    if name == "rosenbrock":
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (x[:-1] - 1) ** 2)
    return 1 + np.sum(x**2) / 4000 - np.prod(np.cos(x / np.sqrt(places)))


@pytest.mark.parametrize("dimension", [2, 10, 33])
@pytest.mark.parametrize("name", RING_FUNCTIONS)
def test_values_are_those_of_the_definition_in_every_expression(device, name, dimension):
    problem = FunctionProblem(RING_FUNCTIONS[name], dimension)
    rng = np.random.default_rng(dimension)
    at = rng.uniform(problem.lower, problem.upper, (20, dimension)).astype(np.float32)
    expected = np.array([plainly(name, row) for row in at.astype(float)])
    np.testing.assert_allclose([-problem.certify(row).fitness for row in at], expected, rtol=1e-9, atol=1e-9)
    kernel = problem.kernel()
    assert kernel.by_dimension
    before = assemble(["common/vector/lanes.cl"], {**kernel.constants, "LANES": 1, "CONTEXT_SPACE": "__global"})
    program = build(device, before + assemble(kernel.files, {}) + KERNEL)
    with Session(device) as session:
        session.upload(at=at, context=problem.kernel_context())
        session.allocate(out=((20, 2), np.float32))
        session.run(program, "test", 20, 1, "out", "at", "context")
        found = -session.download("out").astype(float)
    for column in found.T:
        np.testing.assert_allclose(column, expected, rtol=3e-5, atol=3e-5)


@pytest.mark.parametrize("name", RING_FUNCTIONS)
def test_the_optimum_is_zero(name):
    problem = FunctionProblem(RING_FUNCTIONS[name], 7)
    best = np.full(7, 1.0 if name == "rosenbrock" else 0.0)
    assert math.isclose(problem.certify(best).fitness, 0, abs_tol=1e-15)


@pytest.mark.parametrize("solver", each_of(["clpso", "lshade", "island-ga", "clpso-sequential"]))
def test_other_solvers_take_them_too(solver):
    assert solver in GENERAL_SOLVERS
    budget = {"generations": 200} if "generations" in GENERAL_SOLVERS[solver].budget else {"evaluations": 8000}
    found = solve([FunctionProblem(RING_FUNCTIONS["griewank"], 4)], solver=solver, **budget)[0]
    assert -found.fitness < 1
