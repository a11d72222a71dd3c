"""A file lock held by one process at a time and released when that process ends, however it ends."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

#: Windows keeps others from reading what is locked: this byte lies behind whatever the file says.
_LOCKED_BYTE = 1 << 30
#: What is said of a lock that another process has; anything else says that there are no locks.
_TAKEN = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
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
    number, made = _opened(path, make)
    try:
        _lock(number, made)
        # Who held it before may have removed it between the opening and the locking.
        if not os.path.samestat(os.fstat(number), os.lstat(path)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    except BaseException:
        os.close(number)
        raise
    return number


def _opened(path: Path, make: bool) -> tuple[int, bool]:
    """Open a file, and tell whether this process has made it."""
    if make:
        with suppress(FileExistsError):
            return os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666), True
    return os.open(path, _FLAGS), False


def _lock(number: int, made: bool) -> None:
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
        # Some shared disks know no locks. Whoever makes the file then holds it, and it is never free again by itself.
        if error.errno in _TAKEN or not made:
            raise HeldError from error
