"""Names in a plan's tables that depend on its objective and solver; who reads tables need not import what compiles."""

from __future__ import annotations

#: Of the year; not there where the objective is energy. Of a problem: the power that its steps give, in every year.
OBJECTIVE, FIRM_POWER = "objective", "firm_power_mw"
#: Of the reference: its energy, or what else the objective is.
REFERENCE_ENERGY, REFERENCE_OBJECTIVE = "reference_gwh", "reference_objective"


def second_run(solver: str) -> str:
    """What the second run of a solver is called: a source, and a stage."""
    return f"{solver} (second run)"
