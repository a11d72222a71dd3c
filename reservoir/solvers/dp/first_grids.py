"""Runs from ever finer first grids until two agree, as a host compares them that had a device solve several at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Smallest fitness that differences are relative to, and the type that kernels write both numbers in.
_LEAST, _WRITTEN = 1e-12, np.float32


@dataclass(frozen=True)
class Runs:
    """What runs of several problems found, arrays with one leading axis: positions have an axis of steps more."""

    position: NDArray[np.floating]
    fitness: NDArray[np.floating]
    grids: NDArray[np.int64]
    transitions: NDArray[np.int64]

    @classmethod
    def joined(cls, runs: Sequence[Runs]) -> Runs:
        """Runs of several launches behind each other."""
        return cls(*map(np.concatenate, zip(*map(_arrays, runs), strict=True)))

    def some(self, which: slice | NDArray[np.bool_]) -> Runs:
        """A copy of some of them."""
        return Runs(*(each[which].copy() for each in _arrays(self)))

    def reshaped(self, shape: tuple[int, ...]) -> Runs:
        """The same with another leading shape."""
        return Runs(*(each.reshape(*shape, *each.shape[1:]) for each in _arrays(self)))


def _arrays(runs: Runs) -> tuple[NDArray[Any], ...]:
    return runs.position, runs.fitness, runs.grids, runs.transitions


def until_agreed(
    grids: list[int],
    agreement: float,
    problems: int,
    runs_of: Callable[[NDArray[np.intp], NDArray[np.int32]], Runs],
    at_once: int = 1,
) -> Runs:
    """Solve problems from one first grid after another, each until two runs agree, or from all grids.

    The first two are solved at once, since one alone agrees with nothing, and more if the device would be idle. The
    result is that of one run after another.

    Parameters
    ----------
    grids : list of int
        States of the first grids, in their order.
    agreement : float
        Two runs agree whose fitness differs by no more than this part of it.
    problems : int
        How many there are.
    runs_of : callable
        Makes a run of each of some problems, by number, from a first grid of so many states each.
    at_once : int
        Runs that take no longer than one.

    Returns
    -------
    Runs
        The best of each problem, with the work of the runs until two agreed.
    """
    best: Runs | None = None
    undecided, done = np.arange(problems), 0
    while done < len(grids) and len(undecided):
        states = grids[done : done + max(at_once // len(undecided), 1 if done else 2)]
        found = runs_of(np.tile(undecided, len(states)), np.repeat(np.array(states, np.int32), len(undecided)))
        agreed = np.zeros(len(undecided), bool)
        for number in range(len(states)):
            latest = found.some(slice(number * len(undecided), (number + 1) * len(undecided)))
            if best is None:
                best = latest
            else:
                agreed[~agreed] = _keep_better(best, latest.some(~agreed), undecided[~agreed], agreement)
        undecided, done = undecided[~agreed], done + len(states)
    assert best is not None
    return best


def _keep_better(best: Runs, latest: Runs, which: NDArray[np.intp], agreement: float) -> NDArray[np.bool_]:
    """Put what is better in the latest runs of some problems into the best; whether each two agree (`close_to`)."""
    before, now = best.fitness[which], latest.fitness
    part, least = (np.asarray(_WRITTEN(each), now.dtype) for each in (agreement, _LEAST))
    agreed = np.abs(before - now) <= part * np.maximum(np.abs(now), least)
    better = now > before
    best.position[which[better]] = latest.position[better]
    best.fitness[which[better]] = now[better]
    best.grids[which] += latest.grids
    best.transitions[which] += latest.transitions
    return np.asarray(agreed)
