"""Read a reservoir file (TOML), and report all its mistakes at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from operator import lt
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro import attributes
from reservoir.hydro.attributes import (
    ATTRIBUTES,
    CONVERSIONS,
    CURVES,
    Attribute,
    FileKind,
    Kind,
    Words,
    YearEnd,
    curve_keys,
)
from reservoir.hydro.calendar import HOURS_OF_MONTHS, MONTH_NAMES, MONTHS_PER_YEAR, TimeStep
from reservoir.hydro.checks import LakeRange, mistakes_between, offending, value_of
from reservoir.hydro.curve_checks import ROUNDING, Domain, checked_curves, unlimited_m3s
from reservoir.hydro.curves.curve import Curve, Follows, Polynomial, PowerLaw, Table, constant, point_mistakes
from reservoir.hydro.flood_space import FloodSpace
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.reservoir_toml.draft import (
    KEYS,
    ONE_OF,
    RUN_OF_RIVER,
    WAYS_TO_POWER,
    Draft,
    file_content,
    home,
    parsed,
    unknown_key,
)
from reservoir.io.workbook import WORKBOOK
from reservoir.text.quantities import is_name

#: What is sound of the file, by dotted key; or of a section, by its keys.
Values = dict[str, Any]
NOTHING: Mapping[str, Any] = MappingProxyType({})

#: What no file can do without, and what is expected there.
_REQUIRED = {
    "name": "a short name for the reservoir",
    "plant": "a section [plant] with the installed capacity",
    "storage": "a section [storage] with the storage limits",
    "release": "a section [release] with the release limits",
    "curves.level": "a section [curves.level]: the forebay level by storage",
    "curves.tailrace": "a section [curves.tailrace]: the tailrace level by release",
}
#: Sections that a file may leave out.
_OPTIONAL = ("marks", "horizon", "losses", "commitments", "objective", "flood_space")
#: Keys in GWh beside those in the unit of any objective, and what to write where that is another.
_IN_GWH = (
    ("objective", "penalty", "penalty_gwh", "write penalty in place of penalty_gwh"),
    ("storage", "end_value_per_hm3", "end_value_gwh_per_hm3", "write end_value_per_hm3 in its place"),
)
#: A file's level curve has no level stretch: there a level would say nothing of the storage.
_RISING = "a level that increases with the storage"
_CURVES = dict(CURVES)
_CURVES["level"] = CURVES["level"]._replace(claim=_RISING, holds=lt, broken="does not increase")
_KW_PER_MW = 1000


def read_reservoir(
    path: str | Path,
    *,
    step: TimeStep | str | None = None,
    sheet: str | Sequence[str] = (),
    inflow: tuple[str | Path, Mapping[str, Any]] | None = None,
) -> Reservoir:
    """Read and check a reservoir file, or a workbook that has a level curve.

    Parameters
    ----------
    path : str or Path
        A TOML file; data/template.toml explains every key. Or a workbook: its sheets are found by what they hold, and
        what they do not give is guessed, from its inflow too, as a note says.
    step : TimeStep or str, optional
        Time step to plan for, in place of the one in the file.
    sheet : str or sequence of str
        Sheets of a workbook that are meant, where several may be.
    inflow : tuple, optional
        The record that a workbook's guesses are made from in place of its own, with arguments of `read_inflow`.

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
        raise InputError("is unknown", " or ".join(TimeStep), "give one of these", column="step", value=step)
    content, asked = file_content(path), {} if step is None else {"step": TimeStep(step)}
    if content.startswith(WORKBOOK):
        return reservoir_of_workbook(Path(path), asked, (sheet,) if isinstance(sheet, str) else tuple(sheet), inflow)
    return reservoir_of(content, str(path), asked)


def reservoir_of_workbook(
    path: Path, stated: Mapping[str, Any], sheet: Sequence[str] = (), inflow: Any = None
) -> Reservoir:
    """Read a workbook as the reservoir file that `reservoir new` would write of it."""
    from reservoir.io.reservoir_draft import RecordScale, draft_of_workbook  # a reservoir file waits for no records

    file, reading = inflow or (path, {"sheet": sheet})

    def scale_of(first_month: int | None) -> RecordScale | None:
        with suppress(InputError):  # the reader of the record says why
            return RecordScale.of(Path(file), reading, first_month)
        return None

    draft = draft_of_workbook(path, sheet, scale_of=scale_of)
    content = "".join(f"# read: {sentence}\n" for sentence in draft.read) + draft.text

    def of_sheet(mistake: Mistake) -> Mistake:
        stems = ((attributes.units_of(key)[0], place) for key, place in draft.places.items())
        place = next((place for stem, place in stems if mistake.column.startswith(stem)), "")
        return replace(mistake, file=f"{path}, {place}" if place else str(path))

    try:
        return reservoir_of(content.encode(), str(path), stated)
    except InputError as refused:
        raise InputError(map(of_sheet, refused.mistakes)) from None


def reservoir_of(content: bytes, source: str, stated: Mapping[str, Any] = NOTHING) -> Reservoir:
    """Check what a reservoir file holds; `source` names it. Raises as `read_reservoir` does."""
    tree = parsed(content, source)
    if is_system(tree):
        from reservoir.io.system_file import system_of  # reads its reservoirs here

        if len(tree.get("reservoirs", ())) == 1:
            return system_of(content, source, tree, stated.get("step")).reservoir
        mend = "give the file of one of its reservoirs; reservoir.read_system reads all"
        raise InputError("is a system file, of several reservoirs", "a reservoir file", mend, file=source)
    about = {"source": source, "sha256": hashlib.sha256(content).hexdigest(), "content": content}
    return reservoir_of_tree(tree, source, stated, about)


def is_system(tree: Mapping[str, Any]) -> bool:
    """Whether a parsed file is that of a system."""
    return tree.get("kind") == FileKind.SYSTEM or isinstance(tree.get("reservoirs"), list)


def reservoir_of_tree(
    tree: Mapping[str, Any], source: str, stated: Mapping[str, Any] = NOTHING, about: Mapping[str, Any] = NOTHING
) -> Reservoir:
    """Check the parsed keys of a reservoir; those that are `stated` elsewhere count. Raises as `read_reservoir` does.

    `about` has fields of the reservoir on where it was read from.
    """
    draft = Draft.of(tree, source)
    values, sections, refused = sound_values(draft)
    values |= stated
    parts = fields_of(values, sections)
    curves, astray = _curves(values, sections, parts, draft)
    of_file = list(_mistakes_of_keys(values, sections, parts, draft))
    fields_in_file = {row.field: row.key for row in reversed(ATTRIBUTES)} | {"lake_hm3": "storage.dead_hm3"}
    if not draft.has("storage.final_hm3"):  # left out, it is the initial one
        fields_in_file["final_storage_hm3"] = "storage.initial_hm3"
    absent = {} if draft.has("curves.area") else {"area_km2": None}
    between = mistakes_between({**parts, **curves, **absent}, replace(draft, keys=fields_in_file))
    mistakes = [*draft.mistakes, *refused, *of_file, *between, *astray]
    if mistakes:
        raise InputError(draft.in_order(mistakes))
    sound = {"area_km2": None, "seepage_m3s": None, **parts, **curves}
    given = {field.name: sound[field.name] for field in fields(Reservoir) if field.name in sound}
    return Reservoir(**given, **about)


def sound_values(draft: Draft, required: Mapping[str, str] = _REQUIRED) -> tuple[Values, set[str], list[Mistake]]:
    """Read every key as the table says; `required` are those that must be there, and what is expected there.

    Returns
    -------
    dict
        What is sound of the `sections`, by dotted key.
    set of str
        Sections of which every value is sound, and that have every key which they must have.
    list of Mistake
        Unknown and missing keys, wrong values.
    """
    values, broken, mistakes, missing, meant = Values(), set[str](), list[Mistake](), dict[str, Mistake](), set[str]()
    # The keys of every section that is there; those of a curve by its kind.
    rows: dict[str, Sequence[Attribute]] = {"": [row for row in ATTRIBUTES if not row.section]}
    run_of_river = any(map(draft.has, RUN_OF_RIVER))
    for dotted, entry in draft.entries.items():
        section, _, name = dotted.rpartition(".")
        if section not in rows:
            continue  # below what is no section
        row = next((row for row in rows[section] if row.name == name), None)
        if row is not None:
            try:
                values[dotted] = read_value(row, entry.scaled, dotted, draft)
            except InputError as refused:
                mistakes += refused.mistakes
                broken.add(section)
        elif dotted not in KEYS:
            mistake, other = unknown_key(dotted, draft)
            mistakes.append(mistake)
            meant.add(other)
        elif section.startswith("curves."):
            if name != "kind":
                mend, kind = "remove it, or change the kind", values[f"{section}.kind"]
                mistakes.append(draft.mistake(dotted, f'is not used with kind = "{kind}"', mend=mend))
        elif not draft.has_section(dotted):
            mistakes.append(draft.mistake(dotted, "is not a section", f"a line [{dotted}], and its keys below it"))
            broken.add(section)
        elif section == "curves":
            kinds = curve_keys(name)
            kind = "" if "" in kinds else draft.entry(f"{dotted}.kind").value
            if kind in list(kinds):
                values[f"{dotted}.kind"] = kind
                rows[dotted] = [row for row in kinds[str(kind)] if row.name != "kind"]
            else:
                problem = "is missing" if kind is None else "is not one of the choices"
                mistakes.append(draft.mistake(f"{dotted}.kind", problem, KEYS[f"{dotted}.kind"].description))
        else:
            rows[dotted] = [row for row in ATTRIBUTES if row.section == dotted]
    for section, of_section in rows.items():
        for dotted in (f"{section}.{row.name}".lstrip(".") for row in of_section if row.required):
            if not draft.has(dotted) and not (section == "storage" and run_of_river):
                mend = f"add {dotted.rpartition('.')[2]} = ... {home(dotted)}"
                missing[dotted] = draft.mistake(dotted, "is missing", KEYS[dotted].description, mend)
                broken.add(section)
    broken |= {section.rpartition(".")[0] for section in broken}
    sections = set(rows) - (broken - {"", "curves"})
    mistakes += (mistake for dotted, mistake in missing.items() if dotted not in meant)
    given = {*draft.entries, *(["curves.level"] if draft.has("storage.level_m") else [])}
    absent = [key for key in required if key not in given and key not in meant]
    mistakes += (draft.mistake(key, "is missing", required[key]) for key in absent)
    installed = ("plant.installed_capacity_mw", "plant.unit_capacity_mw")
    if draft.has_section("plant") and not any(draft.has(key) or key in meant for key in installed):
        mend = f"add installed_capacity_mw = ... {home(installed[0])}"
        mistakes.append(draft.mistake(installed[0], "is missing", KEYS[installed[0]].description, mend))
    sound = {dotted: value for dotted, value in values.items() if dotted.rpartition(".")[0] in sections}
    return sound, sections, mistakes


def read_value(row: Attribute, given: Any, dotted: str, draft: Draft) -> Any:
    """What a file gives for an attribute; InputError if it is not what it should be."""
    if row.kind in attributes.LISTS and not isinstance(given, list):
        if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) < np.inf:
            problem = "is neither a number nor a list of numbers"
            raise InputError(draft.mistake(dotted, problem, attributes.LISTS[row.kind]))
        given = [given] * MONTHS_PER_YEAR
    value = value_of(row, given, dotted, draft)
    if row.kind is Kind.NAME and not is_name(value):
        raise InputError(draft.mistake(dotted, "is not valid in file names", "only letters, digits, - and _"))
    return value


def fields_of(values: Values, sections: set[str]) -> dict[str, Any]:
    """What is sound of the file but for its curves, by the fields of `Reservoir`, and what else claims name."""
    parts: dict[str, Any] = {}
    for row in ATTRIBUTES:
        readable = row.section in sections or row.section in _OPTIONAL
        if row.field and readable and (row.key in values or row.field not in parts):
            parts[row.field] = values.get(row.key, row.usual())
    if "name" not in values:
        del parts["name"]
    inner: dict[str, Values] = {name: {} for name in ("marks", "objective")}
    for name in [name for name in parts if "." in name]:
        holder, _, field = name.partition(".")
        inner[holder][field] = parts.pop(name)
    parts["marks"] = attributes.ReferenceLevels(**inner["marks"])
    weighted = [row for row in ATTRIBUTES if row.section == "objective.weights" and row.key in values]
    weights = {Goal(row.name.replace("_", "-")): values[row.key] for row in weighted}
    goal = {} if "objective.weights" in sections else {values.get("objective.goal", Goal.ENERGY): 1.0}
    parts["objective"] = Objective(weights or goal, **inner["objective"])
    if "plant" in sections:
        units, of_one = values.get("plant.units"), values.get("plant.unit_capacity_mw")
        installed = values.get("plant.installed_capacity_mw", of_one * units if units and of_one else None)
        parts |= {} if installed is None else {"installed_mw": installed}
        if "plant.full_load_hours" in values:
            parts["plant_factor"] = values["plant.full_load_hours"] / np.array(HOURS_OF_MONTHS)
        if parts.get("installed_mw") is None:
            parts.pop("installed_mw", None)
        elif parts["penalty"] is None:
            steps = parts["step"].per_year
            parts["penalty"] = parts["objective"].largest_per_year(parts["installed_mw"], steps)
    if "storage" in sections:
        _complete_storage(values, parts)
    if {"storage", "flood_space"} <= sections:
        upper, full = values.get("flood_space.upper_hm3"), values["storage.full_hm3"]
        space = [[full - each for each in row] for row in values.get("flood_space.space_hm3", ())]
        column, listed = values["flood_space.column"], values["flood_space.values"]
        parts["flood_space"] = FloodSpace(column, listed, upper or space, values.get("flood_space.dates", ()))
    return parts


def _complete_storage(values: Values, parts: dict[str, Any]) -> None:
    """Take what a file leaves out from dead and full storage, and leave out what contradicts these."""
    fixed = _fixed_hm3(values)
    if fixed is not None:
        values |= {"storage.dead_hm3": fixed, "storage.full_hm3": fixed}
        parts |= {"initial_storage_hm3": fixed, "final_storage_hm3": fixed, "lake": LakeRange(fixed, fixed)}
    dead, full = values["storage.dead_hm3"], values["storage.full_hm3"]
    bounds = {"storage_lower_hm3": np.full(MONTHS_PER_YEAR, dead), "storage_upper_hm3": np.full(MONTHS_PER_YEAR, full)}
    given = {name: parts.pop(name) for name in bounds}
    bounds |= {name: listed for name, listed in given.items() if listed is not None}
    parts["bounds"] = tuple(bounds.values())
    if parts["year_end"] is YearEnd.FIXED and parts["final_storage_hm3"] is None:
        parts["final_storage_hm3"] = parts["initial_storage_hm3"]
    if dead < full or fixed is not None:
        parts["lake"] = LakeRange(dead, full)
        if all(np.all((dead <= listed) & (listed <= full)) for listed in bounds.values()):
            parts |= bounds


def _fixed_hm3(values: Values) -> float | None:
    """The storage of a run-of-river plant; None of another. Where only the level is known, nothing depends on it."""
    given = [key for key in RUN_OF_RIVER if key in values]
    return float(values.get(RUN_OF_RIVER[0], 1.0)) if given else None


def _mistakes_of_keys(values: Values, sections: set[str], parts: Mapping[str, Any], draft: Draft) -> Iterator[Mistake]:
    """State what is wrong between keys, of which some give no field by themselves."""
    ways = [key for key in WAYS_TO_POWER if draft.has(key)]
    if not ways and (draft.has_section("plant") or not draft.has("plant")):
        yield draft.mistake("plant", "has no conversion from water to power", f"one of {', '.join(WAYS_TO_POWER)}")
    for key in ways[1:]:
        yield draft.mistake(key, f"contradicts {ways[0]}", f"only one of {', '.join(ways)}")
    for keys in ONE_OF:
        given = [key for key in keys if draft.has(key)]
        for key in given[1:]:
            yield draft.mistake(key, f"contradicts {given[0]}", "only one of the two")
    yield from mistakes_of_objective(values, parts, draft)
    if draft.has_section("flood_space") and not any(draft.has(f"flood_space.{key}_hm3") for key in ("upper", "space")):
        yield draft.mistake("flood_space", "has no storages", "upper_hm3 or space_hm3: a list for each of the values")
    if "plant" in sections:
        yield from _mistakes_of_plant(values, draft)
    if "storage" in sections:
        yield from _mistakes_of_storage(values, parts, draft)


def mistakes_of_objective(values: Values, parts: Mapping[str, Any], draft: Draft) -> Iterator[Mistake]:
    """Allow one way to say the goal, and each amount in one unit, which is that of the objective."""
    unit = parts["objective"].unit
    if draft.has("objective.goal") and draft.has("objective.weights"):
        yield draft.mistake("objective.goal", "contradicts [objective.weights]", mend="remove one of the two")
    of_unit = f"in the unit of the objective ({unit or 'no unit'})"
    for section, key, in_gwh, instead in _IN_GWH:
        if f"{section}.{in_gwh}" in values and f"{section}.{key}" in values:
            yield draft.mistake(f"{section}.{key}", f"contradicts {in_gwh}", "only one of the two")
        elif f"{section}.{in_gwh}" in values and unit != "GWh":
            problem = "is in GWh, which the objective is not"
            yield draft.mistake(f"{section}.{in_gwh}", problem, mend=f"{instead}, {of_unit}")


def _mistakes_of_plant(values: Values, draft: Draft) -> Iterator[Mistake]:
    """Require the number of units where something is given of one, and only there; no more hours than a month has."""
    of_one = [key for key in ("plant.unit_capacity_mw", "plant.unit_hydraulic_capacity_m3s") if key in values]
    if of_one and "plant.units" not in values:
        yield draft.mistake("plant.units", "is missing", f"the number of equal units, as {of_one[0]} is given")
    if "plant.units" in values and not of_one:
        expected = "plant.unit_capacity_mw or plant.unit_hydraulic_capacity_m3s beside it"
        mend = "remove it, or give the capacity of one unit"
        yield draft.mistake("plant.units", "is used by nothing", expected, mend)
    hours = values.get("plant.full_load_hours", np.zeros(MONTHS_PER_YEAR))
    months = offending((hours < 0) | (hours > HOURS_OF_MONTHS))
    if months:
        expected = "0 to the hours of the month: 744 of 31 days, 720 of 30, 678 in February (28.25 days)"
        yield draft.mistake("plant.full_load_hours", f"is out of range in {months}", expected)


def _mistakes_of_storage(values: Values, parts: Mapping[str, Any], draft: Draft) -> Iterator[Mistake]:
    """Require some storage to work with, bounds between dead and full storage, and a final storage within them.

    A reservoir made in Python may end otherwise: a plan that begins in any month has its final storage from the file.
    """
    key, (dead, full) = "storage.dead_hm3", (values["storage.dead_hm3"], values["storage.full_hm3"])
    of_river = next(filter(draft.has, RUN_OF_RIVER), None)
    if of_river is not None:
        beside = (row.key for row in ATTRIBUTES if row.section == "storage" and row.key not in RUN_OF_RIVER)
        mend = f"remove it; or remove {of_river.partition('.')[2]}, if the reservoir stores water"
        for other in filter(draft.has, beside):
            yield draft.mistake(other, f"contradicts {of_river}: a run-of-river plant stores nothing", mend=mend)
        return
    if not dead < full:
        expected = f"less than the full storage, {draft.amount(key, full)}"
        mend = "correct one of the two; a run-of-river plant has fixed_hm3 in their place"
        yield draft.mistake(key, "leaves no active storage", expected, mend)
        return
    step, first_month, final = parts["step"], parts["first_month"], parts["final_storage_hm3"]
    for name, listed in zip(("lower_hm3", "upper_hm3"), parts["bounds"], strict=True):
        months = offending((listed < dead) | (listed > full))
        if months:
            lake = f"{draft.amount(key, dead)} (dead) to {draft.amount(key, full)} (full)"
            yield draft.mistake(f"storage.{name}", f"is outside the storage range in {months}", lake)
    if final is None or any(len(bounds) not in (MONTHS_PER_YEAR, step.per_year) for bounds in parts["bounds"]):
        return
    by_step = [step.in_water_year(step.listed(bounds, first_month), first_month) for bounds in parts["bounds"]]
    low, high = (float(bounds[-1]) for bounds in by_step)
    if not low <= final <= high and dead <= final <= full:
        given = "storage.final_hm3" in values
        key = "storage.final_hm3" if given else "storage.initial_hm3"
        month = MONTH_NAMES[(first_month - 2) % MONTHS_PER_YEAR]
        problem = f"{'' if given else 'is also the final storage and '}is not allowed at the end of {month}"
        limits = f"{draft.amount(key, low)} to {draft.amount(key, high)}, the limits in [storage]"
        yield draft.mistake(key, problem, limits)


def _curves(
    values: Values, sections: set[str], parts: Mapping[str, Any], draft: Draft
) -> tuple[dict[str, Any], list[Mistake]]:
    """Build and check the curves, each on the range in which it is evaluated (`checked_curves`)."""
    given: dict[str, Values] = {name.removeprefix("curves."): {} for name in sections if name.startswith("curves.")}
    for section, _, key in (dotted.rpartition(".") for dotted in values):
        if section.startswith("curves."):
            given[section.removeprefix("curves.")][key] = values[f"{section}.{key}"]
    storages = parts["lake"][:2] if "lake" in parts else None
    releases: Domain | None = None
    if "release" in sections:
        least, most = float(parts["release_lower_m3s"].min()), float(parts["release_upper_m3s"].max())
        releases = (least, most) if 0 <= least < most else None
    of_turbine: dict[str, Curve] = {}
    astray: list[Mistake] = []
    conversions = [name for name in CONVERSIONS.values() if name in given or f"plant.{name}" in values]
    if "turbine" in given:
        of_turbine, astray = _turbine_curves(given["turbine"], replace(draft, section="curves.turbine"))
        conversions = ["output_coefficient"] if of_turbine else []

    def curve_of(section: str, needed: Domain | None) -> tuple[Curve | None, list[Mistake]]:
        if "turbine" in given and section in ("output_coefficient", "capacity"):
            return of_turbine.get(section), []
        if section == "level" and needed is not None and "storage.level_m" in values:
            return constant(values["storage.level_m"], (0.0, 2 * needed[1]), Follows.RANGE), []
        if section in given:
            return _curve(section, given[section], needed, replace(draft, section=f"curves.{section}"))
        value = values.get(f"plant.{section}") if section in CONVERSIONS.values() else None
        follows = Follows.RANGE
        if section == "seepage":
            value = values.get("losses.seepage_m3s")
        if section == "capacity" and "plant" in sections and releases:
            of_one = values.get("plant.unit_hydraulic_capacity_m3s", 0.0) * values.get("plant.units", 0)
            value = values.get("plant.hydraulic_capacity_m3s", of_one)
            if not value:  # only the installed capacity and the release limit the turbines
                value, follows = unlimited_m3s(parts), Follows.LARGEST_RELEASE
        return (None if value is None or needed is None else constant(value, needed, follows)), []

    def words_of(section: str) -> Words:
        by_head = draft.has("curves.turbine") and section in (*CONVERSIONS.values(), "capacity")
        return replace(draft, section=f"curves.{'turbine' if by_head else section}")

    words = replace(draft, section="curves")
    laws = CURVES if "storage.level_m" in values else _CURVES
    sound, mistakes = checked_curves(parts, curve_of, (storages, releases), words, words_of, conversions, laws)
    return sound, [*astray, *mistakes]


def _curve(section: str, block: Values, needed: Domain | None, words: Draft) -> tuple[Curve | None, list[Mistake]]:
    """Build a curve in the program's units; None where there is a mistake, or a formula's domain is unknown."""
    law = _CURVES[section]
    if block["kind"] == "table":
        x, y = block[law.x], block[law.y]
        mistakes = list(point_mistakes(law.x, x, law.y, y, words))
        return (None if mistakes else Table(x, y)), mistakes
    suffix = law.x.partition("_")[2]
    domain, origin = block.get(f"domain_{suffix}", needed), block.get(f"origin_{suffix}", 0.0)
    follows = Follows.NOTHING if f"domain_{suffix}" in block else Follows.RANGE
    if domain is None:
        return None, []
    if origin > domain[0]:
        expected = f"at most {words.amount(law.x, domain[0])}"
        return None, [words.mistake(f"origin_{suffix}", "is above values at which the curve is evaluated", expected)]
    sizes = []
    for name in (law.x, law.y):
        written = block.get(f"{name.partition('_')[0]}_unit")
        sizes.append(next((unit.size for unit in attributes.units_of(name)[1] if unit.name == written), 1.0))
    size, value_size = sizes
    try:
        if block["kind"] == "polynomial":
            scaled = (value * value_size / size**power for power, value in enumerate(block["coefficients"]))
            return Polynomial(tuple(scaled), domain, follows), []
        # The offset of a level has its unit in its key.
        offset = block["offset_m"] if "offset_m" in block else block.get("offset", 0.0) * value_size
        factor = block["factor"] * value_size / size ** block["exponent"]
        return PowerLaw(offset, factor, origin, block["exponent"], domain, follows), []
    except InputError:
        # Sound numbers that are none any more in the program's units.
        mend = "check the numbers and their units"
        return None, [words.mistake("", "does not give a finite number everywhere", mend=mend)]


def _turbine_curves(table: Values, words: Draft) -> tuple[dict[str, Curve], list[Mistake]]:
    """Capacity (m3/s) and output coefficient K, by head, of all units of a turbine table, as utilities have it.

    Where the turbines take no water, K is that of the nearest head at which they do.
    """
    heads, flows, powers, units = table["head_m"], table["flow_m3s"], table["power_mw"], table.get("units", 1)
    mistakes = list(point_mistakes("head_m", heads, "flow_m3s", flows, words))
    mistakes += point_mistakes("head_m", heads, "power_mw", powers, words)
    rows = [] if mistakes else list(zip(heads, flows, powers, strict=True))
    mistakes = mistakes or list(_mistakes_of_turbine(rows, units, words))
    if mistakes:
        return {}, list(dict.fromkeys(mistakes))
    running = {head: _KW_PER_MW * power / (flow * head) for head, flow, power in rows if flow}
    nearest = (min((abs(other - head), place) for place, other in enumerate(running))[1] for head in heads)
    coefficients = tuple(min(list(running.values())[place], attributes.LOSSLESS_COEFFICIENT) for place in nearest)
    capacity = Table(heads, tuple(flow * units for flow in flows))
    return {"capacity": capacity, "output_coefficient": Table(heads, coefficients)}, []


def _mistakes_of_turbine(rows: list[tuple[float, float, float]], units: int, words: Draft) -> Iterator[Mistake]:
    """State the first point that no turbine has."""
    if not any(flow > 0 for _, flow, _ in rows):
        yield words.mistake("flow_m3s", "is 0 at every head", "the discharge of the turbines at full gate")
        return
    for number, (head, flow, power) in enumerate(rows, 1):
        at = f"at point {number} ({words.amount('head_m', head)})"
        most = attributes.LOSSLESS_COEFFICIENT * flow * head / _KW_PER_MW
        if not attributes.FLOW_M3S.holds(flow * units):
            yield words.mistake("flow_m3s", f"is out of range {at}", "a discharge of 0 or more")
        elif (flow > 0) != (power > 0):
            problem = f"is {words.amount('power_mw', power)} with a discharge of {words.amount('flow_m3s', flow)} {at}"
            yield words.mistake("power_mw", problem, "both above 0, or both 0 where the turbines do not run")
        elif power > most * (1 + ROUNDING):
            mend = "check the units of head, discharge and power, and that all three are of the same number of units"
            expected = f"at most {words.amount('power_mw', most)} there"
            yield words.mistake("power_mw", f"is more than the water contains {at}", expected, mend)
        elif power * _KW_PER_MW < attributes.COEFFICIENT.least * flow * head:
            mend = "check the units of head, discharge and power"
            yield words.mistake("power_mw", f"is hardly any for the discharge {at}", mend=mend)
        else:
            continue
        return
