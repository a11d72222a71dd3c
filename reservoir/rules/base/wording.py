"""Say in words what is refused in a rule: the dotted key, what is wrong there, and what would be right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from reservoir.errors import InputError, Mistake
from reservoir.rules.base.fields import Block

Content = TypeVar("Content", bound=Block)

WRITTEN = 'use the file as "reservoir rules" wrote it, or fit the rules again'

#: What a value is not, and what it should have been, by the validator's name for the error.
_TYPES: Mapping[str, tuple[str, str]] = {
    "float_type": ("is not a number", "a number"),
    "finite_number": ("is not a finite number", "a number"),
    "int_type": ("is not a whole number", "a whole number"),
    "string_type": ("is not text", "text in quotes"),
    "tuple_type": ("is not a list", "values in square brackets"),
    "model_type": ("is not an object", "keys and values in braces"),
}


def validated(model: type[Content], content: object) -> Content:
    """Validate the content of a rule.

    Raises
    ------
    InputError
        With every mistake in it, each with its dotted key.
    """
    try:
        return model.model_validate(content)
    except ValidationError as refused:
        mistakes = [_mistake(error) for error in refused.errors(include_url=False)]
    raise InputError(mistakes)


def _mistake(error: ErrorDetails) -> Mistake:
    key, found = _dotted(error["loc"]), error["input"]
    words = error.get("ctx", {})
    match error["type"]:
        case "refusal":
            return Mistake(words["problem"], words["expected"], column=key, value=found)
        case "missing":
            return Mistake("is missing", mend=WRITTEN, column=key)
        case "extra_forbidden":
            return Mistake("is not a known key", mend="remove it or correct its name", column=key, value=found)
        case "enum" | "literal_error":
            return Mistake("is not one of the choices", words["expected"], column=key, value=found)
    problem, expected = _TYPES.get(error["type"], (error["msg"], ""))
    # A mistake shows no value that is None, so its problem says it.
    return Mistake("is null" if found is None else problem, expected, column=key, value=found)


def _dotted(place: tuple[int | str, ...]) -> str:
    """Write a place as a key: ``curves_hm3[1][6]``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
