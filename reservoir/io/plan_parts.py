"""A folder that keeps the parts of a long run, so that a run that ends early goes on where it was."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import OutputError
from reservoir.io.output import check_place
from reservoir.io.workplace import workplace
from reservoir.planning.parts import PartStore
from reservoir.runtime import deferred, remember
from reservoir.text.quantities import counted
from reservoir.text.strict_json import read_json

#: The list of parts that are kept, and the rows of all arrays, one array behind the other.
MANIFEST, ROWS = "parts.json", "rows.bin"
_NEXT = f"{MANIFEST}.next"
_FORMAT = 1
#: Arrays begin at multiples of this, as pages of memory do.
_ALIGNMENT = 4096
_MOST_MANIFEST_BYTES = 200_000_000


class PartsFolder(PartStore, ExitStack):
    """Keeps parts in a folder, which a ``with`` block holds from `begin` on.

    Rows of a part are on the disk before the list of parts names it, and the list is replaced as a whole: whenever a
    run ends, the list is true. The folder is made when the first part is kept.

    Parameters
    ----------
    path : str or Path
    force : bool
        Remove parts of another run, which are refused otherwise.
    again : str
        How the user goes on after an interruption, for messages.
    tell : callable
        Told in words that parts of an earlier run were found.

    Raises
    ------
    OutputError
        If it cannot be written, another run is writing it, or it holds parts of another run.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        force: bool = False,
        again: str = "the same call goes on from there",
        tell: Callable[[str], None] = lambda words: None,
    ) -> None:
        PartStore.__init__(self)
        ExitStack.__init__(self)
        self.path, self._run = Path(path), dict[str, Any]()
        self._force, self._again, self._tell = force, again, tell

    def begin(self, run: Mapping[str, Any], years: int) -> None:
        """Hold the folder for a run over so many years, and see which of its parts are there."""
        self._run, self._years = dict(run), years
        with self._written():
            check_place(self.path)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.enter_context(workplace(self.path.parent, self.path.name, self.path))
            self._read()
        self._remember()
        if self.reports:
            parts = counted(len(self.reports), "part")
            self._tell(f"{parts} of an earlier run kept in {self.path}: the search goes on from there")

    def keep(self, part: int, first: int, columns: Mapping[str, NDArray[Any]], report: Mapping[str, Any]) -> None:
        """Write the rows of a part, and then that it is there."""
        with self._written():
            self.path.mkdir(exist_ok=True)
            if not self._columns:
                offset = 0
                for name, column in columns.items():
                    shape = column.shape[1:]
                    self._columns[name] = {"dtype": column.dtype.str, "shape": list(shape), "offset": offset}
                    size = self._years * int(np.prod(shape, dtype=np.int64)) * column.dtype.itemsize
                    offset += -(-size // _ALIGNMENT) * _ALIGNMENT
            with (self.path / ROWS).open("r+b" if (self.path / ROWS).exists() else "w+b") as file:
                for name, column in columns.items():
                    rows = np.ascontiguousarray(column)
                    file.seek(self._columns[name]["offset"] + first * (rows.nbytes // len(rows)))
                    file.write(rows.reshape(-1).view(np.uint8).data)
                _to_disk(file)
            reports = {**self.reports, part: dict(report)}
            with (self.path / _NEXT).open("w", encoding="utf-8") as file:
                parts = {str(number): reports[number] for number in sorted(reports)}
                json.dump({"format": _FORMAT, "run": self._run, "columns": self._columns, "parts": parts}, file)
                _to_disk(file)
            with deferred():  # an interruption would say that nothing is kept
                os.replace(self.path / _NEXT, self.path / MANIFEST)
                self.reports[part] = report
                self._remember()

    def columns(self) -> dict[str, NDArray[Any]]:
        """Arrays of all years, in the file: the system loads what is looked at, and drops it when memory is short."""
        return {
            name: np.memmap(self.path / ROWS, column["dtype"], "r", column["offset"], (self._years, *column["shape"]))
            for name, column in self._columns.items()
        }

    def remove(self) -> None:
        """Remove all parts, once the plan is written; a folder that this run did not begin is somebody else's."""
        if self._years:
            remember("")
            shutil.rmtree(self.path, ignore_errors=True)

    def _read(self) -> None:
        """Take over what an earlier run kept; refuse what is of another one."""
        if not self.path.exists():
            return
        mend = f"remove {self.path}, or choose another --out"
        foreign = [each.name for each in self.path.iterdir() if each.name not in (MANIFEST, ROWS, _NEXT)]
        if foreign:
            problem = f"contains files that are no parts of a plan ({', '.join(sorted(foreign)[:5])})"
            raise OutputError(problem, mend=mend, file=str(self.path))
        if not (self.path / MANIFEST).exists():
            return
        try:
            manifest = read_json(self.path / MANIFEST, _MOST_MANIFEST_BYTES)
            run, columns = manifest["run"], manifest["columns"]
            reports = {int(number): report for number, report in manifest["parts"].items()}
            known = manifest["format"] == _FORMAT
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise OutputError("is not a list of parts", mend=mend, file=str(self.path / MANIFEST)) from error
        differing = [name for name in {**self._run, **run} if run.get(name) != self._run.get(name)]
        if differing or not known:
            if self._force:
                self.remove()
                return
            what = f"it differs in: {', '.join(differing)}" if differing else "by another version of the program"
            mend = f"{mend}, or discard these parts with --force"
            raise OutputError(f"holds parts of another run ({what})", mend=mend, file=str(self.path))
        self._columns, self.reports = columns, reports

    def _remember(self) -> None:
        """What is to be said should the run end now."""
        parts = counted(len(self.reports), "part")
        remember(f"{parts} kept in {self.path}: {self._again}" if self.reports else "")

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            kept = f"; what is kept there, {counted(len(self.reports), 'part')}, is whole: {self._again}"
            problem = f"cannot be written ({error.strerror or error}){kept if self.reports else ''}"
            mend = "check the free space and the permissions, or choose another --out"
            raise OutputError(problem, mend=mend, file=str(self.path)) from error


def _to_disk(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())
