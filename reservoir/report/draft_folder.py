"""Write a folder as a whole or not at all: beside its place first, and put there by renaming at the end."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reservoir.errors import Mistake, OutputError


@contextmanager
def drafted(target: Path) -> Iterator[Path]:
    """Give an empty folder to fill, which takes the place of `target`, and of what stood there, at the end.

    An interruption, an error or a full disk leaves nothing half-written and what stood there untouched.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.resolve().parent, prefix=".reservoir-") as workplace:
            draft = Path(workplace) / "draft"
            draft.mkdir()
            yield draft
            _put_in_place(draft, target.resolve(), Path(workplace) / "replaced")
    except OSError as error:
        raise OutputError(unwritable(target, error)) from error


def check_parent(target: Path) -> None:
    """Refuse a folder that could not be written, before anything is computed.

    Raises
    ------
    OutputError
        If part of its path is a file, or nothing can be written there.
    """
    parent = next(parent for parent in target.absolute().parents if parent.exists())
    if not parent.is_dir():
        raise OutputError(
            Mistake("cannot be a folder: part of its path is a file", file=str(parent), mend="choose another place")
        )
    try:
        with tempfile.TemporaryDirectory(dir=parent, prefix=".reservoir-"):
            pass
    except OSError as error:
        raise OutputError(unwritable(parent, error)) from error


def unwritable(place: Path, error: OSError) -> Mistake:
    """Say that a place cannot be written, and why."""
    reason = error.strerror or str(error)
    return Mistake(f"cannot be written ({reason})", file=str(place), mend="choose another place, or make room there")


def _put_in_place(draft: Path, target: Path, aside: Path) -> None:
    """Two renames: what stood there, if anything, is gone only once the new folder is complete."""
    if target.exists():
        target.rename(aside)
    try:
        draft.rename(target)
    except OSError:
        if aside.exists():
            aside.rename(target)
        raise
