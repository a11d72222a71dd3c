"""Read a reservoir file (TOML), and report all its mistakes at once."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import HOURS_OF_MONTHS, MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_checks.claims import CLAIMS, Claim, Lake, failures, offending
from reservoir.hydro.reservoir_checks.condition_claims import CONDITION_CLAIMS
from reservoir.hydro.reservoir_checks.list_lengths import comparable
from reservoir.hydro.reservoir_checks.objective_claims import OBJECTIVE_CLAIMS
from reservoir.hydro.reservoir_kinds import ReferenceLevels
from reservoir.hydro.time_step import TimeStep
from reservoir.io.reservoir_toml.curves import curves_of
from reservoir.io.reservoir_toml.draft import Draft
from reservoir.io.reservoir_toml.objective import (
    objective_of,
    one_end_value,
    one_penalty,
    one_way_to_state_goals,
    penalty_of,
)
from reservoir.io.reservoir_toml.schema import File, PlantSection, StorageSection
from reservoir.io.reservoir_toml.wording import validated
from reservoir.text.data_file import read_limited

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


#: A reservoir with long curves takes some 20 kB.
MOST_BYTES = 1_000_000
#: A dotted key of more parts takes the decoder ever longer: its time grows with their square.
MOST_PARTS = 32
#: Python converts no integer of more than 4,300 digits, and no quantity needs a tenth of them.
MOST_DIGITS = 400

_START_ANEW = '"reservoir new NAME" writes a commented file to start from'
_PART = r"""(?:[\w-]++|"(?:[^"\\]|\\.)*+"|'[^']*+')"""
_LONG_KEY = re.compile(rf"(?:^|[,=\[\]{{}}])[ \t]*+{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_PARTS}}}")

#: What is wrong with a line, by how the decoder's message begins.
_SYNTAX = {
    "Cannot overwrite": "repeats a key",
    "Cannot mutate": "repeats a key",
    "Cannot declare": "repeats a section",
    "Expected newline or end of document": "has extra text after the value",
    "Expected '='": "has a key without = and a value",
    "Invalid value": "has no value, or one that is not a number, text or list",
    "Invalid statement": "is neither key = value nor [section]",
    "Unclosed array": "is in a list without closing ]",
    "Unterminated string": "is in a text without closing quote",
}


def file_content(path: str | Path) -> bytes:
    """Read the bytes; a hash is of these, before any decoding.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read, or it is too large.
    """
    try:
        return read_limited(path, MOST_BYTES)
    except FileNotFoundError:
        problem, mend = "does not exist", f"check the path; {_START_ANEW}"
    except IsADirectoryError:
        problem, mend = "is a folder, not a file", "give the TOML file in it"
    except OSError as error:
        problem, mend = f"cannot be read: {error.strerror}", ""
    except ValueError as error:
        problem, mend = f"cannot be read: {error}", "check the path"
    raise InputError(Mistake(problem, "a reservoir file (TOML)", mend, file=str(path)))


def parsed(content: bytes, file: str) -> dict[str, Any]:
    """Decode a file's bytes.

    Raises
    ------
    InputError
        If they are not TOML, or hold what no reservoir file needs and no decoder takes.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        mend = "save the file as UTF-8"
        raise InputError(Mistake("is not UTF-8 text", mend=mend, file=file, row=row)) from None
    _require_decodable(text, file)
    try:
        tree = tomllib.loads(text)
    except RecursionError:
        mend = "write the sections and lists without nesting"
        raise InputError(Mistake("has too many nested lists or sections", mend=mend, file=file)) from None
    except ValueError as error:
        raise InputError(_not_toml(str(error), text, file)) from None
    if not tree:
        raise InputError(Mistake("is empty", "a reservoir file (TOML)", _START_ANEW, file=file))
    return tree


def _require_decodable(text: str, file: str) -> None:
    for row, line in enumerate(text.split("\n"), 1):
        digits = re.search(rf"[\d_]{{{MOST_DIGITS + 1},}}|0[xX][\da-fA-F_]{{{MOST_DIGITS + 1},}}", line)
        if digits:
            problem = f"has a number of {len(digits[0]):,} digits"
            raise InputError(Mistake(problem, f"at most {MOST_DIGITS}", "round it", file=file, row=row))
        if line.count(".") >= MOST_PARTS and _LONG_KEY.search(line):
            problem = f"has a key of more than {MOST_PARTS} parts"
            raise InputError(Mistake(problem, "section.key", "write it below its [section]", file=file, row=row))


def _not_toml(message: str, text: str, file: str) -> Mistake:
    """Take the place out of the decoder's message, and show the line that it stopped at."""
    lines = text.rstrip().split("\n")
    place = re.search(r" \(at (?:line (\d+)|end of document)", message)
    row = min(int(place[1]), len(lines)) if place and place[1] else len(lines)
    said = message[: place.start()] if place else message
    found = lines[row - 1].strip() or None
    problem = next((words for begin, words in _SYNTAX.items() if said.startswith(begin)), f"is not TOML: {said}")
    expected = 'key = value, with text in "quotes", lists in [brackets] and decimals with a point'
    return Mistake(problem, "" if problem.startswith("repeats") else expected, file=file, row=row, value=found)


#: Where a file has the fields of `Reservoir`.
_KEYS = {
    "installed_mw": "plant.installed_capacity_mw",
    "guaranteed_energy_gwh": "plant.guaranteed_energy_gwh",
    "guaranteed_power_mw": "plant.guaranteed_power_mw",
    "lake_hm3": "storage.dead_hm3",
    "storage_lower_hm3": "storage.lower_hm3",
    "storage_upper_hm3": "storage.upper_hm3",
    "initial_storage_hm3": "storage.initial_hm3",
    "final_storage_hm3": "storage.final_hm3",
    "release_lower_m3s": "release.lower_m3s",
    "release_upper_m3s": "release.upper_m3s",
    "evaporation_mm": "losses.evaporation_mm",
    "withdrawal_m3s": "losses.withdrawal_m3s",
    "plant_factor": "plant.plant_factor",
    "power_lower_mw": "plant.power_lower_mw",
    "operating_level_m": "plant.operating_level_m",
    "end_value_gwh_per_hm3": "storage.end_value_gwh_per_hm3",
}


def read_reservoir(path: str | Path, *, step: TimeStep | str | None = None) -> Reservoir:
    """Read and check a reservoir file.

    Parameters
    ----------
    path : str or Path
        A TOML file; data/template.toml explains every key.
    step : TimeStep or str, optional
        Time step to plan for, in place of the one in the file.

    Returns
    -------
    Reservoir
        Volumes in hm3, flows in m3/s, whatever the file's units; its arrays cannot be written.

    Raises
    ------
    InputError
        With every mistake in the file.
    """
    if step is not None and step not in tuple(TimeStep):
        raise InputError(Mistake("is unknown", " or ".join(TimeStep), "give one of these", column="step", value=step))
    return reservoir_of(file_content(path), str(path), None if step is None else TimeStep(step))


def reservoir_of(content: bytes, source: str, step: TimeStep | None = None) -> Reservoir:
    """Check what a reservoir file holds; `source` names it. Raises as `read_reservoir` does."""
    draft = Draft.of(parsed(content, source), source)
    file, refused = validated(draft)
    file = file if step is None else file.model_copy(update={"step": step})
    curves, astray = curves_of(file, draft)
    sound = _fields(file) | curves
    of_file = failures((*CHECKS, one_way_to_state_goals, one_penalty, one_end_value), _sections(file, draft))
    words = replace(draft, keys=_keys(draft))
    parts, unequal = comparable(sound, words)
    of_reservoir = failures(CLAIMS + CONDITION_CLAIMS + OBJECTIVE_CLAIMS, parts | {"words": words})
    mistakes = [*draft.mistakes, *refused, *of_file, *unequal, *of_reservoir, *astray]
    if mistakes:
        raise InputError(draft.in_order(mistakes))
    sound = {"area_km2": None, "seepage_m3s": None} | sound
    given = {each.name: sound[each.name] for each in fields(Reservoir) if each.name in sound}
    return Reservoir(**given, source=source, sha256=hashlib.sha256(content).hexdigest(), content=content)


def _sections(file: File, draft: Draft) -> dict[str, Any]:
    """What is sound of the file, by section."""
    sections = {name: getattr(file, name) for name in File.model_fields}
    return {"draft": draft, **{name: section for name, section in sections.items() if section is not None}}


def _fields(file: File) -> dict[str, Any]:
    """What is sound of the file but for its curves, by the fields of `Reservoir`, and what else claims name."""
    parts = {name: getattr(file, name) for name in ("name", "description", "caveat", "first_month", "calendar", "step")}
    parts["horizon"] = Horizon.of(file.horizon.span)
    parts["objective"] = objective_of(file.objective)
    parts["marks"] = ReferenceLevels(**file.marks.model_dump())
    if file.plant:
        installed = file.plant.installed_mw
        if installed is not None:
            parts["installed_mw"] = installed
            parts["penalty"] = penalty_of(file.objective, parts["objective"], installed, file.step.per_year)
        parts["guaranteed_energy_gwh"] = file.plant.guaranteed_energy_gwh
        parts["guaranteed_power_mw"] = file.plant.guaranteed_power_mw
        parts["operating_level_m"] = file.plant.operating_level_m
        parts |= _by_step(power_lower_mw=file.plant.power_lower_mw, plant_factor=file.plant.running_factor)
    if file.storage:
        parts |= _of_storage(file.storage)
    parts |= _by_step(evaporation_mm=file.losses.evaporation_mm, withdrawal_m3s=file.losses.withdrawal_m3s)
    if file.release:
        parts["ramp_up_m3s"], parts["ramp_down_m3s"] = file.release.ramp_up_m3s, file.release.ramp_down_m3s
        parts["release_lower_m3s"] = np.array(file.release.lower_m3s)
        parts["release_upper_m3s"] = np.array(file.release.upper_m3s)
    return parts


def _by_step(**given: Sequence[float] | None) -> dict[str, Any]:
    """Values by month, or by step, of each key of the file, or what a reservoir has without the key."""
    defaults = {each.name: each.default_factory for each in fields(Reservoir)}
    return {name: defaults[name]() if values is None else np.array(values) for name, values in given.items()}  # type: ignore[operator,misc]


def _of_storage(storage: StorageSection) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "year_end": storage.year_end,
        "initial_storage_hm3": storage.initial_hm3,
        "final_storage_hm3": storage.final,
        "end_value_gwh_per_hm3": storage.end_value,
    }
    if storage.is_lake:
        parts["lake"] = Lake(storage.dead_hm3, storage.full_hm3)
    if storage.is_lake and storage.bounds_within_lake:
        parts["storage_lower_hm3"], parts["storage_upper_hm3"] = np.array(storage.lower), np.array(storage.upper)
    return parts


def _keys(draft: Draft) -> dict[str, str]:
    # Left out, the final storage is the initial one.
    final = "storage.final_hm3" if draft.has("storage.final_hm3") else "storage.initial_hm3"
    return _KEYS | {"final_storage_hm3": final}
