"""Conditions of a record's steps (`conditions`), as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.checks import LOSS_MEND, MOST_LOST, loss_problem
from reservoir.hydro.conditions import StepConditions
from reservoir.hydro.curves.curve import Curve, most_evaporated
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.lake import lake_area, lake_seepage
from reservoir.hydro.level_storage import storage_at_level
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import Lake
from reservoir.hydro.units import HM3_PER_KM2_MM

FloatArray = NDArray[np.float64]

#: In place of a limit (m3/s) that there is not: within float32, and no release changes by so much.
_UNLIMITED_M3S = 1e9
#: Part by which a lowest power is raised, over the margin of reachable bounds: that of float32 solvers is 1e-6, and
#: their curves change power by up to 2e-4.
POWER_PER_MARGIN = 200.0
#: A demand of less volume counts as so much.
_LITTLE_HM3 = 1e-6
#: Mean storage (hm3) below which no turbine stands still.
_NEVER = -1e9
_BY_STEP = ("evaporation_mm", "withdrawal_m3s", "plant_factor", "power_lower_mw")


@dataclass(frozen=True, eq=False)
class RecordConditions:
    """Conditions of years; arrays of shape (years, steps), and what holds for all steps.

    Parameters
    ----------
    evaporation_mm : ndarray
        Net evaporation.
    withdrawal_m3s : ndarray
        Withdrawal from the lake that is demanded.
    plant_factor : ndarray
        Part of a step in which the turbines can run at full load.
    power_lower_mw : ndarray
        Lowest power; 0 where none is demanded.
    area_km2, seepage_m3s : Curve
        By storage (hm3).
    operating_storage_hm3 : float
        Mean storage below which the turbines stand still.
    ramp_up_m3s, ramp_down_m3s : float
        Largest rise and fall of the release from one step to the next.
    end_value_gwh_per_hm3 : float
        What a hm3 more at the end of a horizon than at its start is worth.
    """

    evaporation_mm: FloatArray
    withdrawal_m3s: FloatArray
    plant_factor: FloatArray
    power_lower_mw: FloatArray
    area_km2: Curve
    seepage_m3s: Curve
    operating_storage_hm3: float
    ramp_up_m3s: float
    ramp_down_m3s: float
    end_value_gwh_per_hm3: float

    def __getitem__(
        self, years: int | slice | NDArray[np.integer] | tuple[NDArray[np.integer], ...]
    ) -> RecordConditions:
        """Some of the years; of years and steps, as an array is indexed."""
        return replace(self, **{name: getattr(self, name)[years] for name in _BY_STEP})

    def reshaped(self, *shape: int) -> RecordConditions:
        """The same steps in horizons of another length."""
        return replace(self, **{name: getattr(self, name).reshape(*shape) for name in _BY_STEP})

    def step(self, place: tuple[int, int]) -> StepConditions:
        """Conditions of one step, by its year and its place there, with curves that Python can call.

        A shortage is relative to the largest demand, of which nothing is said.
        """
        return StepConditions(
            self.evaporation_mm[place] * HM3_PER_KM2_MM,
            self.withdrawal_m3s[place],
            self.plant_factor[place],
            self.power_lower_mw[place],
            self.area_km2,
            self.seepage_m3s,
            self.operating_storage_hm3,
            self.ramp_up_m3s,
            self.ramp_down_m3s,
            0.0,
        )

    @property
    def ramps(self) -> bool:
        """Whether the release may change by so much only."""
        return min(self.ramp_up_m3s, self.ramp_down_m3s) < _UNLIMITED_M3S

    def fields(self, hm3_per_m3s: FloatArray, margin: float) -> dict[str, FloatArray]:
        """Rows of years by name (`rows.FIELDS`).

        The lowest power is raised by so much for a `margin` of reachable bounds that approximate curves still reach it.
        """
        demanded_hm3 = (self.withdrawal_m3s * hm3_per_m3s).max(axis=-1, keepdims=True)
        return {
            "evaporation": self.evaporation_mm * HM3_PER_KM2_MM,
            "withdrawal": self.withdrawal_m3s,
            "plant_factor": self.plant_factor,
            "power_lower": self.power_lower_mw * (1 + POWER_PER_MARGIN * margin),
            "per_shortage": hm3_per_m3s / np.maximum(demanded_hm3, _LITTLE_HM3),
        }

    @property
    def numbers(self) -> dict[str, float]:
        """Numbers of years by name (`rows.NUMBERS`)."""
        return {
            "operating_storage": self.operating_storage_hm3,
            "ramp_up": self.ramp_up_m3s,
            "ramp_down": self.ramp_down_m3s,
            "end_value": self.end_value_gwh_per_hm3,
        }

    @cached_property
    def lake(self) -> Lake:
        """The curves as compiled code reads them."""
        return Lake(self.area_km2.compiled(), self.seepage_m3s.compiled())


def stacked(years: Sequence[RecordConditions | None]) -> RecordConditions | None:
    """Conditions of years of one record that were taken one by one, at least one."""
    first = years[0]
    if first is None:
        return None
    rows: dict[str, Any] = {name: np.stack([getattr(year, name) for year in years]) for name in _BY_STEP}
    return replace(first, **rows)


def conditions_of(reservoir: Reservoir, inflow: Inflow) -> RecordConditions | None:
    """Conditions of a record's years; None where there are none.

    Raises
    ------
    InputError
        If the evaporation of the record and the area of the lake do not fit together.
    """
    if not (reservoir.has_conditions or inflow.has_conditions):
        return None
    _require_gentle(reservoir, inflow)

    level, by_step = reservoir.operating_level_m, partial(reservoir.in_years, calendar=inflow.calendar)
    return RecordConditions(
        _evaporation_mm(reservoir, inflow),
        by_step(reservoir.withdrawal_m3s) if inflow.withdrawal_m3s is None else inflow.withdrawal_m3s,
        by_step(reservoir.plant_factor),
        by_step(reservoir.power_lower_mw),
        lake_area(reservoir),
        lake_seepage(reservoir),
        _NEVER if level is None else storage_at_level(reservoir, level),
        _limit(reservoir.ramp_up_m3s),
        _limit(reservoir.ramp_down_m3s),
        reservoir.end_value_gwh_per_hm3 or 0.0,
    )


def _evaporation_mm(reservoir: Reservoir, inflow: Inflow) -> FloatArray:
    """Net evaporation of each step, that of a month in parts by days; the record's own if it has it."""
    if inflow.evaporation_mm is not None:
        return inflow.evaporation_mm
    given = reservoir.evaporation_mm
    depth = reservoir.in_years(given, inflow.calendar)
    return depth * inflow.calendar.part_of_month if len(given) == MONTHS_PER_YEAR else depth


def _limit(most_m3s: float | None) -> float:
    return _UNLIMITED_M3S if most_m3s is None else most_m3s


def _require_gentle(reservoir: Reservoir, inflow: Inflow) -> None:
    """Refuse evaporation of a record that would take most of what each further hm3 adds, as a reservoir's own is."""
    if inflow.evaporation_mm is None:
        return
    ends = float(reservoir.storage_lower_hm3.min()), float(reservoir.storage_upper_hm3.max())
    lost = most_evaporated(lake_area(reservoir), *ends, inflow.evaporation_mm)
    if not lost <= MOST_LOST:
        problem, expected = f"evaporation {loss_problem(lost)}", f"at most {100 * MOST_LOST:g} %"
        raise InputError(Mistake(problem, expected, LOSS_MEND, inflow.source, column="evaporation_mm"))
