"""What every entrant is given; what it finds for a year, and in a run; and its row of the race's table."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reservoir.problems.reservoir.year import ReservoirYear

REACHED = "every year"


@dataclass(frozen=True)
class SearchBudget:
    """How long a library may try.

    A year is done when its fitness is `near` enough, as a part of the reference optimum. Evaluations are of a year in
    one attempt, those of a swarm of CLPSO with the paper's settings; a year that was missed is tried again while there
    is time. Seconds are for all years together; runs after the first are made as far as they fit into them with it.
    """

    near: float = 1e-4
    evaluations: int = 400_000
    seconds: float = 180.0
    runs: int = 5


@dataclass(frozen=True, eq=False)
class RaceCourse:
    """What is run over: years of one reservoir, and the fitness of their reference optima, GWh."""

    years: Sequence[ReservoirYear]
    optima_gwh: Sequence[float]
    budget: SearchBudget
    seed: int


@dataclass(frozen=True)
class Attempt:
    """What an attempt at a year came to: the gap of its best position in float64 (`gap_to`); seconds of the clock."""

    gap: float
    evaluations: int
    seconds: float


def gap_to(optimum_gwh: float, fitness_gwh: float) -> float:
    """Part by which a fitness falls short of the optimum."""
    return (optimum_gwh - fitness_gwh) / (abs(optimum_gwh) or 1.0)


@dataclass(frozen=True)
class RaceRun:
    """One run of an entrant over all years.

    Its seconds, until every year was near its optimum, and its worst gap, of the years that were tried, are infinite if
    that did not happen; imports and compilation, the start-up, are over before the clock is started.
    """

    seconds: float
    years_within: int
    worst_gap: float
    evaluations: int
    total_seconds: float
    start_up_seconds: float
    device: str


def summed_up(
    attempts: Sequence[Sequence[Attempt]], near: float, total_seconds: float, start_up_seconds: float, device: str
) -> RaceRun:
    """Sum up a run: attempts at each year in order, with the seconds of the run when they ended."""
    gaps = [min((each.gap for each in tries), default=math.inf) for tries in attempts]
    within = sum(gap <= near for gap in gaps)
    seconds = max(tries[-1].seconds for tries in attempts) if within == len(gaps) else math.inf
    worst = max((gap for gap in gaps if math.isfinite(gap)), default=math.inf)
    evaluations = sum(each.evaluations for tries in attempts for each in tries)
    return RaceRun(seconds, within, worst, evaluations, total_seconds, start_up_seconds, device)


@dataclass(frozen=True)
class Entry:
    """How an entrant did; numbers are NaN where it did not run.

    Seconds, until every year was near its reference optimum, are NaN if half of the runs did not get there; they,
    evaluations and total seconds are medians of the runs. Years within are those near their optimum at the end in the
    run with the fewest, the worst gap that of any year that was tried in any run. The status is `REACHED`, or why not.
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


def completed(entry: Entry, runs: Sequence[RaceRun]) -> Entry:
    """The entry with what its runs came to."""
    told: dict[str, Any] = {
        name: statistics.median_high(getattr(run, name) for run in runs)
        for name in ("seconds", "evaluations", "total_seconds")
    }
    if not math.isfinite(told["seconds"]):
        told["seconds"] = math.nan
    within = min(run.years_within for run in runs)
    status = REACHED if within == entry.years else f"{within} of {entry.years} years"
    told |= {"years_within": within, "worst_gap": max(run.worst_gap for run in runs), "status": status}
    told |= {"start_up_seconds": runs[0].start_up_seconds, "runs": len(runs), "device": runs[0].device}
    return replace(entry, **told)


def in_words(settings: Mapping[str, Any]) -> str:
    """Settings for a table."""
    return ", ".join(f"{name} {value}" for name, value in settings.items())
