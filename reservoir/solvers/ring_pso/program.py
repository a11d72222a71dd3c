"""How a ring of particles is laid out on a device, and the program that is specialised for it."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.opencl import BuiltProgram, DeviceInfo, assemble, build, ordering_of, require_local
from reservoir.problems.base import Problem
from reservoir.solvers.base.co_residency_probe import MAX_POLLS
from reservoir.solvers.base.work_groups import items_for
from reservoir.solvers.ring_pso.settings import RingSettings

#: Work items of a compute unit of a GPU up to which a particle has an item for each dimension; with more, particles
#: would not all be at work at once.
ROOMY_ITEMS = 1024


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
    team = device.sub_group_size if device.warps and items % device.sub_group_size == 0 else 1
    layout = RingLayout(items, team)
    require_local(device, 4 * (4 * problem.dimension + 2 * layout.workers + 4))
    return layout


def build_program(
    device: DeviceInfo, problem: Problem, settings: RingSettings, layout: RingLayout, *, waits: bool, checked: bool
) -> BuiltProgram:
    """Assemble and build the swarm for a problem's signature; `waits` if groups read what others write."""
    ordering = ordering_of(device)
    kernel = problem.kernel(fine=True)
    constants = {
        **kernel.constants,
        **settings.constants(),
        "LANES": 1,
        "ITEMS": layout.items,
        "TEAM": layout.team,
        **ordering.constants(waits),
        "WARPS": int(layout.team > 1),
        "BY_DIMENSION": int(kernel.by_dimension),
        "BOUNDED": int(kernel.bounded),
        "CONTEXT_SPACE": "__global",
        "CHECKED": int(checked),
        "MAX_POLLS": MAX_POLLS[device.kind],
    }
    numbers = ["common/rng/philox.cl", "common/rng/numbers_of_streams.cl"]
    before = assemble(["common/vector/lanes.cl", *numbers, "common/sync/teams.cl", "common/sync/grid.cl"], constants)
    after = assemble([*kernel.files, "solvers/ring_pso/ring_pso.cl"], {})
    return build(device, "\n".join([before, kernel.source, after]), ordering.options(waits))
