"""Random years and releases, as the package and as the paper see them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.horizon_limits import year_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits
from reservoir.hydro.operation import Operation, operate
from reservoir.hydro.plant import exact_plant
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System
from tests.hydro import paper

Case = tuple[Reservoir, Inflow]


@dataclass(frozen=True)
class Draw:
    """A year of a case and releases in it, without the case: `trial` joins the two.

    Parameters
    ----------
    index : int
        Year of the record.
    factors : ndarray, shape (12,)
        What the recorded inflow of each month is multiplied by.
    parts : ndarray, shape (12,)
        How far each release wanted is from its lower to its upper bound; some are beyond.
    start : float
        Where a cyclic year starts between the storage bounds of its last month, 0 to 1.
    """

    index: int
    factors: np.ndarray
    parts: np.ndarray
    start: float = 0.5


def _twelve(least: float, most: float) -> st.SearchStrategy[np.ndarray]:
    return arrays(np.float64, 12, elements=st.floats(least, most), fill=st.nothing())


def _draws(factors: st.SearchStrategy[np.ndarray]) -> st.SearchStrategy[Draw]:
    return st.builds(Draw, st.integers(0, 2), factors, _twelve(-0.1, 1.1), st.floats(0.0, 1.0))


_ordinary = _twelve(0.6, 1.6)
_drought = st.floats(0.0, 0.15).map(lambda factor: np.full(12, factor))
_deluge = st.floats(4.0, 30.0).map(lambda factor: np.full(12, factor))

#: Years most of which can be satisfied, years most of which cannot, and both.
ordinary_years = _draws(_ordinary)
extreme_years = _draws(st.one_of(_drought, _deluge))
all_years = _draws(st.one_of(_ordinary, _ordinary, _drought, _deluge))


@dataclass(frozen=True)
class Trial:
    """One year, and releases wanted in it."""

    reservoir: Reservoir
    limits: Limits
    year: paper.Year
    wanted: np.ndarray

    @property
    def start(self) -> float | None:
        """What `operate` is told of the start."""
        return self.year.start if self.limits.cyclic else None

    @property
    def within(self) -> np.ndarray:
        """The releases wanted, brought within their bounds."""
        return np.clip(self.wanted, self.year.release_lower, self.year.release_upper)

    def operate(self, releases: np.ndarray | None = None) -> Operation:
        """Run the year with the releases wanted, or with others."""
        wanted = self.wanted if releases is None else releases
        return operate(exact_plant(self.reservoir), self.limits.arrays(), wanted, self.start)


def trial(case: Case, draw: Draw) -> Trial:
    """A year of a case, as drawn."""
    reservoir, record = case
    calendar = Calendar(record.calendar.first_year + draw.index, 1, record.calendar.first_month)
    inflow = Inflow(flow_m3s=record.flow_m3s[draw.index : draw.index + 1] * draw.factors, calendar=calendar)
    limits = year_limits(System.of(reservoir), inflow)[0]
    lowest, highest = limits.storage_lower_hm3[-1], limits.storage_upper_hm3[-1]
    year = paper.year_of(reservoir, inflow, 0, lowest + draw.start * (highest - lowest) if limits.cyclic else None)
    least, most = np.array(year.release_lower), np.array(year.release_upper)
    return Trial(reservoir, limits, year, least + draw.parts * (most - least))


def storage_scale(year: paper.Year) -> float:
    """The largest storage bound, by which differences of storages are measured."""
    return float(max(year.storage_upper))
