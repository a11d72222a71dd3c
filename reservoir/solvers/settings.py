"""Settings of an engine: one frozen data class, whose fields know what they may be; checked and recorded whole."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from textwrap import dedent
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake

#: Points of a trace of which each costs memory.
MOST_POINTS = 10**6


@dataclass(frozen=True)
class Settings:
    """What every engine's settings can do; the functions below make their fields."""

    def __post_init__(self) -> None:
        """Refuse settings that are out of range, all of them at once, by an InputError."""
        found = [
            mistake
            for each in fields(self)
            if "check" in each.metadata and (mistake := each.metadata["check"](each.name, getattr(self, each.name)))
        ]
        if found:
            raise InputError(found)

    def as_dict(self) -> dict[str, Any]:
        """Every setting by its name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def described(cls) -> list[tuple[str, Any, str, str]]:
        """Name, default, what it may be, and meaning of every setting that words can give."""
        meanings: dict[str, str] = {}
        for owner in reversed(cls.__mro__):
            for names, text in re.findall(
                r"^(\w[\w, ]*) : .*\n((?:(?: {4}.*)?\n?)+)", dedent(f"    {owner.__doc__ or ''}"), re.M
            ):
                meanings |= dict.fromkeys(names.split(", "), " ".join(text.split()))
        return [
            (each.name, each.default, each.metadata["expected"], meanings.get(each.name, ""))
            for each in fields(cls)
            if "expected" in each.metadata
        ]

    def record(self, seed: int | None) -> dict[str, Any]:
        """Settings for provenance: the algorithm's, then the seed, if any, then how the engine runs it."""
        every = self.as_dict()
        of_run = {each.name for each in fields(self) if each.metadata.get("run")}
        algorithm = {name: value for name, value in every.items() if name not in of_run}
        return algorithm | ({} if seed is None else {"seed": seed}) | every


def number(default: Any, low: float, high: float, *, run: bool = False) -> Any:
    """A field from `low` to `high`, a whole number where `low` is one; if its default is None, it may be None.

    `run` if it does not belong to the algorithm, but says how an engine runs it.
    """
    expected = f"{low} to {high}{', a whole number' if isinstance(low, int) else ''}"

    def check(name: str, value: Any) -> Mistake | None:
        if _within(value, low, high) or (default is None and value is None):
            return None
        return Mistake(f"{name} is out of range", expected, f"choose another {name}", value=value)

    return field(default=default, metadata={"check": check, "expected": expected, "run": run})


def choice(default: str | None, known: Iterable[str], what: str, *, run: bool = False) -> Any:
    """A field that is one of some names of `what`; else as `number`."""
    names = tuple(known)

    def check(name: str, value: Any) -> Mistake | None:
        if value in names or (default is None and value is None):
            return None
        return Mistake(f"there is no such {what}", ", ".join(filter(None, names)), "choose one of them", value=value)

    return field(default=default, metadata={"check": check, "expected": ", ".join(filter(None, names)), "run": run})


def switch(default: bool | None, *, run: bool = False) -> Any:
    """A field that is True or False; if its default is None, it may be None."""

    def check(name: str, value: Any) -> Mistake | None:
        if isinstance(value, bool) or (default is None and value is None):
            return None
        return Mistake(f"{name} is neither True nor False", "True or False", f"choose another {name}", value=value)

    return field(default=default, metadata={"check": check, "expected": "True or False", "run": run})


def device_size() -> Any:
    """A field of how many of something an engine has; which it may be depends on the device, and is checked there."""

    def check(name: str, value: Any) -> Mistake | None:
        if value is None or _within(value, -(2**63), 2**63):
            return None
        return Mistake(f"{name} is no whole number", "a whole number", f"choose another {name}", value=value)

    return field(
        default=None, metadata={"check": check, "expected": "a whole number that fits the device", "run": True}
    )


def arrays() -> Any:
    """A field of arrays, one for each problem, which words cannot give; they are checked with the problems."""

    def check(name: str, value: Any) -> Mistake | None:
        if value is None or (hasattr(value, "__iter__") and not isinstance(value, str)):
            return None
        return Mistake(f"{name} cannot be given in words", "arrays, in Python", "leave it out", value=value)

    return field(default=None, metadata={"check": check, "run": True})


def from_words(words: Iterable[str], option: str) -> dict[str, Any]:
    """Settings that are written ``NAME=VALUE`` behind an option; whether an engine has them its settings class checks.

    Raises
    ------
    InputError
        Of each that is not written so, or given twice.
    """
    settings: dict[str, Any] = {}
    mistakes = []
    for written in words:
        name, equals, text = (part.strip() for part in written.partition("="))
        name = name.replace("-", "_")
        if not (equals and name.isidentifier() and text):
            mistakes.append(
                Mistake("is no setting", "NAME=VALUE", f"write such as {option} bits=6", column=option, value=written)
            )
        elif name in settings:
            mistakes.append(
                Mistake(f"{name} is given twice", "each setting once", "remove one", column=option, value=written)
            )
        settings[name] = _value(text)
    if mistakes:
        raise InputError(mistakes)
    return settings


def _value(text: str) -> Any:
    known = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "none": None}
    if text.casefold() in known:
        return known[text.casefold()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def require_count(what: str, count: int, most: int, mend: str) -> None:
    """Refuse settings that together make too much of something, before it is allocated; InputError says of what."""
    if count > most:
        raise InputError(Mistake(f"too many {what}", f"at most {most:,}", mend, value=count))


def trace_generations(generations: int, points: int) -> NDArray[np.int64]:
    """Generations after which a trace is taken, at most so many; evenly, from the first interval's end."""
    every = max(1, -(-generations // points))
    return np.arange(every, generations + 1, every)


def _within(value: Any, low: float, high: float) -> bool:
    kind = Integral if isinstance(low, int) else Real
    return isinstance(value, kind) and not isinstance(value, bool) and bool(low <= value <= high)  # type: ignore[operator]
