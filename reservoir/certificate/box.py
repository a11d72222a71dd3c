"""Upper bound of a stage on a box: storages at its start between two, and at its end between two others.

The bracket is the stage's benefit plus the value at its end less the value at its start. Power is the least of three
functions of mean storage and release: of what the release makes, of what the turbines can take, and of the installed
capacity. Each is bounded by its value and slopes at the middle of the box and by its largest curvature on it (Taylor's
theorem; by the range of its slopes where they jump), in interval arithmetic; `affine` bounds their minimum.
"""

from __future__ import annotations

from typing import NamedTuple

from reservoir.certificate.affine import Affine, best_step, difference, largest, mixed, moved
from reservoir.certificate.stages import Stages
from reservoir.hydro.curves.enclosures import Jet, add_jets, enclose, enclose_conversion, multiply_jets, scale_jet
from reservoir.hydro.curves.intervals import (
    Interval,
    above,
    add,
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
_ZERO = (0.0, 0.0)
_ONE = (1.0, 1.0)
_NO_LOSS = (_ZERO, _ZERO, _ZERO)
#: More than what some forty operations on numbers of one size round, as a part of it.
_ROUNDING = 1e-14
#: In place of no limit of a cost.
_UNLIMITED = 1e29


class Geometry(NamedTuple):
    """A box, and how the release changes in it.

    Parameters
    ----------
    half_x, half_y : float
        Half widths, hm3.
    means, others : tuple of pair of float
        Largest deviations of mean storage and release at the corners of either diagonal; of their products.
    release_x, release_y : tuple of Interval
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
def loss_jet(stages: Stages, step: int, mean_storage: Interval) -> Jet:
    """Evaporation and seepage of a step, hm3, by mean storage."""
    if not stages.has_losses:
        return _NO_LOSS
    evaporated = scale_jet(stages.evaporation[step], enclose(stages.area, mean_storage))
    return add_jets(evaporated, scale_jet(stages.per_flow[step], enclose(stages.seepage, mean_storage)))


@inlined_as_written
def _release(stages: Stages, step: int, gain: Interval, loss: Interval) -> Interval:
    """Release of a step whose storage rises by a gain, m3/s (eq. 10)."""
    inflow, per_volume = stages.inflow[step], reciprocal((stages.per_flow[step], stages.per_flow[step]))
    return subtract((inflow, inflow), multiply(add(gain, loss), per_volume))


@inlined_as_written
def _geometry(half_x: float, half_y: float, per_volume: Interval, at_middle: Jet, on_box: Jet) -> Geometry:
    steep = magnitude(on_box[1])
    mean_1, mean_2 = above(0.5 * (half_x + half_y)), above(0.5 * abs(half_x - half_y))
    widest, longer = per_volume[1], max(half_x, half_y)
    gain_1, gain_2 = above(abs(half_x - half_y)), above(half_x + half_y)
    release_1 = above(above(gain_1 + above(steep * mean_1)) * widest)
    release_2 = above(above(gain_2 + above(steep * mean_2)) * widest)
    area = above(0.5 * longer * longer * (1.0 + 1e-15) + steep * mean_1 * mean_1 * (1.0 + 1e-15))
    half, half_box = scale(0.5, at_middle[1]), scale(0.5, on_box[1])
    return Geometry(
        half_x,
        half_y,
        mean_1,
        release_1,
        mean_2,
        release_2,
        above(area * widest),
        multiply(subtract(_ONE, half), per_volume),
        negative(multiply(add(_ONE, half), per_volume)),
        multiply(subtract(_ONE, half_box), per_volume),
        negative(multiply(add(_ONE, half_box), per_volume)),
        negative(multiply(on_box[2], per_volume)),
    )


@inlined_as_written
def _by_x(slope_m: Interval, slope_r: Interval, release: Interval) -> Interval:
    """Slope over a storage: half that over the mean storage, and that over the release."""
    return add(scale(0.5, slope_m), multiply(slope_r, release))


@part_as_written
def _affine(value: Interval, slope_m: Interval, slope_r: Interval, on_box: Slopes, box: Geometry) -> Affine:
    """Affine upper bound of a function, from its value and slopes at the middle and its derivatives on the box."""
    slope_x, slope_y = _by_x(slope_m, slope_r, box.release_x), _by_x(slope_m, slope_r, box.release_y)
    mid_x, mid_y = 0.5 * (slope_x[0] + slope_x[1]), 0.5 * (slope_y[0] + slope_y[1])
    if not (abs(mid_x) < _INFINITY and abs(mid_y) < _INFINITY):
        return _INFINITY, 0.0, 0.0
    bend_m = max(add(on_box.mm, multiply(on_box.r, box.bend))[1], 0.0)
    bend_r, bend_mr = max(on_box.rr[1], 0.0), magnitude(on_box.mr)
    one = 0.5 * (bend_m * box.mean_1 * box.mean_1 + bend_r * box.release_1 * box.release_1)
    other = 0.5 * (bend_m * box.mean_2 * box.mean_2 + bend_r * box.release_2 * box.release_2)
    beyond = (max(one, other) + bend_mr * box.product) * (1.0 + 1e-14)
    beyond += (slope_x[1] - slope_x[0]) * box.half_x + (slope_y[1] - slope_y[0]) * box.half_y
    rise_x = subtract(_by_x(on_box.m, on_box.r, box.release_x_box), (mid_x, mid_x))
    rise_y = subtract(_by_x(on_box.m, on_box.r, box.release_y_box), (mid_y, mid_y))
    by_slopes = (magnitude(rise_x) * box.half_x + magnitude(rise_y) * box.half_y) * (1.0 + 1e-14)
    if not beyond < by_slopes:  # also where it is no number
        beyond = by_slopes
    if not beyond < _INFINITY:
        return _INFINITY, 0.0, 0.0
    return above(value[1] + above(beyond * (1.0 + 1e-14))), mid_x, mid_y


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
    mid_x, mid_y = 0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1])
    half_x, half_y = above(max(x[1] - mid_x, mid_x - x[0])), above(max(y[1] - mid_y, mid_y - y[0]))
    mean, middle = scale(0.5, add(x, y)), scale(0.5, add((mid_x, mid_x), (mid_y, mid_y)))
    lost, lost_here = loss_jet(stages, step, mean), loss_jet(stages, step, middle)
    release = _release(stages, step, subtract(y, x), lost[0])
    if release[1] < stages.least[step] or release[0] > stages.most[step]:
        return -_INFINITY
    here = _release(stages, step, subtract((mid_y, mid_y), (mid_x, mid_x)), lost_here[0])
    per_volume = reciprocal((stages.per_flow[step], stages.per_flow[step]))
    box = _geometry(half_x, half_y, per_volume, lost_here, lost)
    flow = _affine(here, _ZERO, _ONE, Slopes(_ZERO, _ONE, _ZERO, _ZERO, _ZERO), box)
    minus = _affine(negative(here), _ZERO, (-1.0, -1.0), Slopes(_ZERO, (-1.0, -1.0), _ZERO, _ZERO, _ZERO), box)
    spare = stages.spare[step]
    release = (release[0], above(release[1] + spare))
    made, taken, installed = _powers(plant, stages, step, (middle, mean), (here, release), flow, box)
    values = (base, -slopes[0], slopes[1])
    running = _with_terms(stages, step, values, (made, taken, installed), (flow, minus), box)
    if mean[0] >= stages.operating_storage:
        return running
    none = (0.0, 0.0, 0.0)
    idle = _with_terms(stages, step, values, (none, none, none), (flow, minus), box)
    return idle if mean[1] < stages.operating_storage else max(running, idle)


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
def _powers(
    plant: Plant,
    stages: Stages,
    step: int,
    storages: tuple[Interval, Interval],
    releases: tuple[Interval, Interval],
    flow: Affine,
    box: Geometry,
) -> tuple[Affine, Affine, Affine]:
    """Affine upper bounds of the three powers of which the least is made, MW."""
    (middle, mean), (here, release), factor = storages, releases, stages.plant_factor[step]
    level_here, level = enclose(plant.level, middle), enclose(plant.level, mean)
    bounds = stages.least[step], stages.most[step] + stages.spare[step]
    tail_here, tail = _tailrace(plant, here, bounds), _tailrace(plant, release, bounds)
    head_here, head = subtract(level_here[0], tail_here[0]), subtract(level[0], tail[0])
    per_here, per = enclose_conversion(plant.conversion, head_here), enclose_conversion(plant.conversion, head)
    full_here = scale_jet(factor, multiply_jets(per_here, enclose(plant.capacity, head_here)))
    full = scale_jet(factor, multiply_jets(per, enclose(plant.capacity, head)))

    by_m, by_r = multiply(per[1], level[1]), negative(multiply(per[1], tail[1]))
    by_mm = add(multiply(per[2], square(level[1])), multiply(per[1], level[2]))
    by_rr = subtract(multiply(per[2], square(tail[1])), multiply(per[1], tail[2]))
    by_mr = negative(multiply(multiply(per[2], level[1]), tail[1]))
    made_box = Slopes(
        multiply(by_m, release),
        add(per[0], multiply(by_r, release)),
        multiply(by_mm, release),
        add(by_m, multiply(by_mr, release)),
        add(scale(2.0, by_r), multiply(by_rr, release)),
    )
    made_m = multiply(multiply(per_here[1], level_here[1]), here)
    made_r = subtract(per_here[0], multiply(multiply(per_here[1], tail_here[1]), here))
    made = _affine(multiply(per_here[0], here), made_m, made_r, made_box, box)
    if not made[0] < _INFINITY:  # a tailrace that rises steeply from no release: power is no more than at the best head
        most, negative_release = max(per[0][1], 0.0), max(-stages.least[step], 0.0)
        made = moved((above(most * negative_release), 0.0, 0.0), most, flow)

    full_box = Slopes(
        multiply(full[1], level[1]),
        negative(multiply(full[1], tail[1])),
        add(multiply(full[2], square(level[1])), multiply(full[1], level[2])),
        negative(multiply(multiply(full[2], level[1]), tail[1])),
        subtract(multiply(full[2], square(tail[1])), multiply(full[1], tail[2])),
    )
    full_m, full_r = multiply(full_here[1], level_here[1]), negative(multiply(full_here[1], tail_here[1]))
    taken = _affine(full_here[0], full_m, full_r, full_box, box)
    spare = stages.spare[step]
    if spare > 0.0:
        made = (above(made[0] + above(spare * max(made_box.r[1], per[0][1]))), made[1], made[2])
        taken = (above(taken[0] + above(spare * max(full_box.r[1], 0.0))), taken[1], taken[2])
    if not taken[0] < _INFINITY:
        taken = (full[0][1], 0.0, 0.0)
    return made, taken, (above(plant.installed_mw * factor), 0.0, 0.0)


@inlined_as_written
def _mix(base: Affine, worth: float, powers: tuple[Affine, Affine, Affine], half_x: float, half_y: float) -> Affine:
    """The weighted sum of powers that bounds their minimum best, with what is added to it."""
    made, taken, installed = powers
    best, least = made, _INFINITY
    for one, other in ((made, taken), (made, installed), (taken, installed)):
        from_one = moved(base, worth, one)
        share = best_step(from_one, _scaled(worth, difference(other, one)), 1.0, half_x, half_y)
        found = mixed(one, share, other)
        value = largest(moved(base, worth, found), half_x, half_y)
        if value < least:
            best, least = found, value
    return best


@inlined_as_written
def _scaled(factor: float, a: Affine) -> Affine:
    return factor * a[0], factor * a[1], factor * a[2]


@inlined_as_written
def _with_terms(
    stages: Stages,
    step: int,
    values: Affine,
    powers: tuple[Affine, Affine, Affine],
    flows: tuple[Affine, Affine],
    box: Geometry,
) -> float:
    """Bound of the bracket with bounds of power; a cost that has a most is the lesser of two: both are bounded."""
    bound = _bounded(stages, step, values, powers, flows, box, False)
    if stages.power_cost_most[step] < _UNLIMITED:
        bound = max(bound, _bounded(stages, step, values, powers, flows, box, True))
    return bound


@part_as_written
def _bounded(
    stages: Stages,
    step: int,
    values: Affine,
    powers: tuple[Affine, Affine, Affine],
    flows: tuple[Affine, Affine],
    box: Geometry,
    most_cost: bool,
) -> float:
    flow, minus, half_x, half_y = flows[0], flows[1], box.half_x, box.half_y
    most_power = min(
        min(largest(powers[0], half_x, half_y), largest(powers[1], half_x, half_y)), largest(powers[2], half_x, half_y)
    )
    if most_power * (1.0 + 1e-12) < stages.power_lower[step]:
        return -_INFINITY
    # What a step is worth is concave in power: its tangent at any power is a bound, and at a kink every slope between.
    target, worth = stages.power_target[step], stages.power_value[step]
    at = max(min(min(powers[0][0], powers[1][0]), powers[2][0]), 0.0)
    cost, squared = stages.power_cost[step], stages.power_cost_squared[step]
    kinked = 0.0
    if most_cost:
        constant = -stages.power_cost_most[step]
        at, worth_here = 0.0, 0.0
    else:
        if (cost > 0.0 and at < target < most_power) or (at >= target and cost > 0.0):
            kinked, at = cost, target
        short = max(target - at, 0.0)
        slope = worth + 2.0 * squared * short + (cost if short > 0.0 else 0.0)
        worth_here = worth * at - (squared * short + cost) * short
        constant, worth = worth_here - slope * at, slope
    size = abs(worth_here) + worth * at + abs(constant) + abs(stages.offset[step])
    base = (values[0] + constant + stages.offset[step], values[1], values[2])
    supply, rate = max(stages.supply_target[step] - flow[0], 0.0), stages.supply_cost_squared[step]
    if rate > 0.0:
        tangent = 2.0 * rate * supply
        at_flow = stages.supply_target[step] - supply
        level = -rate * supply * supply - tangent * (at_flow - stages.spare[step])
        base = moved((base[0] + level, base[1], base[2]), tangent, flow)
        size += abs(level) + tangent * (abs(flow[0]) + abs(flow[1]) * half_x + abs(flow[2]) * half_y)

    mix = _mix(base, worth, powers, half_x, half_y)
    least, most, lowest = stages.least[step], stages.most[step], stages.power_lower[step]
    for _ in range(2):
        total = moved(base, worth, mix)
        spare_low = (flow[0] - least, flow[1], flow[2])
        weight = best_step(total, spare_low, _INFINITY, half_x, half_y)
        base = moved(base, weight, spare_low)
        size += weight * (abs(flow[0]) + abs(least) + abs(flow[1]) * half_x + abs(flow[2]) * half_y)
        total = moved(base, worth, mix)
        spare_high = (minus[0] + most, minus[1], minus[2])
        weight = best_step(total, spare_high, _INFINITY, half_x, half_y)
        base = moved(base, weight, spare_high)
        size += weight * (abs(minus[0]) + abs(most) + abs(minus[1]) * half_x + abs(minus[2]) * half_y)
        if kinked > 0.0:
            weight = best_step(moved(base, worth, mix), (mix[0] - target, mix[1], mix[2]), kinked, half_x, half_y)
            base, worth, kinked = (base[0] - weight * target, base[1], base[2]), worth + weight, kinked - weight
            size += weight * target
        if lowest > 0.0:
            weight = best_step(moved(base, worth, mix), (mix[0] - lowest, mix[1], mix[2]), _INFINITY, half_x, half_y)
            base, worth = (base[0] - weight * lowest, base[1], base[2]), worth + weight
            size += weight * lowest
        mix = _mix(base, worth, powers, half_x, half_y)
    found = largest(moved(base, worth, mix), half_x, half_y)
    size += abs(values[0]) + abs(values[1]) * half_x + abs(values[2]) * half_y
    size += worth * (abs(mix[0]) + abs(mix[1]) * half_x + abs(mix[2]) * half_y)
    largest_power = 0.0
    for power in powers:
        if power[0] < _INFINITY:
            largest_power = max(largest_power, abs(power[0]) + abs(power[1]) * half_x + abs(power[2]) * half_y)
    bound: float = found + _ROUNDING * (size + worth * largest_power)
    return bound
