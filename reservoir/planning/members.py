"""What the members of an ensemble come to: a row for each, over its years."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.planning.operated_record import OperatedRecord

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
