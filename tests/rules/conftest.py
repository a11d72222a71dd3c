import pytest

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.planning.plan import Plan, optimise
from reservoir.rules import Forecast, Training


@pytest.fixture(scope="session")
def ten_years(inflow) -> Inflow:
    """The first ten years of the bundled record."""
    return Inflow(flow_m3s=inflow.flow_m3s[:10], calendar=Calendar(1953, 10))


@pytest.fixture(scope="session")
def plan(xiaowan, ten_years) -> Plan:
    """Ten years at their reference optimum."""
    return optimise(xiaowan, ten_years, solver="dp")


@pytest.fixture(scope="session")
def training(plan) -> Training:
    return Training.of(plan)


@pytest.fixture(scope="module", params=list(Forecast))
def forecast(request) -> Forecast:
    """What rules are told, both ways."""
    return request.param
