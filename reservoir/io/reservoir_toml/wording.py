"""Validate a draft against the schema, and state what is wrong in the terms of the file."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from reservoir.errors import Mistake
from reservoir.io.reservoir_toml.draft import Draft, shown
from reservoir.io.reservoir_toml.keys import KEYS, Guess, guess, siblings
from reservoir.io.reservoir_toml.schema import FILE, File

#: What no file can do without, and what is expected there.
_REQUIRED = {
    "name": "a short name for the reservoir",
    "plant": "a section [plant] with the installed capacity",
    "storage": "a section [storage] with the storage limits",
    "release": "a section [release] with the release limits",
    "curves.level": "a section [curves.level]: the forebay level by storage",
    "curves.tailrace": "a section [curves.tailrace]: the tailrace level by release",
}

#: What is required only where another key does not stand in for it.
_INSTALLED, _OF_ONE_UNIT = "plant.installed_capacity_mw", "plant.unit_capacity_mw"

#: How a curve may be written, as it stands in the validator's path.
_KINDS = (("table",), ("polynomial",), ("power",))

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
    meant = {_meant(error, draft) for error in errors}
    told: dict[str, ErrorDetails] = {}
    for error in errors:
        # One message for a list with many wrong values, and for a key that is missing because it is misspelt.
        if error["type"] != "missing" or _dotted(error) not in meant:
            told.setdefault(_dotted(error), error)
    mistakes = [_mistake(error, draft) for error in told.values()]
    absent = (key for key in _REQUIRED if not draft.has(key) and key not in meant)
    mistakes += (draft.mistake(key, "is missing", _REQUIRED[key]) for key in absent)
    said = {_INSTALLED, _OF_ONE_UNIT} & {*meant, *filter(draft.has, (_INSTALLED, _OF_ONE_UNIT))}
    if isinstance(draft.tree.get("plant"), dict) and not said:
        mend = f"add installed_capacity_mw = ... {_home(_INSTALLED)}"
        mistakes.append(draft.mistake(_INSTALLED, "is missing", KEYS[_INSTALLED], mend))
    return FILE.model_validate(_sound(draft.tree, errors)), mistakes


def _errors(tree: dict[str, Any]) -> list[ErrorDetails]:
    try:
        FILE.model_validate(tree)
    except ValidationError as refused:
        return refused.errors(include_url=False)
    return []


def _path(error: ErrorDetails) -> tuple[str | int, ...]:
    path = error["loc"]
    # A curve's kind is part of the validator's path, but not of the file's.
    return path[:2] + path[3:] if path[0] == "curves" and path[2:3] in _KINDS else path


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
    problem, expected, mend = _words(error, dotted, draft)
    mistake = draft.mistake(dotted, problem, expected, mend)
    value, index = draft.entry(dotted).value, error["loc"][-1]
    return (
        replace(mistake, value=shown(value[index])) if isinstance(value, list) and isinstance(index, int) else mistake
    )


def _words(error: ErrorDetails, dotted: str, draft: Draft) -> tuple[str, str, str]:
    meaning = KEYS.get(dotted, "")
    match error["type"]:
        case "refusal":
            context = error["ctx"]
            return context["problem"], context["expected"], context["mend"]
        case "missing":
            return "is missing", meaning, f"add {dotted.rpartition('.')[2]} = ... {_home(dotted)}"
        case "extra_forbidden":
            return _unknown(error, dotted, draft)
        case "model_type" | "model_attributes_type":
            return "is not a section", f"a line [{dotted}], and its keys below it", ""
        case "union_tag_not_found":
            return "is missing", meaning, ""
        case "union_tag_invalid" | "enum":
            return "is not one of the choices", meaning, ""
        case kind if kind in _TYPES:
            problem, form = _TYPES[kind]
            return _at(error) + problem, f"{form}: {meaning}" if meaning else form, ""
    return _at(error) + "is out of range", _range(error, dotted, draft), ""


def _at(error: ErrorDetails) -> str:
    last = error["loc"][-1]
    return f"value {last + 1} of the list " if isinstance(last, int) else ""


def _range(error: ErrorDetails, dotted: str, draft: Draft) -> str:
    words = {"gt": "above", "ge": "of at least", "lt": "below", "le": "of at most"}
    limits = {words[name]: limit for name, limit in error["ctx"].items() if name in words}
    said = " and ".join(f"{word} {draft.amount(dotted, limit)}" for word, limit in limits.items())
    return f"a number {said}: {KEYS.get(dotted, '')}"


def _guess(dotted: str, draft: Draft) -> tuple[Guess, str] | None:
    """What an unknown key was meant to be, and the key of the same section that this is."""
    section = dotted.rpartition(".")[0]
    found = guess(section, draft.entry(dotted).key.rpartition(".")[2])
    return (found, f"{section}.{found.key.name}".lstrip(".")) if found else None


def _meant(error: ErrorDetails, draft: Draft) -> str | None:
    """Guess the key of the same section that an unknown key was meant to be."""
    dotted = _dotted(error)
    found = _guess(dotted, draft) if error["type"] == "extra_forbidden" and dotted not in KEYS else None
    return found[1] if found else None


def _unknown(error: ErrorDetails, dotted: str, draft: Draft) -> tuple[str, str, str]:
    if dotted in KEYS:
        return f'is not used with kind = "{error["loc"][2]}"', "", "remove it, or change the kind"
    found = _guess(dotted, draft)
    if found:
        return _almost(found[0], KEYS[found[1]])
    section, _, name = dotted.rpartition(".")
    elsewhere = [known for known in KEYS if known.rpartition(".")[2] == name]
    if elsewhere:
        return "is not a known key here", "", f"move it {_home(elsewhere[0])}"
    known = ", ".join(key.name for key in siblings(section))
    return "is not a known key", f"one of {known}" if known else "", "remove it"


def _almost(found: Guess, meaning: str) -> tuple[str, str, str]:
    """Say what a key was probably meant to be, and never another unit than it may have been written in."""
    problem, (key, ending) = "is not a known key", found
    if found.unit:
        return problem, meaning, f"write {key.written(found.unit)} if that is meant"
    if not key.units and ending:
        return problem, f"{key.stem}: {meaning}", "convert the value"
    if not key.units:
        return problem, meaning, f"write {key.stem} if that is meant"
    several = len(key.units) > 1
    if ending:
        known = f"one of {key.choices}" if several else key.choices
        mend = f"convert {'it to one of these units' if several else 'the value'}"
        return f'{problem}: "{ending}" is not a known unit', known, mend
    others = f"otherwise, one of {key.choices}" if several else "otherwise, convert it"
    return problem, meaning, f"write {key.name} if it is in {key.units[0].name}; {others}"


def _home(dotted: str) -> str:
    section = dotted.rpartition(".")[0]
    return f"below the line [{section}]" if section else "to the top of the file, above the first [section]"
