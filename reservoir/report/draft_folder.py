"""Write a folder as a whole or not at all: a run claims it, fills a draft beside, and puts that in its place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

from reservoir.errors import Mistake, OutputError
from reservoir.interrupts import deferred, wrote
from reservoir.placing.moves import DRAFT, Signature, exchange, leaves
from reservoir.placing.workplace import BeingWrittenError, clear_abandoned, workplace
from reservoir.report.folder_place import check_place, unwritable

#: Folders of one name that are tried before giving up.
_MOST_OF_A_NAME = 1000


def nothing(place: Path) -> tuple[str, ...]:
    """What is checked of a place that needs no check, and what may be replaced where nothing may be."""
    return ()


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
        self.target = target
        self.draft = work / DRAFT
        self.written: Path | None = None
        self._work, self._place, self._free_name = work, _real(target), free_name
        self._inside = work.parent == self._place
        self._replaceable = set(replaceable)
        self._before = self._present()

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
            if self._inside:
                self._put_inside()
            elif os.path.lexists(self._place):
                self._put_beside("was made by something else meanwhile")
            else:
                os.rename(self.draft, self._place)
                self._done(self.target)
        return self.place

    @property
    def place(self) -> Path:
        """Where the results are."""
        assert self.written is not None
        return self.written

    def add(self, name: str, text: str) -> Path:
        """Add a file to what was put in its place, or replace it there; returns the file.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        path = self.place / name
        try:
            self.draft.mkdir(exist_ok=True)
            (self.draft / name).write_text(text, encoding="utf-8")
            (self.draft / name).replace(path)
        except OSError as error:
            raise OutputError(unwritable(path, error)) from error
        return path

    def _put_inside(self) -> None:
        now = self._present()
        changed = sorted(leaf for leaf, before in self._before.items() if now.get(leaf, before) != before)
        if changed:
            return self._put_beside(f"was changed by something else meanwhile ({', '.join(changed[:5])})")
        try:
            exchange(self._work, self._place, [leaf for leaf in self._before if leaf in now])
        except OSError as error:
            return self._put_beside(f"cannot be replaced ({error.strerror}: {error.filename})")
        return self._done(self.target)

    def _put_beside(self, reason: str) -> None:
        """Keep a draft whose place is taken: under the next free name there, or else in the folder itself."""
        for folder in (self._place.parent, self._place):
            for kept in numbered(folder / self._place.name):
                if os.path.lexists(kept):
                    continue
                try:
                    os.rename(self.draft, kept)
                except OSError:
                    break
                self._done(self.target.with_name(kept.name) if self._free_name else kept)
                if self._free_name:
                    return
                mend = "look at both, and keep the one that you want"
                raise OutputError(Mistake(f"{reason}; the results are in {kept}", file=str(self.target), mend=mend))
        raise OSError(None, reason)

    def _present(self) -> dict[str, Signature]:
        found = leaves(self._place, {leaf.split("/")[0] for leaf in self._replaceable})
        return {leaf: state for leaf, state in found.items() if leaf in self._replaceable}

    def _done(self, written: Path) -> None:
        wrote(written)
        self.written = written


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
    place = _real(target)
    for folder in (place, place.parent):
        clear_abandoned(folder)
    check(target)
    inside = place.is_dir()
    missing = [] if inside else [parent for parent in place.parents if not parent.exists()]
    try:
        with _working(target, place, inside) as work:
            check(target)
            yield Claim(target, work, replaceable(place) if inside else (), free_name=free_name)
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
        yield _first_free(name, stack)


def _first_free(name: Path, stack: ExitStack) -> Claim:
    for target in (name, *numbered(name)):
        with suppress(BeingWrittenError):
            if not os.path.lexists(target):
                return stack.enter_context(claimed(target, nothing, free_name=True))
    raise OutputError(Mistake("has no free name", file=str(name), mend="give another place with --out"))


def numbered(name: Path) -> Iterator[Path]:
    """Other names for a folder: ``NAME-2``, ``NAME-3`` and so on."""
    return (name.with_name(f"{name.name}-{count}") for count in range(2, _MOST_OF_A_NAME))


@contextmanager
def drafted(
    target: Path | Claim,
    check: Callable[[Path], object],
    replaceable: Callable[[Path], Iterable[str]] = nothing,
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
            raise OutputError(unwritable(claim.target, error)) from error


@contextmanager
def _working(target: Path, place: Path, inside: bool) -> Iterator[Path]:
    """The hidden folder of this run, in a folder that is there or beside one that is not."""
    with ExitStack() as stack:
        try:
            folder, name = (place, ".") if inside else (place.parent, place.name)
            folder.mkdir(parents=True, exist_ok=True)
            work = stack.enter_context(workplace(folder, name, target))
            if not inside:  # better now than after all is computed: not every disk takes every name
                place.mkdir()
                place.rmdir()
        except OSError as error:
            raise OutputError(unwritable(target, error)) from error
        yield work


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
