"""The eight functions: names, ranges, optima, and where they are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.problems.functions import contexts, values


@dataclass(frozen=True)
class Function:
    """A function to be made small (Yu et al. 2020, Table 2).

    Parameters
    ----------
    name, title : str
        As in the paper.
    reach : float
        Every variable lies between its negative and it.
    optimum : float
        Every variable of the best position; the function is zero there.
    value : callable
        In compiled code: of a position, or of a position, a rotation and room to work in.
    context : type
        What compiled solvers read.
    file : str
        Under ``kernels/problems``.
    rotated : bool
        It has a rotation.
    noise : float
        Added to the fitness at every evaluation, times a fresh number in [0, 1).
    """

    name: str
    title: str
    reach: float
    optimum: float
    value: Callable[..., Any]
    context: type[contexts.FunctionContext]
    file: str
    rotated: bool = False
    noise: float = 0.0


#: Of Li and Liu 2017, Table 4; no range is given there.
ROSENBROCK_SWAPPED = Function(
    "f2-printed",
    "Rosenbrock, indices swapped",
    10.0,
    1.0,
    values.rosenbrock_swapped,
    contexts.SwappedContext,
    "rosenbrock_swapped.cl",
)

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("f1", "Sphere", 100.0, 0.0, values.sphere, contexts.SphereContext, "sphere.cl"),
        Function("f2", "Schwefel P2.22", 10.0, 0.0, values.schwefel_2_22, contexts.SchwefelContext, "schwefel_2_22.cl"),
        Function(
            "f3",
            "Noise",
            1.28,
            0.0,
            values.noisy_quartic,
            contexts.NoiseContext,
            "noisy_quartic.cl",
            noise=contexts.NOISE,
        ),
        Function("f4", "Rosenbrock", 10.0, 1.0, values.rosenbrock, contexts.RosenbrockContext, "rosenbrock.cl"),
        Function("f5", "Rastrigin", 5.12, 0.0, values.rastrigin, contexts.RastriginContext, "rastrigin.cl"),
        Function("f6", "Ackley", 32.0, 0.0, values.ackley, contexts.AckleyContext, "ackley.cl"),
        Function(
            "f7",
            "rotated Schwefel",
            500.0,
            values.SCHWEFEL_OPTIMUM,
            values.rotated_schwefel,
            contexts.RotatedSchwefelContext,
            "rotated_schwefel.cl",
            rotated=True,
        ),
        Function(
            "f8",
            "rotated Rastrigin",
            5.12,
            0.0,
            values.rotated_rastrigin,
            contexts.RotatedRastriginContext,
            "rotated_rastrigin.cl",
            rotated=True,
        ),
    )
}


def functions_named(names: str | None) -> list[Function]:
    """The functions of a list of names with commas between them, in the catalogue's order; all without a list.

    Raises
    ------
    InputError
        With every name that there is not.
    """
    if names is None:
        return list(FUNCTIONS.values())
    asked = [name.strip().lower() for name in names.split(",")]
    wrong = [name for name in asked if name not in FUNCTIONS]
    if wrong:
        known = ", ".join(FUNCTIONS)
        raise InputError(
            [Mistake("there is no such function", known, "choose among them", value=name) for name in wrong]
        )
    return [function for name, function in FUNCTIONS.items() if name in asked]
