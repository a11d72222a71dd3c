"""A record as problems: one for each horizon, in batches of one shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.horizon import Horizon
from reservoir.hydro.horizon_limits import horizon_limits, open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits
from reservoir.hydro.objective import Operation, joined
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_calendar import on_calendar_of
from reservoir.problems.base import FloatArray, rows_at
from reservoir.problems.reservoir.promised_power import promising
from reservoir.problems.reservoir.year import ReservoirModel, ReservoirYear, ReservoirYears


@dataclass(frozen=True, eq=False)
class RecordProblems:
    """A record cut into problems.

    Parameters
    ----------
    horizon : Horizon
        How long a problem is.
    inflow : Inflow
        The record.
    batches : tuple of ReservoirYears
        Problems in the order of the record: equally long ones, and a shorter last one where the horizon leaves one.
    """

    horizon: Horizon
    inflow: Inflow
    batches: tuple[ReservoirYears, ...]

    def __len__(self) -> int:
        return sum(map(len, self.batches))

    @property
    def each(self) -> Sequence[ReservoirYear]:
        """The problems, as solvers take them."""
        return self.batches[0] if len(self.batches) == 1 else [problem for batch in self.batches for problem in batch]

    def some(self, places: NDArray[np.intp]) -> Sequence[ReservoirYear]:
        """Some of the problems, as solvers take them."""
        each = self.each
        return each[places] if isinstance(each, ReservoirYears) else [each[place] for place in places.tolist()]

    @property
    def model(self) -> ReservoirModel:
        """The reservoir."""
        return self.batches[0].model

    @property
    def least_gap_scale(self) -> float:
        """What a gap of fitness is at least a part of, in the unit of the objective."""
        reservoir = self.model.reservoir
        return reservoir.objective.least_scale(reservoir.installed_mw, reservoir.step.per_year)

    @property
    def steps(self) -> int:
        """Steps of the longest problem."""
        return self.batches[0].limits.steps

    @property
    def labels(self) -> Sequence[str]:
        """Name of each problem."""
        if len(self.batches) == 1:
            return self.batches[0].labels
        return tuple(label for batch in self.batches for label in batch.labels)

    @cached_property
    def of_year(self) -> NDArray[np.int64]:
        """Place of the problem that each year of the record belongs to, shape (years,)."""
        spans = self.horizon.spans(self.inflow.years)
        return np.repeat(np.arange(len(spans)), [stop - first for first, stop in spans])

    def first_year(self, year: int) -> int:
        """Place of the first year of the problem that a year belongs to."""
        return int(np.searchsorted(self.of_year, self.of_year[year]))

    def ends_with(self, year: int) -> bool:
        """Whether a problem ends with a year."""
        return year + 1 == len(self.of_year) or bool(self.of_year[year + 1] != self.of_year[year])

    @property
    def cyclic(self) -> bool:
        """Whether each problem ends at the storage that it began with, which the plan chooses."""
        return self.batches[0].limits.cyclic

    @property
    def ramps(self) -> bool:
        """Whether the release may change by so much only from month to month."""
        conditions = self.batches[0].limits.conditions
        return conditions is not None and conditions.ramps

    @cached_property
    def year_bounds(self) -> Limits:
        """Bounds of the record's years; what is said of the ends of problems apart."""
        found = open_limits(self.model.reservoir, self.inflow)
        for name in ("storage_lower_hm3", "storage_upper_hm3"):
            rows = [getattr(batch.limits, name).reshape(-1, found.steps) for batch in self.batches]
            getattr(found, name)[:] = np.concatenate(rows)
        return found

    def span(self, first: int, stop: int) -> RecordProblems:
        """Consecutive problems of a record of which each year is one."""
        return RecordProblems(self.horizon, self.inflow.span(first, stop), (self.batches[0][first:stop],))

    def split(self, positions: Sequence[FloatArray] | FloatArray) -> list[FloatArray]:
        """Positions of the problems, an array for each batch."""
        ends = [0, *np.cumsum([len(batch) for batch in self.batches])]
        return [rows_at(positions, range(first, stop)) for first, stop in pairwise(ends)]

    def operate(self, positions: Sequence[FloatArray] | FloatArray) -> Operation:
        """Run a position of each problem in float64; a row for each year of the record."""
        parts = zip(self.batches, self.split(positions), strict=True)
        return joined([batch.operate(position).in_years(self.inflow.steps) for batch, position in parts])


def record_problems(reservoir: Reservoir, inflow: Inflow, horizon: Horizon) -> RecordProblems:
    """Cut a record into problems.

    Raises
    ------
    InputError
        If reservoir and record begin their water years in different months, or the curves cannot be approximated.
    """
    inflow = on_calendar_of(reservoir, inflow)
    horizon = horizon.within(inflow.calendar)
    model, labels, streams = ReservoirModel.of(reservoir), inflow.labels, inflow.rng_stream_ids
    batches, promised = [], reservoir.objective.firm_power_mw
    spans = horizon.equal_spans(inflow.years)
    for limits, (first, stop, length) in zip(horizon_limits(reservoir, inflow, horizon), spans, strict=True):
        named = labels[first:stop] if length == 1 else _joined(labels[first:stop], length)
        batch = ReservoirYears(model, limits, named, streams[first:stop:length])
        if promised is not None:
            batch = promising(batch, np.full(len(batch), promised), reservoir.objective.firm_share)
        batches.append(batch)
    return RecordProblems(horizon, inflow, tuple(batches))


def _joined(labels: Sequence[str], length: int) -> tuple[str, ...]:
    """Name of every so many years."""
    return tuple(f"{labels[first]} to {labels[first + length - 1]}" for first in range(0, len(labels), length))
