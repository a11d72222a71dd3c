"""How swarms are laid out on a device."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.errors import InputError, Mistake
from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem
from reservoir.solvers.base.blocks import Blocks
from reservoir.solvers.base.work_groups import (
    items_for,
    local_bytes_of,
    most_items,
    require_countable,
    require_private,
)
from reservoir.solvers.clpso.settings import DeviceSwarmSettings


@dataclass(frozen=True)
class SwarmLayout(Blocks):
    """A swarm, and swarms on a work group.

    Parameters
    ----------
    swarms : int
        Swarms in a group.
    best_in_global : bool
        Personal bests stand in global memory: local memory is too small for them, or the model has them there.
    """

    swarms: int
    best_in_global: bool


#: Work items that a GPU runs in step; its groups are whole multiples of them.
WARP = 32
#: Swarms for each compute unit from which on a group takes several: before, every swarm has a unit of its own.
MANY_SWARMS = 4
#: Work items of a group whose swarms share the choice of exemplars, at most; measured with 32 and 40 particles.
SHARING_ITEMS = 160
#: Floats that a swarm's context and velocities may be padded with.
_ALIGNMENT = 6


def layout_for(device: DeviceInfo, problem: Problem, count: int, settings: DeviceSwarmSettings) -> SwarmLayout:
    """Choose a layout for `count` problems.

    On a GPU a work item has a particle, and a group several swarms where there are more than enough of them; on a CPU
    one work item has a swarm, in vectors. The paper's models have one swarm a group and one particle an item.
    """
    if settings.used_model.of_the_paper:
        return _layout_of_the_paper(device, settings)
    swarms = settings.swarms
    populations = 1 if swarms is None else swarms
    blocks = Blocks.of(device, settings.particles, settings.lanes, settings.items, populations=populations)
    lanes, items, swarm = blocks.lanes, blocks.items, blocks.padded
    require_countable((problem.dimension + 1) * swarm, "a swarm", "choose fewer particles")
    private = 4 * swarm // items * state_words(problem.dimension)
    require_private(device, private, f"a swarm of {settings.particles:,} particles", "choose fewer particles")
    local_bytes = local_bytes_of(device)
    if swarms is None:
        room = min(most_items(device) // items, local_bytes // _local_bytes(problem, swarm, lanes, 2) * 2)
        many = device.kind != "CPU" and count >= MANY_SWARMS * device.compute_units
        swarms = _fullest_group(items, room) if many else 1
    best_in_global = _local_bytes(problem, swarm, lanes, swarms) > local_bytes
    return SwarmLayout(**vars(blocks), swarms=swarms, best_in_global=best_in_global)


def _layout_of_the_paper(device: DeviceInfo, settings: DeviceSwarmSettings) -> SwarmLayout:
    model, fixed = settings.used_model, {"lanes": 1, "items": settings.particles, "swarms": 1}
    if any(getattr(settings, name) not in (None, value) for name, value in fixed.items()):
        mend = "remove lanes, items and swarms, or choose another model"
        raise InputError(
            Mistake(
                "this model always has one particle per work item", "no lanes, items or swarms", mend, value=model.name
            )
        )
    items = items_for(device, settings.particles, settings.particles)
    return SwarmLayout(lanes=1, items=items, blocks=1, swarms=1, best_in_global=True)


def state_words(dimension: int) -> int:
    """32-bit words of the state of a particle in global memory, with room for any random numbers' own and padding."""
    return 3 * dimension + 8


def _local_bytes(problem: Problem, swarm: int, lanes: int, swarms: int) -> int:
    """Local memory of a group: personal bests, context and largest velocities; and a shared choice of exemplars."""
    floats = (problem.dimension + 1) * swarm + len(problem.kernel_context()) + problem.dimension + _ALIGNMENT
    shared = (problem.dimension + 2) * swarm + 2 if lanes == 1 and swarms > 1 else 0
    return 4 * swarms * (floats + shared)


def _fullest_group(items: int, most: int) -> int:
    """Swarms of so many items that leave the fewest work items of a group's warps idle, the most of equals."""
    largest = max(1, min(most, SHARING_ITEMS // items))
    return min(
        range(1, largest + 1), key=lambda swarms: (-(-swarms * items // WARP) * WARP / (swarms * items), -swarms)
    )
