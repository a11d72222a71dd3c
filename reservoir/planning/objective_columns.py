"""What the objective of a plan comes to in each year, as tables show it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.objective import Operation
from reservoir.hydro.objectives import Objective
from reservoir.planning.column_names import FIRM_POWER, OBJECTIVE, REFERENCE_ENERGY, REFERENCE_OBJECTIVE
from reservoir.planning.firm_power import firm_power_of_problems
from reservoir.problems.reservoir.record import RecordProblems

FloatArray = NDArray[np.float64]


def shown(objective: Objective, benefit: FloatArray) -> FloatArray:
    """Benefits as tables show them: costs without a sign. What is shown is a benefit again by the same."""
    return -benefit if objective.is_cost else benefit


def reference_column(objective: Objective) -> str:
    """Name of the reference's benefit in tables."""
    return REFERENCE_ENERGY if objective.unit == "GWh" else REFERENCE_OBJECTIVE


def objective_columns(problems: RecordProblems, operation: Operation) -> Mapping[str, FloatArray]:
    """Columns of years, shape (years,); none if the objective is energy."""
    objective = problems.model.reservoir.objective
    columns = {} if objective.is_energy else {OBJECTIVE: shown(objective, operation.benefit)}
    if objective.is_firm or objective.firm_power_mw is not None:
        columns[FIRM_POWER] = firm_power_of_problems(problems, operation)[problems.of_year]
    return columns
