"""Kinds of year end and of conversion curve, and the reference levels that figures show."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CalendarKind(StrEnum):
    """How long months are: as they are, or 30 days each, as in published test problems."""

    REAL = "real"
    EQUAL_MONTHS = "equal-months"


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
