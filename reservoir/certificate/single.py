"""A reservoir of a system by itself: what links bring it is free within bounds, and has a price (`system`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from reservoir.certificate.bound import Bracketing, Effort, ProvenBound, prove_bound
from reservoir.certificate.boxes import loss_jet, release_of, turbined_between
from reservoir.certificate.cells import first_intervals
from reservoir.certificate.reachable import Reachable, reachable
from reservoir.certificate.stages import (
    FREE_LOWER,
    FREE_UPPER,
    RELEASE_LOWER,
    RELEASE_UPPER,
    SPARE,
    Stages,
    freed,
    stages_of,
)
from reservoir.certificate.tables import FloatArray, cell_values, demand_penalty, fill_values, follow_values, grid_of
from reservoir.hydro.curves.enclosures import enclose, enclose_conversion, multiply_jets
from reservoir.hydro.curves.intervals import add, subtract
from reservoir.hydro.jit import compiled_as_written
from reservoir.hydro.limits import EXACT_MARGIN
from reservoir.hydro.plant import Plant, plant_with_cursors
from reservoir.hydro.rows import YearRows
from reservoir.hydro.system import Carried, Link
from reservoir.problems.reservoir.plant_source import plant_numbers
from reservoir.problems.reservoir.rows import kernel_rows
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.problems.system import SystemYears
from reservoir.solvers.dp.free_flow import FreeFlow, fill_best, with_high_lake

#: Part of the range of a storage by which a path is far from another.
_FAR = 0.02
#: Part of the gap of a reservoir that the widths of parts of the free flow may take.
_OF_SLACK = 0.3

#: What missing a demand costs, as a multiple of full load: where best releases are told, and on paths.
DEMANDS = 1.0, 3.0

#: A release and what the turbines take of it, shape (steps,) each, or a pair of bounds of each.
Flows = Any
#: Shares of a release, and of what the turbines take of it, that links carry.
_PARTS = {Carried.ALL: (1.0, 0.0), Carried.TURBINED: (0.0, 1.0), Carried.SPILLED: (1.0, -1.0)}


class LinkFlow(NamedTuple):
    """What a link brings: ``brings @ flow + fixed``, less a constant loss, and its range.

    Parameters
    ----------
    source, target : int
        Places of the reservoirs.
    parts : tuple of float
        How much of the release, and of what the turbines take of it, its flow is a share of.
    share : float
    brings : ndarray, shape (steps, steps)
        m3/s that arrive in a step of a m3/s of that flow in another.
    fixed : ndarray, shape (steps,)
        What is under way at the start.
    lost_m3s : float
    """

    source: int
    target: int
    parts: tuple[float, float]
    share: float
    brings: FloatArray
    fixed: FloatArray
    lost_m3s: float

    @classmethod
    def of(cls, batch: SystemYears, link: Link) -> LinkFlow:
        """Of a link of a year."""
        names, volume = batch.system.names, batch.hm3_per_m3s
        source = names.index(link.source)
        begins_anywhere = batch.system.reservoirs[source].initial_storage_hm3 is None
        open_link, wraps = replace(link, lost_m3s=0.0), begins_anywhere and batch.years[source].limits.cyclic
        fixed = open_link.arriving_m3s(np.zeros_like(volume), volume, wraps=wraps)[0]
        each, volumes = np.eye(batch.steps), np.repeat(volume, batch.steps, axis=0)
        part, share = link.part_and_share
        brings = (open_link.arriving_m3s(share * each, volumes, wraps=wraps) - fixed).T
        return cls(source, names.index(str(link.target)), _PARTS[part], share, brings, fixed, link.lost_m3s)

    def flow(self, flows: Flows) -> FloatArray:
        """What it is of a release, and of what the turbines take of it."""
        of_release, of_turbined = self.parts
        return np.asarray(of_release * flows[0] + of_turbined * flows[1])

    def between(self, flows: Flows) -> tuple[FloatArray, FloatArray]:
        """Bounds of its flow, from those of a release and of what the turbines take."""
        released, (least, most) = flows
        lower, upper = self.flow((released[0], most)), self.flow((released[1], least))
        if self.parts[1] > 0:
            lower, upper = self.flow((released[0], least)), self.flow((released[1], most))
        return np.maximum(lower, 0.0), upper

    def arriving(self, flow_m3s: FloatArray) -> FloatArray:
        """What arrives of its flow."""
        return np.maximum(self.brings @ flow_m3s + self.fixed - self.lost_m3s, 0.0)

    def line(self, price: FloatArray, flows: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Slope and level of a line in what arrives before the constant loss that, times a price, is no less.

        What arrives is never below 0: where it may be 0 it is convex, so that the chord is above it and it is above
        both of its pieces.
        """
        low, high = (self.brings @ each + self.fixed - self.lost_m3s for each in flows)
        width = np.maximum(high - low, 1e-300)
        chord = np.where(low >= 0, 1.0, np.where(high <= 0, 0.0, np.maximum(high, 0.0) / width))
        below = np.where(low + high > 0, 1.0, 0.0)
        slope = np.where(price > 0, chord, below)
        level = np.where(price > 0, np.where(low >= 0, 0.0, -slope * low), 0.0)
        return slope, level + slope * (self.fixed - self.lost_m3s)


@dataclass(frozen=True, eq=False)
class Single:
    """A reservoir of a year of a system by itself.

    Parameters
    ----------
    year : ReservoirYears
        One year, with its local inflow.
    stages : Stages
    flows : tuple of ndarray, shape (steps,)
        Bounds of what links bring.
    known : Reachable
        From any start that the limits allow.
    released : tuple of pairs of ndarray, shape (steps,)
        Bounds of its release, and of what the turbines take of it.
    grid : ndarray, shape (steps + 1, states)
        Storages, dense near the schedule's.
    path_hm3 : ndarray, shape (steps + 1,)
        Those of the schedule.
    rows : YearRows
        The year as compiled code reads it; a cyclic one with an end that does not depend on its start (`priced`).
    high_m : ndarray, shape (steps,), or None
        How high a lake below may be whose level is priced.
    """

    year: ReservoirYears
    stages: Stages
    flows: tuple[FloatArray, FloatArray]
    known: Reachable
    released: Flows
    grid: FloatArray
    path_hm3: FloatArray
    rows: YearRows
    high_m: FloatArray | None = None

    @classmethod
    def of(
        cls,
        year: ReservoirYears,
        flows: tuple[FloatArray, FloatArray],
        path_hm3: FloatArray,
        tailwater: tuple[FloatArray, FloatArray] | None = None,
        released: Flows | None = None,
        *,
        level_priced: bool = False,
    ) -> Single:
        """Of bounds of what flows in, a schedule's storages, and bounds of the level of a lake that backs it up.

        Bounds of what it releases are given where more than the year's own are to count. A lake whose level has a price
        is as low as it may be but for what the price says (`power_rises`).
        """
        if tailwater is not None:
            year = replace(year, limits=year.limits.linked(None, tailwater[0]))
        nothing = np.zeros_like(flows[0])
        stages, high_m = freed(stages_of(year.limits), FreeFlow.between(flows, (nothing,) * 4, (0.0, 1.0))), None
        if tailwater is not None and level_priced:
            high_m = tailwater[1]
        elif tailwater is not None:
            stages = stages.changed(tailwater_most=tailwater[1])
        known, bounds = reachable(year.limits, stages), released
        if bounds is None:
            bounds = np.empty((2, 2, len(nothing)))
            _release_bounds(year.model.exact, stages, known.lower, known.upper, bounds)
        grid = grid_of(first_intervals(known, path_hm3, cyclic=False))
        rows = replace(year.limits, cyclic=False).arrays()
        return cls(year, stages, flows, known, bounds, grid, path_hm3, rows, high_m)

    def priced(
        self, price: FloatArray, paid: FloatArray, levels: FloatArray | tuple[()], kept: float = 0.0
    ) -> FreeFlow:
        """The free flow at prices, of water and of levels, of which the best releases are not told yet (`best`).

        Of a cyclic year, what is in store at its end is paid and what is at its start is charged (``kept``): where that
        makes the best path least, it ends about where it starts. What is proved knows no such price.
        """
        mean = 0.5 * (self.grid[:-1] + self.grid[1:])
        free = FreeFlow.between(self.flows, (price, *paid), (mean.min(), mean.max()))
        return free._replace(levels=levels, kept=kept)

    def best(self, free: FreeFlow) -> Path:
        """The best path at prices, of which the best releases are filled in."""
        penalty = demand_penalty(self.year, DEMANDS[0])
        fill_best(plant_with_cursors(self.year.model.exact), with_high_lake(self.rows, free), free, penalty)
        found = self._best_on(self.grid, free)
        near = self.grid_near(found)
        return found if near is None else max(found, self._best_on(near, free), key=lambda path: path.worth)

    def grid_near(self, found: Path) -> FloatArray | None:
        """The grid with storages that are dense near a path, too; None where the schedule's is not far from it."""
        away = np.abs(found.storages_hm3 - self.path_hm3)
        if not np.any(away > _FAR * (self.grid[:, -1] - self.grid[:, 0])) or not np.isfinite(found.worth):
            return None
        near = grid_of(first_intervals(self.known, found.storages_hm3, cyclic=False))
        return np.sort(np.append(self.grid, near, axis=1))

    @cached_property
    def kernel_year(self) -> FloatArray:
        """The year as kernels read it, which count demands that are missed as where best releases are told."""
        model, penalty = self.year.model, demand_penalty(self.year, DEMANDS[0])
        return np.asarray(kernel_rows(self.year.limits, EXACT_MARGIN, penalty, plant_numbers(model.reservoir)), float)

    def end_value(self, free: FreeFlow) -> float:
        """What a hm3 is worth at the end, and costs at the start."""
        return float(free.kept) + (float(self.rows.end_value) if self.rows.lake else 0.0)

    def _best_on(self, grid: FloatArray, free: FreeFlow) -> Path:
        plant, penalty = plant_with_cursors(self.year.model.exact), demand_penalty(self.year, DEMANDS[1])
        values, feasible, steps = np.empty(grid.shape), np.empty(grid.shape[1], bool), len(free.lower)
        of_end, rows = self.end_value(free), with_high_lake(self.rows, free)
        values[-1] = of_end * grid[-1]
        fill_values(plant, rows, grid, penalty, (), values, feasible, free)
        storages, flows = np.zeros(steps + 1), np.zeros((6, steps))
        storages[0] = grid[0, np.argmax(np.where(feasible, values[0] - of_end * grid[0], -np.inf))]
        worth = follow_values(plant, rows, grid, penalty, values, free, storages, flows)
        return self.path(free, worth, storages, flows)

    def path(self, free: FreeFlow, worth: float, storages: FloatArray, flows: FloatArray) -> Path:
        """What `follow_values` has filled in, and the worth of its steps."""
        worth += self.end_value(free) * (storages[-1] - storages[0])
        return Path(worth, storages, flows[:2], flows[2], flows[3], flows[4:])

    def returning(self, free: FreeFlow, path: Path) -> Path:
        """The best path of a cyclic year that ends where it starts; of other years, their path.

        Of starts, both ends of a path that may end elsewhere are tried, and the schedule's. Best releases are told; and
        what is kept has no price.
        """
        if not self.year.limits.cyclic or not np.isfinite(path.worth):
            return path
        starts = np.unique([path.storages_hm3[0], path.storages_hm3[-1], self.path_hm3[0]])
        each = (self._from(start, free._replace(kept=0.0), path.storages_hm3) for start in starts)
        found = [held for held in each if held is not None and np.isfinite(held.worth)]
        return max(found, key=lambda held: held.worth, default=path)

    def _from(self, start_hm3: float, free: FreeFlow, path_hm3: FloatArray) -> Path | None:
        """The best path from a storage that ends there, near another; None if none does."""
        limits = self.year.limits.starting_at(start_hm3)
        known = reachable(limits, self.stages)
        if known.empty_step is not None:
            return None
        grids = [grid_of(first_intervals(known, near, cyclic=False)) for near in (self.path_hm3, path_hm3)]
        held = replace(self, rows=replace(limits, cyclic=False).arrays())
        return held._best_on(np.sort(np.concatenate(grids, axis=1)), free)

    def proven(
        self, free: FreeFlow, path: Path, effort: Effort, least: float | None = None, by: Bracketing | None = None
    ) -> ProvenBound:
        """The bound at prices, near a path, of all that is worth more than the path or than a least worth."""
        known = path.worth if np.isfinite(path.worth) else None
        storages = path.storages_hm3 if known is not None else self.path_hm3
        known = known if least is None else least
        values = partial(cell_values, free=free)
        slack = _OF_SLACK * effort.gap * effort.least_scale / len(free.lower)
        return prove_bound(self.year, storages, known, effort, values, freed(self.stages, free, slack), by)


class Path(NamedTuple):
    """The best of a reservoir by itself: release and what the turbines take of it, power, and the free flow.

    Last, how much above their lowest priced levels are, of the lake below and its own, m.
    """

    worth: float
    storages_hm3: FloatArray
    released_m3s: Flows
    power_mw: FloatArray
    flow_m3s: FloatArray
    levels_m: FloatArray


@compiled_as_written
def _release_bounds(plant: Plant, stages: Stages, lower: FloatArray, upper: FloatArray, bounds: FloatArray) -> None:
    """Bounds of the release of each step, and of what the turbines take, between bounds of storages."""
    for step in range(bounds.shape[2]):
        start, end = (lower[step], upper[step]), (lower[step + 1], upper[step + 1])
        mean = (0.5 * (start[0] + end[0]) - 1e-9 * abs(end[0]), 0.5 * (start[1] + end[1]) + 1e-9 * abs(end[1]))
        lost = loss_jet(stages.rows, stages.lake, step, mean)[0]
        net = release_of(stages, step, subtract(end, start), lost)
        free = stages.rows[FREE_LOWER, step], stages.rows[FREE_UPPER, step]
        release = add(net, free)
        least = min(max(stages.rows[RELEASE_LOWER, step], release[0]), stages.rows[RELEASE_UPPER, step])
        most = max(min(stages.rows[RELEASE_UPPER, step], release[1]), least) + stages.rows[SPARE, step]
        turbined = turbined_between(plant, stages, step, mean, (least, most))
        bounds[0, 0, step], bounds[0, 1, step] = least, most
        bounds[1, 0, step], bounds[1, 1, step] = turbined


@compiled_as_written
def level_bounds(plant: Plant, storages: FloatArray, spare: float, levels: FloatArray) -> None:
    """Bounds of the level of each step, from those of the storages at its start and at its end."""
    for step in range(levels.shape[1]):
        lower = 0.5 * (storages[0, step] + storages[0, step + 1]) - spare
        upper = 0.5 * (storages[1, step] + storages[1, step + 1]) + spare
        levels[0, step], levels[1, step] = enclose(plant.level, (lower, upper))[0]


#: Parts of the range of heads on which power is shown to rise; what counts as no fall, as a part of what there is.
_HEADS, _NO_FALL = 400, 1e-12


@compiled_as_written
def power_rises(plant: Plant, storages: tuple[float, float], releases: tuple[float, float], tailwater: float) -> bool:
    """Whether power never falls with the head, of a m3/s and of all that the turbines let through."""
    forebay, tail = enclose(plant.level, storages)[0], enclose(plant.tailrace, releases)[0]
    lowest, highest = forebay[0] - max(tail[1], tailwater), forebay[1] - tail[0]
    for part in range(_HEADS):
        head = (
            lowest + (highest - lowest) * (part / _HEADS),
            lowest + (highest - lowest) * ((part + 1.0) / _HEADS),
        )
        per = enclose_conversion(plant.conversion, head)
        for made in (per, multiply_jets(per, enclose(plant.capacity, head))):
            if not made[1][0] >= -_NO_FALL * abs(made[0][1]):
                return False
    return True
