"""Build the curves of a reservoir file, each on the range in which it is evaluated."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.hydro.curves.checks import point_mistakes
from reservoir.hydro.curves.curve import Curve, constant
from reservoir.hydro.reservoir_checks.curve_constraints import CURVE_CONSTRAINTS
from reservoir.hydro.reservoir_checks.curves import (
    CONVERSIONS,
    Domain,
    coverage_mistakes,
    curve_mistakes,
    heads_of,
    lake_above_tailrace,
    most_power_mw,
)
from reservoir.hydro.reservoir_checks.turbine_heads import turbines_of
from reservoir.hydro.reservoir_kinds import ConversionKind
from reservoir.io.reservoir_toml.curve_schema import Form, Points, PowerCurve
from reservoir.io.reservoir_toml.draft import Draft
from reservoir.io.reservoir_toml.schema import File, PlantSection, ReleaseSection, StorageSection
from reservoir.io.reservoir_toml.turbine import turbine_curves

#: A file's level curve has no level stretch: there a level would say nothing of the storage.
FILE_LAWS = {
    **CURVE_CONSTRAINTS,
    "level": replace(
        CURVE_CONSTRAINTS["level"],
        claim="a level that increases with the storage",
        holds=operator.lt,
        broken="does not increase",
    ),
}


def curves_of(file: File, draft: Draft) -> tuple[dict[str, Any], list[Mistake]]:
    """Build every curve that can be built, and state what is wrong with the others.

    Returns
    -------
    dict
        The sound ones and the kind of conversion, by the fields of `Reservoir`; and, where all are sound,
        ``most_power_mw``, what they and the limits can ever give.
    list of Mistake
    """
    found: dict[str, Any] = {"conversion_kind": ConversionKind.RATE}
    mistakes: list[Mistake] = []

    def build(field: str, name: str, needed: Domain | None) -> None:
        curve, wrong = inspected(name, getattr(file.curves, name), needed, draft)
        mistakes.extend(wrong)
        if curve:
            found[field] = curve

    storages, releases = _storages(file.storage), _releases(file.release)
    build("level", "level", storages)
    build("tailrace", "tailrace", releases)
    heads: Domain | None = None
    if "level" in found and "tailrace" in found and storages and releases:
        ends = found["level"], found["tailrace"], storages, releases
        apart = list(lake_above_tailrace(*ends, replace(draft, section="curves")))
        mistakes += apart
        heads = None if apart else heads_of(*ends)
    of_turbines, wrong = _turbines(file, draft, heads, releases)
    found |= of_turbines
    mistakes += wrong
    build("area_km2", "area", storages)
    build("seepage_m3s", "seepage", storages)
    if file.losses.seepage_m3s is not None and storages and file.curves.seepage is None:
        found["seepage_m3s"] = constant(file.losses.seepage_m3s, storages)
    if "conversion" in found and "capacity_m3s" in found and heads and releases:
        conversion = found["conversion"], found["conversion_kind"]
        found["most_power_mw"] = most_power_mw(*conversion, found["capacity_m3s"], heads, releases[1])
        if file.plant and file.plant.installed_mw:
            mistakes += _uncovered(file.plant, found, heads, releases, draft)
    return found, mistakes


def _turbines(
    file: File, draft: Draft, heads: Domain | None, releases: Domain | None
) -> tuple[dict[str, Any], list[Mistake]]:
    """Build the conversion to power and the hydraulic capacity."""
    found: dict[str, Any] = {}
    mistakes: list[Mistake] = []
    if file.curves.turbine is not None:
        curves, mistakes = turbine_curves(file.curves.turbine, draft)
        if curves:
            found = {"conversion_kind": ConversionKind.COEFFICIENT}
            found["capacity_m3s"], found["conversion"] = curves
        return found, mistakes

    def build(field: str, name: str) -> None:
        curve, wrong = inspected(name, getattr(file.curves, name), heads, draft, whole=False)
        mistakes.extend(wrong)
        if curve:
            found[field] = curve

    for meaning, name in CONVERSIONS.items():
        value = getattr(file.plant, name, None)
        if getattr(file.curves, name) is not None:
            found["conversion_kind"] = meaning
            build("conversion", name)
        elif value is not None and heads:
            found |= {"conversion_kind": meaning, "conversion": constant(value, heads)}
    if file.curves.capacity is not None:
        build("capacity_m3s", "capacity")
    elif file.plant and releases and heads:
        # Left out, the hydraulic capacity never binds, nor does its part by the plant factor: the installed capacity
        # and the release do.
        running = min((part for part in file.plant.running_factor or () if part > 0), default=1.0)
        found["capacity_m3s"] = constant(file.plant.turbine_capacity_m3s or releases[1] / running, heads)
    return found, mistakes


def _uncovered(
    plant: PlantSection, found: Mapping[str, Any], heads: Domain, releases: Domain, draft: Draft
) -> Iterator[Mistake]:
    """State which curve of the turbines misses heads that matter."""
    of_plant = {"operating_level_m": plant.operating_level_m, "plant_factor": plant.running_factor}
    turbines = turbines_of({**found, **of_plant, "installed_mw": plant.installed_mw}, heads, releases[1])
    covered = {"conversion": turbines.heads_of_conversion, "capacity_m3s": turbines.heads_of_capacity}
    names = {"conversion": CONVERSIONS[found["conversion_kind"]], "capacity_m3s": "capacity"}
    for field, needed in covered.items():
        section = "turbine" if draft.has("curves.turbine") else names[field]
        words = replace(draft, section=f"curves.{section}")
        yield from coverage_mistakes(FILE_LAWS[names[field]], found[field], needed, words)


def _storages(storage: StorageSection | None) -> Domain | None:
    if storage is None or not storage.is_lake:
        return None
    return storage.dead_hm3, storage.full_hm3


def _releases(release: ReleaseSection | None) -> Domain | None:
    if release is None or not 0 <= min(release.lower_m3s) < max(release.upper_m3s):
        return None
    return min(release.lower_m3s), max(release.upper_m3s)


def inspected(
    name: str, block: Form | None, needed: Domain | None, draft: Draft, *, whole: bool = True
) -> tuple[Curve | None, list[Mistake]]:
    """Build a curve and check it against its law.

    Parameters
    ----------
    name : str
        A key of `FILE_LAWS`.
    block : Points, Formula or None
        The curve's section; None where it is missing or broken.
    needed : pair of float or None
        The range on which the curve will be asked; None where a mistake elsewhere leaves it unknown.
    draft : Draft
        The file, for messages.
    whole : bool
        Whether a curve that does not cover the range is a mistake.

    Returns
    -------
    Curve or None
        None where there is a mistake, or a formula's domain is unknown.
    list of Mistake
        Everything that is wrong with this curve.
    """
    if block is None:
        return None, []
    words, law = replace(draft, section=f"curves.{name}"), FILE_LAWS[name]
    mistakes = list(point_mistakes(law.x, block.x, law.y, block.y, words)) if isinstance(block, Points) else []
    domain = None if mistakes else block.reach(needed)
    if domain is None:
        return None, mistakes
    if isinstance(block, PowerCurve) and block.origin > domain[0]:
        key = f"{type(block).model_fields['origin'].alias}"
        expected = f"at most {words.amount(law.x, domain[0])}"
        return None, [words.mistake(key, "is above values at which the curve is evaluated", expected)]
    try:
        curve = block.curve(domain)
    except InputError:
        # Sound numbers that are none any more in the program's units.
        mend = "check the numbers and their units"
        return None, [words.mistake("", "does not give a finite number everywhere", mend=mend)]
    mistakes += curve_mistakes(law, curve, needed if whole else None, words)
    return (None if mistakes else curve), mistakes
