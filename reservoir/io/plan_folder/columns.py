"""What the columns of result tables hold: the documentation is made from this, and tests hold it to the tables."""

from __future__ import annotations

from collections.abc import Mapping

_MONTH = {
    "year": "label of the year, as the record has it: `1953`, or `1953/54` for a water year",
    "month": "calendar month, 1 to 12",
    "inflow_m3s": "mean inflow of the month, m3/s",
}
_MONTH_OPERATED = {
    "release_m3s": "mean release, turbined and spilled together, m3/s",
    "turbined_m3s": "mean flow through the turbines, m3/s",
    "spill_m3s": "mean flow past the turbines, m3/s",
    "storage_start_hm3": "storage at the start of the month, hm3",
    "storage_end_hm3": "storage at the end of the month, hm3",
    "level_m": "level of the lake at the end of the month, m",
}
_MONTH_MADE = {
    "power_mw": "mean power of the month, MW",
    "energy_gwh": "energy of the month, GWh",
    "violation": "storage outside its bounds at the end of the month, as a fraction of the bound; 0 where it is kept",
}

#: ``schedule.csv`` of a plan: a row a year and month.
SCHEDULE_COLUMNS: Mapping[str, str] = {
    **_MONTH,
    **_MONTH_OPERATED,
    "tailrace_m": "level below the dam at the month's mean release, m",
    "head_m": "level at the month's mean storage less the tailrace, m",
    **_MONTH_MADE,
}
#: ``summary.csv`` of a plan: a row a year.
SUMMARY_COLUMNS: Mapping[str, str] = {
    "year": _MONTH["year"],
    "inflow_mean_m3s": "mean inflow of the year, m3/s",
    "energy_gwh": "energy of the year, GWh",
    "spill_hm3": "volume past the turbines, hm3",
    "violation": "sum of the months' violations; 0 where all bounds are kept",
    "reference_gwh": "energy of the reference optimum (dynamic programming), GWh; empty with `--no-reference`",
    "reference_violation": "violation of the reference; the column is there only if a year cannot keep its limits",
    "gap": "fraction by which the year falls short of the reference; empty in years that cannot keep their limits",
    "generations": "generations that the solver ran for this year",
    "evaluations": "schedules that the solver tried for this year",
}
#: ``simulation.csv`` of `reservoir simulate`: a row a year and month.
SIMULATION_COLUMNS: Mapping[str, str] = {
    **_MONTH,
    "asked_m3s": "release that the rule asked for, m3/s",
    **_MONTH_OPERATED,
    **_MONTH_MADE,
    "repaired": "1 where the limits made another release of what the rule asked for, else 0",
}
#: ``summary.csv`` of `reservoir simulate`: a row a year.
SIMULATED_YEARS_COLUMNS: Mapping[str, str] = {
    "year": _MONTH["year"],
    "inflow_mean_m3s": SUMMARY_COLUMNS["inflow_mean_m3s"],
    "energy_gwh": SUMMARY_COLUMNS["energy_gwh"],
    "energy_at_equal_storage_gwh": "the same, with the value of the water that the year left or took, GWh",
    "foresight_gwh": "energy of perfect foresight over the record in this year, GWh; empty with `--no-foresight`",
    "storage_end_hm3": "storage at the end of the year, hm3",
    "spill_hm3": SUMMARY_COLUMNS["spill_hm3"],
    "repairs": "months in which the limits made another release of what the rule asked for",
    "violation": SUMMARY_COLUMNS["violation"],
}
#: ``scores.csv`` of `reservoir rules`: a row for each family and sample of years.
SCORES_COLUMNS: Mapping[str, str] = {
    "family": "family of the rule; `foresight` is perfect foresight over the whole record",
    "sample": "`training`: fitted to all years; `held-out`: each year operated by a rule fitted to the other blocks",
    "mean_gwh": "mean energy of a year at equal end storage, GWh",
    "percent_of_foresight": "the same, % of perfect foresight",
    "worst_decile_gwh": "mean of the poorest tenth of the years, GWh",
    "worst_gwh": "poorest year, GWh",
    "reliability": "fraction of the years that reach the guaranteed energy",
    "resilience": "fraction of the failing years that are followed by one that reaches it",
    "vulnerability": "mean shortfall of the failing years, as a fraction of the guaranteed energy",
    "spill_hm3": "mean volume past the turbines in a year, hm3",
    "repairs": "months in which the limits made another release of what the rule asked for",
    "run": "`continuous`: storage carried through the record; `yearly`: every year from the same storage",
    "median_gwh": "median energy of a year, GWh",
    "regret_gwh": "energy that perfect foresight makes more, GWh a year",
    "firm_reliability": "fraction of the months that reach firm power",
    "firm_resilience": "fraction of the failing months that are followed by one that reaches it",
    "firm_vulnerability": "mean shortfall of the failing months, as a fraction of firm power",
    "months_at_limit": "months that end with a storage at one of its bounds",
    "end_storage_value_gwh": "added to the mean for water left at the end (negative: for water missing), GWh a year",
    "months_violated": "months that end with a storage outside its bounds, whatever the release",
    "largest_violation_hm3": "farthest that a storage was outside its bounds, hm3",
    "violation": "sum of relative violations",
    "misfit_m3s": "root mean square difference to the plan's release in the plan's own states, m3/s",
}
