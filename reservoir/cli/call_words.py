"""Mistakes in the words of a call: its options, and the units that it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reservoir.errors import Mistake
    from reservoir.hydro.unit_system import UnitSystem


@contextmanager
def named_as(names: Mapping[str, str]) -> Iterator[None]:
    """Call the arguments of a function as the options of a command in messages about them."""
    from reservoir.errors import InputError

    def renamed(text: str) -> str:
        return re.sub(rf"\b({'|'.join(names)})\b", lambda found: names[found[1]], text)

    try:
        yield
    except InputError as error:
        raise type(error)(
            replace(each, column=names[each.column], expected=renamed(each.expected), mend=renamed(each.mend))
            if each.column in names
            else each
            for each in error.mistakes
        ) from error


@contextmanager
def told_in(units: UnitSystem) -> Iterator[None]:
    """State mistakes in the units of a call: amounts, and values of options that were given in them."""
    from reservoir.errors import InputError

    try:
        yield
    except InputError as error:
        raise type(error)(replace(each, **_in_units(each, units)) for each in error.mistakes) from error


#: Quantities of options, and of arguments that options set.
_QUANTITIES = {
    **{"--level": "level_m", "--storage": "storage_hm3", "--inflow": "inflow_m3s"},
    **{"start_level_m": "level_m", "start_hm3": "storage_hm3"},
}


def _in_units(mistake: Mistake, units: UnitSystem) -> dict[str, Any]:
    name = _QUANTITIES.get(mistake.column, "")
    value = mistake.value
    if isinstance(value, float):
        value = float(f"{value / units.size(name):.12g}")  # as it was given
        value = int(value) if value.is_integer() else value
    texts = {name: units.text(getattr(mistake, name)) for name in ("problem", "expected", "mend")}
    return texts | {"value": value}


#: How mistakes of a reservoir speak of its step, and how of that of a call.
_STEP_WORDS = (
    (r'set step = "([a-z-]+)"', r"give --step \1"),
    (r'\bstep is "([a-z-]+)"', r"--step is \1"),
    (r'(?<!-)\bstep = "([a-z-]+)"', r"--step \1"),
)


@contextmanager
def step_asked(step: str | None) -> Iterator[None]:
    """Call the step of a reservoir as the option that set it, if one did."""
    from reservoir.errors import InputError

    try:
        yield
    except InputError as error:
        if step is None:
            raise
        raise type(error)(
            replace(each, problem=_of_option(each.problem), mend=_of_option(each.mend)) for each in error.mistakes
        ) from error


def _of_option(text: str) -> str:
    for words, option in _STEP_WORDS:
        text = re.sub(words, option, text)
    return text
