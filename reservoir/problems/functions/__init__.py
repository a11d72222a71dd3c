"""The eight benchmark functions of Yu et al. 2020 (Complexity 6589658, Table 2), as problems that any solver takes."""

from reservoir.problems.functions.catalogue import FUNCTIONS, ROTATIONS, Function, Rotation, functions_named
from reservoir.problems.functions.problem import FunctionProblem, function_problems

__all__ = [
    "FUNCTIONS",
    "ROTATIONS",
    "Function",
    "FunctionProblem",
    "Rotation",
    "function_problems",
    "functions_named",
]
