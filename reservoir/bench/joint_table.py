"""The joint table: what both storages of two reservoirs together are worth, as a yardstick for separable water values.

Stochastic dynamic programming over the storages of both, with the inflow classes and the physics of the separable
values that it begins with. What the table holds is how much more or less both are worth together than the separable
values say: that has no kinks at which decisions would end.
"""

from __future__ import annotations

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
    def of(cls, rule: Separable, system: System, states: int = STATES) -> Self:
        """The table of the classes of a rule: decisions and their values in turn until a year's mean settles."""
        steps, classes = rule._chain[0].shape
        own = {name: getattr(rule, name) for name in Separable.model_fields}
        table = cls(**own, together=np.zeros((steps, states, states, classes)))
        for _ in range(_DECIDED):
            before, table = table.yearly, cls(**own, **table._of_decisions(system))
            if abs(table.yearly - before) <= _SETTLED * abs(table.yearly):
                break
        return table

    def _of_decisions(self, system: System) -> dict[str, Any]:
        """What decisions by this table are worth, if they are those of all years."""
        (_, chain, local), (steps, *_, classes) = self._chain, self.together.shape
        storage = np.stack([each.ravel() for each in np.meshgrid(*self._grids, indexing="ij")])
        upper = np.array([site.storage_upper_hm3 for site in self.sites])
        every, count = storage.repeat(classes, axis=1), storage.shape[1]  # and each class of the inflow
        share, apart, rises = np.tile(np.eye(classes), (count, 1)), self._apart(storage), 0.0
        inflow = [np.tile(local[:, step], count) for step in range(steps)]
        decided = [self.decisions(system, step, every, inflow[step], share, upper[:, step]) for step in range(steps)]
        values = self.together.reshape(steps, -1, classes) + apart
        for _ in range(_YEARS):
            first = values[0].copy()
            for step in reversed(range(steps)):
                after, each = (step + 1) % steps, decided[step]
                beyond = (values[after] - apart[after]).reshape(self.together.shape[1:])
                left = (each.made + self._worth(after, share, each.end, beyond)).reshape(-1, classes)
                values[step] = left @ chain[step].T
            rises = float((values[0] - first).mean())
            values -= values[0].mean()
        return {"together": (values - apart).reshape(self.together.shape), "yearly": rises}

    @property
    def _grids(self) -> list[FloatArray]:
        """Storages of each reservoir that the table has."""
        count = self.together.shape[1]
        return [np.linspace(min(each.storage_lower_hm3), max(each.storage_upper_hm3), count) for each in self.sites]

    def _apart(self, storage: FloatArray) -> FloatArray:
        """The separable values of storages at the start of steps, shape (steps, situations, classes)."""
        smooth = zip(storage, (site._smooth for site in self.sites), strict=True)
        return np.asarray(sum(interpolate_values(grid, each, own[None, :, None]) for own, (grid, each) in smooth))

    def _worth(self, after: int, share: FloatArray, storages: Any, together: FloatArray) -> FloatArray:
        """What both storages at the start of a step are worth, shape (..., situations), by the shares of classes."""
        total: Any = _between(self._grids, together @ share.T, storages)
        for own, site in zip(storages, self.sites, strict=True):
            grid, values = site._smooth
            of_situations = interpolate_values(grid, (share @ values[after].T)[..., np.newaxis], own.T[..., np.newaxis])
            total = total + of_situations[..., 0].T
        return np.asarray(total)

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
        months, link, after = [site.months for site in self.sites], system.links[0], (step + 1) % len(self.together)
        part = at_once(link)

        def come_to(asked: list[FloatArray]) -> tuple[FloatArray, list[FloatArray], FloatArray]:
            made, inflow, ends = np.zeros(1), local[0], list[FloatArray]()
            for place, site in enumerate(self.sites):
                end, kept, own = site.outcome(step, storage[place], asked[place], inflow, upper[place])
                made, ends = made + own, [*ends, end]
                if not place:
                    inflow = local[1] + brings(link, 0.0, link.of_release(kept, kept))
            return made, ends, inflow

        def worth(asked: list[FloatArray]) -> FloatArray:
            made, ends, _ = come_to(asked)
            return made + self._worth(after, share, ends, self.together[after])

        first = months[0].within_bounds(step, local[0])
        asked = [first, months[1].within_bounds(step, local[1] + part * first)]
        best = worth(asked)
        for _ in range(_ROUNDS):
            before = best
            for place, passing in ((0, False), (0, True), (1, False)):
                held, inflow = list(asked), come_to(asked)[2] if place else local[0]
                tried = self.sites[place].tried_releases(step, storage[place], inflow, inflow, _TRIED, upper[place])
                for _ in range(_NEARER):
                    moved = [each[np.newaxis] for each in held]
                    moved[place] = tried
                    if passing:
                        moved[1] = months[1].within_bounds(step, held[1] + part * (tried - held[0]))
                    values = worth(moved)
                    at = values.argmax(axis=0)[np.newaxis]

                    better, best = _at(values, at) > best, np.maximum(best, _at(values, at))
                    asked = [np.where(better, _at(new, at), old) for new, old in zip(moved, asked, strict=True)]
                    nearest, farthest = (_at(tried, (at + side).clip(0, _TRIED - 1)) for side in (-1, 1))
                    tried = np.linspace(nearest, farthest, _TRIED)
            if np.all(best - before <= _GAINED * np.abs(best)):
                break
        made, stored, _ = come_to(asked)
        return Decided(np.stack(asked), np.stack(stored), made)


def _at(tried: FloatArray, place: Any) -> FloatArray:
    """Of what was tried, or held, what is at a place along the first axis."""
    return np.asarray(tried[0] if len(tried) == 1 else np.take_along_axis(tried, place, 0)[0])


def _between(grids: list[FloatArray], values: FloatArray, storages: Any) -> FloatArray:
    """Values of two storages in each situation, by straight lines along both between those of even grids."""
    corners, parts = list[Any](), list[FloatArray]()
    for own, grid in zip(storages, grids, strict=True):
        place = np.clip((own - grid[0]) * ((len(grid) - 1) / (grid[-1] - grid[0])), 0, len(grid) - 1)
        corners.append(np.minimum(place.astype(np.int64), len(grid) - 2))
        parts.append(place - corners[-1])
    (row, column), (down, across), every = corners, parts, np.arange(values.shape[2])
    left = values[row, column, every] * (1 - down) + values[row + 1, column, every] * down
    right = values[row, column + 1, every] * (1 - down) + values[row + 1, column + 1, every] * down
    return np.asarray(left * (1 - across) + right * across)
