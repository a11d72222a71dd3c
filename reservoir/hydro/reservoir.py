"""One reservoir: its curves, plant and limits, checked and frozen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.attributes import (
    ATTRIBUTES,
    ConversionKind,
    Counted,
    Kind,
    ReferenceLevels,
    YearEnd,
    attribute_of,
)
from reservoir.hydro.calendar import Calendar, CalendarKind, TimeStep
from reservoir.hydro.checks import checked
from reservoir.hydro.curve_checks import notes_of, storages_of
from reservoir.hydro.curves.curve import Curve
from reservoir.hydro.flood_space import FloodSpace
from reservoir.hydro.objectives import Horizon, Objective
from reservoir.text.quantities import quantity

_Class = TypeVar("_Class", bound=type)


def _with_all_attributes(cls: _Class) -> _Class:
    """The class with a field, and its description, for every row of the table that it does not state itself."""
    described = ""
    for row in ATTRIBUTES:
        if row.field and "." not in row.field and row.field not in cls.__annotations__:
            by_step = row.kind is Kind.BY_STEP
            cls.__annotations__[row.field] = "NDArray[np.float64]" if by_step else "Any"
            setattr(cls, row.field, field(default_factory=row.usual))
            kind = "ndarray, shape (12,) or (steps,)" if by_step else "optional"
            described += f"    {row.field} : {kind}\n        {row.meaning[:1].upper()}{row.meaning[1:]}.\n"
    if cls.__doc__:  # none where Python is told to drop it
        cls.__doc__ = cls.__doc__.replace("\n\n    Raises\n", f"\n{described}\n    Raises\n")
    return cls


# Compared by identity: arrays have no single truth value, and an identity can be a key.
@dataclass(frozen=True, eq=False)
@_with_all_attributes
class Reservoir:
    """One reservoir: curves, plant and limits; checked, however it is made, with its arrays as read-only copies.

    Parameters
    ----------
    name : str
        Short name, used in file names and titles.
    level : Curve
        Forebay level (m) by storage (hm3).
    tailrace : Curve
        Tailrace level (m) by release (m3/s).
    conversion : Curve
        What `conversion_kind` says, by head (m).
    conversion_kind : ConversionKind
        Meaning of `conversion`.
    capacity_m3s : Curve
        Hydraulic capacity of the turbines (m3/s) by head (m).
    installed_mw : float
        Installed capacity.
    storage_lower_hm3, storage_upper_hm3 : ndarray, shape (12,) or (steps,)
        Bounds of the storage at the end of each step: twelve are those of calendar months, January first. A list by
        shorter steps begins with January too, but one by weeks with the water year.
    release_lower_m3s, release_upper_m3s : ndarray, shape (12,) or (steps,)
        Bounds of the release in each step.
    initial_storage_hm3, final_storage_hm3 : float or None
        Storage at the start and at the end of a horizon; None where `year_end` leaves it open.
    year_end : YearEnd
        How a horizon begins and ends.
    penalty : float
        Penalty factor (paper eq. 21): cost of a relative violation of 1, in the unit of the objective.
    objective : Objective
        What is optimised: energy, if nothing else is said.
    horizon : Horizon
        What is planned as one problem where the call does not say it.
    flood_space : FloodSpace, optional
        Highest storages by date and by a column of the record, where these are less than `storage_upper_hm3`.
    area_km2 : Curve, optional
        Area of the lake (km2) by storage (hm3); without it, the slope of the storage over the level.
    evaporation_mm : ndarray, shape (12,) or (steps,)
        Net evaporation (evaporation less rain) of each calendar month, of which shorter steps have their part by days,
        or of each step; negative where it rains more.
    seepage_m3s : Curve, optional
        Water that seeps away (m3/s) by storage (hm3).
    withdrawal_m3s : ndarray, shape (12,) or (steps,)
        Water that users take from the lake.
    plant_factor : ndarray, shape (12,) or (steps,)
        Part of each step in which the turbines can run at full load.
    operating_level_m : float, optional
        Level below which the turbines stand still.
    ramp_up_m3s, ramp_down_m3s : float, optional
        Largest rise and fall of the release from a step to the next.
    end_value_gwh_per_hm3 : float, optional
        What a hm3 in store at the end of a horizon is worth, with `year_end` "valued"; None: as the record implies.
    annual_release_hm3 : float, optional
        Volume to release in each water year, at least.
    tier_level_m, tier_release_hm3 : tuple of float
        In its place, levels from which on volumes count; the first counts below its level too.
    tier_month : int, optional
        Calendar month at whose start the level decides; by default the first of the water year.
    most_annual_release_hm3 : float, optional
        Volume to release in each water year, at most.
    counts : Counted
        Which water counts for these volumes.
    first_month : int
        Calendar month in which the water year begins.
    calendar : CalendarKind
        How long months are.
    step : TimeStep
        Into what a water year is divided.
    guaranteed_energy_gwh : float or None
        Energy promised for a year.
    guaranteed_power_mw : float or None
        Mean power promised for every step.
    marks : ReferenceLevels
        Levels drawn into figures.
    description, caveat : str
        Shown with results; the caveat on every figure.
    source, sha256 : str
        Where it was read from, and the hash of those bytes.
    content : bytes
        Those bytes; what they came from may be gone, or be another file by now.

    Raises
    ------
    InputError
        With every field that is not what it should be, or contradicts another.
    """

    name: str
    level: Curve
    tailrace: Curve
    conversion: Curve
    conversion_kind: ConversionKind
    capacity_m3s: Curve
    installed_mw: float
    storage_lower_hm3: NDArray[np.float64]
    storage_upper_hm3: NDArray[np.float64]
    release_lower_m3s: NDArray[np.float64]
    release_upper_m3s: NDArray[np.float64]
    initial_storage_hm3: float | None
    final_storage_hm3: float | None
    year_end: YearEnd
    penalty: float
    objective: Objective = field(default_factory=Objective)
    horizon: Horizon = field(default_factory=Horizon)
    flood_space: FloodSpace | None = None
    area_km2: Curve | None = None
    evaporation_mm: NDArray[np.float64] = field(default_factory=attribute_of("evaporation_mm").usual)
    seepage_m3s: Curve | None = None
    withdrawal_m3s: NDArray[np.float64] = field(default_factory=attribute_of("withdrawal_m3s").usual)
    plant_factor: NDArray[np.float64] = field(default_factory=attribute_of("plant_factor").usual)
    operating_level_m: float | None = None
    ramp_up_m3s: float | None = None
    ramp_down_m3s: float | None = None
    end_value_gwh_per_hm3: float | None = None
    annual_release_hm3: float | None = None
    tier_level_m: tuple[float, ...] = ()
    tier_release_hm3: tuple[float, ...] = ()
    tier_month: int | None = None
    most_annual_release_hm3: float | None = None
    counts: Counted = Counted.RELEASED
    first_month: int = 1
    calendar: CalendarKind = CalendarKind.REAL
    step: TimeStep = TimeStep.MONTH
    guaranteed_energy_gwh: float | None = None
    guaranteed_power_mw: float | None = None
    marks: ReferenceLevels = field(default_factory=ReferenceLevels)
    description: str = ""
    caveat: str = ""
    source: str = ""
    sha256: str = ""
    content: bytes = field(default=b"", repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, value in checked({each.name: getattr(self, each.name) for each in fields(self)}).items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        least, most = (quantity(float(storage)) for storage in storages_of(vars(self)))
        return f"<Reservoir {self.name}: {least} to {most} hm3, {quantity(self.installed_mw)} MW>"

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What may be meant otherwise than it stands, a sentence each."""
        return tuple(notes_of(vars(self)))

    @property
    def has_conditions(self) -> bool:
        """Whether a step has to reckon with more than inflow, release and their bounds (`conditions`)."""
        rows = [row for row in ATTRIBUTES if row.part in CONDITIONS]
        valued = self.year_end is YearEnd.VALUED or self.seepage_m3s is not None
        return valued or self.pays_for_energy or not all(row.is_usual(getattr(self, row.field)) for row in rows)

    @property
    def pays_for_energy(self) -> bool:
        """Whether a price of energy is negative."""
        return self.objective.price_per_mwh is not None and bool(self.objective.price_per_mwh.min() < 0)

    @property
    def is_run_of_river(self) -> bool:
        """Whether it stores nothing, and releases what flows in."""
        return bool(self.storage_lower_hm3.min() == self.storage_upper_hm3.max())

    @property
    def months(self) -> NDArray[np.int64]:
        """Calendar month of each step of the water year: the one in which its middle lies."""
        return self.step.months(self.first_month)

    @property
    def storage_bounds_hm3(self) -> NDArray[np.float64]:
        """Lower and upper bound of the storage at the end of each step of the water year, shape (2, steps)."""
        return np.stack([self.by_step(self.storage_lower_hm3), self.by_step(self.storage_upper_hm3)])

    @property
    def release_bounds_m3s(self) -> NDArray[np.float64]:
        """Lower and upper bound of the release in each step of the water year, shape (2, steps)."""
        return np.stack([self.by_step(self.release_lower_m3s), self.by_step(self.release_upper_m3s)])

    def by_step(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of calendar months, January first, or of steps, in the order of the steps of the water year."""
        return self.step.in_water_year(self.step.listed(values, self.first_month), self.first_month)

    def in_years(self, values: NDArray[np.float64], calendar: Calendar) -> NDArray[np.float64]:
        """The same for every year of a calendar, shape (years, steps); stored once, and read-only."""
        return np.broadcast_to(np.resize(self.by_step(values), calendar.steps), (calendar.years, calendar.steps))

    def to_toml(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the text of a reservoir file, and write it to `path` if given, see `reservoir.write_reservoir`."""
        import reservoir  # files are read and written above this folder: the package knows where

        return reservoir.write_reservoir(self, path, force=force)


#: Digits that count in digests, for a value written in another unit differs beyond them; characters of a digest.
_DIGITS, _LENGTH = 10, 16
#: The domain of a formula follows the bounds where none is given: it tells nothing where they differ.
_REACH = "reach of the curves"
#: Parts of digests that every reservoir has, and those that all with losses, demands or a valued end have; others are
#: there where they are not as usual.
_ALWAYS = (
    "installed capacity",
    "storage bounds",
    "release bounds",
    "year end",
    "penalty",
    "guaranteed energy",
    "first month",
)
CONDITIONS = (
    "losses of the lake",
    "plant factor",
    "minimum power",
    "minimum operating level",
    "change of the release",
    "end value",
)


def reservoir_digests(reservoir: Reservoir) -> dict[str, str]:
    """A digest of each part that decides how a reservoir works, by the name of the part; equal for equal behaviour.

    Names, remarks, marks for figures and the spelling of units have no part in it.
    """
    plant = reservoir
    values: dict[str, list[Any]] = {}
    others = dict[str, None]()
    for row in sorted((row for row in ATTRIBUTES if row.part), key=lambda row: not row.section):
        value = getattr(plant, row.field)
        values.setdefault(row.part, []).append(value)
        if row.part not in (*_ALWAYS, *CONDITIONS) and not row.is_usual(value):
            others[row.part] = None
    lake = [None if curve is None else _shape(curve) for curve in (plant.area_km2, plant.seepage_m3s)]
    values["losses of the lake"].append(lake)
    parts: dict[str, Any] = {
        "level curve": _shape(plant.level),
        "tailrace curve": _shape(plant.tailrace),
        "power of water by head": [plant.conversion_kind, _shape(plant.conversion)],
        "hydraulic capacity": _shape(plant.capacity_m3s),
        _REACH: [curve.domain for curve in (plant.level, plant.tailrace, plant.conversion, plant.capacity_m3s)],
        **{part: values[part] for part in (*_ALWAYS, *others)},
        **({} if plant.flood_space is None else {"flood space": plant.flood_space.stated}),
        **({} if plant.objective.is_energy else {"objective": plant.objective.stated}),
        **({part: values[part] for part in CONDITIONS} if plant.has_conditions else {}),
    }
    alone = {part for part, several in values.items() if len(several) == 1}
    return {name: _digest(part[0] if name in alone else part) for name, part in parts.items()}


def differing_parts(reservoir: Reservoir, digests: Mapping[str, str]) -> list[str]:
    """Names of the parts in which a reservoir is not the one whose digests are given."""
    own = reservoir_digests(reservoir)
    differing = [name for name in own | dict(digests) if digests.get(name) != own.get(name)]
    return [name for name in differing if name != _REACH] or differing


def _shape(curve: Curve) -> list[object]:
    """The numbers of a curve; a formula's domain is told apart from it."""
    numbers = {each.name: getattr(curve, each.name) for each in fields(curve)}  # type: ignore[arg-type]
    return [type(curve).__name__, *(value for name, value in numbers.items() if name not in ("domain", "follows"))]


def _digest(part: object) -> str:
    return hashlib.sha256(json.dumps(_rounded(part)).encode()).hexdigest()[:_LENGTH]


def _rounded(part: object) -> object:
    """Numbers as text of so many digits, whatever holds them."""
    if part is None or isinstance(part, str):
        return part
    if isinstance(part, int | float):
        return f"{float(part) + 0.0:.{_DIGITS}g}"
    return [_rounded(each) for each in part]  # type: ignore[attr-defined]
