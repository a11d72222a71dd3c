"""What must hold between the values of a reservoir file, one small check for each claim.

A check names the sections that it needs as its parameters and yields a mistake where its claim does not hold. It is not
run where a section that it needs is missing or broken.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from reservoir.errors import Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.hydro.curves import Curve
from reservoir.hydro.reservoir import YearEnd
from reservoir.hydro.reservoir_toml.draft import Draft
from reservoir.hydro.reservoir_toml.schema import HOURS_PER_YEAR, Marks, Plant, Release, Storage

Check = Callable[..., Iterator[Mistake]]

#: A level read off a map and one off the curve differ by less.
LEVEL_TOLERANCE_M = 0.5

#: The ways to say how much power water gives.
CONVERSIONS = (
    "curves.conversion_rate",
    "curves.output_coefficient",
    "curves.efficiency",
    "plant.output_coefficient",
    "plant.efficiency",
)


def failures(checks: tuple[Check, ...], parts: Mapping[str, Any]) -> list[Mistake]:
    """Run every check whose parts are all there."""
    needs = {check: list(inspect.signature(check).parameters) for check in checks}
    return [
        mistake
        for check, names in needs.items()
        if all(parts.get(name) is not None for name in names)
        for mistake in check(**{name: parts[name] for name in names})
    ]


def one_conversion(draft: Draft) -> Iterator[Mistake]:
    """Require exactly one way from water to power."""
    given = [key for key in CONVERSIONS if draft.has(key)]
    if not given and isinstance(draft.tree.get("plant", {}), dict):
        yield draft.mistake("plant", "does not say how much power water gives", f"one of {', '.join(CONVERSIONS)}")
    for key in given[1:]:
        yield draft.mistake(key, f"contradicts {given[0]}", f"only one of {', '.join(given)}")


def one_capacity(draft: Draft) -> Iterator[Mistake]:
    """Allow one hydraulic capacity."""
    if draft.has("curves.capacity") and draft.has("plant.hydraulic_capacity_m3s"):
        yield draft.mistake("plant.hydraulic_capacity_m3s", "contradicts curves.capacity", "only one of the two")


def guarantee_can_be_generated(plant: Plant, draft: Draft) -> Iterator[Mistake]:
    """Allow no more promised energy than the plant makes at full power."""
    most = plant.installed_capacity_mw * HOURS_PER_YEAR / 1000
    if plant.guaranteed_energy_gwh is not None and plant.guaranteed_energy_gwh > most:
        expected = f"at most {most:.7g} GWh, a year at the installed capacity"
        yield draft.mistake("plant.guaranteed_energy_gwh", "is more than the plant can generate", expected)


def dead_below_full(storage: Storage, draft: Draft) -> Iterator[Mistake]:
    """Require some storage to work with."""
    if not storage.is_lake:
        expected = f"less than the full storage, {draft.amount('storage.dead_hm3', storage.full_hm3)}"
        yield draft.mistake("storage.dead_hm3", "leaves no active storage", expected)


def _offending(months: Iterator[bool]) -> str:
    names = [name for name, wrong in zip(MONTH_NAMES, months, strict=True) if wrong]
    return "every month" if len(names) == MONTHS_PER_YEAR else ", ".join(names)


def storage_bounds_within_the_lake(storage: Storage, draft: Draft) -> Iterator[Mistake]:
    """Require monthly bounds between dead and full storage."""
    key = "storage.dead_hm3"
    for bound in ("lower", "upper"):
        values = getattr(storage, bound)
        months = _offending(not storage.dead_hm3 <= value <= storage.full_hm3 for value in values)
        if months and storage.is_lake:
            lake = f"{draft.amount(key, storage.dead_hm3)} (dead) to {draft.amount(key, storage.full_hm3)} (full)"
            yield draft.mistake(f"storage.{bound}_hm3", f"leaves the lake in {months}", lake)


def storage_bounds_in_order(storage: Storage, draft: Draft) -> Iterator[Mistake]:
    """Allow no month whose least storage is above its largest."""
    months = _offending(low > high for low, high in zip(storage.lower, storage.upper, strict=True))
    if months and storage.lower_hm3 and storage.upper_hm3:
        upper = draft.entry("storage.upper_hm3").key
        yield draft.mistake("storage.lower_hm3", f"is above {upper} in {months}", "the least not above the most")


def release_bounds_in_order(release: Release, draft: Draft) -> Iterator[Mistake]:
    """Allow no month whose least release is above its largest; require one month that leaves a choice."""
    bounds = list(zip(release.lower_m3s, release.upper_m3s, strict=True))
    months = _offending(low > high for low, high in bounds)
    if months:
        upper = draft.entry("release.upper_m3s").key
        yield draft.mistake("release.lower_m3s", f"is above {upper} in {months}", "the least not above the most")
    elif all(low == high for low, high in bounds):
        yield draft.mistake("release", "leaves nothing to plan", "an upper limit above the lower one")


def release_never_negative(release: Release, draft: Draft) -> Iterator[Mistake]:
    """Allow no water to flow back."""
    months = _offending(low < 0 for low in release.lower_m3s)
    if months:
        yield draft.mistake("release.lower_m3s", f"is below 0 in {months}", "0 or more")


def year_end_has_its_storages(storage: Storage, draft: Draft) -> Iterator[Mistake]:
    """Require storages where the end of the year needs them, and allow them nowhere else."""
    end = storage.year_end
    if end is YearEnd.CYCLIC and storage.initial_hm3 is not None:
        yield draft.mistake("storage.initial_hm3", 'contradicts year_end = "cyclic"', mend=_CHOOSES)
    if end is not YearEnd.FIXED and storage.final_hm3 is not None:
        yield draft.mistake("storage.final_hm3", f'contradicts year_end = "{end}"', mend=_CHOOSES)
    if end is not YearEnd.CYCLIC and storage.initial_hm3 is None:
        expected = f'the storage with which every year begins, as year_end is "{end}"'
        yield draft.mistake("storage.initial_hm3", "is missing", expected)


_CHOOSES = 'remove it, for the plan chooses this storage; or say year_end = "fixed"'


def ends_within_the_lake(storage: Storage, draft: Draft) -> Iterator[Mistake]:
    """Require initial and final storage between dead and full."""
    for key, value in (("initial_hm3", storage.initial_hm3), ("final_hm3", storage.final_hm3)):
        dotted = f"storage.{key}"
        if value is not None and storage.is_lake and not storage.dead_hm3 <= value <= storage.full_hm3:
            dead, full = draft.amount(dotted, storage.dead_hm3), draft.amount(dotted, storage.full_hm3)
            yield draft.mistake(dotted, "is outside the lake", f"{dead} (dead) to {full} (full)")


def final_within_its_month(storage: Storage, first_month: int, draft: Draft) -> Iterator[Mistake]:
    """Require a final storage within the bounds of the last month of the water year."""
    month = (first_month - 2) % MONTHS_PER_YEAR
    low, high = storage.lower[month], storage.upper[month]
    if storage.final is None or low <= storage.final <= high:
        return
    if storage.dead_hm3 <= storage.final <= storage.full_hm3:
        given = draft.has("storage.final_hm3")
        key = "storage.final_hm3" if given else "storage.initial_hm3"
        problem = f"{'' if given else 'ends the year too, and '}is not allowed at the end of {MONTH_NAMES[month]}"
        yield draft.mistake(key, problem, f"{draft.amount(key, low)} to {draft.amount(key, high)}, as [storage] says")


def marks_agree_with_the_level_curve(marks: Marks, storage: Storage, level: Curve, draft: Draft) -> Iterator[Mistake]:
    """Require normal and dead level to stand where the curve puts full and dead storage."""
    for key, given, volume in (("normal_m", marks.normal_m, "full"), ("dead_m", marks.dead_m, "dead")):
        curve = float(level(getattr(storage, f"{volume}_hm3")))
        if given is not None and abs(given - curve) > LEVEL_TOLERANCE_M:
            problem = f"contradicts the level curve, which puts the {volume} storage at {curve:.7g} m"
            yield draft.mistake(f"marks.{key}", problem, f"a level within {LEVEL_TOLERANCE_M} m of the curve")


CHECKS: tuple[Check, ...] = (
    guarantee_can_be_generated,
    one_conversion,
    one_capacity,
    dead_below_full,
    storage_bounds_within_the_lake,
    storage_bounds_in_order,
    year_end_has_its_storages,
    ends_within_the_lake,
    final_within_its_month,
    release_never_negative,
    release_bounds_in_order,
    marks_agree_with_the_level_curve,
)
