"""Small plans that the tests of figures share."""

from collections.abc import Callable, Iterator
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
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.plan import Plan
from reservoir.report.figures.style import figure_style
from reservoir.rules import Forecast
from reservoir.rules.base.rule import Months
from reservoir.rules.evaluation import Evaluation, evaluate
from reservoir.rules.families.zones import ZonesRule

CAVEAT = "inflow made up for a test"
FLOWS = np.array([400, 390, 420, 510, 790, 1470, 2650, 2380, 2740, 1720, 850, 600])
QUICK = {"solver": "clpso-sequential", "generations": 50, "particles": 8, "engine_only": True}

#: Families of rules that are fitted in no time.
CHEAP = ("guide-curve", "linear", "standard")

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
def evaluation(make_plan: MakePlan) -> Evaluation:
    """Five calendar years with every kind of figure: cheap families, and a dispatch chart drawn by hand."""
    plan = make_plan(5, solver="dp", generations=None, particles=None)
    return with_dispatch_chart(evaluate(plan, folds=2, families=CHEAP))


@pytest.fixture(scope="session")
def october_evaluation(small: Reservoir) -> Evaluation:
    """Three water years from October, one left out at a time; no marks, no guaranteed energy, no forecast."""
    flows = np.outer([0.6, 1.0, 1.5], [35, 25, 18, 14, 12, 16, 24, 38, 55, 80, 75, 50])
    inflow = Inflow(flow_m3s=flows, calendar=Calendar(1955, 3, first_month=10))
    plan = package.optimise(replace(small, first_month=10), inflow, solver="dp")
    return with_dispatch_chart(evaluate(plan, folds=3, forecast=Forecast.NONE, families=CHEAP))


def with_dispatch_chart(evaluation: Evaluation) -> Evaluation:
    """Add the family of zones as if it did what the first family does, with curves at parts of the storage."""
    reservoir, first = evaluation.plan.reservoir, evaluation.families[0]
    lower, upper = (reservoir.by_step(each) for each in (reservoir.storage_lower_hm3, reservoir.storage_upper_hm3))
    starts = np.roll(lower, 1), np.roll(upper, 1)
    rule = ZonesRule(
        family="zones",
        reservoir=reservoir.name,
        forecast=evaluation.forecast,
        months=Months.of(evaluation.training),
        storage_lower_hm3=lower.tolist(),
        storage_upper_hm3=upper.tolist(),
        curves_hm3=[(starts[0] + part * (starts[1] - starts[0])).tolist() for part in (0.3, 0.32, 0.7)],
        outputs_mw=[part * reservoir.installed_mw for part in (0.2, 0.4, 0.7, 1.0)],
        storage_hm3=[float(lower.min()), float(upper.max())],
        release_m3s=[[1.0, 1.0]] * 4,
    )
    zones = replace(first, family="zones", rule=rule)
    return replace(evaluation, families=(*evaluation.families, zones))


@pytest.fixture(scope="session")
def texts() -> Callable[[Figure | Artist], list[str]]:
    """Tell every text that a figure or an axis shows."""

    def of(artist: Artist) -> list[str]:
        return [text.get_text() for text in artist.findobj(Text) if text.get_visible() and text.get_text()]

    return of


@pytest.fixture
def drawn_style() -> Iterator[None]:
    """Measure texts in the fonts that they are drawn in."""
    with figure_style():
        yield
