"""Monthly operation rules: families fitted to optimised years, and their simulation on any record.

A family is one module with a class of rules and ``fit(training, forecast) -> Rule``, and one line in `FAMILIES`
(``docs/examples/rule_family.py`` is a whole one).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import Training

__all__ = ["FAMILIES", "Family", "Forecast", "Rule", "Training", "fit", "rule_from_dict"]


@dataclass(frozen=True)
class Family:
    """A registry entry: a module (dotted path) with a class of rules, named `rule`, and its ``fit``.

    The module is imported when a rule is fitted or read.
    """

    name: str
    module: str
    rule: str
    summary: str

    def fit(self, training: Training, forecast: Forecast) -> Rule:
        """Fit a rule to optimised years."""
        found: Rule = self._module.fit(training, forecast)
        return found

    def from_dict(self, content: object) -> Rule:
        """Read back what a rule's `to_dict` gave; raises InputError with every mistake in it."""
        found: Rule = getattr(self._module, self.rule).from_dict(content)
        return found

    @property
    def _module(self) -> Any:
        return import_module(self.module)


FAMILIES: dict[str, Family] = {
    name: Family(name, f"{__name__}.families.{module}", rule, summary)
    for name, module, rule, summary in (
        ("guide-curve", "guide_curve", "GuideCurve", "end each month at the median of the optimised storages"),
        (
            "linear",
            "linear.rule",
            "LinearRule",
            "end each month at a storage linear in the start storage and the inflows",
        ),
        (
            "linear-search",
            "linear.search",
            "LinearSearchRule",
            "the linear rule, its factors then optimised for simulated energy",
        ),
        ("zones", "zones.rule", "ZonesRule", "dispatch chart: the zone of the storage sets the output"),
        ("sdp", "sdp.rule", "Sdp", "stochastic dynamic programming: most energy now plus expected later"),
        (
            "water-value",
            "water_value.rule",
            "WaterValue",
            "release while a hm3 makes more energy now than a table says it is worth in store",
        ),
        ("replan", "replan.rule", "Replan", "re-planned every month with many futures drawn given what is known"),
        (
            "ann-regression",
            "ann.regression",
            "AnnRegressionRule",
            "neural network fitted to the plan: the first stage of ann",
        ),
        ("ann", "ann.rule", "AnnRule", "the same neural network, then trained for simulated energy"),
        (
            "standard",
            "standard",
            "StandardRule",
            "standard operating policy, firm power while water lasts: the weak baseline",
        ),
    )
}


#: What `fit` does, and what takes its place to keep fits.
Fitter = Callable[[str, Training, Forecast], Rule]


def fit(family: str, training: Training, forecast: Forecast = Forecast.MONTH) -> Rule:
    """Fit a rule of a family to optimised years.

    Raises
    ------
    InputError
        If there is no such family.
    """
    return _family(family).fit(training, Forecast(forecast))


def rule_from_dict(content: object) -> Rule:
    """Read back a rule of any family from what its `to_dict` gave.

    Raises
    ------
    InputError
        With every mistake in it.
    """
    if not isinstance(content, dict):
        raise InputError(
            Mistake("is not a rule", "an object with the family of the rule and its values", value=content)
        )
    if "family" not in content:
        raise InputError(Mistake("is missing", _families(), column="family"))
    return _family(content["family"], column="family").from_dict(content)


def _families() -> str:
    return f"one of {', '.join(FAMILIES)}"


def _family(name: object, column: str = "") -> Family:
    if not isinstance(name, str) or name not in FAMILIES:
        raise InputError(
            Mistake("there is no such family of rules", _families(), "choose one of them", column=column, value=name)
        )
    return FAMILIES[name]
