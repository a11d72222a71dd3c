"""What a run has that a callback ended."""

from __future__ import annotations

from functools import update_wrapper

import numpy as np

from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.solvers.base.progress import IntermediateResult, Stop

#: What a run that was ended at its reference comes to.
NO_REFERENCE = "the plan has no reference optimum"


class NotedStop:
    """A callback that may end a run, and whether it did."""

    def __init__(self, stop: Stop) -> None:
        update_wrapper(self, stop)
        self._stop, self.ended = stop, False

    def __call__(self, state: IntermediateResult) -> bool:
        """Ask the callback."""
        self.ended = bool(self._stop(state))
        return self.ended


def stop_sentence(stage: str, done: int, total: int, stop: NotedStop | None, what: str = "the plan has those") -> str:
    """Where a callback ended the run; empty if it did not."""
    if done < total:
        return f"A callback ended the run in {stage} after {done} of {total} problems: {what}."
    early = "before the search was complete: the plan has the schedules found by then"
    return f"A callback ended the run in {stage} {early}." if stop and stop.ended else ""


def leading_problems(problems: RecordProblems, count: int) -> RecordProblems:
    """The first problems of a record, with their years."""
    years = int(np.searchsorted(problems.of_year, count))
    return record_problems(problems.model.reservoir, problems.inflow.span(0, years), problems.horizon)
