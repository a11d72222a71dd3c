"""The zoo: a reservoir and a record for every number, the same ones for a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from reservoir.hydro.calendar import MONTHS_PER_YEAR, Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.zoo.build import build_reservoir
from reservoir.zoo.record import random_flows
from reservoir.zoo.traits import Traits, draw_traits

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
