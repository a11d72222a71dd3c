"""The best schedule for any stage benefit, by a program that shares no line with the package: numpy and scipy only.

Dynamic programming over storage for a small invented lake, written from the equations alone: first on a grid of all
storages, then on ever finer grids around the best trajectory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

FIRST_GRID, FINE_GRID, HALF_WIDTH = 161, 41, 6.0

#: Points of the lake's curves; the tailrace and the plant are the same in both programs.
STORAGES = [10.0, 40.0, 80.0, 120.0, 200.0]
LEVELS = [400.0, 420.0, 434.0, 444.0, 458.0]
#: The level curve finely divided: straight lines between are within 1e-9 m of it, and fast.
FINE = np.linspace(STORAGES[0], STORAGES[-1], 200_001)
FINE_LEVELS = PchipInterpolator(STORAGES, LEVELS)(FINE)
DEAD, FULL, START = 20.0, 180.0, 120.0
LEAST, MOST = 2.0, 300.0
TAILRACE = 350.0, 0.05  # level, m, and its rise with each m3/s
CAPACITY, COEFFICIENT, INSTALLED = 60.0, 8.3, 40.0

#: Benefit of steps: their number, power (MW), release (m3/s) and seconds.
Benefit = Callable[[int, np.ndarray, np.ndarray, float], np.ndarray]


@dataclass
class Lake:
    """Inflow (m3/s) and seconds of the steps in a row; the last storage is the first."""

    inflow: np.ndarray
    seconds: np.ndarray

    def power_and_release(self, step: int, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Power, MW, and release, m3/s, between two storages, hm3."""
        release = self.inflow[step] - (end - start) * 1e6 / self.seconds[step]
        level = np.interp((start + end) / 2, FINE, FINE_LEVELS)
        kept = np.clip(release, LEAST, MOST)
        head = level - TAILRACE[0] - TAILRACE[1] * kept
        return np.minimum(COEFFICIENT * np.minimum(kept, CAPACITY) * head / 1000, INSTALLED), release

    def best(self, benefit: Benefit, first_grid: int = FIRST_GRID) -> tuple[float, np.ndarray]:
        """Largest sum of benefits, and its storages; first on a grid of so many storages."""
        steps = len(self.inflow)
        lowest, highest = np.full(steps + 1, DEAD), np.full(steps + 1, FULL)
        lowest[[0, -1]] = highest[[0, -1]] = START
        found, path = self._solved(np.linspace(lowest, highest, first_grid, axis=1), benefit)
        spacing = (highest - lowest) / (first_grid - 1)
        quiet = 0
        for _ in range(200):
            low, high = (np.clip(path + way * HALF_WIDTH * spacing, lowest, highest) for way in (-1, 1))
            better, path = self._solved(np.linspace(low, high, FINE_GRID, axis=1), benefit)
            leans = np.any(((path <= low) & (low > lowest) | (path >= high) & (high < highest)) & (high > low))
            if not leans:
                spacing = spacing * (2 * HALF_WIDTH / (FINE_GRID - 1))
            quiet = quiet + 1 if abs(better - found) <= 1e-10 * max(abs(better), 1e-6) else 0
            found = max(found, better)
            if quiet == 4:
                break
        return found, path

    def _solved(self, grid: np.ndarray, benefit: Benefit) -> tuple[float, np.ndarray]:
        steps = len(self.inflow)
        value, chosen = np.zeros(grid.shape[1]), []
        for step in reversed(range(steps)):
            start, end = grid[step][:, np.newaxis], grid[step + 1][np.newaxis]
            power, release = self.power_and_release(step, start, end)
            worth = benefit(step, power, np.clip(release, LEAST, MOST), self.seconds[step]) + value
            worth = np.where((release >= LEAST - 1e-9) & (release <= MOST + 1e-9), worth, -np.inf)
            chosen.append(worth.argmax(axis=1))
            value = worth.max(axis=1)
        state = int(value.argmax())
        path = [grid[0, state]]
        for step, choice in enumerate(reversed(chosen)):
            state = int(choice[state])
            path.append(grid[step + 1, state])
        return float(value.max()), np.array(path)

    def firm_power(self) -> float:
        """Largest power that every step can give, by bisection: the storages from which the rest can be done."""
        low, high = 0.0, INSTALLED
        while high - low > 1e-7 * high:
            tried = (low + high) / 2
            low, high = (tried, high) if self._gives(tried) else (low, tried)
        return low

    def _gives(self, power: float) -> bool:
        """Whether every step can give a power: the least storage needed before each step, from the last one back."""
        needed = START
        for step in reversed(range(len(self.inflow))):
            low, high = DEAD, FULL
            if not self._able(step, high, needed, power):
                return False
            if self._able(step, low, needed, power):
                high = low
            for _ in range(45):
                middle = (low + high) / 2
                low, high = (low, middle) if self._able(step, middle, needed, power) else (middle, high)
            needed = high
        return needed <= START

    def _able(self, step: int, storage: float, needed: float, power: float) -> bool:
        """Whether a step from a storage gives a power and leaves what is needed; it may spill."""
        ends = np.linspace(needed, FULL, 200)
        made, release = self.power_and_release(step, np.full_like(ends, storage), ends)
        return bool(np.any((made >= power) & (release >= LEAST) & (release <= MOST)))
