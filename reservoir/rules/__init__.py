"""Monthly operation rules: families fitted to optimised years, and their simulation on any record.

A family is one module with a class of rules and ``fit(training, forecast) -> Rule``, and one line in `FAMILIES`
(``docs/examples/rule_family.py`` is a whole one).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from reservoir.errors import InputError, Mistake
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import Training

__all__ = ["FAMILIES", "Family", "Forecast", "Rule", "Training", "fit", "rule_from_dict"]


@dataclass(frozen=True)
class Family:
    """A registry entry: a module (dotted path) with a class of rules, named `rule`, and a function that fits it.

    Modules are imported when a rule is fitted or read: the one of the class alone, where `fitter` is in another.

    Parameters
    ----------
    name, module, rule, summary : str
    fitter : str, optional
        Dotted path of the function; by default `fit` in `module`.
    """

    name: str
    module: str
    rule: str
    summary: str
    fitter: str = ""

    def fit(self, training: Training, forecast: Forecast) -> Rule:
        """Fit a rule to optimised years."""
        module, _, function = (self.fitter or f"{self.module}.fit").rpartition(".")
        rule: Rule = getattr(import_module(module), function)(training, forecast)
        return rule

    def from_dict(self, content: object) -> Rule:
        """Read back what a rule's `to_dict` gave; raises InputError with every mistake in it."""
        rule: Rule = getattr(import_module(self.module), self.rule).from_dict(content)
        return rule


#: Name, class by its module in `families`, summary, and the function that fits it where that is in another module.
_FAMILIES: tuple[tuple[str, ...], ...] = (
    (
        "guide-curve",
        "linear.GuideCurve",
        "end each month at the median of the optimised storages",
        "linear.fit_guide_curve",
    ),
    ("linear", "linear.LinearRule", "end each month at a storage linear in the start storage and the inflows"),
    (
        "linear-search",
        "linear.LinearSearchRule",
        "the linear rule, its factors then optimised for simulated energy",
        "linear_operation.fit",
    ),
    ("zones", "zones.ZonesRule", "dispatch chart: the zone of the storage sets the output", "zones_operation.fit"),
    ("sdp", "sdp.Sdp", "stochastic dynamic programming: most energy now plus expected later"),
    (
        "water-value",
        "sdp.WaterValue",
        "release while a hm3 makes more energy now than a table says it is worth in store",
        "sdp.fit_water_values",
    ),
    ("replan", "replan.Replan", "re-planned every month with many futures drawn given what is known"),
    (
        "ann-regression",
        "ann.AnnRegressionRule",
        "neural network fitted to the plan: the first stage of ann",
        "ann_training.fit_regression",
    ),
    ("ann", "ann.AnnRule", "the same neural network, then trained for simulated energy", "ann_training.fit"),
    (
        "standard",
        "zones.StandardRule",
        "standard operating policy, firm power while water lasts: the weak baseline",
        "zones.fit_standard",
    ),
)


def _in_package(name: str, rule: str, summary: str, fitter: str = "") -> Family:
    module, _, of_rule = rule.partition(".")
    here = f"{__name__}.families."
    return Family(name, here + module, of_rule, summary, here + (fitter or f"{module}.fit"))


FAMILIES: dict[str, Family] = {row[0]: _in_package(*row) for row in _FAMILIES}

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
