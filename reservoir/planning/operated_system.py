"""A record of several sites that is operated, by a joint plan or by given releases: its arrays, tables and dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.inflow import Inflow, first_days
from reservoir.hydro.objectives import Objective
from reservoir.hydro.operation import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.hydro.system_operation import SystemOperation
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.planning.columns import shown, table_of
from reservoir.planning.operated_record import Dataset, FloatArray, OperatedRecord, OperatedYears, schedule_columns

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class OperatedSite(OperatedRecord):
    """One reservoir of a system that is operated, with the tables and arrays of a record that is operated.

    Parameters
    ----------
    reservoir : Reservoir
    inflow : Inflow
        All that flows in: the local inflow, and what links bring.
    operation : Operation
    arriving_m3s : ndarray, shape (years, steps)
        What links bring of it.
    notes : tuple of str
    """

    reservoir: Reservoir
    inflow: Inflow
    operation: Operation
    arriving_m3s: FloatArray
    notes: tuple[str, ...] = ()
    step_table, year_table = "site_steps", "site_years"


class OperatedSystem(OperatedYears):
    """Every year of a record of several sites, operated.

    Parameters
    ----------
    system : System
    inflows : SiteInflows
        Local inflow of each reservoir.
    operation : SystemOperation
        A row for each year of the record.
    notes : tuple of str
        What the user should know.
    units : UnitSystem
        In which files, figures and sentences show results.
    """

    system: System
    inflows: SiteInflows
    operation: SystemOperation
    units: UnitSystem = SI

    @property
    def inflow(self) -> Inflow:  # type: ignore[override] # found, where others are given it
        """One of the records: what it says of its years holds for all."""
        return self.inflows.first

    @property
    def objective(self) -> Objective:
        """What is optimised."""
        return self.system.objective

    @property
    def year_word(self) -> str:
        """What a row of its tables is."""
        return "year"

    @property
    def caveats(self) -> tuple[str, ...]:
        """Caveats to show with every result, each once."""
        every = (self.system.caveat, self.inflows.caveat, *(each.caveat for each in self.system.reservoirs))
        return tuple(dict.fromkeys(filter(None, every)))

    @cached_property
    def sites(self) -> Mapping[str, OperatedSite]:
        """Each reservoir's part of the plan, by its name, from upstream to downstream."""
        parts = zip(self.system.reservoirs, self.operation.of_reservoirs, self.operation.arriving_m3s, strict=True)
        return {
            reservoir.name: OperatedSite(
                reservoir,
                _with_arrivals(self.inflows[reservoir.name], arriving),
                operation,
                np.zeros_like(self.operation.hm3_per_m3s) if arriving is None else arriving,
            )
            for reservoir, operation, arriving in parts
        }

    @cached_property
    def benefit(self) -> FloatArray:
        """What is optimised, of each year, as tables show it, shape (years,)."""
        return shown(self.objective, self.operation.benefit)

    @cached_property
    def shown_years(self) -> NDArray[np.bool_]:
        """Which years figures and means are of, shape (years,): those that keep all limits; all where none does."""
        return self.keeps_limits if self.keeps_limits.any() else np.ones(self.inflow.years, bool)

    def mean_flow_m3s(self, link: Link) -> float:
        """What a link carries, at its source: the mean of all days."""
        days = self.inflow.calendar.days
        return float((self.operation.flow_m3s(link) * days).sum() / days.sum())

    def schedule(self) -> pd.DataFrame:
        """A row a step and reservoir, by the step's first day, with a column ``reservoir``."""
        import pandas as pd

        days = first_days(self.inflow.calendar)
        return pd.DataFrame(self.schedule_columns(), days.repeat(len(self.sites)))

    def schedule_columns(self) -> dict[str, NDArray[Any]]:
        """The columns of `schedule`, shape (years * steps * reservoirs,)."""
        return self._stacked({name: schedule_columns(site.step_table, site) for name, site in self.sites.items()})

    def by_reservoir_columns(self) -> dict[str, NDArray[Any]]:
        """A row a year and reservoir, shape (years * reservoirs,)."""
        return self._stacked({name: site.summary_columns() for name, site in self.sites.items()})

    def _stacked(self, tables: Mapping[str, Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
        """Tables of the reservoirs as one, its rows in the order of time; what only some have is 0 for the others."""
        names = list(dict.fromkeys(name for table in tables.values() for name in table))
        rows = len(next(iter(next(iter(tables.values())).values())))
        columns = {}
        for name in names:
            each = [table.get(name, np.zeros(rows)) for table in tables.values()]
            columns[name] = np.stack(each, axis=1).ravel()
        reservoir = np.tile(np.array(list(tables), object), rows)
        first = [name for name in ("member", "year", "month", "first_day") if name in columns]
        return {**{name: columns.pop(name) for name in first}, "reservoir": reservoir, **columns}

    def to_xarray(self, *, copy: bool = True) -> Dataset:
        """The schedule as an xarray.Dataset, with the dimension ``reservoir``.

        Raises
        ------
        InputError
            If xarray is not installed.
        """
        each = [site.to_xarray(copy=copy) for site in self.sites.values()]
        import xarray

        dataset = xarray.concat(each, "reservoir", combine_attrs="drop", data_vars="all")
        dataset = dataset.assign_coords(reservoir=("reservoir", np.array(list(self.sites), dtype=str)))
        of_years = {
            name: ("year", values) for name, values in table_of(self.year_table, self).items() if values.dtype != object
        }
        sums = {
            f"system_{name}": values for name, values in of_years.items() if dataset.sizes["year"] == len(values[1])
        }
        return dataset.assign(sums).assign_attrs(title=self.system.name)


def _with_arrivals(inflow: Inflow, arriving_m3s: FloatArray | None) -> Inflow:
    if arriving_m3s is None:
        return inflow
    return replace(inflow, flow_m3s=inflow.flow_m3s + arriving_m3s, allow_negative=True, content=b"", rows=None)
