"""Ranges of a reservoir's quantities: wide enough for any reservoir on Earth, and valid in float32 on a device."""

from __future__ import annotations

from typing import NamedTuple


class Range(NamedTuple):
    """The least and the largest value that is taken for a quantity; what lies beyond is a slip."""

    least: float
    most: float

    def holds(self, value: float) -> bool:
        """Whether a value is a finite number of the range."""
        return self.least <= value <= self.most


#: Lake Baikal holds 2.4e7 hm3.
STORAGE_HM3 = Range(0.0, 1e8)
#: A lake of less, 100 m3, is no reservoir.
LEAST_FULL_HM3 = 1e-4
#: Part of the full storage that must be there to work with: float32 tells no smaller parts of it apart.
LEAST_ACTIVE_PART = 1e-4
#: The Amazon carries 2e5 m3/s.
FLOW_M3S = Range(0.0, 1e6)
LEAST_CAPACITY_M3S = 1e-3
#: A release that may not change at all leaves nothing to plan.
RAMP_M3S = Range(1e-3, 1e6)
#: The Caspian Sea covers 371,000 km2.
AREA_KM2 = Range(0.0, 1e6)
#: Of a month, negative where it rains more than evaporates; the wettest month on Earth had 9,300 mm.
EVAPORATION_MM = Range(-1e4, 2e3)
PLANT_FACTOR = Range(0.0, 1.0)
#: A hm3 from 10 km of head makes 27 GWh.
WATER_VALUE_GWH_PER_HM3 = Range(0.0, 30.0)
#: Of a hm3 left at the end, in the unit of the objective: a currency may be small.
END_VALUE_PER_HM3 = Range(0.0, 1e12)
#: Of a goal in an objective.
WEIGHT = Range(1e-6, 1e9)
#: In any currency; a plant cannot stop where it would have to pay for its energy.
PRICE_PER_MWH = Range(0.0, 1e9)
LEVEL_M = Range(-1e3, 1e4)
HEAD_M = Range(0.0, 1e4)
#: The largest plant of all has 22,500 MW.
POWER_MW = Range(1e-4, 1e5)
ENERGY_GWH = Range(0.0, 1e6)
PENALTY = Range(0.0, 1e12)
PENALTY_GWH = Range(0.0, 1e7)
#: Water that a kilowatt-hour takes at a head of 1 mm, and of 10 km.
RATE_M3_PER_KWH = Range(0.03, 1e6)
LEAST_COEFFICIENT = 0.1
LEAST_EFFICIENCY = 0.01

LONGEST_NAME = 64
#: Characters of a description or a caveat: more is no sentence, and a figure takes seconds to draw it.
LONGEST_TEXT = 1000
