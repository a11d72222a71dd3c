"""What the objective of a plan comes to, in words."""

from __future__ import annotations

import numpy as np

from reservoir.hydro.objectives import Objective
from reservoir.planning.plan import Plan
from reservoir.text.quantities import quantity


def objective_sentence(plan: Plan) -> str:
    """What is optimised and what it comes to, of the years that keep their limits; empty if it is energy."""
    objective = plan.objective
    if objective.is_energy:
        return ""
    if objective.is_firm:
        return f"{objective.title}: {firm_power_sentence(plan)}"
    kept = plan.benefit[plan.keeps_limits]
    if not kept.size:
        return objective.title
    one = plan.year_word
    each = f"{_amount(objective, kept.mean())} a {one} ({_range(objective, kept)})"
    whole = "" if plan.start else f"{_amount(objective, kept.sum())}, "
    firm = "" if objective.firm_power_mw is None else f"; {firm_power_sentence(plan)}"
    return f"{objective.title}: {whole}{each}{firm}"


def firm_power_sentence(plan: Plan) -> str:
    """The power that all steps give, or a share of them."""
    share, power = plan.objective.firm_share, plan.firm_power_mw
    steps = "every step gives" if share == 1 else f"{100 * share:g} % of the steps give"
    if len(power) == 1:
        return f"{steps} {quantity(float(power[0]))} MW{_not_kept(plan)}"
    lowest, highest = (quantity(float(each)) for each in (power.min(), power.max()))
    return f"{steps} {lowest} to {highest} MW, by {plan.year_word if plan.horizon.is_year else 'horizon'}"


def _not_kept(plan: Plan) -> str:
    """How much more is not kept, and how that is known."""
    bounds = plan.firm_bounds
    if bounds is None:
        return ""
    known = "is proved impossible" if bounds.proved[0] else "was not found"
    return f" ({max(float(bounds.width(plan.firm_power_mw)[0]), 0):.1e} more {known})"


def _range(objective: Objective, values: np.ndarray) -> str:
    return f"{quantity(float(values.min()) + 0.0)} to {quantity(float(values.max()) + 0.0)}"


def _amount(objective: Objective, value: float) -> str:
    return f"{quantity(float(value) + 0.0)} {objective.unit}".strip()
