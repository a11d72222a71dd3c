"""The functions that ran: how they are called in tables, and the rotation of those that are rotated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import pandas as pd

from reservoir.problems.functions import FUNCTIONS, FunctionProblem


def titled(function: str) -> str:
    """A function's name and title."""
    return f"{function} {FUNCTIONS[function].title}"


def rotation(problems: Iterable[FunctionProblem]) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """The matrix of the rotated problems, which have the same, and what makes it; nothing if none is rotated."""
    for problem in problems:
        if problem.rotation is not None:
            return {"rotation": pd.DataFrame(problem.rotation.matrix())}, {"rotation": asdict(problem.rotation)}
    return {}, {}
