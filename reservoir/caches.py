"""Folders of compiled code: the user's cache, or a temporary folder of this run if that is not writable."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

#: A file system with less room than this counts as full: compilers that run out of it end the process.
LEAST_FREE_BYTES = 32 << 20

#: What must be said about caches and devices that could not be used, in the order found.
notes: list[str] = []


def usable_folder(name: str, asked: str = "", variable: str = "XDG_CACHE_HOME") -> Path | None:
    """Make a folder that can be written: the one asked for, else one in the user's cache, else one of this run alone.

    Parameters
    ----------
    name : str
        Relative to ``reservoir`` in the user's cache.
    asked, variable : str
        A folder that the user named, and the environment variable that names it.

    Returns
    -------
    Path or None
        None where nothing can be written anywhere.
    """
    wanted = Path(asked) if asked else user_cache(name)
    problem = "no home folder" if wanted is None else why_unusable(wanted)
    if not problem:
        return wanted
    run = run_folder()
    place = (
        f"The cache folder {wanted} cannot be used ({problem})" if wanted else f"No cache of compiled code: {problem}"
    )
    kept = f"compiled code is stored in {run} until this run ends" if run else "compiled code is not stored"
    note(f"{place}; {kept}. Fix: set {variable} to a writable folder with free space.")
    if run is None:
        return None
    folder = run / name
    return None if why_unusable(folder) else folder


def write_at_once(file: Path, content: bytes) -> None:
    """Write a small file whole, which another process may be writing or reading too."""
    descriptor, draft = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
    os.replace(draft, file)


def user_cache(name: str) -> Path | None:
    """The folder of that name in the user's cache; None for users without a home. Made by nobody yet."""
    try:
        # A relative path would mean another folder in every place that the program is called from.
        asked = Path(os.environ.get("XDG_CACHE_HOME", ""))
        base = asked if asked.is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return base / "reservoir" / name if base.is_absolute() else None


def why_unusable(folder: Path) -> str:
    """Make a folder, and say why nothing can be kept in it; empty if something can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        free = shutil.disk_usage(folder).free
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return "" if free >= LEAST_FREE_BYTES else f"less than {LEAST_FREE_BYTES >> 20} MB free"


@cache
def run_folder() -> Path | None:
    """A folder of this run, removed at its end; None where there is no place for one."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="reservoir-"))
    except OSError:
        return None
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not in a process forked from it
        shutil.rmtree(folder, ignore_errors=True)


def note(sentence: str) -> None:
    """Keep a sentence that a command ends with."""
    if sentence not in notes:
        notes.append(sentence)
