"""Small plans that the tests of figures share."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.text import Text

import reservoir as package
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.plan import Plan

CAVEAT = "inflow made up for a test"
FLOWS = np.array([400, 390, 420, 510, 790, 1470, 2650, 2380, 2740, 1720, 850, 600])
QUICK = {"solver": "clpso-sequential", "generations": 50, "particles": 8}

MakePlan = Callable[..., Plan]


@pytest.fixture(scope="session")
def make_plan() -> MakePlan:
    """Plan some years of the bundled reservoir, each drier than the one before."""

    def make(years: int = 3, first_month: int = 1, **options: Any) -> Plan:
        reservoir = replace(package.bundled_case().reservoir(), first_month=first_month)
        flows = np.roll(FLOWS, 1 - first_month) * np.linspace(1.3, 0.8, years)[:, None]
        inflow = Inflow(flow_m3s=flows, calendar=Calendar(1953, years, first_month), caveat=CAVEAT)
        given = {name: value for name, value in {**QUICK, **options}.items() if value is not None}
        return package.optimise(reservoir, inflow, **given)

    return make


@pytest.fixture(scope="session")
def plan(make_plan: MakePlan) -> Plan:
    """Five calendar years."""
    return make_plan(5)


@pytest.fixture(scope="session")
def one_year(make_plan: MakePlan) -> Plan:
    """A single calendar year."""
    return make_plan(1)


@pytest.fixture(scope="session")
def june_plan(make_plan: MakePlan) -> Plan:
    """Three water years that begin in June."""
    return make_plan(3, first_month=6)


@pytest.fixture(scope="session")
def dp_plan(make_plan: MakePlan) -> Plan:
    """A plan whose solver has no generations."""
    return make_plan(2, solver="dp", generations=None, particles=None)


@pytest.fixture(scope="session")
def texts() -> Callable[[Figure | Artist], list[str]]:
    """Tell every text that a figure or an axis shows."""

    def of(artist: Artist) -> list[str]:
        return [text.get_text() for text in artist.findobj(Text) if text.get_visible() and text.get_text()]

    return of
