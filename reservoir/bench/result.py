"""What an experiment found, in a form that one writer can write for all experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from reservoir.planning.checks import Check


@dataclass(frozen=True, eq=False)
class ResultTable:
    """A table for people.

    Parameters
    ----------
    title : str
    frame : DataFrame
        Text is shown as it stands; numbers by `formats`, or to four figures.
    notes : tuple of str
        What a reader must know, in whole sentences.
    formats : mapping of str to str
        Format specification of a column's numbers, such as ``",.1f"``.
    """

    title: str
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    formats: Mapping[str, str] = field(default_factory=dict)


def result_table(
    title: str,
    rows: pd.DataFrame | Sequence[Mapping[str, Any]],
    *notes: str,
    form: str | None = None,
    **formats: str,
) -> ResultTable:
    """Make a table of rows, whose columns are named by their keys.

    Parameters
    ----------
    form : str, optional
        Format of all columns that have none of their own.
    formats : str
        Of single columns; one with a star, such as ``"* x"``, is of all whose names end so.
    """
    frame = pd.DataFrame(rows)
    if form is not None:
        formats = dict.fromkeys(frame.columns, form) | formats
    for pattern in [each for each in formats if each.startswith("*")]:
        formats |= {name: formats[pattern] for name in frame.columns if str(name).endswith(pattern[1:])}
    return ResultTable(title, frame, notes, formats)


@dataclass(frozen=True, eq=False)
class ExperimentResult:
    """What an experiment found.

    Parameters
    ----------
    title : str
    warnings : tuple of str
        What must be said before any result: caveats of the data, a quick run.
    headlines : mapping of str to str
        The results in a few words each, shown on the screen.
    checks : tuple of Check
    tables : tuple of ResultTable
    data : mapping of str to DataFrame
        Every number, by the stem of its CSV file.
    figures : mapping of str to Figure
        By the stem of their files.
    captions : mapping of str to str
        How to read each figure.
    origin : mapping
        Device, settings and inputs, for JSON.
    """

    title: str
    warnings: tuple[str, ...]
    headlines: Mapping[str, str]
    checks: tuple[Check, ...]
    tables: tuple[ResultTable, ...]
    data: Mapping[str, pd.DataFrame]
    figures: Mapping[str, Figure]
    captions: Mapping[str, str]
    origin: Mapping[str, Any]
