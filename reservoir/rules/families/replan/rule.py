"""Re-planning with an ensemble: every month, many futures are drawn given what is known, and all of them are solved.

The value of the storage at the end of the month is the mean of what the futures' dynamic programs say it is worth, so
that all releases of the month are judged at once (as sampling stochastic dynamic programming; Kelman et al. 1990,
Water Resour. Res. 26:447; Faber and Stedinger 2001, J. Hydrol. 249:113). What is left at the end of the look-ahead is
worth what stochastic dynamic programming says (`Sdp`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.families.replan.step_tables import step_tables, withdrawals
from reservoir.rules.families.sdp.month_physics import Physics
from reservoir.rules.families.sdp.rule import Sdp, best_release
from reservoir.rules.inflow_model.inflow_classes import shares
from reservoir.rules.inflow_model.model import InflowModel
from reservoir.rules.inflow_model.random_numbers import uniform_numbers
from reservoir.solvers.ensemble_dp.engine import ensemble_values
from reservoir.solvers.ensemble_dp.tables import StepTables

#: Futures of a decision, and months of each that are drawn: without a forecast, the first is the month itself. Each
#: future is solved as if it were known, which overrates what can be made of stored water, the more the longer it is: on
#: unseen years of the bundled case, 2 drawn months make 97.51 % of perfect foresight (96.67 % without a forecast), 3
#: make 97.50 % (96.63 %), and 12 made 97.25 %.
MEMBERS, MONTHS_DRAWN = 200, 2
MOST_MEMBERS, MOST_MONTHS_AHEAD = 10_000, 60
SEED = 1
#: Futures that are solved at once.
MOST_FUTURES = 200_000

#: A decision: its step and the inflows that are known, the latest first.
Key = tuple[int, tuple[float, ...]]


class Replan(Rule):
    """A rule that takes the release of most energy over the mean of many futures.

    Parameters
    ----------
    end : Sdp
        What a storage at the end of the look-ahead is worth; its physics are the rule's.
    inflow : InflowModel
        What futures are drawn from.
    members, months_ahead : int
        Futures of a decision, and months of each behind the month that is decided.
    seed : int
        Of the random numbers; a decision in a month always has the same.
    """

    family: Literal["replan"]
    end: Sdp
    inflow: InflowModel
    members: Annotated[int, Field(strict=True, ge=1, le=MOST_MEMBERS)]
    months_ahead: Annotated[int, Field(strict=True, ge=1, le=MOST_MONTHS_AHEAD)]
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**32)]

    def changed(self, **values: int) -> Replan:
        """The same rule with other members, months ahead or seed; one that has solved nothing yet."""
        return Replan(**{name: getattr(self, name) for name in type(self).model_fields} | values)

    @cached_property
    def tables(self) -> StepTables:
        """The months of a water year as the dynamic programs read them."""
        return step_tables(self.end.physics)

    @cached_property
    def _withdrawals(self) -> FloatArray:
        return withdrawals(self.end.physics)

    @cached_property
    def _kept(self) -> dict[Key, tuple[FloatArray, FloatArray]]:
        return {}

    def release(self, step: int, storage_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float) -> float:
        """Release of the highest mean value over all futures."""
        inflow, values = self._outcomes(step, inflow_now_m3s, inflow_before_m3s)
        probability = np.full(len(inflow), 1 / len(inflow))
        return best_release(self.end.physics, step, storage_hm3, inflow, probability, self.tables.grid_hm3, values)

    def water_value(
        self, step: int, end_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float
    ) -> float | None:
        """Slope of the mean value over all futures."""
        values = self._outcomes(step, inflow_now_m3s, inflow_before_m3s)[1]
        return _slope_at(self.tables.grid_hm3, values.mean(axis=1), end_hm3)

    @property
    def physics(self) -> Physics:
        """What a release comes to."""
        return self.end.physics

    def _outcomes(self, step: int, now: float | None, before: float) -> tuple[FloatArray, FloatArray]:
        """Inflows (m3/s) that may come in the step, and the values of storages after each (storages, inflows)."""
        key = self._key(step, now, before)
        if key not in self._kept:
            self._solve([key])
        return self._kept[key]

    def prepare(
        self, steps: NDArray[np.int64], inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> None:
        """Solve the futures of decisions that will be asked for, all at once."""
        now = [None] * len(steps) if inflow_now_m3s is None else inflow_now_m3s.tolist()
        keys = [self._key(*each) for each in zip(steps.tolist(), now, inflow_before_m3s.tolist(), strict=True)]
        missing = [key for key in dict.fromkeys(keys) if key not in self._kept]
        at_once = max(MOST_FUTURES // self.members, 1)
        for first in range(0, len(missing), at_once):
            self._solve(missing[first : first + at_once])

    def _key(self, step: int, now: float | None, before: float) -> Key:
        known = self.forecast is Forecast.MONTH and now is not None
        return step, (float(now), float(before)) if known else (float(before),)  # type: ignore[arg-type]

    def futures(self, step: int, known_m3s: tuple[float, ...], months: int) -> FloatArray:
        """Inflows (m3/s) that a decision of a step reckons with, shape (members, months).

        Known flows are the latest first: of two, that of the step itself; of one alone, that of the step before.
        The first months are the same however many there are.
        """
        begin = (step + (len(known_m3s) == 2)) % self.tables.steps
        made: FloatArray = self.inflow.futures(begin, np.array([known_m3s]), self._uniform(step, months))[0]
        return made

    def _solve(self, keys: list[Key]) -> None:
        futures = self._futures(keys)
        known = len(keys[0][1]) == 2
        ahead = futures if known else futures[:, :, 1:]
        steps = np.array([(step + 1) % self.tables.steps for step, _ in keys], np.int32)
        months = ahead.reshape(-1, self.months_ahead)
        first = np.repeat(steps, self.members)
        steps_ahead = (first[:, None] + np.arange(self.months_ahead)) % self.tables.steps
        gains = months - self._withdrawals[steps_ahead]
        values = ensemble_values(self.tables, gains, first, self._ends(first, months[:, -1]))
        for place, key in enumerate(keys):
            of_members = values[place * self.members : (place + 1) * self.members].astype(np.float64).T
            if known:
                self._kept[key] = np.array(key[1][:1]), of_members.mean(axis=1, keepdims=True)
            else:
                self._kept[key] = futures[place, :, 0], of_members

    def _futures(self, keys: list[Key]) -> FloatArray:
        """Inflows (m3/s) from the first month that is not known, shape (decisions, members, months)."""
        known = len(keys[0][1])
        months = self.months_ahead + (known == 1)
        made = np.empty((len(keys), self.members, months))
        steps = np.array([step for step, _ in keys])
        for step in np.unique(steps):
            places = np.flatnonzero(steps == step)
            seen = np.array([keys[place][1] for place in places])
            begin = (int(step) + (known == 2)) % self.tables.steps
            made[places] = self.inflow.futures(begin, seen, self._uniform(int(step), months))
        return made

    def _uniform(self, step: int, months: int) -> FloatArray:
        numbers = self.tables.steps + months
        return uniform_numbers(self.seed, 0, self.members, 1, numbers, stream=step + 1)[:, 0]

    def _ends(self, first_step: NDArray[np.int32], last_m3s: FloatArray) -> NDArray[np.float32]:
        """Value of each storage at the end of each future, shape (futures, states)."""
        grid, classes, _, values = self.end.arrays
        after = (first_step + self.months_ahead) % self.tables.steps
        found = np.empty((len(after), self.tables.states), np.float32)
        for step in np.unique(after):
            places = np.flatnonzero(after == step)
            at_grid = np.array([np.interp(self.tables.grid_hm3, grid, column) for column in values[step].T])
            found[places] = shares(classes[step - 1], last_m3s[places]) @ at_grid
        return found


def fit(training: Training, forecast: Forecast) -> Replan:
    """Fit the inflow model, and stochastic dynamic programming for the ends of the futures."""
    from reservoir.rules.families.sdp.rule import fit as fit_sdp

    return Replan.fitted(
        training,
        forecast,
        end=fit_sdp(training, forecast),
        inflow=InflowModel.of(training),
        members=MEMBERS,
        months_ahead=MONTHS_DRAWN if forecast is Forecast.MONTH else MONTHS_DRAWN - 1,
        seed=SEED,
    )


def _slope_at(grid: FloatArray, values: FloatArray, storage: float) -> float:
    """Slope of values by storage, both of shape (storages,), in the interval of the grid that a storage lies in."""
    left = int(np.clip(np.searchsorted(grid, storage) - 1, 0, len(grid) - 2))
    return float((values[left + 1] - values[left]) / (grid[left + 1] - grid[left]))
