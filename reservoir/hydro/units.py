"""The one table of units: all conversion happens here. Texts that state one are read in `io.records.units`."""

from __future__ import annotations

from collections.abc import Mapping

#: Metres in an international foot, and square metres in an acre of 43,560 such square feet.
_FOOT_M = 0.3048
_ACRE_M2 = 43_560 * _FOOT_M**2
#: hm3 in an acre-foot.
_ACRE_FT_HM3 = _ACRE_M2 * _FOOT_M / 1e6

#: hm3 (1e6 m3) in one of each volume unit.
VOLUME_HM3: Mapping[str, float] = {
    "hm3": 1.0,
    "Mm3": 1.0,
    "MCM": 1.0,
    "1e8m3": 100.0,
    "1e4m3": 1e-2,
    "km3": 1000.0,
    "m3": 1e-6,
    "acre-ft": _ACRE_FT_HM3,
    "kaf": 1e3 * _ACRE_FT_HM3,
    "taf": 1e3 * _ACRE_FT_HM3,
    "maf": 1e6 * _ACRE_FT_HM3,
}

#: m3/s in one of each flow unit. 1 cfs = 1 international cubic foot a second.
FLOW_M3S: Mapping[str, float] = {
    "m3/s": 1.0,
    "l/s": 1e-3,
    "cfs": _FOOT_M**3,
    "kcfs": 1e3 * _FOOT_M**3,
}

#: Metres in one of each unit of levels and heads.
LENGTH_M: Mapping[str, float] = {"m": 1.0, "ft": _FOOT_M}

#: km2 in one of each unit of area.
AREA_KM2: Mapping[str, float] = {"km2": 1.0, "ha": 1e-2, "acres": _ACRE_M2 / 1e6}

#: Millimetres in one of each unit of depth, as of evaporation.
DEPTH_MM: Mapping[str, float] = {"mm": 1.0, "in": 25.4, "ft": 1e3 * _FOOT_M}

#: MW and GWh in one of each unit of power and energy.
POWER_MW: Mapping[str, float] = {"MW": 1.0, "kW": 1e-3}
ENERGY_GWH: Mapping[str, float] = {"GWh": 1.0, "MWh": 1e-3}

#: m3/kWh in one of each unit of the water that energy takes.
RATE_M3_PER_KWH: Mapping[str, float] = {
    "m3/kWh": 1.0,
    "ft3/kWh": _FOOT_M**3,
    "acre-ft/MWh": _ACRE_FT_HM3 * 1e3,
}
#: GWh/hm3 in one of each unit of the energy that water is worth.
WATER_VALUE_GWH_PER_HM3: Mapping[str, float] = {
    "GWh/hm3": 1.0,
    "kWh/m3": 1.0,
    "MWh/acre-ft": 1e-3 / _ACRE_FT_HM3,
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
    """How a unit ends a key or a column: ``m3/s`` -> ``m3s``, ``acre-ft/MWh`` -> ``acre_ft_per_mwh``."""
    return unit.lower().replace("/s", "s").replace("/", "_per_").replace("-", "_")
