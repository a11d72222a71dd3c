"""Re-planning with an ensemble forecast that somebody made, in place of futures drawn from the inflow model."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.replan.rule import Key, Replan


class ReplanOnForecast(Replan):
    """A rule that re-plans with given futures; of the month that is decided, it knows them alone.

    Parameters
    ----------
    forecast_m3s : tuple of tuple of float
        Inflow of each member, from the month that is decided on. Behind them each member goes on as the inflow model
        draws it, given its last flows.
    """

    forecast_m3s: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, rule: Replan, flow_m3s: FloatArray) -> ReplanOnForecast:
        """A rule with futures of shape (members, months)."""
        values = {name: getattr(rule, name) for name in type(rule).model_fields}
        values |= {"members": len(flow_m3s), "forecast": Forecast.NONE, "forecast_m3s": flow_m3s.tolist()}
        return cls(**values)

    @cached_property
    def _given(self) -> FloatArray:
        return np.array(self.forecast_m3s)

    def futures(self, step: int, known_m3s: tuple[float, ...], months: int) -> FloatArray:
        """Inflows (m3/s) from the step that is decided on, shape (members, months)."""
        given = self._given[:, :months]
        more = months - given.shape[1]
        if more == 0:
            return given
        before = np.full((len(given), 1), known_m3s[0])
        latest = np.concatenate([before, given], axis=1)[:, :-3:-1]
        begin = (step + given.shape[1]) % self.tables.steps
        made = self.inflow.futures(begin, latest, self._uniform(step, more)[:, None])[:, 0]
        return np.concatenate([given, made], axis=1)

    def _futures(self, keys: list[Key]) -> FloatArray:
        return np.stack([self.futures(step, known, self.months_ahead + 1) for step, known in keys])
