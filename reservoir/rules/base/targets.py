"""What an operation should reach: the energy of a year and the power of a month."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reservoir.hydro.calendar import HOURS_PER_YEAR
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.members import FIRM_QUANTILE
from reservoir.rules.base.training import Training


@dataclass(frozen=True)
class Targets:
    """Energy of a year (GWh) and power of a month (MW) that should be reached.

    ``guaranteed`` says whether the reservoir's file states the energy; otherwise the plan's own poorest months do.
    """

    annual_gwh: float
    firm_mw: float
    guaranteed: bool

    @classmethod
    def of(cls, training: Training) -> Targets:
        """The guaranteed energy, as steady power; without one, what the plan makes in nine months of ten."""
        guaranteed = cls.of_reservoir(training.model.reservoir)
        if guaranteed is not None:
            return guaranteed
        firm = float(np.quantile(training.power_mw, FIRM_QUANTILE))
        return cls(firm * HOURS_PER_YEAR / 1000, firm, False)

    @classmethod
    def of_reservoir(cls, reservoir: Reservoir) -> Targets | None:
        """The guaranteed energy, as steady power; None where the reservoir guarantees none."""
        energy = reservoir.guaranteed_energy_gwh
        return None if energy is None else cls(energy, energy * 1000 / HOURS_PER_YEAR, True)
