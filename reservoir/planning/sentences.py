"""Messages about a plan's years and months that violate their storage limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from reservoir.planning.infeasible import chosen, counted, listed
from reservoir.planning.plan import Plan
from reservoir.planning.schedule import loss_volumes_of_years
from reservoir.text.quantities import quantity

#: Part of a demand that rounding leaves undelivered.
_NEGLIGIBLE = 1e-9


def horizon_text(plan: Plan) -> str:
    """What is planned as one problem, in words."""
    if plan.start:
        return plan.start.note(plan.inflow.calendar).removesuffix(".")
    if plan.horizon.is_year:
        return "each year as one problem"
    if len(plan.problems) == 1:
        return "the whole record as one problem"
    return f"{len(plan.problems)} windows of {plan.horizon} years"


def has_demands(plan: Plan) -> bool:
    """Whether years must satisfy more than storage limits: losses, demands, or a minimum release without the water."""
    return plan.operation.has_conditions or bool(plan.operation.missing_m3s.any())


def limits_word(plan: Plan) -> str:
    """What a year may violate: of a reservoir with losses or demands not only its storage limits."""
    return "limits or demands" if has_demands(plan) else "storage limits"


def all_limits(plan: Plan) -> str:
    """What a year must satisfy: of a reservoir with losses or demands not only its storage limits."""
    return "limits and demands" if has_demands(plan) else "storage limits"


def outside_sentences(plan: Plan) -> list[str]:
    """Which years of a plan violate their limits: no schedule satisfies them, or the solver did not find one."""
    lost, one = _infeasible(plan), _problem_word(plan)
    missed = chosen(plan.inflow.labels, plan.feasible & ~plan.keeps_limits)
    which = all_limits(plan)
    tried = "schedule that was found" if has_demands(plan) else "permitted release"
    cannot = f"{counted(len(lost), one)} cannot satisfy {_their(lost)} {which} with any {tried}"
    sentences = [
        (lost, cannot),
        (
            missed,
            f"{counted(len(missed))} can satisfy {_their(missed)} {which}, but the solver found no schedule",
        ),
    ]
    return [f"{sentence}: {listed(names)}" for names, sentence in sentences if names]


def _infeasible(plan: Plan) -> Sequence[str]:
    """Labels of the problems that no schedule satisfies: years, or horizons of several."""
    if len(plan.problems) == plan.inflow.years:
        return chosen(plan.inflow.labels, ~plan.feasible)
    return chosen(plan.problems.labels, ~plan.feasible_problems)


def _problem_word(plan: Plan) -> str:
    return plan.year_word if len(plan.problems) == plan.inflow.years else "horizon"


def losses_sentence(plan: Plan) -> str:
    """Mean losses and withdrawals of a plan's years, or scenarios, in words; empty if its reservoir has none."""
    means = {name: float(each.mean()) for name, each in loss_volumes_of_years(plan.inflow, plan.operation).items()}
    if not any(means.values()):
        return ""
    named = {"evaporation_hm3": "net evaporation", "seepage_hm3": "seepage", "withdrawal_hm3": "withdrawals"}
    amounts = {name: plan.units.amount(mean, "hm3") for name, mean in means.items()}
    parts = [f"{name} {quantity(amounts[key][0])}" for key, name in named.items() if means[key]]
    short, unit = amounts["shortage_hm3"]
    one = plan.year_word
    shortage = f"; {quantity(short)} {unit} a {one} of the withdrawals are not delivered" if short else ""
    return f"{', '.join(parts)} {unit} a {one}{shortage}"


def left_out_sentence(plan: Plan, marks: str = "") -> str:
    """Name the years excluded from means, sums and bands, and how a figure `marks` them; empty if there are none."""
    names = chosen(plan.inflow.labels, ~plan.keeps_limits)
    if not names:
        return ""
    one = len(names) == 1
    subject, violate = ("it is", "violates its") if one else ("they are", "violate their")
    left_out = f"{subject} {f'{marks} and ' if marks else ''}excluded from means and sums"
    return f"{counted(len(names))} ({listed(names)}) {violate} {limits_word(plan)}: {left_out}."


def _their(names: Sequence[str]) -> str:
    return "its" if len(names) == 1 else "their"


def shortfall_months(plan: Plan) -> int:
    """How many steps do not keep a limit or demand."""
    return int((~(plan.operation.violation <= 0)).sum())


def shortfalls(plan: Plan, most_months: int | None = None) -> list[str]:
    """A sentence for every limit or demand that a step does not keep: year, step, quantity and amount.

    Of the first `most_months` that do not keep one, if that is given.
    """
    return [
        f"{plan.inflow.labels[year]} {plan.inflow.calendar.step_names[step]}: {plan.units.text(shortfall)}; "
        f"{_blame(plan.feasible[year], plan)}"
        for year, step in np.argwhere(~(plan.operation.violation <= 0))[:most_months].tolist()
        for shortfall in (*storage_shortfall(plan, year, step), *demand_shortfalls(plan, year, step))
    ]


def _step_word(plan: Plan) -> str:
    return plan.inflow.calendar.step.noun


def _blame(feasible: bool, plan: Plan) -> str:
    if feasible:
        return "a feasible schedule exists, but the solver did not find it: increase --generations or --evaluations"
    if has_demands(plan):
        return f"no schedule was found that keeps all limits and demands of this {_problem_word(plan)}"
    return f"no permitted release keeps the storage of this {_problem_word(plan)} within its limits"


def storage_shortfall(plan: Plan, year: int, step: int) -> Iterator[str]:
    """How far the storage at the end of a step is beyond its limits, in words; nothing within them."""
    limits, storages = plan.problems.year_bounds, plan.operation.storage_hm3[year]
    storage = storages[step + 1]
    lower, upper = limits.storage_lower_hm3[year, step], limits.storage_upper_hm3[year, step]
    closes = plan.problems.cyclic and plan.problems.ends_with(year) and step == limits.steps - 1
    if closes:
        lower = upper = plan.operation.storage_hm3[plan.problems.first_year(year), 0]
    if lower <= storage <= upper:
        return
    above = storage > upper
    bound, amount = (upper, storage - upper) if above else (lower, lower - storage)
    yield (
        f"the storage at the end of the {_step_word(plan)} is {storage:,.6g} hm3, "
        f"{amount:,.4g} hm3 {'above its upper' if above else 'below its lower'} limit of {bound:,.6g} hm3"
        f"{f', where the {_problem_word(plan)} began and has to end' if closes else ''}"
    )


def demand_shortfalls(plan: Plan, year: int, step: int) -> Iterator[str]:
    """What a month does not deliver of minimum release, withdrawal and power, and how far its release changes."""
    conditions, operation = plan.problems.year_bounds.conditions, plan.operation
    missing, least = float(operation.missing_m3s[year, step]), float(plan.reservoir.release_bounds_m3s[0].max())
    if not missing <= _NEGLIGIBLE * least:
        release = float(operation.release_m3s[year, step])
        yield (
            f"{missing:,.4g} m3/s are missing of the minimum release of {release + missing:,.4g} m3/s: there is no "
            f"more water above dead storage"
        )
    if conditions is None:
        return
    short, demanded = float(operation.shortage_m3s[year, step]), float(conditions.withdrawal_m3s[year, step])
    if not short <= _NEGLIGIBLE * demanded:  # NaN fulfils nothing, here and below
        yield f"{short:,.4g} of the {demanded:,.4g} m3/s to be withdrawn are not delivered"
    power, lowest = float(operation.power_mw[year, step]), float(conditions.power_lower_mw[year, step])
    if not power >= lowest * (1 - _NEGLIGIBLE):
        yield f"the mean power is {lowest - power:,.4g} MW below the minimum of {lowest:,.4g} MW"
    releases = operation.release_m3s.ravel()
    place = year * operation.release_m3s.shape[1] + step
    if step == 0 and plan.problems.first_year(year) == year:
        return
    change = float(releases[place] - releases[place - 1])
    most = conditions.ramp_up_m3s if change > 0 else conditions.ramp_down_m3s
    if not abs(change) <= most * (1 + _NEGLIGIBLE):
        way = "rises" if change > 0 else "falls"
        by = f"{abs(change):,.4g} m3/s from the {_step_word(plan)} before"
        yield f"the release {way} by {by}, more than {most:,.4g} m3/s"
