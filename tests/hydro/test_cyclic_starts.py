"""The starts of a cyclic year with losses are between the outermost to which it can return."""

from dataclasses import replace

import numpy as np

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.horizon_limits import START_MARGIN, open_limits, year_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import satisfiable
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System
from tests.year_ends import cyclic

#: From a drought, which no start survives, to a deluge.
FACTORS = np.array([0.02, 0.15, 0.2, 0.25, 0.6, 1.0, 1.5, 2.5, 4.0, 12.0])
TRIED = 129


def test_starts_are_bounded_by_the_outermost_that_the_year_can_return_to(
    small: Reservoir, small_inflow: Inflow
) -> None:
    lake = cyclic(replace(small, evaporation_mm=np.full(12, 90.0), withdrawal_m3s=np.full(12, 1.0)))
    flow = np.outer(FACTORS, small_inflow.flow_m3s[1])
    record = Inflow(flow, Calendar(1955, len(FACTORS), first_month=6))
    years, found = open_limits(System.of(lake), record), year_limits(System.of(lake), record).start_bounds_hm3
    kinds = set()
    for place, (year, bounds) in enumerate(zip(years, found, strict=True)):

        def returns(start, of=years[place : place + 1]):
            return bool(satisfiable(of.starting_at(np.array([start])))[0])

        tried, slack = np.linspace(*year.start_bounds_hm3, TRIED), START_MARGIN * year.storage_upper_hm3.max()
        good = [start for start in tried if returns(start)]
        kinds.add("none" if not good else "all" if len(good) == TRIED else "some")
        if len(good) < 2:
            assert bounds.tolist() == list(year.start_bounds_hm3)
            continue
        apart, ends = tried[1] - tried[0], bounds + np.array([-slack, slack])
        for end, outermost, bound, side in zip(ends, (good[0], good[-1]), tried[[0, -1]], (-1, 1), strict=True):
            assert -1e-9 * apart <= side * (end - outermost) <= apart
            assert returns(end - side * 1e-9 * apart)
            assert abs(end - bound) < 1e-9 * apart or not returns(end + side * 1e-5 * apart)
    assert kinds == {"none", "some", "all"}
