"""The fields of a reservoir, one by one: type, range, and arrays as read-only copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro import ranges
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.objectives import Objective
from reservoir.hydro.ranges import Range
from reservoir.hydro.reservoir_kinds import CalendarKind, ConversionKind, ReferenceLevels, YearEnd
from reservoir.hydro.time_step import TimeStep
from reservoir.hydro.wording import plain
from reservoir.text.quantities import counted, first_unprintable

#: Shapes of lists by month, or by step.
LIST_SHAPES = frozenset((step.per_year,) for step in TimeStep)


def _refused(problem: str, expected: str = "") -> InputError:
    return InputError(Mistake(problem, expected))


def text_fault(text: str, longest: int = ranges.LONGEST_TEXT) -> Mistake | None:
    """Why a text cannot be shown on a screen, in a report and on a figure; None where it can."""
    character = first_unprintable(text)
    if character:
        return Mistake(f"has the unprintable character {character}", mend="remove it")
    if len(text) > longest:
        return Mistake(f"has {len(text):,} characters", f"at most {longest:,}", "shorten it")
    return None


def _text(longest: int, value: object) -> str:
    if not isinstance(value, str):
        raise _refused("is not text", "text")
    fault = text_fault(value, longest)
    if fault:
        raise InputError(fault)
    return value


def _name(value: object) -> str:
    name = _text(ranges.LONGEST_NAME, value)
    if not name.strip():
        raise _refused("is empty", "a short name for the reservoir")
    return name


def _number(allowed: Range, value: object) -> float:
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise _refused("is not a number", "a number")
    # An integer may be too large for a float, but it is never too large to compare.
    if not allowed.least <= value <= allowed.most:
        raise _refused("is out of range", f"{plain(allowed.least)} to {plain(allowed.most)}")
    return float(value)


def _number_or_none(allowed: Range, value: object) -> float | None:
    return None if value is None else _number(allowed, value)


def _month(value: object) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 1 <= value <= MONTHS_PER_YEAR:
        raise _refused("is not a month", f"a whole number, 1 to {MONTHS_PER_YEAR}")
    return int(value)


def _by_step(value: object) -> Any:
    expected = f"{MONTHS_PER_YEAR} finite numbers, January first, or one a step"
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _refused("is not an array of numbers", expected) from None
    if array.shape not in LIST_SHAPES:
        found = counted(array.size, "value") if array.ndim == 1 else f"the shape {array.shape}"
        raise _refused(f"has {found}", expected)
    if not np.isfinite(array).all():
        raise _refused("has a value that is not a finite number", expected)
    array.setflags(write=False)
    return array


def _choice(choices: type[Enum], value: object) -> Enum:
    try:
        return choices(value)
    except ValueError:
        raise _refused("is not one of the choices", ", ".join(str(each.value) for each in choices)) from None


def _curve(value: object) -> object:
    if not callable(value) or not all(hasattr(value, name) for name in ("domain", "compiled")):
        raise _refused("is not a curve", "a Table, a Polynomial, a PowerLaw or another Curve")
    return value


def _curve_or_none(value: object) -> object:
    return None if value is None else _curve(value)


def _marks(value: object) -> ReferenceLevels:
    if not isinstance(value, ReferenceLevels):
        raise _refused("is not a set of reference levels", "ReferenceLevels(...)")
    levels = {name: _number_or_none(ranges.LEVEL_M, getattr(value, name)) for name in ("normal_m", "flood_m", "dead_m")}
    return ReferenceLevels(**levels, flood_months=tuple(_month(month) for month in value.flood_months))


def _objective(value: object) -> Objective:
    if not isinstance(value, Objective):
        raise _refused("is not an objective", "Objective(...)")
    return value


def _bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise _refused("is not bytes", "the bytes of the file it was read from")
    return value


#: How every field is made what it should be.
_FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "name": _name,
    **dict.fromkeys(("level", "tailrace", "conversion", "capacity_m3s"), _curve),
    "conversion_kind": partial(_choice, ConversionKind),
    "installed_mw": partial(_number, ranges.POWER_MW),
    **dict.fromkeys(("storage_lower_hm3", "storage_upper_hm3", "release_lower_m3s", "release_upper_m3s"), _by_step),
    **dict.fromkeys(("initial_storage_hm3", "final_storage_hm3"), partial(_number_or_none, ranges.STORAGE_HM3)),
    **dict.fromkeys(("area_km2", "seepage_m3s"), _curve_or_none),
    **dict.fromkeys(("evaporation_mm", "withdrawal_m3s", "plant_factor", "power_lower_mw"), _by_step),
    "operating_level_m": partial(_number_or_none, ranges.LEVEL_M),
    **dict.fromkeys(("ramp_up_m3s", "ramp_down_m3s"), partial(_number_or_none, ranges.RAMP_M3S)),
    "end_value_gwh_per_hm3": partial(_number_or_none, ranges.END_VALUE_PER_HM3),
    "year_end": partial(_choice, YearEnd),
    "penalty": partial(_number, ranges.PENALTY),
    "objective": _objective,
    "horizon": Horizon.of,
    "first_month": _month,
    "calendar": partial(_choice, CalendarKind),
    "step": partial(_choice, TimeStep),
    "guaranteed_energy_gwh": partial(_number_or_none, ranges.ENERGY_GWH),
    "guaranteed_power_mw": partial(_number_or_none, ranges.POWER_MW),
    "marks": _marks,
    **dict.fromkeys(("description", "caveat"), partial(_text, ranges.LONGEST_TEXT)),
    "content": _bytes,
}


def sound_fields(fields: Mapping[str, object]) -> tuple[dict[str, Any], list[Mistake]]:
    """Bring fields to their types, and state what cannot be brought."""
    sound: dict[str, Any] = {}
    mistakes: list[Mistake] = []
    for name, value in fields.items():
        try:
            sound[name] = _FIELDS[name](value) if name in _FIELDS else value
        except InputError as refused:
            shown = value if isinstance(value, str | int | float) else None
            mistakes += (replace(mistake, column=name, value=shown) for mistake in refused.mistakes)
    return sound, mistakes
