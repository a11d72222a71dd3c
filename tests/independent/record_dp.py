"""The best energy of a record with losses, by a program that shares no line with the package: numpy and scipy only.

Dynamic programming over storage, written from the equations alone, for reservoir files like that of the carry-over
example: tables, a tailrace by a power of the release, an output coefficient, an end fixed or valued. It takes the
record in one piece, first on a grid of all storages, then on ever finer grids around the best trajectory.

``python -m tests.independent.record_dp RESERVOIR.toml INFLOW.csv [GWH_PER_HM3]`` prints the energy.
"""

from __future__ import annotations

import calendar
import csv
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.interpolate import PchipInterpolator

FIRST_GRID, FINE_GRID, HALF_WIDTH = 241, 41, 6.0
MISSED = 1e6  # GWh that a demand costs that is missed by all of it: far more than water is worth


@dataclass
class Record:
    """A reservoir and its months in a row; with an end value (GWh per hm3) the end is valued, otherwise fixed."""

    facts: dict
    inflow: np.ndarray
    days: np.ndarray
    month: np.ndarray
    end_value: float | None = None
    #: Losses as volumes of the months, in place of evaporation by area, and the highest storages at their ends.
    recorded_hm3: np.ndarray | None = None
    upper_hm3: np.ndarray | None = None
    curves: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in (("level", "level_m"), ("area", "area_km2"), ("seepage", "seepage_m3s")):
            curve = self.facts["curves"][name]
            self.curves[name] = PchipInterpolator(curve["storage_hm3"], curve[value])

    def energy_gwh(self, step: int, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Energy of a month between two storages; less a fine for missed demands, minus infinity if impossible."""
        facts, losses, month = self.facts, self.facts["losses"], self.month[step]
        seconds = 86_400 * self.days[step]
        middle = (start + end) / 2
        evaporated = losses["evaporation_mm"][month] * 1e-3 * self.curves["area"](middle)  # mm km2 = 1e-3 hm3
        if self.recorded_hm3 is not None:
            evaporated = self.recorded_hm3[step]
        seeped = self.curves["seepage"](middle) * seconds * 1e-6
        lost = (start - end - evaporated - seeped) * 1e6 / seconds + self.inflow[step]
        release = lost - losses["withdrawal_m3s"][month]
        bounds = facts["release"]
        possible = (release >= bounds["lower_m3s"] - 1e-9) & (release <= bounds["upper_m3s"] + 1e-9)
        release = np.clip(release, bounds["lower_m3s"], bounds["upper_m3s"])
        tailrace, plant = facts["curves"]["tailrace"], facts["plant"]
        below = tailrace["offset_m"] + tailrace["factor"] * release ** tailrace["exponent"]
        head = self.curves["level"](middle) - below
        turbined = np.minimum(release, plant["hydraulic_capacity_m3s"])
        power = np.minimum(plant["output_coefficient"] * turbined * head / 1000, plant["installed_capacity_mw"])
        wanted = plant.get("power_lower_mw", 0)
        missed = np.maximum(wanted - power, 0) / wanted if wanted else 0
        return np.where(possible, power * seconds / 3.6e6 - MISSED * missed, -np.inf)


def read(reservoir: Path, inflow: Path, end_value: float | None = None, years: int | None = None) -> Record:
    """Read a reservoir file and its record, or the first years of it."""
    rows = [line for line in inflow.read_text().splitlines() if not line.startswith("#")]
    record = list(csv.reader(rows))[1:][:years]
    months = [(int(row[0]), month) for row in record for month in range(12)]
    days = np.array([calendar.monthrange(year, month + 1)[1] for year, month in months])
    flows = np.array([float(value) for row in record for value in row[1:]])
    month = np.array([month for _, month in months])
    return Record(tomllib.loads(reservoir.read_text()), flows, days, month, end_value)


def best_energy_gwh(record: Record) -> float:
    """Energy of the best trajectory, with the value of its change of storage if the end is valued."""
    storage, steps = record.facts["storage"], len(record.inflow)
    lowest, highest = (np.full(steps + 1, float(storage[f"{end}_hm3"])) for end in ("dead", "full"))
    if record.upper_hm3 is not None:
        highest[1:] = np.minimum(highest[1:], record.upper_hm3)
    lowest[0] = highest[0] = storage["initial_hm3"]
    if record.end_value is None:
        lowest[-1] = highest[-1] = storage["initial_hm3"]
    best, path = _recursion(record, np.linspace(lowest, highest, FIRST_GRID, axis=1))
    width = HALF_WIDTH * (highest - lowest) / (FIRST_GRID - 1)
    # From 10 hm3 beside the trajectory to some litres.
    while width.max() > 1e-5:
        low, high = np.maximum(path - width, lowest), np.minimum(path + width, highest)
        energy, path = _recursion(record, np.linspace(low, high, FINE_GRID, axis=1))
        if energy - best <= 1e-9 * abs(best):
            width /= 3
        best = max(best, energy)
    return best


def _recursion(record: Record, grid: np.ndarray) -> tuple[float, np.ndarray]:
    """Value of the first storage of a grid (the start), and the trajectory from it."""
    worth = 0.0 if record.end_value is None else record.end_value
    value, choices = worth * (grid[-1] - grid[0, 0]), []
    for step in range(len(grid) - 2, -1, -1):
        total = record.energy_gwh(step, grid[step][:, None], grid[step + 1][None, :]) + value
        choices.append(total.argmax(axis=1))
        value = total.max(axis=1)
    state, path = int(value.argmax()), [grid[0, value.argmax()]]
    for row, choice in zip(grid[1:], reversed(choices), strict=True):
        state = int(choice[state])
        path.append(row[state])
    return float(value.max()), np.array(path)


if __name__ == "__main__":
    given = [float(each) for each in sys.argv[3:]]
    print(f"{best_energy_gwh(read(Path(sys.argv[1]), Path(sys.argv[2]), *given)):.6f} GWh")
