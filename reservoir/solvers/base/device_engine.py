"""What every engine on OpenCL devices does: share problems among launches, build, upload, run, download, certify."""

from __future__ import annotations

import sys
import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from reservoir.opencl import BuiltProgram, DeviceInfo, HostClock, Session, choose_devices
from reservoir.problems.base import Problem, kernel_contexts, rng_stream_ids
from reservoir.solvers.base.engine import Engine, S
from reservoir.solvers.base.launches import launch_all
from reservoir.solvers.base.progress import Progress
from reservoir.solvers.base.solution import EngineResults, LaunchResult, Solutions, to_solutions
from reservoir.solvers.rng.stream import seed_words

#: An argument as `Session.run` takes it: the name of a buffer, or a scalar.
Argument = str | np.generic


class Layout(Protocol):
    """How an engine lays a population out on a device; each engine has a class of its own."""

    @property
    def items(self) -> int:
        """Work items of a group."""


L = TypeVar("L", bound=Layout)


@dataclass(frozen=True, eq=False)
class Launch(Generic[L]):
    """Problems of one program key at work on a device.

    Parameters
    ----------
    problems : sequence of Problem
    layout : Layout
    program : BuiltProgram
    session : Session
        Open on the device.
    clock : HostClock
        Counts the host's seconds.
    seed : int
    """

    problems: Sequence[Problem]
    layout: L
    program: BuiltProgram
    session: Session
    clock: HostClock
    seed: int

    def arguments(self, **table: NDArray[Any] | tuple[int | tuple[int, ...], DTypeLike] | np.generic) -> list[Argument]:
        """Put a kernel's arguments on the device, named and in its order.

        Arrays are uploaded, buffers of a (shape, dtype) are allocated and cleared, scalars are passed as they are.
        """
        if arrays := {name: each for name, each in table.items() if isinstance(each, np.ndarray)}:
            self.session.upload(**arrays)
        if buffers := {name: each for name, each in table.items() if isinstance(each, tuple)}:
            self.session.allocate(**buffers)
        return [each if isinstance(each, np.generic) else name for name, each in table.items()]

    def contexts(self) -> list[Argument]:
        """Arguments of the problems' contexts, a row each, and of the length of a row."""
        contexts = kernel_contexts(self.problems)
        return self.arguments(contexts=contexts, context_size=np.int32(contexts.shape[1]))

    def random_streams(self) -> list[Argument]:
        """Arguments of the product's own random numbers: the seed's two words, and the problems' streams."""
        low, high = seed_words(self.seed)
        streams = rng_stream_ids(self.problems)
        return self.arguments(seed_low=np.uint32(low), seed_high=np.uint32(high), streams=streams)

    def run(self, kernel: str, groups: int, *arguments: Argument, items: int | None = None) -> None:
        """Queue a kernel over so many work groups, of as many items as the layout has unless told otherwise."""
        items = items or self.layout.items
        self.session.run(self.program, kernel, groups * items, items, *arguments)

    def download(self, *names: str) -> list[NDArray[Any]]:
        """Copy buffers back."""
        return [self.session.download(name) for name in names]


class DeviceEngine(Engine[S]):
    """An engine that shares problems among devices, and each device's among launches."""

    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve problems on one device, or on several at once; problems of each program key are launched together."""
        self.require_solvable(problems)
        devices = choose_devices(device)
        self.require_devices(devices)
        started = time.perf_counter()
        launched = launch_all(problems, devices, self._most_problems, self.launch, progress, self.stops)
        wall_seconds = time.perf_counter() - started
        names = Counter(each.name for each in devices)
        return to_solutions(
            problems,
            launched.found,
            settings=self.record(),
            of_device={
                key: ", ".join(dict.fromkeys(getattr(each, key) for each in devices)) for key in ("platform", "driver")
            },
            solver=self.name,
            device=", ".join(name if count == 1 else f"{count} x {name}" for name, count in names.items()),
            wall_seconds=wall_seconds,
            device_seconds=launched.device_seconds,
            host_seconds_by_phase=launched.host_seconds_by_phase,
        )

    def require_devices(self, devices: Sequence[DeviceInfo]) -> None:
        """Refuse devices that the settings do not fit, by an InputError."""

    def _most_problems(self, device: DeviceInfo, problem: Problem) -> int:
        """As `most_problems`; where a caller may stop the run, one for each compute unit if launches may be cut."""
        most = self.most_problems(device, problem)
        return most if self.stop is None or most == sys.maxsize else min(most, device.compute_units)

    @abstractmethod
    def most_problems(self, device: DeviceInfo, problem: Problem) -> int:
        """Problems like this of a launch: few enough to report progress and be interrupted, enough to fill a device."""

    @abstractmethod
    def launch(self, device: DeviceInfo, problems: Sequence[Problem]) -> LaunchResult:
        """Solve problems of one program key on a device at once."""


class PopulationEngine(DeviceEngine[S], Generic[S, L]):
    """A device engine whose launch is one session: upload populations, run all generations, download the best."""

    #: Evaluations of one launch, about, by the kind of device; see `most_problems`.
    launch_evaluations: ClassVar[dict[str, int]]

    def most_problems(self, device: DeviceInfo, problem: Problem) -> int:
        """At least one for each compute unit."""
        return max(device.compute_units, self.launch_evaluations[device.kind] // self.evaluations)

    def launch(self, device: DeviceInfo, problems: Sequence[Problem]) -> LaunchResult:
        """Lay out, build and run."""
        layout, clock = self.layout(device, problems), HostClock()
        with clock("build"):
            program = self.build(device, problems[0], layout)
        with Session(device, clock) as session:
            found = self.run(Launch(problems, layout, program, session, clock, self.seed))
            device_seconds = sum(session.device_seconds.values())
        return LaunchResult(found=found, device_seconds=device_seconds, host_seconds_by_phase=clock.seconds)

    @property
    @abstractmethod
    def evaluations(self) -> int:
        """Evaluations of a problem, about."""

    @abstractmethod
    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> L:
        """How problems of one program key are laid out; DeviceError or InputError if the device cannot hold that."""

    @abstractmethod
    def build(self, device: DeviceInfo, problem: Problem, layout: L) -> BuiltProgram:
        """The program, specialised for a problem's program key."""

    @abstractmethod
    def run(self, launch: Launch[L]) -> EngineResults:
        """Upload, run and download; what was found for each problem."""


def choices(layout: Any, *names: str) -> Mapping[str, Any]:
    """What a layout chose, to be recorded with a result."""
    return {name: getattr(layout, name) for name in names}
