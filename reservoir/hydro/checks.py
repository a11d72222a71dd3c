"""Checks of a reservoir, the same for Python and for files: each attribute by its row, and claims between them.

A claim is a small function that names what it needs as its parameters, by the fields of `Reservoir`, and yields a
mistake where it does not hold. It is not run where something that it needs is missing or broken.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro import attributes
from reservoir.hydro.attributes import ATTRIBUTES, CURVES, Attribute, Kind, ReferenceLevels, Words, YearEnd
from reservoir.hydro.calendar import (
    HOURS_PER_YEAR,
    MONTHS_PER_YEAR,
    SECONDS_PER_DAY,
    CalendarKind,
    TimeStep,
    step_names,
)
from reservoir.hydro.curve_checks import SLACK, checked_curves, following, releases_of, storages_of
from reservoir.hydro.curves.curve import (
    LARGEST_EXPONENT,
    MOST_COEFFICIENTS,
    Curve,
    FloatArray,
    area_of_levels,
    most_evaporated,
)
from reservoir.hydro.flood_space import FloodSpace, day_of_year, is_day_of_year
from reservoir.hydro.objectives import NEEDED, Goal, Horizon, Objective
from reservoir.text.quantities import counted, first_unprintable

Claim = Callable[..., Iterator[Mistake]]
#: What is expected of a list by month or step.
LIST_EXPECTED = f"{MONTHS_PER_YEAR} numbers, January first, or one a step"

#: An installed capacity of so many times what water and head can give is a slip of units.
BEYOND_REACH = 100
#: A mark may lie this far (m) above or below the lake's levels, or as far as these reach.
MARK_MARGIN_M = 100.0
#: A lake loses at most this part of each further hm3 in a month: more is a slip of units, or an area curve with a step.
MOST_LOST = 0.2
LOSS_MEND = "check the units of evaporation (mm a month) and area (km2), or smooth the area curve"
#: Values that a list by step may have.
_LENGTHS = frozenset(step.per_year for step in TimeStep)
#: What 1 m3/s carries in a year of 366 days, hm3.
_MOST_HM3_PER_M3S = 366 * SECONDS_PER_DAY / 1e6
#: Fields that are never without a number.
_NEVER_NONE = ("installed_mw", "penalty")


class LakeRange(NamedTuple):
    """Between which storages (hm3) a lake is, and what its ends are called."""

    least: float
    most: float
    least_is: str = "dead"
    most_is: str = "full"


def value_of(row: Attribute, given: Any, name: str, words: Words) -> Any:
    """What is given for an attribute as its type: numbers within the range, lists as read-only arrays.

    Parameters
    ----------
    row : Attribute
    given : object
    name : str
        What `words` call it.
    words : Words

    Raises
    ------
    InputError
        If it is not what it should be.
    """

    def refuse(problem: str, expected: str = "", mend: str = "", place: int | None = None) -> NoReturn:
        """Refuse it, or the value at a place of a list."""
        at = "" if place is None else f"value {place + 1} of the list "
        raise InputError(words.mistake(name, at + problem, expected, mend, place))

    def number(value: Any, place: int | None = None) -> Any:
        """A finite, or a whole, number of the range; lists by month are told by their months (`_list_in_range`)."""
        what = "a whole number" if row.kind in (Kind.WHOLE, Kind.MONTHS) else "a number"
        types = (int, np.integer) if what == "a whole number" else (int, float, np.integer, np.floating)
        try:
            result = None if isinstance(value, bool) or not isinstance(value, types) else float(value)
        except OverflowError:
            result = (math.inf if value > 0 else -math.inf) if what == "a whole number" else None
        if result is None:
            refuse(f"is not {what}", f"{what}: {row.description}", place=place)
        if math.isnan(result) or (math.isinf(result) and what == "a number"):
            refuse("is not a finite number", f"a number: {row.description}", place=place)
        (least, most), above = row.allowed, row.above
        if row.kind not in attributes.LISTS and (result < least or result > most or (above and result == least)):
            end, limit = ("of at most", most) if result > most else ("above" if above else "of at least", least)
            expected = f"a number {end} {words.amount(name, limit)}: {row.description}"
            refuse("is out of range", expected, row.mend, place)
        return int(value) if what == "a whole number" else result

    def numbers() -> tuple[Any, ...]:
        if not isinstance(given, list | tuple):
            refuse("is not a list", f"numbers in square brackets: {row.description}")
        return tuple(number(value, place) for place, value in enumerate(given))

    match row.kind:
        case Kind.NUMBER | Kind.WHOLE:
            return number(given)
        case Kind.EXPONENT:
            exponent = number(given)
            if exponent == 0:
                refuse("makes the curve a constant", mend='use kind = "polynomial" with one coefficient')
            if abs(exponent) > LARGEST_EXPONENT:
                refuse("is out of range", f"-{LARGEST_EXPONENT} to {LARGEST_EXPONENT}")
            return exponent
        case Kind.BY_STEP | Kind.BY_MONTH:
            values, expected = given, attributes.LISTS[row.kind]
            if not isinstance(given, list | tuple):  # in Python it may be anything that an array is made of
                values, expected = np.array(given), f"{MONTHS_PER_YEAR} finite numbers, January first, or one a step"
                if values.ndim != 1:
                    refuse(f"has the shape {values.shape}", expected)
            if len(values) not in (_LENGTHS if row.kind is Kind.BY_STEP else {MONTHS_PER_YEAR}):
                refuse(f"has {counted(len(values), 'value')}", expected)
            if isinstance(values, list | tuple) or values.dtype.kind != "f" or not np.isfinite(values).all():
                values = [number(value, place) for place, value in enumerate(values)]
            array = np.array(values, np.float64)
            array.setflags(write=False)
            return array
        case Kind.NUMBERS | Kind.MONTHS:
            return numbers()
        case Kind.ROWS:
            if not isinstance(given, list | tuple) or not all(isinstance(each, list | tuple) for each in given):
                refuse("is not a list of lists", f"lists of numbers in square brackets: {row.description}")
            return tuple(tuple(number(value) for value in each) for each in given)
        case Kind.DATES:
            dates = given if isinstance(given, list | tuple) else [given]
            if wrong := [date for date in dates if not isinstance(date, str) or not is_day_of_year(date)]:
                refuse(f"has {wrong[0]!r}, which is no day of a year", f'texts such as "04-01": {row.description}')
            return tuple(dates)
        case Kind.INTERVAL:
            ends = numbers()
            if len(ends) != 2 or ends[0] >= ends[1]:
                refuse("is not an interval", "two numbers, the lower one first")
            return ends
        case Kind.COEFFICIENTS:
            coefficients = numbers()
            if not 1 <= len(coefficients) <= MOST_COEFFICIENTS:
                expected = f"1 to {MOST_COEFFICIENTS} coefficients, or a table of points"
                refuse(f"has {len(coefficients)} values", expected)
            return coefficients
        case Kind.CHOICE:
            try:
                return row.choices(given)
            except ValueError:
                refuse("is not one of the choices", row.description)
        case Kind.FLAG:
            if not isinstance(given, bool):
                refuse("is neither true nor false", f"true or false: {row.description}")
            return given
        case Kind.SPAN:
            try:
                return Horizon.of(given)
            except InputError as error:
                refuse("is no horizon", error.mistakes[0].expected)
    if not isinstance(given, str):
        refuse("is not text", f"text in quotes: {row.description}")
    if row.kind is Kind.UNIT and given not in row.choices:
        mend = "convert the coefficients, or the factor, to one of these units"
        refuse("is not a known unit", f"one of {', '.join(row.choices)}", mend)
    # The lines of a text are joined: it is shown as one sentence.
    text = re.sub(r"[ \t]*[\r\n\t]\s*", " ", given).strip() if row.kind is Kind.TEXT else given
    longest = attributes.LONGEST_NAME if row.kind is Kind.NAME else attributes.LONGEST_TEXT
    if character := first_unprintable(text):
        refuse(f"has the unprintable character {character}", mend="remove it")
    if len(text) > longest:
        refuse(f"has {len(text):,} characters", f"at most {longest:,}", "shorten it")
    return text


def checked(fields: Mapping[str, Any]) -> dict[str, Any]:
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
    values = {**fields, **_within("marks", fields["marks"]), **_within("objective", fields["objective"])}
    words = attributes.FieldWords(values=values, names={"lake_hm3": "level"})
    sound, mistakes = _sound_fields(fields, words)
    parts = dict(sound)
    if "level" in sound:  # what its curve describes, and what that may miss by rounding
        low, high = sound["level"].domain
        slack = SLACK * (high - low)
        parts["lake"] = LakeRange(low - slack, high + slack, "start of the level curve", "end of the level curve")
    mistakes += mistakes_between(parts, words)
    if not mistakes:

        def curve_of(section: str, needed: Any) -> Any:
            return following(sound[CURVES[section].field], parts, needed, CURVES[section].field)

        def words_of(section: str) -> Words:
            return attributes.FieldWords(CURVES[section].field, names={CURVES[section].x: "x", CURVES[section].y: "y"})

        ranges = (storages_of(parts), releases_of(parts))
        conversions = (attributes.CONVERSIONS[sound["conversion_kind"]],)
        of_curves, mistakes = checked_curves(parts, curve_of, ranges, words, words_of, conversions)
        sound |= {name: curve for name, curve in of_curves.items() if name in sound}
        most_mw = of_curves.get("most_power_mw", np.inf)
        mistakes += installed_capacity_within_reach(sound["installed_mw"], most_mw, words)
    if mistakes:
        raise InputError(mistakes)
    return sound


#: Fields that hold an object, by its class, with what is said of others.
_CLASSES: Mapping[str, tuple[type, str, str]] = {
    "marks": (ReferenceLevels, "is not a set of reference levels", "ReferenceLevels(...)"),
    "objective": (Objective, "is not an objective", "Objective(...)"),
    "content": (bytes, "is not bytes", "the bytes of the file it was read from"),
}
_OF_HEAD = attributes.ConversionKind
_KINDS = Attribute("", ", ".join(_OF_HEAD), kind=Kind.CHOICE, field="conversion_kind", choices=_OF_HEAD)
_ROWS = {row.field: row for row in (*ATTRIBUTES, _KINDS)}
_CURVE_FIELDS = {constraint.field for constraint in CURVES.values()}


def _sound_field(name: str, value: Any, words: Words) -> Any:
    """One field, or one of the marks, as its type."""
    if name in _CURVE_FIELDS:
        optional = name in ("area_km2", "seepage_m3s") and value is None
        if not optional and not (callable(value) and all(hasattr(value, part) for part in ("domain", "compiled"))):
            expected = "a Table, a Polynomial, a PowerLaw or another Curve"
            raise InputError(words.mistake(name, "is not a curve", expected))
    if name in _CLASSES and not isinstance(value, _CLASSES[name][0]):
        raise InputError(words.mistake(name, *_CLASSES[name][1:]))
    if name == "flood_space" and value is not None and not isinstance(value, FloodSpace):
        raise InputError(words.mistake(name, "is no flood space", "FloodSpace(...)"))
    if isinstance(value, ReferenceLevels | Objective):
        sound, mistakes = _sound_fields(_within(name, value), words)
        if mistakes:
            raise InputError(mistakes)
        return replace(value, **{field.partition(".")[2]: each for field, each in sound.items()})
    row = _ROWS.get(name)
    if row is None:
        return value
    of_number = row.kind in (Kind.NUMBER, Kind.WHOLE) or "." in name
    optional = row.default is None and of_number and name not in _NEVER_NONE
    return None if value is None and optional else value_of(row, value, name, words)


def _within(name: str, value: Any) -> dict[str, Any]:
    """What an object that is a field holds, by the names of the table."""
    holds = vars(value) if isinstance(value, ReferenceLevels | Objective) else {}
    return {f"{name}.{field}": each for field, each in holds.items()}


def _sound_fields(fields: Mapping[str, Any], words: Words) -> tuple[dict[str, Any], list[Mistake]]:
    """Fields as their types, and what is wrong with the others."""
    sound, mistakes = dict[str, Any](), list[Mistake]()
    for name, value in fields.items():
        try:
            sound[name] = _sound_field(name, value, words)
        except InputError as refused:
            mistakes += refused.mistakes
    return sound, mistakes


def mistakes_between(parts: Mapping[str, Any], words: Words) -> list[Mistake]:
    """State every claim between fields, as far as they are sound, that does not hold.

    Parameters
    ----------
    parts : mapping
        Fields of a reservoir, and what else claims name.
    words : Words
    """
    step, mistakes, sound = parts.get("step", TimeStep.MONTH), list[Mistake](), {**parts, "words": words}
    own = "" if step is TimeStep.MONTH else f", or {counted(step.per_year, step.noun)}"
    for name, values in _lists(parts).items():
        if len(values) not in (MONTHS_PER_YEAR, step.per_year):
            other = next(each for each in TimeStep if each.per_year == len(values))
            problem = f'has {counted(len(values), other.noun)}, but step is "{step}"'
            expected = f"one number, or {counted(MONTHS_PER_YEAR, 'month')}{own}"
            mistakes.append(words.mistake(name, problem, expected, f'set step = "{other}", or give other values'))
            sound.pop(name.partition(".")[0], None)
    if step is not TimeStep.MONTH and parts.get("calendar", CalendarKind.REAL) is not CalendarKind.REAL:
        problem = f'contradicts step = "{step}": only months can be equal, or as long in all years'
        mistakes.append(words.mistake("calendar", problem, mend="remove one of the two"))
    # Limits are compared with each other; losses and what objectives have are compared with nothing.
    limits = [row.field for row in attributes.by_step_attributes() if row.section not in ("losses", "objective")]
    compared = {name: sound[name] for name in limits if name in sound}
    if "first_month" in sound and any(len(values) != MONTHS_PER_YEAR for values in compared.values()):
        sound |= {name: step.listed(values, sound["first_month"]) for name, values in compared.items()}
    for name, values in _lists(sound).items():
        mistakes += _list_in_range(name, values, attributes.attribute_of(name).allowed, words)
    for claim, needs in CLAIMS.items():
        if all(name in sound for name in needs):
            mistakes += claim(*(sound[name] for name in needs))
    return mistakes


def _lists(parts: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Arrays by step, by their fields."""
    given = {**parts, **_within("objective", parts.get("objective"))}
    return {row.field: given[row.field] for row in attributes.by_step_attributes() if given.get(row.field) is not None}


def offending(wrong: NDArray[np.bool_]) -> str:
    """Name the months, or shorter steps, that are wrong; nothing where none is."""
    if not wrong.any():
        return ""
    step = next(each for each in TimeStep if each.per_year == len(wrong))
    names = [f"week {week}" for week in range(1, len(wrong) + 1)] if step is TimeStep.WEEK else step_names(step, 1)
    places = np.flatnonzero(wrong).tolist()
    if len(places) == len(wrong):
        return f"every {step.noun}"
    more = len(places) - MONTHS_PER_YEAR
    listed = ", ".join(names[place] for place in places[:MONTHS_PER_YEAR])
    return listed if more <= 0 else f"{listed} and {counted(more, f'more {step.noun}')}"


def _list_in_range(name: str, values: FloatArray, allowed: attributes.Range, words: Words) -> Iterator[Mistake]:
    """Refuse values by month, or by step, outside a range."""
    below, above = offending(values < allowed.least), offending(values > allowed.most)
    most = words.amount(name, allowed.most)
    if below:
        yield words.mistake(name, f"is below {allowed.least:g} in {below}", f"{allowed.least:g} or more")
    if above:
        yield words.mistake(name, f"is above {most} in {above}", f"at most {most}", "check the numbers and their units")


def has_a_name(name: str, words: Words) -> Iterator[Mistake]:
    """Require a name that can be seen; in a file it is of letters and digits anyway."""
    if not name.strip():
        yield words.mistake("name", "is empty", attributes.attribute_of("name").meaning)


def guarantee_can_be_generated(
    installed_mw: float, guaranteed_energy_gwh: float | None, guaranteed_power_mw: float | None, words: Words
) -> Iterator[Mistake]:
    """Allow no more promised energy or power than the plant makes at full power."""
    most = installed_mw * HOURS_PER_YEAR / 1000
    if guaranteed_energy_gwh is not None and guaranteed_energy_gwh > most:
        expected = f"at most {most:.7g} GWh, a year at full installed capacity"
        yield words.mistake("guaranteed_energy_gwh", "is more than the plant can generate", expected)
    if guaranteed_power_mw is not None and guaranteed_power_mw > installed_mw:
        expected = f"at most {installed_mw:.7g} MW, the installed capacity"
        yield words.mistake("guaranteed_power_mw", "is more than the plant can generate", expected)


def lake_large_enough(lake: LakeRange, words: Words) -> Iterator[Mistake]:
    """Require storage to work with that float32 tells from none; or none at all, of a run-of-river plant."""
    least = max(attributes.LEAST_FULL_HM3, attributes.LEAST_ACTIVE_PART * lake.most)
    if 0 < lake.most - lake.least < least:
        expected = f"an active storage of at least {words.amount('lake_hm3', least)}"
        yield words.mistake("lake_hm3", "leaves too little active storage", expected)


def storages_in_order(storage_lower_hm3: FloatArray, storage_upper_hm3: FloatArray, words: Words) -> Iterator[Mistake]:
    """Allow no month whose least storage is above its largest."""
    yield from _crossing("storage_lower_hm3", storage_lower_hm3, "storage_upper_hm3", storage_upper_hm3, words)


def _crossing(lower: str, least: FloatArray, upper: str, most: FloatArray, words: Words) -> Iterator[Mistake]:
    """Refuse a lower limit above the upper one."""
    if months := offending(least > most):
        problem = f"is above {words.named(upper)} in {months}"
        yield words.mistake(lower, problem, "a lower limit not above the upper limit")


def flood_space_is_a_table(
    flood_space: FloodSpace | None,
    storage_lower_hm3: FloatArray,
    storage_upper_hm3: FloatArray,
    step: TimeStep,
    first_month: int,
    words: Words,
) -> Iterator[Mistake]:
    """Require a highest storage for each value and time, between dead and full storage, and above the lowest."""
    if flood_space is None:
        return
    values, dates, table = flood_space.values, flood_space.dates, flood_space.upper_hm3
    name, least, most = "flood_space.upper_hm3", float(storage_lower_hm3.min()), float(storage_upper_hm3.max())
    days = [day_of_year(date) for date in dates]
    if len(values) < 2 or not all(before < after for before, after in pairwise(values)):
        yield words.mistake("flood_space.values", "does not rise", "two values or more, each above the one before")
    elif days and not all(before < after for before, after in pairwise(days)):
        yield words.mistake("flood_space.dates", "is not in the order of the year", "dates from January on, each once")
    elif len(table) != len(values):
        problem = f"has {counted(len(table), 'list')}, but there are {counted(len(values), 'value')} of the column"
        yield words.mistake(name, problem, "a list for each of the values")
    elif not all(len(row) in ((len(dates),) if dates else (MONTHS_PER_YEAR, step.per_year)) for row in table):
        expected = f"{counted(len(dates), 'number')}, one for each date" if dates else LIST_EXPECTED
        yield words.mistake(name, "has a list of another length", expected)
    elif not all(least <= each <= most for row in table for each in row):
        expected = f"{words.amount(name, least)} (dead) to {words.amount(name, most)} (full)"
        yield words.mistake(name, "is outside the storage range", expected)
    else:
        lower = step.in_water_year(step.listed(storage_lower_hm3, first_month), first_month)
        if np.any(flood_space.by_step(step, first_month) < lower):
            yield words.mistake(name, f"is below {words.named('storage_lower_hm3')} in some step", "no less than that")


def releases_in_order(release_lower_m3s: FloatArray, release_upper_m3s: FloatArray, words: Words) -> Iterator[Mistake]:
    """Allow no month whose least release is above its largest; require one month that leaves a choice."""
    if np.any(release_lower_m3s > release_upper_m3s):
        yield from _crossing("release_lower_m3s", release_lower_m3s, "release_upper_m3s", release_upper_m3s, words)
    elif np.all(release_lower_m3s == release_upper_m3s):
        yield words.mistake("release", "leaves nothing to plan", "an upper limit above the lower limit in some month")
    elif release_upper_m3s.max() < attributes.CAPACITY_M3S.least:
        least = words.amount("release_upper_m3s", attributes.CAPACITY_M3S.least)
        yield words.mistake("release_upper_m3s", "allows no release", f"at least {least} in some month")


def year_end_has_its_storages(
    year_end: YearEnd, initial_storage_hm3: float | None, final_storage_hm3: float | None, words: Words
) -> Iterator[Mistake]:
    """Require storages where the end of the year needs them, and allow them nowhere else."""
    initial, final, as_it_is = "initial_storage_hm3", "final_storage_hm3", f'of every year, as year_end is "{year_end}"'
    mend = 'remove it, the plan chooses this storage; or set year_end = "fixed"'
    if year_end is YearEnd.CYCLIC and initial_storage_hm3 is not None:
        yield words.mistake(initial, f'contradicts year_end = "{year_end}"', mend=mend)
    if year_end is not YearEnd.FIXED and final_storage_hm3 is not None:
        yield words.mistake(final, f'contradicts year_end = "{year_end}"', mend=mend)
    if year_end is not YearEnd.CYCLIC and initial_storage_hm3 is None:
        yield words.mistake(initial, "is missing", f"the storage at the start {as_it_is}")
    elif year_end is YearEnd.FIXED and final_storage_hm3 is None:
        yield words.mistake(final, "is missing", f"the storage at the end {as_it_is}")


def ends_within_the_lake(
    lake: LakeRange, initial_storage_hm3: float | None, final_storage_hm3: float | None, words: Words
) -> Iterator[Mistake]:
    """Require initial and final storage within the lake; where one key gives both, it is stated once."""
    given = {"initial_storage_hm3": initial_storage_hm3, "final_storage_hm3": final_storage_hm3}
    outside = [name for name, value in given.items() if value is not None and not lake.least <= value <= lake.most]
    for name in {words.named(name): name for name in reversed(outside)}.values():
        least, most = (words.amount(name, end) for end in lake[:2])
        expected = f"{least} ({lake.least_is}) to {most} ({lake.most_is})"
        yield words.mistake(name, "is outside the storage range", expected)


def installed_capacity_within_reach(installed_mw: float, most_power_mw: float, words: Words) -> Iterator[Mistake]:
    """Allow no installed capacity far beyond what release, head and conversion can ever give."""
    if not most_power_mw > 0:
        problem = "can never be given: at the heads of this lake, release, capacity and conversion make no power"
        mend = "check that the heads of [curves.capacity] and of the conversion are those of the lake, and their unit"
        yield words.mistake("installed_mw", problem, "some power at some head", mend)
    elif installed_mw > BEYOND_REACH * most_power_mw:
        problem = f"is {installed_mw / most_power_mw:,.0f} times the maximum that release, head and conversion give"
        mend = "give MW, not kW; or check the release limits and the curves"
        yield words.mistake("installed_mw", problem, f"about {most_power_mw:,.4g} MW", mend)


def marks_near_the_lake(marks: ReferenceLevels, level: Curve, words: Words) -> Iterator[Mistake]:
    """Require marks that a figure can draw beside the lake's levels; they need not equal any limit."""
    low, high = (float(level(end)) for end in level.domain)
    margin = max(MARK_MARGIN_M, high - low)
    for name in ("normal_m", "flood_m", "dead_m"):
        given = getattr(marks, name)
        if given is not None and not low - margin <= given <= high + margin:
            problem = f"is far from the levels of the lake, {low:.7g} m to {high:.7g} m"
            expected = f"{low - margin:.7g} m to {high + margin:.7g} m"
            yield words.mistake(f"marks.{name}", problem, expected, "check that both have the same datum and unit")


def plant_runs_in_some_month(plant_factor: FloatArray, words: Words) -> Iterator[Mistake]:
    """Require some month in which the plant can run."""
    if not np.any(plant_factor > 0):
        yield words.mistake("plant_factor", "leaves no month in which the plant runs", "a number above 0 in some month")


def power_demanded_can_be_made(
    demanded_mw: FloatArray, plant_factor: FloatArray, installed_mw: float, words: Words
) -> Iterator[Mistake]:
    """Allow no demand beyond what the plant can make in the month."""
    months = offending(demanded_mw > plant_factor * installed_mw)
    if months:
        expected = f"at most the installed capacity ({words.amount('installed_mw', installed_mw)}) x the plant factor"
        yield words.mistake(attributes.POWER_DEMAND, f"is more than the plant can generate in {months}", expected)


def operating_level_within_the_lake(
    operating_level_m: float | None, level: Curve, lake: LakeRange, words: Words
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
    evaporation_mm: FloatArray, level: Curve, area_km2: Curve | None, lake: LakeRange, words: Words
) -> Iterator[Mistake]:
    """Allow no evaporation that would take most of what each further hm3 adds."""
    if np.any(evaporation_mm) and area_km2 is None and level(lake.least) == level(lake.most):
        problem, expected = (
            "has no area to evaporate from: the level does not tell it",
            "the area of the lake by storage",
        )
        yield words.mistake("evaporation_mm", problem, expected, "give [curves.area] (area_km2)")
    elif np.any(evaporation_mm) and lake.least < lake.most:
        area = area_km2 or area_of_levels(level)
        yield from evaporation_mistakes(area, lake, evaporation_mm, words)


def evaporation_mistakes(
    area: Curve, lake: LakeRange, evaporation_mm: FloatArray, words: Words, what: str = ""
) -> Iterator[Mistake]:
    """Refuse evaporation that takes most of what each further hm3 adds; the problem begins with `what` evaporates."""
    lost = most_evaporated(area, lake.least, lake.most, evaporation_mm)
    if not lost <= MOST_LOST:
        problem = f"takes {100 * lost:.3g} % of a further hm3 in a month where the area rises most with the storage"
        yield words.mistake("evaporation_mm", what + problem, f"at most {100 * MOST_LOST:g} %", LOSS_MEND)


def commitments_are_stated(
    annual_release_hm3: float | None,
    tier_level_m: tuple[float, ...],
    tier_release_hm3: tuple[float, ...],
    tier_month: int | None,
    most_annual_release_hm3: float | None,
    release_upper_m3s: FloatArray,
    words: Words,
) -> Iterator[Mistake]:
    """Allow one volume or tiers, that the largest releases of a year can give."""
    tiers, levels = words.named("tier_release_hm3"), words.named("tier_level_m")
    if annual_release_hm3 is not None and (tier_level_m or tier_release_hm3):
        yield words.mistake("annual_release_hm3", f"contradicts {tiers}", mend="keep one of the two")
    if len(tier_level_m) != len(tier_release_hm3):
        problem = f"has {counted(len(tier_release_hm3), 'volume')}, {levels} has {counted(len(tier_level_m), 'level')}"
        yield words.mistake("tier_release_hm3", problem, "a volume for each level")
    if any(after <= before for before, after in pairwise(tier_level_m)):
        yield words.mistake("tier_level_m", "does not rise", "levels, each above the one before")
    if tier_month is not None and not tier_level_m:
        yield words.mistake("tier_month", "says when a level decides, but there are no levels", mend=f"give {levels}")
    most = float(release_upper_m3s.max()) * _MOST_HM3_PER_M3S
    for name, volumes in (("annual_release_hm3", (annual_release_hm3,)), ("tier_release_hm3", tier_release_hm3)):
        highest = max((each or 0.0 for each in volumes), default=0.0)
        if most_annual_release_hm3 is not None and highest > most_annual_release_hm3:
            licence = words.amount("most_annual_release_hm3", most_annual_release_hm3)
            yield words.mistake(name, "is more than may be released", f"at most {licence}", "lower one of the two")
        if highest > most:
            expected = f"at most {words.amount(name, float(f'{most:.4g}'))}, the largest release all year"
            yield words.mistake(name, "is more than can be released", expected, "check the units")


def weights_are_positive(objective: Objective, words: Words) -> Iterator[Mistake]:
    """Require something to optimise, each with a weight above zero."""
    if not objective.weights:
        yield words.mistake("objective", "has no goal", f"one of {', '.join(Goal)}")
    for goal, weight in objective.weights.items():
        if not attributes.WEIGHT.holds(weight):
            least, most = map(attributes.plain, attributes.WEIGHT)
            expected = f"a number from {least} to {most}"
            yield words.mistake(weight_key(goal), "is out of range", expected, "leave out goals that do not count")


def targets_are_given(objective: Objective, words: Words) -> Iterator[Mistake]:
    """Require targets for shortages; other goals may have them too, to be tried by `--objective`."""
    for goal, name in NEEDED.items():
        target = getattr(objective, name)
        if goal in objective.weights and target is None:
            mend = "give one number, twelve (January to December), or one a step"
            yield words.mistake(f"objective.{name}", f'is missing: the goal "{goal}" needs it', mend=mend)
        if target is not None and not np.any(target > 0):
            yield words.mistake(f"objective.{name}", "is zero throughout", "more than 0 in some month")


def firm_power_is_possible(objective: Objective, installed_mw: float, words: Words) -> Iterator[Mistake]:
    """Allow the goal of firm power by itself: what is maximised beside it is energy."""
    if objective.is_firm and len(objective.weights) > 1:
        problem = "cannot be weighted: firm power comes first, then energy at that firmness"
        mend = "give it alone; `reservoir tradeoff` shows firm power against another goal"
        yield words.mistake(weight_key(Goal.FIRM_POWER), problem, mend=mend)
    if objective.firm_power_mw is not None:
        name = "objective.firm_power_mw"
        if objective.is_firm:
            yield words.mistake(name, "is what the goal firm-power searches", mend="remove it, or choose another goal")
        if Goal.POWER_SHORTAGE in objective.weights:
            yield words.mistake(name, "contradicts the target of the power shortage", mend="keep one of the two")
        if not 0 < objective.firm_power_mw <= installed_mw:
            most = words.amount("installed_mw", installed_mw)
            yield words.mistake(name, "is out of range", f"more than 0, at most the installed capacity ({most})")
    if not 0.5 <= objective.firm_share <= 1:
        yield words.mistake("objective.firm_share", "is out of range", "0.5 to 1: the share of steps")


def weight_key(goal: Goal) -> str:
    """Where a reservoir file has the weight of a goal."""
    return f"objective.weights.{goal.replace('-', '_')}"


#: Fields that claims know by the part that they have.
_CALLED = {"demanded_mw": attributes.POWER_DEMAND}
#: Every claim with what it needs.
CLAIMS: Mapping[Claim, tuple[str, ...]] = {
    claim: tuple(_CALLED.get(name, name) for name in inspect.signature(claim).parameters)
    for claim in (
        *(has_a_name, guarantee_can_be_generated, lake_large_enough, storages_in_order, year_end_has_its_storages),
        *(
            flood_space_is_a_table,
            ends_within_the_lake,
            releases_in_order,
            installed_capacity_within_reach,
            marks_near_the_lake,
        ),
        *(plant_runs_in_some_month, power_demanded_can_be_made, operating_level_within_the_lake),
        *(end_value_needs_its_year_end, losses_follow_the_storage, weights_are_positive, targets_are_given),
        commitments_are_stated,
        firm_power_is_possible,
    )
}
