"""Write a folder or a file completely or not at all: claim its place, fill a draft, move that into place."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

from reservoir.errors import OutputError
from reservoir.io.workplace import DRAFT, BeingWrittenError, Signature, clear_abandoned, exchange, leaves, workplace
from reservoir.runtime import deferred, wrote

#: Folders of one name that are tried before giving up.
_MOST_OF_A_NAME = 1000
_ELSEWHERE = "choose another path"


class Claim:
    """A folder that this run, and no other, is going to write.

    Parameters
    ----------
    target : Path
        As the user calls it.
    work : Path
        Hidden folder of this run: in the target if that is there, else beside it.
    replaceable : iterable of str
        Paths in the target of what may be replaced: what stands there now, and was written by an earlier run.
    free_name : bool
        Whether another name does as well, if something stands there at the end.
    """

    def __init__(self, target: Path, work: Path, replaceable: Iterable[str], *, free_name: bool = False) -> None:
        self.target, self.draft = target, work / DRAFT
        #: Where the results are, once they are.
        self.written: Path | None = None
        self._work, self._place, self._free_name = work, Path(os.path.realpath(target)), free_name
        self._replaceable = set(replaceable)
        self._before = self._present()

    @property
    def place(self) -> Path:
        """Where the results are."""
        assert self.written is not None
        return self.written

    def put(self) -> Path:
        """Put the draft in its place; returns where it is.

        Raises
        ------
        OutputError
            If something else has come to stand there; the draft is then kept, and the message says where.
        OSError
            If it can be put nowhere.
        """
        with deferred():
            if self._work.parent == self._place:
                self._put_inside()
            elif os.path.lexists(self._place):
                self._put_beside("was created by another program during the run")
            else:
                os.rename(self.draft, self._place)
                self._done(self.target)
        return self.place

    def _put_inside(self) -> None:
        now = self._present()
        changed = sorted(leaf for leaf, before in self._before.items() if now.get(leaf, before) != before)
        if changed:
            return self._put_beside(f"was changed by another program during the run ({', '.join(changed[:5])})")
        try:
            exchange(self._work, self._place, [leaf for leaf in self._before if leaf in now])
        except OSError as error:
            return self._put_beside(f"cannot be replaced ({error.strerror}: {error.filename})")
        return self._done(self.target)

    def _put_beside(self, reason: str) -> None:
        """Keep a draft whose place is taken: under the next free name there, or else in the folder itself."""
        for folder in (self._place.parent, self._place):
            for free in _numbered(folder / self._place.name):
                if os.path.lexists(free):
                    continue
                try:
                    os.rename(self.draft, free)
                except OSError:
                    break
                self._done(self.target.with_name(free.name) if self._free_name else free)
                if self._free_name:
                    return
                raise _refused(self.target, f"{reason}; the results are in {free}", "compare both, and keep one")
        raise OSError(None, reason)

    def _present(self) -> dict[str, Signature]:
        present = leaves(self._place, {leaf.split("/")[0] for leaf in self._replaceable})
        return {leaf: state for leaf, state in present.items() if leaf in self._replaceable}

    def _done(self, written: Path) -> None:
        wrote(written)
        self.written = written


def nothing(place: Path) -> tuple[str, ...]:
    """What is checked of a place that needs no check, and what may be replaced where nothing may be."""
    return ()


@contextmanager
def claimed(
    target: Path,
    check: Callable[[Path], object],
    replaceable: Callable[[Path], Iterable[str]] = nothing,
    *,
    free_name: bool = False,
) -> Iterator[Claim]:
    """Keep a folder for this run, from before anything is computed until it is written.

    What a run that died has left there is cleared first.

    Parameters
    ----------
    target : Path
    check : callable
        Raises an OutputError if what stands there may not be replaced.
    replaceable : callable
        Lists the paths in it of what may be.
    free_name : bool
        Whether another name does as well.

    Raises
    ------
    OutputError
        If nothing can be written there, or another run is writing there.
    """
    check_place(target)
    place = Path(os.path.realpath(target))
    for folder in (place, place.parent):
        clear_abandoned(folder)
    check(target)
    missing = [parent for parent in place.parents if not parent.exists()]
    try:
        with _working(target, place) as work:
            check(target)
            yield Claim(target, work, replaceable(place) if work.parent == place else (), free_name=free_name)
    finally:
        with suppress(OSError):  # what holds nothing was made for nothing
            for parent in missing:
                parent.rmdir()


@contextmanager
def claimed_new(name: Path) -> Iterator[Claim]:
    """Keep a folder that is not there yet for this run: the first name of ``NAME``, ``NAME-2``, ... that is free.

    Raises
    ------
    OutputError
        If nothing can be written there.
    """
    with ExitStack() as stack:
        for target in (name, *_numbered(name)):
            if os.path.lexists(target):
                continue
            with suppress(BeingWrittenError):
                claim = stack.enter_context(claimed(target, nothing, free_name=True))
                break
        else:
            raise _refused(name, "is taken, and so are all its numbered names", "choose another folder with --out")
        yield claim


def _numbered(name: Path) -> Iterator[Path]:
    """Other names for a folder: ``NAME-2``, ``NAME-3`` and so on."""
    return (name.with_name(f"{name.name}-{count}") for count in range(2, _MOST_OF_A_NAME))


@contextmanager
def drafted(
    target: Path | Claim, check: Callable[[Path], object], replaceable: Callable[[Path], Iterable[str]] = nothing
) -> Iterator[Claim]:
    """Give a folder to fill, `Claim.draft`, which is put in its place at the end.

    An interruption, an error or a full disk leaves nothing half-written and what stood there untouched.

    Parameters
    ----------
    target : Path or Claim
        A path is claimed meanwhile, with `check` and `replaceable` as `claimed` has them.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    with nullcontext(target) if isinstance(target, Claim) else claimed(target, check, replaceable) as claim:
        try:
            claim.draft.mkdir()
            yield claim
            claim.put()
        except OSError as error:
            raise _unwritable(claim.target, error) from error


@contextmanager
def _working(target: Path, place: Path) -> Iterator[Path]:
    """The hidden folder of this run, in a folder that is there or beside one that is not."""
    with ExitStack() as stack:
        try:
            while True:
                folder, name = (place, ".") if place.is_dir() else (place.parent, place.name)
                folder.mkdir(parents=True, exist_ok=True)
                work = stack.enter_context(workplace(folder, name, target))
                if place.is_dir() == (work.parent == place):
                    break
                stack.close()  # another run has put it there in this moment
            if work.parent != place:
                # Not every disk takes every name, and better now than after all is computed. Not in its place: another
                # run would take it for a folder that is there, and work in it.
                (work / DRAFT / place.name).mkdir(parents=True)
                (work / DRAFT / place.name).rmdir()
                (work / DRAFT).rmdir()
        except OSError as error:
            raise _unwritable(target, error) from error
        yield work


def check_place(target: Path) -> None:
    """Refuse a path that is a file, leads through one, or cannot be that of a folder.

    Raises
    ------
    OutputError
        With what stands in the way.
    """
    try:
        if not stat.S_ISDIR(os.stat(target).st_mode):
            raise _refused(target, "is a file, not a folder", _ELSEWHERE)
    except (FileNotFoundError, NotADirectoryError):
        present = next(path for path in (target.absolute(), *target.absolute().parents) if os.path.lexists(path))
        if not present.exists():
            mend = "remove the link, or create the folder that it points to"
            raise _refused(present, "is a broken link", mend) from None
        if not present.is_dir():
            raise _refused(present, "cannot be a folder: part of its path is a file", _ELSEWHERE) from None
    except (OSError, ValueError) as error:
        raise _unwritable(target, error) from error


def _unwritable(place: Path, error: OSError | ValueError) -> OutputError:
    mend = f"{_ELSEWHERE}, or check the permissions and the free space"
    return _refused(place, f"cannot be written ({getattr(error, 'strerror', None) or error})", mend)


def _refused(place: Path, problem: str, mend: str) -> OutputError:
    return OutputError(problem, file=str(place), mend=mend)


def require_free(path: Path, *, force: bool, choose: str, replace: str) -> None:
    """Refuse a file that is there already, unless it is to be replaced; for before its contents are computed.

    Raises
    ------
    OutputError
        If it exists and `force` is off, is no file, cannot have its name, or what should be its folder cannot be one;
        see `write_new`.
    """
    check_place(path.parent)
    try:
        present = path.exists()
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    if present and not (force and path.is_file()):
        raise _refused(path, "already exists", choose if path.is_dir() else f"{choose}, or {replace}")


def write_new(path: Path, content: str | Callable[[Path], object], *, force: bool, choose: str, replace: str) -> None:
    """Write a file that is not there yet, or with `force` replace it; folders that its path names are made.

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
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except (OSError, ValueError) as error:
        raise _refused(path, f"cannot be written ({getattr(error, 'strerror', None) or error})", choose) from error


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


def content_sha256(path: Path) -> str:
    """SHA-256 of a file, which may be large; of a folder, of its files with their names.

    Raises
    ------
    OSError
        If it is not there, or cannot be read: a pipe or a device may never end.
    """
    if not path.is_dir():
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    whole = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file():
            whole.update(f"{file.relative_to(path).as_posix()}\0{content_sha256(file)}\n".encode())
    return whole.hexdigest()
