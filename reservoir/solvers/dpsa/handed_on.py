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
from reservoir.hydro.system import Link
from reservoir.hydro.system_operation import SystemOperation
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.problems.stacked import KIND_OF
from reservoir.problems.system import SystemYears
from reservoir.solvers.dp.beyond import KINDS, RELEASED, STORED, TURBINED
from reservoir.solvers.plant_steps import EVERYWHERE, FloatArray, PlantSteps


class Worth(NamedTuple):
    """`Beyond` of all years: kinds (4,), worth (years, 4, steps, points), first and per_unit (years, 4, steps)."""

    kinds: Any
    worth: FloatArray
    first: FloatArray
    per_unit: FloatArray


class Neighbours(NamedTuple):
    """All plants of schedules, and the terms of the sum of all (`YearRows.by_field`), if there are any."""

    batch: SystemYears
    schedule: SystemOperation
    steps: tuple[PlantSteps, ...]
    of_sum: Any

    @classmethod
    def of(cls, batch: SystemYears, schedule: SystemOperation) -> Neighbours:
        """Of schedules."""
        steps = tuple(PlantSteps.of(batch, schedule, place) for place in range(len(batch.system.reservoirs)))
        rows = filled_years({"inflow": np.zeros_like(batch.hm3_per_m3s), **batch.terms}).by_field
        return cls(batch, schedule, steps, rows if batch.terms else None)

    def years_of(self, place: int) -> ReservoirYears:
        """Years of the reservoir at a place, with what the sum of all is worth while the others do as they do.

        Of the supply it counts as if what it releases left the system in the same step.
        """
        years, terms, own = self.steps[place].years, self.batch.terms, self.schedule.of_reservoirs[place]
        if not terms:
            return years
        beside = {
            "power_target": terms["power_target"] - (self.schedule.power_mw - own.power_mw),
            "supply_target": terms["supply_target"] - (self.schedule.leaving_m3s - own.release_m3s),
        }
        of_sum = {name: term for name, term in terms.items() if "cost" in name}
        return years.with_terms(**of_sum, **beside)

    def _more(self, more_mw: FloatArray, beside_mw: FloatArray | float = 0.0, later: int = 0) -> FloatArray | float:
        """What more power of the sum is worth in some steps later, beside a change that is reckoned elsewhere."""
        if self.of_sum is None:
            return 0.0
        fields = [np.roll(row, -later, axis=-1) for row in self.of_sum.rows]
        rows, power = self.of_sum._replace(rows=fields), np.roll(self.schedule.power_mw, -later, axis=-1) + beside_mw

        def worth(mw: FloatArray) -> FloatArray:
            return np.asarray(stage_benefit(rows, EVERYWHERE, mw, np.full_like(mw, UNLIMITED), self.batch.hm3_per_m3s))

        return worth(power + more_mw) - worth(power + 0.0 * more_mw)

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
        return KIND_OF[link.part_and_share[0]]

    @staticmethod
    def _turbined(steps: PlantSteps, storage: FloatArray, release: FloatArray) -> FloatArray:
        head = head_at(steps.plant, storage, release, steps.rows, EVERYWHERE)
        return np.asarray(turbined_at(steps.plant, head, release, steps.rows, EVERYWHERE))

    def _value(self, steps: PlantSteps, storage: FloatArray, release: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What a plant makes of mean storages and releases, less what a release beyond its bounds costs; its power."""
        rows, penalty = steps.rows, self.batch.penalty
        lower, upper = rows.rows[RELEASE_LOWER], rows.rows[RELEASE_UPPER]
        kept = np.clip(release, lower, upper)
        power = steps.power_mw(storage, kept)
        cost = penalty * np.abs(release - kept) * rows.rows[HM3_PER_M3S] / np.maximum(rows.numbers[CAPACITY], 1.0)
        return np.asarray(steps.per_mw * power - cost - penalty * unmet_power(rows, EVERYWHERE, power)), power

    def _of_level(self, place: int, storage: FloatArray) -> FloatArray | None:
        """Worth of mean storages to the plants that the lake backs up."""
        backed = [each for each in range(place) if self.batch.system.backed_up_by(each) == place]
        if not backed:
            return None
        level, total = curve_value(self.steps[place].plant.level, storage), np.zeros_like(storage)
        for each in backed:
            steps = self.steps[each]
            given = steps.mean_storage_hm3, steps.release_m3s
            (worth, power), (before, mw) = (self._value(each, *given) for each in (steps.backed_up(level), steps))
            total += worth - before + self._more(power - mw)
        return total

    def _of_flow(self, place: int, links: list[Link], change: FloatArray) -> FloatArray:
        """Worth of changes of a flow at the source of links to all below, in the steps that they reach it.

        What the sum of all is worth follows from the plant's own power too, at the schedule's storage. Each plant and
        step is valued by itself: where parts of several steps' flows meet, their sum is not.
        """
        total, coming, power = np.zeros_like(change), dict[tuple[int, int], FloatArray](), dict[int, FloatArray]()
        self._arrive(coming, place, links, change, 0)
        for at in range(place + 1, len(self.steps)):
            for _, later in sorted(key for key in coming if key[0] == at):
                worth, more_mw = self._at(coming, at, later, coming[at, later])
                total, power[later] = total + worth, power.get(later, 0.0) + more_mw
        own = self.steps[place]
        storage, release = own.mean_storage_hm3, own.release_m3s
        own_mw = own.power_mw(storage, release + change) - own.power_mw(storage, release)
        return total + sum(self._more(more, 0.0 if later else own_mw, later) for later, more in power.items())

    def _arrive(
        self, coming: dict[tuple[int, int], FloatArray], place: int, links: list[Link], change: FloatArray, later: int
    ) -> None:
        """Add what links bring of a change at their source to what comes, by place and steps later."""
        volume, names = self.batch.hm3_per_m3s, self.batch.system.names
        for link in links:
            _, share = link.part_and_share
            for steps, part in link.parts:
                key = names.index(link.target), later + steps  # type: ignore[arg-type]
                moved = np.roll(volume, -later, axis=1) / np.roll(volume, -later - steps, axis=1)
                brought = change * (share * part * (1.0 - link.lost_share)) * moved
                coming[key] = coming[key] + brought if key in coming else brought

    def _at(
        self, coming: dict[tuple[int, int], FloatArray], place: int, later: int, change: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Worth and power of a change of what flows in some steps later, which is handed on."""
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
        (worth, power), (before, power_before) = (
            self._value(steps, storage, each) for each in (release + change, release)
        )
        below = self._links(place)
        if any(self._kind(link) != RELEASED for link in below):
            turbined = self._turbined(steps, storage, release + change) - self._turbined(steps, storage, release)
        for link in below:
            kind = self._kind(link)
            carried = change if kind == RELEASED else turbined if kind == TURBINED else change - turbined
            self._arrive(coming, place, [link], carried, later)
        return worth - before, power - power_before
