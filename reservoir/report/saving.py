"""Save a plan from Python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reservoir.errors import OutputError
from reservoir.planning.checks import plan_checks
from reservoir.planning.plan import Plan
from reservoir.report.folder import write_plan


def save_plan(plan: Plan, folder: str | Path, *, force: bool = False, figures: bool = True) -> Path:
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
    try:
        return write_plan(plan, Path(folder), plan_checks(plan), force=force, figures=figures)
    except OutputError as error:
        raise OutputError(replace(each, mend=_in_python(each.mend)) for each in error.mistakes) from error


def _in_python(mend: str) -> str:
    """Name the arguments of `save_plan` instead of the options of the command."""
    return mend.replace("--out", "folder").replace("--force", "force=True")
