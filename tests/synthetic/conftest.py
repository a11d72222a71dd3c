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
