"""Blocks of years shared among threads: compiled code runs without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from reservoir.processors import processors

#: Years of a block at least: fewer take a thread less time than it takes to start.
LEAST_YEARS = 512


def in_blocks(work: Callable[[int, int], None], years: int) -> None:
    """Do `work` for all years, in as many blocks as there are processors, each on a thread; few years in one.

    Parameters
    ----------
    work : callable
        Told the place of a block's first year, and that behind its last; fills arrays of all years there.
    years : int
    """
    count = min(processors(), years // LEAST_YEARS)
    if count <= 1:
        work(0, years)
        return
    ends = np.linspace(0, years, count + 1).astype(int).tolist()
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(work, first, stop) for first, stop in pairwise(ends)]:
            done.result()
