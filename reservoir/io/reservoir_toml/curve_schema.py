"""How a curve is written in a reservoir file: a table of points, a polynomial or a power law."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from reservoir.hydro.curves.checks import LARGEST_EXPONENT, MOST_COEFFICIENTS
from reservoir.hydro.curves.curve import Curve, Polynomial, PowerLaw, Table
from reservoir.hydro.reservoir_checks.curves import Domain
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3


def refusal(problem: str, expected: str = "", mend: str = "") -> PydanticCustomError:
    """Refuse a value in our own words, which travel in the error's context."""
    return PydanticCustomError("refusal", "{problem}", {"problem": problem, "expected": expected, "mend": mend})


def _lower_end_first(value: tuple[float, ...]) -> tuple[float, ...]:
    if len(value) != 2 or value[0] >= value[1]:
        raise refusal("is not an interval", "two numbers, the lower end first")
    return value


def _few(value: tuple[float, ...]) -> tuple[float, ...]:
    if not 1 <= len(value) <= MOST_COEFFICIENTS:
        raise refusal(f"has {len(value)} values", f"1 to {MOST_COEFFICIENTS} of them, or a table of points instead")
    return value


def _moderate(value: float) -> float:
    if value == 0:
        raise refusal("makes the curve a constant", mend='say kind = "polynomial" and give one coefficient')
    if abs(value) > LARGEST_EXPONENT:
        raise refusal("is out of range", f"-{LARGEST_EXPONENT} to {LARGEST_EXPONENT}")
    return value


def _one_of(units: Iterable[str]) -> AfterValidator:
    def check(value: str) -> str:
        if value not in units:
            mend = "convert the coefficients, or the factor and the origin, to one of these"
            raise refusal("is not a unit known here", f"one of {', '.join(units)}", mend)
        return value

    return AfterValidator(check)


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Numbers = tuple[Number, ...]
Interval = Annotated[Numbers, AfterValidator(_lower_end_first)]
VolumeUnit = Annotated[str, _one_of(VOLUME_HM3)]
FlowUnit = Annotated[str, _one_of(FLOW_M3S)]

_KIND = '"table", "polynomial" or "power": the kind of curve'
_HOLDS = "the interval on which the formula holds (left out: wherever it is needed)"
_LAW = "offset + factor * (variable - origin)^exponent"


class Block(BaseModel):
    """A section of the file; it holds the keys named here and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Points(Block):
    """Points, to be joined by monotone cubics; `x` and `y` take their names in the file from the curve."""

    kind: Literal["table"] = Field(description=_KIND)
    x: Numbers
    y: Numbers

    def reach(self, needed: Domain | None) -> Domain:
        """From the first to the last point, whatever is `needed`."""
        return self.x[0], self.x[-1]

    def curve(self, domain: Domain) -> Curve:
        """Join the points."""
        return Table(self.x, self.y)


class Formula(Block):
    """What polynomials and power laws share."""

    domain: Interval | None = None

    @property
    def unit_size(self) -> float:
        """The program's units in one unit of the variable."""
        return 1.0

    def reach(self, needed: Domain | None) -> Domain | None:
        """Where the formula holds: as the file says, or else wherever it is needed."""
        return needed if self.domain is None else (self.domain[0], self.domain[1])


class PolynomialCurve(Formula):
    """A polynomial."""

    kind: Literal["polynomial"] = Field(description=_KIND)
    coefficients: Annotated[Numbers, AfterValidator(_few)] = Field(
        description="the coefficients, constant first, then rising powers"
    )

    def curve(self, domain: Domain) -> Curve:
        """Bring it to the program's units."""
        scaled = (value / self.unit_size**power for power, value in enumerate(self.coefficients))
        return Polynomial(tuple(scaled), domain)


class PowerCurve(Formula):
    """A power law; `offset` and `origin` take their units from the curve."""

    kind: Literal["power"] = Field(description=_KIND)
    factor: Number = Field(description=f"the factor of {_LAW}")
    exponent: Annotated[Number, AfterValidator(_moderate)] = Field(description=f"the exponent of {_LAW}")
    offset: Number
    origin: Number

    def curve(self, domain: Domain) -> Curve:
        """Bring it to the program's units."""
        factor = self.factor / self.unit_size**self.exponent
        return PowerLaw(self.offset, factor, self.origin, self.exponent, domain)


class _ByStorage(Formula):
    domain: Interval | None = Field(default=None, alias="domain_hm3", description=_HOLDS)
    unit: VolumeUnit = Field(default="hm3", alias="storage_unit", description="the unit of storage in the formula")

    @property
    def unit_size(self) -> float:
        return VOLUME_HM3[self.unit]


class _ByRelease(Formula):
    domain: Interval | None = Field(default=None, alias="domain_m3s", description=_HOLDS)
    unit: FlowUnit = Field(default="m3/s", alias="release_unit", description="the unit of release in the formula")

    @property
    def unit_size(self) -> float:
        return FLOW_M3S[self.unit]


class _ByHead(Formula):
    domain: Interval | None = Field(default=None, alias="domain_m", description=_HOLDS)


class StoragePolynomial(_ByStorage, PolynomialCurve):
    """Level by storage."""


class ReleasePolynomial(_ByRelease, PolynomialCurve):
    """Tailrace level by release."""


class HeadPolynomial(_ByHead, PolynomialCurve):
    """Anything by head."""


class StoragePower(_ByStorage, PowerCurve):
    """Level by storage."""

    offset: Number = Field(alias="offset_m", description="the level at the origin, m")
    origin: Number = Field(default=0.0, alias="origin_hm3", description="the storage from which the law starts")


class ReleasePower(_ByRelease, PowerCurve):
    """Tailrace level by release."""

    offset: Number = Field(alias="offset_m", description="the level at the origin, m")
    origin: Number = Field(default=0.0, alias="origin_m3s", description="the release from which the law starts")


class HeadPower(_ByHead, PowerCurve):
    """Anything by head; the offset is in the curve's own unit."""

    offset: Number = Field(default=0.0, description=f"the offset of {_LAW}")
    origin: Number = Field(default=0.0, alias="origin_m", description="the head from which the law starts")


#: A curve's section, whatever its kind.
Form = Points | PolynomialCurve | PowerCurve
