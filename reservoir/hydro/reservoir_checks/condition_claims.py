"""Checks of a reservoir's losses and of the demands on its plant, one small function for each (`claims`)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reservoir.errors import Mistake
from reservoir.hydro.curves.area import area_of_levels, most_evaporated
from reservoir.hydro.curves.curve import Curve, FloatArray
from reservoir.hydro.ranges import EVAPORATION_MM, FLOW_M3S, PLANT_FACTOR, Range
from reservoir.hydro.reservoir_checks.claims import Claim, Lake, list_in_range, offending
from reservoir.hydro.reservoir_kinds import YearEnd
from reservoir.hydro.wording import Words

#: A lake loses at most this part of each further hm3 in a month: more is a slip of units, or an area curve with a step.
MOST_LOST = 0.2
LOSS_MEND = "check the units of evaporation (mm a month) and area (km2), or smooth the area curve"


def evaporation_in_range(evaporation_mm: FloatArray, words: Words) -> Iterator[Mistake]:
    """Allow no evaporation that no lake on Earth has."""
    yield from list_in_range("evaporation_mm", evaporation_mm, EVAPORATION_MM, words)


def withdrawal_in_range(withdrawal_m3s: FloatArray, words: Words) -> Iterator[Mistake]:
    """Allow no water to be added, and no withdrawal that no river carries."""
    yield from list_in_range("withdrawal_m3s", withdrawal_m3s, FLOW_M3S, words)


def plant_factor_in_range(plant_factor: FloatArray, words: Words) -> Iterator[Mistake]:
    """Require a part of each month, and some month in which the plant can run."""
    yield from list_in_range("plant_factor", plant_factor, PLANT_FACTOR, words)
    if not np.any(plant_factor > 0):
        yield words.mistake("plant_factor", "leaves no month in which the plant runs", "a number above 0 in some month")


def power_demanded_can_be_made(
    power_lower_mw: FloatArray, plant_factor: FloatArray, installed_mw: float, words: Words
) -> Iterator[Mistake]:
    """Allow no demand beyond what the plant can make in the month."""
    yield from list_in_range("power_lower_mw", power_lower_mw, Range(0.0, np.inf), words)
    months = offending(power_lower_mw > plant_factor * installed_mw)
    if months:
        problem = f"is more than the plant can generate in {months}"
        expected = f"at most the installed capacity ({words.amount('installed_mw', installed_mw)}) x the plant factor"
        yield words.mistake("power_lower_mw", problem, expected)


def operating_level_within_the_lake(
    operating_level_m: float | None, level: Curve, lake: Lake, words: Words
) -> Iterator[Mistake]:
    """Require a level that the lake has, below its highest."""
    low, high = (float(level(end)) for end in lake[:2])
    if operating_level_m is not None and not low <= operating_level_m < high:
        expected = f"{low:.7g} m ({lake.least_is}) to less than {high:.7g} m ({lake.most_is})"
        yield words.mistake("operating_level_m", "is outside the levels of the lake", expected)


def end_value_needs_its_year_end(
    year_end: YearEnd, end_value_gwh_per_hm3: float | None, words: Words
) -> Iterator[Mistake]:
    """Allow a value of the water left only where the end is valued; without one the record decides."""
    if end_value_gwh_per_hm3 is not None and year_end is not YearEnd.VALUED:
        mend = 'remove it, or set year_end = "valued"'
        yield words.mistake("end_value_gwh_per_hm3", f'is not used with year_end = "{year_end}"', mend=mend)


def losses_follow_the_storage(
    evaporation_mm: FloatArray, level: Curve, area_km2: Curve | None, lake: Lake, words: Words
) -> Iterator[Mistake]:
    """Allow no evaporation that would take most of what each further hm3 adds."""
    if not np.any(evaporation_mm):
        return
    lost = most_evaporated(area_km2 or area_of_levels(level), lake.least, lake.most, evaporation_mm)
    if not lost <= MOST_LOST:
        yield words.mistake("evaporation_mm", loss_problem(lost), f"at most {100 * MOST_LOST:g} %", LOSS_MEND)


def loss_problem(lost: float) -> str:
    """What is wrong with evaporation that takes such a part of each further hm3."""
    return f"takes {100 * lost:.3g} % of a further hm3 in a month where the area rises most with the storage"


CONDITION_CLAIMS: tuple[Claim, ...] = (
    evaporation_in_range,
    withdrawal_in_range,
    plant_factor_in_range,
    power_demanded_can_be_made,
    operating_level_within_the_lake,
    end_value_needs_its_year_end,
    losses_follow_the_storage,
)
