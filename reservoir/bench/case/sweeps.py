"""Which points a scaling experiment measures: sweeps that change one thing at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reservoir.bench.case.arithmetic_limit import CPU_LANES
from reservoir.bench.run_budget import RunBudget
from reservoir.opencl import DeviceInfo

PARTICLES = 40
#: What is changed -> how a figure names it.
SWEEPS = {
    "years": "Years",
    "particles": "Particles of a swarm",
    "generations": "Generations",
    "lanes": "Lanes of a vector",
    "swarms": "Years a work group",
    "devices": "Devices",
}


@dataclass(frozen=True)
class Sizes:
    """The points of every sweep.

    Parameters
    ----------
    years : tuple of int
        Beside those of the record, where there are more.
    particles, generations, lanes, swarms : tuple of int
        Widths of vectors are of a CPU; elsewhere a work item has one particle.
    many_years : int
        As many as fill a GPU; a CPU is full with a few.
    """

    years: tuple[int, ...]
    particles: tuple[int, ...]
    generations: tuple[int, ...]
    lanes: tuple[int, ...]
    swarms: tuple[int, ...]
    many_years: int


FULL = Sizes(
    years=(200, 1000, 3000, 10_000, 30_000, 100_000),
    particles=(16, 32, 40, 64, 128, 256, 512),
    generations=(100, 300, 1000, 3000, 10_000, 30_000),
    lanes=CPU_LANES,
    swarms=(1, 2, 3, 4, 6),
    many_years=10_000,
)
#: Every other layout is another program, which takes a driver seconds to compile.
QUICK = Sizes((200,), (16, PARTICLES), (100, 300), (4, 16), (1, 2), 200)


@dataclass(frozen=True)
class Point:
    """A point of a sweep.

    Parameters
    ----------
    sweep : str
        What is changed: a key of `SWEEPS`.
    years, particles : int
    generations : int or None
        As many as fill the time of a point, if None.
    lanes, swarms : int or None
        Layout of the device; the engine's own choice, if None.
    devices : int
        Devices that share the years.
    """

    sweep: str
    years: int
    particles: int = PARTICLES
    generations: int | None = None
    lanes: int | None = None
    swarms: int | None = None
    devices: int = 1

    @property
    def value(self) -> int:
        """Where on its sweep's axis it lies."""
        found = getattr(self, self.sweep)
        assert isinstance(found, int)
        return found

    def options(self) -> dict[str, Any]:
        """Settings of the engine, but for generations."""
        layout = {name: getattr(self, name) for name in ("lanes", "swarms") if getattr(self, name) is not None}
        return {"particles": self.particles, **layout}


def sweep_points(record_years: int, device: DeviceInfo, devices: int, effort: RunBudget) -> Iterator[Point]:
    """All points, sweep after sweep.

    Parameters
    ----------
    record_years : int
        Years of the record.
    device : DeviceInfo
    devices : int
        Devices of its kind that could share the work.
    effort : RunBudget
    """
    sizes = QUICK if effort.quick else FULL
    many = record_years if device.kind == "CPU" else max(sizes.many_years, record_years)
    for years in (record_years, *(each for each in sizes.years if each > record_years)):
        yield Point("years", years)
    for particles in sizes.particles:
        yield Point("particles", many, particles=particles)
    for generations in sizes.generations:
        yield Point("generations", record_years, generations=generations)
    for lanes in sizes.lanes if device.kind == "CPU" else (1,):
        yield Point("lanes", many, lanes=lanes)
    for swarms in sizes.swarms:
        yield Point("swarms", many, swarms=swarms)
    for count in range(1, devices + 1) if devices > 1 else ():
        yield Point("devices", max(sizes.years[-1], record_years), devices=count)
