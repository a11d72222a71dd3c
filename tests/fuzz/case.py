"""A case: files as a reader may meet them, and what may stand in the place of a file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hypothesis import strategies as st


class Oddity(Enum):
    """What is no file, and yet may stand where one is asked for."""

    NOTHING = "nothing"
    FOLDER = "a folder"
    DANGLING = "a link to nothing"
    LOOP = "a link to itself"
    PIPE = "a pipe that nobody writes to"
    ENDLESS = "a device without end"
    NO_BYTES = "a device without bytes"

    def make(self, path: Path) -> None:
        """Put it there."""
        if self is Oddity.FOLDER:
            path.mkdir()
        elif self is Oddity.PIPE:
            os.mkfifo(path)
        elif self is not Oddity.NOTHING:
            targets = {Oddity.LOOP: path, Oddity.ENDLESS: "/dev/zero", Oddity.NO_BYTES: os.devnull}
            path.symlink_to(targets.get(self, path.with_name("nowhere")))


#: Files by their names in a folder, or in folders within it.
Case = Mapping[str, bytes | Oddity]


@dataclass(frozen=True)
class Reader:
    """A reader under test.

    Parameters
    ----------
    file : str
        Name of the file that it cannot do without.
    cases : strategy
        Of `Case`.
    read : callable
        Takes the folder of a case, reads what stands there, and asserts that the object is sound.
    """

    file: str
    cases: st.SearchStrategy[Case]
    read: Callable[[Path], object]


def one_file(name: str, contents: st.SearchStrategy[bytes]) -> st.SearchStrategy[Case]:
    """One file of a name with such contents; now and then something else in its place."""
    oddities = st.sampled_from(Oddity)
    which = st.integers(0, 199)
    return which.flatmap(lambda number: oddities if number == 0 else contents).map(lambda content: {name: content})


def lay_out(case: Case, folder: Path) -> None:
    """Write a case into a folder, which is emptied before."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
    for name, content in case.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Oddity):
            content.make(folder / name)
        else:
            (folder / name).write_bytes(content)
