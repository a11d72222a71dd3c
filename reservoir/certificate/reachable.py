"""Storages that some schedule can have at each time: rigorous bounds, and a proof where there are none.

From the start on, and from the end back, each bound is reckoned in floating point, moved outwards, and then proved in
interval arithmetic: a step from the bound with the extreme release would end beyond what is excluded. For that the end
of a step must rise with its start, which losses that grow by less than 2 hm3 a hm3 ensure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate import stages as field
from reservoir.certificate.boxes import loss_jet
from reservoir.certificate.stages import TOLERANCE, Stages, stages_of
from reservoir.hydro.curves.intervals import add, magnitude, negative, scale, subtract
from reservoir.hydro.jit import compiled_as_written, part_as_written
from reservoir.hydro.limits import Limits

FloatArray = NDArray[np.float64]

#: Times that a bound which cannot be proved is moved outwards, ten times as far each time.
_TRIES = 6
_ITERATIONS = 60
_INFINITY = float("inf")
#: Told instead of a step: the lake may run dry.
_DRY = -2


@dataclass(frozen=True, eq=False)
class Reachable:
    """Bounds of the storages of all schedules that keep their limits.

    Parameters
    ----------
    lower, upper : ndarray, shape (steps + 1,)
        hm3; crossed where there are none.
    empty_step : int or None
        Step at whose end no storage within its bounds can be reached from the start, or from which its bounds cannot be
        left as the rest of the horizon needs; None if there is none.
    may_run_dry : bool
        Whether an empty lake may lose less than its curves say, as there is no more. Proofs know nothing of that: they
        prove nothing of such a horizon.
    """

    lower: FloatArray
    upper: FloatArray
    empty_step: int | None
    may_run_dry: bool


def reachable(limits: Limits, stages: Stages) -> Reachable:
    """Bounds of the storages of one horizon at the start of each step and at the end of the last.

    A cyclic horizon starts anywhere within the bounds of its end: schedules keep the limits also beyond the starts that
    solvers choose from (`start_bounds_hm3`), which are drawn in by a margin.
    """
    stages = stages.net
    lower, upper = (np.empty(limits.steps + 1) for _ in range(2))
    lower[0], upper[0] = limits.start_bounds_hm3
    lower[1:], upper[1:] = limits.storage_lower_hm3, limits.storage_upper_hm3
    if limits.cyclic:
        lower[0], upper[0] = lower[-1], upper[-1]
    margin = TOLERANCE * float(limits.capacity_hm3)
    empty = _draw_in(stages, lower, upper, np.array(limits.gain_at_rest_hm3), margin)
    return Reachable(lower, upper, None if empty < 0 else int(empty), empty == _DRY)


def stages_to_prove(limits: Limits, penalty: float) -> Stages:
    """Steps of one horizon of which some schedule can be proved: the least release falls short where it must.

    That is if it is proved that no schedule keeps the limits, and then only where dead storage is touched; never of a
    horizon with withdrawals, nor where the lake may run dry.

    Parameters
    ----------
    limits : Limits
    penalty : float
        What a relative violation costs.
    """
    stages = stages_of(limits)
    if limits.lake and bool(np.any(limits.withdrawal_m3s > 0)):
        return stages
    if reachable(limits, stages).empty_step is None:
        return stages
    short = stages_of(limits, penalty)
    known = reachable(limits, short)
    return stages if known.may_run_dry or known.empty_step is not None else short


@compiled_as_written
def _draw_in(stages: Stages, lower: FloatArray, upper: FloatArray, gain_at_rest: FloatArray, margin: float) -> int:
    """Draw bounds in; the step at whose end they cross, -1 or `_DRY`."""
    steps = stages.rows.shape[1]
    for step in range(steps):
        slow = gentle(stages, step, min(lower[step], lower[step + 1]), max(upper[step], upper[step + 1]))
        if slow:
            least = proved_storage(stages, step, lower[step], stages.rows[field.RELEASE_UPPER, step], -1.0, margin, 1.0)
            lower[step + 1] = max(lower[step + 1], least)
        if lower[step + 1] <= margin and _may_empty(stages, step, upper[step], gain_at_rest[step] + margin):
            return _DRY
        if not slow:
            continue
        most = proved_storage(stages, step, upper[step], stages.rows[field.RELEASE_LOWER, step], 1.0, margin, 1.0)
        if (
            stages.rows[field.MISSING_PRICE, step] > 0.0
        ):  # with less than the least release to dead storage, or what losses leave
            rest = proved_storage(stages, step, upper[step], -stages.rows[field.AT_REST, step], 1.0, margin, 1.0)
            most = max(most, min(rest, stages.rows[field.TOUCHED, step]))
        upper[step + 1] = min(upper[step + 1], most)
        if lower[step + 1] > upper[step + 1]:
            return step
    for step in range(steps - 1, -1, -1):
        if not gentle(stages, step, min(lower[step], lower[step + 1]), max(upper[step], upper[step + 1])):
            continue
        short = stages.rows[field.MISSING_PRICE, step] > 0.0 and lower[step + 1] <= stages.rows[field.TOUCHED, step]
        release = -stages.rows[field.AT_REST, step] if short else stages.rows[field.RELEASE_LOWER, step]
        least = proved_storage(stages, step, lower[step + 1], release, -1.0, margin, -1.0)
        most = proved_storage(stages, step, upper[step + 1], stages.rows[field.RELEASE_UPPER, step], 1.0, margin, -1.0)
        lower[step], upper[step] = max(lower[step], least), min(upper[step], most)
        if lower[step] > upper[step]:
            return max(step - 1, 0)
    return -1


@part_as_written
def _may_empty(stages: Stages, step: int, highest: float, gain: float) -> bool:
    """Whether losses may take more than a gain and all of a storage that is no higher than the highest.

    A step that empties the lake has half its start as mean storage. Where losses are gentle down to an empty lake, they
    take no more of a higher start than of an empty one and the start itself.
    """
    for _ in range(_ITERATIONS):
        if gentle(stages, step, 0.0, 0.5 * highest):
            return loss_jet(stages.rows, stages.lake, step, (0.0, 0.0))[0][1] > gain
        if not loss_jet(stages.rows, stages.lake, step, (0.25 * highest, 0.5 * highest))[0][1] <= gain + 0.5 * highest:
            return True
        highest *= 0.5
    return True


@part_as_written
def gentle(stages: Stages, step: int, lowest: float, highest: float) -> bool:
    """Whether losses change by less than 2 hm3 with each hm3."""
    return magnitude(loss_jet(stages.rows, stages.lake, step, (lowest, highest))[1]) < 2.0


@part_as_written
def proved_storage(
    stages: Stages, step: int, known: float, release: float, side: float, margin: float, sign: float
) -> float:
    """A storage beyond which no step ends that starts at a known one, or beyond that on the other side.

    Beyond is below (side -1) or above (1). With sign -1 in place of 1: beyond which none begins that ends at a known.
    """
    volume, inflow = stages.rows[field.HM3_PER_M3S, step], stages.rows[field.INFLOW, step]
    gain = (inflow - release) * volume
    other = known + sign * gain
    for _ in range(_ITERATIONS):
        mean, before = 0.5 * (known + other), other
        other = known + sign * gain - sign * loss_jet(stages.rows, stages.lake, step, (mean, mean))[0][0]
        if other == before:
            break
    gained = scale(volume, subtract((inflow, inflow), (release, release)))  # before losses, hm3
    exact = add((known, known), gained if sign > 0.0 else negative(gained))
    for _ in range(_TRIES):
        bound: float = other + side * margin
        mean_of = scale(0.5, add((known, known), (bound, bound)))
        lost = loss_jet(stages.rows, stages.lake, step, mean_of)[0]
        would = add((bound, bound), lost if sign > 0.0 else negative(lost))
        if (would[1] <= exact[0] and side < 0.0) or (would[0] >= exact[1] and side > 0.0):
            return bound
        margin *= 10.0
    return side * _INFINITY
