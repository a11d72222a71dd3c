"""A schedule of a system by anyone, checked from the releases of its reservoirs alone, each with what links bring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.operation import Operation, joined
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.hydro.system_operation import SystemOperation, operate_system
from reservoir.planning.checked_schedule import (
    RELEASE,
    CheckedSchedule,
    FloatArray,
    GivenSchedule,
    Verified,
    positions_of,
    rounding_of,
    shortage_of,
    unlimited,
    within_rounding,
)
from reservoir.planning.columns import meanings
from reservoir.planning.infeasible_years import infeasible_notes, infeasible_problems
from reservoir.planning.plan import Plan
from reservoir.planning.search import stated_solutions
from reservoir.planning.system_plan import SystemPlan
from reservoir.problems.base import certify_all, rows_at
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.problems.system import SystemYears, system_problems
from reservoir.solvers import Solutions


def checked_system(
    system: System,
    inflows: SiteInflows,
    given: Mapping[str, GivenSchedule],
    horizon: Horizon | str | int | None = None,
) -> CheckedSchedule:
    """Operate a record of several sites with the releases of a file, and compare what follows with what it claims.

    Parameters
    ----------
    system : System
    inflows : SiteInflows
        The whole record, which may decide what is under way at the start.
    given : mapping of str to GivenSchedule
        By the name of the reservoir, of the same years of this record; a run-of-river plant needs none.
    horizon : Horizon, str or int, optional
        What was planned as one problem; by default as the system says.

    Raises
    ------
    InputError
        If the releases of a reservoir are missing, or the starts of one whose years end as they begin.
    """
    first = next(iter(given.values()))
    unsaid = [each.name for each in system.reservoirs if not each.is_run_of_river and each.name not in given]
    if unsaid:
        expected, mend = f"releases of {', '.join(system.names)}", "add them to the file"
        raise InputError(f"has no releases of {', '.join(unsaid)}", expected, mend, str(first.path))
    inflows = SiteInflows({name: system.on_calendar(inflows[name]) for name in system.names})
    system = system.under_way(list(inflows.values()))
    begins = inflows.labels.index(first.inflow.labels[0])
    inflows = inflows.span(begins, begins + first.inflow.years)
    problems = system_problems(system, inflows, system.asked_horizon(horizon))
    asked = [_asked(problems, place, given.get(name)) for place, name in enumerate(system.names)]
    of_batches = list[tuple[SystemYears, _Releases]]()
    for places, batch in problems.placed_batches:
        years: Any = batch
        span = int(places[0]), int(places[-1]) + 1
        of_batches.append((years, [(rows_at(own, range(*span)), rows_at(cut, range(*span))) for own, cut in asked]))
    parts = [_operated(batch, releases, unlimited) for batch, releases in of_batches]
    slack = max(map(rounding_of, given.values()), default=0.0)
    limited = [
        _operated(
            batch, releases, lambda years, own, _: years.operate(within_rounding(years, np.stack(list(own)), slack))
        )
        for batch, releases in of_batches
    ]
    positions = [
        position for (batch, _), made in zip(of_batches, limited, strict=True) for position in batch.positions_of(made)
    ]
    plan = operated_plan(system, inflows, problems, positions)
    as_given = replace(plan, operation=joined([part.in_years(inflows.steps) for part in parts]))
    missed, differences, open_to = list[tuple[int, str]](), list[Mistake](), dict[str, float]()
    for place, (name, site) in enumerate(as_given.sites.items()):
        linked = tuple(_linked(batch, part, place) for (batch, _), part in zip(of_batches, parts, strict=True))
        own = RecordProblems(problems.horizon, site.inflow, linked)
        # What is released above is rounded too; a plant without storage hands on what comes.
        handed_on = sum(open_to[link.source] for _, link in system.into(place))
        rounding = rounding_of(given[name]) if name in given else 0.0
        open_to[name] = rounding + (handed_on if site.reservoir.is_run_of_river else 0.0)
        none = Solutions.of([])
        released = asked[place][0]
        if site.reservoir.is_run_of_river:
            flows = site.operation.release_m3s
            released = [flows[start:stop].ravel() for start, stop in problems.horizon.spans(inflows.years)]
        kept = Plan(site.reservoir, site.inflow, own, own.operate(released), none, none, (), {})
        claimed = given.get(name, replace(first, columns={RELEASE: site.operation.release_m3s}))
        verified = Verified.of(kept, claimed, released, rounding + handed_on)
        missed += [(problem, f"{name}, {sentence}") for problem, sentence in verified.missed]
        differences += [replace(each, problem=f"{each.problem} (reservoir {name})") for each in verified.differences]
    kept_limits = ~np.isin(np.arange(len(problems)), [problem for problem, _ in missed])
    return CheckedSchedule(
        plan,
        float(as_given.energy_gwh.sum()),
        kept_limits,
        tuple(sentence for _, sentence in missed),
        tuple(differences),
        not_read_of(given),
        (*first.notes, *plan.notes),
    )


#: Releases of each reservoir with the start of a cyclic year, and what withdrawals are cut by: a row for each problem.
_Releases = list[tuple[FloatArray, FloatArray]]


def not_read_of(given: Mapping[str, GivenSchedule]) -> tuple[str, ...]:
    """Headings of columns that are read for no reservoir, and of which nothing is known."""
    first, *others = given.values()
    no_ones = [each for each in first.not_read if all(each in other.not_read for other in others)]
    return tuple(each for each in no_ones if each not in meanings("site_steps"))


def _asked(
    problems: RecordProblems, place: int, given: GivenSchedule | None
) -> tuple[list[FloatArray], list[FloatArray]]:
    """What a file asks of a reservoir, by problem; nothing of a run-of-river plant, which hands on what comes."""
    inflow, system = problems.inflow, problems.batches[0].model.system
    spans = problems.horizon.spans(inflow.years)
    if given is None or system.reservoirs[place].is_run_of_river:
        none = [np.zeros((stop - first) * inflow.steps) for first, stop in spans]
        return none, none
    years: Any = problems.batches[0]
    own = RecordProblems(problems.horizon, inflow, (years.linked(place, None, None),))
    shortage = shortage_of(given)
    return positions_of(own, given), [shortage[first:stop].ravel() for first, stop in spans]


def _operated(
    batch: SystemYears, releases: _Releases, run: Callable[[ReservoirYears, FloatArray, FloatArray], Operation]
) -> SystemOperation:
    """What releases come to, run by a function."""

    def of_one(place: int, arriving_m3s: FloatArray | None, tailwater_m: FloatArray | None) -> Operation:
        years, (own, shortage) = batch.linked(place, arriving_m3s, tailwater_m), releases[place]
        fixed = batch.system.reservoirs[place].is_run_of_river
        return years.operate(own) if fixed else run(years, own, shortage)

    return operate_system(batch.system, batch.hm3_per_m3s, of_one, batch.terms)


def _linked(batch: SystemYears, made: SystemOperation, place: int) -> ReservoirYears:
    """Years of one reservoir with what links bring in an operation."""
    below = batch.system.backed_up_by(place)
    level = None if below is None else made.of_reservoirs[below].mean_level_m
    return batch.linked(place, made.arriving_m3s[place], level)


def operated_plan(
    system: System, inflows: SiteInflows, problems: RecordProblems, positions: Sequence[FloatArray]
) -> SystemPlan:
    """Schedules of anyone as a plan, with the years of which it is proved that none keeps their limits."""
    operation: Any = problems.operate(positions)
    none, worth = np.zeros(len(problems), np.int64), certify_all(problems.each, positions)
    made: dict[str, Any] = {"solver": "schedule", "device": "", "wall_seconds": 0.0, "device_seconds": None}
    made |= {name: getattr(worth, name) for name in ("fitness", "benefit", "violation", "operation")}
    solutions = stated_solutions(positions, {}, generations=none, evaluations=none, **made)
    infeasible = infeasible_problems(problems, solutions.violation)
    sources = ("schedule",) * len(problems)
    plan = SystemPlan(system, inflows, problems, operation, solutions, sources, (), {}, infeasible=infeasible)
    return replace(plan, notes=tuple(infeasible_notes(system, problems, infeasible, plan.problem_word)))
