"""Dynamic programming of all reservoirs of a small system at once: exact on its storages, then ever closer ones.

The first storages are all that limits allow, as far apart in all reservoirs (`lattice`); then corridors around the best
schedule so far, each narrower than the one before. It is what other engines are compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.rows import HM3_PER_M3S
from reservoir.hydro.system import Carried
from reservoir.problems.base import Problem
from reservoir.problems.system import SystemYears
from reservoir.solvers.dp_joint.lattice import RESERVOIRS, Lattice, best_path
from reservoir.solvers.plant_steps import FloatArray, PlantSteps
from reservoir.solvers.settings import ThreadSettings, number, require_count
from reservoir.solvers.system_engine import Schedules, SystemEngine, on_threads

#: Joint storages of a grid at most, of which each costs memory in every step.
MOST_STORAGES = 10**7
#: Terms of the sum of all plants that are more than those of each.
_OF_SUM = ("power_cost", "power_cost_squared", "supply_cost_squared")
#: A part of a spacing that is no more than rounding.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class JointSettings(ThreadSettings):
    """How finely storages are divided.

    Parameters
    ----------
    states : int
        Storages of the reservoir that stores most; those of others are as far apart.
    reach : int
        Storages of a corridor to either side of the schedule.
    narrowing : float
        What corridors are narrowed by where one gains nothing.
    least_spacing : float
        Corridors end when their storages are closer than this part of what the largest can store; 1 for none.
    most_corridors : int
        At most so many.
    """

    states: int = number(41, 2, 20_001)
    reach: int = number(4, 1, 100)
    narrowing: float = number(0.5, 0.01, 0.99)
    least_spacing: float = number(1e-7, 1e-9, 1.0)
    most_corridors: int = number(200, 0, 10_000)


class JointEngine(SystemEngine[JointSettings]):
    """All reservoirs at once, as many years at a time as there are threads."""

    name = "dp-joint"
    settings_class = JointSettings

    def require_solvable(self, problems: Sequence[Problem]) -> None:
        """Refuse systems whose releases do not lie as far apart as their storages."""
        for batch in (each for each in problems[:1] if isinstance(each, SystemYears)):
            links = [link for link in batch.system.links if link.target is not None]
            simple = all(
                link.carries is Carried.ALL
                and not (link.travel_steps or link.lost_share or link.lost_m3s or link.backwater)
                for link in links
            )
            others = any(years.limits.lake for years in batch.years)
            others |= any(np.any(batch.terms[name]) for name in _OF_SUM if batch.terms)
            if not simple or others or len(batch.system.reservoirs) > RESERVOIRS:
                expected = f"at most {RESERVOIRS} reservoirs without losses, links that carry all at once, no shortages"
                raise InputError(
                    "the solver dp-joint cannot plan this system", expected, "choose the solver dpsa, slp or lshade"
                )

    def improved(self, schedules: Schedules, progress: Callable[[int], None]) -> Schedules:
        """Each year by itself."""

        def one(year: int) -> Schedules:
            some = Schedules.of(schedules.batch[year : year + 1], schedules.operation[year : year + 1])
            _improve(some, self.settings)
            return some

        found = on_threads(one, len(schedules.batch), self.settings.workers)
        for year, some in enumerate(found):
            schedules.improve(np.array([year]), some.storages_hm3)
            schedules.rounds[year], schedules.tried[year] = some.rounds[0], some.tried[0]
        progress(len(found))
        return schedules


ENGINE = JointEngine


def _improve(year: Schedules, settings: JointSettings) -> None:
    """All storages, then corridors."""
    limits = [each.limits for each in year.batch.years]
    active = [float(each.storage_upper_hm3.max() - each.storage_lower_hm3.min()) for each in limits]
    apart = max(active) / (settings.states - 1)
    level = np.repeat(year.storages_hm3[:, :, :1], year.batch.steps + 1, axis=2)
    _search(year, year.batch.operate_storages(level), level, apart, None)
    for _ in range(settings.most_corridors):
        if apart < settings.least_spacing * max(active):
            break
        before = year.fitness[0]
        _search(year, year.operation, year.storages_hm3, apart, settings.reach)
        if year.fitness[0] - before <= 1e-9 * year.scale[0]:
            apart *= settings.narrowing


def _search(year: Schedules, around: Any, centre: FloatArray, apart: float, reach: int | None) -> None:
    """Improve a year by the best path on storages around a trajectory, shape (1, reservoirs, steps + 1)."""
    batch, count = year.batch, len(year.batch.system.reservoirs)
    steps = [PlantSteps.of(batch, around, place) for place in range(count)]
    lattice, origin = _lattice(batch, steps, centre[0], apart, reach)
    shape = tuple(lattice.shape)
    require_count("joint storages", int(np.prod(lattice.shape)), MOST_STORAGES, "choose fewer states")
    values, later = np.empty(shape), np.empty(shape)
    choices = np.zeros((batch.steps, values.size), np.int32)
    path = np.zeros((RESERVOIRS, batch.steps + 1), np.int64)
    path[:, 0] = origin
    tried = best_path(lattice, values, later, choices, path)
    if tried:
        moved = (path - origin[:, np.newaxis])[RESERVOIRS - count :]
        year.improve(np.array([0]), centre + apart * moved)
    year.rounds += 1
    year.tried += tried


def _lattice(
    batch: SystemYears, plants: list[PlantSteps], centre: FloatArray, apart: float, reach: int | None
) -> tuple[Lattice, NDArray[np.int64]]:
    """The lattice around a trajectory, and the place of that in it."""
    count, steps = len(plants), batch.steps
    bounds, origin = np.zeros((2, RESERVOIRS, steps + 1), np.int64), np.zeros(RESERVOIRS, np.int64)
    releases, tables = np.zeros((2, RESERVOIRS, steps), np.int64), list[FloatArray]()
    widest = np.zeros(RESERVOIRS, np.int64)
    shape, links = np.ones(RESERVOIRS, np.int64), np.zeros((RESERVOIRS, RESERVOIRS), np.int64)
    first, volumes = RESERVOIRS - count, list[FloatArray]()
    for place, plant in enumerate(plants):
        own, limits, middle = first + place, plant.years.limits, centre[place]
        volume = plant.rows.rows[HM3_PER_M3S][0]
        local = volume * batch.years[place].limits.inflow_m3s[0]
        volumes.append(local - np.diff(middle))
        for source, _ in batch.system.into(place):
            volumes[place] = volumes[place] + volumes[source]
            links[first + source, own] = 1
        ends = limits.storage_lower_hm3[0], limits.storage_upper_hm3[0]
        if limits.cyclic:
            ends = tuple(np.append(each[:-1], middle[0]) for each in ends)  # type: ignore[assignment]
        low = np.append(0, np.ceil((ends[0] - middle[1:]) / apart - _ROUNDING)).astype(np.int64)
        high = np.append(0, np.floor((ends[1] - middle[1:]) / apart + _ROUNDING)).astype(np.int64)
        if low[-1] > high[-1]:  # a fixed end between two of them
            low[-1] = high[-1] = round((ends[0][-1] - middle[-1]) / apart)
        if reach is not None:
            low, high = np.maximum(low, -reach), np.minimum(high, reach)
        origin[own], shape[own] = -low.min(), max(high.max() - low.min(), 0) + 1
        bounds[0, own], bounds[1, own] = low + origin[own], high + origin[own]
        out = [
            (each[0] * volume - volumes[place]) / apart for each in (limits.release_lower_m3s, limits.release_upper_m3s)
        ]
        widest[own] = shape[own] - 1 + links[:, own] @ widest  # no further do releases differ
        releases[0, own] = np.maximum(np.ceil(out[0] - _ROUNDING), -widest[own])
        releases[1, own] = np.minimum(np.floor(out[1] + _ROUNDING), widest[own])
        most = (2 * int(shape[own]) - 1) * (int((releases[1, own] - releases[0, own]).max()) + 1) * steps
        require_count("storages and releases of a reservoir", most, MOST_STORAGES, "choose fewer states")
        spread = np.arange(2 * shape[own] - 1)[:, np.newaxis, np.newaxis, np.newaxis] - 2 * origin[own]
        storage = 0.5 * (middle[1:] + middle[:-1] + spread * apart)
        flows = np.arange(int((releases[1, own] - releases[0, own]).max()) + 1)[:, np.newaxis, np.newaxis]
        release = (volumes[place] + apart * (releases[0, own] + flows)) / volume
        made = plant.per_mw * plant.power_mw(storage, release)
        tables.append(np.moveaxis(made[:, :, 0], -1, 0))
    made = np.zeros((RESERVOIRS, steps, max(each.shape[1] for each in tables), max(each.shape[2] for each in tables)))
    for place, table in enumerate(tables):
        made[first + place, :, : table.shape[1], : table.shape[2]] = table
    ends_worth = np.zeros((RESERVOIRS, int(shape.max())))
    for place, worth in enumerate(batch.end_values):
        ends_worth[first + place] = worth * apart * np.arange(shape.max())
    return Lattice(shape, bounds[0], bounds[1], releases[0], releases[1], links, made, ends_worth), origin
