"""Reservoir files and inflow records of the tests, written in the units of the United States."""

from __future__ import annotations

import re

from reservoir.hydro import units

#: What stands at the end of a key, the end in its place, and the size of one of those.
ENDS = {
    "hm3": ("kaf", units.VOLUME_HM3["kaf"]),
    "m3s": ("cfs", units.FLOW_M3S["cfs"]),
    "m3_per_kwh": ("acre_ft_per_mwh", units.RATE_M3_PER_KWH["acre-ft/MWh"]),
    "km2": ("acres", units.AREA_KM2["acres"]),
    "mm": ("in", units.DEPTH_MM["in"]),
    "m": ("ft", units.LENGTH_M["ft"]),
}
_KEY = re.compile(rf"(?m)^(\w+?)_({'|'.join(ENDS)}) = (\[[^\]]*\]|[^\n#]*)")


def in_us_units(text: str) -> str:
    """Write a reservoir file in thousand acre-feet, cfs, ft, acres, inches and acre-feet per MWh."""

    def converted(found: re.Match[str]) -> str:
        end, size = ENDS[found[2]]
        numbers = re.sub(r"-?\d[\d.e+-]*", lambda number: repr(float(number[0]) / size), found[3])
        return f"{found[1]}_{end} = {numbers}"

    return _KEY.sub(converted, text)


def record_in_cfs(text: str) -> str:
    """Write a wide inflow record in m3/s as one in cfs."""
    lines = text.replace("m3/s", "cfs").splitlines()
    size = units.FLOW_M3S["cfs"]
    return "\n".join(
        ",".join([line.split(",")[0], *(repr(float(cell) / size) for cell in line.split(",")[1:])])
        if line[:1].isdigit()
        else line
        for line in lines
    )
