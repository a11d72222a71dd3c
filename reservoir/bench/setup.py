"""The frame of every experiment: what it is run with, how its runs are made and chosen, and what it comes to."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import reservoir
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import QUICK_WARNING, RunBudget
from reservoir.bench.tables import ResultTable
from reservoir.errors import InputError, Mistake
from reservoir.opencl import DeviceInfo, choose_devices
from reservoir.planning.checks import Check
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.solvers import Problem, Solution, Solutions, solve

T = TypeVar("T")

#: Claims of speed hold for devices of a size: two cores of a CPU, or a large GPU, which has so many units at least (the
#: figures are an NVIDIA H200's, of 132).
SMALL_CPU_UNITS, LARGE_GPU_UNITS = 2, 100


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What an experiment is run with; each adds fields of its own.

    Parameters
    ----------
    budget : RunBudget
    progress : callable
        Told the stage, how many of its parts are done, and of how many.
    """

    budget: RunBudget
    progress: StageProgress = silent_stage

    def tracked(self, stage: str | Callable[[T], str], items: Iterable[T]) -> Iterator[T]:
        """The items one after another; of each it is told before it is worked on."""
        every = list(items)
        for done, item in enumerate(every):
            self.progress(stage if isinstance(stage, str) else stage(item), done, len(every))
            yield item
        self.progress(stage if isinstance(stage, str) else "tables", len(every), len(every))

    def origin(self) -> dict[str, Any]:
        """Program, machine and budget."""
        budget = self.budget
        about = {"processor": processor_name(), "version": reservoir.__version__}
        return about | {"quick": budget.quick, "runs": budget.runs, "seed": budget.seed}

    def result(
        self,
        title: str,
        *,
        headlines: Mapping[str, str],
        tables: Iterable[ResultTable],
        data: Mapping[str, pd.DataFrame],
        checks: Iterable[Check] = (),
        figures: Mapping[str, Figure] | None = None,
        captions: Mapping[str, str] | None = None,
        caveats: Iterable[str] = (),
        **origin: Any,
    ) -> ExperimentResult:
        """Put together what was found; frames without rows are left out."""
        return ExperimentResult(
            title=title,
            warnings=(*self.budget.usual((), (QUICK_WARNING,)), *caveats),
            headlines=headlines,
            checks=tuple(checks),
            tables=tuple(tables),
            data={name: frame for name, frame in data.items() if len(frame)},
            figures=figures or {},
            captions={name: caption for name, caption in (captions or {}).items() if name in (figures or {})},
            origin=self.origin() | origin,
        )


@dataclass(frozen=True, kw_only=True)
class DeviceSetup(Setup):
    """What an experiment on an OpenCL device is run with."""

    device: DeviceInfo

    @classmethod
    def of(cls, budget: RunBudget, progress: StageProgress, **own: Any) -> Self:
        """On the device that is asked for; DeviceError if there is none of that name."""
        return cls(budget=budget, progress=progress, device=choose_devices(budget.device)[0], **own)

    def solve(self, problems: Sequence[Problem], solver: str, *, seed: int | None = None, **settings: Any) -> Solutions:
        """Solve problems on the device, by default with the first seed."""
        asked = self.budget.seed if seed is None else seed
        return solve(problems, solver=solver, seed=asked, device=str(self.device.index), **settings)

    @property
    def small_cpu(self) -> bool:
        """Whether the device is a CPU of a few cores: more make no claim harder."""
        return self.device.kind == "CPU" and self.device.compute_units <= SMALL_CPU_UNITS

    @property
    def large_gpu(self) -> bool:
        """Whether the device is a large GPU."""
        return self.device.kind == "GPU" and self.device.compute_units >= LARGE_GPU_UNITS

    @property
    def place(self) -> str:
        """The device and its driver."""
        return f"{self.device.name} ({self.device.platform} {self.device.driver})"

    def foot(self, before: str = "", after: str = "") -> str:
        """What stands at the foot of a figure: the device, and what was done there and beside it."""
        return f"{before}{self.place}{after}" + self.budget.usual("", f" · {QUICK_WARNING}")

    def origin(self) -> dict[str, Any]:
        """Program, machine, budget and device."""
        return super().origin() | {"device": device_origin(self.device)}


def select(frame: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Rows whose columns have these values."""
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame


def in_order(column: pd.Series[Any]) -> list[Any]:
    """Values of a column, each once, in the order in which they come."""
    return list(dict.fromkeys(column))


def seconds_of(solution: Solution) -> dict[str, float]:
    """Seconds of a call, and those of its device; NaN where it has none."""
    device = solution.device_seconds
    return {"seconds": solution.wall_seconds, "device_seconds": np.nan if device is None else device}


def numbers_named(text: str, valid: Callable[[int], bool], problem: str, expected: str, column: str) -> tuple[int, ...]:
    """Numbers of an option from words with commas between, ascending; InputError with those that are not valid."""
    words = [word.strip() for word in text.split(",")]
    wrong = [word for word in words if not (word.isdecimal() and valid(int(word)))]
    if wrong:
        raise InputError(Mistake(problem, f"{expected}, separated by commas", column=column, value=wrong))
    return tuple(sorted({int(word) for word in words}))


def names_named(text: str | None, known: Iterable[str], problem: str, column: str) -> tuple[str, ...]:
    """Names of an option from words with commas between, all that are known if there is no text; else InputError."""
    known = tuple(known)
    if text is None:
        return known
    names = dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip())
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise InputError(Mistake(problem, ", ".join(known), column=column, value=unknown))
    return tuple(names)


def device_origin(device: DeviceInfo) -> dict[str, Any]:
    """A device and its driver, as they describe themselves."""
    names = ("name", "kind", "platform", "driver", "version", "compute_units", "native_float_width")
    return {name: getattr(device, name) for name in names}


def processor_name(listing: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's name as the system tells it."""
    try:
        lines = listing.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
