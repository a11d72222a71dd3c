"""How much an experiment does, and where."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.bench import RUNS

#: Runs of each engine in a quick experiment.
QUICK_RUNS = 3
QUICK_WARNING = "A quick trial: few generations and small ensembles. It shows that everything runs, not how well."


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

    @property
    def repeats(self) -> int:
        """Runs of each point of a scaling experiment; their median counts."""
        return 1 if self.quick else 3

    @property
    def point_seconds(self) -> float:
        """Seconds that a run of a point should take on the device, about."""
        return 0.05 if self.quick else 1.0
