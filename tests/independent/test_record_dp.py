"""Dynamic programming on a record with losses against a program that shares no line with the package."""

from __future__ import annotations

from dataclasses import replace

import pytest

import reservoir as package
from reservoir.hydro.objectives import RECORD
from reservoir.hydro.reservoir import YearEnd
from tests.independent.record_dp import best_energy_gwh, read

CASE = package.bundled_case("carryover")
END_VALUE_GWH_PER_HM3 = 0.12


@pytest.mark.parametrize("end_value", [None, END_VALUE_GWH_PER_HM3], ids=["fixed end", "valued end"])
def test_a_record_with_evaporation_seepage_and_withdrawals_is_worth_what_other_code_says(end_value) -> None:
    lake, inflow = CASE.reservoir(), CASE.inflow().span(0, 30)
    if end_value is not None:
        lake = replace(lake, year_end=YearEnd.VALUED, final_storage_hm3=None, end_value_gwh_per_hm3=end_value)

    plan = package.optimise(lake, inflow, horizon=RECORD, solver="dp", reference=False)
    independent = best_energy_gwh(read(CASE.reservoir_file, CASE.inflow_file, end_value, years=30))

    assert sum(plan.solutions.violation.tolist()) == 0.0
    assert sum(plan.solutions.fitness.tolist()) == pytest.approx(independent, rel=1e-5)


def test_the_independent_program_sees_what_losses_cost() -> None:
    """It would agree with anything if its losses did nothing."""
    dry = read(CASE.reservoir_file, CASE.inflow_file, years=3)
    wet = read(CASE.reservoir_file, CASE.inflow_file, years=3)
    for losses in ("evaporation_mm", "withdrawal_m3s"):
        wet.facts["losses"][losses] = [0] * 12

    assert best_energy_gwh(wet) > 1.02 * best_energy_gwh(dry)
