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
from reservoir.text.quantities import near_names

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
    spill_reason : str, optional
        Why a rule lets water past the turbines where no limit makes it, in words.
    price_of : str, optional
        Family whose price on months that fall short of a promise is tried first (`reservoir.rules.reliability`).
    follows_plan : bool
        Whether it is fitted to the plan alone, so that no such price changes it.
    """

    name: str
    module: str
    rule: str
    summary: str
    fitter: str = ""
    spill_reason: str = "the rule asks for it"
    price_of: str = ""
    follows_plan: bool = False

    def fit(self, training: Training, forecast: Forecast) -> Rule:
        """Fit a rule to optimised years."""
        module, _, function = (self.fitter or f"{self.module}.fit").rpartition(".")
        rule: Rule = getattr(import_module(module), function)(training, forecast)
        return rule

    def from_dict(self, content: object) -> Rule:
        """Read back what a rule's `to_dict` gave; raises InputError with every mistake in it."""
        rule: Rule = getattr(import_module(self.module), self.rule).from_dict(content)
        return rule


# fmt: off
_OF_STORAGE = "the rule aims at a storage that is linear in storage and inflow, not at what the turbines take"
_OF_VALUES = "by its values, water kept would bring no more later, since much of it would spill then"
_OF_OUTPUT = "the rule releases what makes its output at the storage of the month's first day"
_OF_NETWORK = "its network releases a fraction of what is feasible, as it learnt"
#: Name, class and the function that fits it in modules of `families`, what it does, why it spills, with whose price of
#: a promise it begins, and whether it follows the plan.
_FAMILIES = (
    ("guide-curve", "linear.GuideCurve", "linear.fit_guide_curve",
        "end each month at the median of the optimised storages",
        "the rule aims at the storage of its curve, not at what the turbines take", "", True),
    ("linear", "linear.LinearRule", "linear.fit",
        "end each month at a storage linear in the start storage and the inflows", _OF_STORAGE, "", True),
    ("linear-search", "linear.LinearSearchRule", "linear_operation.fit",
        "the linear rule, its factors then optimised for simulated energy", _OF_STORAGE, "", False),
    ("zones", "zones.ZonesRule", "zones_operation.fit", "dispatch chart: the zone of the storage sets the output",
        _OF_OUTPUT, "", False),
    ("sdp", "sdp.Sdp", "sdp.fit", "stochastic dynamic programming: most energy now plus expected later",
        _OF_VALUES, "", False),
    ("water-value", "sdp.WaterValue", "sdp.fit_water_values",
        "release while a hm3 makes more energy now than a table says it is worth in store", _OF_VALUES, "sdp", False),
    ("replan", "replan.Replan", "replan.fit", "re-planned every month with many futures drawn given what is known",
        _OF_VALUES, "sdp", False),
    ("ann-regression", "ann.AnnRegressionRule", "ann_training.fit_regression",
        "neural network fitted to the plan: the first stage of ann", _OF_NETWORK, "sdp", True),
    ("ann", "ann.AnnRule", "ann_training.fit", "the same neural network, then trained for simulated energy",
        _OF_NETWORK, "sdp", False),
    ("standard", "zones.StandardRule", "zones.fit_standard",
        "standard operating policy, firm power while water lasts: the weak baseline", _OF_OUTPUT, "", True),
)
# fmt: on
_HOME = f"{__name__}.families"
FAMILIES: dict[str, Family] = {
    name: Family(name, f"{_HOME}.{of.split('.')[0]}", of.split(".")[1], does, f"{_HOME}.{fits}", spills, price, follows)
    for name, of, fits, does, spills, price, follows in _FAMILIES
}

#: The family of rules of all reservoirs of a system together (`families.separable`).
OF_SYSTEMS = "separable"

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
        raise InputError("is not a rule", "an object with the family of the rule and its values", value=content)
    if "family" not in content:
        raise InputError("is missing", f"one of {', '.join(FAMILIES)}", column="family")
    if "sites" in content:
        raise InputError(_of_systems(content["family"], "family"))
    return _family(content["family"], column="family").from_dict(content)


def _family(name: object, column: str = "") -> Family:
    if not isinstance(name, str) or name not in FAMILIES:
        raise InputError(unknown_family(name, column))
    return FAMILIES[name]


def _of_systems(name: object, column: str) -> Mistake:
    problem, mend = "is a family of rules of several reservoirs", "give the file or the plan of their system"
    return Mistake(problem, "a family of one reservoir", mend, column=column, value=name)


def unknown_family(name: object, column: str = "") -> Mistake:
    """Refuse a name that no family has, with those that are near."""
    if name == OF_SYSTEMS:
        return _of_systems(name, column)
    near = near_names(str(name), {each.name: each.summary for each in FAMILIES.values()})
    mend = f"write {' or '.join(near)}" if near else "choose one of them"
    return Mistake("there is no such family of rules", f"one of {', '.join(FAMILIES)}", mend, column=column, value=name)
