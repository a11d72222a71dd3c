"""Drivers that are registered with OpenCL's loader but cannot be loaded; the loader skips them silently."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from reservoir.errors import Mistake

#: Names the folder of the drivers' files, or one of them, in place of `USUAL_FOLDER`.
VARIABLE = "OCL_ICD_VENDORS"
USUAL_FOLDER = Path("/etc/OpenCL/vendors")

_LONGEST_NAME = 4096


def broken_drivers() -> list[Mistake]:
    """Find registered drivers that cannot be loaded, with what their loading says."""
    asked = os.environ.get(VARIABLE, "")
    place = Path(asked) if asked else USUAL_FOLDER
    if asked and not place.exists():
        mend = f"unset it, or set it to a folder of .icd files, such as {USUAL_FOLDER}"
        return [Mistake("the folder or file does not exist", mend=mend, column=VARIABLE, value=asked)]
    files = sorted(place.glob("*.icd")) if place.is_dir() else [place] if asked else []
    return [mistake for file in files for mistake in _why_broken(file)]


def _why_broken(file: Path) -> list[Mistake]:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            library = opened.readline(_LONGEST_NAME).strip()
    except OSError as error:
        return [Mistake(f"cannot be read ({error.strerror})", mend="make it readable, or remove it", file=str(file))]
    try:
        ctypes.CDLL(library)
    except (OSError, ValueError) as error:
        mend = "install the driver again with its libraries, or remove this file"
        return [Mistake(f"its driver cannot be loaded: {error}", mend=mend, file=str(file), value=library)]
    return []
