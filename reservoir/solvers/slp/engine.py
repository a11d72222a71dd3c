"""Successive linear programs of a system: a relaxation for the start, then programs near the best schedule so far.

Each is exact at the schedule, with its slopes and kinks (`program`); how far storages may move from it follows from how
much of what a program promised came true. All years of a batch go side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.commitments import counts_turbined
from reservoir.solvers.settings import FirstPositionsSettings, ThreadSettings, number
from reservoir.solvers.slp.highs import Solved, maximised
from reservoir.solvers.slp.program import linear_programs
from reservoir.solvers.system_engine import Places, Schedules, SystemEngine, on_threads

FloatArray = NDArray[np.float64]
#: A box is widened, or narrowed, where more, or less, than these parts of what was promised came true; more where
#: nothing did.
_KEPT, _BROKEN = 0.75, 0.25
_WIDER, _NARROWER, _MUCH_NARROWER = 1.6, 0.5, 0.35


@dataclass(frozen=True)
class SlpSettings(FirstPositionsSettings, ThreadSettings):
    """How far linear programs look.

    Parameters
    ----------
    box : float
        How far storages may first be from the schedule's, as a part of what is active.
    most_box : float
        How far at most.
    least_box : float
        A year is done whose box is smaller.
    most_programs : int
        Linear programs of a year, after the relaxation, at most.
    tolerance : float
        A year is done that is promised less than this part of its fitness.
    """

    box: float = number(0.3, 1e-6, 1.0)
    most_box: float = number(0.5, 1e-6, 1.0)
    least_box: float = number(1e-6, 1e-12, 1.0)
    most_programs: int = number(40, 1, 10_000)
    tolerance: float = number(1e-7, 0.0, 1.0)

    def first_members(self, dimension: int) -> int:
        """One schedule a year."""
        return 1


class SlpEngine(SystemEngine[SlpSettings]):
    """Successive linear programs, as many years at a time as there are threads."""

    name = "slp"
    settings_class = SlpSettings

    def improved(self, schedules: Schedules, progress: Callable[[int], None]) -> Schedules:
        """From first positions, or from the relaxation."""
        if not self.first:
            relaxed(schedules, self.settings.workers)
        successive(schedules, self.settings, lambda left: progress(len(schedules.batch) - left), self.ends)
        return schedules


ENGINE = SlpEngine


class _Programs:
    """Solves programs of years, each from where the last of the year ended, and again with prices for limits missed."""

    def __init__(self, schedules: Schedules, threads: int) -> None:
        self.of, self.threads = schedules, threads
        self.basis: list[Any] = [None] * len(schedules.batch)
        self.elastic = np.zeros(len(schedules.batch), bool)

    def solved(
        self, places: Places, box: FloatArray | None, *, spilling: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Storages of the best points, shape (places, reservoirs, steps + 1), and their values; NaN without one."""
        storages = np.full((len(places), *self.of.storages_hm3.shape[1:]), np.nan)
        values = np.full(len(places), np.nan)
        for elastic in (False, True):
            some = np.flatnonzero(self.elastic[places] == elastic)
            if not some.size:
                continue
            years = places[some]
            near = None if box is None else box[some]
            given = self.of.batch[years], self.of.operation[years], near
            programs, columns = linear_programs(*given, elastic=elastic, spilling=spilling)

            def one(row: int, programs: Any = programs, years: Places = years) -> Solved:
                return maximised(programs, row, self.basis[years[row]])

            for row, found in enumerate(on_threads(one, len(years), self.threads)):
                if found.point is None:
                    self.basis[years[row]], self.elastic[years[row]] = None, True
                    continue
                self.basis[years[row]] = found.basis
                storages[some[row]], values[some[row]] = found.point[columns], found.value
            self.of.rounds[years] += 1
        return storages, values


def relaxed(schedules: Schedules, threads: int = 1) -> FloatArray:
    """Schedules of a relaxation, where they are better; its optimum, shape (years,)."""
    every = np.arange(len(schedules.batch))
    storages, values = _Programs(schedules, threads).solved(every, None)
    able = ~np.isnan(values)
    if able.any():
        schedules.improve(every[able], storages[able])
    return values


def successive(
    schedules: Schedules,
    settings: SlpSettings,
    progress: Callable[[int], None],
    ends: Callable[[Schedules], bool] = lambda _: False,
) -> None:
    """Improve schedules until programs near them do no better; `progress` is told how many years are left."""
    programs, box = _Programs(schedules, settings.workers), np.full(len(schedules.batch), settings.box)
    left, system = np.arange(len(schedules.batch)), schedules.batch.system
    splits = any(link.is_split for link in system.links) or any(map(counts_turbined, system.reservoirs))
    idle = np.zeros(len(schedules.batch), np.int64)
    for round_ in range(settings.most_programs):
        before = schedules.fitness[left]
        storages, values = programs.solved(left, box[left], spilling=splits and round_ % 2 == 1)
        unsolved = np.isnan(values)
        gains = np.full(len(left), -np.inf)
        if not unsolved.all():
            gains[~unsolved] = schedules.improve(left[~unsolved], storages[~unsolved])
        gained = schedules.fitness[left] > before
        promised = np.maximum(values - before, 1e-12)
        kept = np.where(gained, gains / promised, -np.inf)
        factor = np.where(kept > _KEPT, _WIDER, np.where(kept < _BROKEN, _NARROWER, 1.0))
        box[left] = np.minimum(box[left] * np.where(gained, factor, _MUCH_NARROWER), settings.most_box)
        box[left[unsolved]] = settings.box
        little = promised < settings.tolerance * schedules.scale[left]
        idle[left] = np.where(little & ~unsolved, idle[left] + 1, 0)
        left = left[(idle[left] <= splits) & (box[left] >= settings.least_box)]
        progress(len(left))
        if not left.size or ends(schedules):
            break
