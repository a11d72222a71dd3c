"""``plan.json`` read back: every key that later steps read is there and of its kind, or is refused by its name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.io.plan_folder.tables import AGAIN, INFLOW, MOST_BYTES, PROVENANCE, changed
from reservoir.text.limited_read import read_limited
from reservoir.text.sound_json import read_json

#: Key of the hashes of the folder's files, which earlier plans lack.
FILES = "files"
#: What is read of ``plan.json``, and the kind of each.
_ORIGIN: dict[str, type[Any]] = {
    "program": dict,
    "machine": dict,
    "created": str,
    "reservoir": dict,
    "inflow": dict,
    "years": int,
    "solver": str,
    "device": str,
    "settings": dict,
    "seconds": dict,
    "caveats": list,
    "notes": list,
    "checks": list,
    "figures": dict,
}
#: Texts within them.
_TEXTS = {
    "program": ("name", "version"),
    "machine": ("python",),
    "reservoir": ("name", "file", "sha256"),
    "inflow": ("file", "sha256"),
}
_KINDS = {str: "a text", int: "a number", dict: "an object", list: "a list"}


def read_provenance(folder: Path) -> dict[str, Any]:
    """Content of a plan's ``plan.json``.

    Raises
    ------
    InputError
        If it is no folder of a plan, or with every key that is missing or of another kind.
    """
    require_folder(folder)
    path = folder / PROVENANCE
    try:
        content = read_json(path, MOST_BYTES)
    except FileNotFoundError as error:
        problem = f"is no plan: it holds no {PROVENANCE}"
        raise InputError(Mistake(problem, "a folder that `reservoir plan` wrote", file=str(folder))) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise changed(path, f"cannot be read as the provenance of a plan ({reason})") from error
    if not isinstance(content, dict):
        raise changed(path, "is not the provenance of a plan")
    mistakes = [
        Mistake("is missing or of another kind", expected, AGAIN, str(path), column=key)
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
        problem = "is a file, not a folder" if os.path.exists(folder) else "is not there"
        raise InputError(Mistake(problem, "a folder that `reservoir plan` wrote", file=str(folder)))


def file_hashes(folder: Path, names: list[str]) -> dict[str, str]:
    """SHA-256 of files of a folder, by their names in it."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def check_files(folder: Path, origin: Mapping[str, Any]) -> None:
    """Refuse files of a plan's folder that are not as they were written; earlier plans have no hashes of them.

    Raises
    ------
    InputError
        With every file that is missing or was changed.
    """
    wanted = dict(origin.get(FILES, {}))
    if (folder / INFLOW).exists() and origin["inflow"]["sha256"]:
        wanted[INFLOW] = origin["inflow"]["sha256"]
    mistakes = [Mistake(problem, mend=AGAIN, file=str(folder / name)) for name, problem in _differing(folder, wanted)]
    if mistakes:
        raise InputError(mistakes)


def _differing(folder: Path, wanted: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, digest in wanted.items():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            yield PROVENANCE, f"names a file outside the folder ({name[:60]})"
            continue
        try:
            content = read_limited(folder / name, MOST_BYTES)
        except FileNotFoundError:
            yield name, "is missing"
        except (OSError, ValueError) as error:
            yield name, f"cannot be read ({getattr(error, 'strerror', None) or error})"
        else:
            if hashlib.sha256(content).hexdigest() != digest:
                yield name, "was changed since the plan was made"


def _unsound(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys of a provenance whose values are not of the kind that is read, with that kind."""
    for key, kind in _ORIGIN.items():
        value = content.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            yield key, _KINDS[kind]
        elif key in _TEXTS:
            yield from ((f"{key}.{name}", "a text") for name in _TEXTS[key] if not _is_text(value.get(name)))
            yield from _unsound_within(key, value)
        elif key in ("notes", "caveats") and not all(_is_text(each) for each in value):
            yield key, "a list of texts"
        elif key == "figures" and not all(_is_text(each) for each in value.values()):
            yield key, "a text for each figure"
        elif key == "seconds" and not all(_is_number(each) for each in value.values()):
            yield key, "a number for each stage"
        elif key == "checks" and not all(_is_check(each) for each in value):
            yield key, "a list of checks, each with its value and threshold"
    yield from _unsound_options(content)


def _unsound_within(key: str, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if key == "program" and not isinstance(value.get("packages"), dict):
        yield "program.packages", "an object"
    if key == "inflow" and not _is_text(value.get("caveat", "")):
        yield "inflow.caveat", "a text"


def _unsound_options(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not isinstance(content.get("reference"), dict | None) or "reference" not in content:
        yield "reference", "an object or null"
    if content.get("device_seconds") is not None and not _is_number(content["device_seconds"]):
        yield "device_seconds", "a number or null"
    hashes = content.get(FILES, {})
    if not isinstance(hashes, dict) or not all(_is_text(each) for each in hashes.values()):
        yield FILES, "a text for each file"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_check(value: object) -> bool:
    return (
        isinstance(value, dict)
        and _is_text(value.get("check"))
        and _is_number(value.get("threshold"))
        and (_is_number(value.get("value", "")) or value.get("value", "") is None)
    )
