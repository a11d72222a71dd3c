"""How a ring of particles is laid out on a device."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.opencl import DeviceInfo, require_local
from reservoir.problems.base import Problem
from reservoir.solvers.base.work_groups import items_for, team_of


@dataclass(frozen=True)
class RingLayout:
    """A work group has a particle.

    Parameters
    ----------
    items : int
        Work items of a group.
    team : int
        Items that add up their shares in registers: a warp, or 1.
    """

    items: int
    team: int

    @property
    def workers(self) -> int:
        """Teams of a group."""
        return self.items // self.team


#: Work items of a compute unit of a GPU up to which a particle has an item for each dimension; with more, particles
#: would not all be at work at once.
ROOMY_ITEMS = 1024


def layout_for(device: DeviceInfo, problem: Problem, particles: int, items: int | None = None) -> RingLayout:
    """On a GPU an item for each dimension, in whole sub-groups, or one sub-group; on a CPU one item for all.

    Parameters
    ----------
    particles : int
        Of all swarms of a launch.

    Raises
    ------
    DeviceError
        If a particle needs more local memory than there is.
    InputError
        If no group has so many items.
    """
    if items is None and device.kind != "CPU":
        whole = -(-problem.dimension // device.sub_group_size) * device.sub_group_size
        roomy = particles * whole <= ROOMY_ITEMS * device.compute_units
        items = min(whole if roomy else device.sub_group_size, device.max_work_group_size)
    items = items_for(device, problem.dimension, items)
    layout = RingLayout(items=items, team=team_of(device, items))
    require_local(device, 4 * (4 * problem.dimension + 2 * layout.workers + 4))
    return layout
