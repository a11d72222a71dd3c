"""The joint table: what both storages of two reservoirs together are worth, as a yardstick for separable water values.

Stochastic dynamic programming over the storages of both, with the inflow classes and the physics of the separable
values that it begins with. What the table holds is how much more or less both are worth together than the separable
values say: that has no kinks at which decisions would end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from reservoir.hydro.system import System
from reservoir.rules.base.physics import interpolate_values
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.separable import Separable, at_once, brings

#: Storages of each reservoir.
STATES = 25
#: Releases compared at a time, and how often it is looked between the best one's neighbours; and rounds of all.
_TRIED, _NEARER, _ROUNDS = 15, 3, 4
#: What a round must gain, as a part of the worth, for another to follow.
_GAINED = 1e-9
#: The table has converged when decisions of a new table change the mean of a year by less than this part.
_SETTLED, _DECIDED = 1e-5, 6
#: Years after which the values of decisions are known, each the last one's mean beyond the first.
_YEARS = 30


class Decided(NamedTuple):
    """Releases and storages at the end, shape (2, situations), and what they make in the step, shape (situations,)."""

    asked: FloatArray
    end: FloatArray
    made: FloatArray


class JointTable(Separable):
    """A rule of two reservoirs, one above the other, whose link brings water within the step.

    Parameters
    ----------
    together : ndarray, shape (steps, storages, storages, classes)
        What both storages at the start of a step are worth beyond the separable values, by the class of the step
        before, in the unit of the objective.
    yearly : float
        Mean of a year by the table, in that unit: an estimate and no bound.
    """

    together: Any
    yearly: float = 0.0

    @classmethod
    def of(
        cls, rule: Separable, system: System, states: int = STATES, told: Callable[[float], None] = lambda part: None
    ) -> Self:
        """The table of the classes of a rule: decisions and their values in turn until a year's mean settles.

        Which part of the decisions that it may come to are made is told in each step.
        """
        steps, classes = rule._chain[0].shape
        own = {name: getattr(rule, name) for name in Separable.model_fields}
        table = cls(**own, together=np.zeros((steps, states, states, classes)))
        for done in range(_DECIDED):
            before, year = table.yearly, list[Decided]()
            for step in range(steps):
                told((done + step / steps) / _DECIDED)
                year.append(table._of_grid(system, step))
            table = cls(**own, **table._of_decisions(year))
            if abs(table.yearly - before) <= _SETTLED * abs(table.yearly):
                break
        told(1.0)
        return table

    def _of_grid(self, system: System, step: int) -> Decided:
        """Decisions at all storages of the table, and in each class of the inflow."""
        (_, _, local), classes = self._chain, self.together.shape[3]
        storage = self._storages
        every, share = storage.repeat(classes, axis=1), np.tile(np.eye(classes), (storage.shape[1], 1))
        upper = np.array([site.storage_upper_hm3[step] for site in self.sites])
        return self.decisions(system, step, every, np.tile(local[:, step], storage.shape[1]), share, upper)

    def _of_decisions(self, year: Sequence[Decided]) -> dict[str, Any]:
        """What decisions of each step are worth (`_of_grid`), if they are those of all years."""
        (_, chain, _), (steps, *_, classes) = self._chain, self.together.shape
        storage, rises = self._storages, 0.0
        apart, own = self._apart(storage), np.tile(np.arange(classes), storage.shape[1])
        share, known = np.eye(classes)[own], list[tuple[FloatArray, Any, FloatArray]]()
        for step, each in enumerate(year):  # what is made and left by the separable values; and where, in the table
            cell, part = _corners(self._grids, each.end)
            left = _added(self._separable((step + 1) % steps, share), each.end)
            known.append((each.made + left, cell * classes + own, part))
        values = self.together.reshape(steps, -1, classes) + apart
        for _ in range(_YEARS):
            first = values[0].copy()
            for step in reversed(range(steps)):
                after, (gained, place, part) = (step + 1) % steps, known[step]
                beyond = (values[after] - apart[after]).ravel()
                values[step] = (gained + (beyond[place] * part).sum(axis=0)).reshape(-1, classes) @ chain[step].T
            rises = float((values[0] - first).mean())
            values -= values[0].mean()
        return {"together": (values - apart).reshape(self.together.shape), "yearly": rises}

    @property
    def _grids(self) -> list[FloatArray]:
        """Storages of each reservoir that the table has."""
        count = self.together.shape[1]
        return [np.linspace(min(each.storage_lower_hm3), max(each.storage_upper_hm3), count) for each in self.sites]

    @property
    def _storages(self) -> FloatArray:
        """All pairs of them, shape (2, pairs)."""
        return np.stack([each.ravel() for each in np.meshgrid(*self._grids, indexing="ij")])

    def _apart(self, storage: FloatArray) -> FloatArray:
        """The separable values of storages at the start of steps, shape (steps, situations, classes)."""
        smooth = zip(storage, (site._smooth for site in self.sites), strict=True)
        return np.asarray(sum(interpolate_values(grid, each, own[None, :, None]) for own, (grid, each) in smooth))

    def _separable(self, after: int, share: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Of each reservoir, storages and their values at the start of a step, (situations, storages, 1), by shares."""
        smooth = (site._smooth for site in self.sites)
        return [(grid, (share @ values[after].T)[..., np.newaxis]) for grid, values in smooth]

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
        """As of `Separable`, with the inflow of the step."""
        local: Any = local_m3s
        share = self.known_by(step, local[:, np.newaxis])
        return self.decisions(system, step, storage_hm3[:, np.newaxis], local[:, np.newaxis], share, upper_hm3).asked[
            :, 0
        ]

    def decisions(
        self, system: System, step: int, storage: FloatArray, local: FloatArray, share: FloatArray, upper: FloatArray
    ) -> Decided:
        """The best releases of situations; storages and inflow of shape (2, situations), shares (situations, classes).

        As of `Separable`, each release is tried with the other held, and the upper one with the change passed on below.
        """
        months, after = [site.months for site in self.sites], (step + 1) % len(self.together)
        worth = self._separable(after, share), self._grids, self.together[after] @ share.T
        every = Situations(self, system, step, storage, local, upper, *worth)
        first = months[0].within_bounds(step, local[0])
        asked = np.stack([first, months[1].within_bounds(step, local[1] + every.part * first)])
        best, left = every.worth(list(asked)), np.arange(len(first))
        for _ in range(_ROUNDS):
            before = best[left]
            some = every.some(left) if len(left) < len(first) else every
            asked[:, left], best[left] = some.bettered(asked[:, left], before)
            left = left[best[left] - before > _GAINED * np.abs(best[left])]
            if not len(left):
                break
        made, stored, _ = every.come_to(list(asked))
        return Decided(asked, np.stack(stored), made)


@dataclass(frozen=True, eq=False)
class Situations:
    """Situations of a step that are decided; see `JointTable.decisions`.

    Parameters
    ----------
    table, system, step, storage, local, upper
    separable : list of tuple of ndarray
        Of each reservoir, storages and what they are worth at the end, shape (situations, storages, 1).
    grids : list of ndarray
    together : ndarray, shape (storages, storages, situations)
        What both at the end are worth beyond that.
    """

    table: JointTable
    system: System
    step: int
    storage: FloatArray
    local: FloatArray
    upper: FloatArray
    separable: list[tuple[FloatArray, FloatArray]]
    grids: list[FloatArray]
    together: FloatArray

    def some(self, places: Any) -> Situations:
        """Those at some places."""
        separable = [(grid, values[places]) for grid, values in self.separable]
        of_each = {name: getattr(self, name)[..., places] for name in ("storage", "local", "together")}
        return replace(self, separable=separable, **of_each)

    @property
    def part(self) -> float:
        """Part of the upper release that comes to the lower lake within the step."""
        return at_once(self.system.links[0])

    def come_to(self, asked: list[FloatArray]) -> tuple[FloatArray, list[FloatArray], FloatArray]:
        """What releases make, the storages at the end, and what flows into the lower lake."""
        link, made, inflow, ends = self.system.links[0], np.zeros(1), self.local[0], list[FloatArray]()
        for place, site in enumerate(self.table.sites):
            end, kept, own = site.outcome(self.step, self.storage[place], asked[place], inflow, self.upper[place])
            made, ends = made + own, [*ends, end]
            if not place:
                inflow = self.local[1] + brings(link, 0.0, link.of_release(kept, kept))
        return made, ends, inflow

    def worth(self, asked: list[FloatArray]) -> FloatArray:
        """What releases make, and what they leave is worth."""
        made, ends, _ = self.come_to(asked)
        cell, part = _corners(self.grids, ends)
        flat = self.together.reshape(-1, self.together.shape[2])
        beyond = (flat[cell, np.arange(flat.shape[1])] * part).sum(axis=0)
        return np.asarray(made + _added(self.separable, ends) + beyond)

    def bettered(self, asked: Any, best: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Better releases where there are any, and what they are worth: each tried once over its range."""
        months, step = [site.months for site in self.table.sites], self.step
        for place, passing in ((0, False), (0, True), (1, False)):
            held, inflow = list(asked), self.come_to(asked)[2] if place else self.local[0]
            site = self.table.sites[place]
            tried = site.tried_releases(step, self.storage[place], inflow, inflow, _TRIED, self.upper[place])
            for _ in range(_NEARER):
                moved = [each[np.newaxis] for each in held]
                moved[place] = tried
                if passing:
                    moved[1] = months[1].within_bounds(step, held[1] + self.part * (tried - held[0]))
                values = self.worth(moved)
                at = values.argmax(axis=0)[np.newaxis]
                better, best = _at(values, at) > best, np.maximum(best, _at(values, at))
                asked = [np.where(better, _at(new, at), old) for new, old in zip(moved, asked, strict=True)]
                nearest, farthest = (_at(tried, (at + side).clip(0, _TRIED - 1)) for side in (-1, 1))
                tried = np.linspace(nearest, farthest, _TRIED)
        return np.stack(asked), best


def _at(tried: FloatArray, place: Any) -> FloatArray:
    """Of what was tried, or held, what is at a place along the first axis."""
    return np.asarray(tried[0] if len(tried) == 1 else np.take_along_axis(tried, place, 0)[0])


def _added(separable: list[tuple[FloatArray, FloatArray]], storages: Any) -> FloatArray:
    """What storages of each reservoir are worth apart, shape (..., situations)."""
    pairs = zip(separable, storages, strict=True)
    return np.asarray(
        sum(interpolate_values(grid, values, own.T[..., np.newaxis])[..., 0].T for (grid, values), own in pairs)
    )


def _corners(grids: list[FloatArray], storages: Any) -> tuple[Any, FloatArray]:
    """Cells of a table around two storages, along a new first axis, and their parts in straight lines along both."""
    cells, parts = [np.zeros((), np.int64)], [np.ones(())]
    for own, grid in zip(storages, grids, strict=True):
        place = np.clip((own - grid[0]) * ((len(grid) - 1) / (grid[-1] - grid[0])), 0, len(grid) - 1)
        low = np.minimum(place.astype(np.int64), len(grid) - 2)
        cells = [cell * len(grid) + low + up for cell in cells for up in (0, 1)]
        parts = [part * (place - low if up else 1 - place + low) for part in parts for up in (0, 1)]
    return np.stack(cells), np.stack(parts)
