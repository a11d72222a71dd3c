"""Write a reservoir as a reservoir file (TOML) that `read_reservoir` reads back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.curves.curve import Curve, Polynomial, PowerLaw, Table
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.identity import differing_parts, reservoir_digests
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_checks.curve_constraints import CURVE_CONSTRAINTS
from reservoir.hydro.reservoir_checks.curves import CONVERSIONS
from reservoir.hydro.reservoir_checks.whole import storages_of
from reservoir.hydro.reservoir_kinds import CalendarKind
from reservoir.hydro.time_step import TimeStep
from reservoir.io.output import write_new
from reservoir.io.reservoir_toml.objective import objective_keys, weight_keys
from reservoir.io.reservoir_toml.reader import reservoir_of

Value = str | float | Sequence[float] | None


def write_reservoir(reservoir: Reservoir, path: str | Path | None = None, *, force: bool = False) -> str:
    """Write a reservoir as a reservoir file, completely or not at all.

    Parameters
    ----------
    reservoir : Reservoir
    path : str or Path, optional
        The file; without it, nothing is written.
    force : bool
        Replace an existing file.

    Returns
    -------
    str
        The text of the file (TOML), in hm3, m3/s and m. `read_reservoir` reads the same reservoir from it.

    Raises
    ------
    InputError
        If no reservoir file can contain this reservoir: a name with other characters than letters, digits, ``-`` and
        ``_``, a level that is constant over a range of storages, a curve of the user's own class.
    OutputError
        If the file exists and `force` is off, or cannot be written.
    """
    text = _text(reservoir)
    _check_same(reservoir, text)
    if path is not None:
        write_new(Path(path), text, force=force, choose="choose another path", replace="replace the file by force=True")
    return text


def _check_same(reservoir: Reservoir, text: str) -> None:
    """Read the text back, and refuse it if it is not the reservoir."""
    try:
        back = reservoir_of(text.encode(), "")
    except InputError as refused:
        mistakes = [
            replace(each, problem=f"a reservoir file cannot contain it: {each.problem}") for each in refused.mistakes
        ]
        raise InputError(mistakes) from None
    apart = differing_parts(back, reservoir_digests(reservoir))
    if apart:
        problem = f"a reservoir file cannot contain its {', '.join(apart)} exactly"
        raise InputError(Mistake(problem, "numbers that text of a file gives back", "round the numbers"))


def _text(reservoir: Reservoir) -> str:
    sections = [_section(name, keys) for name, keys in _sections(reservoir) if any(map(_given, keys.values()))]
    return "\n".join(sections)


def _sections(reservoir: Reservoir) -> Iterator[tuple[str, Mapping[str, Value]]]:
    plant = reservoir
    dead, full = storages_of(vars(plant))
    yield (
        "",
        {
            "name": plant.name,
            "description": plant.description,
            "caveat": plant.caveat,
            "first_month": plant.first_month,
            "calendar": None if plant.calendar is CalendarKind.REAL else str(plant.calendar),
            "step": None if plant.step is TimeStep.MONTH else str(plant.step),
        },
    )
    yield (
        "plant",
        {
            "installed_capacity_mw": plant.installed_mw,
            "guaranteed_energy_gwh": plant.guaranteed_energy_gwh,
            "guaranteed_power_mw": plant.guaranteed_power_mw,
            "plant_factor": _unless(plant.plant_factor, 1.0),
            "power_lower_mw": _unless(plant.power_lower_mw, 0.0),
            "operating_level_m": plant.operating_level_m,
        },
    )
    yield "marks", vars(plant.marks)
    yield (
        "storage",
        {
            "dead_hm3": dead,
            "full_hm3": full,
            "lower_hm3": _by_step(plant.storage_lower_hm3.tolist()),
            "upper_hm3": _by_step(plant.storage_upper_hm3.tolist()),
            "year_end": str(plant.year_end),
            "initial_hm3": plant.initial_storage_hm3,
            "final_hm3": plant.final_storage_hm3,
            f"end_value_{'gwh_' * (plant.objective.unit == 'GWh')}per_hm3": plant.end_value_gwh_per_hm3,
        },
    )
    yield "horizon", {"span": _span(plant.horizon)}
    yield (
        "release",
        {
            "lower_m3s": _by_step(plant.release_lower_m3s.tolist()),
            "upper_m3s": _by_step(plant.release_upper_m3s.tolist()),
            "ramp_up_m3s": plant.ramp_up_m3s,
            "ramp_down_m3s": plant.ramp_down_m3s,
        },
    )
    yield (
        "losses",
        {
            "evaporation_mm": _unless(plant.evaporation_mm, 0.0),
            "withdrawal_m3s": _unless(plant.withdrawal_m3s, 0.0),
        },
    )
    yield "objective", objective_keys(plant)
    yield "objective.weights", weight_keys(plant.objective)
    curves = {
        "level": plant.level,
        "tailrace": plant.tailrace,
        CONVERSIONS[plant.conversion_kind]: plant.conversion,
        "capacity": plant.capacity_m3s,
        "area": plant.area_km2,
        "seepage": plant.seepage_m3s,
    }
    for name, curve in curves.items():
        if curve is not None:
            yield f"curves.{name}", _curve(name, curve)


def _curve(name: str, curve: Curve) -> Mapping[str, Value]:
    constraint = CURVE_CONSTRAINTS[name]
    suffix = constraint.x.partition("_")[2]
    domain = {f"domain_{suffix}": curve.domain}
    if isinstance(curve, Table):
        return {"kind": "table", constraint.x: curve.x, constraint.y: curve.y}
    if isinstance(curve, Polynomial):
        return {"kind": "polynomial", "coefficients": curve.coefficients, **domain}
    if isinstance(curve, PowerLaw):
        offset = "offset_m" if constraint.y == "level_m" else "offset"
        constants = {offset: curve.offset, "factor": curve.factor, f"origin_{suffix}": curve.origin}
        return {"kind": "power", **constants, "exponent": curve.exponent, **domain}
    mend = "give its points as a Table"
    problem = "a reservoir file cannot contain a curve of this class"
    found = type(curve).__name__
    raise InputError(Mistake(problem, "a Table, Polynomial or PowerLaw", mend, column=f"curves.{name}", value=found))


def _span(horizon: Horizon) -> Value:
    return str(horizon) if horizon.years in (1, None) else horizon.years


def _by_step(values: list[float]) -> Value:
    return values[0] if len(set(values)) == 1 else values


def _unless(values: NDArray[np.float64], usual: float) -> Value:
    """Values by month or by step, or nothing where they are as usual."""
    return None if np.all(values == usual) else _by_step(values.tolist())


def _given(value: Value) -> bool:
    return value is not None and value not in ("", ())


def _section(name: str, keys: Mapping[str, Value]) -> str:
    lines = [f"{key} = {_written(value)}\n" for key, value in keys.items() if _given(value)]
    return "".join([f"[{name}]\n" if name else "", *lines])


def _written(value: Value) -> str:
    """Write a value so that it is read back exactly."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return repr(value)
    return f"[{', '.join(map(repr, value or ()))}]"
