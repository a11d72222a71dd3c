"""The curves of a plant as tables, dense enough to stand for them: a rule holds its plant without the plant's file."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

import numpy as np

from reservoir.hydro.curves.joined_lines import joined_lines
from reservoir.hydro.plant import Plant, plant_of
from reservoir.hydro.reservoir import Reservoir
from reservoir.rules.base.fields import Block, NotFalling, Number, Numbers, as_long_as
from reservoir.rules.base.training import FloatArray

#: Points of each curve between the bounds.
POINTS = 401
#: How far below its bounds a lake is followed, as a part of their range.
BELOW_BOUNDS = 0.5


def continued_below(points: FloatArray, lowest: float) -> FloatArray:
    """Points evenly apart, and more of them below as far as a lowest one allows; the given ones stay as they are."""
    spacing = (points[-1] - points[0]) / (len(points) - 1)
    count = int(max(points[0] - lowest, 0.0) / spacing) if spacing > 0 else 0
    return np.concatenate([points[0] - spacing * np.arange(count, 0, -1), points])


class PlantTable(Block):
    """The curves of a plant at so many points that straight lines between them lose nothing.

    Parameters
    ----------
    storage_hm3, level_m : tuple of float
        Forebay level by storage.
    release_m3s, tailrace_m : tuple of float
        Tailrace level by release.
    head_m, specific_mw, capacity_m3s : tuple of float
        Power of 1 m3/s and hydraulic capacity by head.
    installed_mw : float
    """

    storage_hm3: NotFalling
    level_m: Annotated[Numbers, as_long_as("storage_hm3")]
    release_m3s: NotFalling
    tailrace_m: Annotated[Numbers, as_long_as("release_m3s")]
    head_m: NotFalling
    specific_mw: Annotated[Numbers, as_long_as("head_m")]
    capacity_m3s: Annotated[Numbers, as_long_as("head_m")]
    installed_mw: Number

    @classmethod
    def of(cls, plant: Reservoir) -> PlantTable:
        """Take points from the exact curves, over all storages and releases within the bounds and storages below."""
        bounds = plant.storage_lower_hm3.min(), plant.storage_upper_hm3.max()
        between = np.linspace(*bounds, POINTS)
        storage = continued_below(between, max(plant.level.domain[0], bounds[0] - BELOW_BOUNDS * np.ptp(bounds)))
        release = np.linspace(plant.release_lower_m3s.min(), plant.release_upper_m3s.max(), POINTS)
        level, tailrace = plant.level(storage), plant.tailrace(release)
        heads = plant.level(between).min() - tailrace.max(), level.max() - tailrace.min()
        head = continued_below(np.linspace(*heads, POINTS), level.min() - tailrace.max())
        return cls(
            storage_hm3=storage.tolist(),
            level_m=level.tolist(),
            release_m3s=release.tolist(),
            tailrace_m=tailrace.tolist(),
            head_m=head.tolist(),
            specific_mw=plant_of(plant).conversion(head).tolist(),
            capacity_m3s=plant.capacity_m3s(head).tolist(),
            installed_mw=float(plant.installed_mw),
        )

    @cached_property
    def curves(self) -> Plant:
        """The curves as functions of arrays."""
        return Plant(
            joined_lines(self.storage_hm3, self.level_m),
            joined_lines(self.release_m3s, self.tailrace_m),
            joined_lines(self.head_m, self.specific_mw),
            joined_lines(self.head_m, self.capacity_m3s),
            self.installed_mw,
        )
