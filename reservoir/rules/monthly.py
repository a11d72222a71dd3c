"""What every family needs of a reservoir by step: bounds, and the volume that a flow carries in a month."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from reservoir.rules.training import Training


@dataclass(frozen=True)
class Months:
    """The months of a water year as rules know them; one value a step.

    Parameters
    ----------
    calendar_month : tuple of int
        1 to 12.
    volume_per_flow : tuple of float
        hm3 that 1 m3/s carries in the month, its mean over the training years (February has 28.25 days or so).
    inflow_m3s : tuple of float
        Mean inflow, used where the month's own is not known.
    release_lower_m3s, release_upper_m3s : tuple of float
        Bounds of the release.
    """

    calendar_month: tuple[int, ...]
    volume_per_flow: tuple[float, ...]
    inflow_m3s: tuple[float, ...]
    release_lower_m3s: tuple[float, ...]
    release_upper_m3s: tuple[float, ...]

    @classmethod
    def of(cls, training: Training) -> Months:
        """The months of the training years."""
        plant = training.model.reservoir
        return cls(
            tuple(int(month) for month in plant.months),
            _floats(training.volume_per_flow.mean(axis=0)),
            _floats(training.inflow_m3s.mean(axis=0)),
            _floats(plant.by_step(plant.release_lower_m3s)),
            _floats(plant.by_step(plant.release_upper_m3s)),
        )

    def release_to_reach(self, step: int, storage_hm3: float, target_hm3: float, inflow_m3s: float | None) -> float:
        """Release (m3/s) that ends a step at a storage, within the bounds of the release."""
        inflow = self.inflow_m3s[step] if inflow_m3s is None else inflow_m3s
        wanted = inflow - (target_hm3 - storage_hm3) / self.volume_per_flow[step]
        return min(max(wanted, self.release_lower_m3s[step]), self.release_upper_m3s[step])

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {name: list(values) for name, values in asdict(self).items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Months:
        """Read back what `to_dict` gave."""
        return cls(**{name: tuple(values) for name, values in content.items()})


def _floats(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
