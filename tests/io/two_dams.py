"""A system of two small reservoirs and its record as files, for tests to change."""

from pathlib import Path

from tests.io.small_reservoir import LEVEL, SMALL

TWO = """\
name = "two-dams"
kind = "system"
first_month = 1

[[reservoirs]]
name = "upper"
file = "upper.toml"

[[reservoirs]]
name = "lower"
file = "lower.toml"

[[links]]
from = "upper"
to = "lower"
travel_hours = 12
before_cfs = 1000
"""
YEARS = range(1990, 1994)


def flows(year: int, month: int) -> tuple[float, float]:
    """Local inflow of the upper and the lower reservoir, m3/s."""
    wet = 30.0 if 5 <= month <= 9 else 8.0
    return wet + year % 5 + month % 3, 0.4 * wet + (year * month) % 4


def wide(header: str = "date,upper,lower", total: bool = False) -> str:
    """A record with a column a reservoir; of the lower one the total flow, if asked for."""
    rows = []
    for year in YEARS:
        for month in range(1, 13):
            upper, lower = flows(year, month)
            rows.append(f"{year}-{month:02d},{upper:g},{lower + upper * total:g}")
    return "\n".join((header, *rows, ""))


def write_two(folder: Path, text: str = TWO, upper: str = SMALL, lower: str = SMALL) -> Path:
    """Write the system and its two reservoir files; returns the path of the system file."""
    (folder / "upper.toml").write_text(upper, encoding="utf-8")
    (folder / "lower.toml").write_text(lower, encoding="utf-8")
    (folder / "two.toml").write_text(text, encoding="utf-8")
    return folder / "two.toml"


def write_three(folder: Path) -> Path:
    """Write the system with a plant between that stores nothing, and its record, flows.csv."""
    first, second = TWO.split('[[reservoirs]]\nname = "lower"')
    mid = '[[reservoirs]]\nname = "mid"\nfile = "mid.toml"\n\n[[reservoirs]]\nname = "lower"'
    text = (first + mid + second).replace('to = "lower"', 'to = "mid"') + '\n[[links]]\nfrom = "mid"\nto = "lower"\n'
    start, end = SMALL.index("[storage]"), SMALL.index("[release]")
    plant = SMALL[:start] + "[storage]\nlevel_m = 440\n\n" + SMALL[end:].replace(LEVEL, "")
    (folder / "mid.toml").write_text(plant, encoding="utf-8")
    header, *rows = wide("date,upper,mid,lower").splitlines()
    rows = [",".join((date, upper, "2", lower)) for date, upper, lower in (row.split(",") for row in rows)]
    (folder / "flows.csv").write_text("\n".join((header, *rows, "")))
    path = write_two(folder, text)
    return path.rename(folder / "three.toml")
