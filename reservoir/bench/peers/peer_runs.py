"""Other libraries in the race, their years spread over all cores."""

from __future__ import annotations

import itertools
import os
import time
from collections import deque
from collections.abc import Generator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace

from reservoir.bench.peers import workers
from reservoir.bench.peers.entry import Attempt, RaceCourse, RaceRun, summed_up
from reservoir.bench.peers.libraries import Peer
from reservoir.bench.processes import processes
from reservoir.solvers.engine import Progress


def peer_runs(peer: Peer, course: RaceCourse, progress: Progress) -> Generator[RaceRun]:
    """Run a library again and again, each time with other random numbers; raises whatever the library raises."""
    runs = _together if peer.together else _one_by_one
    return runs(peer, course, progress)


def _one_by_one(peer: Peer, course: RaceCourse, progress: Progress) -> Generator[RaceRun]:
    """Give each process a year whenever it has none."""
    count = _process_count(course)
    started = time.perf_counter()
    with processes(count) as pools:
        for each in [pool.submit(workers.warm_up, peer, course.years[0]) for pool in pools]:
            each.result()
        start_up = time.perf_counter() - started
        for repeat in itertools.count():
            here = replace(course, seed=workers.one_seed(course.seed, repeat))
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
            running[_started(peer, course, pool, year, len(attempts[year]), deadline)] = pool, year
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


def _started(
    peer: Peer, course: RaceCourse, pool: ProcessPoolExecutor, year: int, attempt: int, deadline: float
) -> Future[Attempt]:
    left = replace(course.budget, seconds=deadline - time.perf_counter())
    seeds = course.seed, course.years[year].rng_stream_id, attempt
    return pool.submit(workers.search_year, peer, course.years[year], course.optima_gwh[year], seeds, left)


def _together(peer: Peer, course: RaceCourse, progress: Progress) -> Generator[RaceRun]:
    """Give each process a share of the years, to be solved at once; a GPU takes all of them."""
    with processes(_process_count(course)) as pools:
        platform = pools[0].submit(workers.platform).result()
        used, where = (pools, _cores(len(pools))) if platform == "cpu" else (pools[:1], platform)
        for repeat in itertools.count():
            started = time.perf_counter()
            shares = [
                pool.submit(workers.search_years, peer, _share(course, rank, len(used), repeat))
                for rank, pool in enumerate(used)
            ]
            attempts = [[attempt] for share in shares for attempt in share.result()]
            spent = time.perf_counter() - started
            total = max(attempt.seconds for (attempt,) in attempts)
            run = summed_up(attempts, course.budget.near, total, spent - total, where)
            progress(run.years_within, len(attempts))
            yield run


def _share(course: RaceCourse, rank: int, shares: int, repeat: int) -> RaceCourse:
    return replace(
        course,
        years=course.years[rank::shares],
        optima_gwh=course.optima_gwh[rank::shares],
        seed=workers.one_seed(course.seed, rank, repeat),
    )


def _process_count(course: RaceCourse) -> int:
    return min(os.cpu_count() or 1, len(course.years))


def _cores(count: int) -> str:
    return "one process" if count == 1 else f"{count} processes"
