"""The folder of a page: what is opened, uploaded and saved, and the commands that run in it."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import reservoir
from reservoir.errors import InputError, OutputError, ReservoirError
from reservoir.io.plan_folder.files import PROVENANCE

#: Tells of long work: stage, what is done, of how much (None where that is not known). Raises `CancelledError`.
Tell = Callable[[str, float, int | None], None]
#: Whose question a thread answers, so that its end is that of the command which it runs, and of no other.
ASKER: ContextVar[Any] = ContextVar("asker", default=None)
#: Bytes that all files of a page may take, and those of one upload.
MOST_BYTES, UPLOAD_BYTES = 2_000_000_000, 16_000_000
#: Seconds that a command may take, and that one which is interrupted may take to leave nothing behind.
MOST_SECONDS, _LAST_SECONDS = 600.0, 10.0
_NAME, _FILE = re.compile(r"[A-Za-z0-9_-]{1,40}"), re.compile(r"[\w-][\w .()+-]{0,100}")


class CancelledError(ReservoirError):
    """Somebody asked for an end of it, or it took too long: ``why``, and what is left of it."""

    def __init__(self, why: str = "cancelled", left: str = "nothing was written") -> None:
        super().__init__(f"{why}: {left}")
        self.why = why


class Workspace:
    """A folder in which commands are run, and from which their files are shown.

    Parameters
    ----------
    folder : Path
        Made when something is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._busy = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._asker: Any = None
        self._late = False

    def path(self, name: str) -> Path:
        """Where a plan or another folder of a name lies.

        Raises
        ------
        InputError
            If it is no name for a folder.
        """
        if not _NAME.fullmatch(name):
            raise InputError("is no name", "1 to 40 letters, digits, - and _", column="name", value=name)
        return self._inside(name)

    def file(self, shown: str) -> Path:
        """A file by its path within the folder.

        Raises
        ------
        InputError
            If there is none, or it lies elsewhere.
        """
        path = self._inside(shown)
        if not path.is_file():
            raise InputError("there is no such file", file=shown)
        return path

    def require_inside(self, word: str) -> None:
        """Refuse a word that names a file elsewhere.

        Raises
        ------
        InputError
            If it does.
        """
        if (self.folder / word).exists():
            self._inside(word)

    def _inside(self, shown: str) -> Path:
        path = (self.folder / shown).resolve()  # links followed
        if not path.is_relative_to(self.folder):
            raise InputError("is outside of the folder of this page", file=shown)
        return path

    def upload(self, name: str, content: bytes) -> str:
        """Keep a file that was dropped on the page, beside others of its name; gives its path within the folder."""
        if not _FILE.fullmatch(name):
            raise InputError(
                "is no name of a file", "letters, digits, blanks and ( ) + - . _", column="file", value=name
            )
        if len(content) > UPLOAD_BYTES:
            raise InputError("is too large", f"at most {UPLOAD_BYTES // 1_000_000} MB", file=name)
        self._require_space(len(content))
        folder = self.folder / "uploads"
        folder.mkdir(parents=True, exist_ok=True)
        stem, ending = os.path.splitext(name)
        taken = (folder / (f"{stem}-{number}{ending}" if number else name) for number in range(1000))
        path = next(each for each in taken if not each.exists() or each.read_bytes() == content)
        path.write_bytes(content)
        return path.relative_to(self.folder).as_posix()

    def _require_space(self, more: int = 0) -> None:
        used = sum(each.stat().st_size for each in self.folder.rglob("*") if each.is_file())
        if used + more > MOST_BYTES:
            problem = f"holds {used / 1e9:.1f} GB"
            raise OutputError(problem, f"at most {MOST_BYTES / 1e9:g} GB", "remove plans", str(self.folder))

    def saved(self) -> list[str]:
        """Names of the plans in the folder, the newest last."""
        found = [each for each in self.folder.glob(f"*/{PROVENANCE}") if _NAME.fullmatch(each.parent.name)]
        return [each.parent.name for each in sorted(found, key=lambda each: each.stat().st_mtime)]

    @staticmethod
    def shown(words: Sequence[str]) -> str:
        """A command as it is typed."""
        return shlex.join(["reservoir", *words])

    def run(self, words: Sequence[str], tell: Tell) -> str:
        """Run a command in the folder; gives what it printed.

        Raises
        ------
        InputError
            With the command's own words, if it refuses; if another one runs.
        CancelledError
            If it was interrupted.
        """
        if not self._busy.acquire(blocking=False):
            raise InputError("another command runs on this page", mend="wait for its end, or cancel it")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._require_space()
            self._asker = ASKER.get()
            return self._run(words, tell)
        finally:
            self._process = None
            self._busy.release()

    def cancel(self, asker: Any = None) -> None:
        """Interrupt the command that runs, if one does: that of an asker alone, if one is given."""
        process = self._process
        if process is not None and asker in (None, self._asker):
            with suppress(ProcessLookupError):
                process.terminate()  # which no program in the background ignores
            threading.Timer(_LAST_SECONDS, process.kill).start()

    def _end_late(self) -> None:
        self._late = True
        self.cancel()

    def _run(self, words: Sequence[str], tell: Tell) -> str:
        tell("starting", 0, None)
        paths = [str(Path(reservoir.__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "RESERVOIR_PROGRESS": "lines", "PYTHONPATH": os.pathsep.join(paths)}
        environment |= {"PYTHONUTF8": "1", "NO_COLOR": "1"}
        said: list[str] = []
        with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
            # -P: no file of the folder is taken for a module
            call = [sys.executable, "-P", "-m", "reservoir", *words]
            how: dict[str, Any] = {"stdout": printed, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8"}
            with subprocess.Popen(call, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, **how) as process:
                self._process = process
                self._late = False
                end = threading.Timer(MOST_SECONDS, self._end_late)
                end.start()
                try:
                    assert process.stderr is not None
                    for line in process.stderr:
                        told = _progress(line)
                        if told is None:
                            said.append(line.rstrip().removeprefix("Error: "))
                        else:
                            tell(*told)
                finally:
                    end.cancel()
            printed.seek(0)
            text = printed.read()
        if process.returncode in (128 + signal.SIGTERM, -signal.SIGTERM, -9):
            where = f"where `{self.shown(words)}` has no end, typed in {self.folder}"
            late = f"ended after {MOST_SECONDS / 60:g} minutes, the most on a page ({where})"
            raise CancelledError(*[late] * self._late)
        if process.returncode not in (0, 1):  # 1: it wrote all, and a check failed
            words = " ".join(filter(None, said)).removesuffix(".")
            raise InputError(words or f"the command ended with status {process.returncode}")
        return text


def _progress(line: str) -> tuple[str, float, int | None] | None:
    """What a line of progress tells; None of any other."""
    try:
        told = json.loads(line) if line.startswith("{") else None
        return None if told is None else (str(told["stage"]), float(told["done"]), told["total"])
    except (ValueError, KeyError, TypeError):
        return None
