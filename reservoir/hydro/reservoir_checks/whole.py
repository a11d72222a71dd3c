"""Check the fields of a reservoir together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.hydro.curves.curve import Curve
from reservoir.hydro.reservoir_checks.claims import CLAIMS, Lake, failures
from reservoir.hydro.reservoir_checks.condition_claims import CONDITION_CLAIMS
from reservoir.hydro.reservoir_checks.curve_constraints import CURVE_CONSTRAINTS
from reservoir.hydro.reservoir_checks.curves import (
    CONVERSIONS,
    SLACK,
    Domain,
    coverage_mistakes,
    curve_mistakes,
    heads_of,
    lake_above_tailrace,
    most_power_mw,
)
from reservoir.hydro.reservoir_checks.fields import sound_fields
from reservoir.hydro.reservoir_checks.list_lengths import comparable
from reservoir.hydro.reservoir_checks.objective_claims import OBJECTIVE_CLAIMS
from reservoir.hydro.reservoir_checks.turbine_heads import Turbines, turbines_of
from reservoir.hydro.wording import FieldWords

_CURVES = ("level", "tailrace", "conversion", "capacity_m3s")


def checked(fields: Mapping[str, object]) -> dict[str, Any]:
    """Check the fields of a `Reservoir` together.

    Returns
    -------
    dict
        The fields, numbers and choices as their types, arrays as read-only copies.

    Raises
    ------
    InputError
        With every mistake, by its field.
    """
    sound, mistakes = sound_fields(fields)
    marks = sound.get("marks")
    shown = {**sound, **({f"marks.{name}": value for name, value in vars(marks).items()} if marks else {})}
    parts = {**sound, "words": FieldWords(values=shown, names={"lake_hm3": "level"})}
    if "level" in sound:
        parts["lake"] = _lake(sound["level"])
    parts, unequal = comparable(parts, parts["words"])
    mistakes += unequal
    mistakes += failures(CLAIMS + CONDITION_CLAIMS + OBJECTIVE_CLAIMS, parts)
    if not mistakes:
        mistakes += _mistakes_of_curves(parts)
    if mistakes:
        raise InputError(mistakes)
    return sound


def _lake(level: Curve) -> Lake:
    """What the level curve describes, and what it may miss by rounding."""
    low, high = level.domain
    slack = SLACK * (high - low)
    return Lake(low - slack, high + slack, "start of the level curve", "end of the level curve")


def _mistakes_of_curves(parts: Mapping[str, Any]) -> list[Mistake]:
    """State what is wrong with the curves; all limits are sound."""
    words = parts["words"]
    storages, releases = storages_of(parts), _releases(parts)
    constraints = dict(
        zip(_CURVES, ("level", "tailrace", CONVERSIONS[parts["conversion_kind"]], "capacity"), strict=True)
    )
    found: list[Mistake] = []
    heads: Domain | None = None
    for name, constraint in constraints.items():
        needed = {"level": storages, "tailrace": releases}.get(name)
        found += curve_mistakes(CURVE_CONSTRAINTS[constraint], parts[name], needed, _words_of(name, constraint))
        if name == "tailrace" and not found:
            found += lake_above_tailrace(parts["level"], parts["tailrace"], storages, releases, words)
            heads = None if found else heads_of(parts["level"], parts["tailrace"], storages, releases)
    if heads is not None and not found:
        turbines = turbines_of(parts, heads, releases[1])
        for name, covered in (
            ("conversion", turbines.heads_of_conversion),
            ("capacity_m3s", turbines.heads_of_capacity),
        ):
            constraint = constraints[name]
            of_curve = _words_of(name, constraint)
            found += coverage_mistakes(CURVE_CONSTRAINTS[constraint], parts[name], covered, of_curve)
    for name, constraint in (("area_km2", "area"), ("seepage_m3s", "seepage")):
        if parts[name] is not None:
            of_curve = _words_of(name, constraint)
            found += curve_mistakes(CURVE_CONSTRAINTS[constraint], parts[name], storages, of_curve)
    if found:
        return found
    most = {"installed_mw": parts["installed_mw"], "most_power_mw": most_power_of(parts), "words": words}
    return failures(CLAIMS, most)


def _words_of(field: str, constraint: str) -> FieldWords:
    return FieldWords(field, names={CURVE_CONSTRAINTS[constraint].x: "x", CURVE_CONSTRAINTS[constraint].y: "y"})


def turbines_within(parts: Mapping[str, Any]) -> tuple[Turbines, Domain]:
    """The turbines and all heads (m) that storages and releases allow, by the fields of a reservoir."""
    storages, releases = storages_of(parts), _releases(parts)
    heads = heads_of(parts["level"], parts["tailrace"], storages, releases)
    return turbines_of(parts, heads, releases[1]), heads


def most_power_of(parts: Mapping[str, Any]) -> float:
    """Power (MW) that water and head never exceed, by the fields of a reservoir."""
    storages, releases = storages_of(parts), _releases(parts)
    heads = heads_of(parts["level"], parts["tailrace"], storages, releases)
    return most_power_mw(parts["conversion"], parts["conversion_kind"], parts["capacity_m3s"], heads, releases[1])


def storages_of(parts: Mapping[str, Any]) -> Domain:
    """Between which storages (hm3) a reservoir is."""
    ends = [parts[name] for name in ("initial_storage_hm3", "final_storage_hm3") if parts[name] is not None]
    least, most = float(parts["storage_lower_hm3"].min()), float(parts["storage_upper_hm3"].max())
    return min([least, *ends]), max([most, *ends])


def _releases(parts: Mapping[str, Any]) -> Domain:
    return float(parts["release_lower_m3s"].min()), float(parts["release_upper_m3s"].max())
