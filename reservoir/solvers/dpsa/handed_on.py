"""What releases and levels of one reservoir are worth to the others of its system while their storages are held."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.benefit import stage_benefit
from reservoir.hydro.conditions import unmet_power
from reservoir.hydro.elementwise import curve_value
from reservoir.hydro.rows import CAPACITY, HM3_PER_M3S, RELEASE_LOWER, RELEASE_UPPER, UNLIMITED, filled_years
from reservoir.hydro.step import head_at, turbined_at
from reservoir.hydro.system import Carried, Link
from reservoir.hydro.system_operation import SystemOperation
from reservoir.problems.system import SystemYears
from reservoir.solvers.dp.beyond import KINDS, RELEASED, SPILLED, STORED, TURBINED
from reservoir.solvers.plant_steps import EVERYWHERE, FloatArray, PlantSteps

_KIND = {Carried.ALL: RELEASED, Carried.TURBINED: TURBINED, Carried.SPILLED: SPILLED}


class Worth(NamedTuple):
    """`Beyond` of all years: kinds (4,), worth (years, 4, steps, points), first and per_unit (years, 4, steps)."""

    kinds: Any
    worth: FloatArray
    first: FloatArray
    per_unit: FloatArray


class Neighbours(NamedTuple):
    """All plants of schedules, and what a MW more of the sum of all is worth beside each plant's own terms."""

    batch: SystemYears
    schedule: SystemOperation
    steps: tuple[PlantSteps, ...]
    per_mw: FloatArray

    @classmethod
    def of(cls, batch: SystemYears, schedule: SystemOperation) -> Neighbours:
        """Of schedules."""
        steps = tuple(PlantSteps.of(batch, schedule, place) for place in range(len(batch.system.reservoirs)))
        per_mw = np.zeros_like(batch.hm3_per_m3s)
        if batch.terms:
            rows = filled_years({"inflow": per_mw, **batch.terms}).by_field
            power, apart = schedule.total("power_mw"), 1e-4 * batch.system.installed_mw

            def worth(mw: FloatArray) -> FloatArray:
                return np.asarray(stage_benefit(rows, EVERYWHERE, mw, np.full_like(mw, UNLIMITED), batch.hm3_per_m3s))

            per_mw = (worth(power + apart) - worth(power - apart)) / (2 * apart)
        return cls(batch, schedule, steps, per_mw)

    def worth_of(self, place: int, spacing_hm3: FloatArray, points: int) -> Worth:
        """What the reservoir at a place does to the others, at so many points with storages apart by a spacing."""
        own, count = self.steps[place], self.batch.steps
        shape = (len(self.batch), KINDS, count)
        found = Worth(np.zeros(KINDS, np.int64), np.zeros((*shape, points)), np.zeros(shape), np.ones(shape))
        offsets = np.arange(points) - (points - 1) / 2
        volume = own.rows.rows[HM3_PER_M3S]
        turbined = self._turbined(own, own.mean_storage_hm3, own.release_m3s)
        of_kind = (own.release_m3s, turbined, own.release_m3s - turbined, own.mean_storage_hm3)
        for kind in range(KINDS):
            apart = spacing_hm3[:, np.newaxis] / (volume if kind != STORED else 2.0) + 0 * volume
            found.first[:, kind], found.per_unit[:, kind] = of_kind[kind] + offsets[0] * apart, 1 / apart
            change = offsets.reshape(-1, 1, 1) * apart
            if kind == STORED:
                total = self._of_level(place, own.mean_storage_hm3 + change)
            else:
                links = [link for link in self._links(place) if self._kind(link) == kind]
                total = self._of_flow(place, links, change) if links else None
            if total is not None:
                found.kinds[kind] = 1
                found.worth[:, kind] = np.moveaxis(total, 0, -1)
        return found

    def _links(self, place: int) -> list[Link]:
        name = self.batch.system.names[place]
        return [link for link in self.batch.system.links if link.source == name and link.target is not None]

    @staticmethod
    def _kind(link: Link) -> int:
        return _KIND[link.carries] if isinstance(link.carries, Carried) else RELEASED

    @staticmethod
    def _turbined(steps: PlantSteps, storage: FloatArray, release: FloatArray) -> FloatArray:
        head = head_at(steps.plant, storage, release, steps.rows, EVERYWHERE)
        return np.asarray(turbined_at(steps.plant, head, release, steps.rows, EVERYWHERE))

    def _value(self, steps: PlantSteps, per_mw: FloatArray, storage: FloatArray, release: FloatArray) -> FloatArray:
        """What plants make of mean storages and releases, less what a release beyond its bounds costs."""
        rows, penalty = steps.rows, self.batch.penalty
        lower, upper = rows.rows[RELEASE_LOWER], rows.rows[RELEASE_UPPER]
        kept = np.clip(release, lower, upper)
        power = steps.power_mw(storage, kept)
        cost = penalty * np.abs(release - kept) * rows.rows[HM3_PER_M3S] / np.maximum(rows.numbers[CAPACITY], 1.0)
        return np.asarray(per_mw * power - cost - penalty * unmet_power(rows, EVERYWHERE, power))

    def _of_level(self, place: int, storage: FloatArray) -> FloatArray | None:
        """Worth of mean storages to the plants that the lake backs up."""
        backed = [each for each in range(place) if self.batch.system.backed_up_by(each) == place]
        if not backed:
            return None
        level, total = curve_value(self.steps[place].plant.level, storage), np.zeros_like(storage)
        for each in backed:
            steps = self.steps[each]
            per_mw = steps.per_mw + self.per_mw
            given = (per_mw, steps.mean_storage_hm3, steps.release_m3s)
            total += self._value(steps.backed_up(level), *given) - self._value(steps, *given)
        return total

    def _of_flow(self, place: int, links: list[Link], change: FloatArray) -> FloatArray:
        """Worth of changes of a flow at the source of links to all below, in the steps that they reach it.

        Each plant and step is valued by itself: where parts of several steps' flows meet, their sum is not.
        """
        total, coming = np.zeros_like(change), dict[tuple[int, int], FloatArray]()
        self._arrive(coming, place, links, change, 0)
        for at in range(place + 1, len(self.steps)):
            for _, later in sorted(key for key in coming if key[0] == at):
                total += self._at(coming, at, later, coming[at, later])
        return total

    def _arrive(
        self, coming: dict[tuple[int, int], FloatArray], place: int, links: list[Link], change: FloatArray, later: int
    ) -> None:
        """Add what links bring of a change at their source to what comes, by place and steps later."""
        volume, names = self.batch.hm3_per_m3s, self.batch.system.names
        for link in links:
            share = 1.0 if isinstance(link.carries, Carried) else link.carries
            for steps, part in link.parts:
                key = names.index(link.target), later + steps  # type: ignore[arg-type]
                moved = np.roll(volume, -later, axis=1) / np.roll(volume, -later - steps, axis=1)
                brought = change * (share * part * (1.0 - link.lost_share)) * moved
                coming[key] = coming[key] + brought if key in coming else brought

    def _at(self, coming: dict[tuple[int, int], FloatArray], place: int, later: int, change: FloatArray) -> FloatArray:
        """Worth of a change of what flows in some steps later, which is handed on."""
        steps = self.steps[place]
        if later:
            wraps = self.batch.system.reservoirs[place].year_end is YearEnd.CYCLIC
            if not wraps:
                change = np.where(np.arange(change.shape[-1]) < change.shape[-1] - later, change, 0.0)

            def moved(row: FloatArray) -> FloatArray:
                return np.roll(row, -later, axis=-1)

            rows: Any = [moved(row) for row in steps.rows.rows]
            steps = steps._replace(
                rows=steps.rows._replace(rows=rows),
                mean_storage_hm3=moved(steps.mean_storage_hm3),
                release_m3s=moved(steps.release_m3s),
            )
        storage, release = steps.mean_storage_hm3, steps.release_m3s
        per_mw = steps.per_mw + np.roll(self.per_mw, -later, axis=-1)
        worth = self._value(steps, per_mw, storage, release + change) - self._value(steps, per_mw, storage, release)
        below = self._links(place)
        if any(self._kind(link) != RELEASED for link in below):
            turbined = self._turbined(steps, storage, release + change) - self._turbined(steps, storage, release)
        for link in below:
            kind = self._kind(link)
            carried = change if kind == RELEASED else turbined if kind == TURBINED else change - turbined
            self._arrive(coming, place, [link], carried, later)
        return worth
