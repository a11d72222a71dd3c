"""Caveats of an inflow file, shown with all its results: ``# caveat: synthetic, not observed``."""

from __future__ import annotations

from collections.abc import Iterator

from reservoir.errors import Mistake
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.text.quantities import first_unprintable

#: Characters of all caveats of a file: they stand on every figure.
MOST_CHARACTERS = 1_000


def caveat_of(table: InflowTable) -> str:
    """All caveats of a file, as one text."""
    return " ".join(text for _, text in _caveats(table) if text)


def caveat_mistakes(table: InflowTable) -> Iterator[Mistake]:
    """Refuse a caveat that a figure or a page cannot show, or that would fill it."""
    length = 0
    for row, text in _caveats(table):
        found = first_unprintable(text)
        if found:
            problem = f"the caveat has the unprintable character {found}"
            yield Mistake(problem, "plain text", "delete the character", row=row)
        length += len(text)
        if length > MOST_CHARACTERS:
            problem = f"the caveats have more than {MOST_CHARACTERS:,} characters"
            yield Mistake(problem, "a sentence or two", "shorten them; they are printed on every figure", row=row)
            return


def caveat_fault(text: str) -> Mistake | None:
    """What is wrong with a caveat that is no comment."""
    found = first_unprintable(text)
    if found:
        return Mistake(f"the caveat has the unprintable character {found}", "plain text", "delete the character")
    if len(text) > MOST_CHARACTERS:
        problem = f"the caveat has more than {MOST_CHARACTERS:,} characters"
        return Mistake(problem, "a sentence or two", "shorten it; it is printed on every figure")
    return None


def _caveats(table: InflowTable) -> Iterator[tuple[int, str]]:
    for comment in table.comments:
        text = comment.says("caveat")
        if text is not None:
            yield comment.number, text.replace("\t", " ")
