"""What dynamic programming of all reservoirs of a small system does whatever makes its recursion.

The first storages are all that limits allow, as far apart in all reservoirs (`lattice`); then corridors around the best
schedule so far, each narrower than the one before. It is what other engines are compared with.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.system import Carried
from reservoir.problems.base import Problem
from reservoir.problems.system import SystemYears
from reservoir.solvers.dp_joint.lattice import RESERVOIRS, ROUNDING, IntArray, Lattice, lattice_around
from reservoir.solvers.plant_steps import FloatArray, PlantSteps
from reservoir.solvers.settings import Settings, number, require_count
from reservoir.solvers.system_engine import Places, Schedules, SystemEngine, on_threads

#: What a year may have at most: joint storages in all its steps, numbers of a reservoir's table, transitions.
MOST_STORAGES, MOST_NUMBERS, MOST_TRANSITIONS = 2 * 10**8, 10**7, 10**12
#: Transitions of the first grid and of a corridor, about, where settings do not choose how fine they are.
USUAL_TRANSITIONS, USUAL_OF_CORRIDOR = 250_000_000, 20_000_000
#: The finest that are chosen so.
USUAL_STATES, USUAL_REACH = 41, 4
#: Terms of the sum of all plants that are more than those of each.
_OF_SUM = ("power_cost", "power_cost_squared", "supply_cost_squared")


@dataclass(frozen=True)
class JointSettings(Settings):
    """How finely storages are divided.

    Parameters
    ----------
    states : int, optional
        Storages of the reservoir that stores most; those of others are as far apart. If not given 41, or fewer for a
        year to have 250 million transitions at most.
    reach : int, optional
        Storages of a corridor to either side of the schedule; if not given 4, or fewer for 20 million transitions.
    narrowing : float
        What corridors are narrowed by where one gains nothing.
    least_spacing : float
        Corridors end when their storages are closer than this part of what the largest can store; 1 for none.
    most_corridors : int
        At most so many.
    """

    states: int | None = number(None, 2, 20_001)
    reach: int | None = number(None, 1, 100)
    narrowing: float = number(0.5, 0.01, 0.99)
    least_spacing: float = number(1e-7, 1e-9, 1.0)
    most_corridors: int = number(200, 0, 10_000)


class Size(NamedTuple):
    """What a grid of a year comes to, about and at most."""

    numbers: int
    storages: int
    transitions: int

    def require(self, mend: str) -> None:
        """Refuse what would take too much memory or too long."""
        require_count("storages and releases of a reservoir", self.numbers, MOST_NUMBERS, mend)
        require_count("joint storages of all steps", self.storages, MOST_STORAGES, mend)
        require_count("transitions between joint storages", self.transitions, MOST_TRANSITIONS, mend)


def size_of(batch: SystemYears, states: int, reach: int | None = None) -> Size:
    """The size of the first grid of so many states, or of a corridor in it."""
    active = active_hm3(batch).max(axis=0)
    apart, widest = active.max() / (states - 1), list[int]()
    sums, most_flows, storages, transitions = 1, 1, batch.steps, batch.steps
    for place, years in enumerate(batch.years):
        stored = int(active[place] / apart + ROUNDING) + 1 if reach is None else 2 * reach + 1
        widest.append(stored - 1 + sum(widest[source] for source, _ in batch.system.into(place)))
        span = (years.limits.release_upper_m3s - years.limits.release_lower_m3s).max() * batch.hm3_per_m3s.max()
        flows = int(min(widest[place], span / apart if reach is None else np.inf)) + 1
        sums, most_flows = max(sums, 2 * stored - 1), max(most_flows, flows)
        storages *= stored
        transitions *= stored * min(stored, flows)
    return Size(sums * most_flows * batch.steps, storages, transitions)


def active_hm3(batch: SystemYears) -> FloatArray:
    """What each reservoir can store between its bounds, at least next to nothing, shape (years, reservoirs)."""
    limits = [each.limits for each in batch.years]
    active = [each.storage_upper_hm3.max(axis=1) - each.storage_lower_hm3.min(axis=1) for each in limits]
    return np.asarray(np.maximum(np.stack(active, axis=1), 1e-9))


def fineness(batch: SystemYears, settings: JointSettings) -> tuple[int, int]:
    """States of the first grid and the reach of corridors: as set, or what the transitions of a year leave room for.

    Raises
    ------
    InputError
        If what is set would take too much memory or too long.
    """
    states, reach = settings.states, settings.reach
    if states is None:
        fine = range(USUAL_STATES, 2, -1)
        states = next((each for each in fine if size_of(batch, each).transitions <= USUAL_TRANSITIONS), 2)
    size_of(batch, states).require(f"choose fewer states than {states}")
    if reach is None:
        wide = range(USUAL_REACH, 1, -1)
        reach = next((each for each in wide if size_of(batch, states, each).transitions <= USUAL_OF_CORRIDOR), 1)
    size_of(batch, states, reach).require(f"choose a reach below {reach}")
    return states, reach


S = TypeVar("S", bound=JointSettings)


class JointSearch(SystemEngine[S]):
    """All reservoirs at once, some years together."""

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
                    f"the solver {self.name} cannot plan this system",
                    expected,
                    "choose the solver dpsa, slp or lshade",
                )

    def improved(self, schedules: Schedules, progress: Callable[[int], None]) -> Schedules:
        """Some years together, each as if it were alone. A stop leaves out those whose first grid is not searched."""
        states, reach = fineness(schedules.batch, self.settings)
        schedules.chosen = {"states": states, "reach": reach}
        sizes = size_of(schedules.batch, states), size_of(schedules.batch, states, reach)
        parts = self.parts(schedules.batch, Size(*map(max, *sizes)))
        lock, begun, done = Lock(), dict[int, Schedules](), set[int]()

        def one(place: int) -> Schedules:
            some = Schedules.of(schedules.batch[parts[place]], schedules.operation[parts[place]])

            def ends() -> bool:
                with lock:  # told of the years that have a schedule, in the order in which they came to one
                    begun[place] = some
                    return self.ends_with(np.concatenate([each.fitness for each in begun.values()]))

            if not self.ended:
                self._improve(some, states, reach, ends)
                done.add(place)
                if len(done) < len(parts):
                    ends()
            return some

        found, count = on_threads(one, len(parts), self.threads), 0
        for part, some in takewhile(lambda each: each[1].rounds.all(), zip(parts, found, strict=True)):
            schedules.improve(part, some.storages_hm3)
            schedules.rounds[part], schedules.tried[part] = some.rounds, some.tried
            count += len(part)
        progress(count)
        return schedules.first(count)

    @abstractmethod
    def parts(self, batch: SystemYears, largest: Size) -> list[Places]:
        """Places of the years that are searched together."""

    @abstractmethod
    def best_paths(self, of: Lattice, origin: IntArray) -> tuple[IntArray, NDArray[np.int64]]:
        """The best path of each year from its origin, shape (years, 4, steps + 1), and the transitions tried.

        They are 0 where limits leave no path.
        """

    def _improve(self, some: Schedules, states: int, reach: int, ends: Callable[[], bool]) -> None:
        """All storages, then corridors, until the caller ends the call."""
        settings, active = self.settings, active_hm3(some.batch).max(axis=1)
        apart, left = active / (states - 1), np.arange(len(some.batch))
        level = np.repeat(some.storages_hm3[:, :, :1], some.batch.steps + 1, axis=2)
        self._search(some, left, some.batch.operate_storages(level), level, apart, None)
        for _ in range(settings.most_corridors):
            left = left[apart[left] >= settings.least_spacing * active[left]]
            if not left.size or ends():
                break
            before = some.fitness[left]
            self._search(some, left, some.operation[left], some.storages_hm3[left], apart[left], reach)
            apart[left[some.fitness[left] - before <= 1e-9 * some.scale[left]]] *= settings.narrowing

    def _search(
        self, some: Schedules, left: Places, around: Any, centre: FloatArray, apart: FloatArray, reach: int | None
    ) -> None:
        """Improve years by their best paths on storages around trajectories, shape (years, reservoirs, steps + 1)."""
        batch, count = some.batch[left], len(some.batch.system.reservoirs)
        plants = [PlantSteps.of(batch, around, place) for place in range(count)]
        lattice, origin = lattice_around(batch, plants, centre, apart, reach)
        paths, tried = self.best_paths(lattice, origin)
        moved = (paths - origin[:, :, np.newaxis])[:, RESERVOIRS - count :]
        some.improve(left[tried > 0], (centre + apart[:, np.newaxis, np.newaxis] * moved)[tried > 0])
        some.rounds[left] += 1
        some.tried[left] += tried
