"""An invented carry-over reservoir and its record."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir

#: Mean inflow of each month over the year's mean, June first.
SEASON = np.array([2.4, 2.0, 1.5, 1.0, 0.7, 0.5, 0.4, 0.3, 0.3, 0.5, 1.0, 1.4])


@pytest.fixture(scope="session")
def lake(small: Reservoir) -> Reservoir:
    """The small reservoir with twice the mean annual inflow of `dry_record` as its active storage."""
    return replace(
        small,
        storage_lower_hm3=np.full(12, 20.0),
        storage_upper_hm3=np.full(12, 120.0),
        release_lower_m3s=np.full(12, 0.2),
        release_upper_m3s=np.full(12, 60.0),
        initial_storage_hm3=80.0,
        final_storage_hm3=70.0,
    )


@pytest.fixture(scope="session")
def dry_record() -> Inflow:
    """Sixteen invented years, wet and dry ones in groups: 50 hm3 a year."""
    random = np.random.default_rng(11)
    wet, years = 0.0, []
    for _ in range(16):
        wet = 0.5 * wet + random.normal(0, 0.5)
        years.append(np.exp(wet) * SEASON * np.exp(random.normal(0, 0.3, 12)))
    flow = np.array(years)
    calendar = Calendar(1950, 16, first_month=6)
    annual_hm3 = (flow * calendar.hm3_per_m3s).sum(axis=1).mean()
    return Inflow(flow_m3s=flow * 50 / annual_hm3, calendar=calendar)
