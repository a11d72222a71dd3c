"""Standard operating policy: the firm output while water lasts, and nothing held back for later; the weak baseline.

Maass et al. 1962, Design of Water-Resource Systems. The release makes the firm power at the month's start storage;
what does not fit under the upper bound of the storage is released too, by the simulation's repair.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from reservoir.rules.base.fields import NotNegative, Numbers, Rising, as_long_as
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import FloatArray, Training

_POINTS = 41


class StandardRule(Rule):
    """Release (m3/s) that makes the firm power, by storage (hm3), joined by straight lines."""

    family: Literal["standard"]
    firm_mw: NotNegative
    storage_hm3: Rising
    release_m3s: Annotated[Numbers, as_long_as("storage_hm3")]

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """Releases that make the firm power at the start storage, whatever flows in."""
        return self.months.within_bounds(step, np.interp(storage_hm3, self.storage_hm3, self.release_m3s))


def fit(training: Training, forecast: Forecast) -> StandardRule:
    """Take what is guaranteed as firm power; without that, what this policy gives in nine months of ten."""
    # An operator with a rule does not wait for what fitting needs.
    from reservoir.hydro.power import releases_for_power
    from reservoir.rules.base.targets import Targets

    plant, firm = training.model.reservoir, Targets.of(training).firm_mw
    storages = np.linspace(plant.storage_lower_hm3.min(), plant.storage_upper_hm3.max(), _POINTS)
    releases = releases_for_power(plant, storages, np.array([firm]))[0]
    return StandardRule.fitted(training, forecast, firm_mw=firm, storage_hm3=storages, release_m3s=releases)
