"""How a horizon is cut into windows: how long the blocks of steps are at each level, and where windows begin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def levels_of(steps: int, blocks: int, most_steps: int) -> list[tuple[int, int]]:
    """Blocks of a window, and steps of a block, at each level of a sweep.

    Blocks become half as long from level to level, down to one step. At the last level a window has half as many
    blocks, for populations find what takes several steps together more surely with fewer variables.

    Parameters
    ----------
    steps : int
        Of the horizon.
    blocks : int
        Of a window, no more than the horizon's steps.
    most_steps : int
        Of a window.
    """
    longest = max(1, min(steps, most_steps) // blocks)
    levels = [(blocks, 2**power) for power in reversed(range(longest.bit_length()))]
    return [*levels, (max(1, blocks // 2), 1)]


def window_starts(steps: int, length: int, *, between: bool, cyclic: bool) -> NDArray[np.int64]:
    """First step of each window; none overlaps another.

    Where windows do not fill a horizon, the steps left over are spread between them; together with those that stand
    `between`, they cover every step.

    Parameters
    ----------
    steps : int
        Of the horizon.
    length : int
        Steps of a window, no more than those of the horizon.
    between : bool
        Whether each window stands half way between two of the others.
    cyclic : bool
        Whether the horizon's end is joined to its start.
    """
    count, shift = steps // length, 0.5 if between else 0.0
    if cyclic:
        return np.floor((np.arange(count) + shift) * steps / count).astype(np.int64)
    if count == 1:
        return np.array([steps - length if between else 0])
    places = np.arange(count - 1 if between else count) + shift
    return np.rint(places * (steps - length) / (count - 1)).astype(np.int64)
