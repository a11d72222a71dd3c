"""The hidden folder of a run: its lock keeps other runs out; a lock of a dead process does not."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from reservoir.errors import Mistake, OutputError
from reservoir.interrupts import deferred
from reservoir.io.placing.moves import ASIDE, DRAFT, MOVES, undo

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


#: Whose it is; held while that run lives.
OWNER = "owner.json"
_KNOWN = {OWNER, DRAFT, ASIDE, MOVES}
_NAME = re.compile(r"\.reservoir-[0-9a-f]{12}")
#: A run that begins or ends in this moment holds a place without a name: look again.
_LOOKS, _BETWEEN_SECONDS = 40, 0.05


class BeingWrittenError(OutputError):
    """Another run writes there."""


@contextmanager
def workplace(folder: Path, name: str, shown: Path) -> Iterator[Path]:
    """Keep other runs away from an entry of a folder; gives a hidden folder beside that entry to work in.

    What a run that died left there is undone and removed first, and all of it is removed at the end.

    Parameters
    ----------
    folder : Path
    name : str
        The entry; ``.`` for all of the folder.
    shown : Path
        What the user calls it.

    Raises
    ------
    BeingWrittenError
        If another run is at it.
    OSError
        If nothing can be written there.
    """
    path = folder / f".reservoir-{hashlib.sha256(os.fsencode(name)).hexdigest()[:12]}"
    held: list[int] = []
    try:
        with deferred():
            held.append(_take(path, shown))
        yield path
    finally:
        with deferred():
            for number in held:
                _remove(path, number)


def contents(folder: Path) -> list[str]:
    """Names of what a folder holds, without the hidden folders of runs."""
    return sorted(entry.name for entry in folder.iterdir() if not _is_workplace(entry))


def clear_abandoned(folder: Path) -> None:
    """Undo and remove what runs that died have left in a folder; what is in doubt stays."""
    try:
        found = [entry for entry in folder.iterdir() if _is_workplace(entry)]
    except OSError:
        return
    for path in found:
        with deferred(), suppress(OSError, HeldError):
            path.rmdir() if not any(path.iterdir()) else _clear(path)


def _clear(path: Path) -> None:
    number = hold(path / OWNER, make=False)
    if _may_live(_owner(path)):
        os.close(number)
        return
    _remove(path, number)


def _take(path: Path, shown: Path) -> int:
    for _ in range(_LOOKS):
        with suppress(FileExistsError):
            path.mkdir()
        if not _is_workplace(path):
            raise FileExistsError(errno.EEXIST, f"{path} is in the way and is not from a run of this program")
        try:
            number = hold(path / OWNER)
        except FileNotFoundError:  # another run has removed it in this moment
            continue
        except HeldError:
            owner = _owner(path)
            if owner:
                raise BeingWrittenError(_busy(path, shown, owner)) from None
            time.sleep(_BETWEEN_SECONDS)
            continue
        try:
            return _renew(path, number, shown)
        except BeingWrittenError:
            os.close(number)
            raise
        except BaseException:
            _remove(path, number)
            raise
    raise BeingWrittenError(_busy(path, shown, {}))


def _renew(path: Path, number: int, shown: Path) -> int:
    """Clear what a run that died left, and write down whose it is now."""
    owner = _owner(path)
    if _may_live(owner):
        raise BeingWrittenError(_busy(path, shown, owner))
    try:
        undo(path, path.parent)
    except OSError as error:
        problem = f"{path} has files that a killed run replaced, and they cannot be restored: {error}"
        raise OSError(error.errno, problem) from error
    _empty(path)
    since = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
    record = json.dumps({"pid": os.getpid(), "since": since} | dict(_machine()))
    os.truncate(number, 0)
    os.lseek(number, 0, os.SEEK_SET)
    os.write(number, record.encode())
    return number


def _remove(path: Path, number: int) -> None:
    """Remove a workplace that this process holds, its lock last; what could not be undone is kept."""
    try:
        with suppress(OSError):
            os.truncate(number, 0)  # who comes now waits for the end of this, and does not take it for a run
            undo(path, path.parent)
            _empty(path)
            if sys.platform != "win32":  # there, no file can be removed that is open
                os.unlink(path / OWNER)
                path.rmdir()
    finally:
        os.close(number)
    if sys.platform == "win32":
        with suppress(OSError):
            if os.listdir(path) == [OWNER]:
                os.unlink(path / OWNER)
                path.rmdir()


def _empty(path: Path) -> None:
    for name in (MOVES, DRAFT, ASIDE):
        if (path / name).is_dir() and not (path / name).is_symlink():
            shutil.rmtree(path / name)
        else:
            (path / name).unlink(missing_ok=True)


def _is_workplace(path: Path) -> bool:
    """Whether a run made it, by its name and by what is in it: a user's own folders stay.

    One that is gone was a run's, too: it has ended in this moment.
    """
    if not _NAME.fullmatch(path.name) or path.is_symlink():
        return False
    try:
        return set(os.listdir(path)) <= _KNOWN
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _owner(path: Path) -> dict[str, Any]:
    """What its owner wrote down; empty if that cannot be read, or is not written yet."""
    try:
        with (path / OWNER).open("rb") as file:
            owner = json.loads(file.read(4096))
    except (OSError, ValueError, RecursionError):
        return {}
    return owner if isinstance(owner, dict) else {}


def _may_live(owner: dict[str, Any]) -> bool:
    """Whether the owner may live although the lock is free: not all disks that machines share tell of locks."""
    here = dict(_machine())
    return bool(owner) and owner.get("host") != here["host"] and owner.get("boot") != here["boot"]


@cache
def _machine() -> tuple[tuple[str, str], ...]:
    """Name of this machine, and its present boot, which containers on it share."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        boot = f"of {platform.node()}"
    return ("host", platform.node()), ("boot", boot)


def _busy(path: Path, shown: Path, owner: dict[str, Any]) -> Mistake:
    who = f" (process {owner.get('pid')} on {owner.get('host')}, since {owner.get('since')})" if owner else ""
    mend = f"wait until it ends, or choose another path; if that process no longer runs, delete {path}"
    return Mistake(f"is being written by another run{who}", file=str(shown), mend=mend)
