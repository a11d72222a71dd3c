"""What compiled code may be kept on disk: only what names this package's types."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from reservoir.hydro.jit import _of_this_package
from reservoir.problems.fitness import BoxCoding
from tests.solvers.toys import ToyContext

OURS = BoxCoding(np.zeros(2, np.float32), np.ones(2, np.float32))
THEIRS = ToyContext(0.0, 1.0, 0.0, 1.0)


class Foreign(NamedTuple):
    """Holds anything."""

    held: Any


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        (OURS, True),
        ((1, OURS, np.zeros(3)), True),
        (OURS._replace(width=(0, 0, OURS)), True),
        (THEIRS, False),
        (Foreign(OURS), False),
        ((1, THEIRS), False),
        (OURS._replace(width=(0, THEIRS)), False),
    ],
)
def test_a_named_tuple_of_another_program_is_found_at_any_depth(value, ours):
    assert _of_this_package(value) == ours
