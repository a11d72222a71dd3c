"""JSON that somebody has spoiled: values, keys and lists changed anywhere within it, then perhaps its bytes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.spoiling import spoiled

Draw = Callable[[st.SearchStrategy[Any]], Any]

#: Values of any kind, put in the place of any other.
ODD_VALUES = (
    *(None, True, False, 0, -1, 1, 1.5, -0.0, 1e308, 1e31, 1e29, -1e29, 1e-320, 10**400, 10**4200, 2**63, -(2**63) - 1),
    *(
        float("nan"),
        float("inf"),
        -float("inf"),
        "",
        "x",
        "\x00",
        "\x1b[31m",
        "\ud800",
        "\u202e",
        "\ufffe",
        "a" * 200_000,
    ),
    *("1", "nan", "[/]", "../..", "2024-01-01", [], {}, [None], [[]], {"": 1}, {"a": {}}, [0.0] * 12, [1] * 13),
    *([[1.0] * 12] * 12, [True] * 12, ["a"] * 12, {"0": 1}, [1e30] * 12, [-1.0] * 12),
)
_FACTORS = (1e30, 1e-30, 1e10, -1, 0, 1e25, 1.001, 0.999, 2)
#: Levels below the first at which a value is changed.
_DEEPEST = 5
#: Lists within each other beyond what any reader follows.
_DEPTHS = (40, 60, 900, 100_000)


def spoiled_json(sound: Sequence[Any], most: int = 3) -> st.SearchStrategy[bytes]:
    """A sound value, changed in up to `most` places and written; now and then the text is changed as well."""
    return _spoiled_texts([json.dumps(each) for each in sound], most)


@st.composite
def _spoiled_texts(draw: Draw, sound: Sequence[str], most: int) -> bytes:
    told = json.loads(draw(st.sampled_from(sound)))
    for change in draw(st.lists(st.sampled_from(_CHANGES), max_size=most)):
        change(draw, told)
    style = draw(st.sampled_from(({"indent": 2}, {}, {"ensure_ascii": False}, {"separators": (",", ":")})))
    text = json.dumps(told, **style).encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 3)) == 0:
        text = draw(spoiled([text], most=2, cells=b" "))
    if draw(st.integers(0, 19)) == 0:
        text = draw(st.sampled_from(_WRAPPED))(text, draw(st.sampled_from(_DEPTHS)))
    return text


def _holder(draw: Draw, told: Any) -> tuple[Any, Any]:
    """An object or list anywhere within a value, and a key or place of it; each level is as likely to be the last."""
    holder, last = {"x": None}, "x"
    within = told
    for _ in range(1 + draw(st.integers(0, _DEEPEST))):
        if not isinstance(within, dict | list) or not within:
            break
        keys = list(within) if isinstance(within, dict) else range(len(within))
        holder, last = within, keys[draw(st.integers(0, len(keys) - 1))]
        within = holder[last]
    return holder, last


def _other_value(draw: Draw, told: Any) -> None:
    holder, last = _holder(draw, told)
    holder[last] = copy.deepcopy(draw(st.sampled_from(ODD_VALUES)))


def _scaled(draw: Draw, told: Any) -> None:
    holder, last = _holder(draw, told)
    value = holder[last]
    if isinstance(value, int | float) and -1e300 < value < 1e300:
        holder[last] = value * draw(st.sampled_from(_FACTORS))


def _gone(draw: Draw, told: Any) -> None:
    holder, last = _holder(draw, told)
    del holder[last]


def _other_key(draw: Draw, told: Any) -> None:
    holder, last = _holder(draw, told)
    if isinstance(holder, dict):
        holder[draw(st.sampled_from(("", "x", "\x1b", "a.b", "\ud800", "rule", "a" * 5000, f"{last}s")))] = holder.pop(
            last
        )


def _moved(draw: Draw, told: Any) -> None:
    """A value takes another's place."""
    holder, last = _holder(draw, told)
    value = copy.deepcopy(holder[last])
    if len(json.dumps(value)) < 100_000:
        other, there = _holder(draw, told)
        other[there] = value


def _longer(draw: Draw, told: Any) -> None:
    holder, last = _holder(draw, told)
    if isinstance(holder, list):
        holder[:] = holder[: last + 1] * draw(st.sampled_from((0, 2, 3, 100))) + holder[last:]


_CHANGES = (_other_value, _other_value, _scaled, _gone, _other_key, _moved, _longer)

_WRAPPED: tuple[Callable[[bytes, int], bytes], ...] = (
    lambda text, depth: b"[" * depth + text + b"]" * depth,
    lambda text, depth: b'{"rule":' * depth + text + b"}" * depth,
    lambda text, depth: b"[" * depth,
    lambda text, depth: text[:-1] + b',"rule":{},"format":1}',
    lambda text, depth: text[:-1] + b',"x":' + b"9" * depth + b"}",
    lambda text, depth: text + text,
)
