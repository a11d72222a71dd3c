"""What a hm3 is worth: kept in the reservoir, and through the plant now."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reservoir.rules.advice import Advice, Situation
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.families.sdp.month_physics import Physics

#: The volume whose worth is told, hm3.
_VOLUME = 1.0


@dataclass(frozen=True)
class MarginalWorth:
    """The worth of one hm3 around a decision, in the unit of the objective: GWh per hm3 where that is energy.

    ``kept`` is what one hm3 more at the end of the month is worth later, by the table of the family ``source``. One hm3
    less released would make ``last`` less now, and one more ``more``: the two differ where the turbines are just full
    or the head falls. A decision is right where ``kept`` lies between them, unless a limit holds it.
    """

    source: str
    kept: float
    last: float
    more: float


def marginal_worth(rule: Rule, situation: Situation, advice: Advice) -> MarginalWorth | None:
    """Weigh a decision with the values of water that a rule knows; None of a rule that knows none.

    Parameters
    ----------
    rule : Rule
        Not necessarily the one that decided.
    situation : Situation
    advice : Advice
        The decision.
    """
    known = situation.inflow_m3s if rule.forecast is Forecast.MONTH else None
    kept = rule.water_value(situation.step, advice.end_storage_hm3, known, situation.inflow_before_m3s)
    physics = rule.physics
    if kept is None or physics is None:
        return None
    less, now, more = _made_now(physics, situation, advice.release_m3s)
    return MarginalWorth(rule.family, kept, (now - less) / _VOLUME, (more - now) / _VOLUME)


def _made_now(physics: Physics, situation: Situation, release_m3s: float) -> list[float]:
    """What the month makes with a hm3 less released than decided, with the release decided, and with a hm3 more.

    Without the cost of violations: that says what a limit costs, not what water makes.
    """
    flow = _VOLUME / physics.months.volume_per_flow[situation.step]
    releases = np.maximum(release_m3s + np.array([-flow, 0.0, flow]), 0.0)
    made: list[float] = physics.made(situation.step, situation.storage_hm3, releases, situation.inflow_m3s).tolist()
    return made
