"""What a step of one reservoir is worth to the others of its system, whose storages are held: for dynamic programming.

Compiled code has a form of its own without it, which costs one reservoir nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reservoir.hydro.elementwise import ZERO, mean, none_without, whole
from reservoir.hydro.step import head_at, turbined_at

#: What worth depends on: the release, what of it is turbined, what is spilled, and the mean storage.
RELEASED, TURBINED, SPILLED, STORED = range(4)
KINDS = 4


class Beyond(NamedTuple):
    """Worth beyond a reservoir in each step of a year, as points that straight lines join.

    Parameters
    ----------
    kinds : ndarray of int
        Those there are.
    worth : ndarray, shape (kinds, steps, points)
        In the unit of the objective.
    first, per_unit : ndarray, shape (kinds, steps)
        What the first point is of, and points in a m3/s or hm3.
    """

    kinds: Any
    worth: Any
    first: Any
    per_unit: Any


@none_without(lambda beyond, plant, year, step, storage, end, draft: ZERO, "worth")
def worth_beyond(beyond: Any, plant: Any, year: Any, step: Any, storage: Any, end: Any, draft: Any) -> Any:
    """What a step between two storages is worth to the other reservoirs."""
    total, last = 0.0, beyond.worth.shape[2] - 2
    mean_storage = mean(storage, end)
    turbined = 0.0
    if beyond.kinds[TURBINED] or beyond.kinds[SPILLED]:
        turbined = turbined_at(plant, head_at(plant, mean_storage, draft, year, step), draft, year, step)
    of_kind = (draft, turbined, draft - turbined, mean_storage)
    for kind in range(KINDS):
        if beyond.kinds[kind]:
            at = (of_kind[kind] - beyond.first[kind, step]) * beyond.per_unit[kind, step]
            at = min(max(at, 0.0), last + 1.0)
            place = min(whole(at), last)
            left = beyond.worth[kind, step, place]
            total += left + (at - place) * (beyond.worth[kind, step, place + 1] - left)
    return total
