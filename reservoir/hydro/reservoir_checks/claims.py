"""Checks between the values of a reservoir, one small function for each.

A claim names what it needs as its parameters, by the fields of `Reservoir`, and yields a mistake where it does not
hold. It is not run where something that it needs is missing or broken.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import Mistake
from reservoir.hydro.calendar import HOURS_PER_YEAR, MONTHS_PER_YEAR, step_names
from reservoir.hydro.curves.curve import Curve, FloatArray
from reservoir.hydro.ranges import FLOW_M3S, LEAST_ACTIVE_PART, LEAST_CAPACITY_M3S, LEAST_FULL_HM3, STORAGE_HM3, Range
from reservoir.hydro.reservoir_kinds import ReferenceLevels, YearEnd
from reservoir.hydro.time_step import TimeStep
from reservoir.hydro.wording import Words
from reservoir.text.quantities import counted

Claim = Callable[..., Iterator[Mistake]]

#: An installed capacity of so many times what water and head can give is a slip of units.
BEYOND_REACH = 100
#: A mark may lie this far (m) above or below the lake's levels, or as far as these reach.
MARK_MARGIN_M = 100.0


class Lake(NamedTuple):
    """Between which storages (hm3) a lake is, and what its ends are called."""

    least: float
    most: float
    least_is: str = "dead"
    most_is: str = "full"


def failures(claims: Iterable[Claim], parts: Mapping[str, Any]) -> list[Mistake]:
    """Run every claim whose parts are all there."""
    needs = {claim: list(inspect.signature(claim).parameters) for claim in claims}
    return [
        mistake
        for claim, names in needs.items()
        if all(name in parts for name in names)
        for mistake in claim(**{name: parts[name] for name in names})
    ]


def offending(wrong: NDArray[np.bool_]) -> str:
    """Name the months, or shorter steps, that are wrong."""
    step = next(each for each in TimeStep if each.per_year == len(wrong))
    names = [f"week {week}" for week in range(1, len(wrong) + 1)] if step is TimeStep.WEEK else step_names(step, 1)
    places = np.flatnonzero(wrong).tolist()
    if len(places) == len(wrong):
        return f"every {step.noun}"
    more = len(places) - MONTHS_PER_YEAR
    listed = ", ".join(names[place] for place in places[:MONTHS_PER_YEAR])
    return listed if more <= 0 else f"{listed} and {counted(more, f'more {step.noun}')}"


def list_in_range(name: str, values: FloatArray, allowed: Range, words: Words) -> Iterator[Mistake]:
    """Refuse values by month, or by step, outside a range."""
    below, above = offending(values < allowed.least), offending(values > allowed.most)
    most = words.amount(name, allowed.most)
    if below:
        yield words.mistake(name, f"is below {allowed.least:g} in {below}", f"{allowed.least:g} or more")
    if above:
        yield words.mistake(name, f"is above {most} in {above}", f"at most {most}", "check the numbers and their units")


def storages_in_range(storage_lower_hm3: FloatArray, storage_upper_hm3: FloatArray, words: Words) -> Iterator[Mistake]:
    """Allow no storage that no lake on Earth holds."""
    yield from list_in_range("storage_lower_hm3", storage_lower_hm3, STORAGE_HM3, words)
    yield from list_in_range("storage_upper_hm3", storage_upper_hm3, STORAGE_HM3, words)


def lake_large_enough(lake: Lake, words: Words) -> Iterator[Mistake]:
    """Require storage to work with that float32 tells from none."""
    least = max(LEAST_FULL_HM3, LEAST_ACTIVE_PART * lake.most)
    if lake.most - lake.least < least:
        expected = f"an active storage of at least {words.amount('lake_hm3', least)}"
        yield words.mistake("lake_hm3", "leaves too little active storage", expected)


def storages_in_order(storage_lower_hm3: FloatArray, storage_upper_hm3: FloatArray, words: Words) -> Iterator[Mistake]:
    """Allow no month whose least storage is above its largest."""
    months = offending(storage_lower_hm3 > storage_upper_hm3)
    if months:
        problem = f"is above {words.named('storage_upper_hm3')} in {months}"
        yield words.mistake("storage_lower_hm3", problem, "a lower limit not above the upper limit")


def releases_in_range(release_lower_m3s: FloatArray, release_upper_m3s: FloatArray, words: Words) -> Iterator[Mistake]:
    """Allow no water to flow back, and no release that no river on Earth carries."""
    yield from list_in_range("release_lower_m3s", release_lower_m3s, FLOW_M3S, words)
    # Below 0 it is below the lower one too, which says enough.
    yield from list_in_range("release_upper_m3s", release_upper_m3s, Range(-np.inf, FLOW_M3S.most), words)


def releases_in_order(release_lower_m3s: FloatArray, release_upper_m3s: FloatArray, words: Words) -> Iterator[Mistake]:
    """Allow no month whose least release is above its largest; require one month that leaves a choice."""
    months = offending(release_lower_m3s > release_upper_m3s)
    if months:
        problem = f"is above {words.named('release_upper_m3s')} in {months}"
        yield words.mistake("release_lower_m3s", problem, "a lower limit not above the upper limit")
    elif np.all(release_lower_m3s == release_upper_m3s):
        yield words.mistake("release", "leaves nothing to plan", "an upper limit above the lower limit in some month")
    elif release_upper_m3s.max() < LEAST_CAPACITY_M3S:
        least = words.amount("release_upper_m3s", LEAST_CAPACITY_M3S)
        yield words.mistake("release_upper_m3s", "allows no release", f"at least {least} in some month")


def year_end_has_its_storages(
    year_end: YearEnd, initial_storage_hm3: float | None, final_storage_hm3: float | None, words: Words
) -> Iterator[Mistake]:
    """Require storages where the end of the year needs them, and allow them nowhere else."""
    initial, final = "initial_storage_hm3", "final_storage_hm3"
    if year_end is YearEnd.CYCLIC and initial_storage_hm3 is not None:
        yield words.mistake(initial, 'contradicts year_end = "cyclic"', mend=_CHOOSES)
    if year_end is not YearEnd.FIXED and final_storage_hm3 is not None:
        yield words.mistake(final, f'contradicts year_end = "{year_end}"', mend=_CHOOSES)
    if year_end is not YearEnd.CYCLIC and initial_storage_hm3 is None:
        expected = f'the storage at the start of every year, as year_end is "{year_end}"'
        yield words.mistake(initial, "is missing", expected)
    elif year_end is YearEnd.FIXED and final_storage_hm3 is None:
        yield words.mistake(final, "is missing", f'the storage at the end of every year, as year_end is "{year_end}"')


_CHOOSES = 'remove it, the plan chooses this storage; or set year_end = "fixed"'


def ends_within_the_lake(
    lake: Lake, initial_storage_hm3: float | None, final_storage_hm3: float | None, words: Words
) -> Iterator[Mistake]:
    """Require initial and final storage within the lake."""
    given = {"initial_storage_hm3": initial_storage_hm3, "final_storage_hm3": final_storage_hm3}
    told = set()
    for name, value in given.items():
        if value is not None and not lake.least <= value <= lake.most and words.named(name) not in told:
            least, most = (words.amount(name, end) for end in lake[:2])
            yield words.mistake(
                name, "is outside the storage range", f"{least} ({lake.least_is}) to {most} ({lake.most_is})"
            )
            told.add(words.named(name))


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


def installed_capacity_within_reach(installed_mw: float, most_power_mw: float, words: Words) -> Iterator[Mistake]:
    """Allow no installed capacity far beyond what release, head and conversion can ever give."""
    if installed_mw > BEYOND_REACH * most_power_mw:
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


CLAIMS: tuple[Claim, ...] = (
    guarantee_can_be_generated,
    storages_in_range,
    lake_large_enough,
    storages_in_order,
    year_end_has_its_storages,
    ends_within_the_lake,
    releases_in_range,
    releases_in_order,
    installed_capacity_within_reach,
    marks_near_the_lake,
)
