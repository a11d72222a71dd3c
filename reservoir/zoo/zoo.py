"""The zoo: a reservoir and a record for every number, the same ones for a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTHS_PER_YEAR, Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.zoo.build import Regime, Traits, build_reservoir, draw_traits


class _Pattern(NamedTuple):
    """A river's flow within a year, and how much it varies.

    The month of the highest flow (0 is January), how many months the high flow lasts, the flow between in parts of the
    highest, and the standard deviations of the logarithms of years' and of months' flows.
    """

    peak: float
    width: float
    base: float
    of_years: float
    of_months: float


_PATTERNS = {
    Regime.SNOW: _Pattern(4.5, 1.2, 0.12, 0.2, 0.2),
    Regime.MONSOON: _Pattern(7.0, 1.7, 0.08, 0.25, 0.3),
    Regime.ARID: _Pattern(2.0, 1.5, 0.05, 0.7, 0.9),
}
#: Correlation of the logarithm of a month's flow with that of the month before, its season apart.
_OF_NEXT_MONTH = 0.4


def season(traits: Traits) -> NDArray[np.float64]:
    """Expected flow of each calendar month in parts of the mean, shape (12,), January first."""
    pattern = _PATTERNS[traits.regime]
    months = np.arange(MONTHS_PER_YEAR)
    away = np.abs((months - pattern.peak + MONTHS_PER_YEAR / 2) % MONTHS_PER_YEAR - MONTHS_PER_YEAR / 2)
    shape = pattern.base + np.exp(-0.5 * (away / pattern.width) ** 2)
    return np.asarray(shape / shape.mean())


def random_flows(traits: Traits, years: int, first_month: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Flows of each month of each water year (m3/s), shape (years, 12): a season, wet and dry years, and noise."""
    pattern = _PATTERNS[traits.regime]
    of_years = _autoregressive(traits.persistence, (years,), random) * pattern.of_years
    of_months = _autoregressive(_OF_NEXT_MONTH, (years * MONTHS_PER_YEAR,), random) * pattern.of_months
    spread = of_years[:, np.newaxis] + of_months.reshape(years, MONTHS_PER_YEAR)
    variance = pattern.of_years**2 + pattern.of_months**2
    expected = np.roll(season(traits), 1 - first_month) * traits.mean_inflow_m3s
    return np.asarray(expected * np.exp(spread - variance / 2))


def _autoregressive(correlation: float, shape: tuple[int], random: np.random.Generator) -> NDArray[np.float64]:
    """Normal numbers with mean 0 and variance 1, each correlated with the one before."""
    numbers = random.standard_normal(shape)
    for each in range(1, len(numbers)):
        numbers[each] = correlation * numbers[each - 1] + np.sqrt(1 - correlation**2) * numbers[each]
    return numbers


_FIRST_YEAR = 1991


class Part(IntEnum):
    """Which reservoirs: engines are tuned on one part and judged on the other."""

    TUNING = 0
    TEST = 1


@dataclass(frozen=True, eq=False)
class ZooCase:
    """One reservoir of the zoo with its record.

    Parameters
    ----------
    number : int
        Its place in its part.
    traits : Traits
    reservoir : Reservoir
    inflow : Inflow
    """

    number: int
    traits: Traits
    reservoir: Reservoir
    inflow: Inflow


def zoo_case(number: int, years: int, *, part: Part = Part.TUNING, seed: int = 1) -> ZooCase:
    """Make one reservoir with its record; no other has to be made before it."""
    random = np.random.default_rng([seed, part, number])
    traits = draw_traits(random)
    first_month = int(random.integers(1, MONTHS_PER_YEAR + 1))
    flows = random_flows(traits, years, first_month, random)
    name = f"zoo-{part.name.lower()}-{number}"
    by_calendar = np.roll(flows, first_month - 1, axis=1)
    reservoir = build_reservoir(name, traits, by_calendar, first_month, random)
    return ZooCase(number, traits, reservoir, Inflow(flows, Calendar(_FIRST_YEAR, years, first_month)))


def zoo(count: int, years: int, *, part: Part = Part.TUNING, seed: int = 1) -> Iterator[ZooCase]:
    """Make reservoirs, each with a record of so many years."""
    return (zoo_case(number, years, part=part, seed=seed) for number in range(count))
