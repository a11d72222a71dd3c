"""An invented lake, its files and its record, with all that a reservoir file can say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tests.io.small_reservoir import SMALL

LOSSES = """
[losses]
evaporation_mm = [10, 20, 40, 70, 100, 130, 140, 120, 80, 50, 20, 10]
withdrawal_m3s = [0, 0, 1, 2, 3, 4, 4, 3, 2, 1, 0, 0]
seepage_m3s = 0.3
"""
_FREE = ('year_end = "fixed"', 'year_end = "free"')
_GUARANTEED = ("output_coefficient", "guaranteed_energy_gwh = 90\nguaranteed_power_mw = 8\noutput_coefficient")


def _with_end(end: str) -> tuple[str, str]:
    return 'year_end = "fixed"\ninitial_hm3 = 110', end


def _changed(*changes: tuple[str, str], further: str = "") -> str:
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text + further


def _goal(goal: str, *further: str) -> str:
    return "\n".join(("", "[objective]", f'goal = "{goal}"', *further, ""))


_PRICES = "price_per_mwh = [62, 58, 50, 42, 35, 30, 30, 34, 40, 46, 55, 60]"

#: The lake's file in every way in which one differs from another.
LAKES: Mapping[str, str] = {
    "plain": SMALL,
    "guaranteed": _changed(_GUARANTEED),
    "cyclic": _changed(_with_end('year_end = "cyclic"')),
    "free": _changed(_FREE),
    "valued": _changed(_with_end('year_end = "valued"\ninitial_hm3 = 110\nend_value_gwh_per_hm3 = 0.1')),
    "losses": _changed(further=LOSSES),
    "losses-cyclic": _changed(_with_end('year_end = "cyclic"'), further=LOSSES),
    "demands": _changed(
        ("output_coefficient", "power_lower_mw = 6\noutput_coefficient"),
        ("[release]\n", "[release]\nramp_up_m3s = 40\nramp_down_m3s = 40\n"),
        further=LOSSES,
    ),
    "power": _changed(("output_coefficient", "power_lower_mw = 6\noutput_coefficient"), further=LOSSES),
    "plant-factor": _changed(("output_coefficient", "plant_factor = 0.9\noutput_coefficient")),
    "revenue": _changed(further=_goal("revenue", _PRICES)),
    "firm-power": _changed(further=LOSSES + _goal("firm-power")),
    "power-shortage": _changed(further=LOSSES + _goal("power-shortage", "power_target_mw = 18")),
    "supply-shortage": _changed(further=LOSSES + _goal("supply-shortage", "supply_target_m3s = 30")),
    "unused-capacity": _changed(further=_goal("unused-capacity")),
    "weights": _changed(
        further=_PRICES.join(("\n[objective]\n", "\npower_target_mw = 12\n"))
        + "[objective.weights]\nenergy = 1\nrevenue = 0.5\npower_shortage = 20\n"
    ),
    "ten-days": _changed(('name = "small"', 'name = "small"\nstep = "ten-days"')),
}
_MONTHS_M3S = np.array([20, 18, 22, 35, 55, 80, 75, 50, 38, 30, 25, 22], float)
_YEARS = np.array([1.0, 0.7, 1.3, 0.9, 1.5, 0.6, 1.1, 0.85, 1.2, 0.95])
FIRST_YEAR = 2001


def monthly_m3s(years: int) -> np.ndarray:
    """Invented inflow, shape (years, 12)."""
    wobble = 1 + 0.2 * np.sin(1.7 * np.arange(12 * years).reshape(years, 12))
    return np.round(_YEARS[:years, np.newaxis] * _MONTHS_M3S * wobble, 3)


def write_files(folder: Path) -> None:
    """Write the lakes, and records of six and ten years: of months, with companions, of days, and of members."""
    for name, text in LAKES.items():
        (folder / f"{name}.toml").write_text(text)
    flows = {years: monthly_m3s(years).ravel() for years in (6, 10)}
    for years, values in flows.items():
        rows = [f"{_month(at)},{value:.3f}" for at, value in enumerate(values.tolist())]
        (folder / f"record-{years}.csv").write_text("\n".join(["date,inflow_m3s", *rows, ""]))
    of_six = flows[6].tolist()
    rows = [f"{_month(at)},{q:.3f},{60 + at % 7 * 10},{at % 5},{30 + at % 9}" for at, q in enumerate(of_six)]
    header = "date,inflow_m3s,evaporation_mm,withdrawal_m3s,price_per_mwh"
    (folder / "companions.csv").write_text("\n".join([header, *rows, ""]))
    days = np.arange(f"{FIRST_YEAR}-01-01", f"{FIRST_YEAR + 2}-01-01", dtype="datetime64[D]")
    rows = [f"{day},{30 + 20 * np.sin(at / 58):.3f}" for at, day in enumerate(days)]
    (folder / "days.csv").write_text("\n".join(["date,inflow_m3s", *rows, ""]))
    rows = [
        f"{_month(at)},{name},{q * factor:.3f}"
        for name, factor in (("a", 0.9), ("b", 1.2))
        for at, q in enumerate(of_six)
    ]
    (folder / "members.csv").write_text("\n".join(["date,member,inflow_m3s", *rows, ""]))


def _month(at: int) -> str:
    return f"{FIRST_YEAR + at // 12}-{at % 12 + 1:02}"
