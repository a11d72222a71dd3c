"""A record as problems: one for each horizon, in batches of one shape, and those whose steps must give a power.

What steps fall short of a promised power costs more than any energy is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.curves.approximation import FormRanges
from reservoir.hydro.horizon_limits import horizon_limits, open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.operation import Operation, joined
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import UNLIMITED
from reservoir.problems.base import FloatArray, rows_at
from reservoir.problems.reservoir.year import ReservoirModel, ReservoirYears

#: What is promised is less than what is asked by this part: room for rounding.
SLACK = 2e-6
#: What a step costs that gives nothing, as a part of the penalty of each year.
_COST_OF_SHORTAGE = 10.0
#: What a failed step costs at most, where some may fail, as a part of the penalty.
_COST_OF_FAILURE = 0.05


def allowed_failures(steps: int, share: float) -> int:
    """How many of so many steps may fail where a share of them must not."""
    return int((1 - share) * steps + 1e-9)


def cost_of_shortage(target_mw: FloatArray, penalty: float, steps: int) -> FloatArray:
    """Of each MW that a step falls short of its target; nothing without one."""
    of_all = _COST_OF_SHORTAGE * penalty * steps / MONTHS_PER_YEAR
    return np.where(target_mw > 0, of_all / np.where(target_mw > 0, target_mw, 1.0), 0.0)


def promising(batch: Any, power_mw: FloatArray, share: float = 1.0) -> Any:
    """The problems with a power that each must give, shape (problems,), in a share of their steps.

    Of a system (`SystemYears`) it is that of all plants together. Their objective is not energy alone: it has terms.
    """
    steps = batch.limits.steps
    target = np.repeat((power_mw * (1 - SLACK))[:, np.newaxis], steps, axis=1)
    cost = cost_of_shortage(target, batch.penalty, steps)
    most = UNLIMITED if allowed_failures(steps, share) == 0 else _COST_OF_FAILURE * batch.penalty
    if not batch.limits.priced:
        return batch
    return batch.with_terms(power_target=target, power_cost=cost, power_cost_most=most)


def promised_in(batch: Any, steps: NDArray[np.bool_]) -> Any:
    """Problems with the same promise, but in some steps only, shape (years, steps), none of which may fail."""
    return batch.with_terms(power_target=np.where(steps, batch.power_target_mw, 0.0), power_cost_most=UNLIMITED)


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
    def each(self) -> Sequence[ReservoirYears]:
        """The problems, as solvers take them."""
        return self.batches[0] if len(self.batches) == 1 else [problem for batch in self.batches for problem in batch]

    @property
    def placed_batches(self) -> list[tuple[NDArray[np.intp], ReservoirYears]]:
        """The batches, with the places of their problems."""
        places = np.arange(len(self))
        ends = np.cumsum([len(batch) for batch in self.batches])[:-1]
        return list(zip(np.split(places, ends), self.batches, strict=True))

    def some(self, places: NDArray[np.intp]) -> Sequence[ReservoirYears]:
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
        return self.model.system.least_gap_scale

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
        return self.batches[0].limits.ramps

    @cached_property
    def year_bounds(self) -> Limits:
        """Bounds of the record's years; what is said of the ends of problems apart."""
        bounds = {
            name: np.concatenate([getattr(batch.limits, name).reshape(-1, self.inflow.steps) for batch in self.batches])
            for name in ("storage_lower", "storage_upper")
        }
        return open_limits(self.model.system, self.inflow).changed(**bounds)

    def span(self, first: int, stop: int) -> RecordProblems:
        """Consecutive problems, from the place `first` up to `stop`."""
        years = np.searchsorted(self.of_year, [first, stop]).tolist()
        spans = [(batch, np.searchsorted(places, [first, stop]).tolist()) for places, batch in self.placed_batches]
        batches = [batch[begin:end] for batch, (begin, end) in spans]
        return RecordProblems(self.horizon, self.inflow.span(*years), tuple(filter(len, batches)) or (batches[0],))

    def split(self, positions: Sequence[FloatArray] | FloatArray) -> list[FloatArray]:
        """Positions of the problems, an array for each batch."""
        ends = [0, *np.cumsum([len(batch) for batch in self.batches])]
        return [rows_at(positions, range(first, stop)) for first, stop in pairwise(ends)]

    def operate(self, positions: Sequence[FloatArray] | FloatArray) -> Operation:
        """Run a position of each problem in float64; a row for each year of the record."""
        parts = zip(self.batches, self.split(positions), strict=True)
        return joined([batch.operate(position).in_years(self.inflow.steps) for batch, position in parts])


def record_problems(
    reservoir: Reservoir, inflow: Inflow, horizon: Horizon, ranges: tuple[FormRanges, ...] = ()
) -> RecordProblems:
    """Cut a record into problems, whose forms of curves may have `ranges` (`ReservoirModel`).

    Raises
    ------
    InputError
        If reservoir and record begin their water years in different months, or the curves cannot be approximated.
    """
    model = ReservoirModel.of(reservoir, ranges=ranges)
    system, inflow = model.system, model.system.on_calendar(inflow)
    horizon, labels, streams = horizon.within(inflow.calendar), inflow.labels, inflow.rng_stream_ids
    batches, promised = [], system.objective.firm_power_mw
    spans = horizon.equal_spans(inflow.years)
    for limits, (first, stop, length) in zip(horizon_limits(system, inflow, horizon), spans, strict=True):
        named = labels[first:stop] if length == 1 else joined_labels(labels[first:stop], length)
        batch = ReservoirYears(model, limits, named, streams[first:stop:length])
        if promised is not None:
            batch = promising(batch, np.full(len(batch), promised), system.objective.firm_share)
        batches.append(batch)
    return RecordProblems(horizon, inflow, tuple(batches))


def joined_labels(labels: Sequence[str], length: int) -> tuple[str, ...]:
    """Name of every so many years."""
    return tuple(f"{labels[first]} to {labels[first + length - 1]}" for first in range(0, len(labels), length))
