"""What the user should know about a plan, beside the notes on its inputs and its solver."""

from __future__ import annotations

from collections.abc import Iterator

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.carry_over import carry_over_notes, free_end_notes
from reservoir.planning.end_value import end_value_notes
from reservoir.planning.start import PlanStart
from reservoir.problems.reservoir.record import RecordProblems

#: Part of the largest storage by which rounding may lower the lake.
_ROUNDING = 1e-9


def plan_notes(
    reservoir: Reservoir, problems: RecordProblems, operation: Operation, start: PlanStart | None, stopped: str
) -> tuple[str, ...]:
    """Sentences on where a plan stopped and began, on the value of its end, and on what its horizon misses."""
    begun = start.note(problems.inflow.calendar) if start else ""
    carried = free_end_notes(problems, operation) if start else carry_over_notes(problems, operation)
    sunk = below_dead_notes(reservoir, problems.inflow, operation)
    return (*filter(None, [stopped, begun]), *end_value_notes(reservoir, problems), *sunk, *carried)


def below_dead_notes(reservoir: Reservoir, inflow: Inflow, operation: Operation) -> Iterator[str]:
    """How far the lake is below dead storage, and when: losses take it there, which is no decision."""
    dead, ends = float(reservoir.storage_lower_hm3.min()), operation.storage_hm3[:, 1:]
    below = int((ends < dead - _ROUNDING * float(reservoir.storage_upper_hm3.max())).sum())
    if below:
        year, step = divmod(int(ends.argmin()), ends.shape[1])
        lowest = f"{ends[year, step]:,.6g} hm3 in {inflow.labels[year]} {inflow.calendar.step_names[step]}"
        yield (
            f"The lake is below dead storage, {dead:,.6g} hm3, at the end of {below:,} of {ends.size:,} "
            f"{inflow.calendar.step.noun}s, the lowest {lowest}: losses go on there, and nothing is released."
        )
