"""Names of water years, made when they are asked for: of a million years few are ever named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class YearLabels(Sequence[str]):
    """Names of water years: ``1953``, ``1953/54``, ``1953 to 1955``; of an ensemble ``3: 1953``. Equal to their tuple.

    Parameters
    ----------
    start_years : ndarray, shape (years,)
        Calendar years in which they begin.
    later : int
        How many calendar years later they end.
    members : ndarray of str, shape (years,), optional
        Names of the members of an ensemble that they belong to.
    """

    start_years: NDArray[np.int64]
    later: int = 0
    members: NDArray[np.str_] | None = None

    def __len__(self) -> int:
        return len(self.start_years)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice | NDArray[np.integer]) -> YearLabels: ...
    def __getitem__(self, index: int | slice | NDArray[np.integer]) -> str | YearLabels:
        member = None if self.members is None else self.members[index]
        if isinstance(index, slice | np.ndarray):
            return replace(self, start_years=self.start_years[index], members=member)
        year = year_label(int(self.start_years[index]), self.later)
        return year if member is None else f"{member}: {year}"

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def some_labels(labels: Sequence[str], which: slice | NDArray[np.integer]) -> Sequence[str]:
    """Some of the names, by their places."""
    if isinstance(labels, YearLabels):
        return labels[which]
    return labels[which] if isinstance(which, slice) else tuple(labels[place] for place in which.tolist())


def year_label(start_year: int, later: int) -> str:
    """Name the water year that begins in a calendar year and ends so many later."""
    if later > 1:
        return f"{start_year} to {start_year + later}"
    return f"{start_year}/{(start_year + 1) % 100:02d}" if later else str(start_year)
