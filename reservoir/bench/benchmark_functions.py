"""The rotation of the problems that ran, as a record keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from reservoir.problems.functions.problem import FunctionProblem
from reservoir.problems.functions.rotation import Rotation


def rotation_frames(problems: Sequence[FunctionProblem]) -> dict[str, pd.DataFrame]:
    """The matrix as ``rotation``, if any function has one."""
    rotation = _rotation(problems)
    return {} if rotation is None else {"rotation": pd.DataFrame(rotation.matrix())}


def rotation_origin(problems: Sequence[FunctionProblem]) -> dict[str, Any]:
    """What makes the matrix, if any function has one."""
    rotation = _rotation(problems)
    return {} if rotation is None else {"rotation": asdict(rotation)}


def _rotation(problems: Sequence[FunctionProblem]) -> Rotation | None:
    """All problems of a record have the same."""
    return next((problem.rotation for problem in problems if problem.rotation is not None), None)
