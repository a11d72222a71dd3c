"""What a reservoir file holds: every key with its type, its default and its meaning.

Messages use the descriptions too: they follow the word "expected". A section that is missing or broken is None here and
its mistake is stated elsewhere, so that what the other sections say can still be checked.
"""

from __future__ import annotations

import math
import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.reservoir import WATER_MW_PER_M3S_M, YearEnd
from reservoir.hydro.reservoir_toml.curve_schema import (
    Block,
    HeadPolynomial,
    HeadPower,
    Number,
    Numbers,
    Points,
    ReleasePolynomial,
    ReleasePower,
    StoragePolynomial,
    StoragePower,
    refusal,
)

#: Output coefficient K of a plant without losses, kW per m3/s and metre.
LOSSLESS_COEFFICIENT = 1e3 * WATER_MW_PER_M3S_M
HOURS_PER_YEAR = 8760

_ENTRY = "one number, or a list of twelve (January to December)"


def _twelve(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf:
        return [value] * MONTHS_PER_YEAR
    if not isinstance(value, list):
        raise refusal("is neither a number nor a list of numbers", _ENTRY)
    if len(value) != MONTHS_PER_YEAR:
        raise refusal(f"has {len(value)} value{'s' * (len(value) != 1)}", _ENTRY)
    return value


def _plain_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", value):
        raise refusal("is not a name that can stand in file names", "letters a to z, digits, - and _ only")
    return value


Positive = Annotated[Number, Field(gt=0)]
NotNegative = Annotated[Number, Field(ge=0)]
Month = Annotated[int, Field(strict=True, ge=1, le=MONTHS_PER_YEAR)]
Monthly = Annotated[Numbers, BeforeValidator(_twelve)]


class Plant(Block):
    """The turbines."""

    installed_capacity_mw: Positive = Field(description="the installed capacity of the plant, MW")
    guaranteed_energy_gwh: Positive | None = Field(default=None, description="the energy promised for a year, GWh")
    output_coefficient: Annotated[Number, Field(gt=0, le=LOSSLESS_COEFFICIENT)] | None = Field(
        default=None, description="K in power (kW) = K x flow (m3/s) x head (m); 9.80665 is a plant without any loss"
    )
    efficiency: Annotated[Number, Field(gt=0, le=1)] | None = Field(
        default=None, description="the overall efficiency as a fraction: 0.92 for 92 %"
    )
    hydraulic_capacity_m3s: Positive | None = Field(default=None, description="the most that the turbines can pass")


class Marks(Block):
    """Levels to draw into figures."""

    normal_m: Number | None = Field(default=None, description="the level at full storage, m")
    flood_m: Number | None = Field(default=None, description="the level not to be passed in the flood months, m")
    dead_m: Number | None = Field(default=None, description="the level at dead storage, m")
    flood_months: tuple[Month, ...] = Field(default=(), description="a list of calendar months, 1 to 12")


class Storage(Block):
    """Limits of the storage, and how a year begins and ends."""

    dead_hm3: NotNegative = Field(description="the storage below which the lake is never drawn")
    full_hm3: Positive = Field(description="the storage above which the lake is never filled")
    lower_hm3: Monthly | None = Field(default=None, description=f"the least storage at the end of a month: {_ENTRY}")
    upper_hm3: Monthly | None = Field(default=None, description=f"the most storage at the end of a month: {_ENTRY}")
    year_end: YearEnd = Field(
        default=YearEnd.FIXED, description='"fixed", "cyclic" or "free": how a year ends, fixed if left out'
    )
    initial_hm3: Number | None = Field(default=None, description="the storage with which every year begins")
    final_hm3: Number | None = Field(default=None, description="the storage with which every year ends")

    @property
    def is_lake(self) -> bool:
        """Whether there is room between dead and full storage; without it nothing else can be judged."""
        return self.dead_hm3 < self.full_hm3

    @property
    def lower(self) -> Numbers:
        """Least storage (hm3) at the end of each calendar month."""
        return self.lower_hm3 or (self.dead_hm3,) * MONTHS_PER_YEAR

    @property
    def upper(self) -> Numbers:
        """Largest storage (hm3) at the end of each calendar month."""
        return self.upper_hm3 or (self.full_hm3,) * MONTHS_PER_YEAR

    @property
    def final(self) -> float | None:
        """Storage (hm3) at the end of a year; None where the plan chooses it."""
        if self.year_end is not YearEnd.FIXED or self.final_hm3 is not None:
            return self.final_hm3
        return self.initial_hm3


class Release(Block):
    """Limits of the release, turbined and spilled together."""

    lower_m3s: Monthly = Field(description=f"the least release: {_ENTRY}")
    upper_m3s: Monthly = Field(description=f"the largest release: {_ENTRY}")


class Objective(Block):
    """What a violation costs."""

    penalty_gwh: NotNegative | None = Field(default=None, description="the cost of a relative violation of 1, GWh")


class LevelPoints(Points):
    """Level by storage."""

    x: Numbers = Field(alias="storage_hm3", description="a list of storages")
    y: Numbers = Field(alias="level_m", description="a list of levels, m, one for each storage")


class TailracePoints(Points):
    """Tailrace level by release."""

    x: Numbers = Field(alias="release_m3s", description="a list of releases")
    y: Numbers = Field(alias="level_m", description="a list of levels below the dam, m, one for each release")


class HeadPoints(Points):
    """Anything by head."""

    x: Numbers = Field(alias="head_m", description="a list of heads, m")


class RatePoints(HeadPoints):
    """Water that a kilowatt-hour takes."""

    y: Numbers = Field(alias="rate_m3_per_kwh", description="a list of conversion rates, m3/kWh, one for each head")


class CoefficientPoints(HeadPoints):
    """Output coefficient K."""

    y: Numbers = Field(alias="coefficient", description="a list of output coefficients K, one for each head")


class EfficiencyPoints(HeadPoints):
    """Overall efficiency."""

    y: Numbers = Field(alias="efficiency", description="a list of efficiencies, fractions, one for each head")


class CapacityPoints(HeadPoints):
    """Hydraulic capacity."""

    y: Numbers = Field(alias="capacity_m3s", description="a list of hydraulic capacities, one for each head")


class Curves(Block):
    """The curves."""

    level: Annotated[LevelPoints | StoragePolynomial | StoragePower, Discriminator("kind")] | None = None
    tailrace: Annotated[TailracePoints | ReleasePolynomial | ReleasePower, Discriminator("kind")] | None = None
    conversion_rate: Annotated[RatePoints | HeadPolynomial | HeadPower, Discriminator("kind")] | None = None
    output_coefficient: Annotated[CoefficientPoints | HeadPolynomial | HeadPower, Discriminator("kind")] | None = None
    efficiency: Annotated[EfficiencyPoints | HeadPolynomial | HeadPower, Discriminator("kind")] | None = None
    capacity: Annotated[CapacityPoints | HeadPolynomial | HeadPower, Discriminator("kind")] | None = None


class File(Block):
    """The whole file."""

    name: Annotated[str, AfterValidator(_plain_name)] | None = Field(
        default=None, description="a short name for the reservoir"
    )
    description: str = Field(default="", description="a sentence about the reservoir")
    caveat: str = Field(default="", description="a warning to print on every figure")
    first_month: Month = Field(default=1, description="the calendar month in which the water year begins, 1 to 12")
    plant: Plant | None = None
    marks: Marks = Marks()
    storage: Storage | None = None
    release: Release | None = None
    objective: Objective = Objective()
    curves: Curves = Curves()
