"""How a swarm is laid out on a device, and the program that is specialised for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.opencl import BuiltProgram, DeviceInfo, assemble, build
from reservoir.solvers.problem import Problem
from reservoir.solvers.random_schemes import RandomScheme
from reservoir.solvers.swarm import SMALLEST_VELOCITY, SwarmSettings

VECTOR_WIDTHS = (1, 2, 4, 8, 16)
#: Work items of a group on a GPU: each keeps a particle in registers, and more than this spill.
MOST_ITEMS = 256
#: Left of local memory for what compilers put there themselves.
_LOCAL_RESERVE_BYTES = 1024


@dataclass(frozen=True)
class Layout:
    """Particles of a swarm on a work group: blocks x items x lanes, padded.

    Parameters
    ----------
    lanes : int
        Particles in a vector.
    items : int
        Work items in a group.
    blocks : int
        Vectors in a work item.
    best_in_global : bool
        Personal bests stand in global memory because local memory is too small for them.
    """

    lanes: int
    items: int
    blocks: int
    best_in_global: bool

    @property
    def swarm(self) -> int:
        """Particles with padding."""
        return self.lanes * self.items * self.blocks

    def padded(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        """One value a particle, with zeros for the padding."""
        return np.pad(values, (0, self.swarm - len(values))).astype(np.float32)


def layout_for(
    device: DeviceInfo, problem: Problem, settings: SwarmSettings, lanes: int | None = None, items: int | None = None
) -> Layout:
    """Choose a layout: on a GPU a particle a work item, on a CPU vectors of particles in one work item."""
    if lanes is None:
        lanes = _widest_without_waste(settings.particles, device.native_float_width) if device.kind == "CPU" else 1
    if lanes not in VECTOR_WIDTHS:
        raise InputError(Mistake("no vector has so many lanes", f"one of {VECTOR_WIDTHS}", "choose one", value=lanes))
    vectors = -(-settings.particles // lanes)
    if items is None:
        items = 1 if device.kind == "CPU" else _even_share(vectors, min(MOST_ITEMS, device.max_work_group_size))
    if not 1 <= items <= device.max_work_group_size:
        limit = f"1 to {device.max_work_group_size} on {device.name}"
        raise InputError(Mistake("no work group has so many items", limit, "choose fewer items", value=items))
    blocks = -(-vectors // items)
    swarm = lanes * items * blocks
    needed = 4 * ((problem.dimension + 1) * swarm + len(problem.kernel_context()))
    return Layout(lanes, items, blocks, needed > device.local_memory_bytes - _LOCAL_RESERVE_BYTES)


def _even_share(vectors: int, most: int) -> int:
    """Work items for so many vectors, at most `most`, that leave the fewest idle."""
    blocks = -(-vectors // most)
    return -(-vectors // blocks)


def _widest_without_waste(particles: int, native_width: int) -> int:
    """The vector width that pads a swarm least, the widest of equals; narrower than 4 never pays."""
    widths = [width for width in VECTOR_WIDTHS if 4 <= width <= max(native_width, 4)]
    return min(widths, key=lambda width: (-(-particles // width) * width, -width))


def build_program(
    device: DeviceInfo, problem: Problem, settings: SwarmSettings, scheme: RandomScheme, layout: Layout
) -> BuiltProgram:
    """Assemble and build CLPSO for a problem's signature."""
    kernel = problem.kernel()
    constants = {
        **kernel.constants,
        **scheme.constants(settings, problem.dimension),
        "LANES": layout.lanes,
        "ITEMS": layout.items,
        "BLOCKS": layout.blocks,
        "SWARM": layout.swarm,
        "PARTICLES": settings.particles,
        "GAP": settings.refreshing_gap,
        "ACCELERATION": settings.acceleration,
        "INERTIA_FIRST": settings.inertia_first,
        "INERTIA_FALL": settings.inertia_first - settings.inertia_last,
        "VELOCITY_PART": settings.velocity_part,
        "SMALLEST_VELOCITY": SMALLEST_VELOCITY,
        "CONTEXT_SPACE": "__local",
        "BEST_IN_GLOBAL": int(layout.best_in_global),
        "BEST_SPACE": "__global" if layout.best_in_global else "__local",
        "BEST_FENCE": "CLK_GLOBAL_MEM_FENCE" if layout.best_in_global else "CLK_LOCAL_MEM_FENCE",
    }
    before = assemble(["common/lanes.cl", *scheme.files], constants)
    after = assemble([*kernel.files, "solvers/clpso.cl"], {})
    return build(device, "\n".join([before, kernel.source, after]))
