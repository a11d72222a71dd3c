"""Where the parts of a search are kept until all are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reservoir.planning.parts.columns import Columns


class PartStore(Protocol):
    """Keeps arrays of parts, each with its rows in those of the whole."""

    @property
    def told(self) -> Mapping[int, Mapping[str, Any]]:
        """What each part that is kept told of itself, by the part's number."""

    def begin(self, run: Mapping[str, Any], years: int) -> None:
        """Make ready for parts of so many years, and take over those that are kept of the same run."""

    def keep(self, part: int, first: int, columns: Columns, told: Mapping[str, Any]) -> None:
        """Keep a part whose first row is `first` of the whole."""

    def columns(self) -> Columns:
        """Arrays of the whole, once every part is kept."""


class MemoryStore:
    """Keeps parts in memory."""

    def __init__(self) -> None:
        self.told: dict[int, Mapping[str, Any]] = {}
        self._years = 0
        self._columns: dict[str, NDArray[Any]] = {}

    def begin(self, run: Mapping[str, Any], years: int) -> None:
        """Keep so many rows."""
        self._years = years

    def keep(self, part: int, first: int, columns: Columns, told: Mapping[str, Any]) -> None:
        """Copy the rows."""
        for name, column in columns.items():
            whole = self._columns.setdefault(name, np.empty((self._years, *column.shape[1:]), column.dtype))
            whole[first : first + len(column)] = column
        self.told[part] = told

    def columns(self) -> Columns:
        """The arrays."""
        for column in self._columns.values():
            column.setflags(write=False)
        return self._columns
