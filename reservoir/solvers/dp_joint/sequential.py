"""Dynamic programming of all reservoirs of a small system at once, compiled: as many years at a time as threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.problems.system import SystemYears
from reservoir.solvers.dp_joint.lattice import IntArray, Lattice, best_path
from reservoir.solvers.dp_joint.search import JointSearch, JointSettings, Size
from reservoir.solvers.settings import ThreadSettings
from reservoir.solvers.system_engine import Places


@dataclass(frozen=True)
class ThreadJointSettings(JointSettings, ThreadSettings):
    """How finely storages are divided, and threads."""


class SequentialJointEngine(JointSearch[ThreadJointSettings]):
    """Each year by itself, in float64."""

    name = "dp-joint-sequential"
    settings_class = ThreadJointSettings

    def parts(self, batch: SystemYears, largest: Size) -> list[Places]:
        """A year each."""
        return list(np.arange(len(batch))[:, np.newaxis])

    def best_paths(self, of: Lattice, origin: IntArray) -> tuple[IntArray, NDArray[np.int64]]:
        """Year after year."""
        steps, shape = of.least.shape[2], tuple(of.shape)
        paths, tried = np.repeat(origin[:, :, np.newaxis], steps + 1, axis=2), np.zeros(len(origin), np.int64)
        values, later = np.empty(shape), np.empty(shape)
        for year, path in enumerate(paths):
            choices = np.zeros((steps, values.size), np.int32)
            tried[year] = best_path(of.of_year(year), values, later, choices, path)
        return paths, tried


ENGINE = SequentialJointEngine
