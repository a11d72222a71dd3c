"""PoCL's cache of built kernels: in a folder of this program's, and checked before PoCL sees it.

PoCL loads what it finds there as machine code: a file that was cut short or emptied ends the process.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import time
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

from reservoir.caches import usable_folder

VARIABLE = "POCL_CACHE_DIR"
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
    folder = usable_folder("pocl", asked, VARIABLE if asked else "XDG_CACHE_HOME")
    if folder is None:
        return False
    _remove_damaged(folder, alone=_alone_in(folder))
    os.environ[VARIABLE] = str(folder)
    atexit.register(_record, folder)
    return True


def forget_driver_cache() -> None:
    """Remove every kernel kept, where what was built from them makes no sense and no other process needs them."""
    folder = os.environ.get(VARIABLE)
    if folder and _alone_in(Path(folder)):
        for program in _programs(Path(folder)):
            shutil.rmtree(program, ignore_errors=True)


@cache
def _in_use(folder: Path) -> int:
    """A file that this process keeps open."""
    return os.open(folder / _IN_USE, os.O_RDWR | os.O_CREAT, 0o600)


def _alone_in(folder: Path) -> bool:
    """Whether no other process uses the folder; from now on, this one does."""
    try:
        import fcntl
    except ImportError:  # no PoCL is installed there
        return True
    try:
        file = _in_use(folder)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        finally:
            fcntl.flock(file, fcntl.LOCK_SH)
    except OSError:  # a file system without locks
        return False


def _programs(folder: Path) -> list[Path]:
    """Programs' folders, ``<two letters>/<the rest of a hash>``."""
    return [path for path in folder.glob("[A-Z][A-Z]/*") if path.is_dir()]


def _remove_damaged(folder: Path, *, alone: bool = True) -> None:
    room = MOST_BYTES
    now = time.time()
    programs = [(_size_and_time(program / _USED)[1], program) for program in _programs(folder)]
    for used, program in sorted(programs, reverse=True):
        files = _files(program)
        states = [_size_and_time(path, gone=now) for path in files]
        room -= sum(size for size, _ in states)
        unused = room < 0 and used < now - _DAY_SECONDS
        writing = not alone and max((changed for _, changed in states), default=now) > now - _WRITING_SECONDS
        if unused or (not writing and _damaged(program, files)):
            shutil.rmtree(program, ignore_errors=True)
    for left in folder.glob("tempfile_*"):  # PoCL forgets them
        with suppress(OSError):
            if left.stat().st_mtime < now - _DAY_SECONDS:
                left.unlink()


def _damaged(program: Path, files: list[Path]) -> bool:
    try:
        known = _sums(program)
        present = {str(path.relative_to(program)): path for path in files}
        if any(name not in present or not _unchanged(present[name], *known[name]) for name in known):
            return True
        # Of a process that was ended no sums are written: look at least whether the files are whole.
        return any(not _plausible(path) for name, path in present.items() if name not in known)
    except (OSError, ValueError, TypeError, AttributeError):
        return True


def _record(folder: Path) -> None:
    """Write the check sums of programs that gained files in this run."""
    for program in _programs(folder):
        with suppress(OSError, ValueError):
            names = {str(path.relative_to(program)): path for path in _files(program)}
            if names.keys() != _sums(program).keys():
                draft = program / f"{SUMS}.{os.getpid()}"
                sums = {name: (*_stamp(path), _sum(path)) for name, path in names.items()}
                draft.write_text(json.dumps(sums), encoding="utf-8")
                draft.replace(program / SUMS)


def _sums(program: Path) -> dict[str, tuple[int, int, int]]:
    path = program / SUMS
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _files(program: Path) -> list[Path]:
    found = [Path(folder) / name for folder, _, names in os.walk(program) for name in names]
    return [path for path in found if path.name != _USED and not path.name.startswith(SUMS)]


def _unchanged(path: Path, size: int, changed: int, check_sum: int) -> bool:
    """Whether a file is as it was written; it is read only if it was touched since."""
    return _stamp(path) == (size, changed) or _sum(path) == check_sum


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of the last change (ns)."""
    state = path.stat()
    return state.st_size, state.st_mtime_ns


def _sum(path: Path) -> int:
    return zlib.crc32(path.read_bytes())


def _size_and_time(path: Path, gone: float = 0.0) -> tuple[int, float]:
    """Size and time of the last change (s); 0 and `gone` of what another process has removed."""
    try:
        state = path.stat()
    except OSError:
        return 0, gone
    return state.st_size, state.st_mtime


def _plausible(path: Path) -> bool:
    """Whether a file of machine code or of LLVM's code begins and ends as one."""
    content = path.read_bytes() if path.suffix in (".so", ".bc") else b"-"
    if path.suffix == ".so":
        sections = int.from_bytes(content[40:48], "little") + 64 * int.from_bytes(content[60:62], "little")
        return content[:4] == b"\x7fELF" and len(content) >= sections > 0
    return content[:4] == b"BC\xc0\xde" and len(content) % 4 == 0 if path.suffix == ".bc" else bool(content)
