"""Exchange files of a folder for others; a failure or the death of the process undoes all of it."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

#: In the hidden folder of a run: what is to be put in place, what stood there before, and the list of what is put.
DRAFT, ASIDE, MOVES = "draft", "replaced", "moves.json"

#: Time of its last change, size, number: another file, or the same one changed, has others.
Signature = tuple[int, int, int]


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
    return {leaf: found for name in starts for leaf, found in _below(folder / name, name)}


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

    Parameters
    ----------
    work : Path
        Hidden folder of this run, in that folder.
    folder : Path
        It stays the same folder, and what else it holds stays as it is.
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
    for leaf in _listed(work / MOVES):
        if not os.path.lexists(work / DRAFT / leaf) and os.path.lexists(folder / leaf):
            _move(folder, work / DRAFT, leaf)
    if (work / ASIDE).is_dir():
        for leaf in leaves(work / ASIDE):
            if not (
                (work / ASIDE / leaf).is_dir() and (folder / leaf).is_dir()
            ):  # else it was made for what never came
                _move(work / ASIDE, folder, leaf)
    (work / MOVES).unlink()


def _listed(path: Path) -> list[str]:
    """The list of an exchange; one that was cut off was of one that had not begun."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return []
    return [leaf for leaf in listed if _plain(leaf)] if isinstance(listed, list) else []


def _plain(leaf: object) -> bool:
    """Whether a path leads into a folder and not out of it."""
    return isinstance(leaf, str) and not Path(leaf).is_absolute() and ".." not in PurePosixPath(leaf).parts


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
