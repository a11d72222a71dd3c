"""Records that the tests of synthetic inflow share."""

import numpy as np
import pytest

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow


@pytest.fixture(scope="session")
def arid() -> Inflow:
    """Forty invented years of a river that falls dry in summer, in water years from October."""
    random = np.random.default_rng(1)
    regime = np.array([2, 8, 20, 30, 25, 15, 8, 3, 1, 0.3, 0.2, 0.5])
    flow = regime * np.exp(0.7 * random.standard_normal((40, 1)) + 0.5 * random.standard_normal((40, 12)))
    flow[:, 8:] = np.maximum(flow[:, 8:] - regime[8:] * 0.5, 0)
    flow[:, 10] = 0
    return Inflow(flow, Calendar(1970, 40, first_month=10), caveat="invented")


def _falling_dry() -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    years = 30
    wet = np.exp(random.normal(3, 0.4, (years, 12)))
    floods = random.uniform(40, 90, (years, 12))
    several = wet * (random.random((years, 12)) > np.array([0.9, 0.8, *[0] * 8, 1, 0.9]))
    always, rarely, once, one_zero = wet.copy(), np.zeros((years, 12)), np.zeros((years, 12)), wet.copy()
    always[:, 6:9] = 0
    rarely[::10, 3] = 12, 40, 7
    once[7, 3] = 55
    one_zero[4, 2] = 0
    few_years = wet[:15] * (random.random((15, 12)) > np.array([0.7, 0.7, *[0] * 9, 0.7]))
    return {
        "a winter without flow in most years": several,
        "months that are always dry": always,
        "three wet months in 30 years": rarely,
        "one wet month": once,
        "no water at all": np.zeros((years, 12)),
        "a heavy tail": np.where(random.random((years, 12)) < 0.6, 0, np.exp(random.normal(1, 1.8, (years, 12)))),
        "traces": np.where(random.random((years, 12)) < 0.5, 0.001, floods),
        "traces that are a thousandth of the flow": np.where(random.random((years, 12)) < 0.5, 0.05, floods),
        "zeros and traces": np.where(random.random((years, 12)) < 0.4, random.choice([0, 0.001], (years, 12)), floods),
        "one dry month": one_zero,
        "few years": few_years,
        "every month rarely wet": wet * (random.random((years, 12)) < 0.03),
    }


FALLING_DRY = _falling_dry()


@pytest.fixture(params=FALLING_DRY)
def falling_dry(request) -> Inflow:
    """Invented rivers that fall dry in different ways."""
    flow = FALLING_DRY[request.param]
    return Inflow(flow, Calendar(1981, len(flow)))
