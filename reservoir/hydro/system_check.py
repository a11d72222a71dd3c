"""What the records of a system are, before anything is planned: sums, totals among them, travel times, limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.attributes import InflowIs
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.inflow_check import InflowCheck
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import InflowSource, Link, System
from reservoir.hydro.unit_system import SI, UnitSystem, UnitText
from reservoir.text.quantities import counted, quantity

FloatArray = NDArray[np.float64]

#: A record is taken for a total where it is at least this part of what comes from above in so many months, and follows
#: it so closely.
_AT_LEAST, _MOSTLY, _FOLLOWS = 0.98, 0.95, 0.8
#: Values of a sum since the beginning of a year rise from step to step in all but one of a year's steps.
_RISES = 0.9
#: A travel time is contradicted by another, a step or more apart, at which flows follow each other so closely, and so
#: much more; and steps beyond the one that is stated that are looked at, by steps of a year.
_CLOSELY, _MORE = 0.3, 0.1
_LOOKED_AT = {12: 3, 36: 6, 52: 4}
_MANY_STEPS = 15
#: Levels below a tailrace by less touch nothing, m.
_TOUCHES_M = 0.01


class Travel(NamedTuple):
    """How long a link's water is under way, as stated and as flows show, in steps; correlations of changes at both."""

    link: Link
    shown_steps: int
    correlation: float
    as_stated: float

    @property
    def contradicts(self) -> bool:
        """Whether the flows say another time."""
        apart = abs(self.shown_steps - self.link.travel_steps) >= 1
        return apart and self.correlation >= max(_CLOSELY, self.as_stated + _MORE)


@dataclass(frozen=True, eq=False)
class SystemCheck:
    """A system and its records.

    Parameters
    ----------
    system : System
    inflows : SiteInflows
        Local inflow of each reservoir.
    """

    system: System
    inflows: SiteInflows

    @cached_property
    def volumes(self) -> FloatArray:
        """Volume of a flow of 1 m3/s in each step, shape (members, steps)."""
        calendar = self.system.on_calendar(self.inflows.first).calendar
        return np.asarray(calendar.hm3_per_m3s.reshape(self.inflows.first.member_count, -1))

    @cached_property
    def local(self) -> dict[str, FloatArray]:
        """Local inflow of each reservoir, shape (members, steps)."""
        return {name: self.inflows[name].flow_m3s.reshape(self.volumes.shape) for name in self.system.names}

    @cached_property
    def natural(self) -> dict[str, FloatArray]:
        """Flow at each reservoir if none stored anything, shape (members, steps)."""
        flows = dict[str, FloatArray]()
        for place, name in enumerate(self.system.names):
            flows[name] = self.local[name] + self.system.brought_m3s(place, flows, self.volumes)
        return flows

    def _mean(self, flow: FloatArray) -> float:
        """The mean of a flow over all days, m3/s."""
        return float(np.average(flow, weights=self.volumes))

    @cached_property
    def checks(self) -> dict[str, InflowCheck]:
        """Each record by itself."""
        return {name: InflowCheck(self.inflows[name]) for name in self.system.names}

    @cached_property
    def sizes(self) -> dict[str, InflowCheck]:
        """Each reservoir beside all that flows there."""

        def natural(name: str) -> Inflow:
            own = self.inflows[name]
            flow = self.natural[name].reshape(own.flow_m3s.shape)
            return replace(own, flow_m3s=flow, allow_negative=True, rows=None)

        return {
            each.name: InflowCheck(natural(each.name), each, self.held_hm3[each.name] - own)
            for each, own in zip(self.system.reservoirs, self._active_hm3, strict=True)
        }

    @cached_property
    def _active_hm3(self) -> list[float]:
        """What each reservoir can store."""
        bounds = (each.storage_bounds_hm3 for each in self.system.reservoirs)
        return [float(highest.max() - lowest.min()) for lowest, highest in bounds]

    @cached_property
    def held_hm3(self) -> dict[str, float]:
        """What each reservoir and all above it can store; what reaches one by two ways counts twice."""
        held = dict[str, float]()
        for place, name in enumerate(self.system.names):
            above = {link.source for _, link in self.system.into(place)}
            held[name] = self._active_hm3[place] + sum(held[source] for source in above)
        return held

    @cached_property
    def totals(self) -> tuple[str, ...]:
        """Reservoirs whose record seems to be the total flow, though the file says nothing of it."""
        flows, found = dict[str, FloatArray](), list[str]()
        for place, name in enumerate(self.system.names):
            own, above = self.local[name], self.system.brought_m3s(place, flows, self.volumes)
            flows[name] = own + above
            if self._is_what(name) is not None or not above.any():
                continue
            months = [self._by_month(each) for each in (own, above)]
            if (months[0] >= _AT_LEAST * months[1]).mean() >= _MOSTLY and _correlation(*months) >= _FOLLOWS:
                found.append(name)
                flows[name] = own
        return tuple(found)

    def _is_what(self, name: str) -> InflowIs | None:
        return self.system.inflow_of.get(name, InflowSource()).is_what

    def _by_month(self, flow: FloatArray) -> FloatArray:
        """Volumes of about a month."""
        each = max(self.inflows.steps // MONTHS_PER_YEAR, 1)
        whole = flow.shape[1] // each * each
        return np.asarray((flow * self.volumes)[:, :whole].reshape(-1, each).sum(axis=1))

    @cached_property
    def cumulated(self) -> tuple[str, ...]:
        """Reservoirs whose values seem to be sums since the beginning of a year, or of the record."""
        rises = {name: np.diff(flow) for name, flow in self.local.items()}
        return tuple(
            name
            for name, each in rises.items()
            if each.size >= 2 * self.inflows.steps - 1 and (each >= 0).mean() >= _RISES and (each > 0).mean() > 0.5
        )

    @cached_property
    def travels(self) -> tuple[Travel, ...]:
        """Of links into reservoirs whose record is the total flow, what the changes of both flows say.

        Local inflows tell nothing of it: rain falls on neighbouring basins at the same time.
        """
        found = list[Travel]()
        for link in self.system.links:
            name = link.target
            if name is None or (self._is_what(name) is not InflowIs.TOTAL and name not in self.totals):
                continue
            total = self.local[name] if name in self.totals else self.natural[name]
            above = self.local[link.source] if link.source in self.totals else self.natural[link.source]
            changes = [np.diff(self._apart_from_season(each)) for each in (above, total)]
            most = int(np.ceil(link.travel_steps)) + _LOOKED_AT.get(self.inflows.steps, _MANY_STEPS)
            most = min(most, changes[0].shape[1] // 2)
            by_lag = [_correlation(changes[0][:, : -lag or None], changes[1][:, lag:]) for lag in range(most + 1)]
            best = int(np.argmax(by_lag))
            stated = float(np.interp(link.travel_steps, range(most + 1), by_lag))
            found.append(Travel(link, best, by_lag[best], stated))
        return tuple(found)

    def _apart_from_season(self, flow: FloatArray) -> FloatArray:
        """Flows less the mean of their step of all years."""
        years = flow.reshape(-1, self.inflows.steps)
        return np.asarray((years - years.mean(axis=0)).reshape(flow.shape))

    @cached_property
    def unserved(self) -> dict[str, int]:
        """Years in which no operation of all reservoirs can give a reservoir's least release, where there are any.

        There is not enough water in all, or what reservoirs above may release does not let it through.
        """
        found, shape = dict[str, int](), self.volumes.shape
        most = {each.name: np.resize(each.release_bounds_m3s[1], shape) for each in self.system.reservoirs}
        for place, reservoir in enumerate(self.system.reservoirs):
            name, above = reservoir.name, {link.source for _, link in self.system.into(place)}
            own = self._active_hm3[place]
            least = np.resize(reservoir.release_bounds_m3s[0], shape)
            let_through = self.local[name] + self.system.brought_m3s(place, most, self.volumes)
            lacking, beyond = (
                ((least - flow) * self.volumes).reshape(-1, self.inflows.steps)
                for flow in (self.natural[name], let_through)
            )
            short = (lacking.sum(axis=1) > self.held_hm3[name]) | ((_longest_lack(beyond) > own) & bool(above))
            if short.any():
                found[name] = int(short.sum())
        return found

    @cached_property
    def drowned(self) -> tuple[tuple[Link, float, float], ...]:
        """Links without backwater whose lower lake reaches above the tailrace of a mean flow: both levels, m."""
        found = list[tuple[Link, float, float]]()
        for link in self.system.links:
            if link.target is None or link.backwater:
                continue
            above, below = (
                self.system.reservoirs[self.system.names.index(name)] for name in (link.source, link.target)
            )
            highest = float(below.level(below.storage_bounds_hm3[1].max()))
            tail = float(above.tailrace(self._mean(self.natural[above.name])))
            if highest > tail + _TOUCHES_M:
                found.append((link, highest, tail))
        return tuple(found)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What is probably not as it was meant, each with the mend."""
        return tuple(self._doubts())

    def _doubts(self) -> Iterator[str]:
        for name, size in self.sizes.items():
            for doubt in size.all_doubts:
                yield UnitText(lambda units, name=name, doubt=doubt: f"{name}: {units.text(doubt)}")  # type: ignore[misc]
        for name in self.totals:
            yield (
                f"{name}: its record follows what comes from above and is never less: it seems to be the total flow; "
                'write inflow_is = "total" below its [[reservoirs]], or "local" if it is that'
            )
        for name in self.cumulated:
            yield f"{name}: its values rise from step to step and seem to be sums; give the flow of each step"
        noun, hours = self.system.step.noun, self.system.step.hours
        for link, shown, correlation, stated in (each for each in self.travels if each.contradicts):
            yield (
                f"{link}: the flows follow each other after {counted(shown, noun)} (correlation of changes "
                f"{correlation:.2f}), the link says {quantity(link.travel_steps)} ({stated:.2f}); write travel_steps = "
                f"{shown}, or travel_hours = {shown * hours:g}"
            )
        for name, years in self.unserved.items():
            yield (
                f"{name}: its least release cannot be given in {counted(years)} of {self.inflows.years:,}, whatever is "
                "released above; lower release.lower_m3s there, or check the links and the unit of the inflow"
            )

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What may be left out that counts."""
        return tuple(
            UnitText(
                lambda units, link=link, highest=highest, tail=tail: (  # type: ignore[misc]
                    f"{link}: the level of {link.target} at its full storage, {units.stated(highest, 'm', '.7g')}, is "
                    f"above the tailrace of {link.source} at its mean flow, {units.stated(tail, 'm', '.7g')}; write "
                    "backwater = true if it reaches the plant"
                )
            )
            for link, highest, tail in self.drowned
        )

    def sentences(self, units: UnitSystem = SI) -> dict[str, tuple[str, ...]]:
        """What a reader should know of the system, by topic, with amounts in some units."""
        noun = self.system.step.noun
        sums = (
            f"{name}: {units.stated(self._mean(self.local[name]), 'm3/s')} of its own"
            + f", {units.stated(self._mean(self.natural[name]), 'm3/s')} with what comes from above"
            * any(self.system.into(place))
            for place, name in enumerate(self.system.names)
        )
        travels = (
            f"{each.link}: {quantity(each.link.travel_steps)} {noun}s, as the flows show"
            for each in self.travels
            if not each.contradicts and each.correlation >= _CLOSELY
        )
        topics: dict[str, tuple[str, ...]] = {
            "Flow": tuple(sums),
            "Travel": tuple(travels),
            "Warning": tuple(map(units.text, self.warnings)),
            "Doubt": tuple(map(units.text, self.doubts)),
        }
        return {topic: sentences for topic, sentences in topics.items() if sentences}

    def as_dict(self, units: UnitSystem = SI) -> dict[str, Any]:
        """Everything as JSON has it, in some units."""
        reservoirs: dict[str, Mapping[str, object]] = {}
        for name, check in self.checks.items():
            of_all = units.values({"natural_mean_m3s": self._mean(self.natural[name])})
            size = self.sizes[name].as_dict(units).get("reservoir")
            reservoirs[name] = {**check.as_dict(units), **of_all, "reservoir": size}
        links: list[dict[str, Any]] = [
            {"from": each.source, "to": each.target, "travel_steps": each.travel_steps} for each in self.system.links
        ]
        for travel in self.travels:
            links[self.system.links.index(travel.link)] |= {
                "shown_steps": travel.shown_steps,
                "correlation": travel.correlation,
                "as_stated": travel.as_stated,
            }
        return {
            "system": self.system.name,
            "reservoirs": reservoirs,
            "links": links,
            "warnings": [*map(units.text, self.warnings)],
            "doubts": [*map(units.text, self.doubts)],
        }


def _correlation(one: FloatArray, other: FloatArray) -> float:
    """Of two arrays of one shape; 0 where one does not change."""
    if not (one.size and np.ptp(one) and np.ptp(other)):
        return 0.0
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])


def _longest_lack(lacking_hm3: FloatArray) -> FloatArray:
    """The largest sum of consecutive steps of each year, shape (years,): Kadane's."""
    most = run = np.zeros(len(lacking_hm3))
    for step in lacking_hm3.T:
        run = np.maximum(run + step, 0.0)
        most = np.maximum(most, run)
    return np.asarray(most)
