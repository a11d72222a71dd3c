"""Every column of results, once: its name, unit and meaning, how pages and screens show it, and where it comes from.

CSV files, datasets, pages, screens and the documentation read `TABLES`. A further row of a table is in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.commitments import LEAST, MOST, missing_hm3, sides

#: Of the year; not there where the objective is energy. Of a problem: the power that its steps give, in every year.
OBJECTIVE, FIRM_POWER = "objective", "firm_power_mw"
#: Of the reference: its energy, or what else the objective is.
REFERENCE_ENERGY, REFERENCE_OBJECTIVE = "reference_gwh", "reference_objective"
PROVEN_BOUND, PROVEN_GAP = "proven_bound", "proven_gap"
#: What is missing of the least release for want of water: a column where there is such a step.
MISSING = "missing_m3s"
#: First day of a step that is no month.
FIRST_DAY = "first_day"
#: In place of a unit: that of the objective. Names of such columns of rules end with ``_gwh``, or ``_objective``.
BENEFIT = "objective"
#: The energy of a score beside another objective.
MEAN_ENERGY = "mean_energy_gwh"
#: The firm power of a plan is exceeded in all but this part of the months.
FIRM_QUANTILE = 0.1

#: Of a record: the name of an attribute, with dots, or what makes it.
Attribute = str | Callable[[Any], Any]


class Shown(NamedTuple):
    """How a page or a screen shows a column: its head, the form of its numbers, and its place in a table of `kind`.

    An empty form writes numbers as `reservoir.text.quantities.quantity` does; the unit is left out of heads where it
    is that of the objective.
    """

    title: str
    form: str = ""
    place: float = 0
    kind: str = ""
    unit: str | None = None
    times: float = 1.0


@dataclass(frozen=True)
class ResultColumn:
    """A column of results, in one of the `TABLES`.

    Parameters
    ----------
    name : str
        In CSV files and in tables in memory, with its unit.
    meaning : str
        For the documentation.
    unit : str
        As texts write it (`reservoir.hydro.unit_system`); `BENEFIT` for that of the objective.
    of : str or callable, optional
        Its values in a record that is operated or planned, or the attribute of the record that has them; by step of
        shape (years, steps), by year of shape (years,). None if they stand in the record's own table by this name.
    long_name : str
        Its meaning in datasets; empty if it is not in them.
    variable : str
        Name there, if it is another.
    cells : str
        Form of its numbers in CSV files, if six decimals would cut them short.
    only : str or callable, optional
        What of a record must be there, or true, for it to have the column.
    by_problem : bool
        Whether its values are of problems, which tables repeat for their years.
    page, screen : Shown, optional
        How pages and the screen show it; None where they do not.
    """

    name: str
    meaning: str
    unit: str = ""
    of: Attribute | None = None
    long_name: str = ""
    variable: str = ""
    cells: str = ""
    only: Attribute | None = None
    by_problem: bool = False
    page: Shown | None = None
    screen: Shown | None = None

    def values(self, record: Any) -> NDArray[Any] | None:
        """Its values in a record, or None where it has none."""
        of, only = (attrgetter(each) if isinstance(each, str) else each for each in (self.of, self.only))
        if of is None or not (only is None or only(record)):
            return None
        values = np.asarray(of(record))
        return values[record.problems.of_year] if self.by_problem else values

    @property
    def attributes(self) -> dict[str, str]:
        """Those of the variable of a dataset."""
        units = {"m3/s": "m3 s-1", "GWh per hm3": "GWh hm-3", "": "1", "text": ""}.get(self.unit, self.unit)
        return ({"units": units} if units else {}) | {"long_name": self.long_name}

    def benefit_name(self, suffix: str) -> str:
        """The name with what names of benefits end with, if it is one."""
        return f"{self.name}_{suffix}" if self.unit == BENEFIT else self.name


def table_of(name: str, record: Any) -> dict[str, NDArray[Any]]:
    """Values of the columns of a table that a record has."""
    columns = {column.name: column.values(record) for column in TABLES[name]}
    return {name: values for name, values in columns.items() if values is not None}


def column_of(table: str, name: str, record: Any) -> NDArray[Any] | None:
    """Values of one column of a table, or None if a record has none."""
    return next(column.values(record) for column in TABLES[table] if column.name == name)


def variables_of(name: str, record: Any) -> dict[str, tuple[NDArray[Any], dict[str, str]]]:
    """Values and attributes of the variables of datasets that a record has, by name."""
    columns = [(column, column.values(record)) for column in TABLES[name] if column.long_name]
    return {
        column.variable or column.name: (values, column.attributes) for column, values in columns if values is not None
    }


def shown_columns(name: str, where: str, kind: str = "") -> list[ResultColumn]:
    """Columns of a table that a ``page`` or the ``screen`` shows in a table of a kind, in their order there."""
    shown = attrgetter(where)
    columns = [column for column in TABLES[name] if shown(column) is not None and shown(column).kind == kind]
    return sorted(columns, key=lambda column: float(shown(column).place))


def meanings(name: str) -> Mapping[str, str]:
    """Meaning of each column of a table by the name that it has in files, those of benefits for energy."""
    return {column.benefit_name("gwh"): column.meaning for column in TABLES[name]}


def forms_of_cells(name: str) -> Mapping[str, str]:
    """Forms of the numbers of a table in CSV files, of those that have one of their own."""
    return {column.name: column.cells for column in TABLES[name] if column.cells}


def shown(objective: Any, benefit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Benefits as tables show them: costs without a sign. What is shown is a benefit again by the same."""
    return -benefit if objective.is_cost else benefit


def second_run(solver: str) -> str:
    """What the second run of a solver is called: a source, and a stage."""
    return f"{solver} (second run)"


#: Source of schedules that are found where a proof leaves better ones possible.
AFTER_PROOF = "search after the proof"


def by_member(record: Any, values: NDArray[Any]) -> NDArray[Any]:
    """Values of years, or of their steps, with a row a member."""
    return values.reshape(len(record.inflow.members), -1)


def _volume(name: str) -> Callable[[Any], NDArray[Any]]:
    """Volume of a year: of a flow by its steps, of volumes their sum."""

    def volumes(record: Any) -> NDArray[Any]:
        values = getattr(record.operation, name)
        of_steps = values * record.inflow.calendar.hm3_per_m3s if name.endswith("_m3s") else values
        return np.asarray(of_steps.sum(axis=1))

    return volumes


def _beside_energy(record: Any) -> bool:
    """Whether something else than energy is optimised."""
    return not record.objective.is_energy


def _shown(name: str) -> Callable[[Any], NDArray[Any]]:
    """Benefits of a run of a rule by the name of an attribute, as tables show them."""
    return lambda run: shown(run.objective, getattr(run, name))


def _in_gwh(plan: Any) -> bool:
    return bool(plan.objective.unit == "GWh")


def _service(title: str, unit: str, place: float) -> Shown:
    return Shown(title, "{:.1f}", place, "service", unit, 100)


#: Of a record: whether its reservoir has losses or demands.
_CONDITIONS = "operation.has_conditions"
_LOSSES = "only if the reservoir has losses or demands"
_YEAR = "label of the year in the inflow record: `1953`, or `1953/54` for a water year"
_MONTH = "calendar month, 1 to 12; of a shorter step, that of its middle"
_SOURCE = (
    "whose schedule the year holds: the solver's name, `NAME (second run)` for its second run, `dp` or `dp-opencl` "
    "for the reference optimum, or `search after the proof`"
)
_NAMES = (ResultColumn("member", "name of the member of the ensemble; only there"), ResultColumn("year", _YEAR))
_STEP_NAMES = (
    *_NAMES,
    ResultColumn("month", _MONTH),
    ResultColumn(FIRST_DAY, "first day of the step; only if steps are not months"),
)
# fmt: off
_WHOLE, _TENTH, _GAP = "{:,.0f}", "{:,.1f}", "{:.4f}"
#: What a step comes to.
_STEPS = (
    ResultColumn("inflow_m3s", "mean inflow of the step, m3/s", "m3/s", "inflow.flow_m3s", "mean inflow of the step",
        page=Shown("Inflow", _WHOLE)),
    ResultColumn("release_m3s", "mean release (turbine flow and spill), m3/s", "m3/s", "operation.release_m3s",
        "mean release of the step", page=Shown("Release", _WHOLE)),
    ResultColumn("turbined_m3s", "mean turbine flow, m3/s", "m3/s", "operation.turbined_m3s",
        "mean turbine flow of the step", page=Shown("Turbined", _WHOLE)),
    ResultColumn("spill_m3s", "mean spill, m3/s", "m3/s", "operation.spill_m3s", "mean spill of the step",
        page=Shown("Spilled", _WHOLE)),
    ResultColumn("storage_start_hm3", "storage at the start of the step, hm3", "hm3",
        lambda record: record.operation.storage_hm3[:, :-1]),
    ResultColumn("storage_end_hm3", "storage at the end of the step, hm3", "hm3",
        lambda record: record.operation.storage_hm3[:, 1:], page=Shown("Storage at end", _WHOLE)),
    ResultColumn("level_m", "reservoir level at the end of the step, m", "m", "operation.level_m",
        "reservoir level at the end of the step", page=Shown("Level at end", _TENTH)),
    ResultColumn("tailrace_m", "tailrace level at the step's mean release, m", "m", "operation.tailrace_m",
        "tailrace level at the mean release of the step"),
    ResultColumn("head_m", "gross head: level at the step's mean storage minus tailrace level, m", "m",
        "operation.head_m", "level at the mean storage of the step less the tailrace level",
        page=Shown("Head", _TENTH)),
    ResultColumn("power_mw", "mean power of the step, MW", "MW", "operation.power_mw", "mean power of the step",
        page=Shown("Power", _WHOLE)),
    ResultColumn("energy_gwh", "energy of the step, GWh", "GWh", "operation.energy_gwh", "energy of the step",
        page=Shown("Energy", _WHOLE)),
    ResultColumn("violation",
        "distance of the end storage from its bounds, as a fraction of the bound; 0 within the bounds", "",
        "operation.violation",
        "distance of the end storage from its bounds, relative to the bound; and demands not kept"),
    ResultColumn("evaporation_hm3", f"net evaporation of the step, hm3; {_LOSSES}", "hm3", "operation.evaporation_hm3",
        "net evaporation of the step, computed or recorded", only=_CONDITIONS),
    ResultColumn("seepage_hm3", f"seepage of the step, and recorded bank storage, hm3; {_LOSSES}", "hm3",
        "operation.seepage_hm3", "seepage of the step, and recorded bank storage", only=_CONDITIONS),
    ResultColumn("withdrawal_m3s", f"mean withdrawal, m3/s; {_LOSSES}", "m3/s", "operation.withdrawal_m3s",
        "mean flow withdrawn in the step", only=_CONDITIONS),
    ResultColumn("shortage_m3s", f"mean withdrawal that is not delivered, m3/s; {_LOSSES}", "m3/s",
        "operation.shortage_m3s", "mean flow of the demand that was not withdrawn", only=_CONDITIONS),
    ResultColumn(MISSING,
        "what is missing of the minimum release, because there is no more water above dead storage, m3/s; only if a "
        "step has too little", "m3/s", "operation.missing_m3s",
        "mean flow that is missing of the minimum release, for want of water",
        only=lambda record: record.operation.missing_m3s.any()),
)
#: What a step of a plan has besides.
_PLANNED_STEPS = (
    ResultColumn("source", _SOURCE, "text",
        lambda plan: np.repeat(plan.source, plan.inflow.steps).reshape(-1, plan.inflow.steps)),
    ResultColumn("water_value_gwh_per_hm3",
        "value of one hm3 more at the end of the step, GWh per hm3; only in plans by dynamic programming; empty if "
        "only one storage is possible", "GWh per hm3", "water_values.month_end_gwh_per_hm3",
        "value of one hm3 more at the end of the step", only="water_values"),
)
_ASKED = ResultColumn("asked_m3s", "release that the rule asked for, m3/s", "m3/s", "asked_m3s",
        "mean release that was given")
_REPAIRED = ResultColumn("repaired", "1 if the limits changed the release that the rule asked for, otherwise 0",
        of=lambda record: record.repaired.astype(int))
#: What a year of a plan comes to.
_YEARS = (
    ResultColumn("inflow_mean_m3s", "mean inflow of the year, m3/s", "m3/s", "inflow.annual_mean_m3s",
        page=Shown("Mean inflow", _WHOLE, -1)),
    ResultColumn("energy_gwh", "energy of the year, GWh", "GWh", "energy_gwh", "energy of the year",
        variable="annual_energy_gwh", page=Shown("Energy", _TENTH, -1)),
    ResultColumn(OBJECTIVE,
        "what is optimised, in the unit that plan.json states; costs have no sign; only if it is not energy", "",
        "benefit", "what is optimised, in its own unit", cells="{:.12g}",
        only=_beside_energy, page=Shown("Objective", place=-1)),
    ResultColumn(FIRM_POWER,
        "power that all steps of the problem give, or the share `firm_share`, MW; only with the goal firm-power", "MW",
        "firm_power_mw", "power that the steps of the horizon give",
        only=lambda plan: plan.objective.is_firm or plan.objective.firm_power_mw is not None, by_problem=True,
        page=Shown("Firm power", place=-1)),
    ResultColumn("spill_hm3", "volume of spill, hm3", "hm3", _volume("spill_m3s"), page=Shown("Spill", _WHOLE)),
    ResultColumn("evaporation_hm3", f"net evaporation, hm3; {_LOSSES}", "hm3", _volume("evaporation_hm3"),
        only=_CONDITIONS, page=Shown("Evaporation", _WHOLE)),
    ResultColumn("seepage_hm3", f"seepage, hm3; {_LOSSES}", "hm3", _volume("seepage_hm3"),
        only=_CONDITIONS, page=Shown("Seepage", _WHOLE)),
    ResultColumn("withdrawal_hm3", f"volume withdrawn, hm3; {_LOSSES}", "hm3", _volume("withdrawal_m3s"),
        only=_CONDITIONS, page=Shown("Withdrawal", _WHOLE)),
    ResultColumn("shortage_hm3", f"volume of withdrawals that are not delivered, hm3; {_LOSSES}", "hm3",
        _volume("shortage_m3s"), only=_CONDITIONS, page=Shown("Shortage", _WHOLE)),
    ResultColumn("missing_release_hm3",
        "what is missing of the annual release, hm3; only of a reservoir with a least one", "hm3",
        lambda record: missing_hm3(record.reservoir, record.operation, record.inflow.calendar.hm3_per_m3s).sum(axis=1),
        only=lambda record: LEAST in sides(record.reservoir), page=Shown("Missing of annual release", _WHOLE)),
    ResultColumn("excess_release_hm3",
        "what is released beyond the largest annual release, hm3; only of a reservoir with one", "hm3",
        lambda record: missing_hm3(
            record.reservoir, record.operation, record.inflow.calendar.hm3_per_m3s, MOST).sum(axis=1),
        only=lambda record: MOST in sides(record.reservoir), page=Shown("Beyond largest annual release", _WHOLE)),
    ResultColumn("horizon",
        "first and last year of the problem that the year belongs to; only if a horizon is longer than a year", "text",
        lambda plan: np.array(plan.problems.labels), only=lambda plan: not plan.horizon.is_year, by_problem=True),
    ResultColumn("storage_change_hm3",
        "storage at the end of the year minus storage at its start, hm3; only with such a horizon", "hm3",
        lambda plan: plan.operation.storage_hm3[:, -1] - plan.operation.storage_hm3[:, 0],
        only=lambda plan: not plan.horizon.is_year, page=Shown("Change of storage", _WHOLE, -1)),
    ResultColumn("violation", "sum of the months' violations; 0 if all bounds are kept", "", "violation",
        "sum of the violations of the year's steps", variable="annual_violation",
        page=Shown("Violation", "{:.3g}", unit="relative")),
    ResultColumn(REFERENCE_ENERGY,
        "energy of the reference optimum (dynamic programming), GWh; empty with `--no-reference`", "GWh",
        "reference_benefit", "energy of the reference optimum", only=_in_gwh, page=Shown("Reference optimum", _TENTH)),
    ResultColumn(REFERENCE_OBJECTIVE, "the same of an objective that is not in GWh, in place of `reference_gwh`", "",
        "reference_benefit", "objective of the reference optimum, in its own unit", cells="{:.12g}",
        only=lambda plan: not _in_gwh(plan), page=Shown("Reference objective")),
    ResultColumn("reference_violation",
        "violation of the reference optimum; only present if a year cannot keep its limits", "", "reference_violation",
        "violation of the reference optimum", only=lambda plan: plan.reference_violation.any(),
        page=Shown("Reference violation", "{:.3g}", unit="relative")),
    ResultColumn("gap", "relative difference to the reference optimum; empty in years that cannot keep their limits",
        "", "gap", "relative difference to the reference optimum", cells="{:.3e}",
        page=Shown("Gap", _GAP, unit="%", times=100)),
    ResultColumn(PROVEN_BOUND,
        "what no schedule that keeps the limits can exceed, in the unit of the objective, with the value of the end "
        "storage if it has one; of a cost, what none can be below; empty if no schedule keeps the limits; only "
        "where it is proved", "", lambda plan: shown(plan.objective, plan.proofs.finite_bound),
        "what no schedule that keeps the limits can exceed, in the unit of the objective", cells="{:.12g}",
        only="proofs", by_problem=True, page=Shown("Proven bound")),
    ResultColumn(PROVEN_GAP,
        "relative difference of the schedule to the proven bound; empty if it does not keep the limits; only where "
        "it is proved", "", "proofs.finite_gap", "relative difference of the schedule to the proven bound",
        cells="{:.3e}", only="proofs", by_problem=True, page=Shown("Proven gap", _GAP, unit="%", times=100)),
    ResultColumn("source", _SOURCE, "text", "source",
        "whose schedule the year holds: the solver's, of its second run, or the reference's"),
    ResultColumn("engine_gap", "gap of the solver's own best schedule; only present if a year holds the reference's",
        "", "engine_gap", "relative difference of the solver's own schedule to the reference optimum", cells="{:.3e}",
        only=lambda plan: plan.from_reference.any(), page=Shown("Gap of the solver's own", _GAP, unit="%", times=100)),
    ResultColumn("generations", "generations of the solver for this year, of both runs", "", "solutions.generations",
        "generations of the solver, of both runs", by_problem=True, page=Shown("Generations", _WHOLE)),
    ResultColumn("evaluations", "schedules evaluated by the solver for this year, in both runs", "",
        "solutions.evaluations", "schedules evaluated by the solver, in both runs", by_problem=True),
)
_YEAR_OF = {column.name: column for column in _YEARS}
_RESERVOIR = ResultColumn("reservoir", "name of the reservoir")
#: What a step of one reservoir of a system comes to, and a year.
_SITE_STEPS = (
    replace(_STEPS[0], meaning="mean inflow of the step, local and from above, m3/s"),
    ResultColumn("arriving_m3s", "what links bring of it from reservoirs above, m3/s", "m3/s", "arriving_m3s",
        "mean flow that links bring in the step", page=Shown("From above", _WHOLE)),
    *_STEPS[1:],
)
_SITE_YEARS = tuple(
    replace(column, variable=column.long_name and (column.variable or f"annual_{column.name}"))
    for column in (_YEAR_OF[name] for name in ("inflow_mean_m3s", "energy_gwh", "spill_hm3", "evaporation_hm3",
                                               "seepage_hm3", "withdrawal_hm3", "shortage_hm3", "missing_release_hm3",
                                               "excess_release_hm3",
                                               "violation"))
)
#: What a year of a system comes to.
_SYSTEM_YEARS = (
    ResultColumn("local_inflow_mean_m3s", "mean inflow of the year, the sum of all reservoirs' local inflow, m3/s",
        "m3/s", lambda plan: sum(each.annual_mean_m3s for each in plan.inflows.values()),
        page=Shown("Local inflow", _WHOLE)),
    replace(_YEAR_OF["energy_gwh"], meaning="energy of all plants in the year, GWh"),
    ResultColumn(OBJECTIVE, "what is optimised, in its unit; costs have no sign; only if it is not energy", "",
        "benefit", "what is optimised, in its own unit", cells="{:.12g}", only=_beside_energy,
        page=Shown("Objective")),
    replace(_YEAR_OF[FIRM_POWER], meaning="power of all plants together that all steps of the problem give, or the "
        "share `firm_share`, MW; only with the goal firm-power or a required firm power"),
    ResultColumn("lowest_power_mw", "lowest mean power of all plants together in a step, MW", "MW",
        lambda plan: plan.operation.power_mw.min(axis=1), page=Shown("Lowest power", _WHOLE)),
    ResultColumn("spill_hm3", "volume of spill, the sum of all reservoirs, hm3", "hm3",
        lambda plan: (plan.operation.total("spill_m3s") * plan.operation.hm3_per_m3s).sum(axis=1),
        page=Shown("Spill", _WHOLE)),
    ResultColumn("under_way_hm3", "what links still carry at the end of the year, hm3; only with travel times", "hm3",
        lambda plan: sum(plan.operation.under_way_hm3(link) for link in plan.system.links),
        only=lambda plan: any(link.travel_steps for link in plan.system.links), page=Shown("Under way", _WHOLE)),
    ResultColumn("violation", "sum of the relative violations of all reservoirs; 0 within their limits", "",
        "violation", "sum of the relative violations of all reservoirs", page=Shown("Violation", "{:.3g}")),
    ResultColumn("source", "whose schedule the year holds: the solver's name", "text", "source",
        "whose schedule the year holds"),
    _YEAR_OF["horizon"],
    _YEAR_OF[PROVEN_BOUND], _YEAR_OF[PROVEN_GAP],
)
_STORAGE_END = ResultColumn("storage_end_hm3", "storage at the end of the year, hm3", "hm3",
        lambda run: run.operation.storage_hm3[:, -1])
_REPAIRS = ResultColumn("repairs", "months in which the limits changed the release that the rule asked for", "",
        lambda run: run.repaired.sum(axis=1), "steps of the year in which the limits changed the given release")
_OF_YEAR = "of the year, in its unit; only if it is not energy"
_SIMULATED_YEARS = (
    _YEAR_OF["inflow_mean_m3s"],
    _YEAR_OF["energy_gwh"],
    ResultColumn(OBJECTIVE, f"what is optimised, {_OF_YEAR}", "", _shown("made"), only=_beside_energy),
    ResultColumn("energy_at_equal_storage_gwh",
        "energy, and in the last year the value of the change of storage, GWh; `objective_at_equal_storage` if "
        "something else is optimised", "", "at_equal_storage", only="objective.is_energy"),
    ResultColumn("objective_at_equal_storage", "the same of another objective, in its unit", "",
        _shown("at_equal_storage"), only=_beside_energy),
    ResultColumn("foresight_gwh",
        "energy of perfect foresight over the record in this year, GWh; empty with `--no-foresight`", "",
        "foresight_benefit", only="objective.is_energy"),
    ResultColumn("foresight_objective", "the same of another objective, in its unit", "",
        _shown("foresight_benefit"), only=_beside_energy),
    _STORAGE_END,
    _YEAR_OF["spill_hm3"],
    _REPAIRS,
    _YEAR_OF["violation"],
)
#: Of ensembles.
_MEMBERS = (
    ResultColumn("member", "name of the member"),
    ResultColumn("years", "its years"),
    ResultColumn("inflow_mean_m3s", "mean inflow, m3/s", "m3/s",
        lambda record: by_member(record, record.inflow.annual_mean_m3s).mean(axis=1),
        page=Shown("Mean inflow", _WHOLE)),
    ResultColumn("energy_gwh", "energy, mean of its years, GWh", "GWh",
        lambda record: by_member(record, record.energy_gwh).mean(axis=1),
        page=Shown("Energy", _TENTH, unit="GWh a year")),
    ResultColumn("lowest_energy_gwh", "energy of its poorest year, GWh", "GWh",
        lambda record: by_member(record, record.energy_gwh).min(axis=1), page=Shown("Poorest year", _TENTH)),
    ResultColumn(FIRM_POWER, "mean power of a month that is exceeded in 90 % of the months, MW", "MW",
        lambda record: np.quantile(by_member(record, record.operation.power_mw), FIRM_QUANTILE, axis=1),
        page=Shown("Firm power", _WHOLE)),
    ResultColumn("spill_hm3", "spill, mean of its years, hm3", "hm3",
        lambda record: by_member(record, record.spill_m3s * record.inflow.calendar.hm3_per_m3s).sum(axis=1)
        / record.inflow.calendar.years_each,
        page=Shown("Spill", _WHOLE, unit="hm³ a year")),
    ResultColumn("storage_mean_hm3", "mean storage at the ends of months, hm3", "hm3",
        lambda record: by_member(record, record.operation.storage_hm3[:, 1:]).mean(axis=1),
        page=Shown("Mean storage", _WHOLE)),
    ResultColumn("lowest_storage_hm3", "lowest storage at the end of a month, hm3", "hm3",
        lambda record: by_member(record, record.operation.storage_hm3[:, 1:]).min(axis=1),
        page=Shown("Lowest storage", _WHOLE)),
    ResultColumn("violating_years", "years that violate their limits; they are in the other columns, too", "",
        lambda record: (~by_member(record, record.keeps_limits)).sum(axis=1),
        page=Shown("Years that violate limits", _WHOLE, unit="")),
)
_ENERGY, _LIMITS, _MONTHS = "energy", "limits", "months"
#: Of `reservoir.rules`: a row for each family and sample of years; attributes of its scores.
_SCORES = (
    ResultColumn("family", "family of the rule; `foresight` is perfect foresight over the whole record"),
    ResultColumn("sample",
        "`training`: fitted to all years; `held-out`: each year operated by a rule fitted to the other blocks; "
        "`test`: the file of `--test`, operated by the rule fitted to all years"),
    ResultColumn("mean",
        "mean energy of a year at equal end storage, GWh; of another objective than energy, the columns of benefits "
        "end with `_objective` and are in its unit", BENEFIT, page=Shown("Mean", place=1, kind=_ENERGY),
        screen=Shown("mean", place=1)),
    ResultColumn("percent_of_foresight",
        "the same, as a percentage of perfect foresight, less the penalty of violations that foresight avoids; "
        "empty where the objective is a cost", page=Shown("Of foresight", "{:.2f}", 2, _ENERGY, "%"),
        screen=Shown("% of foresight", "{:.2f}", 2)),
    ResultColumn("worst_decile", "mean energy of the worst tenth of the years, GWh", BENEFIT,
        page=Shown("Worst decile", place=5, kind=_ENERGY), screen=Shown("worst decile", place=7)),
    ResultColumn("worst", "energy of the worst year, GWh", BENEFIT, page=Shown("Worst year", place=6, kind=_ENERGY),
        screen=Shown("worst year", place=3)),
    ResultColumn("reliability", "fraction of the years that reach the target energy, see `rules.json`",
        page=_service("Reliable", "years, %", 1), screen=Shown("reliable", "{:.0%}", 4)),
    ResultColumn("resilience", "fraction of the failing years that are followed by one that reaches it",
        page=_service("Resilient", "years, %", 2), screen=Shown("resilience", "{:.0%}", 8)),
    ResultColumn("vulnerability", "mean shortfall of the failing years, as a fraction of the target",
        page=_service("Shortfall", "years, %", 3), screen=Shown("vulnerability", "{:.1%}", 9)),
    ResultColumn("spill_hm3", "mean volume of spill in a year, hm3", "hm3",
        page=Shown("Spill", _WHOLE, 7, _ENERGY, "hm³ per year"), screen=Shown("spill", place=5)),
    ResultColumn("repairs", "months in which the limits changed the release that the rule asked for",
        page=Shown("Repaired", _WHOLE, 2, _LIMITS, _MONTHS), screen=Shown("repairs", "{:d}", 10)),
    ResultColumn("run",
        "`continuous`: storage carried over from year to year; `yearly`: every year starts at the same storage, "
        "only if the plan is of years and the active storage is less than half of the mean annual inflow"),
    ResultColumn("median", "median energy of a year, GWh", BENEFIT, page=Shown("Median", place=4, kind=_ENERGY)),
    ResultColumn("regret",
        "energy of perfect foresight minus energy of the rule, at equal end storage and with the penalty of "
        "violations that foresight avoids, GWh a year", BENEFIT, page=Shown("Regret", place=3, kind=_ENERGY),
        screen=Shown("regret", place=6)),
    ResultColumn("firm_reliability", "fraction of the months that reach the target power, within 1 %",
        page=_service("Reliable", "months, %", 4)),
    ResultColumn("firm_resilience", "fraction of the failing months that are followed by one that reaches it",
        page=_service("Resilient", "months, %", 5)),
    ResultColumn("firm_vulnerability", "mean shortfall of the failing months, as a fraction of the target power",
        page=_service("Shortfall", "months, %", 6)),
    ResultColumn("firm_95_reliability", "fraction of the months that reach the stricter target power, within 1 %",
        page=_service("Strict", "months, %", 7)),
    ResultColumn("supply_reliability",
        "fraction of the months that deliver the withdrawal and the release demanded; empty without",
        page=_service("Supplied", "months, %", 8)),
    ResultColumn("months_at_limit", "months that end with a storage at one of its bounds",
        page=Shown("At a limit", _WHOLE, 1, _LIMITS, _MONTHS)),
    ResultColumn("end_storage_value",
        "value of the change of storage, included in the mean, GWh a year: by how much less perfect foresight "
        "brings that ends with the same storage", BENEFIT, page=Shown("End storage", place=8, kind=_ENERGY)),
    ResultColumn("months_violated", "months that end with a storage outside its bounds",
        page=Shown("Outside", _WHOLE, 3, _LIMITS, _MONTHS), screen=Shown("months outside limits", "{:d}", 11)),
    ResultColumn("largest_violation_hm3", "largest distance of a storage from its bounds, hm3", "hm3",
        page=Shown("Largest", "{:,.3g}", 4, _LIMITS)),
    ResultColumn("violation", "sum of relative violations, of unmet demands too"),
    ResultColumn("months_unmet", "months that miss the demanded withdrawal or the lowest power",
        page=Shown("Demands unmet", _WHOLE, 5, _LIMITS, _MONTHS), screen=Shown("demands unmet", "{:d}", 12)),
    ResultColumn(MEAN_ENERGY, "mean energy of a year, GWh; only if something else than energy is optimised", "GWh",
        page=Shown("Energy", place=9, kind=_ENERGY)),
    ResultColumn("misfit_m3s",
        "root mean square difference to the plan's release in the plan's own states, m3/s; empty for a test", "m3/s"),
)
#: Of `reservoir.rules` of a system: the reservoir, and the other columns that it has.
_SCORED = ResultColumn("reservoir", "name of the reservoir; `system` for all together")
_OF_SYSTEMS = (
    *("mean", "percent_of_foresight", "worst", "spill_hm3", "regret", "end_storage_value"),
    *("months_violated", "largest_violation_hm3", "violation", "months_unmet"),
)
#: Of `reservoir.rules` with ensembles: a row for perfect foresight and each family, and each sample.
_ROBUSTNESS = (
    ResultColumn("family", "family of the rule; `foresight` is perfect foresight of each member"),
    ResultColumn("sample",
        "`held-out`: each member operated by a rule fitted to others; `test`: members of the file of `--test`"),
    ResultColumn("members", "number of members"),
    ResultColumn("best",
        "mean annual energy of the member with the most, GWh; at equal end storage, as all energies here", BENEFIT,
        page=Shown("Best")),
    ResultColumn("median", "median of the members' mean annual energies, GWh", BENEFIT, page=Shown("Median"),
        screen=Shown("median")),
    ResultColumn("worst_decile", "mean of the tenth of the members with the least energy, GWh", BENEFIT,
        page=Shown("Worst decile"), screen=Shown("worst decile")),
    ResultColumn("worst", "mean annual energy of the member with the least, GWh", BENEFIT, page=Shown("Worst"),
        screen=Shown("worst")),
    ResultColumn("firm_median_mw", "firm power of a member (exceeded in 90 % of its months), median of the members, MW",
        "MW", page=Shown("Firm power, median")),
    ResultColumn("firm_worst_decile_mw", "mean firm power of the tenth of the members with the least, MW", "MW",
        page=Shown("Worst decile")),
    ResultColumn("firm_worst_mw", "firm power of the member with the least, MW", "MW"),
    ResultColumn("regret_mean",
        "regret of a member (annual energy of its perfect foresight minus that of the rule), mean, GWh", BENEFIT,
        page=Shown("Regret, mean"), screen=Shown("regret, mean")),
    ResultColumn("regret_median", "median regret of the members, GWh", BENEFIT, page=Shown("Median")),
    ResultColumn("regret_worst_decile", "mean regret of the tenth of the members with the most, GWh", BENEFIT,
        page=Shown("Worst decile"), screen=Shown("worst decile")),
    ResultColumn("regret_largest", "largest regret of any member, GWh", BENEFIT, page=Shown("Largest"),
        screen=Shown("largest")),
    ResultColumn("violating_members",
        "fraction of the members with any month outside the storage bounds, or without water for the minimum release",
        page=Shown("Violating", "{:.1f}", unit="members, %", times=100),
        screen=Shown("members outside limits", "{:.0%}")),
)
#: Of `reservoir.plan` by dynamic programming: a row for each calendar month and storage.
_WATER_VALUES = (
    ResultColumn("month", _MONTH),
    ResultColumn("storage_hm3", "storage at the start of the step, hm3", "hm3"),
    ResultColumn("level_m", "reservoir level at this storage, m", "m"),
    ResultColumn("mean_gwh_per_hm3", "water value, mean of these years, GWh per hm3; empty if there are none",
        "GWh per hm3"),
    ResultColumn("q10_gwh_per_hm3", "the same, 10 % quantile", "GWh per hm3"),
    ResultColumn("q90_gwh_per_hm3", "the same, 90 % quantile", "GWh per hm3"),
    ResultColumn("years",
        "number of years (with `--from`: of the scenarios) that can be completed from this storage and keep their "
        "limits"),
)
_KEPT_IN_BOTH = "of the years that keep their limits in the plan and in the base"


def _with_change(column: ResultColumn, ending: str = "") -> Iterator[ResultColumn]:
    """A column of a plan that is compared, and that of its change against the base."""
    yield column
    name = f"{column.name.removesuffix(ending)}_change{ending}"
    yield replace(column, name=name, meaning="its change against the base in the same years", page=None)


#: Of `reservoir compare` of plans: a row for each, the base first, and of systems for each reservoir.
_COMPARED = (
    ResultColumn("plan", "name of the plan's folder; the first is the base"),
    ResultColumn("reservoir", "name of the reservoir; `system` for all together; only of systems"),
    ResultColumn("years", "years that the plan has in common with the base"),
    ResultColumn("failing_years", "of these, years that violate their limits"),
    ResultColumn("compared_years", "of these, years that keep their limits in the plan and in the base"),
    *_with_change(ResultColumn("energy_gwh", f"mean energy of a year, GWh; {_KEPT_IN_BOTH}, as all that follows", "GWh",
        page=Shown("Energy", unit="GWh a year")), "_gwh"),
    *_with_change(ResultColumn(OBJECTIVE,
        "mean of what is optimised, in its unit; costs have no sign; only if all plans optimise the same, not energy",
        page=Shown("Objective", unit=BENEFIT))),
    ResultColumn("worst_year", "year with the least energy"),
    *_with_change(ResultColumn("worst_energy_gwh", "energy of that year, GWh", "GWh",
        page=Shown("Worst year")), "_gwh"),
    *_with_change(ResultColumn("lowest_power_mw", "power that every step gives, MW", "MW",
        page=Shown("Power in all steps")), "_mw"),
    *_with_change(ResultColumn(FIRM_POWER, "power that 90 % of the steps give, MW", "MW",
        page=Shown("Power in 90 % of steps")), "_mw"),
    *_with_change(ResultColumn("spill_hm3", "mean spill of a year, hm3", "hm3",
        page=Shown("Spill", unit="hm3 a year")), "_hm3"),
    *_with_change(ResultColumn("percent_of_foresight",
        "of the rule that brings most in held-out years: its part of perfect foresight, as `scores.csv` has it; empty "
        "if the plan has no rules", page=Shown("Best rule", unit="% of foresight"))),
    ResultColumn("best_rule", "family of that rule"),
)
# fmt: on


def _with_asked(columns: Iterable[ResultColumn], *left_out: str) -> Iterator[ResultColumn]:
    """Columns of steps but for some, with the release that was asked for before the release."""
    for column in columns:
        if column.name not in left_out:
            yield from (_ASKED, column) if column.name == "release_m3s" else (column,)


#: Columns by table, in the order in which they are written: of any step; ``schedule.csv``, ``summary.csv``,
#: ``members.csv`` and ``water_values.csv`` of a plan; steps and years of `reservoir.simulate`; ``scores.csv``,
#: that of a system, ``robustness.csv``, ``simulation.csv`` and its ``summary.csv`` of rules; ``comparison.csv``.
TABLES: dict[str, tuple[ResultColumn, ...]] = {
    "steps": _STEPS,
    "schedule": (*_STEP_NAMES, *_STEPS, *_PLANNED_STEPS),
    "summary": (*_NAMES, *_YEARS),
    "site_steps": (*_STEP_NAMES, _RESERVOIR, *_SITE_STEPS),
    "site_years": (*_NAMES, _RESERVOIR, *_SITE_YEARS),
    "system_years": (*_NAMES, *_SYSTEM_YEARS),
    "simulated_system_years": (
        *_NAMES,
        *(
            each
            for each in _SYSTEM_YEARS
            if each.name not in (FIRM_POWER, "source", "horizon", PROVEN_BOUND, PROVEN_GAP)
        ),
    ),
    "members": _MEMBERS,
    "water_values": _WATER_VALUES,
    "given_steps": (*_STEP_NAMES, *_with_asked(_STEPS), _REPAIRED),
    "given_years": (
        *_NAMES,
        *(_YEAR_OF[name] for name in ("inflow_mean_m3s", "energy_gwh")),
        *(_STORAGE_END, _YEAR_OF["spill_hm3"], _REPAIRS, replace(_YEAR_OF["violation"], long_name="", variable="")),
    ),
    "scores": _SCORES,
    "system_scores": (*_SCORES[:2], _SCORED, *(each for each in _SCORES if each.name in _OF_SYSTEMS)),
    "robustness": _ROBUSTNESS,
    "compared_plans": _COMPARED,
    "simulation": (*_STEP_NAMES, *_with_asked(_STEPS, "tailrace_m", "head_m"), _REPAIRED),
    "simulated_years": (*_NAMES, *_SIMULATED_YEARS),
}
