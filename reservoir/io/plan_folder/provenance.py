"""Read ``plan.json``: every key that later steps need is checked for presence and type."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.hydro.unit_system import SYSTEMS
from reservoir.io.content_hash import content_sha256
from reservoir.io.placing.workplace import clear_abandoned
from reservoir.io.plan_folder.tables import (
    AGAIN,
    COPY,
    DATASET_NAMES,
    INFLOW,
    MOST_BYTES,
    MOST_PROVENANCE_BYTES,
    PROVENANCE,
    changed,
)
from reservoir.text.data_file import read_limited
from reservoir.text.strict_json import read_json

#: Key of the hashes of the folder's files, which earlier plans lack.
FILES = "files"
#: Key of the format of the tables, where they are not CSV.
FORMAT = "format"


def _is(*kinds: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kinds) and not isinstance(value, bool)


def _list_of(sound: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(sound, value))


def _object_of(sound: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, dict) and all(map(sound, value.values()))


def _is_check(value: object) -> bool:
    return (
        isinstance(value, dict)
        and _is_text(value.get("check"))
        and _is(int, float, type(None))(value.get("threshold", ""))
        and _is(int, float, type(None))(value.get("value", ""))
    )


_ABSENT = object()
_is_text, _is_number, _is_object = _is(str), _is(int, float), _is(dict)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


_TEXT, _OBJECT = (_is_text, "a string"), (_is_object, "an object")
#: What is read of ``plan.json``, by dotted key: what a value must be, for the program and in words.
_SOUND: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "program": _OBJECT,
    **dict.fromkeys(("program.name", "program.version"), _TEXT),
    "program.packages": _OBJECT,
    "machine": _OBJECT,
    "machine.python": _TEXT,
    "created": _TEXT,
    "reservoir": _OBJECT,
    **dict.fromkeys(("reservoir.name", "reservoir.file", "reservoir.sha256"), _TEXT),
    "inflow": _OBJECT,
    **dict.fromkeys(("inflow.file", "inflow.sha256"), _TEXT),
    "inflow.caveat": (lambda value: value is _ABSENT or _is_text(value), "a string"),
    "years": (_is(int), "a number"),
    "units": (lambda value: value is _ABSENT or _is_object(value), "an object"),
    "units.system": (lambda value: value is _ABSENT or value in list(SYSTEMS), " or ".join(SYSTEMS)),
    "horizon": (lambda value: value is _ABSENT or _is_text(value), "a text"),
    "start": (lambda value: value in (None, _ABSENT) or _is_object(value), "an object or null"),
    "start.month": (lambda value: value is _ABSENT or _is_text(value), "a string"),
    "start.storage_hm3": (lambda value: value is _ABSENT or _is_number(value), "a number"),
    "end_value_gwh_per_hm3": (lambda value: value in (None, _ABSENT) or _is_number(value), "a number or null"),
    "firm_power": (lambda value: value is _ABSENT or _is_object(value), "an object"),
    "firm_power.not_kept_mw": (lambda value: value is _ABSENT or _list_of(_is_number)(value), "a list of numbers"),
    "firm_power.proved": (lambda value: value is _ABSENT or _list_of(_is_flag)(value), "a list of flags"),
    "stopped": (lambda value: value in (None, _ABSENT) or _is_text(value), "a string or null"),
    **dict.fromkeys(("solver", "device"), _TEXT),
    "settings": _OBJECT,
    "seconds": (_object_of(_is_number), "a number for each stage"),
    **dict.fromkeys(("caveats", "notes"), (_list_of(_is_text), "a list of strings")),
    "checks": (_list_of(_is_check), "a list of checks, each with its value and threshold"),
    "figures": (_object_of(_is_text), "a string for each figure"),
    "reference": (_is(dict, type(None)), "an object or null"),
    "second_run": (lambda value: value in (None, _ABSENT) or _is_object(value), "an object or null"),
    "second_run.settings": (lambda value: value is _ABSENT or _is_object(value), "an object"),
    "device_seconds": (lambda value: value in (None, _ABSENT) or _is_number(value), "a number or null"),
    FORMAT: (lambda value: value is _ABSENT or _is_text(value), "a string"),
    FILES: (lambda value: value is _ABSENT or _object_of(_is_text)(value), "a string for each file"),
}


def read_provenance(folder: Path) -> dict[str, Any]:
    """Content of a plan's ``plan.json``.

    Raises
    ------
    InputError
        If it is no folder of a plan, or with every key that is missing or has the wrong type.
    """
    require_folder(folder)
    clear_abandoned(folder)  # a run that was killed in the midst of an exchange of files
    path = folder / PROVENANCE
    try:
        content = read_json(path, MOST_PROVENANCE_BYTES)
    except FileNotFoundError as error:
        problem = f"is not a plan folder: {PROVENANCE} is missing"
        raise InputError(Mistake(problem, "a folder written by `reservoir plan`", file=str(folder))) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise changed(path, f"cannot be read ({reason})") from error
    if not isinstance(content, dict):
        raise changed(path, "is not a JSON object")
    mistakes = [
        Mistake("is missing or has the wrong type", expected, AGAIN, str(path), column=key)
        for key, expected in _unsound(content)
    ]
    if mistakes:
        raise InputError(mistakes)
    return content


def require_folder(folder: Path) -> None:
    """Refuse a plan's folder that is none.

    Raises
    ------
    InputError
        If it is a file, or nothing.
    """
    if not os.path.isdir(folder):
        problem = "is a file, not a folder" if os.path.exists(folder) else "does not exist"
        raise InputError(Mistake(problem, "a folder written by `reservoir plan`", file=str(folder)))


def file_hashes(folder: Path, names: list[str]) -> dict[str, str]:
    """SHA-256 of files of a folder, or of folders in it, by their names in it."""
    return {name: content_sha256(folder / name) for name in names}


def check_files(folder: Path, origin: Mapping[str, Any]) -> None:
    """Refuse files of a plan's folder that are not as they were written; earlier plans have no hashes of them.

    Raises
    ------
    InputError
        With every file that is missing or was changed.
    """
    wanted = dict(origin.get(FILES, {}))
    copy = origin["inflow"].get(COPY)
    digest = copy.get("sha256") if isinstance(copy, dict) else origin["inflow"]["sha256"]
    if (folder / INFLOW).exists() and digest:
        wanted[INFLOW] = str(digest)
    mistakes = [Mistake(problem, mend=AGAIN, file=str(folder / name)) for name, problem in _differing(folder, wanted)]
    if mistakes:
        raise InputError(mistakes)


def _differing(folder: Path, wanted: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, digest in wanted.items():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            yield PROVENANCE, f"names a file outside the folder ({name[:60]})"
            continue
        try:
            found = _digest(folder / name)
        except FileNotFoundError:
            yield name, "is missing"
        except (OSError, ValueError) as error:
            yield name, f"cannot be read ({getattr(error, 'strerror', None) or error})"
        else:
            if found != digest:
                yield name, "was changed after the plan was made"


def _digest(path: Path) -> str:
    """Hash of a file as large as a plan's may be; a dataset may be of any size."""
    if path.name in DATASET_NAMES:
        return content_sha256(path)
    return hashlib.sha256(read_limited(path, MOST_BYTES)).hexdigest()


def _unsound(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys of a provenance whose values are not what is read, with what they should be."""
    for key, (is_sound, expected) in _SOUND.items():
        section, _, name = key.rpartition(".")
        holder = content.get(section) if section else content
        if isinstance(holder, dict) and not is_sound(holder.get(name, _ABSENT)):
            yield key, expected
