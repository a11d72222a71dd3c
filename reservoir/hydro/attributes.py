"""The table of attributes: everything that describes a reservoir, a row for each.

A row says what an attribute is called in Python and in a reservoir file, its unit and range, what it is where nothing
is said, whether it may differ by step, and what it means. The reader and the writer of files, the checks of
`Reservoir`, the template, the tables of the documentation, digests and messages read it: a further attribute is a
further row.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from functools import cache, cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from reservoir.errors import Mistake
from reservoir.hydro import units
from reservoir.hydro.calendar import MONTHS_PER_YEAR, CalendarKind, TimeStep
from reservoir.hydro.objectives import Goal, Horizon


class YearEnd(StrEnum):
    """How a year's storage begins and ends."""

    FIXED = "fixed"
    """From the initial to the final storage, as in the paper (eq. 13)."""
    CYCLIC = "cyclic"
    """Ends at the storage it began with, and the plan chooses which."""
    FREE = "free"
    """From the initial storage to anywhere within the bounds."""
    VALUED = "valued"
    """As `FREE`, but water left at the end is worth energy."""


class FileKind(StrEnum):
    """What a file of this program describes."""

    RESERVOIR = "reservoir"
    SYSTEM = "system"


class InflowIs(StrEnum):
    """What the inflow of a reservoir of a system is."""

    LOCAL = "local"
    """What joins the river below the reservoirs above."""
    TOTAL = "total"
    """All that flows there, with what the reservoirs above let pass."""


class Counted(StrEnum):
    """Which water counts for what a reservoir is committed to."""

    RELEASED = "released"
    """All that leaves the dam."""
    TURBINED = "turbined"
    """What the turbines take."""


class ConversionKind(StrEnum):
    """What the conversion curve says about a head."""

    RATE = "rate"
    """Water conversion rate C(H), m3/kWh (paper eq. 7): power = 3600 Q / C."""
    COEFFICIENT = "coefficient"
    """Output coefficient K(H): power in kW = K Q H."""
    EFFICIENCY = "efficiency"
    """Overall efficiency eta(H): power in kW = eta rho g Q H / 1000."""


@dataclass(frozen=True)
class ReferenceLevels:
    """Levels (m) drawn into figures; None where a reservoir has no such level."""

    normal_m: float | None = None
    flood_m: float | None = None
    dead_m: float | None = None
    flood_months: tuple[int, ...] = ()


class Range(NamedTuple):
    """The least and the largest value that is taken for a quantity; what lies beyond is a slip."""

    least: float
    most: float

    def holds(self, value: float) -> bool:
        """Whether a value is a finite number of the range."""
        return self.least <= value <= self.most


# Wide enough for any reservoir on Earth, and valid in float32 on a device.
ANY = Range(-np.inf, np.inf)
#: Lake Baikal holds 2.4e7 hm3.
STORAGE_HM3 = Range(0.0, 1e8)
#: A lake of less, 100 m3, is no reservoir.
LEAST_FULL_HM3 = 1e-4
#: Part of the full storage that must be there to work with: float32 tells no smaller parts of it apart.
LEAST_ACTIVE_PART = 1e-4
#: The Amazon carries 2e5 m3/s.
FLOW_M3S = Range(0.0, 1e6)
CAPACITY_M3S = Range(1e-3, 1e6)
#: A release that may not change at all leaves nothing to plan.
RAMP_M3S = Range(1e-3, 1e6)
#: The Caspian Sea covers 371,000 km2.
AREA_KM2 = Range(0.0, 1e6)
#: Of a month, negative where it rains more than evaporates; the wettest month on Earth had 9,300 mm.
EVAPORATION_MM = Range(-1e4, 2e3)
#: Recorded losses of a step: Lake Nasser evaporates 2e3 in a month; banks give water back, too.
LOSS_HM3 = Range(-1e5, 1e5)
#: What flood space depends on, in any unit.
FLOOD_INDEX = Range(-1e12, 1e12)
FRACTION = Range(0.0, 1.0)
#: A hm3 from 10 km of head makes 27 GWh.
WATER_VALUE_GWH_PER_HM3 = Range(0.0, 30.0)
#: Of a hm3 left at the end, in the unit of the objective: a currency may be small.
END_VALUE_PER_HM3 = Range(0.0, 1e12)
#: Of a goal in an objective.
WEIGHT = Range(1e-6, 1e9)
#: In any currency; where it is negative, water is spilled.
PRICE_PER_MWH = Range(-1e9, 1e9)
LEVEL_M = Range(-1e3, 1e4)
HEAD_M = Range(0.0, 1e4)
#: The largest plant of all has 22,500 MW.
POWER_MW = Range(1e-4, 1e5)
NO_LESS_THAN_ZERO = Range(0.0, np.inf)
ENERGY_GWH = Range(0.0, 1e6)
PENALTY = Range(0.0, 1e12)
PENALTY_GWH = Range(0.0, 1e7)
#: Water that a kilowatt-hour takes at a head of 1 mm, and of 10 km.
RATE_M3_PER_KWH = Range(0.03, 1e6)
#: Output coefficient K, kW per m3/s and metre, up to that of a plant without losses.
LOSSLESS_COEFFICIENT = 1e3 * units.WATER_MW_PER_M3S_M
COEFFICIENT = Range(0.1, LOSSLESS_COEFFICIENT)
EFFICIENCY = Range(0.01, 1.0)
MONTH = Range(1, MONTHS_PER_YEAR)
#: More turbines than any plant has.
UNITS = Range(1, 1000)

LONGEST_NAME = 64
#: Characters of a description or a caveat: more is no sentence, and a figure takes seconds to draw it.
LONGEST_TEXT = 1000


class Unit(NamedTuple):
    """A unit in which a key may be written."""

    name: str
    suffix: str
    size: float


def _family(sizes: Mapping[str, float]) -> tuple[Unit, ...]:
    return tuple(Unit(name, units.key_suffix(name), size) for name, size in sizes.items())


#: The units of a quantity, the program's own first, by the end of keys.
_FAMILIES: Mapping[str, tuple[Unit, ...]] = {
    "gwh_per_hm3": _family(units.WATER_VALUE_GWH_PER_HM3),
    "per_hm3": tuple(Unit(f"1/{unit.name}", f"per_{unit.suffix}", 1 / unit.size) for unit in _family(units.VOLUME_HM3)),
    "hm3": _family(units.VOLUME_HM3),
    "m3s": _family(units.FLOW_M3S),
    "m3_per_kwh": _family(units.RATE_M3_PER_KWH),
    "km2": _family(units.AREA_KM2),
    "mm": _family(units.DEPTH_MM),
    "mw": _family(units.POWER_MW),
    "gwh": _family(units.ENERGY_GWH),
    "m": _family(units.LENGTH_M),
}
#: How else the unit of a key is written, by its usual ending.
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "m3s": ("cms", "cumecs"),
    "cfs": ("ft3s",),
    "acre_ft": ("af", "acft"),
    "ha": ("hectares",),
    "in": ("inches",),
    "ft": ("feet",),
}


def units_of(name: str) -> tuple[str, tuple[Unit, ...]]:
    """Take a name apart: its stem, and the units of the quantity that it ends with; none where it holds no quantity."""
    for ending, family in _FAMILIES.items():
        if name.endswith(f"_{ending}"):
            return name.removesuffix(f"_{ending}"), family
    return name, ()


class Kind(Enum):
    """What may be given for an attribute."""

    NUMBER = auto()
    WHOLE = auto()
    BY_STEP = auto()
    """A number, one for each calendar month, January first, or one for each step."""
    BY_MONTH = auto()
    NUMBERS = auto()
    ROWS = auto()
    """Lists of numbers."""
    DATES = auto()
    """Days of the year, as texts."""
    INTERVAL = auto()
    COEFFICIENTS = auto()
    EXPONENT = auto()
    MONTHS = auto()
    CHOICE = auto()
    FLAG = auto()
    UNIT = auto()
    TEXT = auto()
    NAME = auto()
    SPAN = auto()
    OTHER = auto()
    """What the reader of files knows alone."""


#: What is expected of lists, behind what they mean.
LISTS = {
    Kind.BY_STEP: "one number, a list of twelve (January to December), or one a step",
    Kind.BY_MONTH: "one number, or a list of twelve (January to December)",
}


@dataclass(frozen=True)
class Attribute:
    """A row of the table.

    Parameters
    ----------
    key : str
        Section and key in a reservoir file, with the program's unit at its end; "" where a file has it in other words.
    meaning : str
        What it is, for people; in messages it follows the word "expected".
    allowed : Range
        Of every number.
    field : str
        The field of `Reservoir`, or of its objective or marks, that it gives; "" if it gives none by itself. Of two
        keys for one field, the first is in GWh and the other in the unit of any objective.
    part : str
        The part of a reservoir's digests that it belongs to; "" where it does not decide how a reservoir works.
    kind : Kind
    default : object
        Where nothing is given; of lists the value of every month.
    choices : type of Enum, or tuple of str
        What it is one of.
    required : bool
        Whether its section must have it.
    above : bool
        Whether the least number is not allowed itself.
    mend : str
        What to do about a number out of range.
    """

    key: str
    meaning: str
    allowed: Range = ANY
    field: str = ""
    part: str = ""
    kind: Kind = Kind.NUMBER
    default: Any = None
    choices: Any = ()
    required: bool = False
    above: bool = False
    mend: str = ""

    @property
    def description(self) -> str:
        """Its meaning, and how it may be given."""
        return f"{self.meaning}: {LISTS[self.kind]}" if self.kind in LISTS else self.meaning

    @property
    def section(self) -> str:
        """The section of its key; "" for the top of the file."""
        return self.key.rpartition(".")[0]

    @property
    def name(self) -> str:
        """Its key within the section."""
        return self.key.rpartition(".")[2]

    @cached_property
    def stem(self) -> str:
        """Its key without the unit."""
        return units_of(self.name)[0]

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Units in which it may be given, by the end of its key, the program's own first; none of what has no unit."""
        return units_of(self.name)[1]

    def written(self, unit: Unit) -> str:
        """Its key as a file has it that uses a unit."""
        return f"{self.stem}_{unit.suffix}"

    def unit(self, written: str) -> Unit | None:
        """The unit of a key as written; None where it is not wholly this stem and a unit of this quantity."""
        ending = written.lower().removeprefix(f"{self.stem}_")
        if ending == written.lower():
            return None
        return next((unit for unit in self.units if ending in (unit.suffix, *_SPELLINGS.get(unit.suffix, ()))), None)

    def usual(self) -> Any:
        """What a reservoir has where nothing is given: of lists an array of twelve."""
        by_step = self.kind is Kind.BY_STEP and self.default is not None
        return np.full(MONTHS_PER_YEAR, self.default) if by_step else self.default

    def is_usual(self, value: Any) -> bool:
        """Whether a value says no more than that nothing is given."""
        return bool(value is None or np.all(value == self.default))


def _choice(key: str, meaning: str, field: str, default: Any, part: str = "") -> Attribute:
    return Attribute(key, meaning, ANY, field, part, Kind.CHOICE, default, type(default))


#: What a K above that of a plant without losses may be.
_OF_K = (
    "K is 9.81 x efficiency, mostly 7 to 9.2; if yours is the power at full load over the mean flow of a step, "
    "multiply it by the part of the step that is run at full load, and give that part as plant_factor"
)
_number, _by_step = Attribute, partial(Attribute, kind=Kind.BY_STEP)
_LOSSES, _RAMPS, _MINIMUM_POWER = "losses of the lake", "change of the release", "minimum power"
_COMMITMENTS = "commitments"
# fmt: off
#: The attributes that are no curves, in the order of a reservoir file.
ATTRIBUTES: tuple[Attribute, ...] = (
    Attribute("name", "a short name for the reservoir", kind=Kind.NAME, field="name"),
    Attribute("description", "a sentence about the reservoir", kind=Kind.TEXT, field="description", default=""),
    Attribute("caveat", "a warning to print on every figure", kind=Kind.TEXT, field="caveat", default=""),
    Attribute("kind", '"reservoir" (default); a file of kind "system" has several reservoirs', kind=Kind.CHOICE,
              default=FileKind.RESERVOIR, choices=FileKind),
    Attribute("first_month", "the calendar month in which the water year begins, 1 to 12", MONTH,
              "first_month", "first month", kind=Kind.WHOLE, default=1),
    _choice("calendar",
            '"real" (default); "equal-months": every month has 30 days, as in published test problems; or '
            '"mean-months": February has 28.25 days',
            "calendar", CalendarKind.REAL, "calendar"),
    _choice("step",
            '"month" (default), "ten-days" (from the 1st, 11th and 21st), "week" or "day": what is planned for',
            "step", TimeStep.MONTH, "time step"),

    _number("plant.installed_capacity_mw", "the installed capacity of the plant, MW", POWER_MW,
            "installed_mw", "installed capacity"),
    Attribute("plant.units", "the number of equal units", UNITS, kind=Kind.WHOLE),
    _number("plant.unit_capacity_mw", "the installed capacity of one of the units, MW", POWER_MW),
    _number("plant.unit_hydraulic_capacity_m3s", "the maximum turbine discharge of one of the units", CAPACITY_M3S),
    _number("plant.guaranteed_energy_gwh", "the guaranteed annual energy, GWh", ENERGY_GWH,
            "guaranteed_energy_gwh", "guaranteed energy", above=True),
    _number("plant.guaranteed_power_mw",
            "the guaranteed mean power of every step, MW: what rules are measured against", POWER_MW,
            "guaranteed_power_mw", "guaranteed power"),
    _number("plant.output_coefficient",
            "K in power (kW) = K x flow (m3/s) x head (m); 9.80665 for a plant without losses", COEFFICIENT,
            mend=_OF_K),
    _number("plant.efficiency", "the overall efficiency as a fraction: 0.92 for 92 %", EFFICIENCY),
    _number("plant.hydraulic_capacity_m3s", "the maximum turbine discharge", CAPACITY_M3S),
    _by_step("plant.plant_factor", "the fraction of the step in which the turbines can run at full load", FRACTION,
             "plant_factor", "plant factor", default=1.0),
    Attribute("plant.full_load_hours", "the hours of the month in which the turbines can run at full load",
              kind=Kind.BY_MONTH),
    _by_step("plant.power_lower_mw", "the minimum mean power, MW", NO_LESS_THAN_ZERO,
             "power_lower_mw", _MINIMUM_POWER, default=0.0),
    _number("plant.operating_level_m", "the minimum operating level, below which the turbines stand still, m", LEVEL_M,
            "operating_level_m", "minimum operating level"),

    _number("marks.normal_m", "the level at full storage, m", LEVEL_M, "marks.normal_m"),
    _number("marks.flood_m", "the flood limit level, the maximum in the flood months, m", LEVEL_M, "marks.flood_m"),
    _number("marks.dead_m", "the level at dead storage, m", LEVEL_M, "marks.dead_m"),
    Attribute("marks.flood_months", "a list of calendar months, 1 to 12", MONTH, "marks.flood_months", kind=Kind.MONTHS,
              default=()),

    _number("storage.dead_hm3", "the dead (minimum) storage", STORAGE_HM3, required=True),
    _number("storage.full_hm3", "the full (maximum) storage", STORAGE_HM3, required=True, above=True),
    _by_step("storage.lower_hm3", "the minimum storage at the end of a step", STORAGE_HM3,
             "storage_lower_hm3", "storage bounds"),
    _by_step("storage.upper_hm3", "the maximum storage at the end of a step", STORAGE_HM3,
             "storage_upper_hm3", "storage bounds"),
    _number("storage.fixed_hm3",
            "the storage of a run-of-river plant, which stores nothing and releases what flows in, in place of dead "
            "and full storage", STORAGE_HM3, above=True),
    _number("storage.level_m", "the constant level of the lake of a run-of-river plant, m, in place of [curves.level]",
            LEVEL_M),
    _choice("storage.year_end", '"fixed" (default), "cyclic", "free" or "valued": how a year ends',
            "year_end", YearEnd.FIXED, "year end"),
    _number("storage.initial_hm3", "the storage at the start of every year", STORAGE_HM3,
            "initial_storage_hm3", "year end"),
    _number("storage.final_hm3", "the storage at the end of every year", STORAGE_HM3, "final_storage_hm3", "year end"),
    _number("storage.end_value_gwh_per_hm3",
            'the energy that 1 hm3 in store at the end is worth, GWh, with year_end = "valued"; by default, the water '
            "value that the record implies", WATER_VALUE_GWH_PER_HM3, "end_value_gwh_per_hm3", "end value"),
    _number("storage.end_value_per_hm3", "the same in the unit of the objective, where that is not GWh",
            END_VALUE_PER_HM3, "end_value_gwh_per_hm3"),

    Attribute("flood_space.column", "the column of the record that the highest storage depends on, such as snow",
              kind=Kind.TEXT, required=True),
    Attribute("flood_space.values", "a list of values of that column, rising", kind=Kind.NUMBERS, required=True),
    Attribute("flood_space.dates", 'a list of days of the year such as "04-01", between which it is interpolated',
              kind=Kind.DATES),
    Attribute("flood_space.upper_hm3", "the maximum storage for each of the values: a list of twelve (January to "
              "December), one a step, or one for each of the dates", STORAGE_HM3, kind=Kind.ROWS),
    Attribute("flood_space.space_hm3", "the space to leave below the full storage, in place of upper_hm3", STORAGE_HM3,
              kind=Kind.ROWS),

    Attribute("horizon.span",
              '"year" (each year by itself), "record" (all years as one problem) or a number of years', kind=Kind.SPAN,
              field="horizon", default=Horizon()),

    _by_step("release.lower_m3s", "the minimum release", FLOW_M3S, "release_lower_m3s", "release bounds",
             required=True),
    # Below 0, it is below the minimum too, which says enough.
    _by_step("release.upper_m3s", "the maximum release", Range(-np.inf, FLOW_M3S.most), "release_upper_m3s",
             "release bounds", required=True),
    _number("release.ramp_up_m3s", "the largest rise of the release from a step to the next", RAMP_M3S,
            "ramp_up_m3s", _RAMPS),
    _number("release.ramp_down_m3s", "the largest fall of the release from a step to the next", RAMP_M3S,
            "ramp_down_m3s", _RAMPS),

    _by_step("losses.evaporation_mm", "the net evaporation (evaporation less rain) of a month or step, mm",
             EVAPORATION_MM, "evaporation_mm", _LOSSES, default=0.0),
    _number("losses.seepage_m3s", "the flow that seeps away, the same at any storage", FLOW_M3S),
    _by_step("losses.withdrawal_m3s", "the flow that users take from the lake", FLOW_M3S, "withdrawal_m3s", _LOSSES,
             default=0.0),

    _number("commitments.annual_release_hm3", "the volume to release in each water year, at least", STORAGE_HM3,
            "annual_release_hm3", _COMMITMENTS, above=True),
    Attribute("commitments.tier_level_m", "a list of levels, rising: tiers, from each of which on a volume counts; "
              "the first counts below its level too", LEVEL_M, "tier_level_m", _COMMITMENTS, Kind.NUMBERS, ()),
    Attribute("commitments.tier_release_hm3", "a list of volumes to release in each water year, at least, one for each "
              "level, in place of annual_release_hm3", STORAGE_HM3, "tier_release_hm3", _COMMITMENTS, Kind.NUMBERS, ()),
    Attribute("commitments.tier_month", "the calendar month at whose start the level decides, 1 to 12; by default the "
              "first of the water year", MONTH, "tier_month", _COMMITMENTS, Kind.WHOLE),
    _number("commitments.most_annual_release_hm3", "the volume to release in each water year, at most", STORAGE_HM3,
            "most_annual_release_hm3", _COMMITMENTS, above=True),
    _choice("commitments.counts", 'which water counts: "released" (default), all that leaves the dam; or "turbined"',
            "counts", Counted.RELEASED, _COMMITMENTS),

    Attribute("objective.goal", f"what is optimised, one of {', '.join(Goal)}; default: energy", kind=Kind.CHOICE,
              choices=Goal),
    _number("objective.weights.energy", "the weight of 1 GWh", WEIGHT),
    _number("objective.weights.revenue", "the weight of a revenue of 1 million", WEIGHT),
    _number("objective.weights.firm_power", "firm power; not together with others", WEIGHT),
    _number("objective.weights.power_shortage", "the weight of the squared power shortage", WEIGHT),
    _number("objective.weights.supply_shortage", "the weight of the squared supply shortage", WEIGHT),
    _number("objective.weights.unused_capacity", "the weight of the unused capacity", WEIGHT),
    _by_step("objective.price_per_mwh", "the price of energy, per MWh; where it is negative, water is spilled",
             PRICE_PER_MWH, "objective.price_per_mwh"),
    Attribute("objective.currency", 'the currency of the price, such as "EUR"', kind=Kind.TEXT,
              field="objective.currency", default=""),
    _by_step("objective.power_target_mw", "the mean power of which less is a shortage, MW", NO_LESS_THAN_ZERO,
             "objective.power_target_mw"),
    _by_step("objective.supply_target_m3s", "the release of which less is a shortage", FLOW_M3S,
             "objective.supply_target_m3s"),
    _number("objective.firm_share", "the share of the steps that must give the firm power, 0.5 to 1", ANY,
            "objective.firm_share", default=1.0),
    _number("objective.firm_power_mw", "the power that the steps must give, whatever else is optimised, MW", POWER_MW,
            "objective.firm_power_mw"),
    _number("objective.penalty_gwh",
            "the cost of a relative violation of 1, GWh; with the goals energy and firm-power", PENALTY_GWH,
            "penalty", "penalty"),
    _number("objective.penalty", "the cost of a relative violation of 1, in the unit of the objective", PENALTY,
            "penalty"),
)
#: The attributes of a link between reservoirs, in the order of a system file.
LINK_ATTRIBUTES: tuple[Attribute, ...] = (
    Attribute("links.from", "the name of the reservoir that it comes from", kind=Kind.NAME, field="source",
              required=True),
    Attribute("links.to", "the name of the reservoir that it goes to; left out, it leaves the system", kind=Kind.NAME,
              field="target"),
    Attribute("links.carries", '"all" (default), "turbined", "spilled", or a share of the release, 0 to 1', FRACTION,
              field="carries", kind=Kind.OTHER, default="all"),
    _number("links.travel_steps", "the steps that it is under way; fractions are allowed", Range(0.0, 1e4),
            "travel_steps", default=0.0),
    _number("links.travel_hours", "the hours that it is under way, in place of travel_steps", Range(0.0, 1e6)),
    _number("links.lost_share", "the part that never arrives, 0 to 1", FRACTION, "lost_share", default=0.0),
    _number("links.lost_m3s", "the flow that never arrives besides", FLOW_M3S, "lost_m3s", default=0.0),
    _number("links.before_m3s", "the release before the first step; by default the mean that the record brings there",
            FLOW_M3S, "before_m3s"),
    Attribute("links.backwater", "whether the level of the reservoir below raises the tailrace", kind=Kind.FLAG,
              field="backwater", default=False),
)
#: What a system file says of each of its reservoirs, beside the name of a file or the sections of one.
SITE_ATTRIBUTES: tuple[Attribute, ...] = (
    Attribute("reservoirs.name", "the name of the reservoir within the system; by default that of its file",
              kind=Kind.NAME),
    Attribute("reservoirs.file", "its reservoir file, as seen from the system file; or its sections stand here, as in "
              "[reservoirs.storage]", kind=Kind.TEXT),
    Attribute("reservoirs.inflow", "the column of the record with its inflow; by default that of its name",
              kind=Kind.TEXT, default=""),
    Attribute("reservoirs.inflow_file", "a record of its own, as seen from the system file", kind=Kind.TEXT,
              default=""),
    Attribute("reservoirs.inflow_is", '"local" (default): what joins the river below the reservoirs above; or "total": '
              "all that flows there, of which what the links bring is subtracted", kind=Kind.CHOICE, choices=InflowIs),
)
# fmt: on
#: The field of the power that each step must give: what asks for it needs no other name.
POWER_DEMAND = next(row.field for row in ATTRIBUTES if row.part == _MINIMUM_POWER)


def by_step_attributes() -> Iterator[Attribute]:
    """Attributes whose field is an array of values by calendar month, January first, or by step."""
    return (row for row in ATTRIBUTES if row.kind is Kind.BY_STEP)


def attribute_of(field: str) -> Attribute:
    """The row of a field; of several keys for it that of the usual one."""
    return next(row for row in ATTRIBUTES if row.field == field)


def _not_falling(before: Any, after: Any) -> Any:
    return after >= before - 1e-9 * np.abs(before)


class CurveConstraint(NamedTuple):
    """A curve of a reservoir, and what must hold for it.

    Parameters
    ----------
    field : str
        Of `Reservoir`.
    x, y : str
        Variable and value, with their units; the keys of a file's points.
    values : str
        What its values are called.
    claim : str
        The constraint in words.
    x_range, y_range : Range
        Between which every point and every value lie.
    holds : callable or None
        Whether a value and the next follow the trend; None where there is none to follow.
    broken : str
        What the curve does where they do not.
    mend : str
        What to do about a curve that breaks the constraint.
    """

    field: str
    x: str
    y: str
    values: str
    claim: str
    x_range: Range
    y_range: Range
    holds: Callable[[Any, Any], Any] | None = _not_falling
    broken: str = "decreases"
    mend: str = ""


# fmt: off
#: The curves, by their sections of a reservoir file.
CURVES: Mapping[str, CurveConstraint] = {
    "level": CurveConstraint("level", "storage_hm3", "level_m", "levels, m",
                             "a level that does not decrease with the storage", STORAGE_HM3, LEVEL_M),
    "tailrace": CurveConstraint("tailrace", "release_m3s", "level_m", "levels below the dam, m",
                                "a level that does not decrease with the release", FLOW_M3S, LEVEL_M),
    "conversion_rate": CurveConstraint("conversion", "head_m", "rate_m3_per_kwh", "conversion rates, m3/kWh",
                                       "a rate above 0 that decreases with the head", HEAD_M, RATE_M3_PER_KWH,
                                       operator.gt, "does not decrease"),
    "output_coefficient": CurveConstraint("conversion", "head_m", "coefficient", "output coefficients K",
                                          f"a coefficient above 0, at most {LOSSLESS_COEFFICIENT} (no losses)",
                                          HEAD_M, COEFFICIENT, None, mend=_OF_K),
    "efficiency": CurveConstraint("conversion", "head_m", "efficiency", "efficiencies, fractions",
                                  "a fraction above 0, at most 1", HEAD_M, EFFICIENCY, None,
                                  mend="write 0.92 for 92 %"),
    "capacity": CurveConstraint("capacity_m3s", "head_m", "capacity_m3s", "hydraulic capacities",
                                "a capacity of 0 or more", HEAD_M, FLOW_M3S, None),
    "area": CurveConstraint("area_km2", "storage_hm3", "area_km2", "areas of the lake, km2",
                            "an area that does not decrease with the storage", STORAGE_HM3, AREA_KM2),
    "seepage": CurveConstraint("seepage_m3s", "storage_hm3", "seepage_m3s", "flows that seep away",
                               "a flow of 0 or more", STORAGE_HM3, FLOW_M3S, None),
}
#: The section of the conversion, by what it says about a head.
CONVERSIONS: Mapping[ConversionKind, str] = {
    ConversionKind.RATE: "conversion_rate",
    ConversionKind.COEFFICIENT: "output_coefficient",
    ConversionKind.EFFICIENCY: "efficiency",
}
_LAW = "offset + factor * (variable - origin)^exponent"
_KIND = Attribute("kind", '"table", "polynomial" or "power": the kind of curve', kind=Kind.OTHER)
#: The keys of a turbine table.
TURBINE: tuple[Attribute, ...] = (
    Attribute("head_m", "a list of heads, m", kind=Kind.NUMBERS, required=True),
    Attribute("flow_m3s", "a list of discharges at full gate, one for each head", kind=Kind.NUMBERS, required=True),
    Attribute("power_mw", "a list of powers at full gate, MW, one for each head", kind=Kind.NUMBERS, required=True),
    Attribute("units", "the number of equal units, where discharge and power are of one of them", UNITS,
              kind=Kind.WHOLE, default=1),
)


@cache
def curve_keys(curve: str) -> Mapping[str, tuple[Attribute, ...]]:
    """The keys of a curve's section in a reservoir file, by the kind of curve; a turbine table has no kinds."""
    if curve == "turbine":
        return {"": TURBINE}
    law = CURVES[curve]
    variable, _, suffix = law.x.partition("_")
    sizes = [(word, _FAMILIES.get(ending)) for word, _, ending in (law.x.partition("_"), law.y.partition("_"))]
    in_units = [
        Attribute(f"{word}_unit", f"the unit of {word} in the formula (default: {family[0].name})", kind=Kind.UNIT,
                  default=family[0].name, choices=tuple(unit.name for unit in family))
        for word, family in sizes if family
    ]
    offset = Attribute("offset", f"the offset of {_LAW}", default=0.0)
    if law.y == "level_m":
        offset = Attribute("offset_m", "the level at the origin, m", required=True)
    domain = Attribute(f"domain_{suffix}",
                       "the interval in which the formula is valid (default: wherever it is needed)",
                       kind=Kind.INTERVAL)
    return {
        "table": (
            _KIND,
            Attribute(law.x, f"a list of {variable}s{', m' * (suffix == 'm')}", law.x_range, kind=Kind.NUMBERS,
                      required=True),
            Attribute(law.y, f"a list of {law.values}, one for each {variable}", kind=Kind.NUMBERS, required=True),
        ),
        "polynomial": (
            domain,
            _KIND,
            Attribute("coefficients", "the coefficients, constant first, then rising powers", kind=Kind.COEFFICIENTS,
                      required=True),
            *in_units,
        ),
        "power": (
            domain,
            _KIND,
            Attribute("factor", f"the factor of {_LAW}", required=True),
            Attribute("exponent", f"the exponent of {_LAW}", kind=Kind.EXPONENT, required=True),
            offset,
            Attribute(f"origin_{suffix}", f"the {variable} at which the power law starts", default=0.0),
            *in_units,
        ),
    }
# fmt: on


class Words(Protocol):
    """What a check needs to say what is wrong: the words of who made the reservoir."""

    def mistake(self, name: str, problem: str, expected: str = "", mend: str = "", place: int | None = None) -> Mistake:
        """State a mistake at a field, or at a place of the list that it is."""

    def amount(self, name: str, value: float) -> str:
        """Say a value of a field with its unit."""

    def named(self, name: str) -> str:
        """How the user knows a field."""


@dataclass(frozen=True)
class FieldWords:
    """Words for what was made in Python.

    Parameters
    ----------
    place : str
        The field that holds the fields spoken of; empty where they stand alone.
    values : mapping
        What was given, by field.
    names : mapping
        Fields that are called otherwise there.
    """

    place: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def named(self, name: str) -> str:
        """Name the field, below its place."""
        return ".".join(part for part in (self.place, self.names.get(name, name)) if part)

    def mistake(self, name: str, problem: str, expected: str = "", mend: str = "", place: int | None = None) -> Mistake:
        """State a mistake at a field, with its value where that is short to say."""
        value: Any = self.values.get(name)
        value = value if place is None else value[place]
        shown = value if isinstance(value, str | int | float) else None
        return Mistake(problem, expected, mend, column=self.named(name), value=shown)

    def amount(self, name: str, value: float) -> str:
        """Say a value in the unit that the field's name ends in."""
        return f"{plain(value)} {''.join(unit.name for unit in units_of(name)[1][:1])}".strip()


def plain(value: float) -> str:
    """Write a number for a reader: seven digits, no exponent unless it must."""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else f"{value:.7g}"
