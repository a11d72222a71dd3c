"""Save a plan from Python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reservoir.errors import OutputError
from reservoir.io.plan_folder.formats import format_of
from reservoir.planning.checks import plan_checks
from reservoir.planning.plan import Plan
from reservoir.report.folder import write_plan


def save_plan(
    plan: Plan, folder: str | Path, *, force: bool = False, figures: bool = True, format: str | None = None
) -> Path:
    """Write a plan to a folder as ``reservoir plan`` does, completely or not at all.

    Parameters
    ----------
    plan : Plan
    folder : str or Path
        The folder; its parents are made.
    force : bool
        Replace an earlier plan there.
    figures : bool
        Draw the figures.
    format : str, optional
        Of the tables: ``"csv"``, ``"netcdf"`` or ``"zarr"``; by default CSV below 5,000 years, then NetCDF if the extra
        ``netcdf`` is installed.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    OutputError
        If the folder contains something and `force` is off, or contains files that belong to no plan, or cannot be
        written.
    """
    kind = format_of(format, plan.inflow.years)
    try:
        return write_plan(plan, Path(folder), plan_checks(plan), force=force, figures=figures, kind=kind)
    except OutputError as error:
        raise OutputError(replace(each, mend=_in_python(each.mend)) for each in error.mistakes) from error


def _in_python(mend: str) -> str:
    """Name the arguments of `save_plan` instead of the options of the command."""
    return mend.replace("--out", "folder").replace("--force", "force=True")
