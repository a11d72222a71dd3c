"""The one table of units: all conversion happens here."""

from __future__ import annotations

from collections.abc import Mapping

#: hm3 (1e6 m3) in one of each volume unit. 1 acre-ft = 43,560 international cubic feet.
VOLUME_HM3: Mapping[str, float] = {
    "hm3": 1.0,
    "Mm3": 1.0,
    "MCM": 1.0,
    "1e8m3": 100.0,
    "m3": 1e-6,
    "acre-ft": 43_560 * 0.3048**3 / 1e6,
}

#: m3/s in one of each flow unit. 1 cfs = 1 international cubic foot a second.
FLOW_M3S: Mapping[str, float] = {
    "m3/s": 1.0,
    "cfs": 0.3048**3,
}

#: hm3 that evaporate from 1 km2 with 1 mm.
HM3_PER_KM2_MM = 1e-3
#: MW that 1 m3/s makes at 1 m3/kWh: 3600 s in an hour over 1000 kW in a MW.
MW_PER_KW_HOURS = 3.6
#: Density of water (1000 kg/m3) times standard gravity, in MW per m3/s and metre of head.
WATER_MW_PER_M3S_M = 9.80665e-3
#: GWh that 1 MW makes in the time that 1 m3/s needs for 1 hm3, which is 1e6 seconds.
GWH_PER_MW_VOLUME = 1e6 / 3600 / 1000


def key_suffix(unit: str) -> str:
    """How a unit is written at the end of a key or a column: ``m3/s`` -> ``m3s``, ``acre-ft`` -> ``acre_ft``."""
    return unit.lower().replace("/", "").replace("-", "_")
