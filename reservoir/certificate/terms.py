"""What a step is worth, and the bound of its bracket: by weights of powers, and of what limits have to spare."""

from __future__ import annotations

from typing import NamedTuple

from reservoir.certificate.box import Affine, Geometry, best_step, difference, largest, mixed, moved
from reservoir.certificate.powers import Powers
from reservoir.certificate.stages import Stages
from reservoir.hydro.jit import inlined_as_written, part_as_written

_INFINITY = float("inf")
#: More than what some forty operations on numbers of one size round, as a part of it.
_ROUNDING = 1e-14
#: In place of no limit of a cost.
_UNLIMITED = 1e29


class Flows(NamedTuple):
    """Bounds of the release and of its negative, and what the release is at least.

    ``heaviest`` is what a m3/s costs that is missing of the least release, without a limit where none may be missing:
    the cost of what is missing is no less than what the release has to spare of it, times any weight up to that.
    """

    most: Affine
    negative: Affine
    least: float
    heaviest: float


class Tangent(NamedTuple):
    """Tangent of what a step is worth over power: concave, so that it is a bound.

    Parameters
    ----------
    level, worth : float
        At no power, and of power.
    kinked : float
        How much steeper it may be, since at a kink every slope between is one.
    size : float
        Sizes of the numbers in it, added.
    """

    level: float
    worth: float
    kinked: float
    size: float


class Sum(NamedTuple):
    """The bound so far: an affine function and what power is worth beside it, as in `Tangent`.

    ``heaviest`` is how much more what is to spare of the least release may weigh (`Flows`).
    """

    base: Affine
    worth: float
    kinked: float
    size: float
    heaviest: float


@inlined_as_written
def bound_with_terms(stages: Stages, step: int, values: Affine, powers: Powers, flows: Flows, box: Geometry) -> float:
    """Bound of the bracket; a cost that has a most is the lesser of two: both are bounded.

    Parameters
    ----------
    values : Affine
        At the end of the step less at its start.
    powers : Powers
    flows : Flows
    """
    most_power = min(
        min(largest(powers.made, box.half_x, box.half_y), largest(powers.taken, box.half_x, box.half_y)),
        largest(powers.installed, box.half_x, box.half_y),
    )
    if most_power * (1.0 + 1e-12) < stages.power_lower[step]:
        return -_INFINITY
    tangent = _tangent(stages, step, powers, most_power)
    bound = _bounded(stages, step, values, tangent, powers, flows, box)
    if stages.power_cost_most[step] < _UNLIMITED:
        flat = _tangent_of_most_cost(stages, step)
        bound = max(bound, _bounded(stages, step, values, flat, powers, flows, box))
    return bound


@inlined_as_written
def _tangent(stages: Stages, step: int, powers: Powers, most_power: float) -> Tangent:
    """At the power in the middle of the box, or at the kink; it is a bound at any power."""
    target, worth = stages.power_target[step], stages.power_value[step]
    cost, squared = stages.power_cost[step], stages.power_cost_squared[step]
    at, kinked = max(min(min(powers.made[0], powers.taken[0]), powers.installed[0]), 0.0), 0.0
    if (cost > 0.0 and at < target < most_power) or (at >= target and cost > 0.0):
        kinked, at = cost, target
    short = max(target - at, 0.0)
    slope = worth + 2.0 * squared * short + (cost if short > 0.0 else 0.0)
    worth_here = worth * at - (squared * short + cost) * short
    level = worth_here - slope * at
    return Tangent(level, slope, kinked, abs(worth_here) + slope * at + abs(level) + abs(stages.offset[step]))


@inlined_as_written
def _tangent_of_most_cost(stages: Stages, step: int) -> Tangent:
    """Of a step whose cost is the most that there is, whatever the power."""
    level = -stages.power_cost_most[step]
    return Tangent(level, stages.power_value[step], 0.0, abs(level) + abs(stages.offset[step]))


@part_as_written
def _bounded(
    stages: Stages,
    step: int,
    values: Affine,
    tangent: Tangent,
    powers: Powers,
    flows: Flows,
    box: Geometry,
) -> float:
    base = (values[0] + tangent.level + stages.offset[step], values[1], values[2])
    total = Sum(base, tangent.worth, tangent.kinked, tangent.size, flows.heaviest)
    total = _with_supply(stages, step, total, flows.most, box)
    mix = _best_mix(total, powers, box)
    for _ in range(2):
        total = _with_release_to_spare(stages, step, total, mix, flows, box)
        total = _with_power_to_spare(stages, step, total, mix, box)
        mix = _best_mix(total, powers, box)
    return _rounded_up(total, mix, values, powers, box)


@inlined_as_written
def _with_supply(stages: Stages, step: int, total: Sum, flow: Affine, box: Geometry) -> Sum:
    """Add what a shortage of supply costs, by its tangent."""
    supply, rate = max(stages.supply_target[step] - flow[0], 0.0), stages.supply_cost_squared[step]
    if not rate > 0.0:
        return total
    tangent, at_flow = 2.0 * rate * supply, stages.supply_target[step] - supply
    level = -rate * supply * supply - tangent * (at_flow - stages.spare[step])
    base = moved((total.base[0] + level, total.base[1], total.base[2]), tangent, flow)
    size = total.size + (abs(level) + tangent * _size(flow, box))
    return Sum(base, total.worth, total.kinked, size, total.heaviest)


@part_as_written
def _best_mix(total: Sum, powers: Powers, box: Geometry) -> Affine:
    """The weighted sum of powers that bounds their minimum best, with what is added to it."""
    made, taken, installed = powers
    best, least = made, _INFINITY
    for one, other in ((made, taken), (made, installed), (taken, installed)):
        from_one, apart = moved(total.base, total.worth, one), difference(other, one)
        along = (total.worth * apart[0], total.worth * apart[1], total.worth * apart[2])
        found = mixed(one, best_step(from_one, along, 1.0, box.half_x, box.half_y), other)
        value = largest(moved(total.base, total.worth, found), box.half_x, box.half_y)
        if value < least:
            best, least = found, value
    return best


@inlined_as_written
def _with_release_to_spare(stages: Stages, step: int, total: Sum, mix: Affine, flows: Flows, box: Geometry) -> Sum:
    """Add what the release has to spare from its bounds, times the best weights."""
    flow, minus, least, most = flows.most, flows.negative, flows.least, stages.most[step]
    spare = flow[0] - least, flow[1], flow[2]
    total, weight = _with_bound(total, mix, spare, flow, (least, total.heaviest), box)
    total = Sum(total.base, total.worth, total.kinked, total.size, total.heaviest - weight)
    return _with_bound(total, mix, (minus[0] + most, minus[1], minus[2]), minus, (most, _INFINITY), box)[0]


@part_as_written
def _with_bound(
    total: Sum, mix: Affine, spare: Affine, flow: Affine, bound: tuple[float, float], box: Geometry
) -> tuple[Sum, float]:
    """The sum and what is to spare from a bound, times the best weight up to a heaviest, and that weight."""
    weight = best_step(moved(total.base, total.worth, mix), spare, bound[1], box.half_x, box.half_y)
    size = abs(flow[0]) + abs(bound[0]) + abs(flow[1]) * box.half_x + abs(flow[2]) * box.half_y
    base = moved(total.base, weight, spare)
    return Sum(base, total.worth, total.kinked, total.size + weight * size, total.heaviest), weight


@inlined_as_written
def _with_power_to_spare(stages: Stages, step: int, total: Sum, mix: Affine, box: Geometry) -> Sum:
    """Add what power is above the target, up to the kink there, and above the lowest power, times the best weights."""
    target, lowest = stages.power_target[step], stages.power_lower[step]
    if total.kinked > 0.0:
        weight = _weight_of_power(total, mix, target, total.kinked, box)
        total = _with_power_above(total, weight, target, total.kinked - weight)
    if lowest > 0.0:
        weight = _weight_of_power(total, mix, lowest, _INFINITY, box)
        total = _with_power_above(total, weight, lowest, total.kinked)
    return total


@part_as_written
def _weight_of_power(total: Sum, mix: Affine, level: float, most: float, box: Geometry) -> float:
    from_here, spare = moved(total.base, total.worth, mix), (mix[0] - level, mix[1], mix[2])
    return best_step(from_here, spare, most, box.half_x, box.half_y)


@inlined_as_written
def _with_power_above(total: Sum, weight: float, level: float, kinked: float) -> Sum:
    base = (total.base[0] - weight * level, total.base[1], total.base[2])
    return Sum(base, total.worth + weight, kinked, total.size + weight * level, total.heaviest)


@inlined_as_written
def _rounded_up(total: Sum, mix: Affine, values: Affine, powers: Powers, box: Geometry) -> float:
    """The largest value of the sum on the box, and more than what was rounded in it."""
    found = largest(moved(total.base, total.worth, mix), box.half_x, box.half_y)
    size, largest_power = total.size + _size(values, box) + total.worth * _size(mix, box), 0.0
    for power in powers:
        if power[0] < _INFINITY:
            largest_power = max(largest_power, _size(power, box))
    return found + _ROUNDING * (size + total.worth * largest_power)


@inlined_as_written
def _size(a: Affine, box: Geometry) -> float:
    """Sizes of the terms of an affine function on a box, added."""
    return abs(a[0]) + abs(a[1]) * box.half_x + abs(a[2]) * box.half_y
