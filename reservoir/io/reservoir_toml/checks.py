"""Checks of a reservoir file in addition to `reservoir_checks`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reservoir.errors import Mistake
from reservoir.hydro.calendar import HOURS_OF_MONTHS, MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.hydro.reservoir_checks.claims import Claim, offending
from reservoir.hydro.time_step import TimeStep
from reservoir.io.reservoir_toml.draft import Draft
from reservoir.io.reservoir_toml.schema import PlantSection, StorageSection

#: The ways to say how much power water gives.
CONVERSIONS = (
    "curves.conversion_rate",
    "curves.output_coefficient",
    "curves.efficiency",
    "curves.turbine",
    "plant.output_coefficient",
    "plant.efficiency",
)


def one_conversion(draft: Draft) -> Iterator[Mistake]:
    """Require exactly one way from water to power."""
    given = [key for key in CONVERSIONS if draft.has(key)]
    if not given and isinstance(draft.tree.get("plant", {}), dict):
        yield draft.mistake("plant", "has no conversion from water to power", f"one of {', '.join(CONVERSIONS)}")
    for key in given[1:]:
        yield draft.mistake(key, f"contradicts {given[0]}", f"only one of {', '.join(given)}")


#: The ways to say how much water the turbines can take.
CAPACITIES = (
    "curves.capacity",
    "curves.turbine",
    "plant.hydraulic_capacity_m3s",
    "plant.unit_hydraulic_capacity_m3s",
)


def one_capacity(draft: Draft) -> Iterator[Mistake]:
    """Allow one hydraulic capacity, and one installed capacity."""
    given = [key for key in CAPACITIES if draft.has(key)]
    for key in given[1:]:
        yield draft.mistake(key, f"contradicts {given[0]}", "only one of the two")
    if draft.has("plant.installed_capacity_mw") and draft.has("plant.unit_capacity_mw"):
        yield draft.mistake("plant.unit_capacity_mw", "contradicts plant.installed_capacity_mw", "only one of the two")


def units_counted(plant: PlantSection, draft: Draft) -> Iterator[Mistake]:
    """Require the number of units where something is given of one, and only there."""
    of_one = [
        f"plant.{key}" for key in ("unit_capacity_mw", "unit_hydraulic_capacity_m3s") if draft.has(f"plant.{key}")
    ]
    if of_one and plant.units is None:
        yield draft.mistake("plant.units", "is missing", f"the number of equal units, as {of_one[0]} is given")
    if plant.units is not None and not of_one:
        expected = "plant.unit_capacity_mw or plant.unit_hydraulic_capacity_m3s beside it"
        yield draft.mistake(
            "plant.units", "is used by nothing", expected, "remove it, or give the capacity of one unit"
        )


def one_seepage(draft: Draft) -> Iterator[Mistake]:
    """Allow one seepage."""
    if draft.has("curves.seepage") and draft.has("losses.seepage_m3s"):
        yield draft.mistake("losses.seepage_m3s", "contradicts curves.seepage", "only one of the two")


def one_plant_factor(draft: Draft) -> Iterator[Mistake]:
    """Allow one way to say how long the turbines can run."""
    if draft.has("plant.plant_factor") and draft.has("plant.full_load_hours"):
        yield draft.mistake("plant.full_load_hours", "contradicts plant.plant_factor", "only one of the two")


def hours_within_their_month(plant: PlantSection, draft: Draft) -> Iterator[Mistake]:
    """Allow no more hours than a month has."""
    hours = np.array(plant.full_load_hours or (0.0,) * MONTHS_PER_YEAR)
    months = offending((hours < 0) | (hours > HOURS_OF_MONTHS))
    if months:
        expected = "0 to the hours of the month: 744 of 31 days, 720 of 30, 678 in February (28.25 days)"
        yield draft.mistake("plant.full_load_hours", f"is out of range in {months}", expected)


def dead_below_full(storage: StorageSection, draft: Draft) -> Iterator[Mistake]:
    """Require some storage to work with."""
    if not storage.is_lake:
        expected = f"less than the full storage, {draft.amount('storage.dead_hm3', storage.full_hm3)}"
        yield draft.mistake("storage.dead_hm3", "leaves no active storage", expected)


def storage_bounds_within_the_lake(storage: StorageSection, draft: Draft) -> Iterator[Mistake]:
    """Require monthly bounds between dead and full storage."""
    key = "storage.dead_hm3"
    for bound in ("lower", "upper"):
        values = np.array(getattr(storage, bound))
        months = offending((values < storage.dead_hm3) | (values > storage.full_hm3))
        if months and storage.is_lake:
            lake = f"{draft.amount(key, storage.dead_hm3)} (dead) to {draft.amount(key, storage.full_hm3)} (full)"
            yield draft.mistake(f"storage.{bound}_hm3", f"is outside the storage range in {months}", lake)


def final_within_its_month(
    storage: StorageSection, first_month: int, step: TimeStep, draft: Draft
) -> Iterator[Mistake]:
    """Require a final storage within the bounds of the last step of the water year."""
    bounds = [np.array(each) for each in (storage.lower, storage.upper)]
    if any(len(each) not in (MONTHS_PER_YEAR, step.per_year) for each in bounds):
        return
    month = (first_month - 2) % MONTHS_PER_YEAR
    low, high = (float(step.in_water_year(step.listed(each, first_month), first_month)[-1]) for each in bounds)
    if storage.final is None or low <= storage.final <= high:
        return
    if storage.dead_hm3 <= storage.final <= storage.full_hm3:
        given = draft.has("storage.final_hm3")
        key = "storage.final_hm3" if given else "storage.initial_hm3"
        problem = (
            f"{'' if given else 'is also the final storage and '}is not allowed at the end of {MONTH_NAMES[month]}"
        )
        yield draft.mistake(
            key, problem, f"{draft.amount(key, low)} to {draft.amount(key, high)}, the limits in [storage]"
        )


CHECKS: tuple[Claim, ...] = (
    one_conversion,
    one_capacity,
    units_counted,
    one_seepage,
    one_plant_factor,
    hours_within_their_month,
    dead_below_full,
    storage_bounds_within_the_lake,
    final_within_its_month,
)
