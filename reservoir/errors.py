"""Errors and messages: what was found, what is expected and the fix, one sentence for each mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from reservoir.text.quantities import printable


@dataclass(frozen=True)
class Mistake:
    """One mistake in what the user gave, with the place where it stands.

    Parameters
    ----------
    problem : str
        What is wrong, in words, without the place.
    expected : str
        What would have been right.
    mend : str
        What the user can do about it.
    file, row, column, value
        Where the mistake stands and what stands there; rows count from 1 as an editor shows them.
        For a reservoir file, ``column`` is the dotted key.
    """

    problem: str
    expected: str = ""
    mend: str = ""
    file: str = ""
    row: int | None = None
    column: str = ""
    value: object = None

    def __str__(self) -> str:
        row = f"row {self.row}" if self.row is not None else ""
        column = f"column {self.column}" if row and self.column else self.column
        place = ", ".join(filter(None, (self.file, row, column)))
        sentence = f"{place}: {self.problem}" if place else self.problem
        if self.value is not None:
            sentence += f" (found {_shown(self.value)})"
        if self.expected:
            sentence += f"; expected {self.expected}"
        if self.mend:
            sentence += f". Fix: {self.mend}"
        return printable(sentence + ".")


def _shown(value: object, longest: int = 60) -> str:
    if isinstance(value, str) and value.isprintable():
        return shortened(f'"{value}"', longest)
    try:
        return shortened(repr(value), longest)
    except ValueError:  # Python writes no whole number of thousands of digits
        return "a number with thousands of digits"


def shortened(text: str, longest: int = 60) -> str:
    """A text, cut where it is longer than a message can bear."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


#: Mistakes told in one go, and of one kind among them; kinds of others that are counted.
MOST_MISTAKES, MOST_ALIKE, MOST_KINDS = 50, 12, 6


def worth_telling(mistakes: Iterable[Mistake], file: str) -> list[Mistake]:
    """Cut a long list of a file's mistakes short, so that one slip made everywhere does not hide the others.

    The first ones are told in full, the others are counted by kind.
    """
    first: list[Mistake] = []
    alike, others = Counter[str](), Counter[str]()
    for mistake in mistakes:
        alike[mistake.problem] += 1
        if alike[mistake.problem] <= MOST_ALIKE and len(first) < MOST_MISTAKES:
            first.append(mistake)
        else:
            others[mistake.problem] += 1
    if not others:
        return first
    kinds = others.most_common(MOST_KINDS)
    rest = others.total() - sum(number for _, number in kinds)
    named = ", ".join(f"{number} x {shortened(problem)}" for problem, number in kinds)
    more = "1 more mistake" if others.total() == 1 else f"{others.total()} more mistakes"
    problem = f"{more} not shown: {named}, {rest} others" if rest else f"{more} not shown: {named}"
    return [*first, Mistake(problem, mend="correct these first, then try again", file=file)]


class ReservoirError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(ReservoirError):
    """The input or the call is wrong; carries every mistake found, not only the first.

    Parameters
    ----------
    mistakes : Mistake, iterable of Mistake, or str
        At least one; a text is the problem of one.
    words
        The further arguments of that one, as `Mistake` takes them.
    """

    def __init__(self, mistakes: Mistake | Iterable[Mistake] | str, *words: Any, **place: Any) -> None:
        if isinstance(mistakes, str):
            mistakes = Mistake(mistakes, *words, **place)
        self.mistakes = (mistakes,) if isinstance(mistakes, Mistake) else tuple(mistakes)
        super().__init__(self.mistakes)

    def __str__(self) -> str:
        """A line for each mistake, made when it is asked for: a reader may find many thousands and tell a few."""
        return "\n".join(map(str, self.mistakes))


class OutputError(InputError):
    """The results cannot be written where the user asked for them."""


class DeviceError(InputError):
    """The OpenCL device asked for is not there, or cannot run what was asked of it."""


@contextmanager
def restated(change: Callable[[Mistake], Mistake]) -> Iterator[None]:
    """State the mistakes that are raised inside in other words."""
    try:
        yield
    except InputError as error:
        raise type(error)(map(change, error.mistakes)) from error
