"""Validate a draft against the schema, and say what the schema refuses in words for the author of the file."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from reservoir.errors import Mistake
from reservoir.hydro.reservoir_toml.draft import Draft, plain
from reservoir.hydro.reservoir_toml.schema import File


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _keys(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        key = prefix + (field.alias or name)
        yield key, field.description or ""
        for section in _models(field.annotation):
            yield from _keys(section, f"{key}.")


#: Meaning of every key of a reservoir file, by dotted key; a section's is empty.
KEYS: Mapping[str, str] = dict(_keys(File))

#: What no file can do without, and what is expected there.
_REQUIRED = {
    "name": "a short name for the reservoir",
    "plant": "a section [plant] with the installed capacity",
    "storage": "a section [storage] with the limits of the storage",
    "release": "a section [release] with the limits of the release",
    "curves.level": "a section [curves.level]: the lake's level by its storage",
    "curves.tailrace": "a section [curves.tailrace]: the level below the dam by the release",
}

#: What a value is not, and what it should have been, by the validator's name for the error.
_TYPES: Mapping[str, tuple[str, str]] = {
    "float_type": ("is not a number", "a number"),
    "finite_number": ("is not a finite number", "a number"),
    "int_type": ("is not a whole number", "a whole number"),
    "string_type": ("is not text", "text in quotes"),
    "tuple_type": ("is not a list", "numbers in square brackets"),
}


def validated(draft: Draft) -> tuple[File, list[Mistake]]:
    """Validate a draft as a whole.

    Returns
    -------
    File
        What is sound: without unknown keys, and without the sections that hold a wrong or missing value.
    list of Mistake
        Everything that the schema refuses.
    """
    errors = _errors(draft.tree)
    meant = {_meant(error) for error in errors}
    told: dict[str, ErrorDetails] = {}
    for error in errors:
        # One message for a list with many wrong values, and for a key that is missing because it is misspelt.
        if error["type"] != "missing" or _dotted(error) not in meant:
            told.setdefault(_dotted(error), error)
    mistakes = [_mistake(error, draft) for error in told.values()]
    absent = (key for key in _REQUIRED if not draft.has(key) and key not in meant)
    mistakes += (draft.mistake(key, "is missing", _REQUIRED[key]) for key in absent)
    return File.model_validate(_sound(draft.tree, errors)), mistakes


def _errors(tree: dict[str, Any]) -> list[ErrorDetails]:
    try:
        File.model_validate(tree)
    except ValidationError as refused:
        return refused.errors(include_url=False)
    return []


def _path(error: ErrorDetails) -> tuple[str | int, ...]:
    path = error["loc"]
    # A curve's kind is part of the validator's path, but not of the file's.
    return path[:2] + path[3:] if path[0] == "curves" else path


def _dotted(error: ErrorDetails) -> str:
    kind = ("kind",) if error["type"].startswith("union_tag") else ()
    return ".".join(part for part in (*_path(error), *kind) if isinstance(part, str))


def _sound(tree: dict[str, Any], errors: list[ErrorDetails]) -> dict[str, Any]:
    sound = copy.deepcopy(tree)
    for error in sorted(errors, key=lambda error: error["type"] != "extra_forbidden"):
        path = _path(error)
        if error["type"] != "extra_forbidden":
            path = path[:2] if path[0] == "curves" else path[:1]
        table: Any = sound
        for section in path[:-1]:
            table = table[section]
        table.pop(path[-1], None)
    return sound


def _mistake(error: ErrorDetails, draft: Draft) -> Mistake:
    dotted = _dotted(error)
    problem, expected, mend = _words(error, dotted)
    mistake = draft.mistake(dotted, problem, expected, mend)
    value, index = draft.entry(dotted).value, error["loc"][-1]
    return replace(mistake, value=value[index]) if isinstance(value, list) and isinstance(index, int) else mistake


def _words(error: ErrorDetails, dotted: str) -> tuple[str, str, str]:
    meaning = KEYS.get(dotted, "")
    match error["type"]:
        case "refusal":
            context = error["ctx"]
            return context["problem"], context["expected"], context["mend"]
        case "missing":
            return "is missing", meaning, f"add {dotted.rpartition('.')[2]} = ... {_home(dotted)}"
        case "extra_forbidden":
            return _unknown(error, dotted)
        case "model_type" | "model_attributes_type":
            return "is not a section", f"a line [{dotted}], and its keys below it", ""
        case "union_tag_not_found":
            return "is missing", meaning, ""
        case "union_tag_invalid" | "enum":
            return "is not one of the choices", meaning, ""
        case kind if kind in _TYPES:
            problem, form = _TYPES[kind]
            return _at(error) + problem, f"{form}: {meaning}" if meaning else form, ""
    return _at(error) + "is out of range", _range(error, meaning), ""


def _at(error: ErrorDetails) -> str:
    last = error["loc"][-1]
    return f"value {last + 1} of the list " if isinstance(last, int) else ""


def _range(error: ErrorDetails, meaning: str) -> str:
    words = {"gt": "a number above", "ge": "a number not below", "lt": "a number below", "le": "a number not above"}
    limits = (f"{words[name]} {plain(limit)}" for name, limit in error["ctx"].items() if name in words)
    return f"{' and '.join(limits)}: {meaning}"


def _siblings(dotted: str) -> list[str]:
    section = dotted.rpartition(".")[0]
    return [known for known in KEYS if known.rpartition(".")[0] == section]


def _meant(error: ErrorDetails) -> str | None:
    """Guess the key of the same section that an unknown key was meant to be."""
    if error["type"] != "extra_forbidden" or _dotted(error) in KEYS:
        return None
    names = {known.rpartition(".")[2]: known for known in _siblings(_dotted(error))}
    near = difflib.get_close_matches(_dotted(error).rpartition(".")[2], names, n=1)
    return names[near[0]] if near else None


def _unknown(error: ErrorDetails, dotted: str) -> tuple[str, str, str]:
    if dotted in KEYS:
        return f'does not go with kind = "{error["loc"][2]}"', "", "remove it, or change the kind"
    meant = _meant(error)
    if meant:
        return "is not a known key", KEYS[meant], f"write {meant.rpartition('.')[2]}, if that is what you mean"
    elsewhere = [known for known in KEYS if known.rpartition(".")[2] == dotted.rpartition(".")[2]]
    if elsewhere:
        return "is not a known key here", "", f"move it {_home(elsewhere[0])}"
    siblings = (known.rpartition(".")[2] for known in _siblings(dotted))
    return "is not a known key", f"one of {', '.join(siblings)}", "remove it"


def _home(dotted: str) -> str:
    section = dotted.rpartition(".")[0]
    return f"below the line [{section}]" if section else "to the top of the file, above the first [section]"
