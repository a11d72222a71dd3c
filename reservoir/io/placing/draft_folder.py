"""Write a folder completely or not at all: a run claims it, fills a draft, and moves the draft into place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

from reservoir.errors import Mistake, OutputError
from reservoir.io.placing.claim import Claim, numbered, real_place
from reservoir.io.placing.folder_place import check_place, unwritable
from reservoir.io.placing.moves import DRAFT
from reservoir.io.placing.workplace import BeingWrittenError, clear_abandoned, workplace


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
    place = real_place(target)
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
        yield _first_free(name, stack)


def _first_free(name: Path, stack: ExitStack) -> Claim:
    for target in (name, *numbered(name)):
        with suppress(BeingWrittenError):
            if not os.path.lexists(target):
                return stack.enter_context(claimed(target, nothing, free_name=True))
    raise OutputError(
        Mistake("is taken, and so are all its numbered names", file=str(name), mend="choose another folder with --out")
    )


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
def _working(target: Path, place: Path) -> Iterator[Path]:
    """The hidden folder of this run, in a folder that is there or beside one that is not."""
    with ExitStack() as stack:
        try:
            work = _workplace(target, place, stack)
            while place.is_dir() != (work.parent == place):  # another run has put it there in this moment
                stack.close()
                work = _workplace(target, place, stack)
            if work.parent != place:
                _try_name(work / DRAFT, place.name)
        except OSError as error:
            raise OutputError(unwritable(target, error)) from error
        yield work


def _workplace(target: Path, place: Path, stack: ExitStack) -> Path:
    folder, name = (place, ".") if place.is_dir() else (place.parent, place.name)
    folder.mkdir(parents=True, exist_ok=True)
    return stack.enter_context(workplace(folder, name, target))


def _try_name(draft: Path, name: str) -> None:
    """Make a folder of a name: not every disk takes every name, and better now than after all is computed.

    Not in its place: another run would take it for a folder that is there, and work in it.
    """
    (draft / name).mkdir(parents=True)
    (draft / name).rmdir()
    draft.rmdir()
