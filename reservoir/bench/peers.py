"""The race against other libraries: the time until every year is near its reference optimum, side by side in one run.

The project's solvers and other libraries (``data/bench/peers.toml``) have the same years, one entrant after another.
Each library is imported only in the processes in which it runs: what is not installed is reported, and no error.
"""

from __future__ import annotations

import itertools
import math
import os
import statistics
import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

import reservoir
from reservoir.bench import peer_search
from reservoir.bench.experiment import RunBudget, bundled
from reservoir.bench.figures import log_axis
from reservoir.bench.peer_search import Attempt, Peer, RaceCourse, SearchBudget, gap_to
from reservoir.bench.runs import processes
from reservoir.bench.tables import Row
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.report.figures.style import GRID, LIMITS, STORAGE
from reservoir.solvers import RESERVOIR_SOLVERS, Solutions, solve, why_unusable
from reservoir.solvers.engine import Progress

#: Stands where libraries have their name.
OWN = "reservoir"
INSTALL = "pip install 'reservoir[peers]'"
REACHED = "every year"
#: Those that solve a year at a time, and those that solve all together.
PEERS = tuple(
    Peer(library, algorithm, settings, together=library == "evosax")
    for library, algorithms in bundled("peers")["peers"].items()
    for algorithm, settings in algorithms.items()
)
#: For a look at whether everything works.
QUICK_BUDGET, QUICK_YEARS = SearchBudget(seconds=10.0, runs=1), 4


def summed_up(
    attempts: Sequence[Sequence[Attempt]], near: float, total_seconds: float, start_up_seconds: float, device: str
) -> Row:
    """Sum up a run of an entrant: attempts at each year in order, with the seconds of the run when they ended.

    Its seconds, until every year was near its optimum, and its worst gap, of the years that were tried, are infinite if
    that did not happen; imports and compilation, the start-up, are over before the clock is started.
    """
    gaps = [min((each.gap for each in tries), default=math.inf) for tries in attempts]
    within = sum(gap <= near for gap in gaps)
    return {
        "seconds": max(tries[-1].seconds for tries in attempts) if within == len(gaps) else math.inf,
        "years_within": within,
        "worst_gap": max(filter(math.isfinite, gaps), default=math.inf),
        "evaluations": sum(each.evaluations for tries in attempts for each in tries),
        "total_seconds": total_seconds,
        "start_up_seconds": start_up_seconds,
        "device": device,
    }


def completed(entry: Row, runs: Sequence[Row]) -> Row:
    """The row of an entrant with what its runs (`summed_up`) came to.

    Seconds, until every year was near its reference optimum, are NaN if half of the runs did not get there; they,
    evaluations and total seconds are medians of the runs. Years within are those near their optimum at the end in the
    run with the fewest, the worst gap that of any year that was tried in any run. The status is `REACHED`, or why not.
    Without runs, numbers are NaN.
    """
    if not runs:
        numbers = dict.fromkeys(("seconds", "evaluations", "total_seconds", "start_up_seconds", "worst_gap"), math.nan)
        return entry | numbers | {"years_within": 0, "runs": 0, "device": "", "status": ""}
    names = ("seconds", "evaluations", "total_seconds")
    medians = {name: statistics.median_high(run[name] for run in runs) for name in names}
    if not math.isfinite(medians["seconds"]):
        medians["seconds"] = math.nan
    within = min(run["years_within"] for run in runs)
    status = REACHED if within == entry["years"] else f"{within} of {entry['years']} years"
    worst = {"worst_gap": max(run["worst_gap"] for run in runs), "years_within": within, "runs": len(runs)}
    return entry | runs[0] | medians | worst | {"status": status}


#: Of the table of the race, in order.
_COLUMNS = ["library", "version", "algorithm", "settings", "years", "seconds", "years_within", "worst_gap"]
_COLUMNS += ["evaluations", "total_seconds", "start_up_seconds", "runs", "device", "status"]


@dataclass(frozen=True)
class PeerRace:
    """What the race came to, a row for each entrant (`completed`): the project's solvers, then the libraries.

    A quick one is on a few years.
    """

    entries: tuple[Row, ...]
    budget: SearchBudget
    quick: bool = False

    def frame(self) -> pd.DataFrame:
        """A row for each entrant."""
        return pd.DataFrame(self.entries, columns=_COLUMNS)

    @property
    def title(self) -> str:
        """What was measured."""
        quick = " (quick run)" if self.quick else ""
        return f"Time until {self.entries[0]['years']} years are within {100 * self.budget.near:g} % of dp{quick}"

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was measured, and who is missing."""
        words = bundled("peers")["notes"]
        missing = sorted({entry["library"] for entry in self.entries if not entry["version"]})
        notes = [note.format(**vars(self.budget)) for note in words["race"]]
        if missing:
            notes.append(words["missing"][0].format(missing=", ".join(missing), install=INSTALL))
        return tuple(notes)


def time_peers(
    years: list[ReservoirYears],
    references: Solutions,
    *,
    budget: RunBudget,
    search: SearchBudget | None = None,
    peers: Sequence[Peer] = PEERS,
    solvers: Sequence[str] = tuple(RESERVOIR_SOLVERS),
) -> PeerRace:
    """Time the project's solvers and other libraries on the same years.

    A library that is missing or fails is an entry that says so, and no error.

    Parameters
    ----------
    years, references
        Of one reservoir, and their reference optima.
    budget : RunBudget
        If quick, a few years and a small budget, for a look at whether everything works. Progress is told how many
        years each entrant has done.
    search : SearchBudget, optional
        How long libraries may try.
    peers, solvers
        Who takes part.
    """
    search = search or budget.usual(SearchBudget(), QUICK_BUDGET)
    raced = slice(budget.usual(None, QUICK_YEARS))
    course = RaceCourse(years[raced], [each.fitness for each in references[raced]], search, budget.seed)
    about: Row = {"years": len(course.years)}
    entries = []
    for name in solvers:
        own = about | {"library": OWN, "version": reservoir.__version__, "algorithm": name}
        own |= {"settings": "settings of reservoir plan"}
        entries.append(_timed(own, _own_runs(name, course, budget.device), why_unusable(name), course, budget))
    for peer in peers:
        own = about | {"library": peer.library, "version": peer.version, "algorithm": peer.algorithm}
        own |= {"settings": ", ".join(f"{name} {value}" for name, value in peer.settings.items())}
        missing = "" if peer.version else f"not installed: {INSTALL}"
        runs = peer_runs(peer, course, partial(budget.progress, _name(own)))
        entries.append(_timed(own, runs, missing, course, budget))
    return PeerRace(tuple(entries), search, budget.quick)


def _name(entry: Any) -> str:
    return f"{entry['library']} {entry['algorithm']}"


def _timed(entry: Row, runs: Generator[Row], unusable: str, course: RaceCourse, budget: RunBudget) -> Row:
    """Take runs as long as they fit into the budget; whatever goes wrong goes into the status."""
    taken: list[Row] = []
    status = unusable
    if not unusable:
        budget.progress(_name(entry), 0, entry["years"])
        try:
            with closing(runs):
                for run in itertools.islice(runs, course.budget.runs):
                    taken.append(run)
                    budget.progress(_name(entry), run["years_within"], entry["years"])
                    if sum(each["total_seconds"] for each in taken) + run["total_seconds"] > course.budget.seconds:
                        break
        except Exception as error:  # the race goes on, whatever a library does
            first_line, *_ = [*str(error).strip().splitlines(), ""]
            status = f"failed: {type(error).__name__}" + f": {first_line}" * bool(first_line)
    return completed(entry, taken) | ({"status": status} if status else {})


def _own_runs(name: str, course: RaceCourse, device: str) -> Generator[Row]:
    """Run a solver of `RESERVOIR_SOLVERS` to its end: it is told neither the optimum nor when to stop.

    A first run compiles and is not counted.
    """
    start_up = 0.0
    for repeat in itertools.count():
        started = time.perf_counter()
        solutions = solve(course.years, solver=name, seed=course.seed + repeat, device=device)
        seconds = time.perf_counter() - started
        attempts = [
            [Attempt(gap_to(optimum, each.fitness), each.evaluations, seconds)]
            for each, optimum in zip(solutions, course.optima_gwh, strict=True)
        ]
        if repeat == 0:
            start_up = seconds
        else:
            yield summed_up(attempts, course.budget.near, seconds, max(start_up - seconds, 0.0), solutions[0].device)


def peer_runs(peer: Peer, course: RaceCourse, progress: Progress) -> Generator[Row]:
    """Run a library again and again, each time with other random numbers; raises whatever the library raises."""
    runs = _together if peer.together else _one_by_one
    return runs(peer, course, progress)


def _one_by_one(peer: Peer, course: RaceCourse, progress: Progress) -> Generator[Row]:
    """Give each process a year whenever it has none."""
    count = _process_count(course)
    started = time.perf_counter()
    with processes(count) as pools:
        for each in [pool.submit(peer_search.warm_up, peer, course.years[0]) for pool in pools]:
            each.result()
        start_up = time.perf_counter() - started
        for repeat in itertools.count():
            here = replace(course, seed=peer_search.one_seed(course.seed, repeat))
            began = time.perf_counter()
            attempts = _spread(peer, here, pools, progress)
            total = time.perf_counter() - began
            yield summed_up(attempts, course.budget.near, total, start_up, _cores(count))


def _spread(
    peer: Peer, course: RaceCourse, pools: list[ProcessPoolExecutor], progress: Progress
) -> list[list[Attempt]]:
    """Attempts at each year; a year that was missed is queued again."""
    near, deadline = course.budget.near, time.perf_counter() + course.budget.seconds
    attempts: list[list[Attempt]] = [[] for _ in course.years]
    queue, idle = deque(range(len(course.years))), list(pools)
    running: dict[Future[Attempt], tuple[ProcessPoolExecutor, int]] = {}
    while queue or running:
        while queue and idle and time.perf_counter() < deadline:
            pool, year = idle.pop(), queue.popleft()
            left = replace(course.budget, seconds=deadline - time.perf_counter())
            seeds = course.seed, course.years[year].rng_stream_id, len(attempts[year])
            asked = peer, course.years[year], course.optima_gwh[year], seeds, left
            running[pool.submit(peer_search.search_year, *asked)] = pool, year
        if not running:
            break
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            pool, year = running.pop(future)
            idle.append(pool)
            elapsed = time.perf_counter() - deadline + course.budget.seconds
            attempts[year].append(replace(future.result(), seconds=elapsed))
            if attempts[year][-1].gap > near:
                queue.append(year)
        progress(sum(bool(tries) and tries[-1].gap <= near for tries in attempts), len(attempts))
    return attempts


def _together(peer: Peer, course: RaceCourse, progress: Progress) -> Generator[Row]:
    """Give each process a share of the years, to be solved at once; a GPU takes all of them."""
    with processes(_process_count(course)) as pools:
        platform = pools[0].submit(peer_search.platform).result()
        used, where = (pools, _cores(len(pools))) if platform == "cpu" else (pools[:1], platform)
        for repeat in itertools.count():
            started, shares = time.perf_counter(), []
            for rank, pool in enumerate(used):
                of_rank, seed = slice(rank, None, len(used)), peer_search.one_seed(course.seed, rank, repeat)
                share = replace(course, years=course.years[of_rank], optima_gwh=course.optima_gwh[of_rank], seed=seed)
                shares.append(pool.submit(peer_search.search_years, peer, share))
            attempts = [[attempt] for share in shares for attempt in share.result()]
            spent = time.perf_counter() - started
            total = max(attempt.seconds for (attempt,) in attempts)
            run = summed_up(attempts, course.budget.near, total, spent - total, where)
            progress(run["years_within"], len(attempts))
            yield run


def _process_count(course: RaceCourse) -> int:
    return min(os.cpu_count() or 1, len(course.years))


def _cores(count: int) -> str:
    return "one process" if count == 1 else f"{count} processes"


#: As many times longer than the last entrant's is the axis, to have room for what is written there.
_ROOM = 6.0
#: From the axis down to the legend: past the ticks and their label.
_LEGEND_POINTS = 32


def draw_peers(axis: Axes, race: PeerRace) -> Axes:
    """Draw a row for each entrant that ran, the fastest on top: a dot for its time; returns the axis.

    The dot is hollow, at the end of its time, if it did not get there.
    """
    ranked = ranking(race)
    for place, entry in enumerate(ranked):
        at, colour = _place(entry), STORAGE if entry["library"] == OWN else LIMITS
        fill = colour if math.isfinite(entry["seconds"]) else "white"
        axis.plot([1e-9, at], [place, place], color=GRID, lw=1.0, zorder=1.5)
        axis.plot([at], [place], "o", ms=6, mfc=fill, mec=colour, mew=1.3, zorder=3)
        shown: Row = {"xytext": (7, 0), "textcoords": "offset points", "va": "center", "fontsize": 8}
        axis.annotate(_note(entry), (at, place), **shown)
    times = [_place(entry) for entry in ranked] or [1.0]
    log_axis(axis, "x", subs=(1.0,), ticks=12, form="{:g}".format)
    axis.set_xlim(min(times) / 1.8, max(times) * _ROOM)
    axis.set_xlabel(f"Time until all years are within {100 * race.budget.near:g} % of dp (s)")
    axis.set_yticks(range(len(ranked)), [_name(entry) for entry in ranked])
    axis.set_ylim(len(ranked) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    below = axis.transAxes + ScaledTranslation(0, -_LEGEND_POINTS / 72, axis.figure.dpi_scale_trans)
    looks = (
        ("this project", STORAGE, STORAGE),
        ("other libraries", LIMITS, LIMITS),
        ("stopped before all years were within", "white", LIMITS),
    )
    dots: Row = {"ls": "", "marker": "o", "ms": 6, "mew": 1.3}
    handles = [Line2D([], [], mfc=fill, mec=edge, label=name, **dots) for name, fill, edge in looks]
    axis.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.4, 0), bbox_transform=below, ncols=3)
    return axis


def ranking(race: PeerRace) -> list[Row]:
    """Entrants that ran: by time, then, without one, by the years they did."""

    def order(entry: Row) -> tuple[bool, float]:
        finished = math.isfinite(entry["seconds"])
        return not finished, entry["seconds"] if finished else -entry["years_within"]

    return sorted((entry for entry in race.entries if entry["runs"]), key=order)


def _place(entry: Row) -> float:
    return float(entry["seconds"] if math.isfinite(entry["seconds"]) else entry["total_seconds"])


def _note(entry: Row) -> str:
    """The time, and the years that were missed in any run."""
    years = f"{entry['years_within']} of {entry['years']} years"
    if not math.isfinite(entry["seconds"]):
        return years
    missed = f" ({years} in one run)" if entry["years_within"] < entry["years"] else ""
    return f"{entry['seconds']:.3g} s{missed}"
