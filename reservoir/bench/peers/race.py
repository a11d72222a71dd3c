"""The race: the same years, the project's solvers and other libraries, one entrant after another."""

from __future__ import annotations

import itertools
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace

import pandas as pd

import reservoir
from reservoir.bench.peers.entry import (
    Attempt,
    Entry,
    RaceCourse,
    RaceRun,
    SearchBudget,
    completed,
    gap_to,
    in_words,
    summed_up,
)
from reservoir.bench.peers.libraries import INSTALL, PEERS, Peer
from reservoir.bench.peers.peer_runs import peer_runs
from reservoir.planning.plan import StageProgress
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.solvers import SOLVERS, Solution, solve, why_unusable

#: Stands where libraries have their name.
OWN = "reservoir"
#: For a look at whether everything works.
QUICK_BUDGET, QUICK_YEARS = SearchBudget(seconds=10.0, runs=1), 4


@dataclass(frozen=True)
class PeerRace:
    """What the race came to: the project's solvers, then the libraries, as they ran; a quick one is on a few years."""

    entries: tuple[Entry, ...]
    budget: SearchBudget
    quick: bool = False

    def frame(self) -> pd.DataFrame:
        """A row for each entrant, columns as in `Entry`."""
        return pd.DataFrame([asdict(entry) for entry in self.entries])

    @property
    def title(self) -> str:
        """What was measured."""
        quick = " (quick run)" if self.quick else ""
        return f"Time until {self.entries[0].years} years are within {100 * self.budget.near:g} % of dp{quick}"

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was measured, and who is missing."""
        budget = self.budget
        missing = sorted({entry.library for entry in self.entries if not entry.version})
        notes = [
            "All libraries use the same objective: the sequential solver's compiled float32 fitness for a batch of "
            "positions (for evosax the same in JAX). Every improvement is certified in float64 on the exact curves, "
            "and only that counts. pygmo's de1220 and mealpy evaluate one position at a time.",
            f"A library stops a year when it is close enough; a year missed after {budget.evaluations:,} evaluations "
            f"is repeated until {budget.seconds:g} s are used for all years. This project's solvers run to the end: "
            "they know neither the optimum nor the time limit.",
            f"Seconds: medians of up to {budget.runs} runs with different seeds, as far as the time allows, without "
            "imports and compilation (start_up_seconds). years_within: of the run with the fewest; worst_gap: of the "
            "worst year in any run. Evaluations of dp are transitions.",
        ]
        if missing:
            notes.append(f"Not installed: {', '.join(missing)}. To include them: {INSTALL}.")
        return tuple(notes)


def time_peers(
    years: list[ReservoirYear],
    references: Sequence[Solution],
    *,
    seed: int,
    device: str,
    quick: bool,
    progress: StageProgress,
    budget: SearchBudget | None = None,
    peers: Sequence[Peer] = PEERS,
    solvers: Sequence[str] = tuple(SOLVERS),
) -> PeerRace:
    """Time the project's solvers and other libraries on the same years.

    A library that is missing or fails is an entry that says so, and no error.

    Parameters
    ----------
    years, references
        Of one reservoir, and their reference optima.
    device : str
        For the solvers that need one.
    quick : bool
        A few years and a small budget, for a look at whether everything works.
    progress : callable
        Told how many years each entrant has done.
    peers, solvers
        Who takes part.
    """
    budget = budget or (QUICK_BUDGET if quick else SearchBudget())
    kept = slice(QUICK_YEARS if quick else None)
    course = RaceCourse(years[kept], [each.fitness for each in references[kept]], budget, seed)
    own = [_own_entry(name, course, device, progress) for name in solvers]
    others = [_peer_entry(peer, course, progress) for peer in peers]
    return PeerRace((*own, *others), budget, quick)


def _own_entry(name: str, course: RaceCourse, device: str, progress: StageProgress) -> Entry:
    entry = Entry(OWN, reservoir.__version__, name, "settings of reservoir plan", len(course.years))
    unusable = why_unusable(name)
    if unusable:
        return replace(entry, status=unusable)
    return _timed(entry, _own_runs(name, course, device), course.budget, progress)


def _own_runs(name: str, course: RaceCourse, device: str) -> Generator[RaceRun]:
    """Run a solver of `SOLVERS` to its end: it is told neither the optimum nor when to stop.

    A first run compiles and is not counted.
    """
    start_up = 0.0
    for repeat in itertools.count():
        started = time.perf_counter()
        found = solve(course.years, solver=name, seed=course.seed + repeat, device=device)
        seconds = time.perf_counter() - started
        attempts = [
            [Attempt(gap_to(optimum, each.fitness), each.evaluations, seconds)]
            for each, optimum in zip(found, course.optima_gwh, strict=True)
        ]
        if repeat == 0:
            start_up = seconds
        else:
            yield summed_up(attempts, course.budget.near, seconds, max(start_up - seconds, 0.0), found[0].device)


def _peer_entry(peer: Peer, course: RaceCourse, progress: StageProgress) -> Entry:
    entry = Entry(peer.library, peer.version, peer.algorithm, in_words(peer.settings), len(course.years))
    if not peer.version:
        return replace(entry, status=f"not installed: {INSTALL}")
    runs = peer_runs(peer, course, lambda done, total: progress(entry.name, done, total))
    return _timed(entry, runs, course.budget, progress)


def _timed(entry: Entry, runs: Generator[RaceRun], budget: SearchBudget, progress: StageProgress) -> Entry:
    """Take runs as long as they fit into the budget; whatever goes wrong goes into the status."""
    progress(entry.name, 0, entry.years)
    taken: list[RaceRun] = []
    try:
        with closing(runs):
            for run in itertools.islice(runs, budget.runs):
                taken.append(run)
                progress(entry.name, run.years_within, entry.years)
                if sum(each.total_seconds for each in taken) + run.total_seconds > budget.seconds:
                    break
    except Exception as error:  # the race goes on, whatever a library does
        return replace(completed(entry, taken) if taken else entry, status=f"failed: {_first_line(error)}")
    return completed(entry, taken)


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
