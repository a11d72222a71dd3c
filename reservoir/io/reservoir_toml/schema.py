"""Schema of a reservoir file: every key with its type, its default and its meaning.

Messages use the descriptions too: they follow the word "expected". A section that is missing or broken is None here and
its mistake is stated elsewhere, so that what the other sections say can still be checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, create_model

from reservoir.errors import InputError
from reservoir.hydro import ranges
from reservoir.hydro.calendar import HOURS_OF_MONTHS, MONTHS_PER_YEAR
from reservoir.hydro.horizon import YEAR, Horizon
from reservoir.hydro.objectives import Goal
from reservoir.hydro.reservoir_checks.curve_constraints import LOSSLESS_COEFFICIENT
from reservoir.hydro.reservoir_checks.fields import text_fault
from reservoir.hydro.reservoir_kinds import CalendarKind, YearEnd
from reservoir.hydro.time_step import TimeStep
from reservoir.io.reservoir_toml.curve_schema import CURVES, MOST_UNITS, Block, Number, Numbers, refusal
from reservoir.text.quantities import counted

_TWELVE = "one number, or a list of twelve (January to December)"
_ENTRY = "one number, a list of twelve (January to December), or one a step"
_LENGTHS = frozenset(step.per_year for step in TimeStep)


def _list(value: object, lengths: Collection[int], entry: str) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf:
        return [value] * MONTHS_PER_YEAR
    if not isinstance(value, list):
        raise refusal("is neither a number nor a list of numbers", entry)
    if len(value) not in lengths:
        raise refusal(f"has {counted(len(value), 'value')}", entry)
    return value


def plain_name(value: str) -> str:
    """Allow a name that can stand in file names."""
    _shown(value, ranges.LONGEST_NAME)
    if not re.fullmatch(r"[A-Za-z0-9_-]+", value):
        raise refusal("is not valid in file names", "only letters a to z, digits, - and _")
    return value


def _shown(value: str, longest: int = ranges.LONGEST_TEXT) -> str:
    fault = text_fault(value, longest)
    if fault:
        raise refusal(fault.problem, fault.expected, fault.mend)
    return value


def _one_line(value: str) -> str:
    """Join the lines of a text: it is shown as one sentence."""
    return _shown(re.sub(r"[ \t]*[\r\n\t]\s*", " ", value).strip())


def _span(value: object) -> str:
    try:
        return str(Horizon.of(value if isinstance(value, str | int) else ""))
    except InputError as error:
        raise refusal("is no horizon", error.mistakes[0].expected) from None


StorageHm3 = Annotated[Number, Field(ge=ranges.STORAGE_HM3.least, le=ranges.STORAGE_HM3.most)]
FullHm3 = Annotated[Number, Field(gt=0, le=ranges.STORAGE_HM3.most)]
LevelM = Annotated[Number, Field(ge=ranges.LEVEL_M.least, le=ranges.LEVEL_M.most)]
PowerMw = Annotated[Number, Field(ge=ranges.POWER_MW.least, le=ranges.POWER_MW.most)]
CapacityM3s = Annotated[Number, Field(ge=ranges.LEAST_CAPACITY_M3S, le=ranges.FLOW_M3S.most)]
EnergyGwh = Annotated[Number, Field(gt=ranges.ENERGY_GWH.least, le=ranges.ENERGY_GWH.most)]
Penalty = Annotated[Number, Field(ge=ranges.PENALTY.least, le=ranges.PENALTY.most)]
PenaltyGwh = Annotated[Number, Field(ge=ranges.PENALTY_GWH.least, le=ranges.PENALTY_GWH.most)]
Coefficient = Annotated[Number, Field(ge=ranges.LEAST_COEFFICIENT, le=LOSSLESS_COEFFICIENT)]
Efficiency = Annotated[Number, Field(ge=ranges.LEAST_EFFICIENCY, le=1)]
PlantFactor = Annotated[Number, Field(ge=ranges.PLANT_FACTOR.least, le=ranges.PLANT_FACTOR.most)]
RampM3s = Annotated[Number, Field(ge=ranges.RAMP_M3S.least, le=ranges.RAMP_M3S.most)]
FlowM3s = Annotated[Number, Field(ge=ranges.FLOW_M3S.least, le=ranges.FLOW_M3S.most)]
Weight = Annotated[Number, Field(ge=ranges.WEIGHT.least, le=ranges.WEIGHT.most)]
EndValue = Annotated[Number, Field(ge=ranges.END_VALUE_PER_HM3.least, le=ranges.END_VALUE_PER_HM3.most)]
WaterValue = Annotated[Number, Field(ge=ranges.WATER_VALUE_GWH_PER_HM3.least, le=ranges.WATER_VALUE_GWH_PER_HM3.most)]
Text = Annotated[str, AfterValidator(_one_line)]
Month = Annotated[int, Field(strict=True, ge=1, le=MONTHS_PER_YEAR)]
Monthly = Annotated[Numbers, BeforeValidator(partial(_list, lengths=(MONTHS_PER_YEAR,), entry=_TWELVE))]
ByStep = Annotated[Numbers, BeforeValidator(partial(_list, lengths=_LENGTHS, entry=_ENTRY))]


class PlantSection(Block):
    """The turbines."""

    installed_capacity_mw: PowerMw | None = Field(default=None, description="the installed capacity of the plant, MW")
    units: Annotated[int, Field(strict=True, ge=1, le=MOST_UNITS)] | None = Field(
        default=None, description="the number of equal units"
    )
    unit_capacity_mw: PowerMw | None = Field(default=None, description="the installed capacity of one of the units, MW")
    unit_hydraulic_capacity_m3s: CapacityM3s | None = Field(
        default=None, description="the maximum turbine discharge of one of the units"
    )
    guaranteed_energy_gwh: EnergyGwh | None = Field(default=None, description="the guaranteed annual energy, GWh")
    guaranteed_power_mw: PowerMw | None = Field(
        default=None, description="the guaranteed mean power of every step, MW: what rules are measured against"
    )
    output_coefficient: Coefficient | None = Field(
        default=None, description="K in power (kW) = K x flow (m3/s) x head (m); 9.80665 for a plant without losses"
    )
    efficiency: Efficiency | None = Field(
        default=None, description="the overall efficiency as a fraction: 0.92 for 92 %"
    )
    hydraulic_capacity_m3s: CapacityM3s | None = Field(default=None, description="the maximum turbine discharge")
    plant_factor: ByStep | None = Field(
        default=None, description=f"the fraction of the step in which the turbines can run at full load: {_ENTRY}"
    )
    full_load_hours: Monthly | None = Field(
        default=None, description=f"the hours of the month in which the turbines can run at full load: {_TWELVE}"
    )
    power_lower_mw: ByStep | None = Field(default=None, description=f"the minimum mean power, MW: {_ENTRY}")
    operating_level_m: LevelM | None = Field(
        default=None, description="the minimum operating level, below which the turbines stand still, m"
    )

    @property
    def installed_mw(self) -> float | None:
        """Installed capacity of all units, MW."""
        if self.installed_capacity_mw is not None or self.unit_capacity_mw is None:
            return self.installed_capacity_mw
        return self.unit_capacity_mw * self.units if self.units else None

    @property
    def turbine_capacity_m3s(self) -> float | None:
        """Hydraulic capacity of all units, m3/s."""
        if self.hydraulic_capacity_m3s is not None or self.unit_hydraulic_capacity_m3s is None:
            return self.hydraulic_capacity_m3s
        return self.unit_hydraulic_capacity_m3s * self.units if self.units else None

    @property
    def running_factor(self) -> Numbers | None:
        """Part of each month in which the turbines can run at full load."""
        if self.full_load_hours is None:
            return self.plant_factor
        return tuple(given / most for given, most in zip(self.full_load_hours, HOURS_OF_MONTHS, strict=True))


class MarksSection(Block):
    """Levels to draw into figures."""

    normal_m: LevelM | None = Field(default=None, description="the level at full storage, m")
    flood_m: LevelM | None = Field(
        default=None, description="the flood limit level, the maximum in the flood months, m"
    )
    dead_m: LevelM | None = Field(default=None, description="the level at dead storage, m")
    flood_months: tuple[Month, ...] = Field(default=(), description="a list of calendar months, 1 to 12")


class StorageSection(Block):
    """Limits of the storage, and how a year begins and ends."""

    dead_hm3: StorageHm3 = Field(description="the dead (minimum) storage")
    full_hm3: FullHm3 = Field(description="the full (maximum) storage")
    lower_hm3: ByStep | None = Field(default=None, description=f"the minimum storage at the end of a step: {_ENTRY}")
    upper_hm3: ByStep | None = Field(default=None, description=f"the maximum storage at the end of a step: {_ENTRY}")
    year_end: YearEnd = Field(
        default=YearEnd.FIXED, description='"fixed" (default), "cyclic", "free" or "valued": how a year ends'
    )
    initial_hm3: StorageHm3 | None = Field(default=None, description="the storage at the start of every year")
    final_hm3: StorageHm3 | None = Field(default=None, description="the storage at the end of every year")
    end_value_gwh_per_hm3: WaterValue | None = Field(
        default=None,
        description='the energy that 1 hm3 in store at the end is worth, GWh, with year_end = "valued"; by default, '
        "the water value that the record implies",
    )
    end_value_per_hm3: EndValue | None = Field(
        default=None,
        description="the same in the unit of the objective, where that is not GWh",
    )

    @property
    def end_value(self) -> float | None:
        """What a hm3 left at the end is worth, in the unit of the objective."""
        return self.end_value_per_hm3 if self.end_value_gwh_per_hm3 is None else self.end_value_gwh_per_hm3

    @property
    def is_lake(self) -> bool:
        """Whether there is room between dead and full storage; without it nothing else can be judged."""
        return self.dead_hm3 < self.full_hm3

    @property
    def bounds_within_lake(self) -> bool:
        """Whether all bounds lie between dead and full storage."""
        return all(self.dead_hm3 <= value <= self.full_hm3 for value in (*self.lower, *self.upper))

    @property
    def lower(self) -> Numbers:
        """Least storage (hm3) at the end of each calendar month or step."""
        return self.lower_hm3 or (self.dead_hm3,) * MONTHS_PER_YEAR

    @property
    def upper(self) -> Numbers:
        """Largest storage (hm3) at the end of each calendar month or step."""
        return self.upper_hm3 or (self.full_hm3,) * MONTHS_PER_YEAR

    @property
    def final(self) -> float | None:
        """Storage (hm3) at the end of a year; None where the plan chooses it."""
        if self.year_end is not YearEnd.FIXED or self.final_hm3 is not None:
            return self.final_hm3
        return self.initial_hm3


class HorizonSection(Block):
    """What is planned as one problem."""

    span: Annotated[str | int, BeforeValidator(_span)] = Field(
        default=YEAR,
        description='"year" (each year by itself), "record" (all years as one problem) or a number of years',
    )


class ReleaseSection(Block):
    """Limits of the release, turbined and spilled together."""

    lower_m3s: ByStep = Field(description=f"the minimum release: {_ENTRY}")
    upper_m3s: ByStep = Field(description=f"the maximum release: {_ENTRY}")
    ramp_up_m3s: RampM3s | None = Field(
        default=None, description="the largest rise of the release from a step to the next"
    )
    ramp_down_m3s: RampM3s | None = Field(
        default=None, description="the largest fall of the release from a step to the next"
    )


class LossesSection(Block):
    """What the lake loses besides the release."""

    evaporation_mm: ByStep | None = Field(
        default=None, description=f"the net evaporation (evaporation less rain) of a month or step, mm: {_ENTRY}"
    )
    seepage_m3s: FlowM3s | None = Field(default=None, description="the flow that seeps away, the same at any storage")
    withdrawal_m3s: ByStep | None = Field(default=None, description=f"the flow that users take from the lake: {_ENTRY}")


class WeightsSection(Block):
    """Goals of an objective with their weights."""

    energy: Weight | None = Field(default=None, description="the weight of 1 GWh")
    revenue: Weight | None = Field(default=None, description="the weight of a revenue of 1 million")
    firm_power: Weight | None = Field(default=None, description="firm power; not together with others")
    power_shortage: Weight | None = Field(default=None, description="the weight of the squared power shortage")
    supply_shortage: Weight | None = Field(default=None, description="the weight of the squared supply shortage")
    unused_capacity: Weight | None = Field(default=None, description="the weight of the unused capacity")


class ObjectiveSection(Block):
    """What is optimised, and what a violation costs."""

    goal: Goal | None = Field(default=None, description=f"what is optimised, one of {', '.join(Goal)}; default: energy")
    weights: WeightsSection | None = None
    price_per_mwh: ByStep | None = Field(default=None, description=f"the price of energy, per MWh: {_ENTRY}")
    currency: Text = Field(default="", description='the currency of the price, such as "EUR"')
    power_target_mw: ByStep | None = Field(
        default=None, description=f"the mean power of which less is a shortage, MW: {_ENTRY}"
    )
    supply_target_m3s: ByStep | None = Field(
        default=None, description=f"the release of which less is a shortage: {_ENTRY}"
    )
    firm_share: Number = Field(
        default=1.0, description="the share of the steps that must give the firm power, 0.5 to 1"
    )
    firm_power_mw: PowerMw | None = Field(
        default=None, description="the power that the steps must give, whatever else is optimised, MW"
    )
    penalty_gwh: PenaltyGwh | None = Field(
        default=None, description="the cost of a relative violation of 1, GWh; with the goals energy and firm-power"
    )
    penalty: Penalty | None = Field(
        default=None, description="the cost of a relative violation of 1, in the unit of the objective"
    )


class File(Block):
    """The whole file; `FILE` is the same with its curves."""

    name: Annotated[str, AfterValidator(plain_name)] | None = Field(
        default=None, description="a short name for the reservoir"
    )
    description: Text = Field(default="", description="a sentence about the reservoir")
    caveat: Text = Field(default="", description="a warning to print on every figure")
    first_month: Month = Field(default=1, description="the calendar month in which the water year begins, 1 to 12")
    calendar: CalendarKind = Field(
        default=CalendarKind.REAL,
        description='"real" (default), or "equal-months": every month has 30 days, as in published test problems',
    )
    step: TimeStep = Field(
        default=TimeStep.MONTH,
        description='"month" (default), "ten-days" (from the 1st, 11th and 21st), "week" or "day": what is planned for',
    )
    plant: PlantSection | None = None
    marks: MarksSection = MarksSection()
    storage: StorageSection | None = None
    horizon: HorizonSection = HorizonSection()
    release: ReleaseSection | None = None
    losses: LossesSection = LossesSection()
    objective: ObjectiveSection = ObjectiveSection()
    curves: Any


FILE = create_model("File", __base__=File, curves=(CURVES, CURVES()))
