"""A bound of the best that a year of several reservoirs can come to: the water of their links has prices.

Whatever the prices are, the sum of what each reservoir can come to by itself, paid for what it hands on and charged
for what it is brought, is no less than what all can come to together: there both are the same water. Each of these is a
proof of one reservoir with a free flow (`single`). Good prices make the sum small: those of the schedule
that is bounded (`multipliers`), bettered by a bundle method (`bundle`). What they leave is less among the storages that
a better schedule can have (`SystemProblem.corridors`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from reservoir.certificate.bound import Effort, ProvenBound
from reservoir.certificate.bundle import least_sum
from reservoir.certificate.multipliers import cyclic_places, multipliers
from reservoir.certificate.paths_on_device import best_paths
from reservoir.certificate.shortages import Shortage
from reservoir.certificate.single import LinkFlow, Path, Single, level_bounds, power_rises
from reservoir.certificate.stages import TOLERANCE
from reservoir.certificate.tables import FloatArray
from reservoir.certificate.together import Together
from reservoir.hydro.commitments import counts_turbined, sides, surely_hm3
from reservoir.hydro.horizon_limits import with_ends
from reservoir.hydro.system_operation import SystemOperation
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.problems.system import SystemYears
from reservoir.solvers.dp.free_flow import CHARGED, LOWEST_M, PAID, RISE, FreeFlow

#: Prices that are tried at most, in each round of corridors; rounds at most.
_EVALUATIONS, _ROUNDS = 200, 3
#: Parts of all schedules that are told apart at most.
_MOST_PARTS = 24
#: Part of the time that prices and corridors may take.
_FOR_PRICES = 0.5
#: Sizes of cells of which corridors are made, and by how much more than the gap, as a part of it, these are wider.
_LEVELS, _SPARE = 2, 0.5
#: Parts of the gap that is asked for: prices that leave the first are not bettered, and none that leave the second by
#: corridors.
_LEFT, _MOST_LEFT = 0.3, 0.8
#: Part of the gap, or of what prices leave, by which boxes may be above what is the best at the prices.
_OF_LEFT = 0.2
#: What float64 rounds in sums over the links is less than this part of what they carry, times the price.
_ROUNDING = 1e-10
#: Part of a committed volume that may be missing by rounding.
_OWED = 1e-8


Item = TypeVar("Item")

#: Told which part of a proof is done.
Told = Callable[[float], None]


def _untold(part: float) -> None:
    """No-op callback."""


@dataclass(frozen=True, eq=False)
class SystemBound:
    """What no joint schedule that keeps the limits can exceed.

    Parameters
    ----------
    bound : float
        In the unit of the objective; infinity where nothing could be proved, minus infinity where none keeps them.
    prices : ndarray, shape (reservoirs, steps)
        Of a m3/s that links bring to each, in the unit of the objective; in `SystemProblem` further rows follow, of a
        MW of all plants, or a m3/s that leaves the system, where a shortage of these costs (`shortages`).
    of_reservoirs : tuple of ProvenBound
    open_positions : sequence of ndarray, shape (dimension,)
        Where a better schedule may be: near the best paths at prices of the parts that are not known to have none.
    """

    bound: float
    prices: FloatArray
    of_reservoirs: tuple[ProvenBound, ...]
    open_positions: Sequence[FloatArray] = ()


class SystemProblem:
    """A year of a system as problems of its reservoirs, one by one.

    Parameters
    ----------
    batch : SystemYears
        Of one year.
    schedule : SystemOperation
        One that is bounded, or any.
    corridors : sequence, optional
        Of each reservoir, bounds that its storages at the starts of steps are within besides, or None.
    below : float
        By how much less proofs are told that the schedule, and the best path of each reservoir, are worth.
    threads : int
        At work on it.
    flows : sequence, optional
        Of each reservoir, bounds of what links bring it and of what it releases (`Single`), if not the year's own.
    together : Together, optional
        Finds best paths and bounds brackets on a device; by default compiled code does.
    paid : ndarray, shape (reservoirs, 3, steps), optional
        What is paid, beside the objective, of a m3/s that is released, of one that the turbines take and of a MW.
    """

    def __init__(
        self,
        batch: SystemYears,
        schedule: SystemOperation,
        corridors: Sequence[Any] = (),
        below: float = 0.0,
        threads: int = 1,
        flows: Sequence[tuple[Any, Any]] = (),
        together: Together | None = None,
        paid: FloatArray | None = None,
    ) -> None:
        self.batch, self.schedule, self.below, self.threads = batch, schedule, below, threads
        self.links = [LinkFlow.of(batch, link) for link in batch.system.links if link.target is not None]
        self.shortages = Shortage.all_of(batch)
        self.committed = [(place, side) for place, each in enumerate(batch.system.reservoirs) for side in sides(each)]
        self.cyclic = cyclic_places(batch)
        self.paid_besides = np.zeros((len(batch.years), 3, batch.steps)) if paid is None else paid
        self.singles: list[Single] = []
        years: list[ReservoirYears] = []
        for place, own in enumerate(batch.years):
            if batch.system.reservoirs[place].initial_storage_hm3 is not None:
                own = replace(own, limits=with_ends(batch.system.reservoirs[place], own.limits))
            if corridors and corridors[place] is not None:
                lower, upper = (each[np.newaxis, 1:] for each in corridors[place])
                least, most = own.limits.storage_lower_hm3[:, -1:], own.limits.storage_upper_hm3[:, -1:]
                if place in self.cyclic:  # it ends where it starts
                    least, most = (end.clip(*(each[0] for each in corridors[place])) for end in (least, most))
                lower, upper = np.append(lower, least, axis=1), np.append(upper, most, axis=1)
                own = replace(own, limits=own.limits.changed(storage_lower=lower, storage_upper=upper))
            years.append(own[0])
        self.backed_up = batch.system.backed_up
        self.together = None if self.backed_up else together  # kernels know no prices of levels
        for place, made in enumerate(schedule.of_reservoirs):
            brought, released = flows[place] if flows else (self._flows(place), None)
            lake = self._tailwater(place, years)
            priced = lake is not None and self._level_has_price(place, years, float(lake[1].max()))
            path = made.storage_hm3[0]
            self.singles.append(Single.of(years[place], brought, path, lake, released, level_priced=priced))
        paid_for = np.array(
            [(own.release_m3s[0], own.turbined_m3s[0], own.power_mw[0]) for own in schedule.of_reservoirs]
        )
        self.fitness = float(batch.fitness_of(schedule)[0] + (self.paid_besides * paid_for).sum()) - below

    @property
    def size(self) -> float:
        """What a gap is a part of, in the unit of the objective."""
        return max(abs(self.fitness), self.batch.system.least_gap_scale)

    def _flows(self, place: int) -> tuple[FloatArray, FloatArray]:
        """Bounds of what links bring; those above are known."""
        least, most = np.zeros(self.batch.steps), np.zeros(self.batch.steps)
        for link in self._into(place):
            low, high = (link.arriving(each) for each in link.between(self.singles[link.source].released))
            least, most = least + low, most + high
        return least, most

    def _tailwater(self, place: int, years: list[ReservoirYears]) -> tuple[FloatArray, FloatArray] | None:
        """Between which levels the lake below may be for the plant at a place."""
        below = self.batch.system.backed_up_by(place)
        if below is None:
            return None
        lake, limits = years[below], years[below].limits
        ends = np.stack([limits.storage_lower_hm3, limits.storage_upper_hm3])
        start = ends[:, -1] if limits.cyclic else limits.start_bounds_hm3
        levels = np.empty_like(ends)
        level_bounds(lake.model.exact, np.column_stack([start, ends]), TOLERANCE * float(limits.capacity_hm3), levels)
        return levels[0], levels[1]

    def _level_has_price(self, place: int, years: list[ReservoirYears], highest_m: float) -> bool:
        """Whether the plant at a place is paid for the level of the lake below: where no head makes less of it."""
        counted = any(of == place for of, _ in self.committed) and self._counted(place)
        besides = np.any(self.paid_besides[place, 1:])
        if counted or besides:  # of a lower head the turbines may take more, or less power be worth more
            return False
        own = years[place].limits
        released = float(own.release_lower_m3s.min()), float(own.release_upper_m3s.max())
        return power_rises(years[place].model.exact, (0.0, float(own.capacity_hm3)), released, highest_m)

    def _into(self, place: int) -> Iterator[LinkFlow]:
        return (link for link in self.links if link.target == place)

    def frees(self, prices: FloatArray) -> tuple[list[FreeFlow], float]:
        """The free flow of each reservoir at prices (`Single.priced`), and what is the same whatever they do."""
        offset = self.batch.terms.get("offset", np.zeros(1))
        paid, constant = self.paid_besides.copy(), float(offset.sum())
        for link in self.links:
            slope, level = link.line(prices[link.target], link.between(self.singles[link.source].released))
            paid[link.source, :2] += np.multiply.outer(link.parts, (prices[link.target] * slope) @ link.brings)
            constant += float(prices[link.target] @ level)
        for shortage, price in self._of_sums(prices):
            constant += float(shortage.apart(price)[0].sum())
            paid[:, 2 if shortage.of_power else 0] += price
            for link in () if shortage.of_power else self.links:  # what they carry does not leave the system
                paid[link.source, :2] -= np.multiply.outer(link.parts, link.share * price)
        for (place, side), price in zip(self.committed, self._of_commitments(prices), strict=True):
            paid[place, self._counted(place)] += side * price * self.batch.hm3_per_m3s[0]
            constant -= side * float(price @ self._owed_hm3(place, side))
        levels, kept = self._of_levels(prices), np.zeros(len(paid))
        for place, price in zip(self.cyclic, prices[self._kept_from :], strict=False):  # without a price, nothing
            kept[place] = price.mean()
        each = zip(self.singles, prices[: len(paid)], paid, levels, kept.tolist(), strict=True)
        return [single.priced(*of) for single, *of in each], constant

    def _of_levels(self, prices: FloatArray) -> list[FloatArray | tuple[()]]:
        """Prices of levels for each reservoir: a plant is paid what the lake that backs it up is charged."""
        levels = np.zeros((len(self.singles), 4, self.batch.steps))
        of_levels = prices[self._levels_from : self._kept_from].clip(min=0.0)
        for (place, below), price in zip(self.backed_up, of_levels, strict=True):
            lowest, highest = self.singles[place].stages.tailwater, self.singles[place].high_m
            if highest is not None and np.any(price):
                levels[place, PAID], levels[place, RISE] = price, highest - lowest
                levels[below, CHARGED] += price
                levels[below, LOWEST_M] = lowest
        return [each if np.any(each) else () for each in levels]

    def _of_sums(self, prices: FloatArray) -> Iterator[tuple[Shortage, FloatArray]]:
        return zip(self.shortages, prices[len(self.singles) : self._sums_end].clip(min=0.0), strict=True)

    @property
    def _sums_end(self) -> int:
        return len(self.singles) + len(self.shortages)

    @property
    def _levels_from(self) -> int:
        return self._sums_end + len(self.committed)

    @property
    def _kept_from(self) -> int:
        return self._levels_from + len(self.backed_up)

    def _of_commitments(self, prices: FloatArray) -> FloatArray:
        """What a hm3 is worth that is committed to: one price in each water year, the mean of its steps'."""
        own, each = prices[self._sums_end : self._levels_from], self.batch.system.step.per_year
        years = own.clip(min=0.0).reshape(len(own), self.batch.steps // each, each).mean(axis=2)
        return np.asarray(years.repeat(each, axis=1))

    def _owed_hm3(self, place: int, side: float) -> FloatArray:
        """What water years are surely committed to, in equal parts of all their steps; nothing of it by rounding."""
        reservoir = self.batch.system.reservoirs[place]
        return np.full(self.batch.steps, surely_hm3(reservoir, side) * (1.0 - side * _OWED) / reservoir.step.per_year)

    def _counted(self, place: int) -> int:
        """Which of both flows of a release counts for its commitments: all of it, or what is turbined."""
        return int(counts_turbined(self.batch.system.reservoirs[place]))

    def valued(self, prices: FloatArray) -> tuple[float, float, list[FreeFlow], list[Path]]:
        """What all come to by themselves, about, what of that is the same whatever they do, and how."""
        frees, constant = self.frees(prices)
        if self.together is None or self.together.single:
            paths = list(self._at_once(Single.best, self.singles, frees))
        else:
            paths = best_paths(self.together, self.singles, frees)
        return constant + sum(path.worth for path in paths), constant, frees, paths

    def _near(self, prices: FloatArray) -> tuple[float, float, list[FreeFlow], list[Path]]:
        """The same of paths that end where they start in cyclic years, near which proofs look."""
        _, constant, frees, paths = self.valued(prices)
        if self.cyclic:
            paths = list(self._at_once(Single.returning, self.singles, frees, paths))
        return constant + sum(path.worth for path in paths), constant, frees, paths

    def _at_once(self, call: Callable[..., Item], *of_each: Iterable[Any]) -> Iterator[Item]:
        """What a call comes to for each, several at a time."""
        if self.threads == 1:
            yield from map(call, *of_each)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                yield from pool.map(call, *of_each)

    def _effort(self, gap: float, seconds: float, scale: float = 0.0, **changed: Any) -> Effort:
        """Of the proof of one reservoir, where all are proved in so many seconds."""
        at_once = min(self.threads, len(self.singles))
        share = seconds * at_once / len(self.singles)
        return Effort(gap, share, self.threads // at_once, scale, **changed)

    def scale(self, frees: list[FreeFlow]) -> float:
        """The size of what is added up."""
        scale = abs(self.fitness)
        for free, single in zip(frees, self.singles, strict=True):
            (_, released), (_, turbined) = single.released
            most = single.year.model.reservoir.installed_mw + sum(float(each.target.max()) for each in self.shortages)
            scale += float(np.abs(free.price) @ free.upper + np.abs(free.paid) @ released)
            scale += float(np.abs(free.turbined) @ turbined + np.abs(free.power).sum() * most)
            for paid, rise, charged, lowest_m in (free.levels,) if len(free.levels) else ():
                scale += 2.0 * float(paid @ rise + charged @ np.abs(lowest_m))
        return scale

    def slopes(self, prices: FloatArray, paths: list[Path]) -> FloatArray:
        """Of what each comes to over the prices: what it hands on less what it is brought; last, of shortages."""
        count = len(paths)
        slopes = np.zeros((count + 1, len(prices), self.batch.steps))
        for place, path in enumerate(paths):
            slopes[place, place] -= path.flow_m3s
        for link in self.links:
            slopes[link.source, link.target] += link.arriving(link.flow(paths[link.source].released_m3s))
        for row, (shortage, price) in enumerate(self._of_sums(prices), count):
            slopes[-1, row] = -shortage.apart(price)[1]
            for place, path in enumerate(paths):
                slopes[place, row] = path.power_mw if shortage.of_power else path.released_m3s[0]
            for link in () if shortage.of_power else self.links:
                slopes[link.source, row] -= link.share * link.flow(paths[link.source].released_m3s)
        for row, (place, side) in enumerate(self.committed, self._sums_end):
            each, counted = self.batch.system.step.per_year, paths[place].released_m3s[self._counted(place)]
            of_years = (self.batch.hm3_per_m3s[0] * counted).reshape(-1, each).mean(axis=1)
            slopes[place, row], slopes[-1, row] = side * of_years.repeat(each), -side * self._owed_hm3(place, side)
        for row, (place, below) in enumerate(self.backed_up, self._levels_from):
            if self.singles[place].high_m is not None and np.any(prices[row] > 0.0):  # others stay at 0
                slopes[place, row] += paths[place].levels_m[0]
                slopes[below, row] -= paths[below].levels_m[1]
        for row, place in enumerate(self.cyclic, self._kept_from):
            slopes[place, row] = (paths[place].storages_hm3[-1] - paths[place].storages_hm3[0]) / self.batch.steps
        return slopes

    def better_prices(self, prices: FloatArray, aim: float, until: float) -> tuple[FloatArray, float]:
        """Prices at which the sum is smaller, found until a time of `time.monotonic`, and that sum."""
        lower, upper, unit = np.full(prices.shape, -np.inf), np.full(prices.shape, np.inf), np.ones(prices.shape)
        for row, shortage in enumerate(self.shortages, len(self.singles)):
            lower[row], upper[row] = 0.0, shortage.steepest
            if shortage.of_power:  # as if it were of the water that it takes
                unit[row] = self.schedule.total("release_m3s").mean() / max(self.schedule.power_mw.mean(), 1e-9)
        lower[self._sums_end :], unit[self._sums_end :] = 0.0, 1.0 / self.batch.hm3_per_m3s.mean()
        lower[self._kept_from :] = -np.inf
        for row in range(self._levels_from, self._kept_from):
            unit[row] = np.abs(prices[row]).mean() / max(np.abs(prices[: len(self.singles)]).mean(), 1e-300) or 1.0

        def evaluated(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
            here = numbers.reshape(unit.shape) * unit
            _, constant, _, paths = self.valued(here)
            values = np.array([*(path.worth for path in paths), constant])
            return values, (unit * self.slopes(here, paths)).reshape(len(values), -1)

        within, begin = ((lower / unit).ravel(), (upper / unit).ravel()), (prices / unit).ravel()
        found, worth = least_sum(evaluated, begin, aim, _EVALUATIONS, until, within)
        return (prices if found is begin else found.reshape(unit.shape) * unit), worth  # as they were, to the last bit

    def joined_prices(self, prices: FloatArray, aim: float, until: float, told: Told = _untold) -> FloatArray:
        """Prices that are bettered in each water year by itself, between the schedule's storages."""
        each = self.batch.system.step.per_year
        spans = list(pairwise([*range(0, self.batch.steps, each), self.batch.steps]))

        def bettered(place: int, first: int, stop: int) -> FloatArray:
            share = min(self.threads / (len(spans) - place), 1.0)  # what earlier ones leave is for later ones
            (year, paid), now = self._span(prices, first, stop), time.monotonic()
            enough = year.fitness + paid + aim * year.size
            return year.better_prices(prices[:, first:stop], enough, now + max(until - now, 0.0) * share)[0]

        parts = list[FloatArray]()
        for part in self._at_once(bettered, range(len(spans)), *zip(*spans, strict=True)):
            parts.append(part)
            told(_FOR_PRICES * len(parts) / len(spans))
        return np.concatenate(parts, axis=1)

    def _span(self, prices: FloatArray, first: int, stop: int) -> tuple[SystemProblem, float]:
        """Steps from one up to another, between the schedule's storages, and what it is paid for what arrives later.

        Links bring as little and as much there as in all steps, and in other steps what they bring of the schedule.
        """
        batch, within = self.batch, slice(first, stop)
        stored = np.stack([own.storage_hm3[:, first : stop + 1] for own in self.schedule.of_reservoirs], axis=1)
        years = (
            replace(each, limits=each.limits.windows(np.zeros(1, int), np.r_[within][None])) for each in batch.years
        )
        terms = {name: np.ascontiguousarray(term[:, within]) for name, term in batch.terms.items()}
        system = batch.system.between(stored[0, :, 0], stored[0, :, -1])
        part = replace(batch, system=system, years=tuple(years), terms=terms)
        flows = [(tuple(each[within] for each in one.flows), one.released[..., within]) for one in self.singles]
        besides, device = self.paid_besides[:, :, within].copy(), self.together
        year = SystemProblem(part, part.operate_storages(stored), flows=flows, together=device, paid=besides)
        elsewhere, paid = np.ones(batch.steps), 0.0
        elsewhere[within] = 0.0
        for place, link in enumerate(self.links):
            made = self.schedule.of_reservoirs[link.source]
            flow = link.flow((made.release_m3s[0], made.turbined_m3s[0]))
            fixed = (link.fixed + link.brings @ (elsewhere * flow))[within]
            year.links[place] = link._replace(brings=link.brings[within, within], fixed=fixed)
            slope, _ = link.line(prices[link.target], link.between(self.singles[link.source].released))
            worth = ((elsewhere * prices[link.target] * slope) @ link.brings)[within]
            year.paid_besides[link.source, :2] += np.multiply.outer(link.parts, worth)
            paid += float(worth @ flow[within])
        return year, paid

    def corridors(self, prices: FloatArray, seconds: float = 60.0) -> list[Any]:
        """What storages at the starts of steps are within of all schedules that are better than the one known.

        Where all but one come to no more than is proved, that one must come to what is missing.
        """
        worth, constant, frees, paths = self._near(prices)
        short = worth - self.fitness
        most = [path.worth - (1.0 + _SPARE) * short for path in paths]
        efforts = repeat(self._effort(0.0, seconds, levels=_LEVELS))
        proofs = list(self._at_once(Single.proven, self.singles, frees, paths, efforts, most, repeat(self.together)))
        apart = constant + sum(proof.bound for proof in proofs) - self.fitness + _ROUNDING * self.scale(frees)
        spare = [proof.bound - apart - least for proof, least in zip(proofs, most, strict=True)]
        return [proof.corridor if left >= 0.0 else None for proof, left in zip(proofs, spare, strict=True)]

    def position_near(self, prices: FloatArray) -> FloatArray:
        """What operates nearly as the best path of each reservoir at prices does, shape (dimension,)."""
        paths = self.valued(prices)[-1]
        stored = [SimpleNamespace(storage_hm3=path.storages_hm3[np.newaxis]) for path in paths]
        arriving = [path.flow_m3s[np.newaxis] for path in paths]
        operation: Any = SimpleNamespace(of_reservoirs=stored, arriving_m3s=arriving)
        return np.asarray(self.batch.positions_of(operation)[0])

    def halves(self, prices: FloatArray) -> tuple[SystemProblem, SystemProblem] | None:
        """Two parts, with a storage below and above one between the schedule's and the best path's at prices.

        It is that of which most water, by its price, is in dispute; None where all agree.
        """
        paths, count, steps = self.valued(prices)[-1], len(self.singles), self.batch.steps
        corridors = [(each.known.lower[:-1].copy(), each.known.upper[:-1].copy()) for each in self.singles]
        kept = [
            made.storage_hm3[0, :-1].clip(*within)
            for made, within in zip(self.schedule.of_reservoirs, corridors, strict=True)
        ]
        apart = np.stack([path.storages_hm3[:-1] - each for path, each in zip(paths, kept, strict=True)])
        disputed = np.abs(apart * prices[:count] / self.batch.hm3_per_m3s)
        disputed[np.setdiff1d(np.arange(count), self.cyclic), 0] = 0.0  # all agree on a start that is given
        place, step = divmod(int(np.argmax(np.nan_to_num(disputed))), steps)
        (lower, upper), at = corridors[place], kept[place][step] + 0.5 * apart[place, step]
        if not lower[step] < at < upper[step]:
            return None
        less, more = upper.copy(), lower.copy()
        less[step] = more[step] = at
        parts = ((lower, less), (more, upper))
        made = [
            SystemProblem(
                self.batch,
                self.schedule,
                [*corridors[:place], part, *corridors[place + 1 :]],
                self.below,
                self.threads,
                together=self.together,
                paid=self.paid_besides,
            )
            for part in parts
        ]
        return made[0], made[1]

    def proven(self, prices: FloatArray, gap: float, seconds: float, told: Told = _untold) -> SystemBound:
        """The bound at prices, above the schedule by a gap, or by little more than prices leave if that is larger.

        Where a lake may run dry, nothing is known of what it releases, and so of what those below can be brought.
        """
        if any(single.known.may_run_dry for single in self.singles):
            return SystemBound(np.inf, prices, ())
        worth, constant, frees, paths = self._near(prices)
        scale = self.scale(frees)
        most = gap * self.size
        if np.isfinite(worth):
            left = worth - self.fitness
            most = max(most - left, _OF_LEFT * most, _OF_LEFT * left)
        each = most / (len(self.singles) * max(scale, 1e-300))
        efforts = repeat(self._effort(each, seconds, scale))
        least = [path.worth - self.below if self.below and np.isfinite(path.worth) else None for path in paths]
        proofs, bound, of_water = list[ProvenBound](), constant, prices[: len(self.singles)]
        for proof in self._at_once(Single.proven, self.singles, frees, paths, efforts, least, repeat(self.together)):
            proofs.append(proof)
            bound += proof.bound
            told(_FOR_PRICES + (1.0 - _FOR_PRICES) * len(proofs) / len(self.singles))
            if not np.isfinite(proof.bound):  # no schedule, whatever those below do, or nothing known of theirs
                return SystemBound(proof.bound, of_water, tuple(proofs))
        return SystemBound(bound + _ROUNDING * scale, of_water, tuple(proofs))


def prove_system(
    batch: SystemYears,
    schedule: SystemOperation,
    gap: float,
    seconds: float = 600.0,
    threads: int = 1,
    below: float = 0.0,
    told: Told = _untold,
    together: Together | None = None,
) -> SystemBound:
    """Prove a bound of the fitness of all schedules that keep the limits of one year of a system.

    Parameters
    ----------
    batch : SystemYears
        Of one year.
    schedule : SystemOperation
        A good one: the closer to the best, the smaller the bound.
    gap : float
        Part of the fitness by which the bound may be above it.
    seconds : float
        Most time, about.
    threads : int
    below : float
        By how much less the proof is told that the schedule, and the best path of each reservoir at prices, are worth:
        a bound that is no lower than the schedule all the same rests on neither.
    told : callable
        Told which part is done, about.
    together : Together, optional
        Finds best paths and bounds brackets on a device; by default compiled code does.
    """
    began = time.monotonic()
    problem = SystemProblem(batch, schedule, below=below, threads=threads, together=together)
    known = schedule.violation_sum[0] == 0
    prices, allowed, worth = multipliers(batch, schedule), gap * problem.size, np.inf
    aim, enough = problem.fitness + _LEFT * allowed, problem.fitness + _MOST_LEFT * allowed
    if known and batch.steps > batch.system.step.per_year:
        prices, aim = problem.joined_prices(prices, _LEFT * gap, began + _FOR_PRICES * seconds, told), enough
    for left in reversed(range(_ROUNDS if known else 0)):  # else nothing is known to come close to
        prices, worth = problem.better_prices(prices, aim, began + _FOR_PRICES * seconds)
        if worth <= enough or not np.isfinite(worth) or not left or time.monotonic() > began + _FOR_PRICES * seconds:
            break
        corridors = problem.corridors(prices, began + _FOR_PRICES * seconds - time.monotonic())
        problem = SystemProblem(batch, schedule, corridors, below, threads, together=together)
    open_parts, at_prices = [Part(worth, prices, problem)], time.monotonic()
    time_left = max(began + seconds - at_prices, 0.0) * (1.0 if worth <= enough else _FOR_PRICES)
    proved = problem.proven(prices, gap, time_left, told)
    if known and problem.fitness + allowed < proved.bound:
        each = time.monotonic() - at_prices
        open_parts = _parts(open_parts[0], aim, enough, each, began + seconds)
        if len(open_parts) > 1:
            of_parts = _proven(open_parts, gap, began + seconds)
            proved = min(proved, of_parts, key=lambda bound: bound.bound)
    positions = [part.problem.position_near(part.prices) for part in open_parts if part.worth > enough]
    proved = replace(proved, prices=prices[: len(batch.years)], open_positions=positions)
    if known:  # the schedule itself may be beyond the corridors
        proved = replace(proved, bound=max(proved.bound, problem.fitness + _ROUNDING * abs(problem.fitness)))
    return proved


class Part(NamedTuple):
    """Some of all schedules: what they come to at prices, about."""

    worth: float
    prices: FloatArray
    problem: SystemProblem


def _parts(whole: Part, aim: float, enough: float, each: float, until: float) -> list[Part]:
    """Parts in each of which little is left to gain; the one with most is halved, until time is left to prove all.

    Proofs are taken to last `each` seconds.
    """
    parts = [whole]
    while len(parts) < _MOST_PARTS and time.monotonic() + (len(parts) + 2) * each < until:
        worst = max(parts, key=lambda part: part.worth)
        halves = worst.problem.halves(worst.prices) if enough < worst.worth < np.inf else None
        if halves is None:
            break
        parts.remove(worst)
        for half in halves:
            prices, worth = half.better_prices(worst.prices, aim, until - (len(parts) + 2) * each)
            parts.append(Part(worth if np.isfinite(worth) else -np.inf, prices, half))
    return parts


def _proven(parts: Sequence[Part], gap: float, until: float) -> SystemBound:
    """The largest bound of parts, each of which gets its share of the time."""
    proved = list[SystemBound]()
    for place, part in enumerate(sorted(parts, key=lambda part: part.worth)):
        share = max(until - time.monotonic(), 0.0) / (len(parts) - place)
        proved.append(part.problem.proven(part.prices, gap, share))
    return max(proved, key=lambda bound: bound.bound)
