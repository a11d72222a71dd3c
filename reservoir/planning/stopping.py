"""What a run has that a callback ended."""

from __future__ import annotations

import numpy as np

from reservoir.problems.reservoir.record import RecordProblems, record_problems


def stop_sentence(stage: str, done: int, total: int, what: str = "the plan has those") -> str:
    """Where a callback ended the run; empty if it did not."""
    return f"A callback ended the run in {stage} after {done} of {total} problems: {what}." if done < total else ""


def leading_problems(problems: RecordProblems, count: int) -> RecordProblems:
    """The first problems of a record, with their years."""
    years = int(np.searchsorted(problems.of_year, count))
    return record_problems(problems.model.reservoir, problems.inflow.span(0, years), problems.horizon)
