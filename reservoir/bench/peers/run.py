"""What one run of an entrant came to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reservoir.bench.peers.budget import Attempt


@dataclass(frozen=True)
class Run:
    """One run over all years.

    Parameters
    ----------
    seconds : float
        Until every year was near its optimum; infinite if that did not happen.
    years_within : int
        Years near their optimum at the end.
    worst_gap : float
        Of the years that were tried; infinite if none was.
    evaluations : int
        Of all years and attempts.
    total_seconds : float
        Until the run ended.
    start_up_seconds : float
        Imports and compilation, before the clock was started.
    device : str
        Where it ran.
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
) -> Run:
    """Sum a run up.

    Parameters
    ----------
    attempts : sequence of sequence of Attempt
        Of each year, in order; their `Attempt.seconds` are those of the run when they ended.
    near : float
        A year is done when its gap is not larger.
    """
    gaps = [min((each.gap for each in tries), default=math.inf) for tries in attempts]
    within = sum(gap <= near for gap in gaps)
    done = within == len(gaps)
    return Run(
        max(tries[-1].seconds for tries in attempts) if done else math.inf,
        within,
        max((gap for gap in gaps if math.isfinite(gap)), default=math.inf),
        sum(each.evaluations for tries in attempts for each in tries),
        total_seconds,
        start_up_seconds,
        device,
    )
