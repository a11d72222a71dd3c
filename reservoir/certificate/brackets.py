"""Upper bound of a stage on a box: storages at its start between two, and at its end between two others.

The bracket is the stage's benefit plus the value at its end less the value at its start. Power is the least of three
functions of mean storage and release, each of which has an affine bound (`powers`); `terms` bounds their minimum.
"""

from __future__ import annotations

from reservoir.certificate.box import Affine, Geometry, Slopes, affine_bound, geometry, loss_jet, release_of
from reservoir.certificate.powers import Powers, powers_on, water_at
from reservoir.certificate.stages import Stages
from reservoir.certificate.terms import Flows, bound_with_terms
from reservoir.hydro.curves.intervals import Interval, above, add, below, negative, reciprocal, scale, subtract
from reservoir.hydro.jit import inlined_as_written, part_as_written
from reservoir.hydro.plant import Plant

_INFINITY = float("inf")
_ZERO, _ONE, _MINUS_ONE = (0.0, 0.0), (1.0, 1.0), (-1.0, -1.0)
_NONE = (0.0, 0.0, 0.0)


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
    mean, middle = scale(0.5, add(x, y)), scale(0.5, add((mid_x, mid_x), (mid_y, mid_y)))
    lost, lost_here = loss_jet(stages, step, mean), loss_jet(stages, step, middle)
    release = release_of(stages, step, subtract(y, x), lost[0])
    most = stages.at_rest[step] if y[1] < stages.dead else stages.most[step]
    least = kept = stages.least[step]
    heaviest = _INFINITY
    if stages.missing_price[step] > 0.0 and y[0] <= stages.touched:  # what is missing of the least release is paid
        least, heaviest = -stages.at_rest[step], stages.missing_price[step]
        as_kept = below(kept - stages.missing_as_none[step])
        kept = kept if release[1] < as_kept else as_kept
    if release[1] < least or release[0] > most:
        return -_INFINITY
    here = release_of(stages, step, subtract((mid_y, mid_y), (mid_x, mid_x)), lost_here[0])
    per_volume = reciprocal((stages.per_flow[step], stages.per_flow[step]))
    box = geometry(_half_width(x, mid_x), _half_width(y, mid_y), per_volume, lost_here, lost)
    flow, minus = _flows(here, box)
    release = (release[0], above(release[1] + stages.spare[step]))
    waters = water_at(plant, stages, step, middle, here, least), water_at(plant, stages, step, mean, release, least)
    running = powers_on(plant.installed_mw, stages, step, waters, (here, release), (flow, least), box)
    values, flows = (base, -slopes[0], slopes[1]), Flows(flow, minus, kept, heaviest)
    return _running_or_idle(stages, step, mean, values, running, flows, box)


@inlined_as_written
def _half_width(x: Interval, middle: float) -> float:
    return above(max(x[1] - middle, middle - x[0]))


@inlined_as_written
def _flows(here: Interval, box: Geometry) -> tuple[Affine, Affine]:
    """Bounds of the release and of its negative, from that at the middle."""
    flow = affine_bound(here, _ZERO, _ONE, Slopes(_ZERO, _ONE, _ZERO, _ZERO, _ZERO), box)
    falling = Slopes(_ZERO, _MINUS_ONE, _ZERO, _ZERO, _ZERO)
    return flow, affine_bound(negative(here), _ZERO, _MINUS_ONE, falling, box)


@inlined_as_written
def _running_or_idle(
    stages: Stages,
    step: int,
    mean: Interval,
    values: Affine,
    running: Powers,
    flows: Flows,
    box: Geometry,
) -> float:
    """Bound of the bracket, whether the turbines run or stand still."""
    bound = bound_with_terms(stages, step, values, running, flows, box)
    if mean[0] >= stages.operating_storage:
        return bound
    idle = bound_with_terms(stages, step, values, Powers(_NONE, _NONE, _NONE), flows, box)
    return idle if mean[1] < stages.operating_storage else max(bound, idle)
