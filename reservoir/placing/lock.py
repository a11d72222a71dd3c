"""A file that one process holds at a time, and that is free as soon as that process is dead, however it died."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

#: Windows keeps others from reading what is locked: this byte lies behind whatever the file says.
_LOCKED_BYTE = 1 << 30
#: Never through a link to a file elsewhere.
_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class HeldError(Exception):
    """A living process holds the file, or nobody can tell: the file system knows no locks."""


def hold(path: Path, *, make: bool = True) -> int:
    """Hold a file; it is free when the number that this returns is closed.

    Parameters
    ----------
    path : Path
    make : bool
        Whether to make the file if it is not there.

    Raises
    ------
    HeldError
        If another process holds it.
    FileNotFoundError
        If it is not there, or was removed in this very moment.
    OSError
        As `open` does.
    """
    number = os.open(path, _FLAGS | (os.O_CREAT if make else 0), 0o666)
    try:
        _lock(number)
        # Who held it before may have removed it between the opening and the locking.
        if not os.path.samestat(os.fstat(number), os.lstat(path)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    except BaseException:
        os.close(number)
        raise
    return number


def _lock(number: int) -> None:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(number, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
            os.lseek(number, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise HeldError from error
