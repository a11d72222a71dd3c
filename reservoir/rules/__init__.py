"""Monthly operation rules: families fitted to optimised years, and their simulation on any record.

A family is one module with ``fit(training, forecast) -> Rule`` and one line in `FAMILIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.rules import guide_curve, linear, sdp, standard, zones
from reservoir.rules.rule import Forecast, Rule
from reservoir.rules.training import Training

__all__ = ["FAMILIES", "Family", "Forecast", "Rule", "Training", "fit", "rule_from_dict"]


@dataclass(frozen=True)
class Family:
    """A registry entry: how a family is fitted, and how one of its rules is read back."""

    name: str
    summary: str
    fit: Callable[[Training, Forecast], Rule]
    from_dict: Callable[[Mapping[str, Any]], Rule]


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "guide-curve",
            "end each month at the median of the optimised storages",
            guide_curve.fit,
            guide_curve.GuideCurve.from_dict,
        ),
        Family(
            "linear",
            "end each month at a storage linear in what is known",
            linear.fit,
            linear.LinearRule.from_dict,
        ),
        Family(
            "zones",
            "make the output of the zone that the storage falls in: the dispatch chart",
            zones.fit,
            zones.ZonesRule.from_dict,
        ),
        Family(
            "sdp",
            "take the release of most energy now and expected later: stochastic dynamic programming",
            sdp.fit,
            sdp.Sdp.from_dict,
        ),
        Family(
            "standard",
            "make the firm power while water lasts: the weak baseline",
            standard.fit,
            standard.StandardRule.from_dict,
        ),
    )
}


def fit(family: str, training: Training, forecast: Forecast = Forecast.MONTH) -> Rule:
    """Fit a rule of a family to optimised years.

    Raises
    ------
    InputError
        If there is no such family.
    """
    return _family(family).fit(training, Forecast(forecast))


def rule_from_dict(content: Mapping[str, Any]) -> Rule:
    """Read back a rule of any family from what its `to_dict` gave."""
    return _family(str(content.get("family"))).from_dict(content)


def _family(name: str) -> Family:
    if name not in FAMILIES:
        raise InputError(Mistake("there is no such family of rules", ", ".join(FAMILIES), "choose one", value=name))
    return FAMILIES[name]
