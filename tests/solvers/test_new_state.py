"""What compiled code works on is allocated as its named tuple says."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from reservoir.solvers.engine import new_state
from reservoir.solvers.settings import Settings, number


@dataclass(frozen=True)
class Few(Settings):
    particles: int = number(3, 1, 9)
    inertia: float = number(0.1, 0.0, 1.0)


class State(NamedTuple):
    position: Annotated[NDArray[np.float32], "particles", "dimension"]
    rank: Annotated[NDArray[np.int64], "particles"]
    best: Annotated[NDArray[np.float32], "particles"]
    lower: Annotated[NDArray[np.float32], "dimension"]
    inertia: np.float32
    strict: bool
    key: Any


def test_arrays_have_their_axes_and_values_are_given_or_those_of_settings_and_problem() -> None:
    problem, key = SimpleNamespace(dimension=2, lower=np.array([0.1, -7.0]), position="of no use"), object()
    state = new_state(State, Few(), problem, rank=np.arange(3), best=-np.inf, strict=np.bool_(True), key=key)
    shapes = {name: (each.shape, each.dtype.name) for name, each in state._asdict().items() if hasattr(each, "dtype")}
    assert shapes == {
        "position": ((3, 2), "float32"),
        "rank": ((3,), "int64"),
        "best": ((3,), "float32"),
        "lower": ((2,), "float32"),
        "inertia": ((), "float32"),
    }
    assert not state.position.any()
    assert state.rank.tolist() == [0, 1, 2]
    assert np.isneginf(state.best).all()
    assert state.lower.tolist() == np.float32([0.1, -7.0]).tolist()
    assert (state.inertia, state.strict, state.key) == (np.float32(0.1), True, key)
    assert type(state.strict) is bool


def test_a_value_that_nobody_has_is_an_error() -> None:
    with pytest.raises(AttributeError, match="key"):
        new_state(State, Few(), SimpleNamespace(dimension=2, lower=0.0), strict=False)


@pytest.mark.parametrize(
    "array", [NDArray[np.int16], np.ndarray[Any, np.dtype[np.int16]], list[np.int16]], ids=["own", "older", "alias"]
)
def test_numbers_are_those_that_an_array_is_annotated_with_in_every_version_of_numpy(array: Any) -> None:
    """Of an alias, as numpy 2.5 makes them on Python 3.12, only the number is an argument: as of the list."""
    state = new_state(NamedTuple("One", [("room", Annotated[array, "size"])]), size=2)  # type: ignore[misc]
    assert state.room.dtype == np.int16
    assert state.room.shape == (2,)
