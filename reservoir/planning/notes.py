"""What the user should know about a plan, beside the notes on its inputs and its solver."""

from __future__ import annotations

from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.carry_over import carry_over_notes, free_end_notes
from reservoir.planning.end_value import end_value_notes
from reservoir.planning.start import PlanStart
from reservoir.problems.reservoir.record import RecordProblems


def plan_notes(
    reservoir: Reservoir, problems: RecordProblems, operation: Operation, start: PlanStart | None, stopped: str
) -> tuple[str, ...]:
    """Sentences on where a plan stopped and began, on the value of its end, and on what its horizon misses."""
    begun = start.note(problems.inflow.calendar) if start else ""
    carried = free_end_notes(problems, operation) if start else carry_over_notes(problems, operation)
    return (*filter(None, [stopped, begun]), *end_value_notes(reservoir, problems), *carried)
