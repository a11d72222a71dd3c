"""What a plan comes to, as tables: by step, by year, by member of an ensemble, and as a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.inflow import Inflow, first_days
from reservoir.hydro.objectives import Objective
from reservoir.planning.column_names import FIRM_POWER, OBJECTIVE, REFERENCE_ENERGY, REFERENCE_OBJECTIVE

if TYPE_CHECKING:
    # Compiled code, for which an operator who reads a schedule does not wait.
    from reservoir.hydro.objective import Operation
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
    objective = problems.model.system.objective
    columns = {} if objective.is_energy else {OBJECTIVE: shown(objective, operation.benefit)}
    if objective.is_firm or objective.firm_power_mw is not None:
        from reservoir.planning.firm_power import firm_power_of_problems

        columns[FIRM_POWER] = firm_power_of_problems(problems, operation)[problems.of_year]
    return columns


#: Columns of reservoirs with losses or withdrawals, by the fields of `Operation`.
CONDITION_COLUMNS = ("evaporation_hm3", "seepage_hm3", "withdrawal_m3s", "shortage_m3s")

#: What is missing of the least release for want of water: a column where there is such a step.
MISSING = "missing_m3s"
#: First day of a step that is no month.
FIRST_DAY = "first_day"


def schedule_table(inflow: Inflow, operation: Operation) -> pd.DataFrame:
    """One row a step, by its first day; storages in hm3, the level at the end of the step.

    Tailrace, head and power are means of the step; ``head_m`` is the level at its mean storage less the tailrace. Of a
    reservoir with losses or withdrawals, net evaporation and seepage of the step follow, and what was withdrawn and
    what of the demand was not; where there was too little water for the least release, what is missing of it.
    """
    calendar = inflow.calendar
    columns = {
        **{name: np.repeat(each, calendar.steps) for name, each in year_columns(inflow).items()},
        "month": np.tile(calendar.months, calendar.years),
        **({} if calendar.step is TimeStep.MONTH else {FIRST_DAY: calendar.starts.astype(str).astype(object)}),
        **step_columns(inflow, operation),
    }
    return pd.DataFrame({name: np.ravel(values) for name, values in columns.items()}, first_days(calendar))


def step_columns(inflow: Inflow, operation: Operation) -> dict[str, NDArray[np.float64]]:
    """Numbers of each step of an operation as `schedule_table` names them, shape (years, steps)."""
    columns = {
        "inflow_m3s": inflow.flow_m3s,
        "release_m3s": operation.release_m3s,
        "turbined_m3s": operation.turbined_m3s,
        "spill_m3s": operation.spill_m3s,
        "storage_start_hm3": operation.storage_hm3[:, :-1],
        "storage_end_hm3": operation.storage_hm3[:, 1:],
        "level_m": operation.level_m,
        "tailrace_m": operation.tailrace_m,
        "head_m": operation.head_m,
        "power_mw": operation.power_mw,
        "energy_gwh": operation.energy_gwh,
        "violation": operation.violation,
    }
    if operation.has_conditions:
        columns |= {name: getattr(operation, name) for name in CONDITION_COLUMNS}
    if operation.missing_m3s.any():
        columns[MISSING] = operation.missing_m3s
    return columns


def year_columns(inflow: Inflow) -> dict[str, NDArray[Any]]:
    """What names each water year in a table, shape (years,): the year, and of an ensemble the member before it."""
    member = inflow.member_of_year
    years = {"year": np.array(inflow.calendar.labels, dtype=object)}
    return years if member is None else {"member": member.astype(object)} | years


def loss_volumes_of_years(inflow: Inflow, operation: Operation) -> dict[str, NDArray[np.float64]]:
    """Net evaporation, seepage, withdrawal and shortage of each year, hm3; empty if the reservoir has none of them."""
    if not operation.has_conditions:
        return {}
    volume = inflow.calendar.hm3_per_m3s
    return {
        "evaporation_hm3": operation.evaporation_hm3.sum(axis=1),
        "seepage_hm3": operation.seepage_hm3.sum(axis=1),
        "withdrawal_hm3": (operation.withdrawal_m3s * volume).sum(axis=1),
        "shortage_hm3": (operation.shortage_m3s * volume).sum(axis=1),
    }


#: An xarray.Dataset.
Dataset: TypeAlias = Any

INSTALL = "pip install 'reservoir[netcdf]'"
#: Unit and meaning of each variable.
_MEANINGS = {
    "inflow_m3s": ("m3 s-1", "mean inflow of the step"),
    "release_m3s": ("m3 s-1", "mean release of the step"),
    "asked_m3s": ("m3 s-1", "mean release that was given"),
    "turbined_m3s": ("m3 s-1", "mean turbine flow of the step"),
    "spill_m3s": ("m3 s-1", "mean spill of the step"),
    "storage_hm3": ("hm3", "storage at the start of the first step and at the end of each"),
    "level_m": ("m", "reservoir level at the end of the step"),
    "tailrace_m": ("m", "tailrace level at the mean release of the step"),
    "head_m": ("m", "level at the mean storage of the step less the tailrace level"),
    "power_mw": ("MW", "mean power of the step"),
    "energy_gwh": ("GWh", "energy of the step"),
    "violation": ("1", "distance of the end storage from its bounds, relative to the bound; and demands not kept"),
    "evaporation_hm3": ("hm3", "net evaporation of the step"),
    "seepage_hm3": ("hm3", "seepage of the step"),
    "withdrawal_m3s": ("m3 s-1", "mean flow withdrawn in the step"),
    "shortage_m3s": ("m3 s-1", "mean flow of the demand that was not withdrawn"),
    "missing_m3s": ("m3 s-1", "mean flow that is missing of the minimum release, for want of water"),
    "water_value_gwh_per_hm3": ("GWh hm-3", "value of one hm3 more at the end of the step"),
    "annual_energy_gwh": ("GWh", "energy of the year"),
    "annual_violation": ("1", "sum of the violations of the year's steps"),
    "reference_gwh": ("GWh", "energy of the reference optimum"),
    "reference_objective": ("1", "objective of the reference optimum, in its own unit"),
    "objective": ("1", "what is optimised, in its own unit"),
    "firm_power_mw": ("MW", "power that the steps of the horizon give"),
    "reference_violation": ("1", "violation of the reference optimum"),
    "generations": ("1", "generations of the solver, of both runs"),
    "evaluations": ("1", "schedules evaluated by the solver, in both runs"),
    "gap": ("1", "relative difference to the reference optimum"),
    "proven_bound": ("1", "what no schedule that keeps the limits can exceed, in the unit of the objective"),
    "proven_gap": ("1", "relative difference of the schedule to the proven bound"),
    "engine_gap": ("1", "relative difference of the solver's own schedule to the reference optimum"),
    "source": ("", "whose schedule the year holds: the solver's, of its second run, or the reference's"),
    "repairs": ("1", "steps of the year in which the limits changed the given release"),
}
_BY_STEP = ("release_m3s", "turbined_m3s", "spill_m3s", "level_m", "tailrace_m", "head_m", "power_mw", "energy_gwh")


def dataset_of(
    inflow: Inflow,
    operation: Operation,
    of_years: Mapping[str, NDArray[Any]],
    described: Mapping[str, str],
    *,
    copy: bool = True,
    **by_step: NDArray[Any],
) -> Dataset:
    """Return an operation as an xarray.Dataset of dimensions ``year``, ``step`` and ``boundary``, and ``member``.

    Parameters
    ----------
    inflow : Inflow
    operation : Operation
        Of its years.
    of_years : mapping of str to ndarray, shape (years,)
        Further variables by year.
    described : mapping of str to str
        Attributes of the dataset.
    copy : bool
        Whether the dataset's numbers are its own; else they share memory with the operation.
    **by_step : ndarray, shape (years, steps)
        Further variables by year and step.

    Raises
    ------
    InputError
        If xarray is not installed.
    """
    try:
        import xarray
    except ModuleNotFoundError as error:
        if error.name != "xarray":
            raise
        raise InputError(Mistake("to_xarray needs xarray, which is not installed", mend=INSTALL)) from None
    calendar = inflow.calendar
    years, shape = _leading(inflow)
    names = (*_BY_STEP, "violation", *(CONDITION_COLUMNS if operation.has_conditions else ()))
    names += (MISSING,) if operation.missing_m3s.any() else ()
    columns = {name: getattr(operation, name) for name in names}
    columns = {"inflow_m3s": inflow.flow_m3s, **columns, **by_step}

    def by_year(values: NDArray[Any], *further: str) -> tuple[Any, ...]:
        return (*years, *further), np.array(values, copy=copy or None).reshape(*shape, *values.shape[1:])

    of_steps = {name: by_year(values, "step") for name, values in columns.items()}
    of_steps["storage_hm3"] = by_year(operation.storage_hm3, "boundary")
    found = of_steps | {name: by_year(values) for name, values in of_years.items()}
    variables: dict[str, Any] = {name: (*each, _attributes(name)) for name, each in found.items()}
    edges = calendar.edges[: shape[-1]]
    coordinates = {
        "year": ("year", np.array(calendar.labels[: shape[-1]], dtype=str), {"long_name": "year of the record"}),
        "month": ("step", calendar.months, {"long_name": "calendar month"}),
        "date": (("year", "step"), edges[:, :-1].astype("datetime64[s]"), {"long_name": "first day of the step"}),
        "boundary_date": (
            ("year", "boundary"),
            edges.astype("datetime64[s]"),
            {"long_name": "first day of the step, at its beginning: when the storage is"},
        ),
    }
    if inflow.member_of_year is not None:
        told = {"long_name": "member of the ensemble"}
        coordinates["member"] = (years[0], inflow.member_of_year[:: shape[-1] if len(shape) > 1 else 1], told)
    return xarray.Dataset(variables, coordinates, dict(described))


def _leading(inflow: Inflow) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Names and sizes of the dimensions of years, and of members if they all have as many years."""
    each, years = inflow.calendar.years_each, inflow.years
    if each and not inflow.calendar.left_out % each and not years % each:
        return ("member", "year"), (years // each, each)
    return ("year",), (years,)


def _attributes(name: str) -> dict[str, str]:
    units, meaning = _MEANINGS[name]
    return {"units": units, "long_name": meaning} if units else {"long_name": meaning}
