"""Read a reservoir file (TOML): every mistake in it is stated at once."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.reservoir import Marks, Reservoir
from reservoir.hydro.reservoir_toml.checks import CHECKS, failures
from reservoir.hydro.reservoir_toml.curves import CurveSet, curves_of
from reservoir.hydro.reservoir_toml.draft import Draft
from reservoir.hydro.reservoir_toml.schema import HOURS_PER_YEAR, File
from reservoir.hydro.reservoir_toml.wording import validated

_START_ANEW = '"reservoir new NAME" writes a commented file to start from'

#: What is wrong with a line, by how the decoder's message begins.
_SYNTAX = {
    "Cannot overwrite": "gives a key a second time",
    "Cannot declare": "gives a section a second time",
    "Expected newline or end of document": "goes on after its value",
    "Expected '='": "has a key without = and a value",
    "Invalid value": "has no value, or one that is no number, text or list",
    "Invalid statement": "is neither key = value nor [section]",
    "Unclosed array": "is in a list without its closing ]",
    "Unterminated string": "is in a text without its closing quote",
}


def read_reservoir(path: str | Path) -> Reservoir:
    """Read and check a reservoir file.

    Parameters
    ----------
    path : str or Path
        A TOML file; data/template.toml explains every key.

    Returns
    -------
    Reservoir
        Volumes in hm3, flows in m3/s, whatever the file's units; its arrays cannot be written.

    Raises
    ------
    InputError
        With every mistake in the file.
    """
    content = _content(path)
    draft = Draft.of(_parsed(content, str(path)), str(path))
    file, refused = validated(draft)
    curves, astray = curves_of(file, draft)
    parts = {**{name: getattr(file, name) for name in File.model_fields}, "level": curves.level, "draft": draft}
    mistakes = [*draft.mistakes, *refused, *failures(CHECKS, parts), *astray]
    if mistakes:
        raise InputError(draft.in_order(mistakes))
    return _assembled(file, curves, str(path), hashlib.sha256(content).hexdigest())


def _content(path: str | Path) -> bytes:
    """Read the bytes; the hash is of these, before any decoding."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        problem, mend = "is not there", f"check the path; {_START_ANEW}"
    except IsADirectoryError:
        problem, mend = "is a folder, not a file", "name the TOML file in it"
    except OSError as error:
        problem, mend = f"cannot be read: {error.strerror}", ""
    raise InputError(Mistake(problem, "a reservoir file (TOML)", mend, file=str(path)))


def _parsed(content: bytes, file: str) -> dict[str, Any]:
    try:
        tree = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        mend = 'save the file as UTF-8, without "Unicode" or a code page'
        raise InputError(Mistake("is not UTF-8 text", mend=mend, file=file, row=row)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(_not_toml(str(error), content, file)) from None
    if not tree:
        raise InputError(Mistake("is empty", "a reservoir file (TOML)", _START_ANEW, file=file))
    return tree


def _not_toml(message: str, content: bytes, file: str) -> Mistake:
    """Take the place out of the decoder's message, and show the line that it stopped at."""
    lines = content.decode("utf-8-sig").splitlines() or [""]
    place = re.search(r" \(at (?:line (\d+)|end of document)", message)
    row = min(int(place[1]), len(lines)) if place and place[1] else len(lines)
    said = message[: place.start()] if place else message
    found = lines[row - 1].strip() or None
    problem = next((words for begin, words in _SYNTAX.items() if said.startswith(begin)), f"is not TOML: {said}")
    expected = 'key = value, with text in "quotes", lists in [brackets] and decimals with a point'
    return Mistake(problem, "" if "second time" in problem else expected, file=file, row=row, value=found)


def _assembled(file: File, curves: CurveSet, source: str, sha256: str) -> Reservoir:
    plant, storage, release = file.plant, file.storage, file.release
    # Whatever leaves one of these open is a mistake, and was raised.
    assert file.name and plant and storage and release
    assert curves.level and curves.tailrace and curves.conversion and curves.capacity_m3s
    penalty = file.objective.penalty_gwh
    return Reservoir(
        name=file.name,
        level=curves.level,
        tailrace=curves.tailrace,
        conversion=curves.conversion,
        conversion_kind=curves.conversion_kind,
        capacity_m3s=curves.capacity_m3s,
        installed_mw=plant.installed_capacity_mw,
        storage_lower_hm3=_read_only(storage.lower),
        storage_upper_hm3=_read_only(storage.upper),
        release_lower_m3s=_read_only(release.lower_m3s),
        release_upper_m3s=_read_only(release.upper_m3s),
        initial_storage_hm3=storage.initial_hm3,
        final_storage_hm3=storage.final,
        year_end=storage.year_end,
        penalty_gwh=plant.installed_capacity_mw * HOURS_PER_YEAR / 1000 if penalty is None else penalty,
        first_month=file.first_month,
        guaranteed_energy_gwh=plant.guaranteed_energy_gwh,
        marks=Marks(**file.marks.model_dump()),
        description=file.description,
        caveat=file.caveat,
        source=source,
        sha256=sha256,
    )


def _read_only(values: tuple[float, ...]) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
