"""One step of a reservoir (Yu et al. 2020, Complexity 6589658, eq. 7-10 and 18-20): the Python expression of it.

Compiled code calls these functions with numbers, in the precision that it is given (`jit`); Python calls them with
arrays, and needs no compiler for that. ``kernels/problems/reservoir/reservoir_step.cl`` is the same for devices.

Storages in hm3, flows in m3/s, ``hm3_per_m3s`` is 0.0864 times the days of the step; a plant is a `plant.Plant`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reservoir.hydro.conditions import (
    NO_CONDITIONS,
    available,
    backed_up,
    demanded,
    end_after_losses,
    loss_volume,
    most_power,
    not_kept,
    start_before_losses,
    while_operating,
)
from reservoir.hydro.elementwise import Numbers, choose, clip, curve_value, every, greater, lesser, mean
from reservoir.hydro.plant import Plant

#: Power of 1 m3/s (MW) that is next to none, in the least precision.
_LEAST_POWER: Any = np.float32(1e-30)
#: A release moved by less than this part of its largest bound was not repaired, only rounded.
REPAIR_TOLERANCE = 1e-9


def volume_gained(inflow: Numbers, release: Numbers | float, hm3_per_m3s: Numbers | float) -> Numbers:
    """What a step adds to the storage, hm3 (eq. 10), before evaporation and seepage."""
    return (inflow - release) * hm3_per_m3s


def storage_after(
    storage: Numbers,
    inflow: Numbers,
    release: Numbers | float,
    hm3_per_m3s: Numbers | float,
    year: Any = NO_CONDITIONS,
    step: Any = 0,
) -> Numbers:
    """Storage at the end of a step (eq. 10)."""
    return storage_after_gain(storage, volume_gained(inflow, release, hm3_per_m3s), hm3_per_m3s, year, step)


def storage_after_gain(
    storage: Numbers, gain: Numbers, hm3_per_m3s: Numbers | float, year: Any = NO_CONDITIONS, step: Any = 0
) -> Numbers:
    """Storage at the end of a step that gains a volume, before evaporation and seepage."""
    end: Numbers = end_after_losses(year, step, storage, storage + gain, hm3_per_m3s)
    return end


def storage_before_gain(
    end: Numbers, gain: Numbers, hm3_per_m3s: Numbers | float, year: Any = NO_CONDITIONS, step: Any = 0
) -> Numbers:
    """Storage at the start of a step that gains a volume, before evaporation and seepage, and ends at `end`."""
    start: Numbers = start_before_losses(year, step, end, end - gain, hm3_per_m3s)
    return start


def release_to_reach(
    storage: Numbers,
    end: Numbers | float,
    inflow: Numbers | float,
    hm3_per_m3s: Numbers | float,
    year: Any = NO_CONDITIONS,
    step: Any = 0,
) -> Numbers:
    """Release that a step ends at a storage with (eq. 10), whether it is within its bounds or not."""
    mean_storage: Any = mean(storage, end)  # type: ignore[type-var]
    release: Numbers = inflow - (end - storage + loss_volume(year, step, mean_storage, hm3_per_m3s)) / hm3_per_m3s  # type: ignore[operator,assignment]
    return release


def feasible_releases(
    storage: Numbers,
    inflow: Numbers,
    flow_per_volume: Numbers | float,
    storages: tuple[Numbers | float, Numbers | float],
    releases: tuple[Numbers | float, Numbers | float],
) -> tuple[Numbers, Numbers]:
    """Releases that end a step at its highest and at its lowest storage, within their bounds: what lies between may be.

    As `release_to_reach` without losses, by a product with m3/s that carry 1 hm3 in the step.
    """
    filling = clip(inflow + (storage - storages[1]) * flow_per_volume, releases[0], releases[1])
    emptying = clip(inflow + (storage - storages[0]) * flow_per_volume, releases[0], releases[1])
    return filling, emptying


def steered(
    storage: Numbers,
    wanted: Numbers | float,
    inflow: Numbers,
    hm3_per_m3s: Numbers | float,
    storages: tuple[Numbers | float, Numbers | float],
    year: Any = NO_CONDITIONS,
    step: Any = 0,
) -> tuple[Numbers, Numbers]:
    """Storage at the end of a step brought between two, and the volume that the release must add for that (eq. 18)."""
    end = storage_after(storage, inflow, wanted, hm3_per_m3s, year, step)
    target = clip(end, storages[0], storages[1])
    return target, end - target + loss_change(year, step, storage, end, target, hm3_per_m3s)


def loss_change(
    year: Any, step: Any, storage: Numbers, end: Numbers, target: Numbers, hm3_per_m3s: Numbers | float
) -> Numbers | float:
    """By how much more a step loses that ends at `end` than one that ends at `target`, hm3."""
    more: Numbers | float = loss_volume(year, step, mean(storage, end), hm3_per_m3s) - loss_volume(
        year, step, mean(storage, target), hm3_per_m3s
    )
    return more


def limited(
    storage: Numbers,
    release: Numbers,
    target: Numbers,
    inflow: Numbers,
    hm3_per_m3s: Numbers | float,
    releases: tuple[Numbers | float, Numbers | float],
    dead: Numbers | float,
    year: Any = NO_CONDITIONS,
    step: Any = 0,
) -> tuple[Numbers, Numbers]:
    """A release that leads to a target, brought within its bounds, and the storage that it then leads to (eq. 19).

    Of water that is not there nothing is released, whatever its bounds are (`there_is`).
    """
    kept = clip(release, releases[0], releases[1])
    end = choose(kept != release, storage_after(storage, inflow, kept, hm3_per_m3s, year, step), target)
    return there_is(storage, kept, end, inflow, hm3_per_m3s, dead, year, step)


def there_is(
    storage: Numbers,
    draft: Numbers,
    end: Numbers,
    inflow: Numbers,
    hm3_per_m3s: Numbers | float,
    dead: Numbers | float,
    year: Any = NO_CONDITIONS,
    step: Any = 0,
) -> tuple[Numbers, Numbers]:
    """A draft and the storage that it leads to, cut to the water that is there.

    That is what lies above dead storage, and what flows in less the losses of the step. Below dead storage only losses
    go, and never more than there is.
    """
    if every(end >= dead):
        return draft, end
    nothing = storage - storage - demanded(year, step)
    most = release_to_reach(storage, dead, inflow, hm3_per_m3s, year, step)
    at_rest = greater(storage_after(storage, inflow, nothing, hm3_per_m3s, year, step), storage - storage)
    short = end < dead
    cut, left = clip(most, nothing, draft), choose(most > nothing, dead, at_rest)
    return choose(short, cut, draft), choose(short, left, end)


def unmet_minimum(draft: Numbers, least_draft: Numbers | float, per_missing: Numbers | float) -> Numbers:
    """Relative violation of the least release by a draft that was cut below its least (`there_is`)."""
    missed: Numbers = not_kept((least_draft - draft) * per_missing)
    return missed


def enforce_limits(
    storage: Numbers,
    wanted: Numbers,
    inflow: Numbers,
    hm3_per_m3s: Numbers | float,
    storages: tuple[Numbers | float, Numbers | float],
    releases: tuple[Numbers | float, Numbers | float],
    dead: Numbers | float,
    year: Any = NO_CONDITIONS,
    step: Any = 0,
) -> tuple[Numbers, Numbers]:
    """Release of a step and the storage at its end, whatever is wanted (eq. 18-19).

    The end is brought between two storages as far as the bounds of the release, and the water above `dead` storage,
    allow. The deviation is made up by the
    release, in flow units: the printed eq. 19 leaves the division out of its last line. Where there is no time for a
    division, `steered` and `limited` are called with a product between them.
    """
    target, excess = steered(storage, wanted, inflow, hm3_per_m3s, storages, year, step)
    return limited(storage, wanted + excess / hm3_per_m3s, target, inflow, hm3_per_m3s, releases, dead, year, step)


def relative_violation(
    storage: Numbers, lower: Numbers | float, upper: Numbers | float, capacity: Numbers | float
) -> Numbers:
    """By how much a storage is beyond its bounds, relative to the one it is beyond (eq. 20); 0 between them."""
    bound = choose(storage < lower, lower, upper)
    beyond = greater(lower - storage, storage - upper)
    return greater(beyond, storage - storage) / violation_scale(bound, capacity)


def violation_scale(bound: Numbers, capacity: Numbers | float) -> Numbers:
    """What a violation of a bound is relative to: the bound, or the largest storage where it is 0."""
    return choose(bound > 0, bound, capacity)


def head_at(plant: Plant, mean_storage: Numbers, release: Numbers, year: Any = NO_CONDITIONS, step: Any = 0) -> Numbers:
    """Head, m (eq. 8): forebay level at the step's mean storage less tailrace level at its release."""
    return curve_value(plant.level, mean_storage) - backed_up(year, step, curve_value(plant.tailrace, release))


def turbined_at(plant: Plant, head: Numbers, release: Numbers, year: Any = NO_CONDITIONS, step: Any = 0) -> Numbers:
    """Power discharge, m3/s (eq. 9): the release, as far as hydraulic and installed capacity allow; 0 without head."""
    hydraulic = available(year, step, curve_value(plant.capacity, head))
    per_flow: Any = curve_value(plant.conversion, head)
    allowed = lesser(hydraulic, most_power(year, step, plant.installed_mw) / greater(per_flow, _LEAST_POWER))
    turbined: Numbers = choose(per_flow > 0, lesser(release, allowed), release - release)
    return turbined


def power_of(plant: Plant, head: Numbers, discharge: Numbers, year: Any = NO_CONDITIONS, step: Any = 0) -> Numbers:
    """Power, MW (eq. 7), of a discharge that the turbines can take."""
    power: Numbers = lesser(curve_value(plant.conversion, head) * discharge, most_power(year, step, plant.installed_mw))
    return power


def power_at_head(plant: Plant, head: Numbers, release: Numbers, year: Any = NO_CONDITIONS, step: Any = 0) -> Numbers:
    """Power, MW (eq. 7 with eq. 9): that of `turbined_at`, with one division less."""
    discharge = lesser(release, available(year, step, curve_value(plant.capacity, head)))
    return power_of(plant, head, discharge, year, step)


def power_at(
    plant: Plant, mean_storage: Numbers, release: Numbers, year: Any = NO_CONDITIONS, step: Any = 0
) -> Numbers:
    """Power, MW, at a mean storage and a release (eq. 7-9)."""
    power = power_at_head(plant, head_at(plant, mean_storage, release, year, step), release, year, step)
    running: Numbers = while_operating(year, mean_storage, power)
    return running
