"""How many multiply-adds a second a device really reaches: measured by a kernel that does nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reservoir.opencl import BuiltProgram, DeviceInfo, Session, assemble, build

#: Multiply-adds that do not wait for each other: two units of four stages are kept busy, in half of sixteen registers.
CHAINS = 8
UNROLLED = 16
#: Vector widths tried on a CPU; elsewhere a work item has one number.
CPU_LANES = (1, 4, 8, 16)
#: Work items for each compute unit: on a CPU one a thread, several times over; elsewhere as many as hide latency.
CPU_ITEMS, ITEMS, GROUP = 8, 4096, 256
#: A measurement takes at least so long on the device; the best of several counts.
LEAST_SECONDS, TRIES = 0.05, 5
_LONGEST_ROUNDS = 2**28


@dataclass(frozen=True)
class ArithmeticLimit:
    """What a device's arithmetic units do at most.

    Parameters
    ----------
    instructions_per_second : dict of int to float
        Multiply-adds of one number a second, by the lanes of a vector.
    """

    instructions_per_second: dict[int, float]

    @property
    def best(self) -> float:
        """Instructions a second at the vector width that suits the device best."""
        return max(self.instructions_per_second.values())


def measure_limit(
    device: DeviceInfo, *, progress: Callable[[int, int], None] = lambda done, total: None
) -> ArithmeticLimit:
    """Measure a device at every vector width.

    Raises
    ------
    DeviceError
        If the device refuses the kernel.
    """
    widths = CPU_LANES if device.kind == "CPU" else (1,)
    found = {}
    for done, lanes in enumerate(widths):
        progress(done, len(widths))
        found[lanes] = _instructions_per_second(device, lanes)
    progress(len(widths), len(widths))
    return ArithmeticLimit(found)


def _instructions_per_second(device: DeviceInfo, lanes: int) -> float:
    group = 1 if device.kind == "CPU" else min(GROUP, device.max_work_group_size)
    items = device.compute_units * (CPU_ITEMS if device.kind == "CPU" else ITEMS)
    constants = {"LANES": lanes, "CHAINS": CHAINS, "UNROLLED": UNROLLED}
    program = build(device, assemble(["common/vector/lanes.cl", "bench/multiply_add.cl"], constants))
    rounds, seconds = 256, _seconds(device, program, items, group, 256)
    while seconds < LEAST_SECONDS and rounds < _LONGEST_ROUNDS:
        rounds *= 2
        seconds = _seconds(device, program, items, group, rounds)
    best = min(seconds, *(_seconds(device, program, items, group, rounds) for _ in range(TRIES - 1)))
    return items * lanes * rounds * UNROLLED * CHAINS / best


def _seconds(device: DeviceInfo, program: BuiltProgram, items: int, group: int, rounds: int) -> float:
    with Session(device) as session:
        session.allocate(sums=(items, np.float32))
        session.run(
            program, "multiply_add", items, group, np.int32(rounds), np.float32(0.999), np.float32(0.001), "sums"
        )
        return session.device_seconds["multiply_add"]
