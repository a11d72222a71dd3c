"""Options that several commands share, each defined once; what is wrong in the words of a call."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from reservoir.errors import restated
from reservoir.text.quantities import printable

if TYPE_CHECKING:
    from reservoir.errors import Mistake
    from reservoir.hydro.inflow import Inflow
    from reservoir.hydro.reservoir import Reservoir
    from reservoir.hydro.site_inflows import SiteInflows
    from reservoir.hydro.system import System


class FilePath(click.Path):
    """A file or folder to read, or a file to write; its reader says what is wrong with one that cannot be used."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Read a path; click asks the system for it, which raises ValueError for what no file can be called."""
        try:
            return Path(super().convert(value, param, ctx))  # type: ignore[arg-type] # text, not bytes: see path_type
        except ValueError:
            return Path(value)


class FolderPath(click.ParamType):  # type: ignore[type-arg] # generic in click 8.4 and later alone
    """A folder to write; ``~`` at its beginning is the home folder, which shells leave as it is after ``--out=``."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Read a path, and refuse an empty one, which would be the present folder."""
        path = Path(value)
        if not str(value).strip():
            self.fail("the path is empty; for the current folder, give .", param, ctx)
        try:
            return path.expanduser() if path.parts[:1] == ("~",) else path
        except RuntimeError:
            self.fail(f"the home folder is unknown; for a folder of this name, give ./{path}", param, ctx)


class _Finite(click.types.FloatParamType):
    """Refuses what is no number, which no comparison with the ends of a range does, and what is infinite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class FiniteNumber(_Finite):
    """A number that is finite."""


class FiniteRange(_Finite, click.FloatRange):
    """A finite number of a range."""


class NamedNumber(_Finite):
    """A finite number, or NAME=VALUE: a number of one reservoir of a system."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the name, "" without one, and the number."""
        if isinstance(value, tuple):  # click asks twice
            return value
        name, equals, number = str(value).rpartition("=")
        return (name.strip() if equals else "", super().convert(number.strip(), param, ctx))


class Varied(NamedTuple):
    """A key of a reservoir file, and the values that it is varied over."""

    key: str
    values: tuple[float, ...]


class VariedKey(click.ParamType):  # type: ignore[type-arg] # as FolderPath
    """KEY=FROM:TO:N: a key of a reservoir file, and N values from one number to another."""

    name = "key"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Varied:
        """Read the key and the range."""
        if isinstance(value, Varied):  # click asks twice
            return value
        key, _, ends = str(value).rpartition("=")
        try:
            first, last, count = ends.split(":")
            start, end, steps = float(first), float(last), int(count)
        except ValueError:
            self.fail(f"{value!r} is not KEY=FROM:TO:N, such as storage.full_hm3=90:110:5", param, ctx)
        if not (key.strip() and math.isfinite(start) and math.isfinite(end) and start != end):
            self.fail(f"{value!r} has no key, or not two different ends of its range", param, ctx)
        if not 2 <= steps <= MOST_VARIED:
            self.fail(f"{value!r} asks for {steps:,} values, not for 2 to {MOST_VARIED}", param, ctx)
        parts = (start + (end - start) * place / (steps - 1) for place in range(steps))
        return Varied(key.strip(), tuple(float(f"{each:.12g}") for each in parts))


#: Values that a key is varied over at most.
MOST_VARIED = 100


def of_one(numbers: Sequence[tuple[str, float]], option: str) -> float | None:
    """The number of an option that may be given for each reservoir of a system, where there is one reservoir."""
    if not numbers:
        return None
    if len(numbers) > 1 or numbers[0][0]:
        from reservoir.errors import InputError

        value = f"{numbers[-1][0]}={numbers[-1][1]:g}" if numbers[-1][0] else f"{numbers[-1][1]:g}"
        mend = f"give {option} NUMBER alone, or the file of the system"
        raise InputError("is of one reservoir of a system", "one number", mend, column=option, value=value)
    return numbers[0][1]


class Share(FiniteRange):
    """A part of a whole, above 0 and at most 1."""

    def __init__(self) -> None:
        super().__init__(0.0, 1.0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a share; per cent are told how to be given."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            number = str(value).strip().rstrip("%").strip()
            if number.replace(".", "", 1).isdecimal() and 1 < float(number) <= 100:
                self.fail(f"{value!r} is not a share of 1; for {number} % give {float(number) / 100:g}", param, ctx)
            raise


def named_as(names: Mapping[str, str], in_sentences: Collection[str] | None = None) -> AbstractContextManager[None]:
    """Call the arguments of a function as the options of a command in messages about them.

    In sentences, too, unless only some are named there.
    """
    words = re.compile(rf"\b({'|'.join(names if in_sentences is None else in_sentences)})\b")

    def of_options(mistake: Mistake) -> Mistake:
        if mistake.column not in names:
            return mistake
        expected, mend = (words.sub(lambda found: names[found[1]], text) for text in (mistake.expected, mistake.mend))
        return replace(mistake, column=names[mistake.column], expected=expected, mend=mend)

    return restated(of_options)


#: How mistakes of a reservoir speak of its step, and how of that of a call.
_STEP_WORDS = (
    (r'set step = "([a-z-]+)"', r"give --step \1"),
    (r'\bstep is "([a-z-]+)"', r"--step is \1"),
    (r'(?<!-)\bstep = "([a-z-]+)"', r"--step \1"),
)


def _step_asked(mistake: Mistake) -> Mistake:
    """Call the step of a reservoir as the option that set it."""
    problem, mend = mistake.problem, mistake.mend
    for words, option in _STEP_WORDS:
        problem, mend = re.sub(words, option, problem), re.sub(words, option, mend)
    return replace(mistake, problem=problem, mend=mend)


#: Where a unit was said that neither the file nor the call gives.
OF_PLAN = "as in the plan: the file gives no unit"


def named_as_reading() -> AbstractContextManager[None]:
    """Call the arguments of `reservoir.read_inflow` as the options; sentences speak of units that are no option."""
    names = {name: f"--{name.replace('_', '-')}" for name in READING_OPTIONS}
    return named_as(names, in_sentences=names.keys() - {"unit"})


def read_record(
    file: Path, reading: Mapping[str, Any], plant: Reservoir | None, step: str | None = None, plan_unit: str = ""
) -> Inflow:
    """Read an inflow by the water years and steps of a reservoir; messages call its arguments as the options.

    Where m3/s would be assumed, the unit of the plan's record stands, if there is one.
    """
    from reservoir.hydro.inflow import ASSUMED
    from reservoir.io.records.reader import read_inflow

    steps: dict[str, Any] = (
        {"first_month": plant.first_month, "step": plant.step} if plant else {"step": step or "month"}
    )
    if plant and plant.flood_space:
        steps["flood_column"] = plant.flood_space.column
    with named_as_reading():
        inflow = read_inflow(file, **steps, **reading)
        if plan_unit and inflow.unit_from == ASSUMED and file.is_file():  # a pipe is read once
            inflow = replace(read_inflow(file, **steps, **{**reading, "unit": plan_unit}), unit_from=OF_PLAN)
        return inflow


def read_plant(
    file: Path, step: str | None, sheet: Sequence[str] = (), inflow: tuple[Path, Mapping[str, Any]] | None = None
) -> Reservoir:
    """Read a reservoir, for another step than that of its file if one is asked for.

    Of a workbook, `sheet` names sheets that are meant, and `inflow` is the record that its guesses are made from.
    """
    from reservoir.io.reservoir_toml.reader import read_reservoir

    with restated(_step_asked if step else lambda mistake: mistake), named_as({"sheet": "--sheet"}):
        return read_reservoir(file, step=step, sheet=sheet, inflow=inflow)


class CaseFiles(NamedTuple):
    """Files of a call: a workbook that has both stands for the one that is not given; and how they are to be read."""

    reservoir: Path | None
    inflow: Path | None
    reading: Mapping[str, Any]

    @classmethod
    def of(cls, reservoir: Path | None, inflow: Path | None, reading: Mapping[str, Any]) -> CaseFiles:
        """Find out which file has what."""
        from reservoir.io.workbook import is_workbook

        if reservoir is not None and reservoir.is_file():  # a pipe is read once
            from reservoir.io.system_file import inflow_of_one

            own = inflow_of_one(reservoir)
            inflow = inflow or (Path(own.file) if own.file else None)
            reading = {**reading, "column": reading.get("column") or own.column or None}
        if is_workbook(inflow) and reservoir is None:
            from reservoir.io.level_table import has_levels

            reservoir = inflow if has_levels(inflow) else None
        elif reservoir is not None and inflow is None and is_workbook(reservoir):
            from reservoir.io.records.choice import has_record

            inflow = reservoir if has_record(reservoir) else None
        return cls(reservoir, inflow, {**reading, "sheet": sheets_for(inflow, reservoir, reading.get("sheet", ()))})

    def plant(self, step: str | None, sheet: Sequence[str]) -> Reservoir:
        """Read the reservoir; `sheet` as it was asked for."""
        assert self.reservoir is not None
        record = None if self.inflow is None else (self.inflow, self.reading)
        return read_plant(self.reservoir, step, sheets_for(self.reservoir, self.inflow, sheet), record)


def sheets_for(file: Path | None, other: Path | None, names: Sequence[str]) -> Sequence[str]:
    """Of names of sheets, those of a file: the others are of another workbook."""
    from reservoir.io.workbook import own_sheets

    if file is None or other is None or file == other:
        return names
    elsewhere = {*own_sheets(other, names)} - {*own_sheets(file, names)}
    return tuple(name for name in names if name not in elsewhere)


def require_of_several(given: Mapping[str, Any]) -> None:
    """Refuse options of a call that count for several reservoirs alone, where one is planned: those that are given."""
    from reservoir.errors import InputError, Mistake

    problem, mend = "is of a system of several reservoirs", "leave it out, or give the file of a system"
    if named := [name for name, value in given.items() if value is not None]:
        raise InputError(Mistake(problem, "the file of a system", mend, column=name) for name in named)


def require_of_one(given: Mapping[str, Any]) -> None:
    """Refuse options of a call that count for one reservoir alone, where several are planned: those that are given."""
    from reservoir.errors import InputError, Mistake

    problem, mend = "does not take systems yet", "leave it out, or give the file of one of the reservoirs"
    if named := [name for name, value in given.items() if value is not None]:
        raise InputError(Mistake(problem, "the file of one reservoir", mend, column=name) for name in named)


def refuse_given(problem: str, counts: Callable[[str], bool], mend: str = "leave it out") -> None:
    """Refuse options that were typed and do not count here; what does is asked by their names."""
    from reservoir.errors import InputError, Mistake

    context = click.get_current_context()
    typed = (each for each in context.command.params if each.name and isinstance(each, click.Option))
    names = [
        each.opts[0]
        for each in typed
        if context.get_parameter_source(str(each.name)) is ParameterSource.COMMANDLINE and not counts(str(each.name))
    ]
    if names:
        raise InputError(Mistake(problem, mend=mend, column=name) for name in names)


#: What a command says that takes one reservoir.
TAKE_SYSTEMS = (
    "plan, rules, operate, compare, simulate, tradeoff, synth, validate, check, prove and new take systems; give this "
    "command the file of one reservoir"
)


def names_system(file: Path | None) -> bool:
    """Whether a file given by ``--reservoir`` is that of a system of several."""
    from reservoir.io.system_file import names_system

    return file is not None and file.is_file() and names_system(file)  # a pipe is read once


def read_case(
    reservoir_file: Path,
    inflow_file: Path | None,
    reading: Mapping[str, Any],
    step: str | None = None,
    plan_unit: str = "",
) -> tuple[System, SiteInflows]:
    """Read a system, and the inflow of all its reservoirs: where a file `names_system`; messages name the options.

    Records that do not say their unit are in `plan_unit`, if that is given.
    """
    from reservoir.hydro.inflow import ASSUMED
    from reservoir.io.records.sites import read_system_inflow
    from reservoir.io.system_file import read_system

    with restated(_step_asked if step else lambda mistake: mistake):
        system = read_system(reservoir_file, step=step)
    with named_as_reading():
        inflows = read_system_inflow(system, inflow_file, **reading)
        if plan_unit and all(each.unit_from == ASSUMED for each in inflows.values()):
            inflows = read_system_inflow(system, inflow_file, **{**reading, "unit": plan_unit})
            inflows = inflows.each(lambda record: replace(record, unit_from=OF_PLAN))
        return system, inflows


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True)
class Inputs:
    """What a command works on.

    Parameters
    ----------
    reservoir, inflow
        Read and checked.
    bundled_reservoir, bundled_inflow : bool
        Whether they come with the program.
    reference_gwh : float or None
        Total energy that an independent program found, for a bundled case.
    stranger : str
        What to say if one of them is bundled and the other is not, though nobody named a case.
    """

    reservoir: Reservoir
    inflow: Inflow
    bundled_reservoir: bool
    bundled_inflow: bool
    reference_gwh: float | None
    stranger: str = ""

    def optimised_for(self, goal: str | None) -> Inputs:
        """The same with another goal, if one is named."""
        if goal is None:
            return self
        return replace(self, reservoir=_with_goal(self.reservoir, goal), reference_gwh=None)


def _with_goal(operated: Any, goal: str) -> Any:
    """A reservoir or a system with the goal that --objective names."""
    from reservoir.planning.tradeoff import with_goal

    with named_as({"objective": "--objective"}):
        return with_goal(operated, goal)


@dataclass(frozen=True)
class Request:
    """The input options of a call; the bundled case stands in for files that are left out."""

    inflow_file: Path | None
    reservoir_file: Path | None
    case: str | None
    #: How the inflow is to be read, as arguments of `reservoir.read_inflow`.
    reading: Mapping[str, Any]

    def at_point(self, point: Path | None) -> Request:
        """The same with the reservoir of a tradeoff's point, and with its record unless another is given."""
        if point is None:
            return self
        from reservoir.report.tradeoff_folder import point_inputs

        inputs = point_inputs(point, {"reservoir": self.reservoir_file, "inflow": self.inflow_file})
        files = {name: inputs.pop(name) for name in ("reservoir_file", "inflow_file") if name in inputs}
        return replace(self, **files, reading={**self.reading, **inputs})

    @property
    def names_system(self) -> bool:
        """Whether it is of several reservoirs: by the file of a system, or a bundled case that is one."""
        from reservoir.cases import bundled_case

        return names_system(self.reservoir_file or (bundled_case(self.case).reservoir_file if self.case else None))

    def read_system(self, step: str | None = None, goal: str | None = None) -> tuple[System, SiteInflows]:
        """Read a system and the inflow of its reservoirs (`read_case`); with another goal, if one is named."""
        from reservoir.cases import bundled_case

        bundled = bundled_case(self.case) if self.case else None
        file = self.reservoir_file or (bundled.reservoir_file if bundled else None)
        assert file is not None
        inflow = self.inflow_file
        if inflow is None and bundled is not None and self.reservoir_file is None:
            inflow = bundled.inflow_file
        system, inflows = read_case(file, inflow, self.reading, step)
        return (system if goal is None else _with_goal(system, goal)), inflows

    def read(self, step: str | None = None) -> Inputs:
        """Read what the options name.

        Parameters
        ----------
        step : str, optional
            Time step, in place of that of the reservoir file.

        Raises
        ------
        InputError
            With every mistake of both files.
        """
        from reservoir.cases import bundled_case
        from reservoir.errors import InputError

        bundled = bundled_case(self.case)
        if self.names_system:
            file = str(self.reservoir_file or bundled.reservoir_file)
            raise InputError("is the file of a system", "the file of one reservoir", TAKE_SYSTEMS, file)
        mistakes: list[Mistake] = []
        plant, files = None, CaseFiles(self.reservoir_file, self.inflow_file, self.reading)
        if not self.case:
            files = CaseFiles.of(*files)
        try:
            of_case = files if files.reservoir else files._replace(reservoir=bundled.reservoir_file)
            plant = of_case.plant(step, self.reading.get("sheet", ()))
        except InputError as error:
            mistakes += error.mistakes
        try:
            record = read_record(files.inflow or bundled.inflow_file, files.reading, plant, step)
        except InputError as error:
            mistakes += error.mistakes
        if plant is None or mistakes:
            raise InputError(dict.fromkeys(mistakes))
        whole_case, stranger = files.reservoir is None and files.inflow is None, ""
        if files.inflow is None:
            record = replace(record, typical_years=bundled.typical_years)
        for given, other, file, instead in (
            (files.reservoir, files.inflow, "reservoir", (plant.name, "reservoir (--reservoir FILE.toml)")),
            (files.inflow, files.reservoir, "inflow", ("record", "river (INFLOW.csv)")),
        ):
            if given is None and other is not None and not self.case:  # the bundled file is of another river
                used = f"no {file} was given: the bundled {instead[0]} was used for {printable(other.name)}"
                stranger = f"{used}; results are not those of your {instead[1]}"
                record = replace(record, notes=(stranger, *record.notes))
        return Inputs(
            plant,
            record,
            bundled_reservoir=files.reservoir is None,
            bundled_inflow=files.inflow is None,
            reference_gwh=bundled.reference_gwh if whole_case else None,
            stranger=stranger,
        )


def gathered(name: str, gather: Callable[..., Any], *decorators: Any) -> Decorator:
    """Options that reach a command as one argument, `name`, made by `gather` from their values and no others'."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        keys = [_name_of(decorator) for decorator in decorators]

        @wraps(function)
        def command(**values: Any) -> Any:
            values[name] = gather(**{key: values.pop(key) for key in keys})
            return function(**values)

        return taking(decorators)(command)

    return decorate


def taking(decorators: Sequence[Any]) -> Decorator:
    """Options of a command, in their order."""
    return lambda command: reduce(lambda function, decorator: decorator(function), reversed(decorators), command)


def _name_of(decorator: Any) -> str:
    """The name under which an option or argument reaches a command."""
    (parameter,) = decorator(lambda: None).__click_params__
    return str(parameter.name)


def given(**settings: Any) -> dict[str, Any]:
    """Settings that were asked for; an engine has its own values for the others."""
    return {name: value for name, value in settings.items() if value is not None}


_path = FilePath()


def out(default: str) -> Decorator:
    """Where a folder is written, with what happens by default."""
    return click.option("--out", type=FolderPath(), help=f"Output folder.  [default: {default} in ./reports]")


#: Order of day and month in dates of numbers.
dates = click.option(
    "--dates",
    type=click.Choice(["month-first", "day-first"]),
    help="Order in dates such as 10/01/1990.  [default: as the whole column shows, else they are refused]",
)
#: Century of dates with years of two digits.
first_year = click.option(
    "--first-year",
    metavar="YEAR",
    type=int,
    help="Year of the earliest row, where years have two digits (1-Oct-03).  [default: as the order of the rows shows, "
    "else they are refused]",
)
#: A part of a workbook that could be something else, too.
sheet = click.option(
    "--sheet",
    metavar="NAME",
    multiple=True,
    help="Sheet of a workbook that is meant, where several may be; repeatable.  [default: by what the sheets hold]",
)
_READING = (
    click.option("--unit", metavar="UNIT", help="Unit of the inflow: m3/s, cfs, ... or hm3, acre-ft, ... (volume)."),
    click.option(
        "--column",
        metavar="NAME",
        help='Column of the inflow, if the file has several; or rows of one series: OTHER=VALUE, "NAME; OTHER=VALUE".',
    ),
    click.option(
        "--water-year",
        type=click.Choice(["begins", "ends"]),
        help="Calendar year by which a table by years names its water years.  [default: as the file says, else begins]",
    ),
    click.option(
        "--missing-days",
        type=click.IntRange(0, 30),
        default=0,
        show_default=True,
        help="Days that a step may lack in a record of days, weeks or ten-day periods.",
    ),
    click.option(
        "--negative",
        type=click.Choice(["keep", "zero"]),
        help="What becomes of negative values, such as those of a reservoir balance.  [default: they are refused]",
    ),
    dates,
    first_year,
    sheet,
)
#: How an inflow is read; a command gets them as ``reading``, arguments of `reservoir.read_inflow`.
reading = gathered("reading", dict, *_READING)
#: Their names.
READING_OPTIONS = tuple(map(_name_of, _READING))


def units_unless(default: str) -> Decorator:
    """Units of results and options, with what they are by default."""
    return click.option(
        "--units",
        "unit_system",
        type=click.Choice(["si", "us"]),
        help="Units of the results, and of levels, storages and flows in options: si (m3/s, hm3, m) or us (cfs, "
        f"acre-ft, ft).  [default: {default}]",
    )


units = units_unless("si")
units_of_plan = units_unless("those of the rule's plan")

# fmt: off
rule = click.argument("rule_file", metavar="RULE.json", type=_path)

rule_reservoir = click.option("--reservoir", "reservoir_file", metavar="FILE.toml", type=_path,
    help="Reservoir file.  [default: that of the plan folder that contains the rule]")

_INPUTS = (
    click.option("--reservoir", "reservoir_file", metavar="FILE.toml", type=_path, help="Reservoir file."),
    click.option("--case", metavar="NAME", help="Bundled case; used for files that are not given."),
    *_READING)

inputs = gathered("request", lambda inflow_file, reservoir_file, case, **reading: Request(
        inflow_file, reservoir_file, case, reading),
    click.argument("inflow_file", metavar="[INFLOW.csv]", required=False, type=_path), *_INPUTS)
#: The same without the record, which is among the `words` of a command that takes other things too.
inputs_beside_words = gathered("request", lambda reservoir_file, case, **reading: Request(
        None, reservoir_file, case, reading), *_INPUTS)
words = click.argument("words", metavar="[INFLOW.csv | PLAN_DIR ...]", nargs=-1, type=_path)

seed = click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True, help="Random seed.")

device = click.option("--device", metavar="DEVICE", default="auto", show_default=True,
    help="OpenCL device: auto (RESERVOIR_DEVICE if set, else a GPU, else a CPU), an index or a part of a name (see "
    "\"reservoir devices\"). A comma-separated list, or all (all devices of the best kind), shares the years.")

proof_device = click.option("--device", metavar="DEVICE", default="auto", show_default=True,
    help="OpenCL device that proves, in float32 if it has no double precision: an index or a part of a name (see "
    "\"reservoir devices\"), host (CPU threads), or auto (RESERVOIR_DEVICE if set, else a GPU, else a CPU; CPU "
    "threads where that has no double precision).")

horizon = click.option("--horizon", metavar="year|record|N",
    help="What is planned as one problem: each year, the whole record, or windows of N years.  [default: as the "
    "reservoir file says, else year]")

step = click.option("--step", type=click.Choice(["month", "ten-days", "week", "day"]),
    help="Time step of the plan; daily records are averaged to it.  [default: as the reservoir file says, else month]")

objective = click.option("--objective", metavar="GOAL",
    help="What is optimised: energy, revenue, firm-power, power-shortage, supply-shortage or unused-capacity, with the "
    "prices and targets of the reservoir file.  [default: as the reservoir file says, else energy]")

forecast = click.option("--forecast", type=click.Choice(["month", "none"]), default="month", show_default=True,
    help="Inflow that a rule knows when it decides: this month's mean, or only previous months.")

#: How close a proof is to come, and how long it may take.
proof_gap = click.option("--gap", type=FiniteRange(1e-9, 1.0), default=1e-5, show_default=True,
    help="Relative gap at which the proof of a year ends.")
proof_seconds = click.option("--prove-seconds", type=FiniteRange(0.0), default=600.0, show_default=True,
    help="Most time for the proofs; what is proved until then holds, with a larger gap.")
table_format = click.option("--format", "table_format", type=click.Choice(["csv", "xlsx"]), default="csv",
    show_default=True, help="Format of the tables: CSV files, or the sheets of one workbook.")
json = click.option("--json", "as_json", is_flag=True, help="Print machine-readable JSON on standard output.")

debug = click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
# fmt: on


def settings(*own: Any, **budget: str) -> Decorator:
    """Sizes of a search, with a help text each, and `own`; a command gets ``settings``, those that were asked for."""
    sizes = (click.option(f"--{name}", type=int, help=text) for name, text in budget.items())
    return gathered("settings", _asked, *sizes, *own)


def _asked(further: tuple[str, ...] = (), **sizes: Any) -> dict[str, Any]:
    """Settings that were asked for; an engine has its own values for the others."""
    asked = given(**sizes)
    if not further:
        return asked
    from reservoir.errors import InputError, Mistake
    from reservoir.solvers.settings import from_words

    of_words = from_words(further, "--set")
    if twice := [name for name in of_words if name in asked]:
        raise InputError(Mistake(f"--{name} and --set {name} are both given", mend="give one") for name in twice)
    return asked | of_words


#: Settings of an engine by their names.
set_option = click.option(
    "--set",
    "further",
    metavar="NAME=VALUE",
    multiple=True,
    help='Setting of the solver, such as exchange_interval=5; repeatable. "reservoir solvers NAME" lists them.',
)


class EngineCommand(click.Command):
    """A command with ``--set``: an option that is none of its own, but a setting of an engine, is told how to give."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a call."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            from reservoir.solvers import SOLVERS, settings_of

            name = error.option_name.lstrip("-").replace("-", "_")
            known = {solver: settings_of(solver) for solver in SOLVERS}
            value = "VALUE"
            if name.startswith("no_") and not any(name in names for names in known.values()):
                name, value = name.removeprefix("no_"), "false"
            solvers = [solver for solver, names in known.items() if name in names]
            if not solvers:
                raise
            of = f"a setting of {' and '.join(filter(None, (', '.join(solvers[:-1]), solvers[-1])))}"
            more = f'see "reservoir solvers {solvers[0]}"'
            sentence = f"No such option: {error.option_name}. It is {of}: write --set {name}={value} ({more})."
            raise click.UsageError(sentence, ctx) from error


#: Sizes of a search by CLPSO, and by the solvers that count evaluations.
SWARM = {
    "particles": "Particles per CLPSO swarm.  [default: 40]",
    "generations": "Generations of CLPSO.  [default: 10000, 2000 for a window of a long horizon]",
}
EVALUATIONS = {
    "evaluations": "Evaluations per year, or window of a long horizon, of lshade; per year of island-ga and dsmga2.  "
    "[default: lshade 30000, island-ga 400000, dsmga2 unlimited]"
}


def solving(**budget: str) -> Decorator:
    """How years are solved: the seed, the device, and settings of engines."""
    sizes = settings(set_option, **budget)
    return lambda command: seed(device(sizes(command)))
