"""Settings of an engine: one frozen data class, whose fields know what they may be; checked and recorded whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from textwrap import dedent
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.problems.base import Problem
from reservoir.runtime import processors

#: Points of a trace of which each costs memory.
MOST_POINTS = 10**6
MOST_THREADS = 4096
#: Velocities below this are dropped: they no longer move a float32 position, and denormal numbers are slow.
SMALLEST_VELOCITY = 1e-30

Positions = NDArray[np.float32]
#: Fields of `Solutions` that count the work of a run.
_WORK = ("generations", "evaluations", "trace_generations")


@dataclass(frozen=True)
class Settings:
    """What every engine's settings can do; the functions below make their fields."""

    def __post_init__(self) -> None:
        """Refuse settings that are out of range, all of them at once, by an InputError."""
        checks = ((each.name, each.metadata["check"]) for each in fields(self) if "check" in each.metadata)
        if mistakes := list(filter(None, (check(name, getattr(self, name)) for name, check in checks))):
            raise InputError(mistakes)

    def as_dict(self) -> dict[str, Any]:
        """Every setting by its name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def macros(self, *names: str) -> dict[str, Any]:
        """Macros of a program that is specialised for some of the settings: each by its name in capitals."""
        return {name.upper(): getattr(self, name) for name in names}

    @property
    def trace_generations(self) -> NDArray[np.int64]:
        """Generations after which the trace is taken, where settings have generations and trace points."""
        return trace_generations(self.generations, self.trace_points)  # type: ignore[attr-defined]

    @property
    def work(self) -> dict[str, Any]:
        """What a run does, as far as settings say it, by names of `Solutions`; the evaluations may be about so many."""
        return {name: getattr(self, name) for name in _WORK if hasattr(self, name)}

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
    return _field(default, lambda value: _within(value, low, high), "{} is out of range", expected, run=run)


def choice(default: str | None, known: Iterable[str], what: str, *, run: bool = False) -> Any:
    """A field that is one of some names of `what`; else as `number`."""
    names = tuple(known)
    expected, mend = ", ".join(filter(None, names)), "choose one of them"
    return _field(default, names.__contains__, f"there is no such {what}", expected, mend, run=run)


def switch(default: bool | None, *, run: bool = False) -> Any:
    """A field that is True or False; if its default is None, it may be None."""
    return _field(
        default, lambda value: isinstance(value, bool), "{} is neither True nor False", "True or False", run=run
    )


def device_size() -> Any:
    """A field of how many of something an engine has; which it may be depends on the device, and is checked there."""
    shown = "a whole number that fits the device"
    return _field(
        None,
        lambda value: _within(value, -(2**63), 2**63),
        "{} is no whole number",
        "a whole number",
        shown=shown,
        run=True,
    )


def arrays() -> Any:
    """A field of arrays, one for each problem, which words cannot give; they are checked with the problems."""
    wrong, mend = "{} cannot be given in words", "leave it out"
    return _field(
        None,
        lambda value: hasattr(value, "__iter__") and not isinstance(value, str),
        wrong,
        "arrays, in Python",
        mend,
        shown=None,
        run=True,
    )


def _field(
    default: Any,
    fits: Callable[[Any], bool],
    wrong: str,
    expected: str,
    mend: str = "choose another {}",
    *,
    shown: str | None = "",
    run: bool,
) -> Any:
    """A field whose value must fit, or be None as its default; `shown` in place of `expected` where it is listed."""

    def check(name: str, value: Any) -> Mistake | None:
        if fits(value) or (default is None and value is None):
            return None
        return Mistake(wrong.format(name), expected, mend.format(name), value=value)

    listed = {} if shown is None else {"expected": shown or expected}
    return field(default=default, metadata={"check": check, "run": run, **listed})


@dataclass(frozen=True)
class ThreadSettings(Settings):
    """Settings of an engine that shares its problems among threads.

    Parameters
    ----------
    threads : int, optional
        Threads, of which each solves whole problems; as many as there are processors if not given. The result does
        not depend on them.
    """

    threads: int | None = number(None, 1, MOST_THREADS, run=True)

    @property
    def workers(self) -> int:
        """Threads."""
        return self.threads or processors()

    def as_dict(self) -> dict[str, Any]:
        """Every setting; threads as many as are used."""
        return super().as_dict() | {"threads": self.workers}


@dataclass(frozen=True, kw_only=True)
class FirstPositionsSettings(Settings):
    """Settings of an engine whose populations may begin with given positions.

    Parameters
    ----------
    first : sequence of array_like, shape (n, dimension), optional
        Positions of each problem that its population begins with, besides random ones; as many for each.
    """

    first: Sequence[ArrayLike] | None = arrays()

    @property
    def first_count(self) -> int:
        """Given positions of a problem."""
        return 0 if self.first is None else len(np.atleast_2d(np.asarray(self.first[0])))

    def first_members(self, dimension: int) -> int:
        """Members of the first population, which as many given positions may begin: the particles of a swarm."""
        return int(self.particles)  # type: ignore[attr-defined]

    def as_dict(self) -> dict[str, Any]:
        """Every setting; of first positions their number."""
        return super().as_dict() | {"first": self.first_count}


def first_positions(first: Sequence[ArrayLike] | None, problems: Sequence[Problem], most: int) -> list[Positions]:
    """Positions that the population of each problem begins with, shape (n, dimension); of no problem without any.

    Raises
    ------
    InputError
        If they are not as many for each problem, or more than `most`, the members of a population.
    """
    if first is None:
        return []
    positions = [np.ascontiguousarray(np.atleast_2d(np.asarray(each, np.float32))) for each in first]
    fits = len(positions) == len(problems) and all(
        each.shape == (len(positions[0]), problem.dimension) for problem, each in zip(problems, positions, strict=True)
    )
    if not fits or not 1 <= len(positions[0]) <= most:
        expected = f"for each of {len(problems)} problems the same number, 1 to {most}, of its dimension"
        shapes = sorted({each.shape for each in positions})
        raise InputError("the first positions have the wrong shape", expected, value=shapes)
    return positions


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
        raise InputError(f"too many {what}", f"at most {most:,}", mend, value=count)


def trace_generations(generations: int, points: int) -> NDArray[np.int64]:
    """Generations after which a trace is taken, at most so many; evenly, from the first interval's end."""
    every = max(1, -(-generations // points))
    return np.arange(every, generations + 1, every)


def _within(value: Any, low: float, high: float) -> bool:
    kind = Integral if isinstance(low, int) else Real
    return isinstance(value, kind) and not isinstance(value, bool) and bool(low <= value <= high)  # type: ignore[operator]
