"""Standard operating policy: the firm output while water lasts, and nothing held back for later; the weak baseline.

Maass et al. 1962, Design of Water-Resource Systems. The release makes the firm power at the month's start storage;
what does not fit under the upper bound of the storage is released too, by the simulation's repair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reservoir.hydro.approximation import specific_power_curve
from reservoir.rules.monthly import Months
from reservoir.rules.rule import Forecast
from reservoir.rules.training import FloatArray, Training
from reservoir.solvers.reservoir_year import ReservoirModel

FAMILY = "standard"
_POINTS = 41
_RELEASES = 400


@dataclass(frozen=True)
class StandardRule:
    """Release (m3/s) that makes the firm power, by storage (hm3), joined by straight lines."""

    reservoir: str
    forecast: Forecast
    months: Months
    firm_mw: float
    storage_hm3: tuple[float, ...]
    release_m3s: tuple[float, ...]

    family = FAMILY

    def release(self, step: int, storage_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float) -> float:
        """Release that makes the firm power at the start storage, whatever flows in."""
        wanted = float(np.interp(storage_hm3, self.storage_hm3, self.release_m3s))
        return min(max(wanted, self.months.release_lower_m3s[step]), self.months.release_upper_m3s[step])

    def to_dict(self) -> dict[str, Any]:
        """Everything that makes the rule, as JSON can hold it."""
        return {
            "family": FAMILY,
            "reservoir": self.reservoir,
            "forecast": str(self.forecast),
            "months": self.months.to_dict(),
            "firm_mw": self.firm_mw,
            "storage_hm3": list(self.storage_hm3),
            "release_m3s": list(self.release_m3s),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> StandardRule:
        """Read back what `to_dict` gave."""
        return cls(
            content["reservoir"],
            Forecast(content["forecast"]),
            Months.from_dict(content["months"]),
            content["firm_mw"],
            tuple(content["storage_hm3"]),
            tuple(content["release_m3s"]),
        )


def fit(training: Training, forecast: Forecast) -> StandardRule:
    """Take the guaranteed energy as firm power; without one, what the plan makes in nine months of ten."""
    plant = training.model.reservoir
    if plant.guaranteed_energy_gwh is not None:
        firm = plant.guaranteed_energy_gwh * 1000 / 8766
    else:
        firm = float(np.quantile(training.power_mw, 0.1))
    storages = np.linspace(plant.storage_lower_hm3.min(), plant.storage_upper_hm3.max(), _POINTS)
    releases = firm_release(training.model, storages, firm)
    return StandardRule(
        plant.name,
        forecast,
        Months.of(training),
        firm,
        tuple(float(value) for value in storages),
        tuple(float(value) for value in releases),
    )


def firm_release(model: ReservoirModel, storages_hm3: FloatArray, firm_mw: float) -> FloatArray:
    """Smallest release (m3/s) that makes a power at each storage; the one of most power where none makes it."""
    plant = model.reservoir
    releases = np.linspace(plant.release_lower_m3s.min(), plant.release_upper_m3s.max(), _RELEASES)
    head = plant.level(storages_hm3)[:, None] - plant.tailrace(releases)[None]
    discharge = np.minimum(releases, plant.capacity_m3s(head))
    power = np.minimum(specific_power_curve(plant)(head) * discharge, plant.installed_mw)
    enough = power >= firm_mw
    found = np.where(enough.any(axis=1), enough.argmax(axis=1), power.argmax(axis=1))
    return np.asarray(releases[found])
