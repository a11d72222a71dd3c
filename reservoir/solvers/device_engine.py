"""Engines on OpenCL devices: programs, sizes of work groups, launches, and what is common to their runs."""

from __future__ import annotations

import sys
import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from reservoir.errors import DeviceError, InputError
from reservoir.opencl import BuiltProgram, DeviceInfo, HostClock, Session, assemble, build, choose_devices, ordering_of
from reservoir.problems.base import (
    KernelProblem,
    Problem,
    by_program_key,
    certify_all,
    kernel_contexts,
    rng_stream_ids,
    take,
)
from reservoir.solvers.engine import Engine, Progress, S, meanwhile
from reservoir.solvers.rng import seed_words
from reservoir.solvers.settings import Positions
from reservoir.solvers.solution import EngineResults, Solutions, joined_results, to_solutions


def build_around(
    kernel: KernelProblem,
    device: DeviceInfo,
    constants: Mapping[str, int | float | str],
    *,
    common: Sequence[str],
    after: Sequence[str],
    options: Sequence[str] = (),
) -> BuiltProgram:
    """Assemble and build an engine's program for a problem.

    Parameters
    ----------
    kernel : KernelProblem
    device : DeviceInfo
    constants : mapping
        Macros, beside the problem's.
    common, after : sequence of str
        Kernel files below ``kernels/common`` that the problem's may use, behind those of vectors, and files that use
        the problem's; all without their ending.
    options : sequence of str
        Of the compiler.
    """
    before = [f"common/{name}.cl" for name in ("vector/lanes", *common)]
    head = assemble(before, {**kernel.constants, **constants})
    tail = assemble([*kernel.files, *(f"{name}.cl" for name in after)], {})
    tail = tail.replace("#pragma unroll\n", "#pragma unroll 1\n") if kernel.looped else tail
    return build(device, "\n".join([head, kernel.source, tail]), options)


def memory_constants(name: str, in_global: bool) -> dict[str, int | str]:
    """Macros of an array of a work group: whether it stands in global memory, its address space, and its fence."""
    space = "global" if in_global else "local"
    return {
        f"{name}_IN_GLOBAL": int(in_global),
        f"{name}_SPACE": f"__{space}",
        f"{name}_FENCE": f"CLK_{space.upper()}_MEM_FENCE",
    }


#: Looks at the verdict until a group gives up that the others are there: some tenths of a second.
MAX_POLLS = {"GPU": 200_000, "accelerator": 200_000, "CPU": 20_000_000}

#: The verdict, as the kernels' `CO_RESIDENT`.
_CO_RESIDENT = 2


def require_ordering(device: DeviceInfo, what: str, mend: str) -> None:
    """Refuse a device whose groups cannot show each other what they write, in order; DeviceError says whose do so."""
    if not ordering_of(device).promised:
        problem = (
            f"work groups of {what} exchange data while they run, and {device.name} does not guarantee memory ordering"
        )
        expected = "OpenCL C 2.0, OpenCL C 3.0 with device-scope atomics, or CUDA"
        raise DeviceError(problem, expected, mend)


def co_resident(session: Session) -> bool:
    """Whether all groups of the launch that filled the buffer ``probe`` were at work at once; waits for it."""
    return bool(session.download("probe")[1] == _CO_RESIDENT)


VECTOR_WIDTHS = (1, 2, 4, 8, 16)
#: Work items of a group on a GPU, unless asked for: each keeps a particle in registers, and more than this spill.
MOST_ITEMS = 256
#: What a vector costs beside its lanes, in lanes; measured with 4, 8 and 16 lanes on a CPU with AVX-512.
VECTOR_COST_LANES = 11
#: Numbers that a kernel can count in 32 bits.
MOST_NUMBERS = 2**31 - 1
#: What a thread's stack is taken for where the system does not tell.
USUAL_STACK_BYTES = 2 << 20
#: Left of local memory for what compilers put there themselves; a kernel's own arrays may take the rest.
LOCAL_RESERVE_BYTES = 1024


def lanes_for(device: DeviceInfo, particles: int, lanes: int | None) -> int:
    """Lanes of a vector: as asked, or chosen for the device; InputError if no vector has so many."""
    if lanes is None and device.kind == "CPU":  # of widths up to the device's own that of the least time, the widest
        widths = [width for width in VECTOR_WIDTHS if 4 <= width <= max(device.native_float_width, 4)]
        lanes = min(widths, key=lambda width: (-(-particles // width) * (width + VECTOR_COST_LANES), -width))
    lanes = 1 if lanes is None else lanes
    if lanes not in VECTOR_WIDTHS:
        raise InputError(
            "the number of lanes is not a supported vector width",
            f"one of {', '.join(map(str, VECTOR_WIDTHS))}",
            "choose one of them",
            value=lanes,
        )
    return lanes


def items_for(device: DeviceInfo, vectors: int, items: int | None, swarms: int = 1) -> int:
    """Work items for so many vectors, as asked or chosen for the device.

    On a CPU one item has all vectors, since it gains nothing from more. InputError if a group cannot hold the items of
    so many swarms.
    """
    if items is None:
        blocks = -(-vectors // min(MOST_ITEMS, device.max_work_group_size))  # as few items idle as can be
        items = 1 if device.kind == "CPU" else -(-vectors // blocks)
    if items < 1 or swarms < 1 or items * swarms > device.max_work_group_size:
        limit = f"1 to {device.max_work_group_size} on {device.name}"
        mend = "choose fewer items, or fewer swarms per group" if items * swarms > 1 else "choose more items"
        raise InputError("the work group size is out of range", limit, mend, value=items * swarms)
    return items


def team_of(device: DeviceInfo, items: int) -> int:
    """Items of a group that exchange in registers: a warp where the device has them in whole, or 1."""
    return device.sub_group_size if device.warps and items % device.sub_group_size == 0 else 1


def require_countable(numbers: int, what: str, mend: str) -> None:
    """Refuse more numbers of one problem than a kernel can count; InputError says what has them."""
    if numbers > MOST_NUMBERS:
        raise InputError(f"{what} has too many values", f"at most {MOST_NUMBERS:,}", mend, value=numbers)


def require_private(device: DeviceInfo, needed_bytes: int, what: str, mend: str) -> None:
    """Refuse a work item with more memory of its own than the stack of a CPU's thread can hold beside its calls.

    Other devices' drivers refuse for themselves. DeviceError says what to reduce.
    """
    stack = USUAL_STACK_BYTES
    with suppress(ImportError):  # on Windows
        import resource

        limit = resource.getrlimit(resource.RLIMIT_STACK)[0]
        stack = USUAL_STACK_BYTES if limit in (resource.RLIM_INFINITY, -1) else limit
    if device.kind == "CPU" and needed_bytes > stack // 2:
        problem = f"{what} needs {needed_bytes:,} bytes of private memory per work item on {device.name}"
        raise DeviceError(problem, f"at most {stack // 2:,} bytes", mend)


@dataclass(frozen=True)
class Blocks:
    """Members of a population: blocks x items x lanes, padded."""

    lanes: int  # members in a vector
    items: int  # work items of a population
    blocks: int  # vectors in a work item

    @property
    def padded(self) -> int:
        """Members with padding."""
        return self.lanes * self.items * self.blocks

    @staticmethod
    def of(device: DeviceInfo, members: int, lanes: int | None, items: int | None, *, populations: int = 1) -> Blocks:
        """So many members, with lanes and items as asked or chosen for a device; of some populations a group."""
        lanes = lanes_for(device, members, lanes)
        vectors = -(-members // lanes)
        items = items_for(device, vectors, items, populations)
        return Blocks(lanes=lanes, items=items, blocks=-(-vectors // items))

    def constants(self) -> dict[str, int]:
        """Macros."""
        return {"LANES": self.lanes, "ITEMS": self.items, "BLOCKS": self.blocks}


#: An argument as `Session.run` takes it: the name of a buffer, or a scalar.
Argument = str | np.generic


@dataclass(frozen=True, eq=False)
class Launch:
    """Problems of one program key at work on a device."""

    problems: Sequence[Problem]
    layout: Any  # the engine's: how it lays a population out, with the work items of a group as ``items``
    program: BuiltProgram
    session: Session  # open on the device
    clock: HostClock  # counts the host's seconds
    seed: int
    first: Positions | None = None  # that populations begin with, shape (problems, n, dimension)

    def arguments(self, **table: NDArray[Any] | tuple[int | tuple[int, ...], DTypeLike] | np.generic) -> list[Argument]:
        """Put a kernel's arguments on the device, named and in its order.

        Arrays are uploaded, buffers of a (shape, dtype) are allocated and cleared, scalars are passed as they are.
        """
        self.session.upload(**{name: each for name, each in table.items() if isinstance(each, np.ndarray)})
        self.session.allocate(**{name: each for name, each in table.items() if isinstance(each, tuple)})
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


#: Places of the problems of each launch of each device.
Launches = dict[DeviceInfo, list[Sequence[int]]]


class DeviceEngine(Engine[S]):
    """An engine that shares problems among devices, and each device's among launches."""

    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve problems on one device, or on several at once; problems of each program key are launched together."""
        self.require_solvable(problems)
        devices = choose_devices(device)
        started = time.perf_counter()
        launches = self.launches(problems, devices)
        clocks = {each: HostClock() for each in launches}
        seconds, lock, stop = dict.fromkeys(launches, 0.0), Lock(), Event()
        places, results = list[int](), list[EngineResults]()

        def note(device: DeviceInfo, some: Sequence[int], result: EngineResults, device_seconds: float) -> None:
            """Keep what a launch found; the caller may stop the run, and other devices end with theirs."""
            with lock:
                seconds[device] += device_seconds
                results.append(result)
                places.extend(some)
                progress(len(places), len(problems))
                if self.stops(take(problems, some), result["position"], len(problems)):
                    stop.set()

        def work(device: DeviceInfo) -> None:
            for some in launches[device]:
                if not stop.is_set():
                    note(device, some, *self.launch(device, take(problems, some), some, clocks[device]))

        if len(launches) == 1:
            ((only, every),) = launches.items()
            for some in every:
                if not stop.is_set():
                    note(only, some, *self.launch(only, take(problems, some), some, clocks[only]))
        else:
            with ThreadPoolExecutor(len(launches)) as pool:
                try:
                    list(pool.map(work, launches))
                except BaseException:
                    stop.set()  # the other devices end with the launch that they are at
                    raise
        wall_seconds, names = time.perf_counter() - started, Counter(each.name for each in launches)
        order = np.argsort(places)
        gaps = np.flatnonzero(np.asarray(places)[order] != np.arange(len(order)))
        leading = order[: gaps[0]] if gaps.size else order  # the problems before the first that is not solved
        columns = joined_results(results)
        if not np.array_equal(leading, np.arange(len(places))):
            columns = {name: column[leading] for name, column in columns.items()}
        return to_solutions(
            problems,
            columns,
            settings=self.record(),
            of_device={
                key: ", ".join(dict.fromkeys(getattr(each, key) for each in launches)) for key in ("platform", "driver")
            },
            solver=self.name,
            device=", ".join(name if count == 1 else f"{count} x {name}" for name, count in names.items()),
            wall_seconds=wall_seconds,
            device_seconds=max(seconds.values()),
            host_seconds_by_phase=dict(sum((Counter(each.seconds) for each in clocks.values()), Counter[str]())),
        )

    def launches(self, problems: Sequence[Problem], devices: Sequence[DeviceInfo]) -> Launches:
        """The launches, of one program key each, of each device that gets any.

        Devices share the problems by their compute units. Where a caller may stop the run, a launch has a problem for
        each compute unit, if launches may be cut.
        """
        launches: Launches = {device: [] for device in devices}
        units = np.cumsum([0, *(device.compute_units for device in devices)]).tolist()
        for group in by_program_key(problems).values():
            for place, device in enumerate(devices):
                part = group[len(group) * units[place] // units[-1] : len(group) * units[place + 1] // units[-1]]
                most = self.most_problems(device, problems[group[0]])
                if self.stop is not None and most != sys.maxsize:
                    most = min(most, device.compute_units)
                count = -(-len(part) // max(most, 1))
                launches[device] += [
                    part[len(part) * launch // count : len(part) * (launch + 1) // count] for launch in range(count)
                ]
        return {device: every for device, every in launches.items() if every}

    @abstractmethod
    def most_problems(self, device: DeviceInfo, problem: Problem) -> int:
        """Problems like this of a launch: few enough to report progress and be interrupted, enough to fill a device.

        As many as ``sys.maxsize`` where launches may not be cut.
        """

    @abstractmethod
    def launch(
        self, device: DeviceInfo, problems: Sequence[Problem], places: Sequence[int], clock: HostClock
    ) -> tuple[EngineResults, float]:
        """Solve problems of one program key, which have these places in the call, on a device at once.

        Returns what was found for each, and the seconds that the device was busy; `clock` counts those of the host.
        """


class PopulationEngine(DeviceEngine[S]):
    """A device engine whose launch is one session: upload populations, run all generations, download the best."""

    #: Evaluations of one launch, about, by the kind of device; see `most_problems`.
    launch_evaluations: ClassVar[dict[str, int]]

    def most_problems(self, device: DeviceInfo, problem: Problem) -> int:
        """At least one for each compute unit."""
        evaluations: int = self.settings.work["evaluations"]
        return max(device.compute_units, self.launch_evaluations[device.kind] // evaluations)

    def launch(
        self, device: DeviceInfo, problems: Sequence[Problem], places: Sequence[int], clock: HostClock
    ) -> tuple[EngineResults, float]:
        """Lay out, build and run."""
        layout = self.layout(device, problems)
        first = np.stack([self.first[place] for place in places]) if self.first else None
        # What certifies solutions is compiled meanwhile, by certifying the middles of some bounds.
        middles = [(each.lower + each.upper) / 2 for each in problems[:2]]
        certified = partial(certify_all, problems[:2], middles)
        with clock("build"), meanwhile(certified, once=("certify", problems[0].program_key)):
            program = self.build(device, problems[0], layout)
        with Session(device, clock) as session:
            results = self.run(Launch(problems, layout, program, session, clock, self.seed, first))
            return results, sum(session.device_seconds.values())

    @abstractmethod
    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> Any:
        """How problems of one program key are laid out; DeviceError or InputError if the device cannot hold that."""

    @abstractmethod
    def build(self, device: DeviceInfo, problem: Problem, layout: Any) -> BuiltProgram:
        """The program, specialised for a problem's program key."""

    @abstractmethod
    def run(self, launch: Launch) -> EngineResults:
        """Upload, run and download; what was found for each problem."""
