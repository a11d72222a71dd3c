"""Separable water values: a table of values for each reservoir of a river, and one joint decision in every step.

Each reservoir has the values of its own stochastic dynamic program (`Sdp`). Upstream ones are paid for what their links
carry, at the worth of water by the joint plan in each class of inflow; downstream ones are fed by what the rules above
them release. All know the inflow by one chain of classes, those of the local inflow of all reservoirs together, so that
nobody's release makes a class (DADP with prices that depend on the class alone; Carpentier, Chancelier, Leclere and
Pacaud, arXiv 1705.08672).

A step is decided for all reservoirs at once: what all make in it, and what all storages at its end, and the water under
way then, are worth. The level of a lake below that backs a plant up is not reckoned with in that, only in what comes
of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.elementwise import mean
from reservoir.hydro.step import head_at, turbined_at
from reservoir.hydro.system import Carried, Link, System
from reservoir.rules.base.fields import Block, Known, Monthly, Numbers, Refusal, as_long_as, check, count, length
from reservoir.rules.base.physics import EQUAL, RELEASES, Physics, interpolate_values
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.sdp import Chain, Classes, Sdp, Tables, shares
from reservoir.rules.joint_inflow import JointInflowModel

SEPARABLE: Final = "separable"
#: How often the release of every reservoir is looked for anew, and by what part of the worth it must gain then.
_ROUNDS, _GAINED = 6, 1e-9
#: Which part of a change is passed on by those below: all of it or, preferred where both are as good, nothing.
_PASSED_ON = np.array([1.0, 0.0]).reshape(-1, 1, 1)


def _as_classes_m3s(rows: tuple[Numbers, ...], known: Known) -> Iterator[Refusal]:
    for step, (row, classes) in enumerate(zip(rows, known.get("classes_m3s", ()), strict=False)):
        yield from length(row, len(classes), "one for each inflow class", step)


Prices = Annotated[tuple[Numbers, ...], count(MONTHS_PER_YEAR, "one list per month"), check(_as_classes_m3s)]


class LinkedPhysics(Physics):
    """Physics of a reservoir whose links pay for what they carry.

    Parameters
    ----------
    classes_m3s : tuple of tuple of float
        Mean inflow of each class, by step.
    per_released, per_turbined : tuple of tuple of float
        By step and class, of each m3/s of the release, and of that part of it which is turbined, in the unit of the
        objective.
    """

    classes_m3s: Classes
    per_released: Prices
    per_turbined: Prices

    def after(
        self, step: int, storage: ArrayLike, release: FloatArray, inflow: FloatArray, upper_hm3: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """As of `Physics`, with what links pay."""
        end, kept, made = self.outcome(step, storage, release, inflow, upper_hm3)
        paid = np.interp(inflow, self.classes_m3s[step], self.per_released[step]) * kept
        if any(self.per_turbined[step]):
            per_turbined = np.interp(inflow, self.classes_m3s[step], self.per_turbined[step])
            paid = paid + per_turbined * self.turbined(step, storage, end, kept)
        return end, made + paid

    def turbined(self, step: int, storage: ArrayLike, end: FloatArray, release: FloatArray) -> FloatArray:
        """What the turbines take of a release."""
        curves, year = self.plant.curves, self.year
        head = head_at(curves, mean(np.asarray(storage, float), end), release, year, step)
        return np.asarray(turbined_at(curves, head, release, year, step))


class SiteValues(LinkedPhysics, Sdp):  # type: ignore[misc] # the family of another
    """Values of one reservoir, as a rule that decides for itself; see `Sdp`."""

    family: Literal["separable"]  # type: ignore[assignment]

    def values_at_ends(self) -> tuple[FloatArray, FloatArray]:
        """Storages, and what a hm3 more is worth at the end of each step by the middle class, shape (steps, storages).

        NaN outside the bounds of the step.
        """
        storages, slopes = self._marginal
        table = np.roll(slopes[:, :, slopes.shape[2] // 2], -1, axis=0)
        lower, upper = (np.array(each)[:, np.newaxis] for each in (self.storage_lower_hm3, self.storage_upper_hm3))
        half = (storages[1] - storages[0]) / 2
        return storages, np.where((storages >= lower - half) & (storages <= upper + half), table, np.nan)


def _one_or_more(sites: tuple[SiteValues, ...], known: Known) -> Iterator[Refusal]:
    if not sites:
        yield Refusal("has no values", "one or more reservoirs")


def _as_classes(tables: Tables, known: Known) -> Iterator[Refusal]:
    classes = known.get("classes_m3s", ())
    for place, rows in enumerate(tables if classes else ()):
        yield from length(rows, len(classes), "one list per month", place)
        for step, row in enumerate(rows):
            yield from length(row, len(classes[0]), "one for each inflow class", place, step)


def _of_as_many(inflow: JointInflowModel, known: Known) -> Iterator[Refusal]:
    if known.get("sites") and len(inflow.sites) != len(known["sites"]):
        yield Refusal("has the wrong number of sites", "one for each reservoir")


class Separable(Block):
    """A rule of a system that takes the releases of most worth in each step.

    Parameters
    ----------
    family : str
    system : str
        Name of the system.
    forecast : Forecast
    sites : tuple of SiteValues
        Of each reservoir, from upstream to downstream.
    classes_m3s : tuple of tuple of float
        Local inflow of all reservoirs together in each class, by step.
    transitions : tuple of tuple of tuple of float
        Probability of a class, by step, class of the step before and class.
    local_m3s : tuple of tuple of tuple of float
        Local inflow of each reservoir in each class, by step.
    per_arrival : tuple of tuple of float
        What a m3/s is worth that arrives at each reservoir in each step, in the unit of the objective.
    inflow : JointInflowModel
        Of the local inflow of each reservoir: what futures are drawn from.
    """

    family: Literal["separable"]
    system: str
    forecast: Forecast
    sites: Annotated[tuple[SiteValues, ...], check(_one_or_more)]
    classes_m3s: Classes
    transitions: Chain
    local_m3s: Annotated[Tables, as_long_as("sites"), check(_as_classes)]
    per_arrival: Annotated[tuple[Monthly, ...], as_long_as("sites")]
    inflow: Annotated[JointInflowModel, check(_of_as_many)]

    @property
    def of_each(self) -> dict[str, SiteValues]:
        """The values of each reservoir by its name, from upstream to downstream."""
        return {site.reservoir: site for site in self.sites}

    @property
    def months_weighed(self) -> int:
        """Months whose decisions are weighed: the one that is decided."""
        return 1

    @cached_property
    def _chain(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return np.array(self.classes_m3s), np.array(self.transitions), np.array(self.local_m3s)

    def releases(
        self,
        system: System,
        step: int,
        storage_hm3: FloatArray,
        local_m3s: FloatArray | None,
        river_before_m3s: float,
        late_m3s: FloatArray,
        upper_hm3: FloatArray,
    ) -> FloatArray:
        """Releases (m3/s) of all reservoirs in one situation, shape (reservoirs,).

        Parameters
        ----------
        system : System
            Whose links they are.
        step : int
        storage_hm3 : ndarray, shape (reservoirs,)
            At the start of the step.
        local_m3s : ndarray, shape (reservoirs,), or None
            Local inflow of the step; None where `forecast` is ``none``.
        river_before_m3s : float
            Local inflow of all reservoirs together in the step before.
        late_m3s : ndarray, shape (`months_weighed`, links)
            What each link brings, in this step and those after it, of water that was released in earlier steps.
        upper_hm3 : ndarray, shape (reservoirs,)
            The highest storage that is allowed at the end of the step.
        """
        if self.forecast is Forecast.NONE or local_m3s is None:
            local, probability = self.expected(step, river_before_m3s)
        else:
            local, probability = local_m3s[:, np.newaxis], np.ones(1)
        return self.best_releases(system, step, storage_hm3, local, probability, late_m3s, upper_hm3)

    def best_releases(
        self,
        system: System,
        step: int,
        storage_hm3: FloatArray,
        local_m3s: FloatArray,
        probability: FloatArray,
        late_m3s: FloatArray,
        upper_hm3: FloatArray,
    ) -> FloatArray:
        """As `releases`, with inflows that may come, shape (reservoirs, inflows), and the probability of each."""
        return self.decided(JointMonth.of(self, system, step, storage_hm3, local_m3s, probability, late_m3s, upper_hm3))

    def decided(self, month: JointMonth) -> FloatArray:
        """Releases of a month, shape (reservoirs,)."""
        return month.best()

    def expected(self, step: int, river_before_m3s: float) -> tuple[FloatArray, FloatArray]:
        """Local inflows that may come in a step, shape (reservoirs, classes), and their probabilities."""
        classes, transitions, local = self._chain
        return local[:, step], shares(classes[step - 1], river_before_m3s) @ transitions[step]

    @property
    def means_m3s(self) -> FloatArray:
        """Mean local inflow of each reservoir by the chain, whatever it begins with, shape (reservoirs, steps)."""
        classes, transitions, local = self._chain
        share, found = np.full(classes.shape[1], 1 / classes.shape[1]), np.empty(local.shape[:2])
        for step in [*range(len(classes))] * 3:
            share = share @ transitions[step]
            found[:, step] = local[:, step] @ share
        return found

    def known_by(self, step: int, local_m3s: FloatArray) -> FloatArray:
        """How much local inflows of a step, shape (reservoirs, inflows), belong to each class, (inflows, classes)."""
        return shares(self._chain[0][step], local_m3s.sum(axis=0))

    def water_value(
        self, place: int, step: int, local_m3s: FloatArray, probability: FloatArray, ends_hm3: FloatArray
    ) -> float:
        """What a hm3 more is worth in a reservoir that ends a step so after each inflow; see `best_releases`."""
        storages, slopes = self.sites[place]._marginal
        of_inflows = self.known_by(step, local_m3s) @ slopes[(step + 1) % len(slopes)].T
        worth = [np.interp(end, storages, slope) for end, slope in zip(ends_hm3, of_inflows, strict=True)]
        return float(probability @ worth)


#: What operates a system: a rule of all reservoirs together, or a rule for each, by its name.
SystemRule = Separable | Mapping[str, Rule]


@dataclass(frozen=True, eq=False)
class JointMonth:
    """One step that is decided; arrays of ways to pass changes on, tried releases and classes, in this order.

    Parameters
    ----------
    rule, system, step, storage_hm3, late_m3s, upper_hm3
        As of `Separable.releases`.
    local_m3s : ndarray, shape (reservoirs, classes)
    probability : ndarray, shape (classes,)
    values : list of ndarray, shape (storages, classes)
        Of each reservoir, of storages at the end.
    """

    rule: Separable
    system: System
    step: int
    storage_hm3: FloatArray
    local_m3s: FloatArray
    probability: FloatArray
    late_m3s: FloatArray
    upper_hm3: FloatArray
    values: list[FloatArray]
    #: What each link carries, at its source, by the releases that are asked for now.
    flows: dict[Link, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        rule: Separable,
        system: System,
        step: int,
        storage_hm3: FloatArray,
        local_m3s: FloatArray,
        probability: FloatArray,
        late_m3s: FloatArray,
        upper_hm3: FloatArray,
    ) -> JointMonth:
        """The step of `Separable.best_releases`."""
        known, after = rule.known_by(step, local_m3s).T, (step + 1) % len(rule.classes_m3s)
        values = [site._smooth[1][after] @ known for site in rule.sites]
        return cls(rule, system, step, storage_hm3, local_m3s, probability, late_m3s, upper_hm3, values)

    def best(self) -> FloatArray:
        """The releases: each tried with those of the others held, and with the storages below held."""
        every = range(len(self.rule.sites))
        asked = [np.full((1, 1, 1), each) for each in self._first()]
        worth = float(self._worth(asked, every, self.flows)[0, 0])
        for _ in range(_ROUNDS):
            before = worth
            for place in every:
                worth += self._improve(place, asked)
            if worth - before <= _GAINED * abs(worth):
                break
        return np.array([each.item() for each in asked])

    def _first(self) -> Iterator[float]:
        """What flows in, within the bounds of the release."""
        carried = dict[Link, float]()
        for place, site in enumerate(self.rule.sites):
            inflow = float(self.local_m3s[place] @ self.probability) + sum(
                brings(link, late, carried[link]) for link, late in self._into(place)
            )
            flow = float(site.months.within_bounds(self.step, np.array(inflow)))
            carried |= {link: float(link.of_release(flow, flow)) for link in self._from(place)}
            yield flow

    def tried(self, place: int, count: int) -> FloatArray:
        """Releases of a reservoir, so many, from what fills it to what empties it; see `Physics.tried_releases`."""
        site, inflow = self.rule.sites[place], self._inflow(place, self.flows)
        start, upper = np.array(float(self.storage_hm3[place])), float(self.upper_hm3[place])
        return site.tried_releases(self.step, start, inflow.min(), inflow.max(), count, upper)

    def _improve(self, place: int, asked: list[FloatArray]) -> float:
        """Take the best release of one reservoir, and say what is gained."""
        below, now = self._below[place], asked[place].item()
        tried = np.sort(np.append(self.tried(place, RELEASES), now))
        best = made = -np.inf
        for _ in range(2):
            moved = np.broadcast_arrays(*self.moved(place, asked, tried.reshape(1, -1, 1)))
            worth = self._worth(moved, below, {**self.flows})
            equal = worth.ravel() >= worth.max() - EQUAL * abs(worth.max())
            way, at = divmod(worth.size - 1 - int(np.argmax(equal[::-1])), len(tried))
            made = worth[-1, np.searchsorted(tried, now)] if best == -np.inf else made
            if worth[way, at] > best:
                best = worth[way, at]
                chosen = [each[way : way + 1, at : at + 1] for each in moved]
            tried = np.linspace(tried[max(at - 1, 0)], tried[min(at + 1, len(tried) - 1)], RELEASES)
        if best <= made:
            return 0.0
        asked[:] = chosen
        self._worth(asked, below, self.flows)
        return float(best - made)

    def moved(self, place: int, asked: Sequence[FloatArray], tried: FloatArray) -> list[FloatArray]:
        """What is asked for with another release of a reservoir; the change passed on below, or stored there.

        All of shape (ways to pass it on or 1, tried or 1, 1).
        """
        moved, below = list(asked), self._below[place]
        moved[place] = tried
        for other in below[1:]:
            change: Any = 0.0
            for link, _ in self._into(other):
                source = self.system.names.index(link.source)
                if source in below:
                    part = 0.0 if link.carries is Carried.SPILLED else at_once(link) * link.part_and_share[1]
                    change = change + part * (moved[source] - asked[source])
            passed_on = asked[other] + _PASSED_ON * change
            moved[other] = self.rule.sites[other].months.within_bounds(self.step, passed_on)
        return moved

    def _worth(self, asked: Sequence[FloatArray], places: Sequence[int], flows: dict[Link, FloatArray]) -> FloatArray:
        """What reservoirs make of what is asked for, and what is left then is worth, (ways, tried); fills in flows."""
        total: Any = 0.0
        for place in places:
            site, inflow = self.rule.sites[place], self._inflow(place, flows)
            start, upper = float(self.storage_hm3[place]), float(self.upper_hm3[place])
            end, kept, made = site.outcome(self.step, start, asked[place], inflow, upper)
            grid = site._smooth[0]
            total = total + made + interpolate_values(grid, self.values[place][None], end[None])[0]
            links = self._from(place)
            turbined = site.turbined(self.step, start, end, kept) if any(link.is_split for link in links) else kept
            for link in links:
                flows[link] = np.asarray(link.of_release(kept, turbined))
                total = total + self._later[link] * flows[link]
        return np.asarray(total @ self.probability)

    def _inflow(self, place: int, flows: dict[Link, FloatArray]) -> FloatArray:
        """All that flows in."""
        inflow: Any = self.local_m3s[place][np.newaxis, np.newaxis]
        for link, late in self._into(place):
            inflow = inflow + brings(link, late, flows[link])
        return np.asarray(inflow)

    def _into(self, place: int) -> Iterator[tuple[Link, float]]:
        name, late_m3s = self.system.names[place], self.late_m3s[0].tolist()
        return ((link, late) for link, late in zip(self.system.links, late_m3s, strict=True) if link.target == name)

    def _from(self, place: int) -> list[Link]:
        name = self.system.names[place]
        return [link for link in self.system.links if link.source == name and link.target is not None]

    @cached_property
    def _below(self) -> list[list[int]]:
        """Each reservoir, and those that its release comes to, from upstream to downstream."""
        names, reached = self.system.names, list[list[int]]()
        for place in range(len(names)):
            found = {place}
            for link in self.system.links:
                if link.target is not None and names.index(link.source) in found:
                    found.add(names.index(link.target))
            reached.append(sorted(found))
        return reached

    @cached_property
    def _later(self) -> dict[Link, float]:
        """What a m3/s is worth, to each link, that arrives in later steps."""
        worth = self.rule.per_arrival, self.rule.sites[0].months.volume_per_flow
        return {
            link: carried_worth(self.system, link, *worth, self.step, least=1)
            for link in self.system.links
            if link.target is not None
        }


def at_once(link: Link) -> float:
    """Part of what a link carries that arrives in the same step."""
    return (1.0 - link.lost_share) * sum(part for steps, part in link.parts if steps == 0)


def carried_worth(
    system: System,
    link: Link,
    per_arrival: Sequence[Sequence[float]],
    volume: Sequence[float],
    step: int,
    least: int = 0,
) -> float:
    """What a m3/s that a link carries in a step is worth where it arrives, after so many steps at least."""
    worth, steps = per_arrival[system.names.index(str(link.target))], len(volume)
    arrivals = ((part, (step + late) % steps) for late, part in link.parts if late >= least)
    return float((1.0 - link.lost_share) * sum(part * volume[step] / volume[at] * worth[at] for part, at in arrivals))


def brings(link: Link, late_m3s: Any, flow_m3s: Any) -> Any:
    """What a link brings in a step, of what it brings of earlier ones and what it carries now."""
    return np.maximum(late_m3s + at_once(link) * flow_m3s - link.lost_m3s, 0.0)


def arriving_late(link: Link, earlier: Callable[[int], Any], volume: FloatArray, at: int) -> Any:
    """What arrives in a step of what a link carried in earlier ones, less its share of losses.

    Parameters
    ----------
    link : Link
    earlier : callable
        What it carried so many steps before.
    volume : ndarray
        Of a flow of 1 m3/s, by step; before the first comes the last.
    at : int
        The step, of those.
    """
    brought = (part * earlier(late) * volume[(at - late) % len(volume)] for late, part in link.parts if late)
    return (1.0 - link.lost_share) * sum(brought) / volume[at % len(volume)]


def arriving_later(link: Link, earlier: Callable[[int], Any], volume: FloatArray, at: int, months: int) -> list[Any]:
    """The same of a step and of those after it, so many, of what a link carried before the first of them."""

    def before(ahead: int) -> Callable[[int], Any]:
        return lambda late: earlier(late - ahead) if late > ahead else 0.0

    return [arriving_late(link, before(ahead), volume, at + ahead) for ahead in range(months)]
