"""A folder that one run will write: which files may be replaced, and how the results are put there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from reservoir.errors import Mistake, OutputError
from reservoir.interrupts import deferred, wrote
from reservoir.io.placing.folder_place import unwritable
from reservoir.io.placing.moves import DRAFT, Signature, exchange, leaves

#: Folders of one name that are tried before giving up.
_MOST_OF_A_NAME = 1000


class Claim:
    """A folder that this run, and no other, is going to write.

    Parameters
    ----------
    target : Path
        As the user calls it.
    work : Path
        Hidden folder of this run: in the target if that is there, else beside it.
    replaceable : iterable of str
        Paths in the target of what may be replaced: what stands there now, and was written by an earlier run.
    free_name : bool
        Whether another name does as well, if something stands there at the end.
    """

    def __init__(self, target: Path, work: Path, replaceable: Iterable[str], *, free_name: bool = False) -> None:
        self.target = target
        self.draft = work / DRAFT
        self.written: Path | None = None
        self._work, self._place, self._free_name = work, real_place(target), free_name
        self._inside = work.parent == self._place
        self._replaceable = set(replaceable)
        self._before = self._present()

    def put(self) -> Path:
        """Put the draft in its place; returns where it is.

        Raises
        ------
        OutputError
            If something else has come to stand there; the draft is then kept, and the message says where.
        OSError
            If it can be put nowhere.
        """
        with deferred():
            if self._inside:
                self._put_inside()
            elif os.path.lexists(self._place):
                self._put_beside("was created by another program during the run")
            else:
                os.rename(self.draft, self._place)
                self._done(self.target)
        return self.place

    @property
    def place(self) -> Path:
        """Where the results are."""
        assert self.written is not None
        return self.written

    def add(self, name: str, text: str) -> Path:
        """Add a file to what was put in its place, or replace it there; returns the file.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        path = self.place / name
        try:
            self.draft.mkdir(exist_ok=True)
            (self.draft / name).write_text(text, encoding="utf-8")
            (self.draft / name).replace(path)
        except OSError as error:
            raise OutputError(unwritable(path, error)) from error
        return path

    def _put_inside(self) -> None:
        now = self._present()
        changed = sorted(leaf for leaf, before in self._before.items() if now.get(leaf, before) != before)
        if changed:
            return self._put_beside(f"was changed by another program during the run ({', '.join(changed[:5])})")
        try:
            exchange(self._work, self._place, [leaf for leaf in self._before if leaf in now])
        except OSError as error:
            return self._put_beside(f"cannot be replaced ({error.strerror}: {error.filename})")
        return self._done(self.target)

    def _put_beside(self, reason: str) -> None:
        """Keep a draft whose place is taken: under the next free name there, or else in the folder itself."""
        for folder in (self._place.parent, self._place):
            for kept in numbered(folder / self._place.name):
                if os.path.lexists(kept):
                    continue
                try:
                    os.rename(self.draft, kept)
                except OSError:
                    break
                self._done(self.target.with_name(kept.name) if self._free_name else kept)
                if self._free_name:
                    return
                mend = "compare both, and keep one"
                raise OutputError(Mistake(f"{reason}; the results are in {kept}", file=str(self.target), mend=mend))
        raise OSError(None, reason)

    def _present(self) -> dict[str, Signature]:
        found = leaves(self._place, {leaf.split("/")[0] for leaf in self._replaceable})
        return {leaf: state for leaf, state in found.items() if leaf in self._replaceable}

    def _done(self, written: Path) -> None:
        wrote(written)
        self.written = written


def numbered(name: Path) -> Iterator[Path]:
    """Other names for a folder: ``NAME-2``, ``NAME-3`` and so on."""
    return (name.with_name(f"{name.name}-{count}") for count in range(2, _MOST_OF_A_NAME))


def real_place(path: Path) -> Path:
    """Where a path leads, links followed."""
    return Path(os.path.realpath(path))
