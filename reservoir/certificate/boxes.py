"""Upper bound of a stage on a box of storages: at its start between two, and at its end between two others.

The bracket is the stage's benefit plus the value at its end less the value at its start. A function of mean storage and
release is at most its value and slopes at the middle of the box, and its largest curvature on it (Taylor's theorem; or
the range of its slopes where they jump), in interval arithmetic. Power is the least of three such functions: what the
release makes, what all the turbines can take, and the installed capacity. The bound is by weights of these, and of what
limits have to spare.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reservoir.certificate import stages as field
from reservoir.certificate.stages import FloatArray, Stages, power_demanded
from reservoir.hydro.curves.enclosures import Jet, add_jets, enclose, enclose_conversion, multiply_jets, scale_jet
from reservoir.hydro.curves.intervals import (
    Interval,
    above,
    add,
    below,
    hull,
    magnitude,
    multiply,
    negative,
    reciprocal,
    scale,
    square,
    subtract,
)
from reservoir.hydro.jit import inlined_as_written, part_as_written
from reservoir.hydro.plant import Plant

_INFINITY = float("inf")
_ZERO, _ONE, _MINUS_ONE = (0.0, 0.0), (1.0, 1.0), (-1.0, -1.0)
_NO_LOSS, _NONE = (_ZERO, _ZERO, _ZERO), (0.0, 0.0, 0.0)

#: More than what some forty operations on numbers of one size round, as a part of it.
_ROUNDING = 1e-14
#: In place of no limit of a cost.
_UNLIMITED = 1e29

#: Value at the middle of the box, and slopes over both storages: an upper bound on the box.
Affine = tuple[float, float, float]


@inlined_as_written
def largest(a: Affine, half_x: float, half_y: float) -> float:
    """Largest value on the box."""
    return a[0] + abs(a[1]) * half_x + abs(a[2]) * half_y


@inlined_as_written
def moved(a: Affine, step: float, along: Affine) -> Affine:
    """A function plus another one times a number."""
    return a[0] + step * along[0], a[1] + step * along[1], a[2] + step * along[2]


@inlined_as_written
def best_step(a: Affine, along: Affine, most: float, half_x: float, half_y: float) -> float:
    """How far to move along another function, at most, so that the largest value on the box is smallest.

    That is convex and piecewise linear in the step: smallest at 0, at the most, or where one of the slopes vanishes.
    """
    step, least = 0.0, largest(a, half_x, half_y)
    for candidate in (-a[1] / along[1], -a[2] / along[2], most):
        if 0.0 < candidate <= most and candidate < 1e12:
            value = largest(moved(a, candidate, along), half_x, half_y)
            if value < least:
                step, least = candidate, value
    return step


class Geometry(NamedTuple):
    """A box, and how the release changes in it.

    Parameters
    ----------
    half_x, half_y : float
        Half widths, hm3.
    mean_1, release_1, mean_2, release_2, product : float
        Largest deviations of mean storage and release at the corners of either diagonal; of their products.
    release_x, release_y, release_x_box, release_y_box : Interval
        Slopes of the release over the storages, at the middle and on the box.
    bend : Interval
        Curvature of the release over the mean storage.
    """

    half_x: float
    half_y: float
    mean_1: float
    release_1: float
    mean_2: float
    release_2: float
    product: float
    release_x: Interval
    release_y: Interval
    release_x_box: Interval
    release_y_box: Interval
    bend: Interval


class Slopes(NamedTuple):
    """First and second derivatives of a function of mean storage (m) and release (r)."""

    m: Interval
    r: Interval
    mm: Interval
    mr: Interval
    rr: Interval


@part_as_written
def loss_jet(rows: FloatArray, lake: Any, step: int, mean_storage: Interval) -> Jet:
    """Evaporation and seepage of a step, hm3, by mean storage."""
    if len(lake) == 0:  # known when code is compiled, which has no curves of a lake then
        return _NO_LOSS
    evaporated = scale_jet(rows[field.EVAPORATION, step], enclose(lake.area, mean_storage))
    return add_jets(evaporated, scale_jet(rows[field.HM3_PER_M3S, step], enclose(lake.seepage, mean_storage)))


@inlined_as_written
def release_of(stages: Stages, step: int, gain: Interval, loss: Interval) -> Interval:
    """Release of a step whose storage rises by a gain, m3/s (eq. 10)."""
    inflow, volume = stages.rows[field.INFLOW, step], stages.rows[field.HM3_PER_M3S, step]
    return subtract((inflow, inflow), multiply(add(gain, loss), reciprocal((volume, volume))))


@inlined_as_written
def geometry(half_x: float, half_y: float, per_volume: Interval, at_middle: Jet, on_box: Jet) -> Geometry:
    """The box of half widths (hm3), from 1 over hm3 per m3/s and from the losses at its middle and on it."""
    steep, widest, longer = magnitude(on_box[1]), per_volume[1], max(half_x, half_y)
    mean_1, mean_2 = above(0.5 * (half_x + half_y)), above(0.5 * abs(half_x - half_y))
    gain_1, gain_2 = above(abs(half_x - half_y)), above(half_x + half_y)
    release_1 = above(above(gain_1 + above(steep * mean_1)) * widest)
    release_2 = above(above(gain_2 + above(steep * mean_2)) * widest)
    area = above(0.5 * longer * longer * (1.0 + 1e-15) + steep * mean_1 * mean_1 * (1.0 + 1e-15))
    half, half_box = scale(0.5, at_middle[1]), scale(0.5, on_box[1])
    release_x, release_y = multiply(subtract(_ONE, half), per_volume), negative(multiply(add(_ONE, half), per_volume))
    release_x_box = multiply(subtract(_ONE, half_box), per_volume)
    release_y_box = negative(multiply(add(_ONE, half_box), per_volume))
    bend, product = negative(multiply(on_box[2], per_volume)), above(area * widest)
    widths = half_x, half_y, mean_1, release_1, mean_2, release_2, product
    return Geometry(*widths, release_x, release_y, release_x_box, release_y_box, bend)


@inlined_as_written
def _by_storage(slope_m: Interval, slope_r: Interval, release: Interval) -> Interval:
    """Slope over a storage: half that over the mean storage, and that over the release."""
    return add(scale(0.5, slope_m), multiply(slope_r, release))


@part_as_written
def affine_bound(value: Interval, slope_m: Interval, slope_r: Interval, on_box: Slopes, box: Geometry) -> Affine:
    """Affine upper bound of a function, from its value and slopes at the middle and its derivatives on the box."""
    slope_x, slope_y = _by_storage(slope_m, slope_r, box.release_x), _by_storage(slope_m, slope_r, box.release_y)
    mid_x, mid_y = 0.5 * (slope_x[0] + slope_x[1]), 0.5 * (slope_y[0] + slope_y[1])
    if not (abs(mid_x) < _INFINITY and abs(mid_y) < _INFINITY):
        return _INFINITY, 0.0, 0.0
    # By how much the function is above its tangent at the middle at most: by its curvature, or by the range of slopes.
    bend_m = max(add(on_box.mm, multiply(on_box.r, box.bend))[1], 0.0)
    bend_r, bend_mr = max(on_box.rr[1], 0.0), magnitude(on_box.mr)
    one = 0.5 * (bend_m * box.mean_1 * box.mean_1 + bend_r * box.release_1 * box.release_1)
    other = 0.5 * (bend_m * box.mean_2 * box.mean_2 + bend_r * box.release_2 * box.release_2)
    beyond = (max(one, other) + bend_mr * box.product) * (1.0 + 1e-14)
    beyond += (slope_x[1] - slope_x[0]) * box.half_x + (slope_y[1] - slope_y[0]) * box.half_y
    rise_x = subtract(_by_storage(on_box.m, on_box.r, box.release_x_box), (mid_x, mid_x))
    rise_y = subtract(_by_storage(on_box.m, on_box.r, box.release_y_box), (mid_y, mid_y))
    by_slopes = (magnitude(rise_x) * box.half_x + magnitude(rise_y) * box.half_y) * (1.0 + 1e-14)
    if not beyond < by_slopes:  # also where it is no number
        beyond = by_slopes
    if not beyond < _INFINITY:
        return _INFINITY, 0.0, 0.0
    return above(value[1] + above(beyond * (1.0 + 1e-14))), mid_x, mid_y


class Powers(NamedTuple):
    """Bounds of what the release makes, of what the turbines can take, and of the installed capacity, MW."""

    made: Affine
    taken: Affine
    installed: Affine


class Water(NamedTuple):
    """What the curves come to: levels, and by head the power of 1 m3/s and that of all that the turbines take."""

    level: Jet
    tail: Jet
    per: Jet
    full: Jet


@part_as_written
def water_at(plant: Plant, stages: Stages, step: int, storage: Interval, release: Interval, least: float) -> Water:
    """What the curves come to for mean storages and releases of a step, of which none is less than the least."""
    level = enclose(plant.level, storage)
    most = stages.rows[field.RELEASE_UPPER, step] + stages.rows[field.SPARE, step]
    tail = _tailrace(plant, release, (least, most))
    head = subtract(level[0], tail[0])
    per = enclose_conversion(plant.conversion, head)
    taken = multiply_jets(per, enclose(plant.capacity, head))
    return Water(level, tail, per, scale_jet(stages.rows[field.PLANT_FACTOR, step], taken))


@part_as_written
def _tailrace(plant: Plant, release: Interval, bounds: tuple[float, float]) -> Jet:
    """Tailrace level by release; beyond its bounds, where no schedule is, it goes on in a straight line.

    A box reaches beyond them, and there the curve may begin: with a jump of its slope, or a slope without bounds.
    """
    least, most = bounds
    if release[0] >= least and release[1] <= most:
        return enclose(plant.tailrace, release)
    low, high = max(min(release[0], most), least), min(max(release[1], least), most)
    value, slope, curvature = enclose(plant.tailrace, (low, high))
    if release[1] < least or release[0] > most:
        slope = enclose(plant.tailrace, (least, least) if release[1] < least else (most, most))[1]
    if release[0] < least:
        of_end = enclose(plant.tailrace, (least, least))
        line = add(of_end[0], multiply(of_end[1], subtract((release[0], min(release[1], least)), (least, least))))
        value, slope = line if release[1] < least else hull(value, line), hull(slope, of_end[1])
    if release[1] > most:
        of_end = enclose(plant.tailrace, (most, most))
        line = add(of_end[0], multiply(of_end[1], subtract((max(release[0], most), release[1]), (most, most))))
        value, slope = line if release[0] > most else hull(value, line), hull(slope, of_end[1])
    return value, slope, (min(curvature[0], 0.0), max(curvature[1], 0.0))


@part_as_written
def powers_on(
    plant: Plant,
    stages: Stages,
    step: int,
    storages: tuple[Interval, Interval],
    releases: tuple[Interval, Interval],
    flow: tuple[Affine, float],
    box: Geometry,
) -> Powers:
    """Bounds of the powers.

    Parameters
    ----------
    storages, releases : pair of Interval
        At the middle of the box, and on the box.
    flow : tuple of Affine and float
        Bound of the release, and the least that there is.
    """
    (here, release), (most_flow, least), spare = releases, flow, stages.rows[field.SPARE, step]
    at, on = (
        water_at(plant, stages, step, storages[0], here, least),
        water_at(plant, stages, step, storages[1], release, least),
    )
    made_box, taken_box = _slopes_of_made(on, release), _slopes_of_taken(on)
    made_m = multiply(multiply(at.per[1], at.level[1]), here)
    made_r = subtract(at.per[0], multiply(multiply(at.per[1], at.tail[1]), here))
    made = affine_bound(multiply(at.per[0], here), made_m, made_r, made_box, box)
    full_m, full_r = multiply(at.full[1], at.level[1]), negative(multiply(at.full[1], at.tail[1]))
    taken = affine_bound(at.full[0], full_m, full_r, taken_box, box)
    if not made[0] < _INFINITY:  # a tailrace that rises steeply from no release: power is no more than at the best head
        most = max(on.per[0][1], 0.0)
        made = moved((above(most * max(-least, 0.0)), 0.0, 0.0), most, most_flow)
    if spare > 0.0:
        made = (above(made[0] + above(spare * max(made_box.r[1], on.per[0][1]))), made[1], made[2])
        taken = (above(taken[0] + above(spare * max(taken_box.r[1], 0.0))), taken[1], taken[2])
    if not taken[0] < _INFINITY:
        taken = (on.full[0][1], 0.0, 0.0)
    return Powers(made, taken, (above(plant.installed_mw * stages.rows[field.PLANT_FACTOR, step]), 0.0, 0.0))


@part_as_written
def _slopes_of_made(on: Water, release: Interval) -> Slopes:
    """Derivatives on a box of the power that the release makes."""
    per, level, tail = on.per, on.level, on.tail
    by_m, by_r = multiply(per[1], level[1]), negative(multiply(per[1], tail[1]))
    by_mm = add(multiply(per[2], square(level[1])), multiply(per[1], level[2]))
    by_rr = subtract(multiply(per[2], square(tail[1])), multiply(per[1], tail[2]))
    by_mr = negative(multiply(multiply(per[2], level[1]), tail[1]))
    of_m, of_r = multiply(by_m, release), add(per[0], multiply(by_r, release))
    of_mm, of_mr = multiply(by_mm, release), add(by_m, multiply(by_mr, release))
    return Slopes(of_m, of_r, of_mm, of_mr, add(scale(2.0, by_r), multiply(by_rr, release)))


@part_as_written
def _slopes_of_taken(on: Water) -> Slopes:
    """Derivatives on a box of the power of all that the turbines can take."""
    full, level, tail = on.full, on.level, on.tail
    of_mm = add(multiply(full[2], square(level[1])), multiply(full[1], level[2]))
    of_mr = negative(multiply(multiply(full[2], level[1]), tail[1]))
    of_rr = subtract(multiply(full[2], square(tail[1])), multiply(full[1], tail[2]))
    return Slopes(multiply(full[1], level[1]), negative(multiply(full[1], tail[1])), of_mm, of_mr, of_rr)


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
    if most_power * (1.0 + 1e-12) < power_demanded(stages, step):
        return -_INFINITY
    tangent, most_cost = _tangent(stages, step, powers, most_power), stages.rows[field.POWER_COST_MOST, step]
    bound = _bounded(stages, step, values, tangent, powers, flows, box)
    if most_cost < _UNLIMITED:  # of a step whose cost is the most that there is, whatever the power
        size = abs(most_cost) + abs(stages.rows[field.OFFSET, step])
        flat = Tangent(-most_cost, stages.rows[field.POWER_VALUE, step], 0.0, size)
        bound = max(bound, _bounded(stages, step, values, flat, powers, flows, box))
    return bound


@inlined_as_written
def _tangent(stages: Stages, step: int, powers: Powers, most_power: float) -> Tangent:
    """At the power in the middle of the box, or at the kink; it is a bound at any power."""
    target, worth = stages.rows[field.POWER_TARGET, step], stages.rows[field.POWER_VALUE, step]
    cost, squared = stages.rows[field.POWER_COST, step], stages.rows[field.POWER_COST_SQUARED, step]
    at, kinked = max(min(min(powers.made[0], powers.taken[0]), powers.installed[0]), 0.0), 0.0
    if (cost > 0.0 and at < target < most_power) or (at >= target and cost > 0.0):
        kinked, at = cost, target
    short = max(target - at, 0.0)
    slope = worth + 2.0 * squared * short + (cost if short > 0.0 else 0.0)
    worth_here = worth * at - (squared * short + cost) * short
    level = worth_here - slope * at
    size = abs(worth_here) + slope * at + abs(level) + abs(stages.rows[field.OFFSET, step])
    return Tangent(level, slope, kinked, size)


@part_as_written
def _bounded(
    stages: Stages, step: int, values: Affine, tangent: Tangent, powers: Powers, flows: Flows, box: Geometry
) -> float:
    base = (values[0] + tangent.level + stages.rows[field.OFFSET, step], values[1], values[2])
    total = Sum(base, tangent.worth, tangent.kinked, tangent.size, flows.heaviest)
    total = _with_supply(stages, step, total, flows.most, box)
    flow, minus, least, most = flows.most, flows.negative, flows.least, stages.rows[field.RELEASE_UPPER, step]
    target, lowest = stages.rows[field.POWER_TARGET, step], power_demanded(stages, step)
    mix = _best_mix(total, powers, box)
    for _ in range(2):  # add what limits have to spare, times the best weights
        spare = flow[0] - least, flow[1], flow[2]
        total, weight = _with_bound(total, mix, spare, flow, (least, total.heaviest), box)
        total = Sum(total.base, total.worth, total.kinked, total.size, total.heaviest - weight)
        total = _with_bound(total, mix, (minus[0] + most, minus[1], minus[2]), minus, (most, _INFINITY), box)[0]
        if total.kinked > 0.0:
            weight, kinked = _weight_of_power(total, mix, target, total.kinked, box), total.kinked
            total = _with_power_above(total, weight, target, kinked - weight)
        if lowest > 0.0:
            weight = _weight_of_power(total, mix, lowest, _INFINITY, box)
            total = _with_power_above(total, weight, lowest, total.kinked)
        mix = _best_mix(total, powers, box)
    bound = largest(moved(total.base, total.worth, mix), box.half_x, box.half_y)
    size, largest_power = total.size + _size(values, box) + total.worth * _size(mix, box), 0.0
    for power in powers:
        if power[0] < _INFINITY:
            largest_power = max(largest_power, _size(power, box))
    return bound + _ROUNDING * (size + total.worth * largest_power)  # more than what was rounded in it


@inlined_as_written
def _with_supply(stages: Stages, step: int, total: Sum, flow: Affine, box: Geometry) -> Sum:
    """Add what a shortage of supply costs, by its tangent."""
    target, rate = stages.rows[field.SUPPLY_TARGET, step], stages.rows[field.SUPPLY_COST_SQUARED, step]
    supply = max(target - flow[0], 0.0)
    if not rate > 0.0:
        return total
    tangent, at_flow = 2.0 * rate * supply, target - supply
    level = -rate * supply * supply - tangent * (at_flow - stages.rows[field.SPARE, step])
    base = moved((total.base[0] + level, total.base[1], total.base[2]), tangent, flow)
    size = total.size + (abs(level) + tangent * _size(flow, box))
    return Sum(base, total.worth, total.kinked, size, total.heaviest)


@part_as_written
def _best_mix(total: Sum, powers: Powers, box: Geometry) -> Affine:
    """The weighted sum of powers that bounds their minimum best, with what is added to it."""
    made, taken, installed = powers
    best, least = made, _INFINITY
    for one, other in ((made, taken), (made, installed), (taken, installed)):
        from_one, apart = moved(total.base, total.worth, one), (other[0] - one[0], other[1] - one[1], other[2] - one[2])
        along = (total.worth * apart[0], total.worth * apart[1], total.worth * apart[2])
        share = best_step(from_one, along, 1.0, box.half_x, box.half_y)
        rest = 1.0 - share
        mix = rest * one[0] + share * other[0], rest * one[1] + share * other[1], rest * one[2] + share * other[2]
        value = largest(moved(total.base, total.worth, mix), box.half_x, box.half_y)
        if value < least:
            best, least = mix, value
    return best


@part_as_written
def _with_bound(
    total: Sum, mix: Affine, spare: Affine, flow: Affine, bound: tuple[float, float], box: Geometry
) -> tuple[Sum, float]:
    """The sum and what is to spare from a bound, times the best weight up to a heaviest, and that weight."""
    weight = best_step(moved(total.base, total.worth, mix), spare, bound[1], box.half_x, box.half_y)
    size = abs(flow[0]) + abs(bound[0]) + abs(flow[1]) * box.half_x + abs(flow[2]) * box.half_y
    base = moved(total.base, weight, spare)
    return Sum(base, total.worth, total.kinked, total.size + weight * size, total.heaviest), weight


@part_as_written
def _weight_of_power(total: Sum, mix: Affine, level: float, most: float, box: Geometry) -> float:
    """The best weight of what power is above a level: the target, up to the kink there, or the lowest power."""
    from_here, spare = moved(total.base, total.worth, mix), (mix[0] - level, mix[1], mix[2])
    return best_step(from_here, spare, most, box.half_x, box.half_y)


@inlined_as_written
def _with_power_above(total: Sum, weight: float, level: float, kinked: float) -> Sum:
    base = (total.base[0] - weight * level, total.base[1], total.base[2])
    return Sum(base, total.worth + weight, kinked, total.size + weight * level, total.heaviest)


@inlined_as_written
def _size(a: Affine, box: Geometry) -> float:
    """Sizes of the terms of an affine function on a box, added."""
    return abs(a[0]) + abs(a[1]) * box.half_x + abs(a[2]) * box.half_y


@part_as_written
def bracket_bound(
    plant: Plant, stages: Stages, step: int, x: Interval, y: Interval, base: float, slopes: tuple[float, float]
) -> float:
    """Upper bound of a stage's bracket on a box; minus infinity if no step leads from one to the other.

    Parameters
    ----------
    plant : Plant
        From `exact_plant`.
    stages : Stages
    step : int
    x, y : Interval
        Storages at the start and at the end, hm3.
    base : float
        Value at the middle of `y` less that at the middle of `x`.
    slopes : pair of float
        Of the value over the storage, in `x` and in `y`.
    """
    rows = stages.rows
    mid_x, mid_y = 0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1])
    half_x, half_y = above(max(x[1] - mid_x, mid_x - x[0])), above(max(y[1] - mid_y, mid_y - y[0]))
    mean, middle = scale(0.5, add(x, y)), scale(0.5, add((mid_x, mid_x), (mid_y, mid_y)))
    lost, lost_here = loss_jet(rows, stages.lake, step, mean), loss_jet(rows, stages.lake, step, middle)
    release = release_of(stages, step, subtract(y, x), lost[0])
    most = rows[field.AT_REST, step] if y[1] < rows[field.DEAD, step] else rows[field.RELEASE_UPPER, step]
    least = kept = rows[field.RELEASE_LOWER, step]
    heaviest = _INFINITY
    if rows[field.MISSING_PRICE, step] > 0.0 and y[0] <= rows[field.TOUCHED, step]:
        least, heaviest = -rows[field.AT_REST, step], rows[field.MISSING_PRICE, step]  # what is missing is paid
        as_kept = below(kept - rows[field.MISSING_AS_NONE, step])
        kept = kept if release[1] < as_kept else as_kept
    if release[1] < least or release[0] > most:
        return -_INFINITY
    here = release_of(stages, step, subtract((mid_y, mid_y), (mid_x, mid_x)), lost_here[0])
    per_volume = reciprocal((rows[field.HM3_PER_M3S, step], rows[field.HM3_PER_M3S, step]))
    box = geometry(half_x, half_y, per_volume, lost_here, lost)
    flow = affine_bound(here, _ZERO, _ONE, Slopes(_ZERO, _ONE, _ZERO, _ZERO, _ZERO), box)
    falling = Slopes(_ZERO, _MINUS_ONE, _ZERO, _ZERO, _ZERO)
    minus = affine_bound(negative(here), _ZERO, _MINUS_ONE, falling, box)
    release = (release[0], above(release[1] + rows[field.SPARE, step]))
    running = powers_on(plant, stages, step, (middle, mean), (here, release), (flow, least), box)
    values, flows = (base, -slopes[0], slopes[1]), Flows(flow, minus, kept, heaviest)
    bound, operating = bound_with_terms(stages, step, values, running, flows, box), rows[field.OPERATING_STORAGE, step]
    if mean[0] >= operating:
        return bound
    idle = bound_with_terms(stages, step, values, Powers(_NONE, _NONE, _NONE), flows, box)
    return idle if mean[1] < operating else max(bound, idle)
