"""Formats of a plan's tables: CSV, one workbook, or one dataset as NetCDF or Zarr."""

from __future__ import annotations

from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.io.containers import write_netcdf
from reservoir.io.plan_folder.files import NETCDF, XLSX, ZARR
from reservoir.io.workbook import require_openpyxl
from reservoir.planning.operated_record import INSTALL, Dataset

#: From so many years on, tables are written as NetCDF unless another format is asked for.
MANY_YEARS = 5_000


class PlanFormat(StrEnum):
    """How the tables of a plan are written."""

    CSV = "csv"
    NETCDF = "netcdf"
    ZARR = "zarr"
    XLSX = "xlsx"


#: The file, or folder, of each format but CSV; and the packages that write it.
DATASETS = {PlanFormat.NETCDF: NETCDF, PlanFormat.ZARR: ZARR, PlanFormat.XLSX: XLSX}
_NEEDED = {PlanFormat.NETCDF: "h5netcdf", PlanFormat.ZARR: "zarr"}


def format_of(asked: str | None, years: int, steps: int = MONTHS_PER_YEAR) -> PlanFormat:
    """The format that is asked for, or by default CSV for few years, and NetCDF for many if it can be written.

    Parameters
    ----------
    asked : str or None
    years, steps : int
        Years, and steps of each: a row of the schedule.

    Raises
    ------
    InputError
        If there is no such format, what writes it is not installed, or a sheet cannot have so many rows.
    """
    if asked is None:
        return PlanFormat.NETCDF if years >= MANY_YEARS and _installed(PlanFormat.NETCDF) else PlanFormat.CSV
    try:
        chosen = PlanFormat(asked)
    except ValueError:
        raise InputError("is no format", ", ".join(PlanFormat), column="format", value=asked) from None
    if chosen is PlanFormat.XLSX:
        require_openpyxl(years * steps)
    if chosen in _NEEDED and not _installed(chosen):
        raise InputError(f"{chosen} needs xarray and {_NEEDED[chosen]}, which are not installed", mend=INSTALL)
    return chosen


def _installed(kind: PlanFormat) -> bool:
    return all(find_spec(name) is not None for name in ("xarray", _NEEDED[kind]))


def write_dataset(dataset: Dataset, folder: Path, kind: PlanFormat) -> None:
    """Write a dataset to a folder as `DATASETS` names it; texts of years as numbers with their meanings (CF flags)."""
    texts = {name: column for name, column in dataset.data_vars.items() if column.dtype.kind in "UO"}
    flagged = dataset.assign({name: _flags(column) for name, column in texts.items()})
    if kind is PlanFormat.ZARR:
        flagged.to_zarr(folder / ZARR, mode="w-", zarr_format=2)  # its texts are read by every program
    else:
        write_netcdf(flagged, folder / NETCDF)


def append_to_dataset(variables: Dataset, folder: Path, kind: PlanFormat) -> None:
    """Add variables of numbers to the dataset in a folder, or write them over those of the same names."""
    alone = variables.drop_vars(list(variables.coords))
    if kind is PlanFormat.ZARR:
        alone.to_zarr(folder / ZARR, mode="a", zarr_format=2)
    else:
        write_netcdf(alone, folder / NETCDF, append=True)


def _flags(column: Any) -> Any:
    """A variable of few texts as numbers: a text for every year takes a hundred times as long to write."""
    texts, places = np.unique(column.to_numpy().astype(str), return_inverse=True)
    words = " ".join(str(text).replace(" ", "_") for text in texts)
    attributes = column.attrs | {"flag_values": np.arange(len(texts), dtype=np.int8), "flag_meanings": words}
    return column.dims, places.reshape(column.shape).astype(np.int8), attributes
