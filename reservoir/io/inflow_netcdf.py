"""Inflow from NetCDF or Zarr by CF conventions: a variable by time, and by member where it is an ensemble."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import MOST_MISTAKES, InputError, Mistake, shortened, worth_telling
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.units import DEPTH_MM
from reservoir.hydro.water_years import month_name
from reservoir.io.containers import INSTALL, library_call, loaded, of_dataset
from reservoir.io.ensemble_years import MemberSeries, refuse_codes, where, without_negative
from reservoir.io.inflow_csv.caveats import caveat_fault
from reservoir.io.inflow_csv.column_words import understand
from reservoir.io.inflow_csv.companions import Companion, codes_beside, companion_notes, companion_of, nearly_named
from reservoir.io.inflow_csv.member_table import wrong_name
from reservoir.io.inflow_csv.one_series import change_of_series, may_tell_series, several_series
from reservoir.io.inflow_csv.stamps import says_end
from reservoir.io.inflow_csv.unit_words import Kind, words_of
from reservoir.io.inflow_csv.units import ACCEPTED, InflowUnit, unit_named
from reservoir.io.inflow_csv.value_column import passed_over_note
from reservoir.io.inflow_csv.vocabulary import STRANGE_FORMS
from reservoir.io.inflow_reading import InflowReading
from reservoir.io.output import content_sha256
from reservoir.text.quantities import printable

#: Ends of the names of files that are read here, and of folders.
SUFFIXES, ZARR = (".nc", ".nc4", ".cdf", ".netcdf"), ".zarr"
#: Dimensions that may be there even with one member; others of a single item say nothing.
_MEMBER_NAMES = ("member", "scenario", "realization", "ensemble", "number")
#: Names of a variable that is the inflow whatever stands beside it.
_INFLOW_NAMES = ("inflow_m3s", "inflow")
#: What a standard name of flow holds, alone: a second word names an error, a flag or a count of it.
_STANDARD = re.compile(r"\S*water_volume_transport\S*")
#: A coordinate of times, and one of its dates as numbers.
_SINCE = re.compile(r"\bsince\b", re.IGNORECASE)
#: ``time: mean``, ``lat: lon: mean``, ``time: mean (interval: 1 day)``: the axes of a method, and its words.
_METHOD = re.compile(r"((?:\S+:\s+)+)((?:(?!\S+:).)+)")
#: Part of a month by which the ends of its bounds may miss its own.
_CLOSE = 0.06
#: Years that a calendar has.
_YEARS = 10_000
#: How depths of evaporation are written, by the sizes of their units, and prices by theirs.
_DEPTHS = {
    DEPTH_MM["mm"]: r"(mm|milli ?met(er|re)s?)( ?(/|per) ?month| month-1)?|kg m-2|kg/m2|kg m\^-2",
    DEPTH_MM["in"]: "in|inch|inches",
    DEPTH_MM["ft"]: "ft|foot|feet",
}
_PRICES = {size: rf".*((/|per) ?{of}|{of} ?(\^|\*\*)?-1)" for size, of in ((1.0, "mwh"), (1e3, "kwh"))}
_COMPANION_UNITS = {"evaporation_mm": _DEPTHS, "price_per_mwh": _PRICES}

FloatArray = NDArray[np.float64]


def is_netcdf(file: str) -> bool:
    """Whether a file or folder is one of these formats, by its name."""
    return file.casefold().rstrip("/\\").endswith((*SUFFIXES, ZARR))


def read_netcdf(file: str, reading: InflowReading, first_month: int | None) -> Inflow:
    """Read a record or an ensemble, see `reservoir.read_inflow`; raises InputError as `netcdf_series` does."""
    return netcdf_series(file, reading, first_month).inflow(first_month)


def netcdf_series(file: str, reading: InflowReading, first_month: int | None = None) -> MemberSeries:
    """The months of a record, or of all members of an ensemble.

    Raises
    ------
    InputError
        If it cannot be read, if the variable, its months or its unit are not clear, or with the first wrong values.
    """
    path = Path(file)
    if find_spec("xarray") is None:
        raise InputError(Mistake("NetCDF and Zarr need xarray, which is not installed", mend=INSTALL))
    if not os.path.exists(file):
        raise InputError(Mistake("the file does not exist", mend="check the path"))
    found = of_dataset(path, lambda dataset: _found(dataset, path, reading.column), _refused)
    # Dimensions and attributes may be anything.
    return library_call(lambda: _series_of(found, path, reading, first_month), _refused)


def _series_of(found: _Found, path: Path, reading: InflowReading, first_month: int | None) -> MemberSeries:
    time, name, dimension, bounds, beside, others, tells, variables, caveat = found
    attributes = variables[name].attrs
    chosen, said_by = _unit(name, attributes.get("units"), reading.unit)
    _check_method(name, attributes, time, ("sum",) if chosen.is_volume and chosen.of_step is None else ("mean",))
    first, notes = _first_of(variables, time, bounds, first_month or 1)
    _check_series({each: variables[each].values for each in tells}, first)
    of_inflow = _values_of(name, variables[name], time, dimension)
    members = _names(variables.get(dimension or ""), dimension, len(of_inflow.values))
    series = _flows(of_inflow, first, members, negative=reading.negative is not None)
    series, negative = without_negative(series, chosen, first, reading.negative)
    companions: dict[str, FloatArray] = {}
    for each in beside:
        known = companion_of(each)
        assert known is not None
        if known.field in companions:
            problem, mend = f"{each} is a second variable of the same quantity", f"keep one of {each.partition('_')[0]}"
            raise InputError(Mistake(problem, "one variable of each quantity", mend))
        _check_method(each, variables[each].attrs, time, ("mean", "sum"))
        of_loss = _values_of(each, variables[each], time, dimension)
        companions[known.field] = _beside(each, variables[each], known, of_loss, first, members)
    refused = [(each, nearly) for each in others if (nearly := nearly_named(each))]
    if refused:
        raise InputError([replace(nearly, column="", problem=f"{each} {nearly.problem}") for each, nearly in refused])
    names = {known.field: each for each in beside if (known := companion_of(each))}
    notes = (*notes, *map(printable, companion_notes(companions, names, MONTHS_PER_YEAR)))
    if others:
        notes = (*notes, printable(passed_over_note(others, f"read variable {name}")))
    about: dict[str, Any] = {
        "caveat": caveat,
        "source": os.fspath(path),
        "sha256": content_sha256(path),
        "unit_from": printable(said_by),
        "notes": (*notes, *negative),
        "reading": reading.as_dict(),
        "allow_negative": reading.negative == "keep",
    }
    return MemberSeries(first, series, members, chosen, companions, about)


class _Found(NamedTuple):
    """What a dataset has: names of variables and dimensions, those that are read with their values, and its caveat."""

    time: str
    inflow: str
    members: str | None
    bounds: str | None
    companions: list[str]
    passed_over: list[str]
    of_series: list[str]
    variables: dict[str, Any]
    caveat: str


def _found(dataset: Any, path: Path, wanted: str | None) -> _Found:
    time, beside = _time_of(dataset), _companions(dataset)
    name = _variable(dataset, time, wanted)
    _check_name(name)
    dimension, bounds = _members_of(dataset.variables[name], name, time), _bounds_of(dataset, time)
    further = [each for each in (bounds, dimension) if each is not None and each in dataset.variables]
    tells = [str(each) for each, found in dataset.variables.items() if _tells_series(str(each), found, time)]
    variables = loaded(dataset, (time, name, *further, *beside, *tells), path, _refused)
    others = [each for each in _by_time(dataset, time) if each != name]
    return _Found(time, name, dimension, bounds, beside, others, tells, variables, _caveat(dataset))


def _refused(reason: str) -> InputError:
    mend = "check that it is a complete file by CF conventions"
    return InputError(Mistake(f"cannot be read as NetCDF or Zarr ({reason})", mend=mend))


def _caveat(dataset: Any) -> str:
    text = " ".join(str(dataset.attrs.get("caveat", "")).split())
    wrong = caveat_fault(text)
    if wrong:
        raise InputError(wrong)
    return text


def _time_of(dataset: Any) -> str:
    """The name of the dimension of times: the one whose coordinate has dates."""
    found = [
        str(name)
        for name, column in dataset.coords.items()
        if column.dims == (name,) and _SINCE.search(str(column.attrs.get("units", "")))
    ]
    if len(found) == 1:
        kind = dataset.variables[found[0]].dtype
        if kind.kind not in "iuf":
            expected, mend = "numbers, as its units say", "write the times of the months as CF conventions say"
            raise InputError(Mistake(f"{found[0]} is of type {kind}", expected, mend))
        return found[0]
    problem = f"{len(found)} dimensions have dates" if found else "no dimension has dates"
    expected = 'a dimension "time" with a coordinate such as "days since 1953-01-01"'
    raise InputError(Mistake(problem, expected, "write the times of the months as CF conventions say"))


def _companions(dataset: Any) -> list[str]:
    return [str(name) for name in dataset.data_vars if companion_of(str(name))]


def _by_time(dataset: Any, time: str) -> list[str]:
    """Variables of numbers by time, but for companions and bounds."""
    bounds = {str(each.attrs.get(kind)) for each in dataset.variables.values() for kind in ("bounds", "climatology")}
    return [
        str(name)
        for name, column in dataset.data_vars.items()
        if time in column.dims and column.dtype.kind in "iuf" and companion_of(str(name)) is None
        if name not in bounds and not str(name).endswith("_bnds")
    ]


def _variable(dataset: Any, time: str, wanted: str | None) -> str:
    """The name of the inflow."""
    found = _by_time(dataset, time)
    if wanted is not None and wanted not in found:
        problem = f"no such variable by {time}; the file has {', '.join(found)}"
        raise InputError(Mistake(problem, "the name of a variable", "give one of them", column="column", value=wanted))
    if wanted is not None:
        return wanted
    named = [name for name in _INFLOW_NAMES if name in found] or [
        name for name in found if _STANDARD.fullmatch(str(dataset[name].attrs.get("standard_name", "")))
    ]
    if len(named or found) == 1:
        return (named or found)[0]
    problem = f"{len(found)} variables by {time}: {', '.join(found)}" if found else f"no variable by {time}"
    raise InputError(
        Mistake(problem, "one variable, the inflow", f"name one (--column NAME), or call it {_INFLOW_NAMES[0]}")
    )


def _members_of(column: Any, name: str, time: str) -> str | None:
    """The dimension of members; None of a single record."""
    sizes = dict(zip(column.dims, column.shape, strict=True))
    found = [each for each in column.dims if each != time and (sizes[each] != 1 or each in _MEMBER_NAMES)]
    if len(found) > 1 or len(sizes) < len(column.dims):
        problem = f"the variable {name} has the dimensions {', '.join(map(str, column.dims))}"
        raise InputError(Mistake(problem, "time, and one dimension of members", "select one item, or stack them"))
    return str(found[0]) if found else None


def _names(coordinate: Any, dimension: str | None, members: int) -> list[str] | None:
    """Names of the members, by which tables and figures name them; their numbers where they have none."""
    if dimension is None:
        return None
    if not members:
        raise InputError(Mistake(f"the dimension {dimension} has no items", mend="check that this is the right file"))
    if coordinate is None or coordinate.dims != (dimension,):
        return [str(1 + place) for place in range(members)]
    texts = (text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text) for text in coordinate.values)
    names = [text.strip() for text in texts]
    for name in names:
        wrong = wrong_name(name)
        if wrong:
            raise InputError(replace(wrong, problem=f"{dimension}: {wrong.problem}", value=name))
    if len(set(names)) < len(names):
        raise InputError(Mistake(f"two items of {dimension} have the same name", "different names", "rename them"))
    return names


def _bounds_of(dataset: Any, time: str) -> str | None:
    """The variable with the beginning and the end of each month."""
    attributes = dataset.variables[time].attrs
    if "climatology" in attributes:
        problem = f"{time} has climatological bounds: values are means of many years"
        raise InputError(Mistake(problem, "a value of each month of each year", "give the record, not its climatology"))
    name = attributes.get("bounds")
    if not isinstance(name, str) or name not in dataset.variables:
        return None
    bounds = dataset.variables[name]
    if bounds.dims[:1] != (time,) or bounds.shape[1:] != (2,) or bounds.dtype.kind not in "iuf":
        problem = f"{name} has the shape {bounds.shape}"
        raise InputError(Mistake(problem, f"two numbers for each {time}", "write the bounds as CF conventions say"))
    return name


def _first_of(
    variables: Mapping[str, Any], time: str, bounds: str | None, first_month: int
) -> tuple[int, tuple[str, ...]]:
    """The first month, counted from January of year 0, and notes; refused unless each is followed by the next."""
    stamps, notes = _dates(variables, time, time), []
    if not stamps.size:
        raise InputError(Mistake("has no months", "at least 12", "check that this is the right file"))
    if bounds is None:
        _require_begins(stamps, variables[time].attrs, time, first_month)
        months = np.floor(stamps)
    else:
        edges = np.sort(_dates(variables, bounds, time), axis=1)
        months = np.rint(edges[:, 0])
        wrong = np.flatnonzero(np.abs(edges - months[:, None] - [0, 1]).max(axis=1) > _CLOSE)
        if wrong.size:
            begin, end = edges[wrong[0]]
            problem = f"{bounds}: item {1 + wrong[0]} is no month, but {end - begin:.3g} months from {_month(begin)}"
            expected, mend = "the beginning and the end of a month", "make monthly means, or correct the bounds"
            raise InputError(Mistake(problem, expected, mend))
        if (np.floor(stamps) != months).any():
            notes = [f"months are those of {bounds}; {time} may name their ends"]
    steps = np.flatnonzero(np.diff(months) != 1)
    if steps.size:
        problem = f"{_month(months[steps[0] + 1])} follows {_month(months[steps[0]])}"
        expected, mend = "months in order, each once", "make monthly means, in order; fill in or cut off missing months"
        raise InputError(Mistake(problem, expected, mend))
    if months[0] < MONTHS_PER_YEAR or months[-1] >= _YEARS * MONTHS_PER_YEAR:
        problem = f"the months are {_month(months[0])} to {_month(months[-1])}"
        raise InputError(Mistake(problem, f"years 1 to {_YEARS - 1}", f"correct the units of {time}"))
    return int(months[0]), tuple(map(printable, notes))


def _month(position: float) -> str:
    return month_name(int(np.floor(position)))


def _require_begins(stamps: FloatArray, attributes: Mapping[str, Any], time: str, first_month: int) -> None:
    """Refuse the first days of months where they may stand at the end of the month before, as in CSV."""
    if (stamps != np.floor(stamps)).any():
        return
    begins = int(stamps[0]) % MONTHS_PER_YEAR + 1
    late = begins in {2, first_month % MONTHS_PER_YEAR + 1} and begins != first_month
    first, last = _month(stamps[0]), _month(stamps[-1])
    if "bounds" in attributes:
        why = f"{time} has bounds that are not in the file"
    elif says_end(" ".join(str(text) for text in attributes.values())):
        why = f"an attribute of {time} mentions the end of the month"
    elif late and len(stamps) % MONTHS_PER_YEAR == 0:
        why = f"the record has whole years from {first} to {last}"
    else:
        return
    problem = f"each date may be the day after the end of its month: {why}"
    expected = f"the month of the flow: {_month(stamps[0] - 1)} or {first}"
    raise InputError(Mistake(problem, expected, f"write the bounds of {time}, or dates in the middle of months"))


def _dates(variables: Mapping[str, Any], name: str, time: str) -> FloatArray:
    """Times as months since January of year 0, with the part of the month that is over."""
    values = variables[name].values
    _require_dates(name, values)
    attributes: dict[str, Any] = {}
    for each in (time, name):  # bounds have the units of their times, or their own
        attributes |= {key: told for key, told in variables[each].attrs.items() if key in ("units", "calendar")}

    def decoded() -> FloatArray:
        import xarray

        coder = xarray.coders.CFDatetimeCoder(time_unit="s")
        dataset = xarray.Dataset({"dates": ("number", values.ravel(), attributes)})
        date = xarray.decode_cf(dataset, decode_times=coder).dates.dt
        day = date.day + (date.hour + date.minute / 60) / 24 - 1
        return np.asarray(date.year * MONTHS_PER_YEAR + date.month - 1 + day / date.days_in_month, np.float64)

    dates = library_call(decoded, _refused).reshape(values.shape) if values.size else values
    _require_dates(name, dates)
    return dates


def _require_dates(name: str, values: NDArray[Any]) -> None:
    missing = np.flatnonzero(~np.isfinite(values.ravel()))
    if missing.size:
        problem = f"{name} has a missing value, number {1 + missing[0]}"
        raise InputError(Mistake(problem, "the date of each month", "write the date"))


def _unit(name: str, attribute: object, argument: str | None) -> tuple[InflowUnit, str]:
    """The unit, and where it was said."""
    told = {"the unit argument": argument, "the units attribute": attribute}
    texts = {source: str(text) for source, text in told.items() if text is not None}
    of_name = f"the name {name}"
    texts = texts or {of_name: name}
    found: list[tuple[str, InflowUnit]] = []
    for source, text in texts.items():
        unit = unit_named(text)
        if unit is None:
            mend = f"convert the values, or write the units attribute of {name} (or give --unit)"
            raise InputError(Mistake(f"{source} is no unit that is known", ACCEPTED, mend, value=text))
        found.append((source, unit))
    (source, unit), (_, last) = found[0], found[-1]
    contradicts = (unit.size, unit.is_volume) != (last.size, last.is_volume)
    if not contradicts and of_name not in texts and _names_other(name, unit):
        contradicts, texts = True, texts | {of_name: " ".join((*understand(name).units, *_strange(name)))}
    if contradicts:
        problem = "contradictory units: " + ", ".join(f"{each} gives {text}" for each, text in texts.items())
        raise InputError(Mistake(problem, "one unit", "check which is right, and correct or remove the other"))
    return unit, f"from {source}"


def _names_other(name: str, unit: InflowUnit) -> bool:
    """Whether a variable's name has another unit, known or not."""
    named = [unit_named(each) for each in understand(name).units]
    if named:
        return all(each is None or (each.size, each.is_volume) != (unit.size, unit.is_volume) for each in named)
    return bool(_strange(name))


def _strange(name: str) -> list[str]:
    """Units in a name that are not known."""
    return [word.text for word in words_of(name) if len(word.text) > 2 and STRANGE_FORMS.fullmatch(word.text)]


class _Values(NamedTuple):
    """A variable's values, shape (members, months), and which of them its attributes call missing."""

    values: FloatArray
    outside: NDArray[np.bool_]

    def wrong(self, right: NDArray[np.bool_]) -> list[tuple[int, ...]]:
        """The first places of values that are not right, missing or infinite."""
        wrong = ~(right & np.isfinite(self.values) & ~self.outside)
        return [tuple(place) for place in np.argwhere(wrong)[: MOST_MISTAKES + 1].tolist()]

    def fault(self, place: tuple[int, ...], other: str) -> str:
        """What is wrong with one."""
        value = self.values[place]
        if np.isnan(value):
            return "missing value"
        if self.outside[place]:
            return f"missing value ({value:g} is outside the valid range that the attributes state)"
        return "infinite value" if np.isinf(value) else other


def _values_of(name: str, variable: Any, time: str, dimension: str | None) -> _Values:
    """Values by member and month."""
    wanted = [each for each in (dimension, time) if each is not None]
    others = [axis for axis, each in enumerate(variable.dims) if each not in wanted]
    if set(wanted) > set(variable.dims) or any(variable.shape[axis] != 1 for axis in others):
        problem = f"{name} has the dimensions {', '.join(map(str, variable.dims))}"
        expected = f"{', '.join(wanted)}, as the inflow"
        raise InputError(Mistake(problem, expected, "give a value for every member and month"))
    if variable.dtype.kind not in "iuf":
        raise InputError(Mistake(f"{name} is of type {variable.dtype}", "numbers", "write the values as numbers"))
    ordered = np.transpose(variable.values, [*others, *map(variable.dims.index, wanted)])
    values = np.asarray(ordered, np.float64).reshape(ordered.shape[len(others) :]).reshape(-1, ordered.shape[-1])
    least, most = _valid_range(name, variable)
    return _Values(values, (values < least) | (values > most))


def _valid_range(name: str, variable: Any) -> tuple[float, float]:
    """The least and the largest value that is not missing, as attributes state; whole numbers are of what is packed."""
    scale, offset = (
        float(np.ravel(variable.encoding.get(each, usual))[0])
        for each, usual in (("scale_factor", 1.0), ("add_offset", 0.0))
    )
    least, most = -np.inf, np.inf
    for attribute, count in (("valid_range", 2), ("valid_min", 1), ("valid_max", 1)):
        told = variable.attrs.get(attribute)
        if told is None:
            continue
        limits = np.ravel(np.asarray(told))
        if limits.shape != (count,) or limits.dtype.kind not in "iuf" or np.isnan(limits).any():
            problem = f"{attribute} of {name} is {shortened(str(told))}"
            raise InputError(Mistake(problem, f"{count} numbers" if count > 1 else "a number", "correct the attribute"))
        half, below, above = 0.0, attribute != "valid_max", attribute != "valid_min"
        if variable.encoding.keys() & {"scale_factor", "add_offset"} and limits.dtype.kind in "iu":
            if str(variable.encoding.get("_Unsigned")).casefold() == "true":
                limits = limits.astype(f"u{limits.dtype.itemsize}")
            # Half a step of what is packed lies between a value that is in the range and one that is not.
            limits, half = limits * scale + offset, abs(scale) / 2
            if scale < 0:
                below, above = above, below
        least = max(least, float(limits.min()) - half) if below else least
        most = min(most, float(limits.max()) + half) if above else most
    return least, most


def _check_method(name: str, attributes: Mapping[str, Any], time: str, right: Sequence[str]) -> None:
    """Refuse maxima, states at a moment and other statistics of a month."""
    methods = re.sub(r"\([^)]*\)", " ", str(attributes.get("cell_methods", "")))
    for axes, words in _METHOD.findall(methods):
        if time not in axes.replace(":", " ").split():
            continue
        method, *further = words.split()
        if method not in right or "years" in further:
            problem = f"cell_methods of {name} says {time}: {words.strip()}"
            mend = "give the mean or the sum of each month, or correct the attribute"
            raise InputError(Mistake(problem, f"{time}: {' or '.join(right)}", mend))


def _check_name(name: str) -> None:
    """Refuse another quantity, or a statistic, as in CSV."""
    saying = understand(name)
    if saying.is_other or Kind.STATISTIC in saying.kinds:
        expected = "monthly inflow, as mean flow or volume"
        mend = "give the variable of the inflow; if this is it, name it inflow_m3s, or inflow with another unit"
        raise InputError(Mistake(f"the variable {name} does not seem to be inflow", expected, mend))


def _tells_series(name: str, variable: Any, time: str) -> bool:
    """Whether a variable of texts by time may tell one series from another."""
    return variable.dims == (time,) and variable.dtype.kind in "SUO" and may_tell_series(name)


def _check_series(texts: Mapping[str, Any], first: int) -> None:
    """Refuse months of several series, as in CSV."""
    for name, values in texts.items():
        cells = [each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each) for each in values.tolist()]
        change = change_of_series(name, cells)
        if change is not None:
            refused = several_series(name, change)
            problem = f"{month_name(first + change.place)}: {refused.problem}"
            raise InputError(Mistake(printable(problem), refused.expected, refused.mend))


def _flows(of_inflow: _Values, first: int, members: Sequence[str] | None, *, negative: bool) -> FloatArray:
    """Values of the inflow, shape (members, months), finite and, unless that is asked for, not negative."""
    values = of_inflow.values
    refuse_codes(np.where(of_inflow.outside, np.nan, values), first, members)
    wrong = of_inflow.wrong((values >= 0) | negative)
    expected, mend = "a number of 0 or more", "fill in or correct the value, or leave out the member"
    if wrong:
        raise InputError(
            worth_telling(
                (
                    Mistake(
                        f"{of_inflow.fault(at, 'negative value')} at {where(first + at[1], at[0], members)}",
                        expected,
                        mend,
                    )
                    for at in wrong
                ),
                "",
            )
        )
    return values


def _beside(
    name: str, variable: Any, known: Companion, of_loss: _Values, first: int, members: Sequence[str] | None
) -> FloatArray:
    """Values of a further variable in the unit of its field of `Inflow`, shape (members, months)."""
    unit = variable.attrs.get("units")
    if unit is not None and not _is_unit_of(str(unit), known):
        problem = f"contradictory units: the name {name} gives another than its units attribute"
        raise InputError(Mistake(problem, "the unit of the name", "convert the values, or rename it", value=str(unit)))
    least, most = known.allowed
    codes = codes_beside(known.field, np.where(of_loss.outside, 0.0, np.nan_to_num(of_loss.values)))
    refuse_codes(of_loss.values, first, members, name, codes)
    values = of_loss.values * known.size
    wrong = of_loss.wrong((values >= least) & (values <= most))
    if wrong:
        at = wrong[0]
        problem = f"{name}: {of_loss.fault(at, 'is out of range')} at {where(first + at[1], at[0], members)}"
        expected = f"{least / known.size:g} to {most / known.size:g}"
        mend = "check the value and its unit, which the variable's name states"
        raise InputError(Mistake(problem, expected, mend, value=float(of_loss.values[at])))
    return values


def _is_unit_of(text: str, known: Companion) -> bool:
    """Whether a text names the unit of a companion."""
    if known.field in _COMPANION_UNITS:
        return re.fullmatch(_COMPANION_UNITS[known.field][known.size], " ".join(text.casefold().split())) is not None
    unit = unit_named(text)
    return unit is not None and not unit.is_volume and unit.size == known.size
