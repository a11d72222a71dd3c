"""Local inflow of the reservoirs of a system: a record each, of the same steps of the same years."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.unit_system import UnitSystem


@dataclass(frozen=True, eq=False)
class SiteInflows(Mapping[str, Inflow]):
    """Local inflow by the name of the reservoir.

    Parameters
    ----------
    of : mapping of str to Inflow
        Records of one calendar, members included.

    Raises
    ------
    InputError
        If some have other years, steps or members than the first.
    """

    of: Mapping[str, Inflow]

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", dict(self.of))
        (first, record), *others = self.of.items()
        mistakes = [
            Mistake(
                f"the record of {name} is another than that of {first}: {other.span_text} against {record.span_text}",
                "the same years, steps and members for all reservoirs",
                "keep the years that all have",
                file=other.source,
            )
            for name, other in others
            if other.calendar != record.calendar
        ]
        if mistakes:
            raise InputError(mistakes)

    def __getitem__(self, name: str) -> Inflow:
        return self.of[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.of)

    def __len__(self) -> int:
        return len(self.of)

    @property
    def first(self) -> Inflow:
        """One of the records: what it says of its years holds for all."""
        return next(iter(self.of.values()))

    @property
    def calendar(self) -> Calendar:
        """The water years of all records."""
        return self.first.calendar

    @property
    def years(self) -> int:
        """Number of water years."""
        return self.first.years

    @property
    def steps(self) -> int:
        """Number of steps of a water year."""
        return self.first.steps

    @property
    def flow_m3s(self) -> NDArray[np.float64]:
        """Mean flow of each step, shape (years, reservoirs, steps)."""
        return np.stack([each.flow_m3s for each in self.of.values()], axis=1)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know, each once."""
        return tuple(dict.fromkeys(note for each in self.of.values() for note in each.notes))

    @property
    def caveat(self) -> str:
        """Caveats of the records, each once."""
        return " ".join(dict.fromkeys(each.caveat for each in self.of.values() if each.caveat))

    def scale_in(self, units: UnitSystem) -> str:
        """The units of the values, each once, and the mean flow of each record."""
        said = dict.fromkeys(words for each in self.of.values() for words in each.unit_words)
        means = ", ".join(f"{name} {each.mean_words(units)}" for name, each in self.of.items())
        return "; ".join([*said, f"mean flow: {means}"])

    def each(self, change: Callable[[Inflow], Inflow]) -> SiteInflows:
        """What a function makes of each record."""
        return SiteInflows({name: change(record) for name, record in self.of.items()})

    def span(self, first: int, stop: int) -> SiteInflows:
        """The water years from the place `first` up to `stop`."""
        return self.each(lambda record: record.span(first, stop))

    def __getattr__(self, name: str) -> Any:
        if name in ("labels", "rng_stream_ids", "member_of_year", "members", "member_count", "span_text"):
            return getattr(self.first, name)
        raise AttributeError(name)
