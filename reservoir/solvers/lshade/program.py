"""How a population of L-SHADE is laid out on a device, and the program that is specialised for it."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.opencl import BuiltProgram, DeviceInfo
from reservoir.problems.base import Problem
from reservoir.solvers.base.program import build_around, memory_constants
from reservoir.solvers.base.work_groups import items_for, lanes_for, local_bytes_of, require_countable, require_private
from reservoir.solvers.lshade.settings import LshadeSettings
from reservoir.solvers.rng.stream import EVEN_IN_16_BITS

#: Floats of a member beside its position: fitness before and after, gain, scale, rate.
_MEMBER_FLOATS = 5
#: Parts that the sums over a population are made in, and floats of a sum.
_PARTS, _SUM_FLOATS = 32, 4
#: Words of a member in its work item beside its positions.
_PRIVATE_WORDS = 6
_FEWER = "choose fewer members_per_dimension, or a smaller archive_fraction"
#: Floats that a context may be padded with.
_ALIGNMENT = 3


@dataclass(frozen=True)
class PopulationLayout:
    """Members of a population: blocks x items x lanes, padded.

    Parameters
    ----------
    lanes : int
        Members in a vector.
    items : int
        Work items of a population.
    blocks : int
        Vectors in a work item.
    pool_in_global : bool
        Members and archive stand in global memory because local memory is too small for them.
    """

    lanes: int
    items: int
    blocks: int
    pool_in_global: bool

    @property
    def members(self) -> int:
        """Members of the first population, with padding."""
        return self.lanes * self.items * self.blocks


def layout_for(device: DeviceInfo, problem: Problem, settings: LshadeSettings) -> PopulationLayout:
    """On a GPU a work item has a member; on a CPU one work item has a population, in vectors."""
    first = settings.first_members(problem.dimension)
    lanes = lanes_for(device, first, settings.lanes)
    vectors = -(-first // lanes)
    items = items_for(device, vectors, settings.items)
    blocks = -(-vectors // items)
    members = lanes * items * blocks
    pool = problem.dimension * (members + settings.archive(problem.dimension))
    require_countable(pool, "a population with its archive", _FEWER)
    private = 4 * blocks * lanes * (2 * problem.dimension + _PRIVATE_WORDS)
    require_private(device, private, f"a population of {first:,} members", _FEWER)
    floats = pool + _MEMBER_FLOATS * members
    words = (
        2 * (members // 32 + 1)
        + 3 * settings.memory
        + _SUM_FLOATS * _PARTS
        + len(problem.kernel_context())
        + _ALIGNMENT
    )
    pool_in_global = 4 * (floats + words) > local_bytes_of(device)
    return PopulationLayout(lanes=lanes, items=items, blocks=blocks, pool_in_global=pool_in_global)


def build_program(
    device: DeviceInfo, problem: Problem, settings: LshadeSettings, layout: PopulationLayout
) -> BuiltProgram:
    """Assemble and build L-SHADE for a problem's program key."""
    kernel = problem.kernel(fine=True)
    pool = layout.members + settings.archive(problem.dimension)
    constants = {
        **settings.constants(problem.dimension),
        **memory_constants("POOL", layout.pool_in_global),
        "LANES": layout.lanes,
        "ITEMS": layout.items,
        "BLOCKS": layout.blocks,
        "MEMBERS": layout.members,
        "PARTS": _PARTS,
        "WIDE_DRAWS": int(max(pool, problem.dimension) > EVEN_IN_16_BITS),
        "CONTEXT_SPACE": "__local",
    }
    files = ["rng/philox", "rng/random_stream", "rng/noise", "rng/distributions", "sync/group_barrier"]
    before = [f"common/{file}.cl" for file in files]
    return build_around(kernel, device, constants, before=before, after=["solvers/lshade/lshade.cl"])
