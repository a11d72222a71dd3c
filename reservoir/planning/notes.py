"""What the user should know about a plan, beside the notes on its inputs and its solver."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.commitments import LEAST, missing_hm3, sides
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, Horizon
from reservoir.hydro.operation import Operation
from reservoir.hydro.power import stored_energy_gwh
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import UnitSystem, UnitText
from reservoir.planning.start import PlanStart, end_value_notes
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import Solutions
from reservoir.text.quantities import counted

#: Active storage, as a part of the mean annual inflow, from which years depend on each other.
CARRY_OVER = 0.5
#: Energy from storage that is never paid back, as a part of all energy, from which it is told.
UNPAID = 0.01
#: Years, spread over the record, and storages with which a fixed year end is compared; its cost from which it is told.
_TRIED_YEARS, _TRIED_ENDS, _COSTLY = 12, 6, 0.01
_GOALS = frozenset((Goal.ENERGY, Goal.REVENUE))


def storage_ratio(reservoir: Reservoir, inflow: Inflow) -> float:
    """Active storage over mean annual inflow; infinite without inflow."""
    active = float(reservoir.storage_upper_hm3.max() - reservoir.storage_lower_hm3.min())
    annual = float((inflow.flow_m3s * inflow.calendar.hm3_per_m3s).sum(axis=1).mean())
    return active / annual if annual > 0 else np.inf


def horizon_notes(problems: RecordProblems, operation: Operation, *, from_month: bool) -> Iterator[str]:
    """What horizons by themselves miss, or a free end: sentences, each with its number and what mends it.

    Where a plan begins from a given month, its horizons are scenarios, of which each has its own end.
    """
    reservoir, inflow, one = problems.model.reservoir, problems.inflow, "each year"
    if len(problems) == 1 and not from_month:
        return
    if not problems.horizon.is_year:
        one = f"each window of {problems.horizon} years"
    if not from_month and (note := carry_over_note(reservoir, inflow, problems.horizon)):
        yield note
    drawn, energy = drawn_gwh(problems, operation), operation.annual_energy_gwh.sum()
    if not drawn > UNPAID * energy:
        return
    if drawn > energy:
        part = f"Storage worth {drawn:,.4g} GWh is drawn, more than the {energy:,.4g} GWh that are made"
    elif from_month:
        part = f"{drawn / energy:.0%} of the energy comes from storage"
    else:
        part = f"{drawn:,.4g} of {energy:,.4g} GWh come from storage"
    start, left = reservoir.initial_storage_hm3 or 0.0, float(operation.storage_hm3[:, -1].mean())
    if from_month:
        yield UnitText(
            lambda units: (
                f"{part}: the end is free, and the plan leaves {units.stated(left, 'hm3', ',.6g')} on average. Fix: "
                'set year_end to "fixed" with the storage to end with.'
            )
        )
    else:
        yield UnitText(
            lambda units: (
                f"{part}: {one} begins with {units.stated(start, 'hm3', ',.6g')} and may end lower, and the refill "
                'costs nothing. Fix: set year_end to "fixed" or "cyclic", or plan the whole record as one problem with '
                "--horizon record."
            )
        )


def carry_over_note(reservoir: Reservoir, inflow: Inflow, horizon: Horizon) -> str:
    """What years by themselves do not say of a reservoir that carries water from year to year; empty of others.

    Empty of a record without inflow, too, beside which no storage is large or small.
    """
    ratio = storage_ratio(reservoir, inflow)
    if not horizon.is_year or not CARRY_OVER <= ratio < np.inf:
        return ""
    return (
        f"The active storage is {ratio:.2f} times the mean annual inflow; from {CARRY_OVER:g} on, years depend on "
        "each other, and a plan of each year alone does not represent the reservoir. Fix: plan the whole record as "
        "one problem with --horizon record."
    )


def drawn_gwh(problems: RecordProblems, operation: Operation) -> float:
    """Energy from storage that free horizons never pay back; 0 of others."""
    reservoir = problems.model.reservoir
    if reservoir.year_end is not YearEnd.FREE:
        return 0.0
    starts = np.searchsorted(problems.of_year, range(len(problems)))
    ends = [*starts[1:] - 1, -1]
    drawn = stored_energy_gwh(
        reservoir, operation.storage_hm3[starts, 0], operation.storage_hm3[ends, -1], operation.release_m3s.mean()
    )
    return float(drawn.sum())


def fixed_end_notes(problems: RecordProblems, solve: Callable[[ReservoirYears], Solutions]) -> Iterator[str]:
    """What it costs that each year begins and ends with the storage that the file says: a sentence where it is much.

    Some years of the record are solved from and to other storages, by `solve`, on the grid that it has; those that
    cannot keep their limits with both storages do not count.
    """
    system = problems.model.system
    reservoir, objective, batch = system.reservoir, system.objective, problems.each
    own = reservoir.initial_storage_hm3
    if own is None or reservoir.year_end is not YearEnd.FIXED or reservoir.final_storage_hm3 != own:
        return
    if not problems.horizon.is_year or problems.ramps or not isinstance(batch, ReservoirYears):
        return
    if storage_ratio(reservoir, problems.inflow) >= CARRY_OVER:  # a sentence says so
        return
    if len(batch) < 2 or objective.firm_power_mw is not None or not set(objective.weights) <= _GOALS:
        return
    places = np.unique(np.linspace(0, len(batch) - 1, _TRIED_YEARS).astype(int))
    open_end = replace(reservoir, year_end=YearEnd.FREE, final_storage_hm3=None)
    free = record_problems(open_end, problems.inflow, problems.horizon).batches[0].limits[places]
    lowest, highest = free.storage_lower_hm3[:, -1].max(), free.storage_upper_hm3[:, -1].min()
    ends = np.append(np.linspace(lowest, highest, _TRIED_ENDS), own)
    tried = batch[np.tile(places, len(ends))]
    of_each = np.repeat(ends, len(places))
    solutions = solve(replace(tried, limits=tried.limits.ending_within(of_each, of_each).begun_at(of_each)))
    fitness, violation = (
        values.reshape(len(ends), -1) for values in (solutions.fitness, np.asarray(solutions.violation))
    )
    able = (violation[:-1] <= 0) & (violation[-1] <= 0)
    usual = np.where(able, fitness[-1], 0).sum(axis=1)
    gains = np.where(able, fitness[:-1] - fitness[-1], 0).sum(axis=1)
    share = np.divide(gains, usual, out=np.zeros_like(gains), where=usual > 0)
    share[able.sum(axis=1) < max(2, able.shape[1] // 2)] = 0.0
    best = int(share.argmax())
    if share[best] >= _COSTLY:
        what = "energy" if set(objective.weights) <= {Goal.ENERGY} else "revenue"
        yield _fixed_end_note(own, float(ends[best]), f"{share[best]:.1%} more {what} ({int(able[best].sum())}")


def _fixed_end_note(own_hm3: float, better_hm3: float, gain: str) -> UnitText:
    def said(units: UnitSystem) -> str:
        before, after = (units.stated(each, "hm3", ",.6g") for each in (own_hm3, better_hm3))
        return (
            f"Each year begins and ends with {before}. With {after} it would make about {gain} years tried, on a "
            "coarse grid). Fix: if that storage is no must, set initial_hm3, or plan the whole record as one problem "
            "with --horizon record."
        )

    return UnitText(said)


#: Such a note as it was saved: it is said again without solving anything.
_FIXED_END = re.compile(
    r"Each year begins and ends with (\S+) hm[3³]\. With (\S+) hm[3³] it would make about (.*?) years tried,.*"
)


#: Part of the largest storage by which rounding may lower the lake.
_ROUNDING = 1e-9


def plan_notes(
    reservoir: Reservoir, problems: RecordProblems, operation: Operation, start: PlanStart | None, stopped: str
) -> tuple[str, ...]:
    """Sentences on where a plan stopped and began, on the value of its end, and on what its horizon misses."""
    begun = start.note(problems.inflow.calendar) if start else ""
    carried = horizon_notes(problems, operation, from_month=start is not None)
    sunk = below_dead_notes(reservoir, problems.inflow, operation)
    return (*filter(None, [stopped, begun]), *end_value_notes(reservoir, problems), *sunk, *carried)


def notes_again(texts: Iterable[str], made: Iterable[str]) -> tuple[str, ...]:
    """Notes that were saved as texts, with those of them that are `made` anew, which can be said in other units."""
    texts = [*texts]
    ends = (end.groups() for end in map(_FIXED_END.fullmatch, texts) if end)
    fixed = (_fixed_end_note(float(own.replace(",", "")), float(end.replace(",", "")), gain) for own, end, gain in ends)
    again = {str(note): note for note in (*made, *fixed)}
    return tuple(again.get(text, text) for text in texts)


def below_dead_notes(reservoir: Reservoir, inflow: Inflow, operation: Operation) -> Iterator[str]:
    """How far the lake is below dead storage, and when: losses take it there, which is no decision."""
    dead, ends = float(reservoir.storage_lower_hm3.min()), operation.storage_hm3[:, 1:]
    below = int((ends < dead - _ROUNDING * float(reservoir.storage_upper_hm3.max())).sum())
    if below:
        year, step = divmod(int(ends.argmin()), ends.shape[1])
        lowest, when = float(ends[year, step]), f"{inflow.labels[year]} {inflow.calendar.step_names[step]}"
        yield UnitText(
            lambda units: (
                f"The lake is below dead storage, {units.stated(dead, 'hm3', ',.6g')}, at the end of {below:,} of "
                f"{ends.size:,} {inflow.calendar.step.noun}s, the lowest {units.stated(lowest, 'hm3', ',.6g')} in "
                f"{when}: losses go on there, and nothing is released."
            )
        )


def commitment_notes(reservoir: Reservoir, operation: Operation, inflow: Inflow, whose: str = "") -> Iterator[str]:
    """How many water years release what they are committed to, and which releases the least of it: a sentence."""
    for side in sides(reservoir):
        missing = missing_hm3(reservoir, operation, inflow.calendar.hm3_per_m3s, side).sum(axis=1)

        def said(units: UnitSystem, missing: NDArray[np.float64] = missing, least: bool = side == LEAST) -> str:
            short, worst = int((missing > 0).sum()), int(missing.argmax())
            what, is_missed = ("annual release", "missing") if least else ("largest annual release", "beyond it")
            kept = f"{whose}The {what} is kept in {len(missing) - short:,} of {counted(len(missing))}"
            if not short:
                return f"{kept}."
            amount = units.stated(float(missing[worst]), "hm3", ",.4g")
            return f"{kept}; most is {is_missed} in {inflow.labels[worst]}, {amount}."

        yield UnitText(said)
