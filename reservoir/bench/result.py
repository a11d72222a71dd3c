"""What an experiment comes to, in a form that is written once for all: as a Markdown page, and as a folder of files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure

from reservoir.bench.tables import MISSING, ResultTable
from reservoir.io.output import Claim, claimed, drafted
from reservoir.io.workplace import contents, leaves
from reservoir.planning.checks import Check
from reservoir.report.figures.figures import write_figures
from reservoir.report.folder import refuse_foreign, run_provenance, to_replace, write_json
from reservoir.text.quantities import printable

if TYPE_CHECKING:
    from reservoir.opencl import DeviceInfo

#: Provenance, headlines and checks, and the names of all files that belong to the result.
PROVENANCE = "bench.json"
#: All tables, for reading.
TABLES = "tables.md"
#: Figures of a number that a table of measurements can hold.
FLOAT_FORMAT = "%.8g"
#: Of numbers without a format of their own.
WHOLE_FORMAT, REAL_FORMAT = ",d", ".4g"
#: What begins something in Markdown or HTML, as what only shows it.
_MARKS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {mark: f"\\{mark}" for mark in "\\|`[]"})
#: As it is written, with its sign.
_NUMBER = re.compile(rf"([≤≥] )?-?[\d.,]+(e[-+]\d+)?%?|{MISSING}|nan|-?inf")


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


def page(result: ExperimentResult, origin: Mapping[str, Any]) -> str:
    """Write the page: warnings, acceptance table, tables, figures, and where it all comes from."""
    parts = [
        f"# {plain(result.title)}",
        "\n".join(f"> **{plain(warning)}**  " for warning in result.warnings),
        *(section(acceptance_table(result.checks)) if result.checks else ()),
    ]
    for table in result.tables:
        parts += section(table)
    for name in result.figures:
        parts.append(f"![{name}]({name}.png)\n\n{plain(result.captions[name])}")
    parts += ["## Origin", "\n".join(_origin_lines(origin))]
    return "\n\n".join(part for part in parts if part) + "\n"


def section(table: ResultTable) -> list[str]:
    """A table under its title, and what must be known to read it."""
    return [f"## {plain(table.title)}", table_text(table.frame, table.formats or {}), *map(plain, table.notes)]


def table_text(frame: pd.DataFrame, formats: Mapping[str, str]) -> str:
    """A frame as a Markdown table; numbers are right-aligned."""
    columns = [[cell(value, formats.get(name)) for value in frame[name]] for name in frame.columns]
    marks = ["--:" if all(map(_NUMBER.fullmatch, cells)) else ":--" for cells in columns]
    rows = [[plain(str(name)) for name in frame.columns], marks, *zip(*columns, strict=True)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def acceptance_table(checks: Sequence[Check]) -> ResultTable:
    """Claims, what was measured, thresholds, and whether the claims hold."""
    rows = [(each.check, float(each.value), each.limit, "yes" if each.passed else "**NO**") for each in checks]
    frame = pd.DataFrame(rows, columns=["check", "value", "threshold", "pass"])
    return ResultTable("Acceptance", frame, formats={"value": ".3g"})


def cell(value: Any, form: str | None) -> str:
    """One value, in a format or the usual one of its kind, with a dash for what is missing."""
    if isinstance(value, str):
        return plain(value)
    if value is None or pd.isna(value):
        return MISSING
    if isinstance(value, bool) or not isinstance(value, Real):
        return plain(str(value))
    return format(value, form or (WHOLE_FORMAT if isinstance(value, Integral) else REAL_FORMAT))


def plain(text: str) -> str:
    """Text that Markdown, and the HTML in it, shows as it stands, in one line: names come from others' files.

    Stars and underscores are left, since they can do no more than stress.
    """
    return printable(" ".join(text.splitlines())).translate(_MARKS)


def _origin_lines(origin: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    for key, value in origin.items():
        if isinstance(value, Mapping):
            yield f"{'  ' * depth}- {plain(str(key))}:"
            yield from _origin_lines(value, depth + 1)
        else:
            yield f"{'  ' * depth}- {plain(str(key))}: {plain(str(value))}"


def default_folder(name: str, device: DeviceInfo | None) -> Path:
    """The folder of an experiment on a device: CPUs, and the host alone, are ``cpu``.

    It is always the same, so that an interrupted experiment goes on; none of the committed results is in it.
    """
    name_of_device = "cpu" if device is None or device.kind == "CPU" else device.name.lower()
    where = re.sub(r"[^a-z0-9]+", "-", name_of_device).strip("-")
    return Path("reports", "bench", f"{name}-{where}")


def check_target(target: Path, force: bool) -> None:
    """Refuse a folder that may not be replaced.

    Raises
    ------
    OutputError
        If it exists and holds something and `force` is off; if it holds anything that no result wrote.
    """
    present = set(to_replace(target, force))
    refuse_foreign(target, sorted(present - _own_names(target)), "that do not belong to an experiment")


def claimed_for_result(target: Path, *, force: bool = False) -> AbstractContextManager[Claim]:
    """Keep a folder, and the journal beside it, for an experiment from before it begins.

    Raises
    ------
    OutputError
        If it cannot or may not be written, or if another run is writing there.
    """
    return claimed(target, partial(check_target, force=force), _own_files)


def write_result(result: ExperimentResult, target: Path | Claim, *, force: bool = False) -> Path:
    """Write every number as CSV, tables as Markdown, figures as PNG and SVG, and provenance as JSON.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    origin = {**run_provenance(), **result.origin}
    with drafted(target, partial(check_target, force=force), _own_files) as claim:
        draft = claim.draft
        for name, frame in result.data.items():
            frame.to_csv(draft / f"{name}.csv", index=False, float_format=FLOAT_FORMAT)
        write_figures(result.figures, draft)
        (draft / TABLES).write_text(page(result, origin), encoding="utf-8")
        names = sorted([PROVENANCE, *(entry.name for entry in draft.iterdir())])
        about = {"title": result.title, "warnings": list(result.warnings)} | origin
        about |= {"headlines": dict(result.headlines)}
        checks = [check.as_dict() for check in result.checks]
        write_json(draft / PROVENANCE, about | {"checks": checks, "files": names})
    return claim.place


def _own_files(folder: Path) -> list[str]:
    return list(leaves(folder, _own_names(folder) & set(contents(folder))))


def _own_names(folder: Path) -> set[str]:
    """Files of the result that stands in a folder; none where there is no result."""
    try:
        return set(json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()
