"""The hidden folder of a run: its lock keeps other runs out, and what a run that died exchanged in it is undone."""

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
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from reservoir.errors import OutputError
from reservoir.runtime import deferred

#: In a hidden folder: what is to be put in place, what stood there before, the list of what is put, and whose it is,
#: held while that run lives.
DRAFT, ASIDE, MOVES, OWNER = "draft", "replaced", "moves.json", "owner.json"
_NAME = re.compile(r"\.reservoir-[0-9a-f]{12}")
#: A run that begins or ends in this moment holds a place without a name: look again.
_LOOKS, _BETWEEN_SECONDS = 40, 0.05
#: Windows keeps others from reading what is locked: this byte lies behind whatever the file says.
_LOCKED_BYTE = 1 << 30
#: What is said of a lock that another process has; anything else says that there are no locks.
_TAKEN = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
#: Never through a link to a file elsewhere.
_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
#: Time of its last change, size, number: another file, or the same one changed, has others.
Signature = tuple[int, int, int]


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
    locks: list[int] = []
    try:
        with deferred():
            locks.append(_take(path, shown))
        yield path
    finally:
        with deferred():
            for number in locks:
                _remove(path, number)


def contents(folder: Path) -> list[str]:
    """Names of what a folder holds, without the hidden folders of runs."""
    return sorted(entry.name for entry in folder.iterdir() if not _is_workplace(entry))


def clear_abandoned(folder: Path) -> None:
    """Undo and remove what runs that died have left in a folder; what is in doubt stays."""
    try:
        places = [entry for entry in folder.iterdir() if _is_workplace(entry)]
    except OSError:
        return
    for path in places:
        with deferred(), suppress(OSError):
            if not any(path.iterdir()):
                path.rmdir()
                continue
            number = hold(path / OWNER, make=False)
            os.close(number) if _may_live(_owner(path)) else _remove(path, number)


def hold(path: Path, *, make: bool = True) -> int:
    """Hold a file, made if `make` says so and it is not there; it is free when the number returned is closed.

    Raises
    ------
    BlockingIOError
        If another process holds it, or nobody can tell: the file system knows no locks.
    FileNotFoundError
        If it is not there, or was removed in this very moment.
    OSError
        As `open` does.
    """
    number, made = -1, False
    if make:
        with suppress(FileExistsError):
            number, made = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666), True
    number = number if made else os.open(path, _FLAGS)
    try:
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
            # Some shared disks know no locks. Whoever makes the file then holds it, and it is never free by itself.
            if error.errno in _TAKEN or not made:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path)) from error
        # Who held it before may have removed it between the opening and the locking.
        if not os.path.samestat(os.fstat(number), os.lstat(path)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    except BaseException:
        os.close(number)
        raise
    return number


def _take(path: Path, shown: Path) -> int:
    """Make a hidden folder, or take over that of a run that died; the number of its lock."""
    for _ in range(_LOOKS):
        with suppress(FileExistsError):
            path.mkdir()
        if not _is_workplace(path):
            raise FileExistsError(errno.EEXIST, f"{path} is in the way and is not from a run of this program")
        try:
            number = hold(path / OWNER)
        except FileNotFoundError:  # another run has removed it in this moment
            continue
        except BlockingIOError:
            owner = _owner(path)
            if owner:
                raise _busy(path, shown, owner) from None
            time.sleep(_BETWEEN_SECONDS)
            continue
        owner = _owner(path)
        if _may_live(owner):
            os.close(number)
            raise _busy(path, shown, owner)
        try:  # clear what a run that died left, and write down whose it is now
            try:
                undo(path, path.parent)
            except OSError as error:
                problem = f"{path} has files that a killed run replaced, and they cannot be restored: {error}"
                raise OSError(error.errno, problem) from error
            _empty(path)
            since = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
            os.truncate(number, 0)
            os.lseek(number, 0, os.SEEK_SET)
            os.write(number, json.dumps({"pid": os.getpid(), "since": since, **_machine()}).encode())
        except BaseException:
            _remove(path, number)
            raise
        return number
    raise _busy(path, shown, {})


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
    for entry in (path / MOVES, path / DRAFT, path / ASIDE):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)


def _is_workplace(path: Path) -> bool:
    """Whether a run made it, by its name and by what is in it: a user's own folders stay.

    One that is gone was a run's, too: it has ended in this moment.
    """
    if not _NAME.fullmatch(path.name) or path.is_symlink():
        return False
    try:
        return set(os.listdir(path)) <= {OWNER, DRAFT, ASIDE, MOVES}
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
    return bool(owner) and all(owner.get(name) != here for name, here in _machine().items())


@cache
def _machine() -> Mapping[str, str]:
    """Name of this machine, and its present boot, which containers on it share."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        boot = f"of {platform.node()}"
    return {"host": platform.node(), "boot": boot}


def _busy(path: Path, shown: Path, owner: dict[str, Any]) -> BeingWrittenError:
    who = f" (process {owner.get('pid')} on {owner.get('host')}, since {owner.get('since')})" if owner else ""
    mend = f"wait until it ends, or choose another path; if that process no longer runs, delete {path}"
    return BeingWrittenError(f"is being written by another run{who}", file=str(shown), mend=mend)


def leaves(folder: Path, names: Iterable[str] | None = None) -> dict[str, Signature]:
    """List what a folder holds, in it and its folders: files, links, which are not followed, and empty folders.

    Parameters
    ----------
    folder : Path
    names : iterable of str, optional
        Only these entries of it, and what they hold.

    Returns
    -------
    dict of str to Signature
        By their paths in the folder, with ``/``.
    """
    starts = sorted(os.listdir(folder) if names is None else names)
    return {leaf: signature for name in starts for leaf, signature in _below(folder / name, name)}


def _below(path: Path, leaf: str) -> Iterator[tuple[str, Signature]]:
    try:
        state = os.lstat(path)
    except OSError:
        return
    if not path.is_dir() or path.is_symlink():
        yield leaf, (state.st_mtime_ns, state.st_size, state.st_ino)
        return
    inside = sorted(os.listdir(path))
    for name in inside:
        yield from _below(path / name, f"{leaf}/{name}")
    if not inside:
        yield leaf, (0, 0, state.st_ino)


def exchange(work: Path, folder: Path, replaced: Collection[str]) -> None:
    """Put what lies in ``work/draft`` into a folder, in the place of files of it.

    Files are renamed one by one, with the old ones kept till the end, since the folder stays the same one: a shell may
    stand in it, it may be a disk of its own, and what else it holds stays as it is.

    Parameters
    ----------
    work : Path
        Hidden folder of this run, in that folder.
    folder : Path
    replaced : collection of str
        Paths in it of what goes; nothing else is written over.

    Raises
    ------
    OSError
        If something cannot be moved, or stands in the way; all is then as it was.
    """
    placed = [leaf for leaf in leaves(work / DRAFT) if not (work / DRAFT / leaf).is_dir()]
    (work / MOVES).write_text(json.dumps(placed), encoding="utf-8")
    try:
        for leaf in replaced:
            _move(folder, work / ASIDE, leaf)
        for leaf in placed:
            _move(work / DRAFT, folder, leaf)
    except BaseException:
        undo(work, folder)
        raise
    (work / MOVES).unlink()


def undo(work: Path, folder: Path) -> None:
    """Undo an exchange that was not completed, wherever it ended; does nothing if there was none.

    Raises
    ------
    OSError
        If something cannot be moved back; what is not, stays in `work`.
    """
    if not (work / MOVES).is_file():
        return
    try:
        placed = json.loads((work / MOVES).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):  # one that was cut off was of an exchange that had not begun
        placed = []
    for leaf in placed if isinstance(placed, list) else []:
        leads_inside = isinstance(leaf, str) and not Path(leaf).is_absolute() and ".." not in PurePosixPath(leaf).parts
        if leads_inside and not os.path.lexists(work / DRAFT / leaf) and os.path.lexists(folder / leaf):
            _move(folder, work / DRAFT, leaf)
    for leaf in leaves(work / ASIDE) if (work / ASIDE).is_dir() else ():
        # An empty folder that is in its place too was made for what never came.
        if not ((work / ASIDE / leaf).is_dir() and (folder / leaf).is_dir()):
            _move(work / ASIDE, folder, leaf)
    (work / MOVES).unlink()


def _move(origin: Path, target: Path, leaf: str) -> None:
    """Rename a leaf from one folder into another, with the folders that it needs there; never over another file."""
    _refuse_links(origin, leaf)
    target.mkdir(exist_ok=True)
    _refuse_links(target, leaf)
    (target / leaf).parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(target / leaf):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target / leaf))
    os.rename(origin / leaf, target / leaf)
    with suppress(OSError):  # the folders that it leaves behind go with the last file
        for parent in list(PurePosixPath(leaf).parents)[:-1]:
            (origin / parent).rmdir()


def _refuse_links(folder: Path, leaf: str) -> None:
    """Refuse to move into or out of folders that lie elsewhere."""
    for parent in (folder, *(folder / each for each in PurePosixPath(leaf).parents)):
        if parent.is_symlink():
            raise OSError(errno.ELOOP, "is a link, which is not followed", str(parent))
