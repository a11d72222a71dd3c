"""How a population of L-SHADE is laid out on a device."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem
from reservoir.solvers.base.blocks import Blocks
from reservoir.solvers.base.work_groups import local_bytes_of, require_countable, require_private
from reservoir.solvers.lshade.settings import DeviceLshadeSettings


@dataclass(frozen=True)
class PopulationLayout(Blocks):
    """The first population.

    Parameters
    ----------
    pool_in_global : bool
        Members and archive stand in global memory because local memory is too small for them.
    """

    pool_in_global: bool


#: Floats of a member beside its position: fitness before and after, gain, scale, rate.
_MEMBER_FLOATS = 5
#: Parts that the sums over a population are made in, and floats of a sum.
PARTS, _SUM_FLOATS = 32, 4
#: Words of a member in its work item beside its positions.
_PRIVATE_WORDS = 6
_FEWER = "choose fewer members_per_dimension, or a smaller archive_fraction"
#: Floats that a context may be padded with.
_ALIGNMENT = 3


def layout_for(device: DeviceInfo, problem: Problem, settings: DeviceLshadeSettings) -> PopulationLayout:
    """On a GPU a work item has a member; on a CPU one work item has a population, in vectors."""
    first = settings.first_members(problem.dimension)
    blocks = Blocks.of(device, first, settings.lanes, settings.items)
    members = blocks.padded
    pool = problem.dimension * (members + settings.archive(problem.dimension))
    require_countable(pool, "a population with its archive", _FEWER)
    private = 4 * members // blocks.items * (2 * problem.dimension + _PRIVATE_WORDS)
    require_private(device, private, f"a population of {first:,} members", _FEWER)
    floats = pool + _MEMBER_FLOATS * members
    words = (
        2 * (members // 32 + 1) + 3 * settings.memory + _SUM_FLOATS * PARTS + len(problem.kernel_context()) + _ALIGNMENT
    )
    pool_in_global = 4 * (floats + words) > local_bytes_of(device)
    return PopulationLayout(**vars(blocks), pool_in_global=pool_in_global)
