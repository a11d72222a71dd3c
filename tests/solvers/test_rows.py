"""Columns of many problems hold, whatever they are made of, what a list of their items would."""

from itertools import repeat
from typing import Any

import numpy as np
import pytest

from reservoir.solvers.solution import Column, as_float64, joined, objects, with_rows

SHARED = {"lanes": 4}
COLUMNS: dict[str, Column] = {
    "array": np.arange(6.0).reshape(3, 2),
    "float32 array": np.arange(6, dtype=np.float32).reshape(3, 2),
    "wider array": np.arange(12.0).reshape(3, 4),
    "objects": objects([np.zeros(2), np.ones(5), np.full(1, 2.0)], 3),
    "repeated": objects(repeat(np.arange(4.0)), 3),
}


def items(column: Column) -> list[list[float]]:
    return [np.asarray(each).tolist() for each in column]


@pytest.mark.parametrize("one", COLUMNS)
@pytest.mark.parametrize("other", COLUMNS)
def test_joined_columns_are_their_items_behind_each_other(one: str, other: str) -> None:
    several = [COLUMNS[one], COLUMNS[other], COLUMNS[one]]
    found = joined(several)
    assert items(found) == [item for each in several for item in items(each)]
    assert items(found[np.array([8, 0, 4])]) == [items(found)[place] for place in (8, 0, 4)]
    assert items(found[2:5]) == items(found)[2:5]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("new", COLUMNS)
def test_a_column_with_new_rows_has_them_at_their_places_and_is_another(column: str, new: str) -> None:
    before = items(COLUMNS[column])
    found = with_rows(COLUMNS[column], np.array([2, 0]), COLUMNS[new][np.array([0, 1])])
    assert items(found) == [items(COLUMNS[new])[1], before[1], items(COLUMNS[new])[0]]
    assert items(COLUMNS[column]) == before


@pytest.mark.parametrize("column", COLUMNS)
def test_columns_in_float64_have_the_same_numbers(column: str) -> None:
    found = as_float64(COLUMNS[column])
    assert items(found) == items(COLUMNS[column])
    assert {each.dtype for each in found} == {np.dtype(np.float64)}


def test_arrays_of_one_shape_are_joined_as_an_array() -> None:
    assert joined([np.zeros((2, 3)), np.ones((4, 3))]).shape == (6, 3)
    assert joined([np.zeros((2, 3)), np.ones((4, 2))]).shape == (6,)


def test_what_a_million_problems_share_is_one_object() -> None:
    found: Any = joined([objects(repeat(SHARED), 10**6), objects(repeat(SHARED), 10**6)])
    assert len(found) == 2 * 10**6
    assert found[0] is found[1_999_999] is SHARED
    assert found.nbytes < 16 * len(found)
