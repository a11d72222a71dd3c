"""What many problems have, where some of it differs in shape or most of it is the same: rows of a few sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

#: What is of each problem, an item or a row each.
Column = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rows(Sequence[Any]):
    """Items of several sequences in any order: item i is ``parts[part[i]][row[i]]``; a slice is a list of items.

    Parameters
    ----------
    parts : tuple of sequences
    part, row : ndarray, shape (items,)
        The sequence that each item is of, and its place there.
    """

    parts: tuple[Column, ...]
    part: NDArray[np.integer]
    row: NDArray[np.integer]

    def __len__(self) -> int:
        return len(self.row)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return self.parts[self.part[index]][self.row[index]]

    def some(self, places: NDArray[np.intp] | slice) -> Rows:
        """Items at some places."""
        return Rows(self.parts, self.part[places], self.row[places])


def repeated(item: Any, count: int) -> Rows:
    """The same item for all of so many problems."""
    return Rows(((item,),), np.zeros(count, np.uint8), np.broadcast_to(np.int64(0), count))


def some_of(column: Column, places: NDArray[np.intp] | slice) -> Column:
    """Items of a column at some places."""
    if isinstance(column, Rows):
        return column.some(places)
    if isinstance(column, np.ndarray):
        return column[places]
    return column[places] if isinstance(places, slice) else [column[place] for place in places.tolist()]


def as_float64(column: Column) -> Column:
    """A column of arrays in float64."""
    if isinstance(column, Rows):
        return Rows(tuple(map(as_float64, column.parts)), column.part, column.row)
    if isinstance(column, np.ndarray):
        return column.astype(np.float64)
    return [each.astype(np.float64) for each in column]


def stacked(each: Sequence[NDArray[Any]]) -> Column:
    """Arrays of single problems as a column: one array if they have one shape."""
    return np.stack(each) if len({(array.shape, array.dtype) for array in each}) == 1 else each


def joined(columns: Sequence[Column]) -> Column:
    """Columns behind each other: an array of arrays whose rows have one shape, else rows."""
    if len(columns) == 1:
        return columns[0]
    if all(isinstance(each, np.ndarray) for each in columns):
        arrays: list[NDArray[Any]] = list(columns)  # type: ignore[arg-type]
        numbers = all(
            each.ndim == 1 for each in arrays
        )  # of any types: engines that solve other problems count otherwise
        if numbers or len({(each.shape[1:], each.dtype) for each in arrays}) == 1:
            return np.concatenate(arrays)
    every = [each if isinstance(each, Rows) else _in_order(each) for each in columns]
    parts = {id(part): part for each in every for part in each.parts}
    places = {name: place for place, name in enumerate(parts)}
    part = [np.array([places[id(part)] for part in each.parts], np.int32)[each.part] for each in every]
    return Rows(tuple(parts.values()), np.concatenate(part), np.concatenate([each.row for each in every]))


def with_rows(column: Column, places: NDArray[np.intp], new: Column) -> Column:
    """A column with the items of another at some places; the column itself if there are none."""
    if not len(places):
        return column
    if isinstance(column, np.ndarray) and isinstance(new, np.ndarray) and column.shape[1:] == new.shape[1:]:
        changed = column.copy()
        changed[places] = new
        return changed
    order = np.arange(len(column))
    order[places] = len(column) + np.arange(len(places))
    return some_of(joined([column, new]), order)


def _in_order(column: Column) -> Rows:
    return Rows((column,), np.zeros(len(column), np.uint8), np.arange(len(column)))
