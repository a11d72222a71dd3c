"""Limits and demands that steps do not keep: told step by step for files, and by what they are for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from reservoir.hydro.inflow import Inflow
from reservoir.text.quantities import counted

#: Steps of a kind that are told one by one, and stretches of consecutive steps that are named of more.
_ALONE, _STRETCHES = 2, 6
#: Years that a sentence names; more are counted.
NAMED_YEARS = 8


def listed(labels: Sequence[str]) -> str:
    """Name years: all of them, or the first and how many more; ``1961, 1963 and 4 more``."""
    if len(labels) <= NAMED_YEARS:
        return ", ".join(labels)
    return f"{', '.join(labels[:NAMED_YEARS])} and {len(labels) - NAMED_YEARS:,} more"


class Shortfall(NamedTuple):
    """A limit or demand that a step does not keep."""

    year: int
    step: int
    #: What those alike have in common.
    kind: str
    #: By how much, in the unit of its kind.
    size: float
    #: In words, without its step.
    sentence: str


def step_by_step(shortfalls: Iterable[Shortfall], inflow: Inflow) -> list[str]:
    """A sentence for each, with its year and step."""
    return [f"{_name(inflow, each.year, each.step)}: {each.sentence}" for each in shortfalls]


def by_kind(shortfalls: Iterable[Shortfall], inflow: Inflow) -> list[str]:
    """A sentence for all of a kind: how many steps, which, and the worst of them; each by itself of a few."""
    kinds = dict[str, list[Shortfall]]()
    for each in shortfalls:
        kinds.setdefault(each.kind, []).append(each)
    sentences = list[str]()
    for alike in kinds.values():
        if len(alike) <= _ALONE:
            sentences += step_by_step(alike, inflow)
            continue
        worst = max(alike, key=lambda each: each.size)
        stretches = [*_stretches(alike, inflow)]
        named = ", ".join(stretches[:_STRETCHES])
        more = f" and {len(stretches) - _STRETCHES:,} more stretches" if len(stretches) > _STRETCHES else ""
        steps = counted(len(alike), inflow.calendar.step.noun)
        at = _name(inflow, worst.year, worst.step)
        sentences.append(f"{steps} ({named}{more}), the worst {at}: {worst.sentence}")
    return sentences


def _stretches(shortfalls: Iterable[Shortfall], inflow: Inflow) -> Iterator[str]:
    """Consecutive steps, of members by themselves, by their first and last, in order."""
    steps, names = inflow.steps, inflow.calendar.step_names
    member = inflow.years // inflow.member_count * steps
    places = sorted({each.year * steps + each.step for each in shortfalls})
    for _, run in groupby(enumerate(places), lambda pair: (pair[1] - pair[0], pair[1] // member)):
        (_, start), *others = run
        (first, begin), (last, end) = (divmod(place, steps) for place in (start, others[-1][1] if others else start))
        to = f" to {names[end] if last == first else _name(inflow, last, end)}" if others else ""
        yield _name(inflow, first, begin) + to


def _name(inflow: Inflow, year: int, step: int) -> str:
    return f"{inflow.labels[year]} {inflow.calendar.step_names[step]}"
