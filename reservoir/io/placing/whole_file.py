"""Write one file completely or not at all."""

from __future__ import annotations

from pathlib import Path

from reservoir.interrupts import deferred, wrote
from reservoir.io.placing.moves import DRAFT
from reservoir.io.placing.workplace import clear_abandoned, workplace


def write_whole(path: Path, text: str) -> None:
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
        (place / DRAFT).write_text(text, encoding="utf-8")
        with deferred():
            (place / DRAFT).replace(path)
            wrote(path)
