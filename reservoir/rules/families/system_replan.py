"""Re-planning of a river: every month its joint decision is weighed against others in many futures of all sites.

The decision is that of separable water values (`Separable`), which price the water of each reservoir by itself.
Releases beside it, of one reservoir or passed on by those below, are followed into the same futures, members of the
inflow model of all sites, for a few months: there each reservoir releases what its own values ask for by what flows in
then, and what is left is worth what they say. So nobody foresees a future, and a limit that is missed costs what it
costs when rules are scored.

What makes most in some futures takes the place of the first decision only where it makes more in others, too, by a good
part of what that differs by from future to future. It is one step of policy improvement (rollout; Bertsekas, Tsitsiklis
and Wu 1997, J. Heuristics 3:245) that leaves the separable decision where next to nothing is to be gained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, Final, Literal

import numpy as np
from pydantic import Field

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.rules.base.physics import interpolate_values
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.sdp import shares
from reservoir.rules.families.separable import JointMonth, Separable, arriving_late, brings, carried_worth
from reservoir.rules.inflow_model import normal_numbers

#: The family's name, which that of one reservoir has, too.
REPLAN: Final = "replan"
#: Months that a decision is followed behind the one that is decided, and futures that say whether it takes the place of
#: the first; so many times fewer, and others, choose it.
MONTHS_AHEAD, MEMBERS, _FEWER = 4, 60, 3
MOST_MONTHS_AHEAD, MOST_MEMBERS = 60, 10_000
#: Seed of the futures: not that of those in which advice tells chances.
SEED = 2
#: Releases beside a decision that are tried in each round, as parts of the range from what fills to what empties.
_ROUNDS = np.array([0.3, 0.1]) * np.array([[1.0], [0.4], [0.16]])
#: By what part of its standard deviation from future to future the gain must be above nothing: noise of a few futures
#: is less, and a record of a few years tells it, too.
_MARGIN = 0.5
#: Storages and flows at which the releases that values ask for are known, and the highest flow in largest classes.
_STORAGES, _FLOWS, _HIGHEST = 21, 21, 1.5


class SystemReplan(Separable):
    """A rule of a system that follows its decision, and others, into futures of all sites; see `Separable`.

    Parameters
    ----------
    months_ahead : int
        Months that are followed behind the one that is decided.
    members : int
        Futures that a decision is judged by, at least two for each inflow that may come in the month.
    """

    family: Literal["replan"]  # type: ignore[assignment]
    months_ahead: Annotated[int, Field(strict=True, ge=1, le=MOST_MONTHS_AHEAD)]
    members: Annotated[int, Field(strict=True, ge=4, le=MOST_MEMBERS)]

    @staticmethod
    def of(values: Separable, months_ahead: int = MONTHS_AHEAD, members: int = MEMBERS) -> SystemReplan:
        """The rule of separable values."""
        fields = {name: getattr(values, name) for name in Separable.model_fields if name != "family"}
        return SystemReplan(**fields, family=REPLAN, months_ahead=months_ahead, members=members)

    @property
    def months_weighed(self) -> int:
        """The month that is decided, and those that are followed behind it."""
        return 1 + self.months_ahead

    def decided(self, month: JointMonth) -> FloatArray:
        """As of `Separable`, bettered where futures say so."""
        probability = month.probability
        first = chosen = month.best()
        apart = [float(np.ptp(month.tried(place, 2))) for place in range(len(self.sites))]
        seen, others = (Futures(self, month, self.futures(month, half)) for half in range(2))
        for parts in _ROUNDS:
            tried = _beside(month, chosen, parts, apart)
            chosen = tried[:, np.argmax(seen.worth(tried).mean(axis=2) @ probability)]
        if np.array_equal(chosen, first):
            return first
        before, after = others.worth(np.stack([first, chosen], axis=1))
        gains = after - before
        gain = float(gains.mean(axis=1) @ probability)
        spread = np.sqrt(((gains - gain) ** 2).mean(axis=1) @ probability)
        return chosen if gain > _MARGIN * spread else first

    def futures(self, month: JointMonth, half: int) -> FloatArray:
        """Local inflow of the months behind one, (inflows, members, months, reservoirs), each with its opposite."""
        sites, inflows = month.local_m3s.shape
        members = self.members if half else self.members // _FEWER
        pairs, after = max(-(-members // (2 * inflows)), 1), (month.step + 1) % MONTHS_PER_YEAR
        key = after, half, inflows
        if key not in self._kept:
            stream = after + half * MONTHS_PER_YEAR
            normal = normal_numbers(SEED, inflows * pairs, MONTHS_PER_YEAR + self.months_ahead, sites, stream)
            normal = normal.reshape(inflows, pairs, *normal.shape[1:])
            self._kept[key] = np.concatenate([normal, -normal], axis=1)
        return self.inflow.futures(after, month.local_m3s.T[:, np.newaxis], self._kept[key])

    @cached_property
    def _kept(self) -> dict[Any, FloatArray]:
        """Normal numbers of futures and `asked_alone` of sites, as long as the rule is there."""
        return {}

    def asked_alone(self, place: int, step: int, storage_hm3: FloatArray, known_m3s: FloatArray) -> FloatArray:
        """What the values of one reservoir ask for by themselves, m3/s, read from a table of storages and flows.

        Parameters
        ----------
        place, step : int
        storage_hm3, known_m3s : ndarray
            Of one shape; all that flows in in the step, or without a forecast in the step before.
        """
        site, key = self.sites[place], (place, step)
        grid, of = site._smooth[0], step if self.forecast is Forecast.MONTH else step - 1
        most = _HIGHEST * max(site.classes_m3s[of][-1], 1e-6)
        if key not in self._kept:
            storages, flows = np.linspace(grid[0], grid[-1], _STORAGES), np.linspace(0.0, most, _FLOWS)
            storages, flows = (each.ravel() for each in np.meshgrid(storages, flows, indexing="ij"))
            self._kept[key] = site.releases(step, storages, site.known(flows), flows)
        across = np.clip((storage_hm3 - grid[0]) / (grid[-1] - grid[0]), 0.0, 1.0) * (_STORAGES - 1)
        along = np.clip(known_m3s / most, 0.0, 1.0) * (_FLOWS - 1)
        left, low = np.minimum(across.astype(int), _STORAGES - 2), np.minimum(along.astype(int), _FLOWS - 2)
        at, table = left * _FLOWS + low, self._kept[key]
        less, more = (table[at + up] + (across - left) * (table[at + up + _FLOWS] - table[at + up]) for up in (0, 1))
        return np.asarray(less + (along - low) * (more - less))


def _beside(month: JointMonth, asked: FloatArray, parts: FloatArray, apart: Sequence[float]) -> FloatArray:
    """Releases, and those beside them in which one reservoir changes its own, shape (reservoirs, tried)."""
    held, found = [np.full((1, 1, 1), each) for each in asked], [asked[:, np.newaxis]]
    for place, site in enumerate(month.rule.sites):
        beside = asked[place] + np.concatenate([-parts, parts]) * apart[place]
        tried = site.months.within_bounds(month.step, beside).reshape(1, -1, 1)
        moved = np.stack(np.broadcast_arrays(*month.moved(place, held, tried)))
        found.append(moved.reshape(len(asked), -1))
    return np.concatenate(found, axis=1)


@dataclass(frozen=True, eq=False)
class Futures:
    """Futures that releases of one month are followed into; arrays of releases tried, inflows and members.

    Parameters
    ----------
    rule : SystemReplan
    month : JointMonth
    local_m3s : ndarray, shape (inflows, members, months, reservoirs)
        Local inflow of the months behind the one that is decided.
    """

    rule: SystemReplan
    month: JointMonth
    local_m3s: FloatArray

    def worth(self, asked: FloatArray) -> FloatArray:
        """What releases, shape (reservoirs, tried), come to in each future: (tried, inflows, members)."""
        rule, month, names = self.rule, self.month, self.month.system.names
        links, volume = month.system.links, np.array(rule.sites[0].months.volume_per_flow)
        steps = [(month.step + ahead) % MONTHS_PER_YEAR for ahead in range(rule.months_weighed)]
        storage: list[Any] = list(month.storage_hm3)
        known, carried, total = list[Any](), list[list[Any]](), np.zeros(())

        def earlier(number: int, back: int) -> Any:
            return carried[-back][number] if back <= len(carried) else 0.0

        for ahead, step in enumerate(steps):
            ends, inflows, flows = list[Any](), list[Any](), [np.zeros(())] * len(links)
            for place, site in enumerate(rule.sites):
                inflow: Any = self.local_m3s[..., ahead - 1, place] if ahead else month.local_m3s[place][:, np.newaxis]
                for number, link in enumerate(links):
                    if link.target == names[place]:
                        late = arriving_late(link, partial(earlier, number), volume, step)
                        inflow = inflow + brings(link, month.late_m3s[ahead, number] + late, flows[number])
                wanted = asked[place][:, np.newaxis, np.newaxis]
                if ahead:
                    seen = inflow if rule.forecast is Forecast.MONTH else known[place]
                    wanted = rule.asked_alone(place, step, storage[place], seen)
                upper = None if ahead else float(month.upper_hm3[place])
                end, kept, made = site.outcome(step, storage[place], wanted, inflow, upper)
                total, inflows, ends = total + made, [*inflows, inflow], [*ends, end]
                own = [number for number, link in enumerate(links) if link.source == names[place]]
                split = any(links[number].is_split for number in own)
                turbined = site.turbined(step, storage[place], end, kept) if split else kept
                for number in own:
                    flows[number] = links[number].of_release(kept, turbined)
            storage, known, carried = ends, inflows, [*carried, flows]
        return np.asarray(total + self._left(steps, storage) + self._under_way(steps, carried))

    def _left(self, steps: Sequence[int], storage_hm3: Sequence[FloatArray]) -> Any:
        """What storages at the end are worth."""
        river, after = self.local_m3s[:, :, -1].sum(axis=-1).ravel(), (steps[-1] + 1) % MONTHS_PER_YEAR
        classes, worth = shares(np.array(self.rule.classes_m3s[steps[-1]]), river).T, np.zeros(storage_hm3[0].shape)
        for site, storage in zip(self.rule.sites, storage_hm3, strict=True):
            (grid, values), tried = site._smooth, storage.reshape(1, len(storage), -1)
            worth += interpolate_values(grid, (values[after] @ classes)[np.newaxis], tried).reshape(storage.shape)
        return worth

    def _under_way(self, steps: Sequence[int], carried: Sequence[Sequence[Any]]) -> Any:
        """What water is worth that arrives behind the last month."""
        system, sites, worth = self.month.system, self.rule.sites, 0.0
        for number, link in enumerate(system.links):
            for ahead, flows in enumerate(carried if link.target is not None else ()):
                known = self.rule.per_arrival, sites[0].months.volume_per_flow, steps[ahead]
                worth = worth + carried_worth(system, link, *known, least=len(steps) - ahead) * flows[number]
        return worth
