"""Write one file completely or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reservoir.errors import Mistake, OutputError
from reservoir.interrupts import deferred, wrote
from reservoir.io.placing.moves import DRAFT
from reservoir.io.placing.workplace import clear_abandoned, workplace


def require_free(path: Path, *, force: bool, choose: str, replace: str) -> None:
    """Refuse a file that is there already, unless it is to be replaced; for before its contents are computed.

    Raises
    ------
    OutputError
        If it exists and `force` is off, or is no file; see `write_new`.
    """
    if path.exists() and not (force and path.is_file()):
        mend = choose if path.is_dir() else f"{choose}, or {replace}"
        raise OutputError(Mistake("already exists", file=str(path), mend=mend))


def write_new(path: Path, content: str | Callable[[Path], object], *, force: bool, choose: str, replace: str) -> None:
    """Write a file that is not there yet, or with `force` replace it.

    Parameters
    ----------
    path : Path
    content : str or callable
        Its text, or what writes it to a path that it is given.
    force : bool
        Replace an existing file.
    choose, replace : str
        How the user names another file, and how this one is replaced, for messages.

    Raises
    ------
    OutputError
        If the file exists and `force` is off, or cannot be written.
    """
    try:
        require_free(path, force=force, choose=choose, replace=replace)
        write_whole(path, content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OutputError(Mistake(f"cannot be written ({reason})", file=str(path), mend=choose)) from error


def write_whole(path: Path, content: str | Callable[[Path], object]) -> None:
    """Write a file, in the place of what stood there; what a killed run left beside it is cleared.

    Raises
    ------
    OSError
        If it cannot be written.
    OutputError
        If another run is writing it.
    """
    clear_abandoned(path.parent)
    with workplace(path.parent, path.name, path) as place:
        if isinstance(content, str):
            (place / DRAFT).write_text(content, encoding="utf-8")
        else:
            content(place / DRAFT)
        with deferred():
            (place / DRAFT).replace(path)
            wrote(path)
