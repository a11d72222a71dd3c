"""What is trained: networks, samples and functions, and the paper's figures for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reservoir.bench.data import bundled
from reservoir.problems.functions import FUNCTIONS, ROSENBROCK_SWAPPED, Function, function_problems
from reservoir.problems.mlp import Perceptron, modelled, taught
from reservoir.solvers import Problem

#: Particles where the paper does not vary them, and the iterations of its Tables 1 and 2.
PARTICLES, PAPER_ITERATIONS = 1024, 100_000
#: Variables of the functions of Table 4: the paper gives none.
FUNCTION_DIMENSION = 64


@dataclass(frozen=True)
class Load:
    """A problem, as it is made, and a number of particles, of a table of the paper.

    The paper's seconds are those of its C++ program on a CPU and its OpenCL program on a GPU; NaN where there are none.
    """

    table: int
    title: str
    problem: Callable[[], Problem]
    particles: int = PARTICLES
    paper_baseline: float = np.nan
    paper_opencl: float = np.nan


def _function(function: Function) -> Callable[[], Problem]:
    return lambda: function_problems(function, 1, dimension=FUNCTION_DIMENSION)[0]


def _network(inputs: int, hidden: int, outputs: int) -> Callable[[], Problem]:
    return lambda: taught(Perceptron(inputs, hidden, outputs), 50)


TABLE_1 = tuple(
    Load(1, f"{particles} particles", _network(3, 10, 2), particles, *seconds)
    for particles, seconds in bundled("networks")["table_1"].items()
)
TABLE_2 = tuple(
    Load(2, shape, _network(*map(int, shape.split("-"))), PARTICLES, *seconds)
    for shape, seconds in bundled("networks")["table_2"].items()
)
TABLE_3 = Load(3, "6-30-2, 100 samples", lambda: modelled(100))
_PAPER_4, _PAPER_5 = bundled("networks")["table_4"], bundled("networks")["table_5"]
TABLE_4 = (
    Load(4, "f1, sphere", _function(FUNCTIONS["f1"]), paper_opencl=_PAPER_4["f1"][0]),
    Load(4, "f2, Rosenbrock as printed", _function(ROSENBROCK_SWAPPED), paper_opencl=_PAPER_4["f2"][0]),
)
TABLE_5 = Load(
    5, "6-30-2, 5000 samples", lambda: modelled(5000), PARTICLES, _PAPER_5["baseline"][0], _PAPER_5["OpenCL"][0]
)
TABLES = (1, 2, 3, 4, 5)
