"""What a record, its reservoir and the objective give of each step: rows by field (`rows`), with the years in front.

A row has shape (years, steps). One that is the same in all years is stored once: its stride over the years is 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError
from reservoir.hydro.attributes import FieldWords, by_step_attributes
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.checks import LakeRange, evaporation_mistakes
from reservoir.hydro.conditions import NO_CONDITIONS
from reservoir.hydro.curves.curve import Curve, area_of_levels, constant
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal
from reservoir.hydro.plant import storage_at_level
from reservoir.hydro.reservoir import CONDITIONS, Reservoir
from reservoir.hydro.rows import ATTRIBUTE_FIELDS, TERMS, UNLIMITED, Lake, YearRows, filled_years
from reservoir.hydro.system import System
from reservoir.hydro.units import GWH_PER_MW_VOLUME, HM3_PER_KM2_MM

FloatArray = NDArray[np.float64]

#: In place of a limit (m3/s) that there is not: within float32, and no release changes by so much.
UNLIMITED_M3S = 1e9
#: Mean storage (hm3) below which no turbine stands still.
NEVER_HM3 = -1e9


#: Rows of recorded losses.
_RECORDED = {"evaporation_hm3": "recorded_evaporation", "bank_storage_hm3": "bank_storage"}
#: Rows by field, numbers that all years have, by name, and the curves of the lake; these only with `conditions`.
RecordRows = tuple[dict[str, FloatArray], dict[str, float], Lake | tuple[()]]


def record_rows(reservoir: Reservoir, inflow: Inflow, *, conditions: bool = False) -> RecordRows:
    """What a record gives, an attribute by step of the reservoir as its own field, but for the objective (`terms_of`).

    With `conditions`, also of a reservoir that has no losses or demands, as what a lake below does to it is one.

    Evaporation is in mm; inflow and least release are those of the record and the reservoir, withdrawals not reckoned,
    but for losses that were recorded, which are taken of the inflow.

    Raises
    ------
    InputError
        If the evaporation of the record and the area of the lake do not fit together, or if the record does not say
        what the flood space depends on.
    """
    calendar, lossy = inflow.calendar, conditions or reservoir.has_conditions or inflow.has_conditions
    rows = {"inflow": inflow.flow_m3s, "hm3_per_m3s": calendar.hm3_per_m3s}
    for row in by_step_attributes():
        name, of_record = ATTRIBUTE_FIELDS.get(row.field), getattr(inflow, row.field, None)
        given = getattr(reservoir, row.field) if name else None
        if name is None or given is None or (row.part in CONDITIONS and not lossy):
            continue
        rows[name] = reservoir.in_years(given, calendar) if of_record is None else of_record
        if name == "evaporation" and inflow.evaporation_hm3 is not None:
            rows[name] = np.broadcast_to(0.0, inflow.flow_m3s.shape)
        elif name == "evaporation" and of_record is None and len(given) == MONTHS_PER_YEAR != calendar.step.per_year:
            rows[name] = rows[name] * calendar.part_of_month  # that of a month in parts by days
    losses = inflow.recorded_losses_hm3
    rows |= {_RECORDED[name]: volume for name, volume in losses.items()}
    if losses:
        rows["inflow"] = inflow.flow_m3s - sum(losses.values()) / calendar.hm3_per_m3s
    if reservoir.flood_space is not None:
        rows["storage_upper"] = np.minimum(rows["storage_upper"], _flood_limits(reservoir, inflow))
    numbers = {"dead": float(reservoir.storage_lower_hm3.min())}
    if not lossy:
        return rows, numbers, ()
    _require_gentle(reservoir, inflow)
    level = reservoir.operating_level_m
    up, down = (UNLIMITED_M3S if most is None else most for most in (reservoir.ramp_up_m3s, reservoir.ramp_down_m3s))
    numbers |= {
        "operating_storage": NEVER_HM3 if level is None else storage_at_level(reservoir, level),
        "ramp_up": up,
        "ramp_down": down,
        "end_value": reservoir.end_value_gwh_per_hm3 or 0.0,
    }
    return rows, numbers, Lake(lake_area(reservoir), lake_seepage(reservoir))


def _flood_limits(reservoir: Reservoir, inflow: Inflow) -> FloatArray:
    space = reservoir.flood_space
    assert space is not None
    if inflow.flood_index is None:
        problem = f'has no column "{space.column}", which the flood space of the reservoir depends on'
        mend = f"add the column; in Python, read the record with flood_column={space.column!r}"
        if inflow.calendar.is_ensemble:
            mend = "add the column, a value for each member and step; for synthetic inflow, which has none, give "
            mend += "upper_hm3 of [storage] by month in place of [flood_space]"
        raise InputError(problem, "a value in every step", mend, inflow.source)
    return space.upper_of(inflow.flood_index, reservoir.step, reservoir.first_month)


def lake_area(reservoir: Reservoir) -> Curve:
    """Area of the lake (km2) by storage: as given, or the slope of the storage over the level."""
    return reservoir.area_km2 or area_of_levels(reservoir.level)


def lake_seepage(reservoir: Reservoir) -> Curve:
    """Water that seeps away (m3/s) by storage (hm3)."""
    return reservoir.seepage_m3s or constant(0.0, reservoir.level.domain)


def _require_gentle(reservoir: Reservoir, inflow: Inflow) -> None:
    """Refuse evaporation of a record that would take most of what each further hm3 adds, as a reservoir's own is.

    A run-of-river plant stores no further hm3.
    """
    if inflow.evaporation_mm is None or reservoir.is_run_of_river:
        return
    lake = LakeRange(float(reservoir.storage_lower_hm3.min()), float(reservoir.storage_upper_hm3.max()))
    refused = evaporation_mistakes(lake_area(reservoir), lake, inflow.evaporation_mm, FieldWords(), "evaporation ")
    for mistake in refused:
        raise InputError(replace(mistake, file=inflow.source))


def conditions_in(reservoir: Reservoir, inflow: Inflow, tailwater_m: float | None = None) -> YearRows | tuple[()]:
    """Losses and demands of a record (`YearRows.by_field`), with curves that Python can call; nothing without any.

    Also the terms of an objective whose prices are negative in part, which lets water be spilled. A shortage is
    relative to the largest demand, of which nothing is said. A lake below may back the plant up to `tailwater_m`.
    """
    rows, numbers, lake = record_rows(reservoir, inflow, conditions=tailwater_m is not None)
    if not lake:
        return NO_CONDITIONS
    if tailwater_m is not None:
        rows["tailwater"] = np.full_like(inflow.flow_m3s, tailwater_m)
    rows["evaporation"] = rows["evaporation"] * HM3_PER_KM2_MM
    if reservoir.pays_for_energy:
        rows |= terms_of(System.of(reservoir), inflow)
    return filled_years(rows, numbers, lake).by_field


def terms_of(system: System, inflow: Inflow) -> dict[str, FloatArray]:
    """Terms of the objective in a record's steps (`benefit`); nothing if the objective is energy.

    Raises
    ------
    InputError
        If revenue is optimised without prices.
    """
    objective, reservoir = system.objective, system.reservoirs[0]
    if objective.is_energy:
        return {}

    def by_step(monthly: FloatArray | None) -> ArrayLike:
        return 0.0 if monthly is None else reservoir.in_years(monthly, inflow.calendar)

    def weight(goal: Goal) -> float:
        return objective.weights.get(goal, 0.0)

    if Goal.REVENUE in objective.weights and objective.price_per_mwh is None and inflow.price_per_mwh is None:
        mend = "add price_per_mwh to [objective] in the reservoir file, or a column price_per_mwh to the record"
        problem = f'is missing: the goal "{Goal.REVENUE}" needs it'
        raise InputError(problem, "a price for each step", mend, reservoir.source, column="price_per_mwh")
    gwh_per_mw = inflow.calendar.hm3_per_m3s * GWH_PER_MW_VOLUME
    price = by_step(objective.price_per_mwh) if inflow.price_per_mwh is None else inflow.price_per_mwh
    unused = weight(Goal.UNUSED_CAPACITY)
    value = gwh_per_mw * (
        weight(Goal.ENERGY) + weight(Goal.FIRM_POWER) + weight(Goal.REVENUE) * np.asarray(price) / 1000
    )
    return _terms(
        value + unused / system.installed_mw,
        offset=0.0 - unused,
        power_target=by_step(objective.power_target_mw),
        power_cost_squared=weight(Goal.POWER_SHORTAGE) / _square_of_most(objective.power_target_mw),
        supply_target=by_step(objective.supply_target_m3s),
        supply_cost_squared=weight(Goal.SUPPLY_SHORTAGE) / _square_of_most(objective.supply_target_m3s),
    )


def _terms(power_value: ArrayLike, **others: ArrayLike) -> dict[str, FloatArray]:
    """All terms, in the shape of the first; 0 but for those that are given, and a most cost that is no limit."""
    values = {**dict.fromkeys(TERMS, 0.0), "power_cost_most": UNLIMITED, "power_value": power_value, **others}
    shape = np.broadcast_shapes(*map(np.shape, values.values()))
    return {name: np.broadcast_to(np.asarray(value, np.float64), shape) for name, value in values.items()}


def _square_of_most(target: FloatArray | None) -> float:
    return 1.0 if target is None else float(target.max()) ** 2


def shortage_terms(
    target_mw: FloatArray, power_mw_of_one: FloatArray, most: float = UNLIMITED
) -> dict[str, FloatArray]:
    """Terms of an objective that is the squared shortage of power and nothing else.

    Parameters
    ----------
    target_mw : ndarray, shape (years, steps)
    power_mw_of_one : ndarray, shape (years, steps)
        Shortage, MW, whose square costs 1.
    most : float
        Most that a step costs.
    """
    return _terms(0.0, power_target=target_mw, power_cost_squared=1 / np.square(power_mw_of_one), power_cost_most=most)


def energy_terms(hm3_per_m3s: FloatArray, target_mw: FloatArray, cost_per_mw: FloatArray) -> dict[str, FloatArray]:
    """Terms of energy, GWh, with a cost of each MW of a shortage of power; shape (years, steps)."""
    return _terms(hm3_per_m3s * GWH_PER_MW_VOLUME, power_target=target_mw, power_cost=cost_per_mw)
