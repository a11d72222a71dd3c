"""What a plan would decide off its best path: optimised years from an empty and from a full reservoir.

Where storage carries over years, a plan is one long path, and a rule that is fitted to it alone has never seen the
storages that it gets to itself. Here the record is cut into spans of some years; each begins empty or full, and leads
back to the plan at its end.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from reservoir.hydro.limits import Limits
    from reservoir.problems.reservoir.year import ReservoirModel

FloatArray = NDArray[np.float64]

#: Years of a span: of fewer, all would be a way back to the plan; of more, most would be the plan.
SPAN_YEARS = 5


@dataclass(frozen=True, eq=False)
class Decisions:
    """Optimised years, as a rule is fitted to them; arrays of shape (years, steps).

    Parameters
    ----------
    inflow_m3s, inflow_before_m3s : ndarray
    storage_start_hm3, storage_end_hm3 : ndarray
    release_m3s, power_mw : ndarray
    """

    inflow_m3s: FloatArray
    inflow_before_m3s: FloatArray
    storage_start_hm3: FloatArray
    storage_end_hm3: FloatArray
    release_m3s: FloatArray
    power_mw: FloatArray

    def chosen(self, years: NDArray[np.integer] | NDArray[np.bool_]) -> Decisions:
        """Some of the years."""
        return Decisions(*(getattr(self, field.name)[years] for field in fields(self)))

    def followed_by(self, other: Decisions) -> Decisions:
        """These years and others behind them."""
        names = [field.name for field in fields(self)]
        return Decisions(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))


@dataclass(frozen=True, eq=False)
class OtherStarts:
    """Years of spans that begin off the plan.

    Parameters
    ----------
    decisions : Decisions
    span : ndarray of int, shape (years, SPAN_YEARS)
        Places, among the years of the plan, of those that were optimised together with a year.
    """

    decisions: Decisions
    span: NDArray[np.int64]

    def within(self, years: NDArray[np.int64], of: int) -> OtherStarts:
        """Those that know no other years than the chosen ones, by the places that these then have.

        Parameters
        ----------
        years : ndarray of int, shape (chosen,)
        of : int
            Number of all years.
        """
        place = np.full(of, -1)
        place[years] = np.arange(len(years))
        span = place[self.span]
        known: NDArray[np.bool_] = np.asarray((span >= 0).all(axis=1))
        return OtherStarts(self.decisions.chosen(known), span[known])

    def counts(self, of_years: FloatArray) -> FloatArray:
        """How much each year counts: as the least of its span, shape (years,)."""
        return np.asarray(of_years[self.span].min(axis=1, initial=np.inf))


def other_starts(model: ReservoirModel, limits: Limits, plan: Decisions, member: NDArray[np.int64]) -> OtherStarts:
    """Optimise every span from the lowest and from the highest storage; one that cannot keep the limits is left out.

    Parameters
    ----------
    model : ReservoirModel
    limits : Limits
        Of the plan's years, nothing said of their ends.
    plan : Decisions
    member : ndarray of int, shape (years,)
    """
    from reservoir.rules.base.foresight import operated  # which loads solvers

    first = [each[at] for each in _members(member) for at in range(0, len(each) - SPAN_YEARS + 1, SPAN_YEARS)]
    spans = np.array(first, np.int64).reshape(-1, 1) + np.arange(SPAN_YEARS)
    if not len(spans):
        return OtherStarts(plan.chosen(np.arange(0)), spans)
    horizons = limits[spans.ravel()].joined(SPAN_YEARS)
    ends = plan.storage_end_hm3[spans[:, -1], -1]
    found = []
    for start in model.reservoir.storage_bounds_hm3[:, -1].tolist():
        made = operated(model, horizons, [str(each) for each in first], start, ends)
        kept = np.repeat((made.violation == 0).all(axis=1), SPAN_YEARS)
        storage = made.storage_hm3
        shape = -1, plan.inflow_m3s.shape[1]
        years = replace(
            plan.chosen(spans.ravel()),
            storage_start_hm3=storage[:, :-1].reshape(shape),
            storage_end_hm3=storage[:, 1:].reshape(shape),
            release_m3s=made.release_m3s.reshape(shape),
            power_mw=made.power_mw.reshape(shape),
        )
        found.append((years.chosen(kept), np.repeat(spans, SPAN_YEARS, axis=0)[kept]))
    (low, low_span), (high, high_span) = found
    return OtherStarts(low.followed_by(high), np.concatenate([low_span, high_span]))


def _members(member: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Places of the years of each member."""
    return np.split(np.arange(len(member)), np.flatnonzero(np.diff(member)) + 1)
