"""Folders that are written once, into a place where nothing is."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from reservoir.io.placing.claim import Claim
from reservoir.io.placing.draft_folder import claimed, claimed_new
from reservoir.report.folder import new_folder, to_replace


def claimed_empty(target: Path | None, name: str) -> AbstractContextManager[Claim]:
    """Keep a folder from before its content is computed; by default a new one of a name under ``./reports``.

    Raises
    ------
    OutputError
        If it holds something or cannot be written, or if another run is writing there.
    """
    return claimed_new(new_folder(name)) if target is None else claimed(target, check_new)


def check_new(target: Path) -> None:
    """Refuse a folder that holds something.

    Raises
    ------
    OutputError
        If it exists and is not an empty folder.
    """
    to_replace(target, False, mend="choose another --out")
