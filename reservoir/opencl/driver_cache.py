"""PoCL's cache of built kernels: in this program's own folder, and checked before PoCL reads it.

PoCL loads what it finds there as machine code: a file that was cut short or emptied ends the process.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from reservoir.opencl.pocl_processor import wished_name
from reservoir.runtime import usable_folder

VARIABLE = "POCL_CACHE_DIR"
#: Begins the name of a folder of what is built for the processor of a name, see `pocl_processor`.
_OF_PROCESSOR = "cpu-"
#: In each program's folder: size, time and check sum of its files.
SUMS = "reservoir-sums.json"
#: Of PoCL's files the one that changes at every use.
_USED = "last_accessed"
#: Programs beyond this, the longest unused first, make room.
MOST_BYTES = 128 << 20
#: What was used within it may be in use by another process.
_DAY_SECONDS = 86_400.0
#: What was changed within it may be half written by another process that is at work.
_WRITING_SECONDS = 60.0
#: Locked by every process that uses the folder, for as long as it lives.
_IN_USE = "in-use"


@cache
def prepare_driver_cache() -> bool:
    """Tell PoCL where to keep kernels, once and before it is loaded; whether there is such a place.

    Without one PoCL cannot build anything.
    """
    # pyopencl's own cache is a database that breaks every run once it is damaged; drivers keep kernels themselves.
    os.environ["PYOPENCL_NO_CACHE"] = "1"
    asked = os.environ.get(VARIABLE, "")
    # PoCL's key of what it keeps has the name that it gave the processor itself, not the one that it is told.
    name = f"{_OF_PROCESSOR}{wished_name()}" if wished_name() else ""
    base = Path(asked).parent if Path(asked).name.startswith(_OF_PROCESSOR) else Path(asked)
    folder = usable_folder(
        str(Path("pocl", name)), str(base / name) if asked else "", VARIABLE if asked else "XDG_CACHE_HOME"
    )
    if folder is None:
        return False
    with _alone_in(folder) as alone:
        _remove_damaged(folder, alone=alone)
    os.environ[VARIABLE] = str(folder)
    atexit.register(_record, folder, time.time() - _WRITING_SECONDS)
    return True


def forget_driver_cache() -> None:
    """Remove every kernel kept, where what was built from them makes no sense and no other process needs them."""
    folder = os.environ.get(VARIABLE)
    if folder:
        with _alone_in(Path(folder)) as alone:
            for program in _programs(Path(folder)) if alone else ():
                shutil.rmtree(program, ignore_errors=True)


@cache
def _in_use(folder: Path) -> int:
    """A file that this process keeps open."""
    return os.open(folder / _IN_USE, os.O_RDWR | os.O_CREAT, 0o600)


@contextmanager
def _alone_in(folder: Path) -> Iterator[bool]:
    """Whether no other process uses the folder; one that begins meanwhile waits. From then on, this one uses it."""
    try:
        import fcntl
    except ImportError:  # no PoCL is installed there
        yield True
        return
    try:
        file = _in_use(folder)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            alone = False
    except OSError:  # a file system without locks
        yield False
        return
    try:
        yield alone
    finally:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_SH)


def _programs(folder: Path) -> list[Path]:
    """Programs' folders, ``<two letters>/<the rest of a hash>``."""
    return [Path(path) for letters in _folders(folder) if len(Path(letters).name) == 2 for path in _folders(letters)]


def _folders(folder: Path | str) -> list[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        return [entry.path for entry in entries if entry.is_dir()]
    return []


def _remove_damaged(folder: Path, *, alone: bool = True) -> None:
    """Remove what is damaged and, where no other process is at work, what has been unused for longest.

    PoCL ends a process whose program's folder has gone while it builds: of programs that others may be building, files
    are removed, and the folders left.
    """
    room = MOST_BYTES
    now = time.time()
    programs = [(_last_use(program), program) for program in _programs(folder)]
    for used, program in sorted(programs, reverse=True):
        files = _files(program)
        damaged = _damaged(program, files)
        room -= sum(state.st_size for state in files.values())
        if alone and (damaged or (room < 0 and used < now - _DAY_SECONDS)):
            shutil.rmtree(program, ignore_errors=True)
        elif settled := [path for path in damaged if _last_change(path) < now - _WRITING_SECONDS]:
            _remove_files(*settled, program / SUMS)
    # PoCL forgets its drafts.
    _remove_files(*(draft for draft in folder.glob("tempfile_*") if _last_change(draft) < now - _DAY_SECONDS))


def _remove_files(*paths: Path) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()


def _damaged(program: Path, files: dict[str, os.stat_result]) -> list[Path]:
    """The files of a program that are not what was recorded, or not whole; or its record, if that is wrong."""
    try:
        known = _sums(program)
        missing = [program / SUMS] if known.keys() - files.keys() else []
        return missing + [
            program / name for name, state in files.items() if not _sound(program, name, state, known.get(name))
        ]
    except (OSError, ValueError, TypeError, AttributeError):
        return [program / SUMS]


def _sound(program: Path, name: str, state: os.stat_result, recorded: tuple[int, int, int] | None) -> bool:
    """Whether a file is as it was recorded; it is read only if it was touched since."""
    if recorded is None:  # of a process that was ended no sums are written: look at least whether the files are whole
        return _plausible(program / name)
    size, changed, check_sum = recorded
    return _stamp(state) == (size, changed) or _sum(program / name) == check_sum


def _record(folder: Path, since: float = 0.0) -> None:
    """Write the check sums of programs that gained files in this run, which began to use the folder at a time."""
    for program in _programs(folder):
        if _last_use(program) < since:
            continue
        with suppress(OSError, ValueError):
            files = _files(program)
            if files.keys() != _sums(program).keys():
                draft = program / f"{SUMS}.{os.getpid()}"
                sums = {name: (*_stamp(state), _sum(program / name)) for name, state in files.items()}
                draft.write_text(json.dumps(sums), encoding="utf-8")
                draft.replace(program / SUMS)


def _sums(program: Path) -> dict[str, tuple[int, int, int]]:
    try:
        with open(f"{program}/{SUMS}", encoding="utf-8") as file:
            return dict(json.load(file))
    except FileNotFoundError:
        return {}


def _files(program: Path) -> dict[str, os.stat_result]:
    """Files of a program and their states, by path within it: a cache has tens of thousands, looked at by every run."""
    found: dict[str, os.stat_result] = {}
    below = [""]
    while below:
        inner = below.pop()
        with suppress(OSError), os.scandir(f"{program}/{inner}") as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    below.append(f"{inner}{entry.name}/")
                elif entry.name != _USED and not entry.name.startswith(SUMS):
                    with suppress(FileNotFoundError):  # removed by another process
                        found[inner + entry.name] = entry.stat()
    return found


def _stamp(state: os.stat_result) -> tuple[int, int]:
    """Size and time of the last change (ns)."""
    return state.st_size, state.st_mtime_ns


def _sum(path: Path) -> int:
    return zlib.crc32(path.read_bytes())


def _last_use(program: Path) -> float:
    try:
        return os.stat(f"{program}/{_USED}").st_mtime
    except OSError:
        return _last_change(program)


def _last_change(path: Path) -> float:
    """In seconds, as `time.time`; that of now for what another process has removed, or not written yet."""
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _plausible(path: Path) -> bool:
    """Whether a file of machine code or of LLVM's code begins and ends as one."""
    content = path.read_bytes() if path.suffix in (".so", ".bc") else b"-"
    if path.suffix == ".so":
        sections = int.from_bytes(content[40:48], "little") + 64 * int.from_bytes(content[60:62], "little")
        return content[:4] == b"\x7fELF" and len(content) >= sections > 0
    return content[:4] == b"BC\xc0\xde" and len(content) % 4 == 0 if path.suffix == ".bc" else bool(content)
