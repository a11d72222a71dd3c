"""How much an experiment does, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from reservoir.bench import RUNS

T = TypeVar("T")

QUICK_WARNING = (
    "Quick trial: few generations and small ensembles. It shows that everything runs; its numbers are not results."
)


@dataclass(frozen=True)
class RunBudget:
    """What every experiment is told.

    Parameters
    ----------
    runs : int
        Runs of each engine.
    quick : bool
        Only try the experiment: few generations and small ensembles, whose results say nothing about quality.
    seed : int
        The first of the seeds.
    device : str
        See `reservoir.opencl.choose_device`.
    """

    runs: int = RUNS
    quick: bool = False
    seed: int = 1
    device: str = "auto"

    def usual(self, full: T, quick: T) -> T:
        """What is done unless the user asks for something else."""
        return quick if self.quick else full

    @property
    def repeats(self) -> int:
        """Runs of each point of a scaling experiment; their median counts."""
        return self.usual(3, 1)

    @property
    def point_seconds(self) -> float:
        """Seconds that a run of a point should take on the device, about."""
        return self.usual(1.0, 0.05)
