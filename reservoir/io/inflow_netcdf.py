"""Inflow from NetCDF or Zarr by CF conventions: a variable by time, and by member where it is an ensemble."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import MOST_MISTAKES, InputError, Mistake, worth_telling
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.water_years import month_name
from reservoir.io.content_hash import content_sha256
from reservoir.io.ensemble_years import MemberSeries, refuse_codes, where, without_negative
from reservoir.io.inflow_csv.companions import COMPANIONS, is_companion
from reservoir.io.inflow_csv.units import ACCEPTED, InflowUnit, unit_named
from reservoir.io.inflow_reading import InflowReading

#: Ends of the names of files that are read here, and of folders.
SUFFIXES, ZARR = (".nc", ".nc4", ".cdf", ".netcdf"), ".zarr"
INSTALL = "pip install 'reservoir[netcdf]'"
#: Dimensions that may be there even with one member; others of a single item say nothing.
_MEMBER_NAMES = ("member", "scenario", "realization", "ensemble", "number")
#: Names of a variable that is the inflow whatever stands beside it.
_INFLOW_NAMES = ("inflow_m3s", "inflow")
#: First bytes of the classic format, and of HDF5.
_CLASSIC, _HDF5 = b"CDF", b"\x89HDF"

FloatArray = NDArray[np.float64]


def is_netcdf(file: str) -> bool:
    """Whether a file or folder is one of these formats, by its name."""
    return file.casefold().rstrip("/\\").endswith((*SUFFIXES, ZARR))


def read_netcdf(file: str, reading: InflowReading, first_month: int | None) -> Inflow:
    """Read a record or an ensemble, see `reservoir.read_inflow`; raises InputError as `netcdf_series` does."""
    return netcdf_series(file, reading).inflow(first_month)


def netcdf_series(file: str, reading: InflowReading) -> MemberSeries:
    """The months of a record, or of all members of an ensemble.

    Raises
    ------
    InputError
        If it cannot be read, if the variable, its months or its unit are not clear, or with the first wrong values.
    """
    with _opened(file) as dataset:
        time = _time_of(dataset)
        column = dataset[_variable(dataset, time, reading.column)]
        dimension = _members_of(column, time)
        first, members = _first_of(dataset[time]), _names(column, dimension)
        chosen, said_by = _unit(column, reading.unit)
        series = _series(column, time, dimension, first, members, negative=reading.negative is not None)
        companions = {
            known.field: _companion(dataset[name], known.allowed.least, time, dimension, column.shape) * known.size
            for name, known in ((each, COMPANIONS[str(each).casefold()]) for each in _companions(dataset))
        }
        caveat = str(dataset.attrs.get("caveat", ""))
    series, notes = without_negative(series, chosen, first, reading.negative)
    about: dict[str, Any] = {
        "caveat": caveat,
        "source": file,
        "sha256": content_sha256(Path(file)),
        "unit_from": said_by,
    }
    about |= {"notes": notes, "reading": reading.as_dict(), "allow_negative": reading.negative == "keep"}
    return MemberSeries(first, series, members, chosen, companions, about)


@contextmanager
def _opened(file: str) -> Iterator[Any]:
    """The dataset, its times decoded."""
    try:
        import xarray
    except ModuleNotFoundError as error:
        if error.name != "xarray":
            raise
        raise InputError(Mistake("NetCDF and Zarr need xarray, which is not installed", mend=INSTALL)) from None
    if not Path(file).exists():
        raise InputError(Mistake("the file does not exist", mend="check the path"))
    times = xarray.coders.CFDatetimeCoder(time_unit="s")
    try:
        dataset = xarray.open_dataset(file, **_engine(Path(file)), decode_times=times, decode_timedelta=False)
    except ModuleNotFoundError as error:
        raise InputError(Mistake(f"this file needs {error.name}, which is not installed", mend=INSTALL)) from None
    except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
        reason, mend = str(error).partition("\n")[0], "check that it is a complete file by CF conventions"
        raise InputError(Mistake(f"cannot be read as NetCDF or Zarr ({reason})", mend=mend)) from error
    with dataset:
        yield dataset


def _engine(path: Path) -> dict[str, Any]:
    """What reads it."""
    if path.is_dir():
        return {"engine": "zarr", "consolidated": False}
    with path.open("rb") as opened:
        begin = opened.read(4)
    if begin.startswith(_CLASSIC):
        return {"engine": "scipy"}
    if begin == _HDF5:
        return {"engine": "h5netcdf"}
    raise InputError(Mistake("is no NetCDF file", mend="check the file; a CSV file is read if its name ends in .csv"))


def _time_of(dataset: Any) -> str:
    """The name of the dimension of times: the one whose coordinate has dates."""
    found = [
        str(name)
        for name, column in dataset.coords.items()
        if column.dims == (name,) and (np.issubdtype(column.dtype, np.datetime64) or hasattr(column.item(0), "month"))
    ]
    if len(found) == 1:
        return found[0]
    problem = f"{len(found)} dimensions have dates" if found else "no dimension has dates"
    expected = 'a dimension "time" with a coordinate such as "days since 1953-01-01"'
    raise InputError(Mistake(problem, expected, "write the times of the months as CF conventions say"))


def _companions(dataset: Any) -> list[str]:
    return [name for name in dataset.data_vars if is_companion(str(name))]


def _variable(dataset: Any, time: str, wanted: str | None) -> str:
    """The name of the inflow."""
    beside = _companions(dataset)
    found = [str(name) for name, column in dataset.data_vars.items() if time in column.dims and name not in beside]
    found = [name for name in found if np.issubdtype(dataset[name].dtype, np.number) and not name.endswith("_bnds")]
    if wanted is not None and wanted not in found:
        problem = f"no such variable by {time}; the file has {', '.join(found)}"
        raise InputError(Mistake(problem, "the name of a variable", "give one of them", column="column", value=wanted))
    if wanted is not None:
        return wanted
    named = [name for name in _INFLOW_NAMES if name in found] or [
        name for name in found if "water_volume_transport" in str(dataset[name].attrs.get("standard_name", ""))
    ]
    if len(named or found) == 1:
        return (named or found)[0]
    problem = f"{len(found)} variables by {time}: {', '.join(found)}" if found else f"no variable by {time}"
    raise InputError(
        Mistake(problem, "one variable, the inflow", f"name one (--column NAME), or call it {_INFLOW_NAMES[0]}")
    )


def _members_of(column: Any, time: str) -> str | None:
    """The dimension of members; None of a single record."""
    others = [name for name in column.dims if name != time]
    found = [name for name in others if column.sizes[name] > 1 or name in _MEMBER_NAMES]
    if len(found) > 1:
        problem = f"the variable {column.name} has the dimensions {', '.join(map(str, column.dims))}"
        raise InputError(Mistake(problem, "time, and one dimension of members", "select one item, or stack them"))
    return str(found[0]) if found else None


def _names(column: Any, dimension: str | None) -> list[str] | None:
    if dimension is None:
        return None
    if dimension not in column.coords:
        return [str(1 + place) for place in range(column.sizes[dimension])]
    names = [str(name) for name in column.coords[dimension].values.tolist()]
    if len(set(names)) < len(names):
        raise InputError(Mistake(f"two items of {dimension} have the same name", "different names", "rename them"))
    return names


def _first_of(times: Any) -> int:
    """The first month, counted from January of year 0; refused unless each is followed by the next."""
    months = times.dt.year.values.astype(np.int64) * 12 + times.dt.month.values.astype(np.int64) - 1
    if not months.size:
        raise InputError(Mistake("has no months", "at least 12", "check that this is the right file"))
    steps = np.flatnonzero(np.diff(months) != 1)
    if steps.size:
        before, after = (month_name(int(months[steps[0] + later])) for later in (0, 1))
        problem = f"{after} follows {before}"
        expected, mend = "months in order, each once", "make monthly means, in order; fill in or cut off missing months"
        raise InputError(Mistake(problem, expected, mend))
    return int(months[0])


def _unit(column: Any, argument: str | None) -> tuple[InflowUnit, str]:
    """The unit, and where it was said."""
    texts = {"the unit argument": argument, "the units attribute": column.attrs.get("units")}
    told = {source: str(text) for source, text in texts.items() if text is not None}
    told = told or {f"the name {column.name}": str(column.name)}
    found: list[tuple[str, InflowUnit]] = []
    for source, text in told.items():
        unit = unit_named(text)
        if unit is None:
            mend = f"convert the values, or write the units attribute of {column.name} (or give --unit)"
            raise InputError(Mistake(f"{source} is no unit that is known", ACCEPTED, mend, value=text))
        found.append((source, unit))
    (source, unit), (_, last) = found[0], found[-1]
    if (unit.size, unit.is_volume) != (last.size, last.is_volume):
        problem = "contradictory units: " + ", ".join(f"{each} gives {text}" for each, text in told.items())
        raise InputError(Mistake(problem, "one unit", "check which is right, and correct or remove the other"))
    return unit, f"from {source}"


def _by_member(column: Any, time: str, dimension: str | None) -> FloatArray:
    """Values, shape (members, months)."""
    ordered = column.transpose(*([dimension] if dimension else []), ..., time)
    return np.asarray(ordered.values, np.float64).reshape(-1, column.sizes[time])


def _series(
    column: Any, time: str, dimension: str | None, first: int, members: Sequence[str] | None, *, negative: bool
) -> FloatArray:
    """Values of the inflow, shape (members, months), finite and, unless that is asked for, not negative."""
    series = _by_member(column, time, dimension)
    refuse_codes(series, first, members)
    wrong = np.argwhere(~(np.isfinite(series) & (negative | (series >= 0))))[: MOST_MISTAKES + 1].tolist()
    expected, mend = "a number of 0 or more", "fill in or correct the value, or leave out the member"
    if wrong:
        raise InputError(
            worth_telling(
                (
                    Mistake(f"{_fault(series[at])} at {where(first + at[1], at[0], members)}", expected, mend)
                    for at in map(tuple, wrong)
                ),
                "",
            )
        )
    return series


def _fault(value: float) -> str:
    return "missing value" if np.isnan(value) else "infinite value" if np.isinf(value) else "negative value"


def _companion(column: Any, least: float, time: str, dimension: str | None, shape: tuple[int, ...]) -> FloatArray:
    """Values of a further variable, shape (members, months)."""
    if column.shape != shape:
        problem, expected = f"{column.name} has the shape {column.shape}", f"that of the inflow, {shape}"
        raise InputError(Mistake(problem, expected, "give a value for every member and month"))
    values = _by_member(column, time, dimension)
    if not ((values >= least) & (values < np.inf)).all():
        raise InputError(Mistake(f"{column.name} has a value that is missing or out of range", mend="correct it"))
    return values
