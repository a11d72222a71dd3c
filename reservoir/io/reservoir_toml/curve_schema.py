"""How a curve is written in a reservoir file: a table of points, a polynomial or a power law."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, create_model
from pydantic_core import PydanticCustomError

from reservoir.hydro.curves.checks import LARGEST_EXPONENT, MOST_COEFFICIENTS
from reservoir.hydro.curves.curve import Curve, Polynomial, PowerLaw, Table
from reservoir.hydro.reservoir_checks.curve_constraints import CURVE_CONSTRAINTS
from reservoir.hydro.reservoir_checks.curves import Domain
from reservoir.hydro.units import AREA_KM2, FLOW_M3S, LENGTH_M, RATE_M3_PER_KWH, VOLUME_HM3


def refusal(problem: str, expected: str = "", mend: str = "") -> PydanticCustomError:
    """Refuse a value in our own words, which travel in the error's context."""
    return PydanticCustomError("refusal", "{problem}", {"problem": problem, "expected": expected, "mend": mend})


def _lower_end_first(value: tuple[float, ...]) -> tuple[float, ...]:
    if len(value) != 2 or value[0] >= value[1]:
        raise refusal("is not an interval", "two numbers, the lower one first")
    return value


def _few(value: tuple[float, ...]) -> tuple[float, ...]:
    if not 1 <= len(value) <= MOST_COEFFICIENTS:
        raise refusal(f"has {len(value)} values", f"1 to {MOST_COEFFICIENTS} coefficients, or a table of points")
    return value


def _moderate(value: float) -> float:
    if value == 0:
        raise refusal("makes the curve a constant", mend='use kind = "polynomial" with one coefficient')
    if abs(value) > LARGEST_EXPONENT:
        raise refusal("is out of range", f"-{LARGEST_EXPONENT} to {LARGEST_EXPONENT}")
    return value


def _one_of(units: Iterable[str]) -> AfterValidator:
    def check(value: str) -> str:
        if value not in units:
            mend = "convert the coefficients, or the factor, to one of these units"
            raise refusal("is not a known unit", f"one of {', '.join(units)}", mend)
        return value

    return AfterValidator(check)


#: More turbines than any plant has.
MOST_UNITS = 1000
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Numbers = tuple[Number, ...]
Interval = Annotated[Numbers, AfterValidator(_lower_end_first)]
#: The units of a formula's variable and of its value, by the end of their names.
_FAMILIES: Mapping[str, Mapping[str, float]] = {
    "hm3": VOLUME_HM3,
    "m3s": FLOW_M3S,
    "m": LENGTH_M,
    "km2": AREA_KM2,
    "m3_per_kwh": RATE_M3_PER_KWH,
}
_SIZES = {unit: size for sizes in _FAMILIES.values() for unit, size in sizes.items()}

_KIND = '"table", "polynomial" or "power": the kind of curve'
_HOLDS = "the interval in which the formula is valid (default: wherever it is needed)"
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
    """What polynomials and power laws share; `domain` and, where there are any, the units are named after the curve."""

    domain: Interval | None = None

    @property
    def unit_size(self) -> float:
        """The program's units in one unit of the variable."""
        return _SIZES.get(getattr(self, "unit", ""), 1.0)

    @property
    def value_size(self) -> float:
        """The program's units in one unit of the value."""
        return _SIZES.get(getattr(self, "value_unit", ""), 1.0)

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
        value_size, size = self.value_size, self.unit_size
        scaled = (value * value_size / size**power for power, value in enumerate(self.coefficients))
        return Polynomial(tuple(scaled), domain)


class PowerCurve(Formula):
    """A power law; `offset` and `origin` take their names and units from the curve."""

    kind: Literal["power"] = Field(description=_KIND)
    factor: Number = Field(description=f"the factor of {_LAW}")
    exponent: Annotated[Number, AfterValidator(_moderate)] = Field(description=f"the exponent of {_LAW}")
    offset: Number
    origin: Number

    def curve(self, domain: Domain) -> Curve:
        """Bring it to the program's units."""
        factor = self.factor * self.value_size / self.unit_size**self.exponent
        return PowerLaw(self.offset_in_own_unit, factor, self.origin, self.exponent, domain)

    @property
    def offset_in_own_unit(self) -> float:
        """The offset in the program's unit; of a level, its key has the unit already."""
        return self.offset if type(self).model_fields["offset"].alias else self.offset * self.value_size


class TurbineTable(Block):
    """What the turbines take and give at full gate, by head."""

    head_m: Numbers = Field(description="a list of heads, m")
    flow_m3s: Numbers = Field(description="a list of discharges at full gate, one for each head")
    power_mw: Numbers = Field(description="a list of powers at full gate, MW, one for each head")
    units: Annotated[int, Field(strict=True, ge=1, le=MOST_UNITS)] = Field(
        default=1, description="the number of equal units, where discharge and power are of one of them"
    )


#: A curve's section, whatever its kind.
Form = Points | PolynomialCurve | PowerCurve


def _unit_fields(variable: str, value: str) -> dict[str, Any]:
    """The keys of a formula that name the units of its variable and of its value, where they have any."""
    fields: dict[str, Any] = {}
    for field, (word, _, suffix) in {"unit": variable.partition("_"), "value_unit": value.partition("_")}.items():
        units = _FAMILIES.get(suffix)
        if units:
            usual = next(iter(units))
            meaning = f"the unit of {word} in the formula (default: {usual})"
            own = Field(default=usual, alias=f"{word}_unit", description=meaning)
            fields[field] = Annotated[str, _one_of(units)], own
    return fields


def curve_section(name: str, values: str) -> Any:
    """The type of a curve's section, by its constraint: its variable, their units, and how it may be written.

    Parameters
    ----------
    name : str
        A key of `CURVE_CONSTRAINTS`.
    values : str
        What its values are called.
    """
    law = CURVE_CONSTRAINTS[name]
    variable, _, suffix = law.x.partition("_")
    number = Annotated[Number, Field(ge=law.x_range.least, le=law.x_range.most)]
    unit = ", m" if suffix == "m" else ""
    points: dict[str, Any] = {
        "x": (tuple[number, ...], Field(alias=law.x, description=f"a list of {variable}s{unit}")),
        "y": (Numbers, Field(alias=law.y, description=f"a list of {values}, one for each {variable}")),
    }
    formula: dict[str, Any] = {
        "domain": (Interval | None, Field(default=None, alias=f"domain_{suffix}", description=_HOLDS))
    }
    formula |= _unit_fields(law.x, law.y)
    offset = Field(default=0.0, description=f"the offset of {_LAW}")
    if law.y == "level_m":
        offset = Field(alias="offset_m", description="the level at the origin, m")
    start = f"the {variable} at which the power law starts"
    power = {
        **formula,
        "offset": (Number, offset),
        "origin": (Number, Field(default=0.0, alias=f"origin_{suffix}", description=start)),
    }
    forms = (
        create_model(name, __base__=Points, **points),
        create_model(name, __base__=PolynomialCurve, **formula),
        create_model(name, __base__=PowerCurve, **power),
    )
    return Annotated[forms[0] | forms[1] | forms[2], Discriminator("kind")] | None


#: The section of all curves.
CURVES: type[Block] = create_model(
    "Curves",
    __base__=Block,
    level=(curve_section("level", "levels, m"), None),
    tailrace=(curve_section("tailrace", "levels below the dam, m"), None),
    conversion_rate=(curve_section("conversion_rate", "conversion rates, m3/kWh"), None),
    output_coefficient=(curve_section("output_coefficient", "output coefficients K"), None),
    efficiency=(curve_section("efficiency", "efficiencies, fractions"), None),
    capacity=(curve_section("capacity", "hydraulic capacities"), None),
    area=(curve_section("area", "areas of the lake, km2"), None),
    seepage=(curve_section("seepage", "flows that seep away"), None),
    turbine=(TurbineTable | None, None),
)
