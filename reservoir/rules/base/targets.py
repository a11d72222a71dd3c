"""What an operation should reach: the energy of a year and the power of a month."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.hydro.calendar import HOURS_PER_YEAR
from reservoir.hydro.reservoir import Reservoir
from reservoir.rules.base.training import Training

#: Parts of the months that give the firm power, where nothing is guaranteed.
SHARE, STRICTER_SHARE = 0.90, 0.95
#: Where the targets come from, in words.
GUARANTEED_POWER = "the guaranteed power of the reservoir"
PROMISED_POWER = "the firm power of the objective"
GUARANTEED_ENERGY = "the guaranteed energy of the reservoir"
FIRM_POWER = f"firm power: the largest that the standard operating policy gives in {100 * SHARE:g} % of the months"


@dataclass(frozen=True)
class Targets:
    """Energy of a year (GWh) and power of a month (MW) that should be reached.

    ``firm_95_mw`` is the power at the stricter share of months. Both are the same where the reservoir's file
    guarantees a power or an energy, as ``guaranteed`` says; ``origin`` says where they come from.
    """

    annual_gwh: float
    firm_mw: float
    firm_95_mw: float
    guaranteed: bool
    origin: str

    @classmethod
    def of(cls, training: Training) -> Targets:
        """What is guaranteed; without that, the firm power of the training years."""
        guaranteed = cls.of_reservoir(training.model.reservoir)
        if guaranteed is not None:
            return guaranteed
        # Compiled code, for which an operator with a rule does not wait.
        from reservoir.rules.base.firm_yield import firm_power_at

        firm, stricter = (firm_power_at(training, share) for share in (SHARE, STRICTER_SHARE))
        return cls(firm * HOURS_PER_YEAR / 1000, firm, stricter, False, FIRM_POWER)

    @classmethod
    def of_reservoir(cls, reservoir: Reservoir) -> Targets | None:
        """The guaranteed power, that of the objective, or the guaranteed energy as steady power; None without one."""
        power, energy = reservoir.guaranteed_power_mw, reservoir.guaranteed_energy_gwh
        origin = GUARANTEED_POWER if power is not None else PROMISED_POWER
        power = reservoir.objective.firm_power_mw if power is None else power
        if power is not None:
            annual = power * HOURS_PER_YEAR / 1000 if energy is None else energy
            return cls(annual, power, power, True, origin)
        if energy is None:
            return None
        steady = energy * 1000 / HOURS_PER_YEAR
        return cls(energy, steady, steady, True, GUARANTEED_ENERGY)
