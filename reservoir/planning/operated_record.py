"""What the plan of a record and the simulation of given releases have in common: arrays of the years, and tables."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.schedule import Dataset, dataset_of, schedule_table

if TYPE_CHECKING:
    from collections.abc import Mapping

FloatArray = NDArray[np.float64]


class OperatedRecord:
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
    inflow: Inflow
    operation: Operation
    notes: tuple[str, ...]

    @cached_property
    def spill_m3s(self) -> FloatArray:
        """Released past the turbines, shape (years, steps)."""
        return self.operation.spill_m3s

    @cached_property
    def energy_gwh(self) -> FloatArray:
        """Energy of each year, shape (years,)."""
        return self.operation.annual_energy_gwh

    @cached_property
    def violation(self) -> FloatArray:
        """Sum of the relative violations of each year (eq. 20), shape (years,)."""
        return self.operation.violation_sum

    @cached_property
    def keeps_limits(self) -> NDArray[np.bool_]:
        """Whether the limits of each year are kept, shape (years,); means and sums are of these years."""
        return np.asarray(self.violation == 0)

    @cached_property
    def kept_energy_gwh(self) -> FloatArray:
        """Energy of the years that keep their limits, shape (years that do,)."""
        return self.energy_gwh[self.keeps_limits]

    @property
    def caveats(self) -> tuple[str, ...]:
        """Caveats to show with every result."""
        return tuple(caveat for caveat in (self.inflow.caveat, self.reservoir.caveat) if caveat)

    def schedule(self) -> pd.DataFrame:
        """One row a year and month, by the first day of the month, see `schedule_table`."""
        return schedule_table(self.inflow, self.operation)

    def to_xarray(self, *, copy: bool = True) -> Dataset:
        """Return the schedule as an xarray.Dataset: months by ``year`` and ``step``, with dates and units.

        ``storage_hm3`` has the axis ``boundary`` in place of ``step``: the start of the first step and the end of each.

        Parameters
        ----------
        copy : bool
            Whether its numbers may be changed; else they share memory with the plan's, for as long as they are read.

        Raises
        ------
        InputError
            If xarray is not installed.
        """
        told, months = self._described(), self._of_months()
        return dataset_of(self.inflow, self.operation, self._of_years(), told, copy=copy, **months)

    def _of_years(self) -> Mapping[str, NDArray[Any]]:
        """Values of each year, shape (years,), for `to_xarray`."""
        return {"annual_energy_gwh": self.energy_gwh}

    def _of_months(self) -> Mapping[str, FloatArray]:
        """Further numbers of each month, shape (years, steps), for `to_xarray`."""
        return {}

    def _described(self) -> Mapping[str, str]:
        """What describes the whole, for `to_xarray`."""
        told = {"caveat": self.caveats, "notes": self.notes}
        return {"title": self.reservoir.name, **{name: "\n".join(each) for name, each in told.items() if each}}


#: The firm power of a plan is exceeded in all but this part of the months.
FIRM_QUANTILE = 0.1


def members_table(record: OperatedRecord) -> pd.DataFrame | None:
    """A row for each member: energies, firm power, spill and storages; None unless it is an ensemble of whole members.

    ``energy_gwh`` is the mean of the member's years, ``lowest_energy_gwh`` that of its poorest year, ``firm_power_mw``
    the mean power of a month that is exceeded in nine months of ten, ``spill_hm3`` the mean of a year. Years that
    violate their limits are counted in ``violating_years``, and are in all numbers.
    """
    inflow, operation = record.inflow, record.operation
    each = inflow.calendar.years_each
    if inflow.members is None or inflow.calendar.left_out % each or inflow.years % each:
        return None

    count = len(inflow.members)

    def by_member(values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(count, -1)

    energy, volume = by_member(record.energy_gwh), inflow.calendar.hm3_per_m3s
    storage = by_member(operation.storage_hm3[:, 1:])
    return pd.DataFrame(
        {
            "member": inflow.members.astype(object),
            "years": each,
            "inflow_mean_m3s": by_member(inflow.annual_mean_m3s).mean(axis=1),
            "energy_gwh": energy.mean(axis=1),
            "lowest_energy_gwh": energy.min(axis=1),
            "firm_power_mw": np.quantile(by_member(operation.power_mw), FIRM_QUANTILE, axis=1),
            "spill_hm3": by_member(record.spill_m3s * volume).sum(axis=1) / each,
            "storage_mean_hm3": storage.mean(axis=1),
            "lowest_storage_hm3": storage.min(axis=1),
            "violating_years": (~by_member(record.keeps_limits)).sum(axis=1),
        }
    )
