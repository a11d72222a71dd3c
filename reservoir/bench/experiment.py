"""The frame of every experiment: what it is run with, how its runs are made, kept and chosen, and what it comes to.

A paper's module derives a `Study`: what is run are fields of it, what was measured are the tables of its ``data``, and
headlines, tables, figures and claims that are made of them are methods. What the paper and others found, and what is
said beneath tables and figures, is in ``data/bench/NAME.toml``.
"""

from __future__ import annotations

import platform
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import pandas as pd
from matplotlib.figure import Figure

import reservoir
from reservoir import runtime
from reservoir.bench import RUNS
from reservoir.bench.result import ExperimentResult
from reservoir.bench.runs import Journal, shared_among, sources_digest
from reservoir.bench.tables import ResultTable, Row, result_table
from reservoir.errors import InputError
from reservoir.opencl import DeviceInfo, choose_devices
from reservoir.planning.checks import Check
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.report.folder import run_provenance
from reservoir.solvers import Problem, Solutions, solve

T = TypeVar("T")

QUICK_WARNING = (
    "Quick trial: few generations and small ensembles. It shows that everything runs; its numbers are not results."
)
#: Claims of speed hold for devices of a size: two cores of a CPU, or a large GPU, which has so many units at least (the
#: figures are an NVIDIA H200's, of 132).
SMALL_CPU_UNITS, LARGE_GPU_UNITS = 2, 100


@dataclass(frozen=True)
class RunBudget:
    """What each experiment is told: how much it does, and where; and who is told of its progress, and keeps its runs.

    Parameters
    ----------
    runs : int
        Runs of each engine.
    quick : bool
        Only try the experiment: few generations and small ensembles, whose results say nothing about quality.
    seed : int
        The first of the seeds.
    device : str
        See `reservoir.opencl.choose_device`.
    progress : callable
        Told the stage, how many of its parts are done, and of how many.
    journal : Journal, optional
        Keeps the rows of `Study.kept_rows`.
    """

    runs: int = RUNS
    quick: bool = False
    seed: int = 1
    device: str = "auto"
    progress: StageProgress = silent_stage
    journal: Journal | None = None

    def usual(self, full: T, quick: T) -> T:
        """What is done unless the user asks for something else."""
        return quick if self.quick else full

    @property
    def repeats(self) -> int:
        """Runs of each point of a scaling experiment; their median counts."""
        return self.usual(3, 1)

    @property
    def point_seconds(self) -> float:
        """Seconds that a run of a point should take on the device, about."""
        return self.usual(1.0, 0.05)


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """An experiment as it is run: what with, what was measured, and what that comes to.

    Each derives one, with fields of its own; a ``title``; ``_measure``, and ``_row`` where a journal keeps the runs;
    ``_headlines``, the results in a few words each; ``_tables`` and ``_figures``; `checks`, `claims` and `caveats`.

    Parameters
    ----------
    budget : RunBudget
    data : mapping of str to DataFrame
        Tables of what was measured, by the stem of their CSV files.
    """

    budget: RunBudget
    data: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    #: Stem of the file in ``data/bench`` with the paper's numbers, captions and notes.
    paper: ClassVar[str] = ""
    #: Of the result; what is in braces is taken from the ``study``.
    title: ClassVar[str] = ""

    @classmethod
    def of(cls, budget: RunBudget, **own: Any) -> Self:
        """Make one that has measured nothing."""
        return cls(budget=budget, **own)

    def __reduce__(self) -> tuple[Callable[[], Self], tuple[()]]:
        """In another process: without progress, journal and data, on the device as it is chosen there."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("data", "device")}
        own["budget"] = replace(self.budget, progress=silent_stage, journal=None)
        return partial(type(self).of, **own), ()

    def tracked(self, stage: str | Callable[[T], str], items: Iterable[T]) -> Iterator[T]:
        """The items one after another; of each it is told before it is worked on."""
        every = list(items)
        for done, item in enumerate(every):
            self.budget.progress(stage if isinstance(stage, str) else stage(item), done, len(every))
            yield item
        self.budget.progress(stage if isinstance(stage, str) else "tables", len(every), len(every))

    def _row(self, run: Any) -> Row:
        """Make a run: a row of JSON. Where there are several processes, another makes it."""
        raise NotImplementedError

    def kept_rows(self, stage: str, runs: Mapping[str, Any], jobs: int = 1) -> list[Row]:
        """A row for each run, by their names: the journal's, and of the others those that are made now and kept there.

        Parameters
        ----------
        stage : str
            For the progress.
        runs : mapping
            What is run, hashable, by name.
        jobs : int
            Processes that make rows at a time; 1 for this one.

        Raises
        ------
        OutputError
            If the journal belongs to an experiment of other settings, or cannot be written.
        """
        journal, progress = self.budget.journal or Journal(), self.budget.progress
        if journal.path is not None:
            packages = run_provenance()["program"]["packages"]
            journal.begin(self.origin() | {"packages": packages, "sources": sources_digest()})
        missing = {run: name for name, run in runs.items() if journal.row(name) is None}
        made: Iterable[tuple[Any, Row]] = ((run, self._row(run)) for run in missing)
        if jobs > 1 and missing:
            made = shared_among(min(jobs, len(missing)), self._row, missing)
        progress(stage, len(runs) - len(missing), len(runs))
        for done, (run, row) in enumerate(made, len(runs) - len(missing) + 1):
            journal.add(missing[run], row)
            progress(stage, done, len(runs))
        return [journal.row(name) or {} for name in runs]

    def origin(self) -> dict[str, Any]:
        """Program, machine, budget, and whatever else makes runs comparable."""
        budget = self.budget
        about = {"processor": processor_name(), "version": reservoir.__version__}
        return about | {"quick": budget.quick, "runs": budget.runs, "seed": budget.seed}

    def _measure(self) -> Mapping[str, pd.DataFrame]:
        """Measure everything: the tables of ``data``."""
        raise NotImplementedError

    def measured(self) -> Self:
        """The study with tables of what was measured."""
        return replace(self, data=self._measure())

    def notes(self, name: str, /, **values: Any) -> tuple[str, ...]:
        """What the paper's file says under a name, with these values and those of the study put in."""
        return tuple(note.format(study=self, **values) for note in bundled(self.paper)["notes"].get(name, ()))

    def table(self, name: str, rows: Any, /, *further: str, **values: Any) -> ResultTable:
        """A table of rows, or of a frame, whose title, formats and notes are in the paper's file.

        Parameters
        ----------
        name : str
            Under ``tables``: ``title``; ``form`` of all columns, and ``forms`` of some (see `result_table`); and
            ``columns``, if not those of the rows: of each its title, and what it is, a column of the rows or an
            expression of them (`pandas.DataFrame.eval`). Notes are those of that name.
        further : str
            Notes after these.
        values
            For the title and the notes.
        """
        about = bundled(self.paper)["tables"][name]
        title, forms = about["title"].format(study=self, **values), about.get("forms", {})
        if columns := about.get("columns"):
            rows = pd.DataFrame(rows)
            rows = pd.DataFrame(
                {shown: rows[of] if of in rows else rows.eval(of, engine="python") for shown, of in columns.items()}
            )
        return result_table(title, rows, *self.notes(name, **values), *further, form=about.get("form"), **forms)

    def claim(self, name: str, value: float, limit: float | None = None, /, **values: Any) -> Check:
        """What was measured, beside its bar in the paper's file (``at_most``, ``at_least``) or beside another limit."""
        about = bundled(self.paper)["claims"][name]
        bar = about.get("at_least", about.get("at_most")) if limit is None else limit
        return Check(about["check"].format(study=self, **values), float(value), bar, at_least="at_least" in about)

    def caveats(self) -> tuple[str, ...]:
        """What must be said before any result."""
        return ()

    def checks(self) -> Iterable[Check]:
        """What must hold always."""
        return ()

    def claims(self) -> Iterable[Check]:
        """What this device and this budget can be held to; of a quick trial nothing is claimed."""
        return ()

    def acceptance(self) -> tuple[Check, ...]:
        """The acceptance table."""
        return (*self.checks(), *(() if self.budget.quick else self.claims()))

    def _headlines(self) -> Mapping[str, str]:
        raise NotImplementedError

    def _tables(self) -> Iterable[ResultTable]:
        raise NotImplementedError

    def _figures(self) -> Mapping[str, Figure]:
        return {}

    def written(self) -> Mapping[str, pd.DataFrame]:
        """Tables of numbers, by the stem of their CSV files; those without rows are left out."""
        return self.data

    def result(self, **origin: Any) -> ExperimentResult:
        """What the study comes to; tables without rows are left out.

        Parameters
        ----------
        origin
            What is told beside `origin`.
        """
        figures = self._figures()
        captions = bundled(self.paper)["captions"] if figures else {}
        return ExperimentResult(
            title=self.title.format(study=self),
            warnings=(*self.budget.usual((), (QUICK_WARNING,)), *self.caveats()),
            headlines=self._headlines(),
            checks=self.acceptance(),
            tables=tuple(table for table in self._tables() if len(table.frame)),
            data={name: frame for name, frame in self.written().items() if len(frame)},
            figures=figures,
            captions={name: captions[name].format(study=self) for name in figures},
            origin=self.origin() | origin,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceStudy(Study):
    """An experiment on an OpenCL device."""

    device: DeviceInfo

    @classmethod
    def of(cls, budget: RunBudget, **own: Any) -> Self:
        """On the device that is asked for; DeviceError if there is none of that name."""
        return cls(budget=budget, device=choose_devices(budget.device)[0], **own)

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

    def foot(self, before: str = "", after: str = "") -> list[str]:
        """What stands at the foot of a figure: the device, and what was done there and beside it."""
        return [f"{before}{self.place}{after}" + self.budget.usual("", f" · {QUICK_WARNING}")]

    def origin(self) -> dict[str, Any]:
        """As `Study.origin`, and the device."""
        return super().origin() | {"device": device_origin(self.device)}


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


@cache
def bundled(experiment: str) -> dict[str, Any]:
    """``data/bench/NAME.toml``: what papers and others found, and words; keys that are whole numbers are numbers."""
    return dict(_numbered(tomllib.loads(runtime.package_path("data", f"bench/{experiment}.toml").read_text("utf-8"))))


def _numbered(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {int(name) if name.isdecimal() else name: _numbered(part) for name, part in value.items()}


def numbers_named(text: str, valid: Callable[[int], bool], problem: str, expected: str, column: str) -> tuple[int, ...]:
    """Numbers of an option from words with commas between, ascending; InputError with those that are not valid."""
    words = [word.strip() for word in text.split(",")]
    wrong = [word for word in words if not (word.isdecimal() and valid(int(word)))]
    if wrong:
        raise InputError(problem, f"{expected}, separated by commas", column=column, value=wrong)
    return tuple(sorted({int(word) for word in words}))


def names_named(text: str | None, known: Iterable[str], problem: str, column: str) -> tuple[str, ...]:
    """Names of an option from words with commas between, all that are known if there is no text; else InputError."""
    known = tuple(known)
    if text is None:
        return known
    names = dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip())
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise InputError(problem, ", ".join(known), column=column, value=unknown)
    return tuple(names)
