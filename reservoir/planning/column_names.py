"""Columns of a plan's tables that depend on its objective; whoever reads tables need not import what compiles."""

#: Of the year; not there where the objective is energy. Of a problem: the power that its steps give, in every year.
OBJECTIVE, FIRM_POWER = "objective", "firm_power_mw"
#: Of the reference: its energy, or what else the objective is.
REFERENCE_ENERGY, REFERENCE_OBJECTIVE = "reference_gwh", "reference_objective"
