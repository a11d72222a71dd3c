"""Standard JSON: without NaN and infinity."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from reservoir.text.data_file import read_limited
from reservoir.text.quantities import first_unprintable

#: No number of a plan or a rule is as large: sums and products of some of them stay finite.
LARGEST = 1e30
#: Characters of a text.
LONGEST = 100_000
#: Lists and objects within each other.
DEEPEST = 50


def read_json(path: str | os.PathLike[str], most: int) -> Any:
    """Read a JSON file of at most so many bytes.

    Raises
    ------
    OSError
        If it cannot be read.
    InputError
        As `read_limited` does.
    ValueError
        If it is not UTF-8, not JSON, `unsound`, or gives a key twice; says which.
    """
    text = read_limited(path, most).decode("utf-8-sig")
    try:
        content = json.loads(text, object_pairs_hook=each_key_once)
    except RecursionError:
        raise ValueError(f"more than {DEEPEST} nested lists or objects") from None
    for problem in unsound(content):
        raise ValueError(problem)
    return content


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object for `json.loads`, which takes the last of two values in silence; ValueError if there are two."""
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise ValueError(f"the key {key} appears twice in one object")
        content[key] = value
    return content


def unsound(content: object) -> Iterator[str]:
    """What is wrong with a JSON value, wherever it stands in it: depth, numbers, characters."""
    within: list[Iterator[Any]] = [iter((content,))]  # what is still to be looked at, a level each
    while within:
        for value in within[-1]:
            if isinstance(value, dict | list):
                if value and len(within) > DEEPEST:
                    yield f"more than {DEEPEST} nested lists or objects"
                else:
                    within.append(chain(value, value.values()) if isinstance(value, dict) else iter(value))
                    break
            elif isinstance(value, str):
                yield from _unsound_text(value)
            elif isinstance(value, int | float) and not abs(value) <= LARGEST:  # nor is NaN
                yield f"a number that is not finite or beyond {LARGEST:g}"
        else:
            within.pop()


def _unsound_text(text: str) -> Iterator[str]:
    character = first_unprintable(text.replace("\n", " ").replace("\t", " "))
    if character is not None:
        yield f"the unprintable character {character}"
    if len(text) > LONGEST:
        yield f"a text of {len(text):,} characters, more than {LONGEST:,}"


def known(value: Any) -> Any:
    """A value with None in the place of every NaN and infinity within it, which JSON does not know."""
    if isinstance(value, Mapping):
        return {name: known(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [known(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def strict_json(content: Any) -> str:
    """Write JSON for people and machines, with an end of line."""
    return json.dumps(known(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
