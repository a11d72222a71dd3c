"""A result as a folder of files, written as a whole or not at all."""

from __future__ import annotations

import json
import re
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reservoir.bench.markdown import page
from reservoir.bench.result import ExperimentResult
from reservoir.io.output import Claim, claimed, drafted
from reservoir.io.workplace import contents, leaves
from reservoir.report.folder import refuse_foreign, run_provenance, to_replace, write_json

if TYPE_CHECKING:
    from reservoir.opencl import DeviceInfo

#: Provenance, headlines and checks, and the names of all files that belong to the result.
PROVENANCE = "bench.json"
#: All tables, for reading.
TABLES = "tables.md"
#: Figures of a number that a table of measurements can hold.
FLOAT_FORMAT = "%.8g"


def default_folder(name: str, device: DeviceInfo | None) -> Path:
    """The folder of an experiment on a device: CPUs, and the host alone, are ``cpu``.

    It is always the same, so that an interrupted experiment goes on; none of the committed results is in it.
    """
    where = "cpu" if device is None or device.kind == "CPU" else _slug(device.name)
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
    from reservoir.report.figures.figures import write_figures

    origin = {**run_provenance(), **result.origin}
    with drafted(target, partial(check_target, force=force), _own_files) as claim:
        draft = claim.draft
        for name, frame in result.data.items():
            frame.to_csv(draft / f"{name}.csv", index=False, float_format=FLOAT_FORMAT)
        write_figures(result.figures, draft)
        (draft / TABLES).write_text(page(result, origin), encoding="utf-8")
        names = sorted([PROVENANCE, *(entry.name for entry in draft.iterdir())])
        write_json(draft / PROVENANCE, _summary(result, origin) | {"files": names})
    return claim.place


def _summary(result: ExperimentResult, origin: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": result.title,
        "warnings": list(result.warnings),
        **origin,
        "headlines": dict(result.headlines),
        "checks": [check.as_dict() for check in result.checks],
    }


def _own_files(folder: Path) -> list[str]:
    return list(leaves(folder, _own_names(folder) & set(contents(folder))))


def _own_names(folder: Path) -> set[str]:
    """Files of the result that stands in a folder; none where there is no result."""
    try:
        return set(json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
