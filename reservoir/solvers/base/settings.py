"""Settings of an engine: one frozen data class, whose fields know what they may be; checked and recorded whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake

#: Points of a trace of which each costs memory.
MOST_POINTS = 10**6


@dataclass(frozen=True)
class Settings:
    """What every engine's settings can do; their fields are made by `number`, `choice`, `switch` and `run_option`."""

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

    def check(name: str, value: Any) -> Mistake | None:
        if _within(value, low, high) or (default is None and value is None):
            return None
        expected = f"{low} to {high}{', a whole number' if isinstance(low, int) else ''}"
        return Mistake(f"{name} is out of range", expected, f"choose another {name}", value=value)

    return field(default=default, metadata={"check": check, "run": run})


def choice(default: str | None, known: Iterable[str], what: str, *, run: bool = False) -> Any:
    """A field that is one of some names of `what`; else as `number`."""
    names = tuple(known)

    def check(name: str, value: Any) -> Mistake | None:
        if value in names or (default is None and value is None):
            return None
        return Mistake(f"there is no such {what}", ", ".join(names), "choose one of them", value=value)

    return field(default=default, metadata={"check": check, "run": run})


def switch(default: bool) -> Any:
    """A field that is True or False."""

    def check(name: str, value: Any) -> Mistake | None:
        if isinstance(value, bool):
            return None
        return Mistake(f"{name} is neither True nor False", "True or False", f"choose another {name}", value=value)

    return field(default=default, metadata={"check": check})


def run_option(default: Any) -> Any:
    """A field of how an engine runs; what it may be depends on the device or the problems, and is checked there."""
    return field(default=default, metadata={"run": True})


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
