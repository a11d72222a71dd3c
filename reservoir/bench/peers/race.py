"""The race: the same years, the project's solvers and other libraries, one entrant after another."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import islice

import pandas as pd

import reservoir
from reservoir.bench.peers.budget import QUICK, Budget, Course
from reservoir.bench.peers.entry import Entry, completed, in_words
from reservoir.bench.peers.libraries import INSTALL, PEERS, Peer
from reservoir.bench.peers.own_runs import own_runs
from reservoir.bench.peers.peer_runs import peer_runs
from reservoir.bench.peers.run import Run
from reservoir.planning.plan import StageProgress
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.solvers import SOLVERS, Solution, why_unusable

#: Stands where libraries have their name.
OWN = "reservoir"
QUICK_YEARS = 4


@dataclass(frozen=True)
class PeerRace:
    """What the race came to.

    Parameters
    ----------
    entries : tuple of Entry
        The project's solvers, then the libraries, in the order in which they ran.
    budget : Budget
    quick : bool
        Run on a few years with a small budget.
    """

    entries: tuple[Entry, ...]
    budget: Budget
    quick: bool = False

    def frame(self) -> pd.DataFrame:
        """A row for each entrant, columns as in `Entry`."""
        return pd.DataFrame([asdict(entry) for entry in self.entries])

    @property
    def title(self) -> str:
        """What was measured."""
        quick = " (a quick run)" if self.quick else ""
        return f"Time until {self.entries[0].years} years are within {100 * self.budget.near:g} % of dp{quick}"

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was measured, and who is missing."""
        budget = self.budget
        missing = sorted({entry.library for entry in self.entries if not entry.version})
        notes = [
            "The libraries are given one objective, the sequential solver's own compiled fitness in float32 for a "
            "batch of positions (for evosax the same in JAX); whatever improves is certified in float64 on the exact "
            "curves, and only that counts. pygmo's de1220 and mealpy ask for one position at a time.",
            f"A library ends a year once it is near enough; a year missed after {budget.evaluations:,} evaluations is "
            f"tried again until {budget.seconds:g} s are over for all years. The solvers of this project run to their "
            "end and are told neither.",
            f"Seconds are medians of up to {budget.runs} runs with other seeds, as far as they fit into the budget; "
            "imports and compilation (start_up_seconds) are in none of them. years_within is that of the run with the "
            "fewest, worst_gap that of the worst year tried in any run. Evaluations of dp are transitions.",
        ]
        if missing:
            notes.append(f"Not installed: {', '.join(missing)}. To have them in the race: {INSTALL}.")
        return tuple(notes)


def time_peers(
    years: list[ReservoirYear],
    references: Sequence[Solution],
    *,
    seed: int,
    device: str,
    quick: bool,
    progress: StageProgress,
    budget: Budget | None = None,
    peers: Sequence[Peer] = PEERS,
    solvers: Sequence[str] = tuple(SOLVERS),
) -> PeerRace:
    """Time the project's solvers and other libraries on the same years.

    A library that is missing or fails is an entry that says so, and no error.

    Parameters
    ----------
    years : list of ReservoirYear
        Of one reservoir.
    references : sequence of Solution
        Their reference optima.
    seed : int
    device : str
        For the solvers that need one.
    quick : bool
        A few years and a small budget, for a look at whether everything works.
    progress : callable
        Told how many years each entrant has done.
    budget : Budget, optional
        What every entrant is given.
    peers, solvers
        Who takes part.
    """
    budget = budget or (QUICK if quick else Budget())
    kept = slice(QUICK_YEARS if quick else None)
    course = Course(years[kept], [each.fitness for each in references[kept]], budget, seed)
    own = [_own_entry(name, course, device, progress) for name in solvers]
    others = [_peer_entry(peer, course, progress) for peer in peers]
    return PeerRace((*own, *others), budget, quick)


def _own_entry(name: str, course: Course, device: str, progress: StageProgress) -> Entry:
    entry = Entry(OWN, reservoir.__version__, name, "as reservoir plan runs it", len(course.years))
    unusable = why_unusable(name)
    if unusable:
        return replace(entry, status=unusable)
    return _timed(entry, own_runs(name, course, device), course.budget, progress)


def _peer_entry(peer: Peer, course: Course, progress: StageProgress) -> Entry:
    entry = Entry(peer.library, peer.version, peer.algorithm, in_words(peer.settings), len(course.years))
    if not peer.version:
        return replace(entry, status=f"not installed: {INSTALL}")
    runs = peer_runs(peer, course, lambda done, total: progress(entry.name, done, total))
    return _timed(entry, runs, course.budget, progress)


def _timed(entry: Entry, runs: Generator[Run], budget: Budget, progress: StageProgress) -> Entry:
    """Take runs as long as they fit into the budget; whatever goes wrong goes into the status."""
    progress(entry.name, 0, entry.years)
    taken: list[Run] = []
    try:
        with closing(runs):
            for run in islice(runs, budget.runs):
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
