"""A reader of the pages, who types their commands and runs their Python in a folder of files.

What pages have in common is run once: after the same words in the same folder, the folder is the same.
"""

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from filecmp import dircmp
from pathlib import Path
from tempfile import mkdtemp

import pytest

from reservoir.cli import main


class Reader:
    """Runs code in copies of folders, and keeps the folder that each code left."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.left: dict[tuple[str, Path], Path] = {}

    def type(self, line: str, folder: Path) -> Path:
        """The folder after a command was typed in `folder`, which itself stays as it is."""
        return self._after(line, folder, lambda: run_command(line))

    def run(self, text: str, folder: Path) -> Path:
        """The folder after a program in Python was run in `folder`, which itself stays as it is."""
        return self._after(text, folder, lambda: exec(compile(text, "<page>", "exec"), {"__name__": "__main__"}))

    def _after(self, code: str, folder: Path, execute: Callable[[], None]) -> Path:
        if (code, folder) not in self.left:
            changed = shutil.copytree(folder, Path(mkdtemp(dir=self.place)), dirs_exist_ok=True)
            with contextlib.chdir(changed):
                execute()
            self.left[code, folder] = folder if alike(folder, changed) else changed
        return self.left[code, folder]


def run_command(line: str) -> None:
    """Run `reservoir` with the words of a line as it is typed, in this process; it ends with status 0."""
    program, *words = shlex.split(line)
    assert program == "reservoir"
    with _typed(words), pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0, line


@contextlib.contextmanager
def _typed(words: list[str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["reservoir", *words])
        patch.setenv("NO_COLOR", "1")
        patch.setenv("MPLBACKEND", "agg")
        patch.setenv("MATPLOTLIBRC", os.devnull)
        yield


def alike(one: Path, other: Path) -> bool:
    """Whether two folders have the same files."""
    return _equal(dircmp(one, other, ignore=[], hide=[]))


def _equal(compared: dircmp[str]) -> bool:
    differ = compared.left_only + compared.right_only + compared.diff_files + compared.funny_files
    return not differ and all(map(_equal, compared.subdirs.values()))
