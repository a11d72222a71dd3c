"""Meanings of the columns of result tables; pages of the documentation are generated from them."""

from __future__ import annotations

from collections.abc import Mapping

_MEMBER = {"member": "name of the member of the ensemble; only there"}
_MONTH = {
    "year": "label of the year in the inflow record: `1953`, or `1953/54` for a water year",
    "month": "calendar month, 1 to 12; of a shorter step, that of its middle",
    "first_day": "first day of the step; only if steps are not months",
    "inflow_m3s": "mean inflow of the step, m3/s",
}
_MONTH_OPERATED = {
    "release_m3s": "mean release (turbine flow and spill), m3/s",
    "turbined_m3s": "mean turbine flow, m3/s",
    "spill_m3s": "mean spill, m3/s",
    "storage_start_hm3": "storage at the start of the step, hm3",
    "storage_end_hm3": "storage at the end of the step, hm3",
    "level_m": "reservoir level at the end of the step, m",
}
_MONTH_MADE = {
    "power_mw": "mean power of the step, MW",
    "energy_gwh": "energy of the step, GWh",
    "violation": "distance of the end storage from its bounds, as a fraction of the bound; 0 within the bounds",
}

_SOURCE = (
    "whose schedule the year holds: the solver's name, `NAME (second run)` for its second run, or `dp` or `dp-opencl` "
    "for the reference optimum"
)

_LOSSES = "only if the reservoir has losses or demands"

_STEP_LOSSES = {
    "evaporation_hm3": f"net evaporation of the step, hm3; {_LOSSES}",
    "seepage_hm3": f"seepage of the step, hm3; {_LOSSES}",
    "withdrawal_m3s": f"mean withdrawal, m3/s; {_LOSSES}",
    "shortage_m3s": f"mean withdrawal that is not delivered, m3/s; {_LOSSES}",
    "missing_m3s": "what is missing of the minimum release, because there is no more water above dead storage, m3/s; "
    "only if a step has too little",
}
#: ``schedule.csv`` of a plan: a row for each step.
SCHEDULE_COLUMNS: Mapping[str, str] = {
    **_MEMBER,
    **_MONTH,
    **_MONTH_OPERATED,
    "tailrace_m": "tailrace level at the step's mean release, m",
    "head_m": "gross head: level at the step's mean storage minus tailrace level, m",
    **_MONTH_MADE,
    **_STEP_LOSSES,
    "source": _SOURCE,
    "water_value_gwh_per_hm3": "value of one hm3 more at the end of the step, GWh per hm3; only in plans by dynamic "
    "programming; empty if only one storage is possible",
}
#: ``water_values.csv`` of a plan by dynamic programming: a row for each calendar month and storage.
WATER_VALUES_COLUMNS: Mapping[str, str] = {
    "month": _MONTH["month"],
    "storage_hm3": "storage at the start of the step, hm3",
    "level_m": "reservoir level at this storage, m",
    "mean_gwh_per_hm3": "water value, mean of these years, GWh per hm3; empty if there are none",
    "q10_gwh_per_hm3": "the same, 10 % quantile",
    "q90_gwh_per_hm3": "the same, 90 % quantile",
    "years": "number of years (with `--from`: of the scenarios) that can be completed from this storage and "
    "keep their limits",
}
#: ``summary.csv`` of a plan: a row for each year.
SUMMARY_COLUMNS: Mapping[str, str] = {
    **_MEMBER,
    "year": _MONTH["year"],
    "inflow_mean_m3s": "mean inflow of the year, m3/s",
    "energy_gwh": "energy of the year, GWh",
    "objective": "what is optimised, in the unit that plan.json states; costs have no sign; only if it is not energy",
    "firm_power_mw": "power that all steps of the problem give, or the share `firm_share`, MW; only with the goal "
    "firm-power",
    "spill_hm3": "volume of spill, hm3",
    "evaporation_hm3": f"net evaporation, hm3; {_LOSSES}",
    "seepage_hm3": f"seepage, hm3; {_LOSSES}",
    "withdrawal_hm3": f"volume withdrawn, hm3; {_LOSSES}",
    "shortage_hm3": f"volume of withdrawals that are not delivered, hm3; {_LOSSES}",
    "horizon": "first and last year of the problem that the year belongs to; only if a horizon is longer than a year",
    "storage_change_hm3": "storage at the end of the year minus storage at its start, hm3; only with such a horizon",
    "violation": "sum of the months' violations; 0 if all bounds are kept",
    "reference_gwh": "energy of the reference optimum (dynamic programming), GWh; empty with `--no-reference`",
    "reference_objective": "the same of an objective that is not in GWh, in place of `reference_gwh`",
    "reference_violation": "violation of the reference optimum; only present if a year cannot keep its limits",
    "gap": "relative difference to the reference optimum; empty in years that cannot keep their limits",
    "proven_bound": "what no schedule that keeps the limits can exceed, in the unit of the objective, with the value "
    "of the end storage if it has one; of a cost, what none can be below; empty if no schedule keeps the limits; only "
    "where it is proved",
    "proven_gap": "relative difference of the schedule to the proven bound; empty if it does not keep the limits; only "
    "where it is proved",
    "source": _SOURCE,
    "engine_gap": "gap of the solver's own best schedule; only present if a year holds the reference's",
    "generations": "generations of the solver for this year, of both runs",
    "evaluations": "schedules evaluated by the solver for this year, in both runs",
}
#: ``members.csv`` of a plan of an ensemble: a row for each member.
MEMBERS_COLUMNS: Mapping[str, str] = {
    "member": "name of the member",
    "years": "its years",
    "inflow_mean_m3s": "mean inflow, m3/s",
    "energy_gwh": "energy, mean of its years, GWh",
    "lowest_energy_gwh": "energy of its poorest year, GWh",
    "firm_power_mw": "mean power of a month that is exceeded in 90 % of the months, MW",
    "spill_hm3": "spill, mean of its years, hm3",
    "storage_mean_hm3": "mean storage at the ends of months, hm3",
    "lowest_storage_hm3": "lowest storage at the end of a month, hm3",
    "violating_years": "years that violate their limits; they are in the other columns, too",
}
#: ``robustness.csv`` of `reservoir rules`, of ensembles: a row for perfect foresight and each family, and each sample.
ROBUSTNESS_COLUMNS: Mapping[str, str] = {
    "family": "family of the rule; `foresight` is perfect foresight of each member",
    "sample": "`held-out`: each member operated by a rule fitted to others; `test`: members of the file of `--test`",
    "members": "number of members",
    "best_gwh": "mean annual energy of the member with the most, GWh; at equal end storage, as all energies here",
    "median_gwh": "median of the members' mean annual energies, GWh",
    "worst_decile_gwh": "mean of the tenth of the members with the least energy, GWh",
    "worst_gwh": "mean annual energy of the member with the least, GWh",
    "firm_median_mw": "firm power of a member (exceeded in 90 % of its months), median of the members, MW",
    "firm_worst_decile_mw": "mean firm power of the tenth of the members with the least, MW",
    "firm_worst_mw": "firm power of the member with the least, MW",
    "regret_mean_gwh": "regret of a member (annual energy of its perfect foresight minus that of the rule), mean, GWh",
    "regret_median_gwh": "median regret of the members, GWh",
    "regret_worst_decile_gwh": "mean regret of the tenth of the members with the most, GWh",
    "regret_largest_gwh": "largest regret of any member, GWh",
    "violating_members": "fraction of the members with any month outside the storage bounds, or without water for "
    "the minimum release",
}
#: ``simulation.csv`` of `reservoir simulate`: a row for each step.
SIMULATION_COLUMNS: Mapping[str, str] = {
    **_MEMBER,
    **_MONTH,
    "asked_m3s": "release that the rule asked for, m3/s",
    **_MONTH_OPERATED,
    **_MONTH_MADE,
    **_STEP_LOSSES,
    "repaired": "1 if the limits changed the release that the rule asked for, otherwise 0",
}
#: ``summary.csv`` of `reservoir simulate`: a row for each year.
SIMULATED_YEARS_COLUMNS: Mapping[str, str] = {
    **_MEMBER,
    "year": _MONTH["year"],
    "inflow_mean_m3s": SUMMARY_COLUMNS["inflow_mean_m3s"],
    "energy_gwh": SUMMARY_COLUMNS["energy_gwh"],
    "objective": "what is optimised, of the year, in its unit; only if it is not energy",
    "energy_at_equal_storage_gwh": "energy, and in the last year the value of the change of storage, GWh; "
    "`objective_at_equal_storage` if something else is optimised",
    "objective_at_equal_storage": "the same of another objective, in its unit",
    "foresight_gwh": "energy of perfect foresight over the record in this year, GWh; empty with `--no-foresight`",
    "foresight_objective": "the same of another objective, in its unit",
    "storage_end_hm3": "storage at the end of the year, hm3",
    "spill_hm3": SUMMARY_COLUMNS["spill_hm3"],
    "repairs": "months in which the limits changed the release that the rule asked for",
    "violation": SUMMARY_COLUMNS["violation"],
}
#: ``scores.csv`` of `reservoir rules`: a row for each family and sample of years.
SCORES_COLUMNS: Mapping[str, str] = {
    "family": "family of the rule; `foresight` is perfect foresight over the whole record",
    "sample": "`training`: fitted to all years; `held-out`: each year operated by a rule fitted to the other blocks; "
    "`test`: the file of `--test`, operated by the rule fitted to all years",
    "mean_gwh": "mean energy of a year at equal end storage, GWh; of another objective than energy, the columns of "
    "benefits end with `_objective` and are in its unit",
    "percent_of_foresight": "the same, as a percentage of perfect foresight, less the penalty of violations that "
    "foresight avoids; empty where the objective is a cost",
    "worst_decile_gwh": "mean energy of the worst tenth of the years, GWh",
    "worst_gwh": "energy of the worst year, GWh",
    "reliability": "fraction of the years that reach the target energy, see `rules.json`",
    "resilience": "fraction of the failing years that are followed by one that reaches it",
    "vulnerability": "mean shortfall of the failing years, as a fraction of the target",
    "spill_hm3": "mean volume of spill in a year, hm3",
    "repairs": "months in which the limits changed the release that the rule asked for",
    "run": "`continuous`: storage carried over from year to year; `yearly`: every year starts at the same storage, "
    "only if the plan is of years and the active storage is less than half of the mean annual inflow",
    "median_gwh": "median energy of a year, GWh",
    "regret_gwh": "energy of perfect foresight minus energy of the rule, at equal end storage and with the penalty of "
    "violations that foresight avoids, GWh a year",
    "firm_reliability": "fraction of the months that reach the target power, within 1 %",
    "firm_resilience": "fraction of the failing months that are followed by one that reaches it",
    "firm_vulnerability": "mean shortfall of the failing months, as a fraction of the target power",
    "firm_95_reliability": "fraction of the months that reach the stricter target power, within 1 %",
    "supply_reliability": "fraction of the months that deliver the withdrawal and the release demanded; empty without",
    "months_at_limit": "months that end with a storage at one of its bounds",
    "end_storage_value_gwh": "value of the change of storage, included in the mean, GWh a year: by how much less "
    "perfect foresight brings that ends with the same storage",
    "months_violated": "months that end with a storage outside its bounds",
    "largest_violation_hm3": "largest distance of a storage from its bounds, hm3",
    "violation": "sum of relative violations, of unmet demands too",
    "months_unmet": "months that miss the demanded withdrawal or the lowest power",
    "mean_energy_gwh": "mean energy of a year, GWh; only if something else than energy is optimised",
    "misfit_m3s": "root mean square difference to the plan's release in the plan's own states, m3/s; empty for a test",
}
