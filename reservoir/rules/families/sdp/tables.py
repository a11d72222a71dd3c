"""Tables of a dynamic programming rule, and what is refused in them: sizes that do not belong together first.

A table is judged beside the grid and the classes, whose sizes it shares, where these are sound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import numpy as np

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.rules.base.fields import Known, Numbers, Refusal, Rising, check, count, falls, length

#: A list a step, each of a list a row.
Tables = tuple[tuple[Numbers, ...], ...]

_A_STEP = count(MONTHS_PER_YEAR, "one list per month")
_A_CLASS = "one for each inflow class"
_A_CLASS_BEFORE = "one list for each inflow class of the month before"
#: Probabilities that sum to 1 but for this were rounded.
_ROUNDED = 1e-6


def _evenly_apart(grid: Numbers, known: Known) -> Iterator[Refusal]:
    apart = np.diff(grid)
    if not np.allclose(apart, apart[0], rtol=1e-6):
        yield Refusal("is not evenly spaced", f"storages {apart.mean():.10g} hm3 apart")


def _alike_and_rising(classes: Sequence[Numbers], known: Known) -> Iterator[Refusal]:
    if not classes[0]:
        yield Refusal("has no values", "one or more inflow classes", (0,))
    for step, means in enumerate(classes):
        yield from length(means, len(classes[0]), "as many inflow classes as in the first month", step)
        yield from falls(means, step)


def _sizes(tables: Tables, rows: int, a_row: str, columns: int) -> Iterator[Refusal]:
    """Refuse tables of another size, row by row."""
    for step, table in enumerate(tables):
        yield from length(table, rows, a_row, step)
        for place, row in enumerate(table):
            yield from length(row, columns, _A_CLASS, step, place)


def _probabilities(tables: Tables, known: Known) -> Iterator[Refusal]:
    if "classes_m3s" in known:
        classes = len(known["classes_m3s"][0])
        yield from _sizes(tables, classes, _A_CLASS_BEFORE, classes)
    for step, table in enumerate(tables):
        for place, row in enumerate(table):
            yield from (
                Refusal("is negative", "a probability", (step, place, at), value)
                for at, value in enumerate(row)
                if value < 0
            )
            if abs(sum(row) - 1) > _ROUNDED:
                yield Refusal("does not sum to 1", "probabilities", (step, place), sum(row))


def class_tables(grid: str, classes: str) -> Any:
    """The type of tables by step, storage of a grid and inflow class: as large as those fields."""

    def claim(tables: Tables, known: Known) -> Iterator[Refusal]:
        if grid in known and classes in known:
            rows, columns = len(known[grid]), len(known[classes][0])
            yield from _sizes(tables, rows, f"one list for each value of {grid}", columns)

    return Annotated[Tables, _A_STEP, check(claim)]


Grid = Annotated[Rising, check(_evenly_apart)]
Classes = Annotated[tuple[Numbers, ...], _A_STEP, check(_alike_and_rising)]
Chain = Annotated[Tables, _A_STEP, check(_probabilities)]
Values = class_tables("grid_hm3", "classes_m3s")
