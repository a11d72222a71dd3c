"""Write an ensemble, or the copy of a record, so that it is read back as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro.inflow import COMPANIONS, Inflow
from reservoir.hydro.time_step import TimeStep
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.hydro.water_years import step_name
from reservoir.io.containers import INSTALL, write_netcdf
from reservoir.io.records.netcdf import is_netcdf
from reservoir.io.records.table import csv_of_workbook, is_workbook
from reservoir.text.quantities import printable

#: Significant digits of a flow.
_DIGITS = "%.6g"


def check_writable(file: str) -> None:
    """Refuse a format that cannot be written here, before anything is computed for it.

    Raises
    ------
    InputError
        If it is NetCDF, and xarray or what writes with it is not installed; if it is Zarr.
    """
    if not is_netcdf(file):
        return
    if file.casefold().endswith(".zarr"):
        raise InputError(Mistake("Zarr is not written", "a name that ends in .csv or .nc", file=file))
    for module in ("xarray", "h5netcdf"):
        if find_spec(module) is None:
            raise InputError(Mistake(f"NetCDF needs {module}, which is not installed", mend=INSTALL, file=file))


def write_ensemble(inflow: Inflow, file: str, path: Path, units: UnitSystem = SI) -> None:
    """Write the members of an ensemble to `path`, in the format that the name `file` ends in.

    Parameters
    ----------
    inflow : Inflow
        An ensemble; its caveat is written too.
    file : str
        A name that ends in ``.nc``, or any other for CSV.
    path : Path
        Where the file is written, under another name perhaps.
    units : UnitSystem
        Of the flows in CSV. NetCDF keeps to m3 s-1, as its conventions have it.
    """
    assert inflow.members is not None
    starts = inflow.calendar.starts[: inflow.calendar.years_each].ravel()
    flow = inflow.flow_m3s.reshape(-1, starts.size)
    if not is_netcdf(file):
        rows = "".join(f"%s,{date},{_DIGITS}\n" for date in starts.astype("datetime64[M]").astype(str).tolist())
        flow = flow / units.size("inflow_m3s") if units.by_ending else flow
        with path.open("w", encoding="utf-8", newline="") as text:
            text.write(f"# caveat: {printable(inflow.caveat)}\nmember,date,{units.column('inflow_m3s')}\n")
            for name, values in zip(inflow.members.tolist(), flow, strict=True):
                text.write(rows % tuple(cell for value in values.tolist() for cell in (name, value)))
        return
    import xarray

    times = starts.astype("datetime64[s]")
    of_flow = {
        "units": "m3 s-1",
        "standard_name": "water_volume_transport_in_river_channel",
        "long_name": "mean inflow of the month",
        "cell_methods": "time: mean",
    }
    dataset = xarray.Dataset(
        {"inflow_m3s": (("member", "time"), flow, of_flow)},
        {
            "member": ("member", np.asarray(inflow.members, np.str_), {"standard_name": "realization"}),
            "time": ("time", times, {"standard_name": "time", "long_name": "first day of the month"}),
        },
        {"Conventions": "CF-1.10", "title": "Synthetic monthly inflow", "caveat": inflow.caveat},
    )
    encoding: dict[str, dict[str, Any]] = {
        "time": {"units": f"days since {times[0].astype('datetime64[D]')}", "dtype": "int32"},
        "inflow_m3s": {"_FillValue": None},  # no flow is missing
    }
    write_netcdf(dataset, path, encoding)


#: What a copy is: the file itself, the sheet of a workbook that was read, or the flows that were planned.
FILE, SHEET, VALUES = "file", "sheet", "values"


class RecordCopy(NamedTuple):
    """A copy of a record, a CSV file, and what it is."""

    kind: str
    content: bytes

    @property
    def told(self) -> dict[str, str]:
        """What ``plan.json`` says of it."""
        return {"kind": self.kind, "sha256": hashlib.sha256(self.content).hexdigest()}


def record_copy(record: Inflow) -> RecordCopy | None:
    """The file of a record if it still says what was read, else what says the same.

    None of an ensemble from a file, which may be large, and where the tables of a plan say everything.
    """
    source, content = record.source, record.content
    if not content and record.members is None and not is_netcdf(source) and source and Path(source).is_file():
        content = Path(source).read_bytes()
    if content and hashlib.sha256(content).hexdigest() == record.sha256:
        return RecordCopy(SHEET, csv_of_workbook(content)) if is_workbook(content) else RecordCopy(FILE, content)
    beside = [name for name in COMPANIONS if getattr(record, name) is not None]
    whole = record.calendar.step is TimeStep.MONTH and record.calendar.steps == TimeStep.MONTH.per_year
    if record.members is not None or not whole or not (beside or is_netcdf(source)):
        return None
    # Every digit of the flows and of what stands beside them; as powers of ten, no value is taken for a code.
    columns = [record.flow_m3s, *(getattr(record, name) for name in beside)]
    lines = [",".join(("date", "inflow_m3s", *beside))]
    for place, values in enumerate(zip(*(column.ravel().tolist() for column in columns), strict=True)):
        lines.append(",".join((step_name(record.calendar, place), *(f"{value:.16e}" for value in values))))
    return RecordCopy(VALUES, ("\n".join(lines) + "\n").encode())


def reading_of(kind: str, record: Inflow) -> Mapping[str, Any]:
    """How a copy is to be read, as arguments of `read_inflow`."""
    if kind == VALUES:
        return {"negative": "keep"} if record.allow_negative else {}
    return record.reading
