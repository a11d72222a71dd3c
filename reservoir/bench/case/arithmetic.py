"""What a device's arithmetic allows: multiply-adds a second as measured, and instructions of a particle's move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reservoir.bench.setup import DeviceSetup
from reservoir.hydro.curves.approximation import Form
from reservoir.hydro.curves.forms import PolynomialForm
from reservoir.opencl import BuiltProgram, DeviceInfo, Session, assemble, build
from reservoir.problems.reservoir.year import ReservoirYear

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
    """What a device's arithmetic units do at most: multiply-adds of one number a second, by the lanes of a vector."""

    instructions_per_second: dict[int, float]

    @property
    def best(self) -> float:
        """Instructions a second at the vector width that suits the device best."""
        return max(self.instructions_per_second.values())


def measure_limit(setup: DeviceSetup) -> ArithmeticLimit:
    """Measure a device at every vector width; DeviceError if it refuses the kernel."""
    widths = CPU_LANES if setup.device.kind == "CPU" else (1,)
    measured = setup.tracked("arithmetic limit", widths)
    return ArithmeticLimit({lanes: _instructions_per_second(setup.device, lanes) for lanes in measured})


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


#: CLPSO, eq. 1-3, in one dimension: xoshiro128+ takes 10 integer operations and 4 to become a number in a range.
PER_DIMENSION = {"random number": 14, "velocity": 5, "position": 1, "bounds test": 4}
#: A step of a year that repair always mends, eq. 6-9 and 16-19, without the curves.
PER_STEP = {"water balance": 2, "reach": 2, "repair": 2, "mean storage": 2, "head and power": 4, "energy": 1}
#: In a cyclic year the reach of a step follows the start storage.
CYCLIC_REACH = 6
#: Energy in GWh, comparison with the personal best, counters.
PER_MOVE = 5
#: A curve: to the polynomial's range, then one for each degree; or two entries of a table, joined.
POLYNOMIAL, EVEN_TABLE = 1, 10


def curve_operations(form: Form) -> int:
    """Instructions of one look at a curve."""
    return POLYNOMIAL + len(form.coefficients) - 1 if isinstance(form, PolynomialForm) else EVEN_TABLE


def operations_per_move(year: ReservoirYear) -> int:
    """Instructions of one move of one particle, and of the fitness of where it comes to."""
    curves = sum(_curves(year).values())
    step = sum(PER_STEP.values()) + curves + year.limits.cyclic * CYCLIC_REACH
    return year.dimension * sum(PER_DIMENSION.values()) + year.limits.steps * step + PER_MOVE


def rule(year: ReservoirYear) -> str:
    """How the count comes about, in words."""
    curves = ", ".join(f"{name} {count}" for name, count in _curves(year).items())
    cyclic = f", {CYCLIC_REACH} more in a cyclic year" if year.limits.cyclic else ""
    return (
        "One instruction each: a fused multiply-add, another float operation, a minimum or maximum, a comparison or "
        "selection, a conversion, a 32-bit integer operation. A move takes "
        f"{_sum(PER_DIMENSION)} in each of {year.dimension} dimensions; {_sum(PER_STEP)}{cyclic} and the curves "
        f"({curves}) in each of {year.limits.steps} steps; and {PER_MOVE} once: {operations_per_move(year):,} in all. "
        "Memory access, loops and the choice of exemplars are not counted; moves that leave the bounds are counted."
    )


def _curves(year: ReservoirYear) -> dict[str, int]:
    plant = year.model.approximation.plant
    return {name: curve_operations(getattr(plant, name)) for name in ("level", "tailrace", "conversion", "capacity")}


def _sum(parts: dict[str, int]) -> str:
    return f"{sum(parts.values())} ({', '.join(f'{name} {count}' for name, count in parts.items())})"
