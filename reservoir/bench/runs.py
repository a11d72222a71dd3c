"""Runs of an experiment: shared among processes, and kept as they finish.

An interrupted experiment goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

import reservoir
from reservoir import runtime
from reservoir.errors import Mistake, OutputError, shortened
from reservoir.text.data_file import read_limited

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Of the file beside an experiment's folder.
SUFFIX = ".unfinished.jsonl"
#: Many times the largest experiment.
_MOST_BYTES = 256_000_000
#: Settings that a message shows, and characters of each.
_MOST_SHOWN, _LONGEST = 8, 180


class Journal:
    """A file of lines of JSON: first what the experiment is, then a line a run.

    Parameters
    ----------
    path : Path, optional
        Without one nothing is kept.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._rows: dict[str, dict[str, Any]] = {}

    @classmethod
    def beside(cls, target: Path) -> Journal:
        """The journal of an experiment that is to be written to a folder."""
        place = target.absolute()
        return cls(place.with_name(place.name + SUFFIX))

    def begin(self, origin: Mapping[str, Any]) -> int:
        """Read what an earlier call of the same experiment left, or start anew; how many runs there were.

        Parameters
        ----------
        origin : mapping
            Whatever makes runs comparable: device, settings, version.

        Raises
        ------
        OutputError
            If the file belongs to an experiment of other settings, or cannot be written.
        """
        if self.path is None:
            return 0
        begun: dict[str, Any] = json.loads(json.dumps(origin))
        try:
            lines = _lines(self.path)
            if not lines:
                self._write(begun, "w")
                return 0
            differing = sorted(name for name in begun.keys() | lines[0].keys() if begun.get(name) != lines[0].get(name))
            if differing:
                raise OutputError(self._begun_otherwise(differing, lines[0], begun))
            self._rows = dict(map(_kept_run, lines[1:]))
            if len(self._rows) < len(lines) - 1:
                raise ValueError("a run is recorded twice")
            self._rewrite(lines)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            mend = "move it elsewhere, or delete it to start again"
            raise OutputError("is not a valid record of runs", file=str(self.path), mend=mend) from error
        except OSError as error:
            raise OutputError(self._unusable(error)) from error
        return len(self._rows)

    def _begun_otherwise(self, differing: list[str], before: dict[str, Any], now: dict[str, Any]) -> Mistake:
        def shown(name: str) -> str:
            was, is_now = shortened(str(before.get(name))), shortened(str(now.get(name)))
            return shortened(f"{name}: {was}, not {is_now}", _LONGEST)

        what = "; ".join(map(shown, differing[:_MOST_SHOWN]))
        mend = "use the same settings to continue, or delete the file to start again"
        return Mistake(f"was started with other settings ({what})", file=str(self.path), mend=mend)

    def _unusable(self, error: OSError) -> Mistake:
        return Mistake(f"cannot be used ({error.strerror or error})", file=str(self.path), mend="choose another --out")

    @property
    def kept(self) -> int:
        """How many runs there are."""
        return len(self._rows)

    def row(self, run: str) -> dict[str, Any] | None:
        """What a run of that name found, if it is done."""
        return self._rows.get(run)

    def add(self, run: str, row: Mapping[str, Any]) -> None:
        """Keep a run."""
        self._rows[run] = dict(row)
        if self.path is not None:
            self._write({"run": run, "row": dict(row), "crc32": _checksum(run, dict(row))}, "a")

    def end(self) -> None:
        """Remove the file: the experiment is written."""
        try:
            if self.path is not None:
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(self._unusable(error)) from error

    def _rewrite(self, lines: list[dict[str, Any]]) -> None:
        """Drop what was cut off, so that the next line begins as one."""
        assert self.path is not None
        whole = "".join(json.dumps(line) + "\n" for line in lines)
        draft = self.path.with_name(self.path.name + ".draft")
        draft.write_text(whole, encoding="utf-8")
        draft.replace(self.path)

    def _write(self, line: Mapping[str, Any], mode: str) -> None:
        assert self.path is not None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open(mode, encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(self._unusable(error)) from error


def sources_digest() -> str:
    """A hash of whatever decides what a run finds: kernels, solvers, problems and experiments, and bundled data."""
    package = Path(reservoir.__file__).resolve().parent
    folders = runtime.package_folder("kernels"), *(package / name for name in ("solvers", "problems", "bench", "hydro"))
    sources = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".cl")]
    data = sorted(path for path in runtime.package_folder("data").rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in (*sources, package / "zoo.py", *data):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _kept_run(line: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A run and what it found. ValueError if that was changed since it was written: it would enter the results."""
    run, row = line["run"], line["row"]
    if not isinstance(run, str) or not isinstance(row, dict) or line["crc32"] != _checksum(run, row):
        raise ValueError("a line was changed after it was written")
    return run, row


def _checksum(run: str, row: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps([run, row]).encode())


def _lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file; the last may have been cut off, and is left out. ValueError if another is no JSON."""
    if not os.path.lexists(path):
        return []
    texts = read_limited(path, _MOST_BYTES).decode("utf-8").split("\n")
    return [json.loads(text) for text in texts[:-1]]  # behind the last end of line stands nothing, or what was cut off


@contextmanager
def processes(count: int, each: int = 1) -> Iterator[list[ProcessPoolExecutor]]:
    """So many pools of processes, by default of one, to be given their own tasks.

    They end with this process, however it ends: each watches a pipe whose other end this one alone holds. An exception
    in the block ends them in the midst of their tasks.
    """
    context = multiprocessing.get_context("spawn")
    lifeline, own_end = context.Pipe(duplex=False)
    watched: dict[str, Any] = {"mp_context": context, "initializer": _live_with, "initargs": (lifeline,)}
    pools = [ProcessPoolExecutor(each, **watched) for _ in range(count)]
    try:
        yield pools
    except BaseException:
        own_end.close()
        raise
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)
        own_end.close()
        lifeline.close()


def _live_with(lifeline: Connection) -> None:
    """End this process as soon as the other end of a pipe is closed."""

    def watch() -> None:
        with suppress(EOFError, OSError):
            lifeline.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def shared_among(count: int, task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
    """Do a task for each item in so many processes; items and results as they are done.

    A fault in a task is raised here, and ends the others. The task and the items must be picklable.
    """
    with processes(1, count) as (pool,):
        running = {pool.submit(task, item): item for item in items}
        for future in as_completed(running):
            yield running[future], future.result()
