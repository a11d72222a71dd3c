"""Places in JSON, for tests that put anything anywhere."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value of JSON stands."""
    yield place
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        yield from places(each, (*place, key))


def somewhere(told: Any, chance: random.Random) -> tuple[Any, Any, Any]:
    """A copy of JSON, an object or a list anywhere within it, and a key or a place of that."""
    spoilt = copy.deepcopy(told)
    *above, last = chance.choice([place for place in places(told) if place])
    holder = spoilt
    for key in above:
        holder = holder[key]
    return spoilt, holder, last
