"""Read the tables of a plan from its dataset, NetCDF or Zarr: in full precision, every variable checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.io.containers import Refusal, loaded, of_dataset
from reservoir.io.plan_folder.tables import (
    AGAIN,
    ENGINE_GAP,
    MEMBER,
    OTHER_NAMES,
    REFERENCE_VIOLATION,
    SOURCE,
    WATER_VALUE,
    ZARR,
    changed,
)
from reservoir.planning.column_names import FIRM_POWER, REFERENCE_ENERGY
from reservoir.planning.proofs import PROVEN_BOUND, PROVEN_GAP
from reservoir.planning.schedule import CONDITION_COLUMNS, MISSING, Dataset

#: Variables by year and step that every plan has, and that some have.
MONTHLY = (
    *("inflow_m3s", "release_m3s", "turbined_m3s", "level_m", "tailrace_m", "head_m", "power_mw", "energy_gwh"),
    "violation",
)
_MONTHLY_MAYBE = (*CONDITION_COLUMNS, MISSING, WATER_VALUE)
#: By year, in the same way.
_YEARLY = (REFERENCE_ENERGY, "generations", "evaluations")
_YEARLY_MAYBE = (REFERENCE_VIOLATION, ENGINE_GAP, FIRM_POWER, PROVEN_BOUND, PROVEN_GAP)
#: By year and boundary.
STORAGE = "storage_hm3"
#: Values that are not known are NaN.
_SOMETIMES_NAN = {WATER_VALUE, ENGINE_GAP, REFERENCE_ENERGY, PROVEN_BOUND, PROVEN_GAP}
#: No number in a plan is as large.
_LARGEST = 1e15
#: What a dataset of other dimensions and types than a plan's raises.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, RuntimeError, AttributeError, IndexError, EOFError)


def read_dataset(path: Path, years: int, sources: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The months and the years of a plan, with all their variables.

    Parameters
    ----------
    path : Path
        ``plan.nc`` or ``plan.zarr``.
    years : int
        How many years the plan has, of all members together; 0 if that is not known.
    sources : sequence of str
        Names that a year's source may have.

    Returns
    -------
    schedule, summary : DataFrame
        A row for each year and month, and for each year, in the columns of ``schedule.csv`` and ``summary.csv``.

    Raises
    ------
    InputError
        If the file is missing, incomplete or damaged, or a variable is not as it was written.
    """
    try:
        _require_kind(path)
        return of_dataset(path, lambda dataset: _read(path, dataset, years, sources), _refusal(path))
    except InputError as refused:
        raise InputError([replace(each, file=each.file or str(path)) for each in refused.mistakes]) from None


def _read(path: Path, dataset: Dataset, years: int, sources: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    loaded(dataset, dataset.variables, path, _refusal(path))
    try:
        return _tables(path, dataset.rename(_present(dataset)), years, sources)
    except _UNREADABLE as error:
        raise _refusal(path)(str(error).partition("\n")[0]) from error


def _refusal(path: Path) -> Refusal:
    return lambda reason: changed(path, f"cannot be read ({reason})")


def _present(dataset: Dataset) -> dict[str, str]:
    """Those of `OTHER_NAMES` that are there."""
    return {name: known for name, known in OTHER_NAMES.items() if name in dataset.variables}


def _require_kind(path: Path) -> None:
    if not (path.is_dir() if path.name == ZARR else path.is_file()):
        raise changed(path, "is missing" if not path.exists() else "is not what a plan has by this name")


def _tables(path: Path, dataset: Dataset, years: int, sources: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    leading = (MEMBER, "year") if MEMBER in dataset.sizes else ("year",)
    missing = [name for name in (*leading, "step", "boundary") if name not in dataset.sizes]
    if missing:
        raise changed(path, f"has no dimension {', '.join(missing)}")
    found, steps = int(np.prod([dataset.sizes[name] for name in leading])), dataset.sizes["step"]
    if years and found != years:
        raise changed(path, f"has {found:,} years; the plan has {years:,}")
    if not found * steps:
        raise changed(path, "has no months")
    if dataset.sizes["boundary"] != steps + 1:
        raise changed(path, f"has {dataset.sizes['boundary']} boundaries; expected {steps + 1}, one more than steps")

    def read(name: str, *further: str) -> NDArray[np.float64]:
        return _values(path, dataset, name, (*leading, *further)).reshape(found, -1)

    names = _names(path, dataset, leading, found)
    months = np.tile(_values(path, dataset, "month", ("step",)), found)
    monthly = {name: read(name, "step") for name in (*MONTHLY, *_those_in(dataset, _MONTHLY_MAYBE))}
    storage = read(STORAGE, "boundary")
    monthly |= {"storage_start_hm3": storage[:, :-1], "storage_end_hm3": storage[:, 1:]}
    yearly = {name: read(name) for name in (*_YEARLY, *_those_in(dataset, _YEARLY_MAYBE))}
    told = {SOURCE: _meanings(path, dataset, leading, sources)} if SOURCE in dataset.variables else {}
    columns = {name: np.repeat(each, steps) for name, each in names.items()} | {"month": months}
    schedule = pd.DataFrame(columns | {name: each.ravel() for name, each in monthly.items()})
    return schedule, pd.DataFrame(names | {name: each.ravel() for name, each in yearly.items()} | told)


def _those_in(dataset: Dataset, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in dataset.variables]


def _variable(path: Path, dataset: Dataset, name: str, dimensions: tuple[str, ...]) -> Any:
    """A variable, which has these dimensions."""
    if name not in dataset.variables:
        raise changed(path, f"has no variable {name}")
    variable = dataset[name]
    if variable.dims != dimensions:
        problem = f"has the dimensions {', '.join(map(str, variable.dims)) or 'of a number'}"
        expected = ", ".join(dimensions)
        raise InputError(Mistake(problem, expected, AGAIN, str(path), column=name))
    return variable


def _values(path: Path, dataset: Dataset, name: str, dimensions: tuple[str, ...]) -> NDArray[np.float64]:
    """Values of a variable, which are finite numbers, or NaN where some are not known."""
    variable = _variable(path, dataset, name, dimensions)
    if variable.dtype.kind not in "iuf":
        raise InputError(Mistake(f"is of type {variable.dtype}", "numbers", AGAIN, str(path), column=name))
    values = np.asarray(variable.to_numpy(), np.float64)
    wrong = ~(np.abs(values) <= _LARGEST)
    if name in _SOMETIMES_NAN:
        wrong &= ~np.isnan(values)
    if wrong.any():
        place = tuple(int(at) for at in np.argwhere(wrong)[0])
        where = ", ".join(f"{dimension} {1 + at}" for dimension, at in zip(dimensions, place, strict=True))
        problem = f"{'is missing' if np.isnan(values[place]) else 'is out of range'} at {where}"
        raise InputError(Mistake(problem, "a finite number", AGAIN, str(path), column=name, value=float(values[place])))
    return values


def _names(path: Path, dataset: Dataset, leading: tuple[str, ...], years: int) -> dict[str, NDArray[Any]]:
    """Label of each year, and before it of an ensemble the name of its member."""
    labels = _texts(_variable(path, dataset, "year", ("year",)))
    if MEMBER not in (*leading, *dataset.variables):
        return {"year": np.resize(labels, years)}
    members = _texts(_variable(path, dataset, MEMBER, leading[:1]))
    return {MEMBER: np.repeat(members, years // len(members)), "year": np.resize(labels, years)}


def _texts(variable: Any) -> NDArray[np.object_]:
    return np.array([str(text) for text in variable.to_numpy().tolist()], object)


def _meanings(path: Path, dataset: Dataset, leading: tuple[str, ...], known: Sequence[str]) -> NDArray[np.object_]:
    """Texts of a variable of numbers with their meanings, see `formats.write_dataset`."""
    variable = _variable(path, dataset, SOURCE, leading)
    words = str(variable.attrs.get("flag_meanings", "")).split()
    places = np.asarray(variable.to_numpy()).ravel()
    if variable.dtype.kind not in "iu" or not ((places >= 0) & (places < len(words))).all():
        problem, expected = "has values without a meaning", "numbers of its flag_meanings"
        raise InputError(Mistake(problem, expected, AGAIN, str(path), column=SOURCE))
    spelled: Mapping[str, str] = {name.replace(" ", "_"): name for name in known}
    meanings = np.array([spelled.get(word, word) for word in words], object)
    return np.asarray(meanings[places])
