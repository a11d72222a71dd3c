"""Write an ensemble of inflow: a long CSV file, or NetCDF by CF conventions; `reservoir.read_inflow` reads both."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.io.containers import INSTALL, write_netcdf
from reservoir.io.records.netcdf import is_netcdf
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
