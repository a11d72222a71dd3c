"""How a swarm is laid out on a device, and the program that is specialised for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.opencl import BuiltProgram, DeviceInfo, assemble, build
from reservoir.solvers.problem import Problem
from reservoir.solvers.random_schemes import RandomScheme
from reservoir.solvers.swarm import SwarmSettings

VECTOR_WIDTHS = (1, 2, 4, 8, 16)
#: Work items of a group on a GPU: each keeps a particle in registers, and more than this spill.
MOST_ITEMS = 256
#: What a vector costs beside its lanes, in lanes; measured with 4, 8 and 16 lanes on a CPU with AVX-512.
VECTOR_COST_LANES = 11
#: Work items that a GPU runs in step; its groups are whole multiples of them.
WARP = 32
#: Swarms for each compute unit from which on a group takes several: before, every swarm has a unit of its own.
MANY_SWARMS = 4
#: Floats that a swarm's context and velocities may be padded with.
_ALIGNMENT = 6
#: Left of local memory for what compilers put there themselves.
_LOCAL_RESERVE_BYTES = 1024


@dataclass(frozen=True)
class Layout:
    """Particles of a swarm: blocks x items x lanes, padded; and swarms on a work group.

    Parameters
    ----------
    lanes : int
        Particles in a vector.
    items : int
        Work items of a swarm.
    blocks : int
        Vectors in a work item.
    swarms : int
        Swarms in a group.
    best_in_global : bool
        Personal bests stand in global memory because local memory is too small for them.
    """

    lanes: int
    items: int
    blocks: int
    swarms: int
    best_in_global: bool

    @property
    def swarm(self) -> int:
        """Particles with padding."""
        return self.lanes * self.items * self.blocks

    def padded(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        """One value a particle, with zeros for the padding."""
        return np.pad(values, (0, self.swarm - len(values))).astype(np.float32)


def layout_for(
    device: DeviceInfo,
    problem: Problem,
    count: int,
    settings: SwarmSettings,
    lanes: int | None = None,
    items: int | None = None,
    swarms: int | None = None,
) -> Layout:
    """Choose a layout for `count` problems.

    On a GPU a work item has a particle, and a group several swarms where there are more than enough of them; on a CPU
    one work item has a swarm, in vectors.
    """
    if lanes is None:
        lanes = _cheapest_width(settings.particles, device.native_float_width) if device.kind == "CPU" else 1
    if lanes not in VECTOR_WIDTHS:
        raise InputError(Mistake("no vector has so many lanes", f"one of {VECTOR_WIDTHS}", "choose one", value=lanes))
    vectors = -(-settings.particles // lanes)
    most = min(MOST_ITEMS, device.max_work_group_size)
    if items is None:
        items = 1 if device.kind == "CPU" else _even_share(vectors, most)
    _check_group(device, items, 1 if swarms is None else swarms)
    blocks = -(-vectors // items)
    swarm = lanes * items * blocks
    local_bytes = device.local_memory_bytes - _LOCAL_RESERVE_BYTES
    if swarms is None:
        room = min(most // items, local_bytes // _local_bytes(problem, swarm, lanes, 2) * 2)
        many = device.kind != "CPU" and count >= MANY_SWARMS * device.compute_units
        swarms = _fullest_group(items, room) if many else 1
    return Layout(lanes, items, blocks, swarms, _local_bytes(problem, swarm, lanes, swarms) > local_bytes)


def _local_bytes(problem: Problem, swarm: int, lanes: int, swarms: int) -> int:
    """Local memory of a group: personal bests, context and largest velocities; and a shared choice of exemplars."""
    floats = (problem.dimension + 1) * swarm + len(problem.kernel_context()) + problem.dimension + _ALIGNMENT
    shared = (problem.dimension + 2) * swarm + 1 if lanes == 1 and swarms > 1 else 0
    return 4 * swarms * (floats + shared)


def _check_group(device: DeviceInfo, items: int, swarms: int) -> None:
    if items < 1 or swarms < 1 or items * swarms > device.max_work_group_size:
        limit = f"1 to {device.max_work_group_size} on {device.name}"
        mend = "choose fewer items, or fewer swarms a group" if items * swarms > 1 else "choose more"
        raise InputError(Mistake("no work group has so many items", limit, mend, value=items * swarms))


def _fullest_group(items: int, most: int) -> int:
    """Swarms of so many items that leave the fewest work items of a group's warps idle, the fewest of equals."""
    return min(
        range(1, max(most, 1) + 1), key=lambda swarms: (-(-swarms * items // WARP) * WARP / (swarms * items), swarms)
    )


def _even_share(vectors: int, most: int) -> int:
    """Work items for so many vectors, at most `most`, that leave the fewest idle."""
    blocks = -(-vectors // most)
    return -(-vectors // blocks)


def _cheapest_width(particles: int, native_width: int) -> int:
    """The vector width, up to the device's own, in which a swarm takes the least time; the widest of equals."""
    widths = [width for width in VECTOR_WIDTHS if 4 <= width <= max(native_width, 4)]
    return min(widths, key=lambda width: (-(-particles // width) * (width + VECTOR_COST_LANES), -width))


def build_program(
    device: DeviceInfo, problem: Problem, settings: SwarmSettings, scheme: RandomScheme, layout: Layout
) -> BuiltProgram:
    """Assemble and build CLPSO for a problem's signature."""
    kernel = problem.kernel()
    constants = {
        **kernel.constants,
        **settings.constants(),
        **scheme.constants(settings, problem.dimension),
        "LANES": layout.lanes,
        "ITEMS": layout.items,
        "BLOCKS": layout.blocks,
        "SWARMS": layout.swarms,
        "SWARM": layout.swarm,
        "CONTEXT_SPACE": "__local",
        "BEST_IN_GLOBAL": int(layout.best_in_global),
        "BEST_SPACE": "__global" if layout.best_in_global else "__local",
        "BEST_FENCE": "CLK_GLOBAL_MEM_FENCE" if layout.best_in_global else "CLK_LOCAL_MEM_FENCE",
    }
    before = assemble(["common/lanes.cl", *scheme.files], constants)
    after = assemble([*kernel.files, "solvers/clpso.cl"], {})
    return build(device, "\n".join([before, kernel.source, after]))
