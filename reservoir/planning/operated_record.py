"""A record that is operated, by a plan or by releases that are given: its arrays, tables and dataset."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.inflow import Inflow, first_days
from reservoir.planning.columns import FIRST_DAY, table_of, variables_of

if TYPE_CHECKING:
    # Tables of others, and compiled code, for which an operator who reads a schedule does not wait.
    import pandas as pd

    from reservoir.hydro.operation import Operation
    from reservoir.hydro.reservoir import Reservoir

FloatArray = NDArray[np.float64]
#: An xarray.Dataset.
Dataset: TypeAlias = Any
INSTALL = "pip install 'reservoir[netcdf]'"


class OperatedYears:
    """Years of one reservoir or of several, operated: what they come to, and a table of them.

    Parameters
    ----------
    inflow : Inflow
        Of several reservoirs, one of their records.
    operation : Operation or SystemOperation
        A row for each year.
    notes : tuple of str
        What the user should know.
    """

    inflow: Inflow
    operation: Any
    notes: tuple[str, ...]
    #: Table of `reservoir.planning.columns` that has its columns by year.
    year_table: ClassVar[str]

    @cached_property
    def energy_gwh(self) -> FloatArray:
        """Energy of each year, shape (years,)."""
        return np.asarray(self.operation.annual_energy_gwh)

    @cached_property
    def violation(self) -> FloatArray:
        """Sum of the relative violations of each year (eq. 20), shape (years,)."""
        return np.asarray(self.operation.violation_sum)

    @cached_property
    def keeps_limits(self) -> NDArray[np.bool_]:
        """Whether the limits of each year are kept, shape (years,); means and sums are of these years."""
        return np.asarray(self.violation == 0)

    @cached_property
    def kept_energy_gwh(self) -> FloatArray:
        """Energy of the years that keep their limits, shape (years that do,)."""
        return self.energy_gwh[self.keeps_limits]

    def summary(self) -> pd.DataFrame:
        """One row a year, by its first day, with the columns of its `year_table` that it has."""
        import pandas as pd

        return pd.DataFrame(self.summary_columns(), first_days(self.inflow.calendar)[:: self.inflow.steps])

    def summary_columns(self) -> dict[str, NDArray[Any]]:
        """The columns of `summary`, shape (years,)."""
        return year_columns(self.inflow) | table_of(self.year_table, self)


class OperatedRecord(OperatedYears):
    """Every year of a record, operated.

    Parameters
    ----------
    reservoir : Reservoir
    inflow : Inflow
    operation : Operation
        What the releases of each year come to.
    notes : tuple of str
        What the user should know.
    """

    reservoir: Reservoir
    operation: Operation
    #: Table of `reservoir.planning.columns` that has its columns by step.
    step_table: ClassVar[str]

    @cached_property
    def spill_m3s(self) -> FloatArray:
        """Released past the turbines, shape (years, steps)."""
        return self.operation.spill_m3s

    @property
    def caveats(self) -> tuple[str, ...]:
        """Caveats to show with every result."""
        return tuple(caveat for caveat in (self.inflow.caveat, self.reservoir.caveat) if caveat)

    def schedule(self) -> pd.DataFrame:
        """One row a step, by its first day, with the columns of its `step_table` that it has."""
        return schedule_table(self.step_table, self)

    def to_xarray(self, *, copy: bool = True) -> Dataset:
        """Return the schedule as an xarray.Dataset: months by ``year`` and ``step``, with dates and units.

        ``storage_hm3`` has the axis ``boundary`` in place of ``step``: the start of the first step and the end of each.
        The dimension ``member`` is there if all members of an ensemble have as many years.

        Parameters
        ----------
        copy : bool
            Whether its numbers may be changed; else they share memory with the plan's, for as long as they are read.

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
            raise InputError("to_xarray needs xarray, which is not installed", mend=INSTALL) from None
        inflow, calendar = self.inflow, self.inflow.calendar
        years, shape = _leading(inflow)

        def variable(values: NDArray[Any], attributes: Mapping[str, str], *further: str) -> tuple[Any, ...]:
            values = values.astype(str) if values.dtype == object else values
            reshaped = (np.array if copy else np.asarray)(values).reshape(*shape, *values.shape[1:])
            return (*years, *further), reshaped, dict(attributes)

        variables = {name: variable(*each, "step") for name, each in variables_of(self.step_table, self).items()}
        variables["storage_hm3"] = variable(self.operation.storage_hm3, _STORAGE, "boundary")
        variables |= {name: variable(*each) for name, each in variables_of(self.year_table, self).items()}
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
            about = {"long_name": "member of the ensemble"}
            coordinates["member"] = (years[0], inflow.member_of_year[:: shape[-1] if len(shape) > 1 else 1], about)
        return xarray.Dataset(variables, coordinates, dict(self._described()))

    def _described(self) -> Mapping[str, str]:
        """Attributes of the dataset."""
        texts = {"caveat": self.caveats, "notes": self.notes}
        return {"title": self.reservoir.name, **{name: "\n".join(each) for name, each in texts.items() if each}}


_STORAGE = {"units": "hm3", "long_name": "storage at the start of the first step and at the end of each"}


def _leading(inflow: Inflow) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Names and sizes of the dimensions of years, and of members if they all have as many years."""
    of_member, years = inflow.calendar.years_each, inflow.years
    if of_member and not inflow.calendar.left_out % of_member and not years % of_member:
        return ("member", "year"), (years // of_member, of_member)
    return ("year",), (years,)


class OperatedSteps(NamedTuple):
    """Steps of a record for its tables."""

    inflow: Inflow
    operation: Operation


def schedule_table(name: str, record: OperatedRecord) -> pd.DataFrame:
    """One row a step of a record, by its first day, with the columns of a table that it has."""
    import pandas as pd

    return pd.DataFrame(schedule_columns(name, record), first_days(record.inflow.calendar))


def schedule_columns(name: str, record: OperatedRecord) -> dict[str, NDArray[Any]]:
    """The columns of `schedule_table`, shape (years * steps,)."""
    calendar = record.inflow.calendar
    columns = {
        **{each: np.repeat(values, calendar.steps) for each, values in year_columns(record.inflow).items()},
        "month": np.tile(calendar.months, calendar.years),
        **({} if calendar.step is TimeStep.MONTH else {FIRST_DAY: calendar.starts.astype(str).astype(object)}),
        **table_of(name, record),
    }
    return {name: np.ravel(values) for name, values in columns.items()}


def year_columns(inflow: Inflow) -> dict[str, NDArray[Any]]:
    """What names each water year in a table, shape (years,): the year, and of an ensemble the member before it."""
    member = inflow.member_of_year
    years = {"year": np.array(inflow.calendar.labels, dtype=object)}
    return years if member is None else {"member": member.astype(object)} | years


def members_table(record: OperatedRecord) -> pd.DataFrame | None:
    """A row for each member, as in ``members.csv``; None unless it is an ensemble of whole members.

    Years that violate their limits are counted in ``violating_years``, and are in all numbers.
    """
    inflow = record.inflow
    if inflow.members is None or len(_leading(inflow)[0]) == 1:
        return None
    years = inflow.calendar.years_each
    import pandas as pd

    return pd.DataFrame({"member": inflow.members.astype(object), "years": years, **table_of("members", record)})
