from __future__ import annotations

import numpy as np
import pytest

from reservoir import Calendar, ConversionKind, Inflow, Polynomial, Reservoir, Table, YearEnd
from tests.objectives import independent as alone


@pytest.fixture(scope="session")
def lake() -> Reservoir:
    """The lake of the independent program."""
    domain, heads = (alone.LEAST, alone.MOST), (10.0, 120.0)
    return Reservoir(
        name="lake",
        level=Table(alone.STORAGES, alone.LEVELS),
        tailrace=Polynomial(list(alone.TAILRACE), domain),
        conversion=Polynomial([alone.COEFFICIENT], heads),
        conversion_kind=ConversionKind.COEFFICIENT,
        capacity_m3s=Polynomial([alone.CAPACITY], heads),
        installed_mw=alone.INSTALLED,
        storage_lower_hm3=np.full(12, alone.DEAD),
        storage_upper_hm3=np.full(12, alone.FULL),
        release_lower_m3s=np.full(12, alone.LEAST),
        release_upper_m3s=np.full(12, alone.MOST),
        initial_storage_hm3=alone.START,
        final_storage_hm3=alone.START,
        year_end=YearEnd.FIXED,
        penalty=300.0,
    )


@pytest.fixture(scope="session")
def river() -> Inflow:
    """Three years of invented inflow."""
    random = np.random.default_rng(3)
    season = np.array([14, 12, 16, 26, 48, 70, 66, 52, 36, 26, 20, 16], float)
    years = random.lognormal(0, 0.25, (3, 1)) * random.lognormal(0, 0.2, (3, 12))
    return Inflow(season * years, Calendar(1990, 3))


@pytest.fixture(scope="session")
def alone_in_a_row(river: Inflow) -> alone.Lake:
    """The same record for the independent program."""
    return alone.Lake(river.flow_m3s.ravel(), river.calendar.days.ravel() * 86_400.0)
