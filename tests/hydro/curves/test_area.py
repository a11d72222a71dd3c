"""Without a curve of its own, a lake has the area that the slope of its level curve tells."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.hydro.curves.curve import Curve, Polynomial, PowerLaw, Table, area_of_levels

HILL = (9.1, 11.8, 15.0, 18.7, 22.9, 27.6, 32.9, 38.8, 45.3, 52.4, 60.2, 68.6, 77.7, 87.5, 98.0, 103.5)
SURVEYED = Table(HILL, (*np.arange(296.0, 325.0, 2.0), 325.0))
FEW = Table((4.0, 30.0, 100.0), (100.0, 112.0, 130.0))


@pytest.mark.parametrize(
    "level",
    [SURVEYED, FEW, Polynomial((200.0, 3.0, -0.01), (5.0, 100.0)), PowerLaw(200.0, 3.0, 0.0, 0.5, (5.0, 100.0))],
)
def test_the_area_is_the_slope_of_the_curve_that_levels_are_read_from(level: Curve) -> None:
    low, high = level.domain
    step = 1e-5 * (high - low)
    storage = np.linspace(low + 2 * step, high - 2 * step, 5001)
    slope = 2 * step / (level(storage + step) - level(storage - step))
    np.testing.assert_allclose(area_of_levels(level)(storage), slope, rtol=2e-3)


def test_areas_between_two_levels_add_up_to_the_storage_between_them() -> None:
    storage = np.linspace(*SURVEYED.domain, 100_001)
    level = SURVEYED(storage)
    area = area_of_levels(SURVEYED)(storage)
    filled = np.sum((area[1:] + area[:-1]) / 2 * np.diff(level))
    assert filled == pytest.approx(storage[-1] - storage[0], rel=1e-4)


def test_a_curve_that_is_level_at_its_end_has_no_endless_lake() -> None:
    bent = Table((0.0, 10.0, 20.0, 30.0), (100.0, 110.0, 120.0, 121.0))  # the cubic's slope is 0 at 30 hm3
    assert area_of_levels(bent)(30.0) == pytest.approx(30.0)


def test_a_curve_that_never_rises_has_no_area() -> None:
    assert area_of_levels(Table((0.0, 10.0), (100.0, 100.0)))(5.0) == 0.0


def test_where_the_level_rests_the_area_is_that_beside_it() -> None:
    rests = Table((0.0, 10.0, 20.0, 30.0), (100.0, 100.0, 110.0, 120.0))
    area = area_of_levels(rests)(np.linspace(0, 30, 301))
    assert np.all((area > 0) & (area <= 3.0))
