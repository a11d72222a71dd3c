"""Upper bound of a stage on a box of storages: at its start between two, and at its end between two others.

The bracket is the stage's benefit plus the value at its end less the value at its start. A function of mean storage and
release is at most its value and slopes at the middle of the box, and its largest curvature on it (Taylor's theorem; or
the range of its slopes where they jump), in interval arithmetic. Power is the least of three such functions: what the
release makes, what all the turbines can take, and the installed capacity. The bound is by weights of these, and of what
limits have to spare.

Where part of the inflow is free, a bracket is the best of it (`solvers.dp.free_flow`): its range is a third side of the
box, cut into parts that are as wide as they may be (`_over_flows`). Where the best release is within that range, it is
a function of the mean storage alone, and so is what the step comes to, but for the price of the water that is stored:
of that a table is made once, and read for each box (`fill_by_mean`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reservoir.certificate import stages as field
from reservoir.certificate.stages import OF_PART, FloatArray, Stages, power_demanded
from reservoir.hydro.curves.enclosures import (
    Jet,
    add_jets,
    enclose,
    enclose_conversion,
    multiply_jets,
    reciprocal_jet,
    scale_jet,
)
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
from reservoir.hydro.jit import compiled_as_written, inlined_as_written, part_as_written
from reservoir.hydro.plant import Plant
from reservoir.solvers.dp.free_flow import best_release

_INFINITY = float("inf")
_ZERO, _ONE, _MINUS_ONE = (0.0, 0.0), (1.0, 1.0), (-1.0, -1.0)
_NO_LOSS = (_ZERO, _ZERO, _ZERO)

#: More than what some forty operations on numbers of one size round, as a part of it.
_ROUNDING = 1e-14
#: In place of no limit of a cost; power of 1 m3/s, MW, that counts as none.
_UNLIMITED, _NO_POWER = 1e29, 1e-20

#: Value at the middle of the box, and slopes over both storages, and over the free flow if there is one: an upper bound
#: on the box.
Affine = tuple[float, ...]
#: Of a free flow, or the release where that is free: half the width of its part, its largest distance from where
#: functions are told, and by how much more than that the middle is, m3/s. Nothing where all inflow is known: compiled
#: code has a form with and one without.
Part = tuple[float, ...]


class Geometry(NamedTuple):
    """A box, and how the release changes in it.

    Parameters
    ----------
    half_x, half_y : float
        Half widths, hm3.
    part : Part
    mean_1, release_1, mean_2, release_2, product : float
        Largest deviations of mean storage and release at the corners of either diagonal; of their products.
    release_x, release_y, release_x_box, release_y_box : Interval
        Slopes of the release over the storages, at the middle and on the box.
    bend : Interval
        Curvature of the release over the mean storage.
    """

    half_x: float
    half_y: float
    part: Part
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


@inlined_as_written
def constant(value: float, part: Part) -> Affine:
    """A function that is the same everywhere."""
    if len(part) > 0:
        return value, 0.0, 0.0, 0.0
    return value, 0.0, 0.0


@inlined_as_written
def with_value(a: Affine, value: float) -> Affine:
    """A function with another value at the middle."""
    if len(a) > 3:
        return value, a[1], a[2], a[3]
    return value, a[1], a[2]


@inlined_as_written
def largest(a: Affine, box: Geometry) -> float:
    """Largest value on the box."""
    value = a[0] + abs(a[1]) * box.half_x + abs(a[2]) * box.half_y
    if len(a) > 3:
        value += abs(a[3]) * box.part[0]
    return value


@inlined_as_written
def moved(a: Affine, step: float, along: Affine) -> Affine:
    """A function plus another one times a number."""
    if len(a) > 3:
        return a[0] + step * along[0], a[1] + step * along[1], a[2] + step * along[2], a[3] + step * along[3]
    return a[0] + step * along[0], a[1] + step * along[1], a[2] + step * along[2]


@inlined_as_written
def mixed(a: Affine, share: float, b: Affine) -> Affine:
    """Weighted sum of two, by the share of the second."""
    rest = 1.0 - share
    mix = rest * a[0] + share * b[0], rest * a[1] + share * b[1], rest * a[2] + share * b[2]
    if len(a) > 3:
        return mix[0], mix[1], mix[2], rest * a[3] + share * b[3]
    return mix


@inlined_as_written
def apart(factor: float, a: Affine, b: Affine) -> Affine:
    """The difference of two, times a number."""
    if len(a) > 3:
        return factor * (b[0] - a[0]), factor * (b[1] - a[1]), factor * (b[2] - a[2]), factor * (b[3] - a[3])
    return factor * (b[0] - a[0]), factor * (b[1] - a[1]), factor * (b[2] - a[2])


@inlined_as_written
def best_step(a: Affine, along: Affine, most: float, box: Geometry) -> float:
    """How far to move along another function, at most, so that the largest value on the box is smallest.

    That is convex and piecewise linear in the step: smallest at 0, at the most, or where one of the slopes vanishes.
    """
    step, least = 0.0, largest(a, box)
    for candidate in _candidates(a, along, most):
        if 0.0 < candidate <= most and candidate < 1e12:
            value = largest(moved(a, candidate, along), box)
            if value < least:
                step, least = candidate, value
    return step


@inlined_as_written
def _candidates(a: Affine, along: Affine, most: float) -> tuple[float, ...]:
    if len(a) > 3:
        return -a[1] / along[1], -a[2] / along[2], -a[3] / along[3], most
    return -a[1] / along[1], -a[2] / along[2], most


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
def _most_released(stages: Stages, step: int, y: Interval) -> float:
    """The largest release of steps that end in an interval, m3/s: only losses lead below dead storage."""
    most: float = stages.rows[field.RELEASE_UPPER, step]
    if y[1] < stages.rows[field.DEAD, step]:
        most = stages.rows[field.AT_REST, step]
    return most


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
    widths = half_x, half_y, (), mean_1, release_1, mean_2, release_2, product
    return Geometry(*widths, release_x, release_y, release_x_box, release_y_box, bend)


@inlined_as_written
def with_part(box: Geometry, part: Part, by_release: bool) -> Geometry:
    """The box with a part of the free flow for a third side, or of the release, which storages do not change then."""
    if len(part) == 0:
        return box
    side_1, side_2 = above(box.release_1 + part[1]), above(box.release_2 + part[1])
    product = above(above(box.product + above(box.mean_1 * part[1])))
    slopes = box.release_x, box.release_y, box.release_x_box, box.release_y_box, box.bend
    if by_release:
        product = above(box.mean_1 * part[1])
        side_1, side_2, slopes = part[1], part[1], (_ZERO, _ZERO, _ZERO, _ZERO, _ZERO)
    deviations = box.mean_1, side_1, box.mean_2, side_2, product
    return Geometry(box.half_x, box.half_y, part, *deviations, *slopes)


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
        return constant(_INFINITY, box.part)
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
    beyond, by_slopes = (
        _beyond_by_flow(box.part, slope_r, slope_r, beyond),
        _beyond_by_flow(box.part, slope_r, on_box.r, by_slopes),
    )
    if not beyond < by_slopes:  # also where it is no number
        beyond = by_slopes
    if not beyond < _INFINITY:
        return constant(_INFINITY, box.part)
    return _over_part(box.part, (above(value[1] + above(beyond * (1.0 + 1e-14))), mid_x, mid_y), slope_r)


@inlined_as_written
def _beyond_by_flow(part: Part, slope: Interval, slopes: Interval, beyond: float) -> float:
    """What a function is above its tangent, with what a range of slopes over the free flow makes of it."""
    if len(part) > 0:
        middle = 0.5 * (slope[0] + slope[1])
        return above(beyond + above(magnitude(subtract(slopes, (middle, middle))) * part[1]))
    return beyond


@inlined_as_written
def _over_part(part: Part, a: Affine, slope: Interval) -> Affine:
    """A function over the free flow too, told at the middle of its part."""
    if len(part) > 0:
        middle = 0.5 * (slope[0] + slope[1])
        moved_by = above(above(middle * part[2]))
        return above(a[0] + moved_by), a[1], a[2], middle
    return a


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
    most = stages.rows[field.RELEASE_UPPER, step] + stages.rows[field.SPARE, step]
    lake = stages.rows[field.TAILWATER, step], stages.rows[field.TAILWATER_MOST, step]
    tail = _backed_up(_tailrace(plant, release, (least, most)), lake)
    return _water(plant, enclose(plant.level, storage), tail, stages.rows[field.PLANT_FACTOR, step])


@inlined_as_written
def _water(plant: Plant, level: Jet, tail: Jet, factor: float) -> Water:
    head = subtract(level[0], tail[0])
    per = enclose_conversion(plant.conversion, head)
    return Water(level, tail, per, scale_jet(factor, multiply_jets(per, enclose(plant.capacity, head))))


@inlined_as_written
def _backed_up(tail: Jet, lake: Interval) -> Jet:
    """Tailrace level that is no lower than a lake below, somewhere between two levels."""
    value, slope, curvature = tail
    if value[0] >= lake[1]:
        return tail
    level = max(value[0], lake[0]), max(value[1], lake[1])
    if value[1] <= lake[0]:
        return level, _ZERO, _ZERO
    return level, hull(slope, _ZERO), (min(curvature[0], 0.0), _INFINITY)


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
    made_box, taken_box = _slopes_of_made(on, release), _slopes_by_head(on, on.full)
    made_m = multiply(multiply(at.per[1], at.level[1]), here)
    made_r = subtract(at.per[0], multiply(multiply(at.per[1], at.tail[1]), here))
    made = affine_bound(multiply(at.per[0], here), made_m, made_r, made_box, box)
    full_m, full_r = multiply(at.full[1], at.level[1]), negative(multiply(at.full[1], at.tail[1]))
    taken = affine_bound(at.full[0], full_m, full_r, taken_box, box)
    if not made[0] < _INFINITY:  # a tailrace that rises steeply from no release: power is no more than at the best head
        most = max(on.per[0][1], 0.0)
        made = moved(constant(above(most * max(-least, 0.0)), box.part), most, most_flow)
    if spare > 0.0:
        made = with_value(made, above(made[0] + above(spare * max(made_box.r[1], on.per[0][1]))))
        taken = with_value(taken, above(taken[0] + above(spare * max(taken_box.r[1], 0.0))))
    if not taken[0] < _INFINITY:
        taken = constant(on.full[0][1], box.part)
    installed = above(plant.installed_mw * stages.rows[field.PLANT_FACTOR, step])
    return Powers(made, taken, constant(installed, box.part))


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
def _slopes_by_head(on: Water, of: Jet) -> Slopes:
    """Derivatives on a box of a function of the head."""
    level, tail = on.level, on.tail
    of_mm = add(multiply(of[2], square(level[1])), multiply(of[1], level[2]))
    of_mr = negative(multiply(multiply(of[2], level[1]), tail[1]))
    of_rr = subtract(multiply(of[2], square(tail[1])), multiply(of[1], tail[2]))
    return Slopes(multiply(of[1], level[1]), negative(multiply(of[1], tail[1])), of_mm, of_mr, of_rr)


@part_as_written
def _turbines(plant: Plant, stages: Stages, step: int, on: Water) -> tuple[Jet, Jet]:
    """By head, what the turbines let through, and what makes the most power: no limit where a head may make none."""
    factor, wanted = stages.rows[field.PLANT_FACTOR, step], stages.rows[field.TURBINED_POWER, step]
    through = scale_jet(factor, enclose(plant.capacity, subtract(on.level[0], on.tail[0])))
    if not on.per[0][0] > _NO_POWER:
        return through, ((0.0, _INFINITY), _ZERO, _ZERO)
    power = multiply((plant.installed_mw, plant.installed_mw), (factor, factor))
    most, of_one = (min(power[0], wanted), min(power[1], wanted)), reciprocal_jet(on.per)
    return through, (multiply(most, of_one[0]), multiply(most, of_one[1]), multiply(most, of_one[2]))


@part_as_written
def turbined_between(plant: Plant, stages: Stages, step: int, mean_storage: Interval, release: Interval) -> Interval:
    """What the turbines take at mean storages and releases of a step, m3/s: none where the lake may be too low."""
    on = water_at(plant, stages, step, mean_storage, release, release[0])
    through, most = _turbines(plant, stages, step, on)
    least = min(min(release[0], through[0][0]), most[0][0])
    if mean_storage[0] < stages.rows[field.OPERATING_STORAGE, step]:
        least = 0.0
    return max(least, 0.0), min(min(release[1], through[0][1]), most[0][1])


@part_as_written
def turbined_on(
    plant: Plant,
    stages: Stages,
    step: int,
    storages: tuple[Interval, Interval],
    releases: tuple[Interval, Interval],
    flow: tuple[Affine, float],
    box: Geometry,
    sign: float,
) -> tuple[Powers, tuple[Interval, Interval, Interval]]:
    """Bounds of the three flows of which the turbines take the least, each times a sign; and the ranges of these.

    They are the release, what the turbines let through, and what makes the most power; others are as in `powers_on`.
    """
    (here, release), (released, least), spare = releases, flow, stages.rows[field.SPARE, step]
    at, on = (
        water_at(plant, stages, step, storages[0], here, least),
        water_at(plant, stages, step, storages[1], release, least),
    )
    (through_at, most_at), (through, most) = _turbines(plant, stages, step, at), _turbines(plant, stages, step, on)
    if sign > 0.0:
        released = with_value(released, above(released[0] + spare))
    by_through = _by_head(at, on, scale_jet(sign, through_at), scale_jet(sign, through), spare, box)
    by_most = released if sign > 0.0 else constant(0.0, box.part)
    if most[0][1] < _INFINITY:
        by_most = _by_head(at, on, scale_jet(sign, most_at), scale_jet(sign, most), spare, box)
    return Powers(released, by_through, by_most), (release, through[0], most[0])


@part_as_written
def _by_head(at: Water, on: Water, of: Jet, of_box: Jet, spare: float, box: Geometry) -> Affine:
    """Bound of a function of the head, told at the middle of the box and on it."""
    slopes = _slopes_by_head(on, of_box)
    by_m, by_r = multiply(of[1], at.level[1]), negative(multiply(of[1], at.tail[1]))
    bound = affine_bound(of[0], by_m, by_r, slopes, box)
    if spare > 0.0:
        bound = with_value(bound, above(bound[0] + above(spare * max(slopes.r[1], 0.0))))
    return bound if bound[0] < _INFINITY else constant(of_box[0][1], box.part)


class Flows(NamedTuple):
    """Bounds of the release and of its negative, and what the release is at least.

    ``heaviest`` is what a m3/s costs that is missing of the least release, without a limit where none may be missing:
    the cost of what is missing is no less than what the release has to spare of it, times any weight up to that.
    ``brought`` are bounds of the free flow and of its negative, if there is one, and ``turbined`` then those of the
    flows of which the turbines take the least, where that is paid.
    """

    most: Affine
    negative: Affine
    least: float
    heaviest: float
    brought: Any
    turbined: Any


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
        min(largest(powers.made, box), largest(powers.taken, box)),
        largest(powers.installed, box),
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
    base = with_value(values, values[0] + tangent.level + stages.rows[field.OFFSET, step])
    total = Sum(base, tangent.worth, tangent.kinked, tangent.size, flows.heaviest)
    total = _with_supply(stages, step, total, flows.most, box)
    flow, minus, least, most = flows.most, flows.negative, flows.least, stages.rows[field.RELEASE_UPPER, step]
    target, lowest = stages.rows[field.POWER_TARGET, step], power_demanded(stages, step)
    mix = _best_mix(total, powers, box)
    total = _with_turbined(stages, step, total, mix, flows.turbined, box)
    for _ in range(2):  # add what limits have to spare, times the best weights
        spare = with_value(flow, flow[0] - least)
        total, weight = _with_bound(total, mix, spare, flow, (least, total.heaviest), box)
        total = Sum(total.base, total.worth, total.kinked, total.size, total.heaviest - weight)
        total = _with_bound(total, mix, with_value(minus, minus[0] + most), minus, (most, _INFINITY), box)[0]
        total = _within_brought(stages, step, total, mix, flows.brought, box)
        if total.kinked > 0.0:
            weight, kinked = _weight_of_power(total, mix, target, total.kinked, box), total.kinked
            total = _with_power_above(total, weight, target, kinked - weight)
        if lowest > 0.0:
            weight = _weight_of_power(total, mix, lowest, _INFINITY, box)
            total = _with_power_above(total, weight, lowest, total.kinked)
        mix = _best_mix(total, powers, box)
    bound = largest(moved(total.base, total.worth, mix), box)
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
    base = moved(with_value(total.base, total.base[0] + level), tangent, flow)
    size = total.size + (abs(level) + tangent * _size(flow, box))
    return Sum(base, total.worth, total.kinked, size, total.heaviest)


@inlined_as_written
def _with_turbined(stages: Stages, step: int, total: Sum, mix: Affine, turbined: Any, box: Geometry) -> Sum:
    """Add what is paid for what the turbines take, which is no more than a weighted sum of three flows."""
    if len(turbined) > 0:
        paid = stages.rows[field.TURBINED_PAID, step]
        if paid > 0.0:
            so_far = Sum(moved(total.base, total.worth, mix), paid, 0.0, 0.0, 0.0)
            taken = _best_mix(so_far, turbined, box)
            size = total.size + paid * (_size(taken, box) + _size(turbined[0], box))
            return Sum(moved(total.base, paid, taken), total.worth, total.kinked, size, total.heaviest)
    return total


@part_as_written
def _best_mix(total: Sum, powers: Powers, box: Geometry) -> Affine:
    """The weighted sum of powers that bounds their minimum best, with what is added to it."""
    made, taken, installed = powers
    best, least = made, _INFINITY
    for one, other in ((made, taken), (made, installed), (taken, installed)):
        along = apart(total.worth, one, other)
        mix = mixed(one, best_step(moved(total.base, total.worth, one), along, 1.0, box), other)
        value = largest(moved(total.base, total.worth, mix), box)
        if value < least:
            best, least = mix, value
    return best


@part_as_written
def _with_bound(
    total: Sum, mix: Affine, spare: Affine, flow: Affine, bound: tuple[float, float], box: Geometry
) -> tuple[Sum, float]:
    """The sum and what is to spare from a bound, times the best weight up to a heaviest, and that weight."""
    weight = best_step(moved(total.base, total.worth, mix), spare, bound[1], box)
    size = _size(with_value(flow, abs(flow[0]) + abs(bound[0])), box)
    base = moved(total.base, weight, spare)
    return Sum(base, total.worth, total.kinked, total.size + weight * size, total.heaviest), weight


@part_as_written
def _weight_of_power(total: Sum, mix: Affine, level: float, most: float, box: Geometry) -> float:
    """The best weight of what power is above a level: the target, up to the kink there, or the lowest power."""
    from_here, spare = moved(total.base, total.worth, mix), with_value(mix, mix[0] - level)
    return best_step(from_here, spare, most, box)


@inlined_as_written
def _with_power_above(total: Sum, weight: float, level: float, kinked: float) -> Sum:
    base = with_value(total.base, total.base[0] - weight * level)
    return Sum(base, total.worth + weight, kinked, total.size + weight * level, total.heaviest)


@inlined_as_written
def _size(a: Affine, box: Geometry) -> float:
    """Sizes of the terms of an affine function on a box, added."""
    size = abs(a[0]) + abs(a[1]) * box.half_x + abs(a[2]) * box.half_y
    if len(a) > 3:
        size += abs(a[3]) * box.part[0]
    return size


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
    return _over_flows(stages.free, plant, stages, step, (x, y), base, slopes)


#: A part of the free flow is narrow enough where its width adds no more than this part of what the box is above its
#: middle, or than is needed (`stages.FREE_SLACK`); where not, it is so many times narrower, but for a smallest part of
#: the whole. Parts of a box after which none is made narrower.
_ENOUGH, _NARROWER, _NARROWEST, _MOST_PARTS, _MORE, _OF_LOSS = 0.3, 4.0, 1e-5, 60, 1.6, 0.2


@part_as_written
def _over_flows(
    free: Any,
    plant: Plant,
    stages: Stages,
    step: int,
    storages: tuple[Interval, Interval],
    base: float,
    slopes: tuple[float, float],
) -> float:
    """The largest bound of parts of the free flow: as wide as they may be, told where they are next to the best."""
    if len(free) == 0:
        return _bound_on(plant, stages, step, storages, base, slopes, (), (), False)
    (x, y), rows = storages, stages.rows
    mid_x, mid_y = 0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1])
    middle = 0.5 * (mid_x + mid_y)
    net = release_of(stages, step, subtract(y, x), loss_jet(rows, stages.lake, step, scale(0.5, add(x, y)))[0])
    brings = rows[field.FREE_LOWER, step], rows[field.FREE_UPPER, step]
    released = rows[field.RELEASE_LOWER, step], _most_released(stages, step, y)
    best = best_release(free, step, middle)
    by_release = brings[1] - brings[0] > net[1] - net[0]
    if by_release:
        lower, upper = max(released[0], below(brings[0] + net[0])), min(released[1], above(brings[1] + net[1]))
    else:
        lower, upper = max(brings[0], below(released[0] - net[1])), min(brings[1], above(released[1] - net[0]))
        lost = loss_jet(rows, stages.lake, step, (middle, middle))[0]
        best -= release_of(stages, step, (mid_y - mid_x, mid_y - mid_x), lost)[0]
    if lower > upper:
        return -_INFINITY
    known, loose = _by_mean(stages, step, storages, base, slopes)
    if known < _INFINITY and not loose:
        start, end = best_release(free, step, 0.5 * (x[0] + y[0])), best_release(free, step, 0.5 * (x[1] + y[1]))
        if brings[0] <= min(start, end) - net[1] and max(start, end) - net[0] <= brings[1]:
            return known
    best = min(max(best, lower), upper)
    of = plant, stages, step, storages, base, slopes
    whole = _bound_on(*of, (lower, upper), (best,), by_release)
    if not lower < upper or whole == -_INFINITY:
        return min(known, whole)
    point = (mid_x, mid_x), (mid_y, mid_y)
    floor = _bound_on(*of, (best, best), (best,), by_release)
    at_point = _bound_on(plant, stages, step, point, base, slopes, (best, best), (best,), by_release)
    above_floor = max(rows[field.FREE_SLACK, step], -_OF_LOSS * floor)
    if at_point > -_INFINITY:  # else no step is at the middle, as just below dead storage
        above_floor = max(_ENOUGH * (floor - at_point), above_floor)
    if not min(known, whole) > floor + above_floor:
        return min(known, whole)
    bound, parts = floor, 0
    for end in (upper, lower):
        edge, width, narrowest = best, abs(end - best), _NARROWEST * (upper - lower)
        while edge != end:
            left = abs(end - edge)
            width = left if parts >= _MOST_PARTS else min(width, left)
            far = end if width == left else (edge + width if end > edge else edge - width)
            of_part = _bound_on(*of, (min(edge, far), max(edge, far)), (edge,), by_release)
            parts += 1
            if of_part != of_part:  # no number, which none is larger than
                return min(known, whole)
            if of_part > max(bound, floor + above_floor) and width > narrowest and parts < _MOST_PARTS:
                width, above_floor = width / _NARROWER, _MORE * above_floor
                floor = max(floor, _bound_on(*of, (far, far), (far,), by_release))
            else:
                bound, edge, width = max(bound, of_part), far, 2.0 * width
    return min(known, bound)


@part_as_written
def _by_mean(
    stages: Stages, step: int, storages: tuple[Interval, Interval], base: float, slopes: tuple[float, float]
) -> tuple[float, bool]:
    """The bound by what is told of mean storages, and whether a box by itself may do better; infinity for nothing.

    Of all storages of the box with one mean, those at its sides come to most: what the others add is a concave function
    of the mean, of two straight lines.
    """
    (x, y), rows, told = storages, stages.rows, stages.by_mean
    mean, count = scale(0.5, add(x, y)), told.number[step]
    if count == 0 or not abs(base) + abs(slopes[0]) + abs(slopes[1]) < _UNLIMITED:
        return _INFINITY, True
    if mean[0] < told.edges[step, 0] or mean[1] > told.edges[step, count]:
        return _INFINITY, True
    if rows[field.MISSING_PRICE, step] > 0.0 and y[0] <= rows[field.TOUCHED, step]:
        return _INFINITY, True
    if y[1] < rows[field.DEAD, step]:  # where nothing is released, of which nothing is told
        return _INFINITY, True
    mid_x, mid_y = 0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1])
    half_x, half_y = max(x[1] - mid_x, mid_x - x[0]), max(y[1] - mid_y, mid_y - y[0])
    stored = rows[field.FREE_PRICE, step] / rows[field.HM3_PER_M3S, step]
    by_x, by_y, middle, half = stored - slopes[0], slopes[1] - stored, 0.5 * (mid_x + mid_y), 0.5 * (half_x + half_y)
    first, second = 2.0 * max(by_x, by_y), 2.0 * min(by_x, by_y)
    lowest, highest = -by_x * half_x - by_y * half_y, by_x * half_x + by_y * half_y
    bend = middle + 0.5 * (half_x - half_y if by_x > by_y else half_y - half_x)
    left, right, bound, size = 0, count, -_INFINITY, 0.0
    while right - left > 1:
        between = (left + right) // 2
        left, right = (between, right) if told.edges[step, between] <= mean[0] else (left, between)
    first_of_all, over = left, 0.0
    while left < count and told.edges[step, left] <= mean[1]:
        low, high = max(told.edges[step, left], mean[0]), min(told.edges[step, left + 1], mean[1])
        value, slope = told.value[step, left], told.slope[step, left]
        center = 0.5 * (told.edges[step, left] + told.edges[step, left + 1])
        for at in (low, min(max(bend, low), high), high):
            away = at - middle
            beside = min(lowest + first * (away + half), highest + second * (away - half))
            bound = max(bound, value + slope * (at - center) + beside)
        over = max(over, told.over[step, left])
        if value > -_INFINITY:
            size = max(size, abs(value) + abs(slope) * (abs(low) + abs(high)))
        left += 1
    if bound == -_INFINITY:
        return bound, False
    reach = abs(x[0]) + abs(x[1]) + abs(y[0]) + abs(y[1])
    loose = over > rows[field.FREE_SLACK, step] and left - first_of_all <= _FEW
    size += abs(base) + (abs(slopes[0]) + abs(slopes[1]) + 2.0 * abs(stored)) * reach
    return above(bound + (base - stored * (mid_y - mid_x)) + _ROUNDING * size), loose


#: A segment is short enough where what is told of it is no more above the middle than is needed
#: (`stages.FREE_SLACK`), or where its part has no room for more; where not, it is half as long. The first are so many
#: times longer. Of so few that are not short enough, a box by itself may do better.
_LONGER, _FEW = 8.0, 2


@compiled_as_written
def fill_by_mean(plant: Plant, stages: Stages, lower: Any, upper: Any) -> None:
    """Tell what each step comes to at most by mean storage: one with a range of the free flow comes to no more.

    Parameters
    ----------
    plant : Plant
    stages : Stages
        Without that range (`Stages.without_range`); ``by_mean`` is filled.
    lower, upper : ndarray, shape (steps + 1,)
        Bounds of the storages, hm3.
    """
    told = stages.by_mean
    parts = max(told.value.shape[1] // OF_PART, 1)
    room = told.value.shape[1] // parts
    for step in range(len(told.number)):
        first = scale(0.5, add((lower[step], lower[step]), (lower[step + 1], lower[step + 1])))[0]
        last = scale(0.5, add((upper[step], upper[step]), (upper[step + 1], upper[step + 1])))[1]
        width, count = (last - first) / parts, 0
        for part in range(parts):
            edge, stop = first + part * width, last if part == parts - 1 else first + (part + 1) * width
            shortest, before = (stop - edge) / room, count
            length = _LONGER * shortest
            told.edges[step, count] = edge
            while edge < stop:
                least = max((stop - edge) / (before + room - count), shortest)
                length = max(length, least)
                end = edge + length if edge + 1.5 * length < stop else stop
                value, slope, over = _on_segment(plant, stages, step, (edge, end))
                if over > stages.rows[field.FREE_SLACK, step] and 0.5 * length >= least:
                    length *= 0.5
                    continue
                told.value[step, count], told.slope[step, count], told.over[step, count] = value, slope, over
                edge, count, length = end, count + 1, 2.0 * length
                told.edges[step, count] = edge
        told.number[step] = count


@part_as_written
def _on_segment(plant: Plant, stages: Stages, step: int, segment: Interval) -> tuple[float, float, float]:
    """A straight line on a segment, by its value at the middle and its slope, and how far above the middle it is."""
    rows, middle = stages.rows, 0.5 * (segment[0] + segment[1])
    low, here, high = (
        _at_best(plant, stages, step, segment[0]),
        _at_best(plant, stages, step, middle),
        _at_best(plant, stages, step, segment[1]),
    )
    slope = (high - low) / (segment[1] - segment[0])
    here, slope = (here if abs(here) < _INFINITY else 0.0), (slope if abs(slope) < _INFINITY else 0.0)
    stored = rows[field.FREE_PRICE, step] / rows[field.HM3_PER_M3S, step]
    slopes = stored + 0.5 * slope, stored - 0.5 * slope
    over = _over_flows(stages.free, plant, stages, step, (segment, segment), -here, slopes)
    if not abs(over) < _INFINITY:
        over = over if over < 0.0 else _INFINITY
        return over, 0.0, over
    rounded = _ROUNDING * (abs(here) + (abs(slopes[0]) + abs(slopes[1])) * (segment[1] - segment[0]))
    return above(here + over + rounded), slope, over


@part_as_written
def _at_best(plant: Plant, stages: Stages, step: int, storage: float) -> float:
    """What a step comes to, about, that ends where it begins."""
    lower, upper = stages.rows[field.RELEASE_LOWER, step], stages.rows[field.RELEASE_UPPER, step]
    best, at = min(max(best_release(stages.free, step, storage), lower), upper), (storage, storage)
    return _bound_on(plant, stages, step, (at, at), 0.0, (0.0, 0.0), (best, best), (best,), True)


@part_as_written
def _bound_on(
    plant: Plant,
    stages: Stages,
    step: int,
    storages: tuple[Interval, Interval],
    base: float,
    slopes: tuple[float, float],
    side: Part,
    at: Part,
    by_release: bool,
) -> float:
    """The bound on a box, whose third side is a part of the free flow, or of the release, told of there; or is none."""
    return _over_lake(stages.high, plant, stages, step, storages, base, slopes, side, at, by_release)


@part_as_written
def _over_lake(
    high: Any,
    plant: Plant,
    stages: Stages,
    step: int,
    storages: tuple[Interval, Interval],
    base: float,
    slopes: tuple[float, float],
    side: Part,
    at: Part,
    by_release: bool,
) -> float:
    """The bound at any level of the lake below, for which the plant is paid: from its lowest or its highest.

    From there to any other, what is paid for a metre and what a metre of head makes cancel in part.
    """
    if len(high) == 0:
        return _bound_at(plant, stages, step, storages, base, slopes, side, at, by_release)
    paid = stages.rows[field.LEVEL_PAID, step]
    if not paid > 0.0:
        return _bound_at(plant, stages, step, storages, base, slopes, side, at, by_release)
    lake = stages.rows[field.TAILWATER, step], high[field.TAILWATER, step]
    of_low, of_high, less = _over_levels(plant, stages, step, storages, side, by_release, lake)
    if of_low <= of_high - less:
        return above(
            _bound_at(plant, stages, step, storages, base, slopes, side, at, by_release)
            + above(of_low * (1.0 + _ROUNDING))
        )
    others = Stages(high, stages.lake, stages.free, stages.by_mean, high)
    bound = _bound_at(plant, others, step, storages, base, slopes, side, at, by_release)
    return above(bound + above(of_high * (1.0 + _ROUNDING)))


@part_as_written
def _over_levels(
    plant: Plant,
    stages: Stages,
    step: int,
    storages: tuple[Interval, Interval],
    side: Part,
    by_release: bool,
    lake: Interval,
) -> tuple[float, float, float]:
    """What a box may come to more at any level of the lake below than at its lowest, and at its highest, if paid for.

    Power never falls with the head (`single.power_rises`). Last, what it comes to less at the highest, about.
    """
    (x, y), rows, paid = storages, stages.rows, stages.rows[field.LEVEL_PAID, step]
    rise, mean = above(lake[1] - lake[0]), scale(0.5, add(x, y))
    lost = loss_jet(rows, stages.lake, step, mean)[0]
    release = _with_side(release_of(stages, step, subtract(y, x), lost), side, by_release)
    least, most = rows[field.RELEASE_LOWER, step], above(rows[field.RELEASE_UPPER, step] + rows[field.SPARE, step])
    release = max(release[0], least), min(above(release[1] + rows[field.SPARE, step]), most)
    if rows[field.MISSING_PRICE, step] > 0.0 or not release[0] <= release[1]:
        return paid * rise, _INFINITY, 0.0
    own = enclose(plant.tailrace, release)
    on = _water(plant, enclose(plant.level, mean), _backed_up(own, lake), rows[field.PLANT_FACTOR, step])
    low, high = _made_by_head(plant, stages, step, on, release, mean)
    above_own = above(max(lake[1] - max(own[0][0], lake[0]), 0.0))
    of_low = paid * above(max(min(own[0][1], lake[1]) - lake[0], 0.0)) + above_own * max(above(paid - low), 0.0)
    of_high = paid * rise + above_own * max(above(high - paid), 0.0)
    less = 0.5 * (low + high) * max(lake[1] - max(0.5 * (own[0][0] + own[0][1]), lake[0]), 0.0)
    if not less < _INFINITY or power_demanded(stages, step) > 0.0:  # which the highest may not make
        of_high, less = _INFINITY, 0.0
    return min(of_low, paid * rise), of_high, less


@part_as_written
def _made_by_head(
    plant: Plant, stages: Stages, step: int, on: Water, release: Interval, mean_storage: Interval
) -> Interval:
    """What a metre of head makes on a box, in the unit of the objective: power is the least of three functions."""
    rows, made, full = stages.rows, multiply(on.per[0], release), on.full[0]
    by_release, installed = multiply(on.per[1], release), plant.installed_mw * rows[field.PLANT_FACTOR, step]
    sizes = magnitude(made) + magnitude(full) + magnitude(by_release) + magnitude(on.full[1])
    if not sizes < _INFINITY:
        return 0.0, _INFINITY
    if min(made[0], full[0]) > (1.0 + _ROUNDING) * installed:
        low, high = _ZERO
    elif made[1] < full[0]:
        low, high = by_release
    elif full[1] < made[0]:
        low, high = on.full[1]
    else:
        low, high = min(by_release[0], on.full[1][0]), max(by_release[1], on.full[1][1])
    if not installed > (1.0 + _ROUNDING) * min(made[1], full[1]):
        low = 0.0
    if mean_storage[0] < rows[field.OPERATING_STORAGE, step]:
        low = 0.0
    worth = most = rows[field.POWER_VALUE, step]
    if rows[field.POWER_COST, step] > 0.0 or rows[field.POWER_COST_SQUARED, step] > 0.0:
        most += rows[field.POWER_COST, step]
        most += 2.0 * rows[field.POWER_COST_SQUARED, step] * max(rows[field.POWER_TARGET, step], 0.0)
    return max(low, 0.0) * worth * (1.0 - _ROUNDING), max(high, 0.0) * most * (1.0 + _ROUNDING)


@part_as_written
def _bound_at(
    plant: Plant,
    stages: Stages,
    step: int,
    storages: tuple[Interval, Interval],
    base: float,
    slopes: tuple[float, float],
    side: Part,
    at: Part,
    by_release: bool,
) -> float:
    """As `_bound_on`, with the lake below where the rows say."""
    (x, y), rows = storages, stages.rows
    mid_x, mid_y = 0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1])
    half_x, half_y = above(max(x[1] - mid_x, mid_x - x[0])), above(max(y[1] - mid_y, mid_y - y[0]))
    mean, middle = scale(0.5, add(x, y)), scale(0.5, add((mid_x, mid_x), (mid_y, mid_y)))
    lost, lost_here = loss_jet(rows, stages.lake, step, mean), loss_jet(rows, stages.lake, step, middle)
    release = _with_side(release_of(stages, step, subtract(y, x), lost[0]), side, by_release)
    most = _most_released(stages, step, y)
    least = kept = rows[field.RELEASE_LOWER, step]
    heaviest = _INFINITY
    if rows[field.MISSING_PRICE, step] > 0.0 and y[0] <= rows[field.TOUCHED, step]:
        least, heaviest = -rows[field.AT_REST, step], rows[field.MISSING_PRICE, step]  # what is missing is paid
        as_kept = below(kept - rows[field.MISSING_AS_NONE, step])
        kept = kept if release[1] < as_kept else as_kept
    if release[1] < least or release[0] > most:
        return -_INFINITY
    net = release_of(stages, step, subtract((mid_y, mid_y), (mid_x, mid_x)), lost_here[0])
    per_volume = reciprocal((rows[field.HM3_PER_M3S, step], rows[field.HM3_PER_M3S, step]))
    plain = geometry(half_x, half_y, per_volume, lost_here, lost)
    net_most = affine_bound(net, _ZERO, _ONE, Slopes(_ZERO, _ONE, _ZERO, _ZERO, _ZERO), plain)
    falling = Slopes(_ZERO, _MINUS_ONE, _ZERO, _ZERO, _ZERO)
    net_minus = affine_bound(negative(net), _ZERO, _MINUS_ONE, falling, plain)
    box, here = with_part(plain, _part_of(side, at), by_release), _with_side(net, at, by_release)
    flow, minus = _from_net(net_most, side, 1.0, not by_release), _from_net(net_minus, side, -1.0, not by_release)
    release = (release[0], above(release[1] + rows[field.SPARE, step]))
    running = powers_on(plant, stages, step, (middle, mean), (here, release), (flow, least), box)
    brought = _brought(net_minus, net_most, side, by_release)
    none = constant(0.0, box.part)
    still = Powers(none, none, none)
    flows = Flows(flow, minus, kept, heaviest, brought, _where_free(side, still))
    values = _priced(stages, step, (base, -slopes[0], slopes[1]), flows, brought, box)
    values = _charged(side, values, plant, stages, step, (middle, mean), box)
    of_water = (middle, mean), (here, release), least
    bound = _while_running(brought, plant, stages, step, values, running, flows, of_water, box)
    operating = rows[field.OPERATING_STORAGE, step]
    if mean[0] >= operating:
        return bound
    idle = bound_with_terms(stages, step, values, still, flows, box)
    return idle if mean[1] < operating else max(bound, idle)


@inlined_as_written
def _where_free(side: Part, powers: Powers) -> Any:
    """Powers where part of the inflow is free, else nothing."""
    if len(side) > 0:
        return powers
    return ()


@part_as_written
def _while_running(
    brought: Any,
    plant: Plant,
    stages: Stages,
    step: int,
    values: Affine,
    powers: Powers,
    flows: Flows,
    of_water: Any,
    box: Geometry,
) -> float:
    """The bound with what is paid for what the turbines take, or charged: that is one of three flows then."""
    if len(brought) > 0:
        paid, (storages, releases, least) = stages.rows[field.TURBINED_PAID, step], of_water
        if paid > 0.0:
            turbined = turbined_on(plant, stages, step, storages, releases, (flows.most, least), box, 1.0)[0]
            flows = Flows(flows.most, flows.negative, flows.least, flows.heaviest, flows.brought, turbined)
        elif paid < 0.0:
            bound, water = -_INFINITY, (plant, stages, step, storages, releases)
            charged, ranges = turbined_on(*water, (flows.negative, least), box, -1.0)
            least_of_all = min(min(ranges[0][1], ranges[1][1]), ranges[2][1])
            for place in range(3):
                flow, between = charged[place], ranges[place]
                if between[0] <= least_of_all:
                    size = abs(values[0]) - paid * _size(flow, box)
                    rounded = with_value(values, values[0] + _ROUNDING * size)
                    value = bound_with_terms(stages, step, moved(rounded, -paid, flow), powers, flows, box)
                    if value != value:  # no number, which none is larger than
                        return value
                    bound = max(bound, value)
            return bound
    return bound_with_terms(stages, step, values, powers, flows, box)


@inlined_as_written
def _with_side(net: Interval, side: Part, by_release: bool) -> Interval:
    """The release of a box: what it releases net of the free flow, and a part of that; or a part of the release."""
    if len(side) > 0:
        return (side[0], side[-1]) if by_release else add(net, (side[0], side[-1]))
    return net


@inlined_as_written
def _part_of(side: Part, at: Part) -> Part:
    """The third side of a box, by where functions are told."""
    if len(side) > 0:
        middle = 0.5 * (side[0] + side[1])
        half, far = above(max(side[1] - middle, middle - side[0])), above(max(side[1] - at[0], at[0] - side[0]))
        return half, far, middle - at[0]
    return ()


@inlined_as_written
def _from_net(net: Affine, side: Part, sign: float, beside: bool) -> Affine:
    """The third side times a sign, with what is released net beside it or by itself."""
    if len(side) > 0:
        middle = sign * 0.5 * (side[0] + side[1])
        if beside:
            return above(net[0] + middle), net[1], net[2], sign
        return middle, 0.0, 0.0, sign
    return net


@inlined_as_written
def _brought(net_minus: Affine, net_most: Affine, side: Part, by_release: bool) -> Any:
    """Bounds of the free flow and of its negative; nothing where there is none."""
    if len(side) > 0:
        return _from_net(net_minus, side, 1.0, by_release), _from_net(net_most, side, -1.0, by_release)
    return ()


@inlined_as_written
def _priced(stages: Stages, step: int, values: Affine, flows: Flows, brought: Any, box: Geometry) -> Affine:
    """Values with what the free flow costs and the release is paid, and more than what that rounds."""
    if len(brought) > 0:
        price, paid = stages.rows[field.FREE_PRICE, step], stages.rows[field.RELEASE_PAID, step]
        released = flows.most if paid > 0.0 else flows.negative
        charged = brought[1] if price > 0.0 else brought[0]
        size = abs(values[0]) + abs(price) * _size(charged, box) + abs(paid) * _size(released, box)
        spare = above(max(paid, 0.0) * stages.rows[field.SPARE, step])
        own = values[0] + _ROUNDING * size + spare, values[1], values[2], 0.0
        return moved(moved(own, abs(price), charged), abs(paid), released)
    return values


@part_as_written
def _charged(
    side: Part,
    values: Affine,
    plant: Plant,
    stages: Stages,
    step: int,
    storages: tuple[Interval, Interval],
    box: Geometry,
) -> Affine:
    """Values less what the reservoir's own level costs, from mean storages at the middle and on the box."""
    if len(side) > 0:
        charged = stages.rows[field.LEVEL_CHARGED, step]
        if charged > 0.0:
            here, on = enclose(plant.level, storages[0]), enclose(plant.level, storages[1])
            falling = Slopes(negative(on[1]), _ZERO, negative(on[2]), _ZERO, _ZERO)
            level = affine_bound(negative(here[0]), negative(here[1]), _ZERO, falling, box)
            rounded = _ROUNDING * (abs(values[0]) + charged * _size(level, box))
            return moved(with_value(values, values[0] + rounded), charged, level)
    return values


@inlined_as_written
def _within_brought(stages: Stages, step: int, total: Sum, mix: Affine, brought: Any, box: Geometry) -> Sum:
    """Add what the bounds of the free flow have to spare, times the best weights."""
    if len(brought) > 0:
        lower, upper = stages.rows[field.FREE_LOWER, step], stages.rows[field.FREE_UPPER, step]
        most, minus = brought
        total = _with_bound(total, mix, with_value(most, most[0] - lower), most, (lower, _INFINITY), box)[0]
        return _with_bound(total, mix, with_value(minus, minus[0] + upper), minus, (upper, _INFINITY), box)[0]
    return total
