"""Inflow from NetCDF or Zarr by CF conventions: a variable by time, and by member where it is an ensemble."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake, shortened
from reservoir.hydro.calendar import MONTHS_PER_YEAR, month_name
from reservoir.hydro.units import DEPTH_MM
from reservoir.io.containers import INSTALL, library_call, loaded, of_dataset
from reservoir.io.output import content_sha256
from reservoir.io.records.cells import codes_among
from reservoir.io.records.columns import (
    Companion,
    companion_notes,
    companion_of,
    may_tell_series,
    nearly_named,
    passed_over_note,
    several_series,
)
from reservoir.io.records.dates import day_after, says_end, whole_years_late
from reservoir.io.records.members import wrong_name
from reservoir.io.records.record import InflowReading, Series
from reservoir.io.records.table import caveat_mistakes
from reservoir.io.records.units import ACCEPTED, InflowUnit, unit_named
from reservoir.io.records.words import ALL_SPELLINGS, MEMBER_DIMENSIONS, STRANGE_FORMS, understand, words_of
from reservoir.text.quantities import printable

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
_MM = r"(mm|milli ?met(er|re)s?)( ?(/|per) ?month| month-1)?|kg m-2|kg/m2|kg m\^-2"
_DEPTHS = {size: "|".join(ALL_SPELLINGS[unit]) for unit, size in DEPTH_MM.items()} | {1.0: _MM}
_PRICES = {size: rf".*((/|per) ?{of}|{of} ?(\^|\*\*)?-1)" for size, of in ((1.0, "mwh"), (1e3, "kwh"))}
_COMPANION_UNITS = {"evaporation_mm": _DEPTHS, "price_per_mwh": _PRICES}
FloatArray = NDArray[np.float64]


def netcdf_series(file: str, reading: InflowReading) -> Series:
    """The months of a record, or of all members of an ensemble.

    Raises
    ------
    InputError
        If it cannot be read, if the variable, its months or its unit are not clear, or with the first wrong values.
    """
    reading.require_months("NetCDF or Zarr")
    path = Path(file)
    if find_spec("xarray") is None:
        raise InputError("NetCDF and Zarr need xarray, which is not installed", mend=INSTALL)
    if not os.path.exists(file):
        raise InputError("the file does not exist", mend="check the path")
    contents = of_dataset(path, lambda dataset: _contents(*_of_site(dataset, reading), path), _refused)
    # Dimensions and attributes may be anything.
    return library_call(lambda: contents.series(path, reading), _refused)


class _Contents(NamedTuple):
    """What a dataset has: names of variables and dimensions, those that are read with their values, and its caveat."""

    time: str
    inflow: str
    dimension: str | None  # of members
    bounds: str | None
    companions: dict[str, Companion]
    passed_over: list[str]
    of_series: list[str]
    variables: dict[str, Any]
    caveat: str

    def series(self, path: Path, reading: InflowReading) -> Series:
        """The months of a record, or of all members."""
        name = self.inflow
        unit, unit_from = _unit(name, self.variables[name].attrs.get("units"), reading.unit)
        self._check_method(name, "sum" if unit.is_volume and unit.of_step is None else "mean")
        first, notes = self._first(reading.first_month or 1)
        for column in self.of_series:
            change = several_series(column, [*map(_text, self.variables[column].values.tolist())])
            if change is not None:
                place, mistake = change
                problem = printable(f"{month_name(first + place)}: {mistake.problem}")
                raise InputError(problem, mistake.expected, mistake.mend)
        of_inflow = self._values(name)
        months = Series(first, self._members(len(of_inflow.values)), of_inflow.values, unit)
        inside = np.where(of_inflow.outside, np.nan, of_inflow.values)
        months.refuse_codes(codes_among(inside)[0], inside)
        expected, mend = "a number of 0 or more", "fill in or correct the value, or leave out the member"

        def mistake_at(member: int, month: int) -> Mistake:
            problem = of_inflow.fault((member, month)) or "negative value"
            return Mistake(f"{problem} at {months.named(month, member)}", expected, mend)

        months.refuse(of_inflow.wrong((of_inflow.values >= 0) | (reading.negative is not None)), mistake_at)
        values, negative = months.without_negative(reading.negative)
        beside: dict[str, tuple[str, FloatArray]] = {}
        for column, companion in self.companions.items():
            if companion.field in beside:
                problem = f"{column} is a second variable of the same quantity"
                raise InputError(problem, "one variable of each quantity", f"keep one of {column.partition('_')[0]}")
            beside[companion.field] = (column, self._companion(column, companion, months))
        unread = [(column, nearly) for column in self.passed_over if (nearly := nearly_named(column))]
        if unread:
            raise InputError([replace(nearly, column="", problem=f"{of} {nearly.problem}") for of, nearly in unread])
        passed_over = [passed_over_note(self.passed_over, f"read variable {name}")] if self.passed_over else []
        further = [printable(note) for note in (*companion_notes(beside, MONTHS_PER_YEAR), *passed_over)]
        about = reading.about(os.fspath(path), printable(unit_from))
        about |= {"caveat": self.caveat, "sha256": content_sha256(path), "notes": (*notes, *further, *negative)}
        return replace(months, values=values, companions=beside, about=about)

    def _members(self, members: int) -> list[str] | None:
        """Names of the members, by which tables and figures name them; their numbers where they have none."""
        dimension = self.dimension
        if dimension is None:
            return None
        if not members:
            raise InputError(f"the dimension {dimension} has no items", mend="check that this is the right file")
        coordinate = self.variables.get(dimension)
        if coordinate is None or coordinate.dims != (dimension,):
            return [str(1 + place) for place in range(members)]
        names = [_text(value).strip() for value in coordinate.values]
        for name in names:
            if wrong := wrong_name(name):
                raise InputError(replace(wrong, problem=f"{dimension}: {wrong.problem}", value=name))
        if len(set(names)) < len(names):
            raise InputError(f"two items of {dimension} have the same name", "different names", "rename them")
        return names

    def _first(self, first_month: int) -> tuple[int, list[str]]:
        """The first month, counted from January of year 0, and notes; refused unless each is followed by the next."""
        stamps, notes, time, bounds = self._dates(self.time), list[str](), self.time, self.bounds
        if not stamps.size:
            raise InputError("has no months", "at least 12", "check that this is the right file")
        if bounds is None:
            months = np.floor(stamps)
            if (stamps == months).all():
                self._require_begins(months, first_month)
        else:
            edges = np.sort(self._dates(bounds), axis=1)
            months = np.rint(edges[:, 0])
            wrong = np.flatnonzero(np.abs(edges - months[:, None] - [0, 1]).max(axis=1) > _CLOSE)
            if wrong.size:
                begin, end = edges[wrong[0]]
                length = f"{end - begin:.3g} months from {_month(begin)}"
                problem = f"{bounds}: item {1 + wrong[0]} is no month, but {length}"
                mend = "make monthly means, or correct the bounds"
                raise InputError(problem, "the beginning and the end of a month", mend)
            if (np.floor(stamps) != months).any():
                notes = [printable(f"months are those of {bounds}; {time} may name their ends")]
        jumps = np.flatnonzero(np.diff(months) != 1)
        if jumps.size:
            problem = f"{_month(months[jumps[0] + 1])} follows {_month(months[jumps[0]])}"
            mend = "make monthly means, in order; fill in or cut off missing months"
            raise InputError(problem, "months in order, each once", mend)
        if months[0] < MONTHS_PER_YEAR or months[-1] >= _YEARS * MONTHS_PER_YEAR:
            problem = f"the months are {_month(months[0])} to {_month(months[-1])}"
            raise InputError(problem, f"years 1 to {_YEARS - 1}", f"correct the units of {time}")
        return int(months[0]), notes

    def _require_begins(self, months: FloatArray, first_month: int) -> None:
        """Refuse the first days of months where they may stand at the end of the month before, as in CSV."""
        time, attributes, first = self.time, self.variables[self.time].attrs, int(months[0])
        why = whole_years_late(first, int(months[-1]), len(months), first_month)
        if "bounds" in attributes:
            why = f"{time} has bounds that are not in the file"
        elif says_end(" ".join(str(text) for text in attributes.values())):
            why = f"an attribute of {time} mentions the end of the month"
        if why:
            raise InputError(day_after(first, why, f"write the bounds of {time}, or dates in the middle of months"))

    def _dates(self, name: str) -> FloatArray:
        """Times as months since January of year 0, with the part of the month that is over."""
        values = self.variables[name].values
        _require_dates(name, values)
        # Bounds have the units of their times, or their own.
        both = self.variables[self.time].attrs | self.variables[name].attrs
        attributes = {key: both[key] for key in ("units", "calendar") if key in both}

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

    def _values(self, name: str) -> _Values:
        """Values by member and month."""
        variable = self.variables[name]
        wanted = [axis for axis in (self.dimension, self.time) if axis is not None]
        others = [axis for axis, of in enumerate(variable.dims) if of not in wanted]
        if set(wanted) > set(variable.dims) or any(variable.shape[axis] != 1 for axis in others):
            problem, expected = _dimensions_of(name, variable), f"{', '.join(wanted)}, as the inflow"
            raise InputError(problem, expected, "give a value for every member and month")
        if variable.dtype.kind not in "iuf":
            raise InputError(f"{name} is of type {variable.dtype}", "numbers", "write the values as numbers")
        ordered = np.transpose(variable.values, [*others, *map(variable.dims.index, wanted)])
        values = np.asarray(ordered, np.float64).reshape(ordered.shape[len(others) :]).reshape(-1, ordered.shape[-1])
        least, most = _valid_range(name, variable)
        return _Values(values, (values < least) | (values > most))

    def _companion(self, name: str, known: Companion, months: Series) -> FloatArray:
        """Values of a further variable in the unit of its field of `Inflow`, shape (members, months)."""
        self._check_method(name, "mean", "sum")
        column, attribute = self._values(name), self.variables[name].attrs.get("units")
        if attribute is not None and known.field != "flood_index":
            text, forms = str(attribute), _COMPANION_UNITS.get(known.field)
            unit = unit_named(text) if forms is None else None
            of_volumes = known.field.endswith("_hm3")
            right = unit is not None and unit.is_volume == of_volumes and unit.size == known.size
            if forms is not None:
                right = re.fullmatch(forms[known.size], " ".join(text.casefold().split())) is not None
            if not right:
                problem = f"contradictory units: the name {name} gives another than its units attribute"
                raise InputError(problem, "the unit of the name", "convert the values, or rename it", value=text)
        codes = known.codes_among(np.where(column.outside, 0.0, np.nan_to_num(column.values)))
        months.refuse_codes(codes, column.values, name)
        values, (least, most) = column.values * known.size, known.allowed
        for member, month in np.argwhere(column.wrong((values >= least) & (values <= most))).tolist():
            problem = column.fault((member, month)) or "is out of range"
            problem = f"{name}: {problem} at {months.named(month, member)}"
            expected = f"{known.range.least:g} to {known.range.most:g}"
            mend = "check the value and its unit, which the variable's name states"
            raise InputError(problem, expected, mend, value=float(column.values[member, month]))
        return values

    def _check_method(self, name: str, *right: str) -> None:
        """Refuse maxima, states at a moment and other statistics of a month."""
        methods = re.sub(r"\([^)]*\)", " ", str(self.variables[name].attrs.get("cell_methods", "")))
        for axes, words in _METHOD.findall(methods):
            method, *further = words.split()
            if self.time in axes.replace(":", " ").split() and (method not in right or "years" in further):
                problem = f"cell_methods of {name} says {self.time}: {words.strip()}"
                mend = "give the mean or the sum of each month, or correct the attribute"
                raise InputError(problem, f"{self.time}: {' or '.join(right)}", mend)


class _Values(NamedTuple):
    """A variable's values, shape (members, months), and which of them its attributes call missing."""

    values: FloatArray
    outside: NDArray[np.bool_]

    def wrong(self, right: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Values that are not right, missing or infinite."""
        return ~(right & np.isfinite(self.values) & ~self.outside)

    def fault(self, place: tuple[int, int]) -> str:
        """Why one is no value; empty where it is one."""
        value = self.values[place]
        if np.isnan(value):
            return "missing value"
        if self.outside[place]:
            return f"missing value ({value:g} is outside the valid range that the attributes state)"
        return "infinite value" if np.isinf(value) else ""


def columns_of(file: str) -> tuple[list[str], dict[str, list[str]]]:
    """Names of the variables of a file, and the texts by which a dimension that is not of members tells its items."""

    def listed(dataset: Any) -> tuple[list[str], dict[str, list[str]]]:
        texts = {str(name): each for name, each in dataset.coords.items() if each.dtype.kind in "SUO"}
        of_items = {name: each for name, each in texts.items() if each.ndim == 1 and name not in MEMBER_DIMENSIONS}
        items = {name: [*map(_text, each.values)] for name, each in of_items.items()}
        return [str(name) for name in dataset.data_vars], items

    return of_dataset(Path(file), listed, _refused)


def _of_site(dataset: Any, reading: InflowReading) -> tuple[Any, InflowReading]:
    """The data of one item of a dimension where the caller asks for it by ``inflow; station=Upper``."""
    dataset = dataset.rename({name: other for name, other in reading.named.items() if name in dataset.variables})
    column = None
    for part in filter(None, map(str.strip, (reading.column or "").split(";"))):
        name, equals, value = (text.strip() for text in part.partition("="))
        if not equals or name not in dataset.coords:
            column = part
            continue
        items = [_text(each).strip().casefold() for each in dataset.coords[name].values]
        if value.casefold() not in items:
            expected = f"one of {shortened(', '.join(items), 200)}"
            raise InputError(f"no item of {name} is {value}", expected, column="column", value=reading.column)
        dataset = dataset.isel({dataset.coords[name].dims[0]: items.index(value.casefold())}, drop=True)
    return dataset, replace(reading, column=column)


def _contents(dataset: Any, reading: InflowReading, path: Path) -> _Contents:
    time, columns = _time_of(dataset), {str(key): column for key, column in dataset.variables.items()}
    # Zarr lists what it has as it comes, in another order every time.
    columns = dict(sorted(columns.items())) if path.is_dir() else columns
    data = [key for key in columns if key in dataset.data_vars]
    companions = {key: known for key in data if (known := companion_of(key, reading.flood_column))}
    bounds_of_times = {str(column.attrs.get(kind)) for column in columns.values() for kind in ("bounds", "climatology")}
    numbers = [key for key in data if time in columns[key].dims and columns[key].dtype.kind in "iuf"]
    by_time = [key for key in numbers if key not in {*companions, *bounds_of_times} and not key.endswith("_bnds")]
    name = _inflow_of(dataset, by_time, time, reading.column)
    column = dataset.variables[name]
    sizes = dict(zip(column.dims, column.shape, strict=True))
    of_members = [axis for axis in column.dims if axis != time and (sizes[axis] != 1 or axis in MEMBER_DIMENSIONS)]
    if len(of_members) > 1 or len(sizes) < len(column.dims):
        problem, mend = f"the variable {_dimensions_of(name, column)}", "select one item, or stack them"
        raise InputError(problem, "time, and one dimension of members", mend)
    dimension, bounds = str(of_members[0]) if of_members else None, _bounds_of(dataset, time)
    further = [other for other in (bounds, dimension) if other is not None and other in dataset.variables]
    texts = [key for key, other in columns.items() if other.dims == (time,) and other.dtype.kind in "SUO"]
    of_series = [*filter(may_tell_series, texts)]
    variables = loaded(dataset, (time, name, *further, *companions, *of_series), path, _refused)
    others = [other for other in by_time if other != name]
    caveat = " ".join(str(dataset.attrs.get("caveat", "")).split())
    for mistake in caveat_mistakes([(None, caveat)]):
        raise InputError(mistake)
    return _Contents(time, name, dimension, bounds, companions, others, of_series, variables, caveat)


def _refused(reason: str) -> InputError:
    mend = "check that it is a complete file by CF conventions"
    return InputError(f"cannot be read as NetCDF or Zarr ({reason})", mend=mend)


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _time_of(dataset: Any) -> str:
    """The name of the dimension of times: the one whose coordinate has dates."""
    own = {str(name): column for name, column in dataset.coords.items() if column.dims == (name,)}
    times = [name for name, column in own.items() if _SINCE.search(str(column.attrs.get("units", "")))]
    kind = dataset.variables[times[0]].dtype if len(times) == 1 else None
    if kind is not None and kind.kind in "iuf":
        return times[0]
    problem = f"{len(times)} dimensions have dates" if times else "no dimension has dates"
    expected = 'a dimension "time" with a coordinate such as "days since 1953-01-01"'
    if kind is not None:
        problem, expected = f"{times[0]} is of type {kind}", "numbers, as its units say"
    raise InputError(problem, expected, "write the times of the months as CF conventions say")


def _inflow_of(dataset: Any, by_time: Sequence[str], time: str, wanted: str | None) -> str:
    """The name of the inflow among variables by time."""
    if wanted is not None and wanted not in by_time:
        problem = f"no such variable by {time}; the file has {', '.join(by_time)}"
        raise InputError(problem, "the name of a variable", "give one of them", column="column", value=wanted)
    named = [name for name in _INFLOW_NAMES if name in by_time] or [
        name for name in by_time if _STANDARD.fullmatch(str(dataset[name].attrs.get("standard_name", "")))
    ]
    names = [wanted] if wanted is not None else named or by_time
    if len(names) != 1:
        problem = f"{len(by_time)} variables by {time}: {', '.join(by_time)}" if by_time else f"no variable by {time}"
        mend = f"name one (--column NAME), or call it {_INFLOW_NAMES[0]}"
        raise InputError(problem, "one variable, the inflow", mend)
    if understand(names[0]).is_no_inflow:
        expected = "monthly inflow, as mean flow or volume"
        mend = "give the variable of the inflow; if this is it, name it inflow_m3s, or inflow with another unit"
        raise InputError(f"the variable {names[0]} does not seem to be inflow", expected, mend)
    return names[0]


def _bounds_of(dataset: Any, time: str) -> str | None:
    """The variable with the beginning and the end of each month."""
    attributes = dataset.variables[time].attrs
    if "climatology" in attributes:
        problem = f"{time} has climatological bounds: values are means of many years"
        raise InputError(problem, "a value of each month of each year", "give the record, not its climatology")
    name = attributes.get("bounds")
    if not isinstance(name, str) or name not in dataset.variables:
        return None
    bounds = dataset.variables[name]
    if bounds.dims[:1] != (time,) or bounds.shape[1:] != (2,) or bounds.dtype.kind not in "iuf":
        problem = f"{name} has the shape {bounds.shape}"
        raise InputError(problem, f"two numbers for each {time}", "write the bounds as CF conventions say")
    return name


def _dimensions_of(name: str, variable: Any) -> str:
    return f"{name} has the dimensions {', '.join(map(str, variable.dims))}"


def _month(position: float) -> str:
    return month_name(int(np.floor(position)))


def _require_dates(name: str, values: NDArray[Any]) -> None:
    missing = np.flatnonzero(~np.isfinite(values.ravel()))
    if missing.size:
        problem = f"{name} has a missing value, number {1 + missing[0]}"
        raise InputError(problem, "the date of each month", "write the date")


def _unit(name: str, attribute: object, argument: str | None) -> tuple[InflowUnit, str]:
    """The unit, and where it was said."""
    sources = {"the unit argument": argument, "the units attribute": attribute}
    of_name = f"the name {name}"
    texts = {source: str(text) for source, text in sources.items() if text is not None} or {of_name: name}
    units = list[InflowUnit]()
    for source, text in texts.items():
        if (named := unit_named(text)) is None:
            mend = f"convert the values, or write the units attribute of {name} (or give --unit)"
            raise InputError(f"{source} is no unit that is known", ACCEPTED, mend, value=text)
        units.append(named)
    unit, contradicts = units[0], not units[0].equals(units[-1])
    if not contradicts and of_name not in texts:
        # Units in the variable's name, known or not.
        of_words = understand(name).units
        strange = [word.text for word in words_of(name) if len(word.text) > 2 and STRANGE_FORMS.fullmatch(word.text)]
        others = [unit_named(word) for word in of_words]
        contradicts = all(other is None or not other.equals(unit) for other in others) if others else bool(strange)
        texts = texts | {of_name: " ".join((*of_words, *strange))}
    if contradicts:
        problem = "contradictory units: " + ", ".join(f"{source} gives {text}" for source, text in texts.items())
        raise InputError(problem, "one unit", "check which is right, and correct or remove the other")
    return unit, f"from {next(iter(texts))}"


def _valid_range(name: str, variable: Any) -> tuple[float, float]:
    """The least and the largest value that is not missing, as attributes state; whole numbers are of what is packed."""
    packed = (variable.encoding.get("scale_factor", 1.0), variable.encoding.get("add_offset", 0.0))
    scale, offset = (float(np.ravel(number)[0]) for number in packed)
    least, most = -np.inf, np.inf
    for attribute, count in (("valid_range", 2), ("valid_min", 1), ("valid_max", 1)):
        stated = variable.attrs.get(attribute)
        if stated is None:
            continue
        limits = np.ravel(np.asarray(stated))
        if limits.shape != (count,) or limits.dtype.kind not in "iuf" or np.isnan(limits).any():
            problem = f"{attribute} of {name} is {shortened(str(stated))}"
            raise InputError(problem, f"{count} numbers" if count > 1 else "a number", "correct the attribute")
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
