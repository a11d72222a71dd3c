"""A row of the race: who ran, with which settings, and what the runs came to."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reservoir.bench.peers.run import Run

REACHED = "every year"


@dataclass(frozen=True)
class Entry:
    """How an entrant did; numbers are NaN where it did not run.

    Parameters
    ----------
    library, version, algorithm, settings : str
    seconds : float
        Until every year was near its reference optimum, median of the runs; NaN if half of them did not get there.
    years_within, years : int
        Years near their optimum at the end, in the run with the fewest, and years in all.
    worst_gap : float
        Of any year that was tried, in any run.
    evaluations, total_seconds : float
        Medians of the runs.
    start_up_seconds : float
        Imports and compilation, which are in none of the times.
    runs : int
    device : str
    status : str
        `REACHED`, or why not every year of every run.
    """

    library: str
    version: str
    algorithm: str
    settings: str
    years: int
    seconds: float = math.nan
    years_within: int = 0
    worst_gap: float = math.nan
    evaluations: float = math.nan
    total_seconds: float = math.nan
    start_up_seconds: float = math.nan
    runs: int = 0
    device: str = ""
    status: str = ""

    @property
    def name(self) -> str:
        """Library and algorithm."""
        return f"{self.library} {self.algorithm}"

    @property
    def ran(self) -> bool:
        """Whether it took part."""
        return self.runs > 0

    @property
    def finished(self) -> bool:
        """Whether it has a time."""
        return math.isfinite(self.seconds)


def completed(entry: Entry, runs: Sequence[Run]) -> Entry:
    """The entry with what its runs came to."""
    seconds = statistics.median_high(run.seconds for run in runs)
    within = min(run.years_within for run in runs)
    return replace(
        entry,
        seconds=seconds if math.isfinite(seconds) else math.nan,
        years_within=within,
        worst_gap=max(run.worst_gap for run in runs),
        evaluations=statistics.median_high(run.evaluations for run in runs),
        total_seconds=statistics.median_high(run.total_seconds for run in runs),
        start_up_seconds=runs[0].start_up_seconds,
        runs=len(runs),
        device=runs[0].device,
        status=REACHED if within == entry.years else f"{within} of {entry.years} years",
    )


def in_words(settings: Mapping[str, Any]) -> str:
    """Settings for a table."""
    return ", ".join(f"{name} {value}" for name, value in settings.items())
