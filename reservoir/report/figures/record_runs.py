"""The runs that figures of rules compare: perfect foresight and, on held-out years, every family over the record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from reservoir.hydro.objective import Operation
from reservoir.planning.infeasible import counted
from reservoir.report.figures.style import FORESIGHT, OUTSIDE_MARK, Look, family_look
from reservoir.rules import Forecast
from reservoir.rules.evaluation.evaluation import Evaluation, FamilyResult, Sample, SimulationMode

FloatArray = NDArray[np.float64]

#: The run that figures show: storage carried over from year to year, by rules that have not seen the year.
HELD_OUT = (SimulationMode.CONTINUOUS, Sample.HELD_OUT)
TRAINING = (SimulationMode.CONTINUOUS, Sample.TRAINING)

FORESIGHT_NAME = "perfect foresight"


@dataclass(frozen=True, eq=False)
class RecordRun:
    """One operation of the whole record, and how it is drawn.

    Parameters
    ----------
    name : str
        Of the family, or perfect foresight.
    look : Look
    operation : Operation
        As long as the record, or a row for each member.
    years : int
    """

    name: str
    look: Look
    operation: Operation
    years: int

    def monthly(self, quantity: str) -> FloatArray:
        """One quantity of `Operation`, shape (years, steps); storages are those at the end of each month."""
        values: FloatArray = getattr(self.operation, quantity)
        return values[..., -self.operation.release_m3s.shape[-1] :].reshape(self.years, -1)

    @property
    def spill_m3s(self) -> FloatArray:
        """Spill, shape (years, steps)."""
        return self.monthly("release_m3s") - self.monthly("turbined_m3s")

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Which months end with a storage outside its limits, shape (years, steps)."""
        return np.asarray(self.monthly("violation") > 0)


def record_runs(evaluation: Evaluation) -> list[RecordRun]:
    """Perfect foresight first, then every family in the order of the evaluation."""
    years = evaluation.training.years
    foresight = RecordRun(FORESIGHT_NAME, FORESIGHT, evaluation.foresight, years)
    return [foresight, *(_held_out_run(result, years) for result in evaluation.families)]


def _held_out_run(result: FamilyResult, years: int) -> RecordRun:
    return RecordRun(result.family, family_look(result.family), result.runs[HELD_OUT].simulation.operation, years)


def outside_handles(evaluation: Evaluation) -> list[Line2D]:
    """Legend of the mark of months outside their limits; empty if no run violates them."""
    if not any(run.outside.any() for run in record_runs(evaluation)):
        return []
    return [Line2D([], [], **OUTSIDE_MARK | {"clip_on": True}, label="month ends outside the storage limits")]


def outside_caption(evaluation: Evaluation) -> str:
    """Say how many months of which runs end outside the storage limits; empty if none does."""
    months = {run.name: int(run.outside.sum()) for run in record_runs(evaluation)}
    runs = ", ".join(f"{name} {counted(count, 'month')}" for name, count in months.items() if count)
    return f" Crosses: months that end outside the storage limits ({runs})." if runs else ""


def result_of(evaluation: Evaluation, family: str) -> FamilyResult | None:
    """The result of a family, if it was evaluated."""
    return next((result for result in evaluation.families if result.family == family), None)


def held_out_note(evaluation: Evaluation) -> str:
    """Note at the foot of a figure: the cross-validation of the rules, and their forecast."""
    return f"Rules on held-out years ({evaluation.cross_validation}); {_forecast(evaluation)}"


def tested_note(evaluation: Evaluation) -> str:
    """Note at the foot of a figure: what the rules were tested on, and their forecast."""
    test = evaluation.tests[0].inflow
    caveat = f" ({test.caveat})" if test.caveat and test.caveat not in evaluation.plan.caveats else ""
    return f"Rules tested on other inflow, {test.span_text}{caveat}; {_forecast(evaluation)}"


def fitted_note(evaluation: Evaluation) -> str:
    """Note at the foot of a figure: the rule was fitted to all years, and its forecast."""
    return f"Rule fitted to all {evaluation.training.years} years; {_forecast(evaluation)}"


def _forecast(evaluation: Evaluation) -> str:
    return "one-month forecast" if evaluation.forecast is Forecast.MONTH else "no forecast"
