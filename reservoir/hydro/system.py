"""A system: the reservoirs of a river, the links between them, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.attributes import LINK_ATTRIBUTES, InflowIs, YearEnd
from reservoir.hydro.calendar import MONTH_NAMES, CalendarKind, TimeStep
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.units import VOLUME_HM3

FloatArray = NDArray[np.float64]

#: Longer than so many, a time is told in days.
_FEW_HOURS = 72


class Carried(StrEnum):
    """Which part of a reservoir's release a link carries; a number is a fixed share of it."""

    ALL = "all"
    TURBINED = "turbined"
    SPILLED = "spilled"


@dataclass(frozen=True)
class Link:
    """Where a release, or a part of it, goes: from one reservoir to another, or out of the system.

    Parameters
    ----------
    source : str
        Name of the reservoir that it comes from.
    target : str or None
        Name of the reservoir that it goes to; None where it leaves the system.
    carries : Carried or float
        Which part of the release; a number between 0 and 1 is a fixed share of it.
    travel_steps : float
        How many steps it is under way: of a fraction, that part of a step's water arrives a step later.
    lost_share : float
        Part of it that never arrives.
    lost_m3s : float
        Flow that never arrives besides; what arrives is never below 0.
    before_m3s : float, optional
        What the source released in the steps before the first; without it, the mean flow that the record brings there
        in the step before the first (`System.under_way`).
    backwater : bool
        Whether the tailrace is at least as high as the level of the target.
    """

    source: str
    target: str | None = None
    carries: Carried | float = Carried.ALL
    travel_steps: float = 0.0
    lost_share: float = 0.0
    lost_m3s: float = 0.0
    before_m3s: float | None = None
    backwater: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.carries, str):
            object.__setattr__(self, "carries", Carried(self.carries))

    def __str__(self) -> str:
        return link_names([(self.source, self.target)])[0]

    @property
    def share_in_words(self) -> str:
        """Which part of the release it carries, as a word or in percent."""
        return str(self.carries) if isinstance(self.carries, Carried) else f"{self.carries:.0%}"

    def travel_in_words(self, step: TimeStep) -> str:
        """How long water is under way, in hours or days: ``12 h``; empty for none."""
        hours = self.travel_steps * step.hours
        return "" if not hours else f"{hours:.3g} h" if hours <= _FEW_HOURS else f"{hours / 24:.3g} days"

    @property
    def part_and_share(self) -> tuple[Carried, float]:
        """Which part of a release it carries a share of, and the share."""
        return (self.carries, 1.0) if isinstance(self.carries, Carried) else (Carried.ALL, self.carries)

    @property
    def is_split(self) -> bool:
        """Whether what it carries of a release depends on what the turbines can take."""
        return self.carries in (Carried.TURBINED, Carried.SPILLED)

    @property
    def parts(self) -> tuple[tuple[int, float], ...]:
        """After how many steps which part of a step's water arrives."""
        whole, later = divmod(self.travel_steps, 1.0)
        return tuple((int(whole) + after, part) for after, part in ((0, 1.0 - later), (1, later)) if part)

    def of_release(self, release_m3s: Any, turbined_m3s: Any) -> Any:
        """The flow that it carries, at its source."""
        if self.carries is Carried.ALL:
            return release_m3s
        if self.carries is Carried.TURBINED:
            return turbined_m3s
        if self.carries is Carried.SPILLED:
            return release_m3s - turbined_m3s
        return self.carries * release_m3s

    def arriving_m3s(self, flow_m3s: FloatArray, hm3_per_m3s: FloatArray, *, wraps: bool = False) -> FloatArray:
        """What arrives of a flow at the source, m3/s, both of shape (years, steps).

        Volumes move, so that steps of unequal length lose no water.

        Parameters
        ----------
        flow_m3s : ndarray, shape (years, steps)
            From `of_release`.
        hm3_per_m3s : ndarray, shape (years, steps)
            The volume of a flow.
        wraps : bool
            Whether the year is followed by itself; else `before_m3s`, or nothing, is under way at its start.
        """
        kept = flow_m3s * (1.0 - self.lost_share)
        if self.travel_steps:
            before = self.of_release(self.before_m3s or 0.0, self.before_m3s or 0.0) * (1.0 - self.lost_share)
            moved = np.zeros_like(kept)
            for steps, part in self.parts:
                late = np.roll(kept * hm3_per_m3s, steps, axis=-1)
                if not wraps:
                    late[..., :steps] = (before * np.roll(hm3_per_m3s, steps, axis=-1))[..., :steps]
                moved += part * late
            kept = moved / hm3_per_m3s
        return np.maximum(kept - self.lost_m3s, 0.0) if self.lost_m3s else kept

    def under_way_hm3(self, flow_m3s: FloatArray, hm3_per_m3s: FloatArray) -> FloatArray:
        """Volume that is under way at the end of each year, and lost to it, shape (years,)."""
        volume, total = flow_m3s * hm3_per_m3s * (1.0 - self.lost_share), np.zeros(len(flow_m3s))
        for steps, part in self.parts:
            total += part * volume[:, max(volume.shape[-1] - steps, 0) :].sum(axis=-1)
        return total


class InflowSource(NamedTuple):
    """Where the record of a reservoir's inflow is, as a system file says: a column, a file of its own, and what it is.

    Empty and None where it says nothing: the column of the reservoir's name, the record of all, local inflow.
    """

    column: str = ""
    file: str = ""
    is_what: InflowIs | None = None


#: What a system and the file of a single reservoir both say, and where a system's own word counts.
SHARED = ("objective", "penalty", "horizon", "first_month", "calendar", "step")


@dataclass(frozen=True, eq=False)
class System:
    """Reservoirs, the links between them, and what they share: calendar, horizon, objective and its penalty.

    Parameters
    ----------
    reservoirs : sequence of Reservoir
        In any order; kept from upstream to downstream. Each has the calendar, the first month and the step of the
        system; a single one its objective too.
    links : sequence of Link
        Where releases go; a release that no link carries leaves the system.
    objective : Objective
        What is optimised, of the sum of all plants. This and what follows: by default as the reservoirs say, who must
        agree then; several reservoirs make energy.
    penalty : float
        Penalty factor (Yu et al. 2020, eq. 21): cost of a relative violation of 1, in the unit of the objective.
    horizon : Horizon
        What is planned as one problem where the call does not say it.
    first_month : int
        Calendar month in which the water year begins.
    calendar : CalendarKind
        How long months are.
    step : TimeStep
        Into what a water year is divided.
    name : str
        Of a system of several.
    description, caveat : str
        Shown with results.
    source, sha256, content : str, str, bytes
        The file that it was read from, the hash of its bytes, and these.
    inflow_of : mapping of str to InflowSource
        Where the inflow of each reservoir is, by its name, as that file says.

    Raises
    ------
    InputError
        With every link that cannot be, and everything shared in which the reservoirs differ.
    """

    reservoirs: tuple[Reservoir, ...]
    links: tuple[Link, ...] = ()
    objective: Objective = None  # type: ignore[assignment] # None stands for what the reservoirs say
    penalty: float = None  # type: ignore[assignment]
    horizon: Horizon = None  # type: ignore[assignment]
    first_month: int = None  # type: ignore[assignment]
    calendar: CalendarKind = None  # type: ignore[assignment]
    step: TimeStep = None  # type: ignore[assignment]
    name: str = ""
    description: str = ""
    caveat: str = ""
    source: str = ""
    sha256: str = ""
    content: bytes = field(default=b"", repr=False)
    inflow_of: Mapping[str, InflowSource] = field(default_factory=dict)

    def __post_init__(self) -> None:
        reservoirs, links = tuple(self.reservoirs), tuple(self.links)
        if mistakes := [*link_mistakes([each.name for each in reservoirs], links), *self._differences(reservoirs)]:
            raise InputError(mistakes)
        several = len(reservoirs) > 1
        first = reservoirs[0]
        shared = {name: getattr(self, name) for name in SHARED}
        shared = {name: getattr(first, name) if value is None else value for name, value in shared.items()}
        if several and self.objective is None:
            shared["objective"] = Objective()
        if self.penalty is None and (several or shared["objective"] != first.objective):
            installed = sum(each.installed_mw for each in reservoirs)
            shared["penalty"] = shared["objective"].largest_per_year(installed, shared["step"].per_year)
        alone = {**shared}
        if several:
            del alone["penalty"]
            alone["objective"] = shared["objective"].of_one_plant
        reservoirs = tuple(_sharing(each, alone) for each in in_order(reservoirs, links))
        names = [each.name for each in reservoirs]
        links = tuple(sorted(links, key=lambda link: (names.index(link.source), link.target or "")))
        object.__setattr__(self, "reservoirs", reservoirs)
        object.__setattr__(self, "links", links)
        object.__setattr__(self, "name", self.name or ("system" if several else first.name))
        for name, value in shared.items():
            object.__setattr__(self, name, value)

    def _differences(self, reservoirs: Sequence[Reservoir]) -> Iterator[Mistake]:
        """Where reservoirs differ in what the system does not say itself."""
        for name in ("first_month", "calendar", "step"):
            said = {getattr(each, name): each.name for each in reservoirs}
            if getattr(self, name) is None and len(said) > 1:
                (one, first), (other, second), *_ = said.items()
                problem = f"is {one} in {first} and {other} in {second}"
                yield Mistake(
                    problem, "the same in all reservoirs of a system", f"give the system its {name}", column=name
                )

    @classmethod
    def of(cls, reservoir: Reservoir) -> System:
        """A system of one, whose file says what systems share."""
        return cls((reservoir,), **{name: getattr(reservoir, name) for name in SHARED})

    def __repr__(self) -> str:
        return f"<System {self.name}: {', '.join(each.name for each in self.reservoirs)}>"

    def to_toml(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the text of a system file, and write it to `path` if given, see `reservoir.write_system`."""
        import reservoir  # files are read and written above this folder: the package knows where

        return reservoir.write_system(self, path, force=force)

    @property
    def reservoir(self) -> Reservoir:
        """The reservoir of a system of one."""
        (reservoir,) = self.reservoirs
        return reservoir

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the reservoirs, from upstream to downstream."""
        return tuple(each.name for each in self.reservoirs)

    @property
    def installed_mw(self) -> float:
        """Installed capacity of all plants."""
        return sum(each.installed_mw for each in self.reservoirs)

    @property
    def least_gap_scale(self) -> float:
        """What a gap of fitness is at least a part of, in the unit of the objective."""
        return self.objective.least_scale(self.installed_mw, self.step.per_year)

    def require_named(self, names: Iterable[str], column: str) -> None:
        """Refuse names that are of no reservoir, empty ones too, of numbers that are given as NAME=NUMBER.

        Raises
        ------
        InputError
            With the first of them.
        """
        for name in names:
            if name not in self.names:
                problem = "is no reservoir of the system" if name else "is of no reservoir"
                expected, mend = f"one of {', '.join(self.names)}", "name the reservoir that it is of: NAME=NUMBER"
                raise InputError(problem, expected, mend, column=column, value=name or None)

    def into(self, place: int) -> Iterator[tuple[int, Link]]:
        """Links that end at a reservoir, with the places of their sources."""
        return ((self.names.index(link.source), link) for link in self.links if link.target == self.names[place])

    def backed_up_by(self, place: int) -> int | None:
        """Place of the reservoir whose level reaches a plant's tailrace; None where none does."""
        name = self.names[place]
        below = [link.target for link in self.links if link.source == name and link.backwater]
        return self.names.index(below[0]) if below and below[0] is not None else None

    @property
    def backed_up(self) -> list[tuple[int, int]]:
        """Places of plants whose tailrace the level of a lake reaches, and of that lake."""
        pairs = ((place, self.backed_up_by(place)) for place in range(len(self.names)))
        return [(place, below) for place, below in pairs if below is not None]

    def arriving_m3s(
        self, place: int, flows_m3s: Callable[[int, Link], FloatArray], hm3_per_m3s: FloatArray
    ) -> FloatArray | None:
        """What links bring to a reservoir, m3/s, shape (years, steps); None where no link ends there.

        A year is followed by itself where its source's storage ends as it began.

        Parameters
        ----------
        place : int
        flows_m3s : callable
            Told the place of a source and a link; the flow that it carries there, from `Link.of_release`.
        hm3_per_m3s : ndarray, shape (years, steps)
        """
        total: FloatArray | None = None
        for source, link in self.into(place):
            wraps = self.reservoirs[source].year_end is YearEnd.CYCLIC
            brought = link.arriving_m3s(flows_m3s(source, link), hm3_per_m3s, wraps=wraps)
            total = brought if total is None else total + brought
        return total

    def brought_m3s(self, place: int, flows_m3s: Mapping[str, FloatArray], hm3_per_m3s: FloatArray) -> FloatArray:
        """What links bring to a reservoir of flows that nothing stores, m3/s, shape (members, steps).

        Before the first step, a source releases what its link says, else what flows there in the first.

        Parameters
        ----------
        place : int
        flows_m3s : mapping of str to ndarray, shape (members, steps)
            Of the reservoirs above, by their names: turbined, if a link carries that.
        hm3_per_m3s : ndarray, shape (members, steps)
            The volume of a flow.
        """
        total = np.zeros_like(hm3_per_m3s)
        for _, link in self.into(place):
            flow = flows_m3s[link.source]
            before = float(flow[:, 0].mean()) if link.before_m3s is None else link.before_m3s
            begun = replace(link, before_m3s=before)
            total += begun.arriving_m3s(link.of_release(flow, flow), hm3_per_m3s)
        return total

    def under_way(self, inflows: Sequence[Inflow]) -> System:
        """With what is under way at the start of every year, where no link says it.

        That is the mean flow of the record in the step before the first, of all that flows into the source.
        """
        if not any(link.travel_steps and link.before_m3s is None for link in self.links):
            return self
        means: dict[str, float] = {}
        for place, inflow in enumerate(inflows):
            from_above = (link.of_release(means[link.source], means[link.source]) for _, link in self.into(place))
            of_step = float(inflow.flow_m3s[:, -1].mean()) + sum(from_above)
            own = self.reservoirs[place]
            lower, upper = (float(bound[-1]) for bound in own.release_bounds_m3s)
            means[own.name] = float(f"{min(max(of_step, lower), upper):.4g}")
        links = (
            replace(link, before_m3s=means[link.source]) if link.travel_steps and link.before_m3s is None else link
            for link in self.links
        )
        return replace(self, links=tuple(links))

    def between(self, starts_hm3: FloatArray, ends_hm3: FloatArray) -> System:
        """With reservoirs that begin at storages and end at others, both of shape (reservoirs,)."""
        fixed = (
            each
            if each.is_run_of_river
            else replace(
                each,
                initial_storage_hm3=float(start),
                final_storage_hm3=float(end),
                year_end=YearEnd.FIXED,
                end_value_gwh_per_hm3=None,
            )
            for each, start, end in zip(self.reservoirs, starts_hm3, ends_hm3, strict=True)
        )
        return replace(self, reservoirs=tuple(fixed))

    def asked_horizon(self, horizon: Horizon | str | int | None) -> Horizon:
        """What a call asks to be planned as one problem, or what the system says where it does not ask."""
        return Horizon.of(self.horizon if horizon is None else horizon)

    def on_calendar(self, inflow: Inflow) -> Inflow:
        """A record as the system reckons: where its months are equal, with volumes or flows as they were given.

        Raises
        ------
        InputError
            If its water years begin in another month than the reservoir's or have other steps, or it alone has months
            of another length than the calendar's.
        """
        if inflow.calendar.first_month != self.first_month:
            theirs, ours = (MONTH_NAMES[month - 1] for month in (inflow.calendar.first_month, self.first_month))
            raise InputError(
                f"the record's water years begin in {theirs}, the reservoir's in {ours}",
                expected="the same first month for both",
                mend="set first_month in the reservoir file, or read the record with the reservoir's first month",
                file=inflow.source,
            )
        if inflow.calendar.step is not self.step:
            theirs, ours = (each.step for each in (inflow.calendar, self))
            raise InputError(
                f"the record has {theirs.noun}s, the reservoir's step is the {ours.noun}",
                expected=f'step "{ours}"',
                mend=f'read the record with step="{ours}", or set step = "{theirs}" in the reservoir file',
                file=inflow.source,
            )
        kind = inflow.calendar.kind
        if self.calendar is kind:
            return inflow
        if kind is not CalendarKind.REAL:
            mend = f'set calendar = "{kind}" in the reservoir file'
            raise InputError(f"the record has {kind.words}, the reservoir has not", mend=mend, file=inflow.source)
        calendar = replace(inflow.calendar, kind=self.calendar)
        flow = inflow.flow_m3s
        if inflow.unit in VOLUME_HM3:
            flow = flow * (inflow.calendar.hm3_per_m3s / calendar.hm3_per_m3s)
        return replace(inflow, flow_m3s=flow, calendar=calendar)


def _sharing(reservoir: Reservoir, alone: Mapping[str, Any]) -> Reservoir:
    """The reservoir with what the system says; itself where that is the same."""
    differing = {name: value for name, value in alone.items() if getattr(reservoir, name) != value}
    return replace(reservoir, **differing) if differing else reservoir


def in_order(reservoirs: Iterable[Reservoir], links: Sequence[Link]) -> list[Reservoir]:
    """Reservoirs from upstream to downstream; of those that do not depend on each other, by their names."""
    left, ordered = {each.name: each for each in reservoirs}, list[Reservoir]()
    while left:
        fed = {link.target for link in links if link.source in left}
        name = min(name for name in left if name not in fed)
        ordered.append(left.pop(name))
    return ordered


def loop_of(links: Sequence[Link]) -> list[str]:
    """Names of reservoirs around which water would go for ever; of none if there is no such loop."""
    below: dict[str, list[str]] = {}
    for link in links:
        if link.target is not None:
            below.setdefault(link.source, []).append(link.target)
    done = set[str]()

    def search(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        for target in below.get(name, ()):
            if around := search(target, [*way, name]):
                return around
        done.add(name)
        return []

    return next(filter(None, (search(name, []) for name in below)), [])


def link_names(ends: Iterable[tuple[str | None, str | None]]) -> list[str]:
    """Names of links, by the reservoirs at their two ends; of several between the same, further ones are numbered."""
    names = [f"{source or '?'} to {target or 'the end of the river'}" for source, target in ends]
    return [name + f" ({names[:place].count(name) + 1})" * (name in names[:place]) for place, name in enumerate(names)]


def link_mistakes(
    names: Sequence[str], links: Sequence[Link], mistake: Callable[[int, str, str, str, str], Mistake] | None = None
) -> Iterator[Mistake]:
    """State what is wrong with links, all of it.

    Parameters
    ----------
    names : sequence of str
        Of the reservoirs.
    links : sequence of Link
    mistake : callable, optional
        States a mistake of a link, told its place (-1 for all of them), its key, the problem, what is expected and how
        to mend it.
    """

    def stated(place: int, key: str, problem: str, expected: str = "", mend: str = "") -> Mistake:
        if mistake is not None:
            return mistake(place, key, problem, expected, mend)
        return Mistake(problem, expected, mend, column=f"links[{place}].{key}" if place >= 0 else "links")

    known = f"one of {', '.join(names)}"
    twice = sorted({name for name in names if list(names).count(name) > 1})
    for name in twice:
        yield Mistake(f"two reservoirs are called {name}", mend="give each a name of its own", column="reservoirs")
    carried: dict[str, list[int]] = {}
    for place, link in enumerate(links):
        carried.setdefault(link.source, []).append(place)
        if link.source not in names:
            yield stated(place, "from", f"{link.source} is no reservoir of the system", known)
        if link.target is not None and link.target not in names:
            yield stated(
                place, "to", f"{link.target} is no reservoir of the system", known, "leave it out to leave the system"
            )
        if link.target == link.source:
            yield stated(place, "to", f"{link.source} would flow into itself", "another reservoir")
        for row in LINK_ATTRIBUTES:
            value = getattr(link, row.field) if row.field else None
            if isinstance(value, int | float) and not isinstance(value, bool) and not row.allowed.holds(value):
                least, most = row.allowed
                yield stated(place, row.name, f"is out of range: {value:g}", f"{row.meaning}, {least:g} to {most:g}")
        if link.backwater and link.target is None:
            yield stated(place, "backwater", "there is no reservoir below", mend="remove it, or say where it goes")
    for source, places in carried.items():
        yield from _parts_mistakes(source, places, links, stated)
    around = loop_of([link for link in links if link.target != link.source])
    if around:
        problem = f"water would flow in a circle: {' -> '.join(around)}"
        yield stated(
            -1, "", problem, "links that lead downstream only", "pumped storage cannot be planned; remove a link"
        )


def _parts_mistakes(
    source: str, places: Sequence[int], links: Sequence[Link], stated: Callable[..., Mistake]
) -> Iterator[Mistake]:
    """State where the links of a reservoir carry more than it releases, or back up what they split.

    What turbines take depends on the level below them, which depends on what arrives there.
    """
    parts = [links[place].carries for place in places]
    last, shares = places[-1], [part for part in parts if not isinstance(part, Carried)]
    named = [str(part) for part in parts if isinstance(part, Carried)]
    if len(named) > len(set(named)) or (Carried.ALL in parts and len(parts) > 1) or (named and shares):
        problem = f"the links of {source} carry some of its release twice: {', '.join(map(str, parts))}"
        yield stated(last, "carries", problem, '"all" alone, "turbined" and "spilled", or shares')
    elif sum(float(part) for part in shares) > 1 + 1e-9:
        total = sum(float(part) for part in shares)
        yield stated(
            last, "carries", f"the links of {source} carry {total:g} of its release", "shares of at most 1 in all"
        )
    if sum(links[place].backwater for place in places) > 1:
        yield stated(last, "backwater", f"two reservoirs would back up {source}", "backwater on one of its links")
    backed_up = [place for place in places if links[place].backwater]
    if backed_up and any(links[place].is_split for place in places):
        problem = f"backs up {source}, whose turbined and spilled flows go different ways"
        yield stated(
            backed_up[-1], "backwater", problem, "one link that carries all", "leave out backwater, or carry all"
        )
