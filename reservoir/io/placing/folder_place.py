"""Output folders: a path that cannot become a folder is refused before anything is computed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from reservoir.errors import Mistake, OutputError

_ELSEWHERE = "choose another path"


def check_place(target: Path) -> None:
    """Refuse a path that is a file, leads through one, or cannot be that of a folder.

    Raises
    ------
    OutputError
        With what stands in the way.
    """
    try:
        found = os.stat(target)
    except (FileNotFoundError, NotADirectoryError):
        _check_above(target)
    except (OSError, ValueError) as error:
        raise OutputError(unwritable(target, error)) from error
    else:
        if not stat.S_ISDIR(found.st_mode):
            raise OutputError(Mistake("is a file, not a folder", file=str(target), mend=_ELSEWHERE))


def _check_above(target: Path) -> None:
    """Refuse a path of which a part, or which itself, is a file or a link to nothing."""
    present = next(path for path in (target.absolute(), *target.absolute().parents) if os.path.lexists(path))
    if not present.exists():
        mend = "remove the link, or create the folder that it points to"
        raise OutputError(Mistake("is a broken link", file=str(present), mend=mend))
    if not present.is_dir():
        raise OutputError(Mistake("cannot be a folder: part of its path is a file", file=str(present), mend=_ELSEWHERE))


def unwritable(place: Path, error: OSError | ValueError) -> Mistake:
    """Say that a place cannot be written, and why."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return Mistake(
        f"cannot be written ({reason})",
        file=str(place),
        mend=f"{_ELSEWHERE}, or check the permissions and the free space",
    )
