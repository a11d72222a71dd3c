"""Affine upper bounds of the three powers of which the least is made, on a box.

They are what the release makes, what all the turbines can take, and the installed capacity.
"""

from __future__ import annotations

from typing import NamedTuple

from reservoir.certificate.box import Affine, Geometry, Slopes, affine_bound, moved
from reservoir.certificate.stages import Stages
from reservoir.hydro.curves.enclosures import Jet, enclose, enclose_conversion, multiply_jets, scale_jet
from reservoir.hydro.curves.intervals import Interval, above, add, hull, multiply, negative, scale, square, subtract
from reservoir.hydro.jit import inlined_as_written, part_as_written
from reservoir.hydro.plant import Plant

_INFINITY = float("inf")


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
    tail = _tailrace(plant, release, (least, stages.most[step] + stages.spare[step]))
    head = subtract(level[0], tail[0])
    per = enclose_conversion(plant.conversion, head)
    full = scale_jet(stages.plant_factor[step], multiply_jets(per, enclose(plant.capacity, head)))
    return Water(level, tail, per, full)


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
    installed_mw: float,
    stages: Stages,
    step: int,
    waters: tuple[Water, Water],
    releases: tuple[Interval, Interval],
    flow: tuple[Affine, float],
    box: Geometry,
) -> Powers:
    """Bounds of the powers.

    Parameters
    ----------
    waters, releases : pair
        At the middle of the box, and on the box.
    flow : tuple of Affine and float
        Bound of the release, and the least that there is.
    """
    (at, on), (here, release) = waters, releases
    made_box, taken_box = _slopes_of_made(on, release), _slopes_of_taken(on)
    made, taken = _made(at, here, made_box, box), _taken(at, taken_box, box)
    if not made[0] < _INFINITY:  # a tailrace that rises steeply from no release: power is no more than at the best head
        made = _made_at_best_head(on, flow[1], flow[0])
    spare = stages.spare[step]
    if spare > 0.0:
        made = (above(made[0] + above(spare * max(made_box.r[1], on.per[0][1]))), made[1], made[2])
        taken = (above(taken[0] + above(spare * max(taken_box.r[1], 0.0))), taken[1], taken[2])
    if not taken[0] < _INFINITY:
        taken = (on.full[0][1], 0.0, 0.0)
    return Powers(made, taken, (above(installed_mw * stages.plant_factor[step]), 0.0, 0.0))


@part_as_written
def _slopes_of_made(on: Water, release: Interval) -> Slopes:
    """Derivatives on a box of the power that the release makes."""
    per, level, tail = on.per, on.level, on.tail
    by_m, by_r = multiply(per[1], level[1]), negative(multiply(per[1], tail[1]))
    by_mm = add(multiply(per[2], square(level[1])), multiply(per[1], level[2]))
    by_rr = subtract(multiply(per[2], square(tail[1])), multiply(per[1], tail[2]))
    by_mr = negative(multiply(multiply(per[2], level[1]), tail[1]))
    return Slopes(
        multiply(by_m, release),
        add(per[0], multiply(by_r, release)),
        multiply(by_mm, release),
        add(by_m, multiply(by_mr, release)),
        add(scale(2.0, by_r), multiply(by_rr, release)),
    )


@part_as_written
def _slopes_of_taken(on: Water) -> Slopes:
    """Derivatives on a box of the power of all that the turbines can take."""
    full, level, tail = on.full, on.level, on.tail
    return Slopes(
        multiply(full[1], level[1]),
        negative(multiply(full[1], tail[1])),
        add(multiply(full[2], square(level[1])), multiply(full[1], level[2])),
        negative(multiply(multiply(full[2], level[1]), tail[1])),
        subtract(multiply(full[2], square(tail[1])), multiply(full[1], tail[2])),
    )


@inlined_as_written
def _made(at: Water, release: Interval, on_box: Slopes, box: Geometry) -> Affine:
    """Bound of the power that the release makes, from the middle of the box."""
    made_m = multiply(multiply(at.per[1], at.level[1]), release)
    made_r = subtract(at.per[0], multiply(multiply(at.per[1], at.tail[1]), release))
    return affine_bound(multiply(at.per[0], release), made_m, made_r, on_box, box)


@inlined_as_written
def _made_at_best_head(on: Water, least: float, flow: Affine) -> Affine:
    most, negative_release = max(on.per[0][1], 0.0), max(-least, 0.0)
    return moved((above(most * negative_release), 0.0, 0.0), most, flow)


@inlined_as_written
def _taken(at: Water, on_box: Slopes, box: Geometry) -> Affine:
    """Bound of the power of all that the turbines can take, from the middle of the box."""
    full_m, full_r = multiply(at.full[1], at.level[1]), negative(multiply(at.full[1], at.tail[1]))
    return affine_bound(at.full[0], full_m, full_r, on_box, box)
