"""Search a large record in parts: which years a part has, and how parts become the whole."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from reservoir.planning.parts.columns import Columns, found_of
from reservoir.planning.parts.identity import run_identity
from reservoir.planning.parts.store import PartStore
from reservoir.planning.search import Found, Method
from reservoir.planning.stages import StageProgress
from reservoir.problems.reservoir.record import RecordProblems

#: Years of a part, at most. The same everywhere: which years are solved again depends on the sum of the gaps of a part.
PART_YEARS = 4096
#: What the search of all parts is called among the stages of a plan.
PARTS_STAGE = "search"


@dataclass(frozen=True)
class Part:
    """Some years of a record.

    Parameters
    ----------
    number : int
    first, stop : int
        Places of its years.
    """

    number: int
    first: int
    stop: int

    def of(self, problems: RecordProblems) -> RecordProblems:
        """The problems of its years."""
        return problems.span(self.first, self.stop)


#: What a worker brings of a part: its arrays, and what it tells of itself.
Brought = tuple[Part, Columns, Mapping[str, Any]]


class Workers(Protocol):
    """Those who search parts."""

    @property
    def place(self) -> str:
        """The devices that search, if that is known."""

    def search(
        self, problems: RecordProblems, parts: list[Part], method: Method, progress: StageProgress
    ) -> Iterator[Brought]:
        """Search parts, and hand on what is found in any order; `progress` counts years of all parts by stage."""


def parts_of(years: int) -> list[Part]:
    """Parts of at most `PART_YEARS`, as even as can be, in their order."""
    count = -(-years // PART_YEARS)
    firsts = [years * number // count for number in range(count + 1)]
    return [Part(number, first, stop) for number, (first, stop) in enumerate(pairwise(firsts))]


def has_parts(problems: RecordProblems) -> bool:
    """Whether a record has so many years that they are searched in parts."""
    return len(problems) > PART_YEARS


def search_in_parts(
    problems: RecordProblems, method: Method, progress: StageProgress, store: PartStore, workers: Workers
) -> Found:
    """Search the parts that are not kept yet, keep each, and join all.

    Parameters
    ----------
    problems : RecordProblems
        Years.
    method : Method
    progress : callable
        As of `reservoir.planning.search.search`; counts years of all parts, also of those that were kept before.
    store : PartStore
    workers : Workers
    """
    started = time.perf_counter()
    parts = parts_of(len(problems))
    store.begin(run_identity(problems, method, workers.place) | {"parts": len(parts)}, len(problems))
    left = [part for part in parts if part.number not in store.told]
    kept = len(problems) - sum(part.stop - part.first for part in left)

    def of_all(stage: str, done: int, total: int) -> None:
        progress(stage, kept + done, len(problems))

    for part, columns, told in workers.search(problems, left, method, of_all):
        store.keep(part.number, part.first, columns, told)
    told_in_order = [store.told[part.number] for part in parts]
    return found_of(problems, store.columns(), told_in_order, time.perf_counter() - started)
