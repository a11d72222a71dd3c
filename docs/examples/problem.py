"""A problem in one file: fit the rating curve h = offset + factor * q ** exponent to gaugings of a river.

    python docs/examples/problem.py

solves it with two solvers of the package. A problem is written twice: in Python, for solvers on the CPU and for the
final value in float64, and in OpenCL C, for solvers on devices. For clarity all code is scalar.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.problems.base import Certified, FloatArray, KernelProblem
from reservoir.problems.fitness import Scratch, register_fitness
from reservoir.solvers import solve


# 1. Compiled Python: the data of a problem, and its fitness, to be maximised.
class GaugingContext(NamedTuple):
    """Gauged flows (m3/s) and levels (m), in float32."""

    flow: Any
    level: Any


def fitness(context: GaugingContext, position: NDArray[np.floating], scratch: Scratch) -> float:
    """The negative sum of squared residuals."""
    total: float = position[0] - position[0]  # zero in the precision of the position
    for gauging in range(len(context.flow)):
        misfit = position[0] + position[1] * context.flow[gauging] ** position[2] - context.level[gauging]
        total -= misfit * misfit
    return total


register_fitness(GaugingContext, fitness)

# 2. OpenCL C: a work item computes a vector of candidates, `reals`, one lane at a time: PoCL has no `pow` for vectors.
# In the context the bounds follow the gaugings.
SOURCE = """
#define CONTEXT (2 * GAUGINGS + 2 * DIM)
REAL lower(const int d, CONTEXT_SPACE const REAL *context) { return context[2 * GAUGINGS + d]; }
REAL upper(const int d, CONTEXT_SPACE const REAL *context) { return context[2 * GAUGINGS + DIM + d]; }
reals fitness(const reals *position, CONTEXT_SPACE const REAL *context) {
    const reals offset = position[0], factor = position[1], exponent = position[2];
    reals total = 0;
    for (int lane = 0; lane < LANES; ++lane)
        for (int gauging = 0; gauging < GAUGINGS; ++gauging) {
            const REAL power = pow(context[gauging], REAL_OF(exponent, lane));
            const REAL misfit = REAL_OF(offset, lane) + REAL_OF(factor, lane) * power - context[GAUGINGS + gauging];
            REAL_OF(total, lane) -= misfit * misfit;
        }
    return total;
}
"""


# 3. The problem: a class with these attributes (`reservoir.problems.base.Problem`).
@dataclass(frozen=True, eq=False)
class RatingCurve:
    """Gauged flows (m3/s) and levels (m), arrays of shape (gaugings,); variables are offset, factor and exponent."""

    flow_m3s: FloatArray
    level_m: FloatArray
    rng_stream_id: int = 0
    label: str = "rating curve"
    dimension: int = 3

    lower = np.array([0.0, 0.1, 0.2])
    upper = np.array([10.0, 3.0, 1.0])

    @property
    def program_key(self) -> Hashable:
        """Problems with the same key share a program on the device."""
        return "rating curve", len(self.flow_m3s)

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """The OpenCL C source and its macros."""
        return KernelProblem(SOURCE, (), {"DIM": self.dimension, "GAUGINGS": len(self.flow_m3s)})

    def kernel_context(self) -> NDArray[np.float32]:
        """The numbers that the OpenCL C reads, in this order."""
        return np.concatenate([self.flow_m3s, self.level_m, self.lower, self.upper]).astype(np.float32)

    def compiled_context(self, *, fine: bool = False) -> GaugingContext:
        """The data that compiled Python reads."""
        return GaugingContext(self.flow_m3s.astype(np.float32), self.level_m.astype(np.float32))

    def certify(self, position: FloatArray) -> Certified:
        """The fitness in float64: no number that a user sees is computed in float32."""
        offset, factor, exponent = position
        misfit = offset + factor * self.flow_m3s**exponent - self.level_m
        benefit = -float(np.sum(misfit**2))
        return Certified(fitness=benefit, benefit=benefit, violation=0.0)


def main(device: str = "auto") -> dict[str, FloatArray]:
    """Offset, factor and exponent by solver, from gaugings of 4.2 + 0.9 q^0.55."""
    flow = np.array([2.0, 5.0, 11.0, 24.0, 60.0, 130.0, 310.0])
    problem = RatingCurve(flow, 4.2 + 0.9 * flow**0.55)
    found = {}
    for engine, settings in (("lshade", {"evaluations": 20_000}), ("clpso-sequential", {"generations": 5000})):
        (solution,) = solve([problem], solver=engine, device=device, **settings)
        found[engine] = solution.position
        offset, factor, exponent = solution.position
        print(f"{engine:<18} {offset:.3f} m + {factor:.3f} q^{exponent:.3f}, sum of squares {-solution.fitness:.2e} m2")
    return found


if __name__ == "__main__":
    main()
