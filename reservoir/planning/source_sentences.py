"""Whose schedules a plan holds, in words, and what to do where the solver did not come close enough."""

from __future__ import annotations

from reservoir.planning.gap_limits import beyond_limits, gap_limits
from reservoir.planning.infeasible import chosen, listed
from reservoir.planning.planned_record import Plan
from reservoir.planning.solver_choice import REFERENCE_SOLVERS
from reservoir.solvers import solver_named
from reservoir.text.quantities import counted


def source_sentence(plan: Plan) -> str:
    """Count the years whose schedule is not of the solver's first run, and say what to do; empty without any.

    Of a plan of the solver's own schedules alone, the years that are not close enough to the reference are counted.
    """
    solver, one = plan.solutions.solver, plan.year_word
    most, most_of_sum = (f"{100 * limit:g} %" for limit in gap_limits(solver, plan.problems))
    close = f"close enough to the reference optimum ({most} of a {_problem(plan)}, {most_of_sum} of the sum)"
    if not plan.sources:
        count = _beyond(plan)
        are_not = f"{'is' if count == 1 else 'are'} not {close}"
        return f"{counted(count, one)} {are_not}. Fix: omit --engine-only, or {_more(plan)}." if count else ""
    _, *others = plan.source_counts.items()
    if not others:
        return ""
    held = " and ".join(f"{counted(count, one)} from {name}" for name, count in others)
    fix = f"For a plan by {solver} alone: {_more(plan)}"
    if not plan.from_reference.any():
        fix = f"To avoid the second run: {_settings(plan) or 'another --solver'}"
    return f"{held}, where the first run of {solver} was not {close}. {fix}."


def solved_by(plan: Plan) -> str:
    """Whose schedules a plan holds: the solver, and how many years are the reference's."""
    taken = int(plan.from_reference.sum())
    return (
        f"{plan.solutions.solver}{f', {counted(taken, plan.year_word)} by {plan.references.solver}' if taken else ''}"
    )


def reference_sentence(plan: Plan, marks: str = "") -> str:
    """Name the years that hold the schedule of the reference, and how a figure `marks` them; empty without any."""
    names = chosen(plan.inflow.labels, plan.from_reference)
    if not names:
        return ""
    marked = f", {marks}" if marks else ""
    what = f"{counted(len(names), plan.year_word)} ({listed(names)}){marked}"
    return f"Schedule of {plan.references.solver}, to which {plan.solutions.solver} did not come close enough: {what}."


def _problem(plan: Plan) -> str:
    return plan.year_word if plan.horizon.is_year else "horizon"


def _beyond(plan: Plan) -> int:
    """Years that are not close enough to the reference, of a plan that holds the solver's own schedules."""
    solver = plan.solutions.solver
    if not plan.references or solver in REFERENCE_SOLVERS:
        return 0
    limits = gap_limits(solver, plan.problems)
    return int(
        beyond_limits(plan.solutions, plan.references, limits, plan.problems.least_gap_scale)[
            plan.problems.of_year
        ].sum()
    )


def _more(plan: Plan) -> str:
    """What brings a solver closer, or is closer; how close others come is not known here."""
    settings = _settings(plan)
    enough = f"more than {settings}" if settings else "other settings"
    return f"{enough}, or another --solver (`reservoir compare` prints the gap of each)"


def _settings(plan: Plan) -> str:
    """Options of the last run that say how much it worked, as they are typed; empty if there are none."""
    second = plan.sources.second_settings if plan.sources else {}
    made = second or plan.settings
    names = [name for name in solver_named(plan.solutions.solver).budget[-1:] if name in made]
    changed = [name for name in names if not second or made[name] != plan.settings.get(name)]
    return " ".join(f"--{name} {made[name]}" for name in changed)
