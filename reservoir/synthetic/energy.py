"""Optimised energy and firm power of synthetic records, compared with those of the record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.columns import FIRM_QUANTILE
from reservoir.planning.plan import StageProgress, optimise, silent_stage
from reservoir.planning.solving import DEVICE_REFERENCE
from reservoir.synthetic.acceptance import Claim, Comparison
from reservoir.synthetic.base import FloatArray

#: Synthetic records that are optimised at most: some seconds of dynamic programming.
MOST_RECORDS = 24


@dataclass(frozen=True, eq=False)
class OptimisedRecords:
    """Optimised records, as dynamic programming operates them.

    Parameters
    ----------
    energy_gwh : ndarray, shape (records, years)
        Energy of each year.
    power_mw, storage_hm3 : ndarray, shape (records, years, steps)
        Mean power of each month, and storage at its end.
    """

    energy_gwh: FloatArray
    power_mw: FloatArray
    storage_hm3: FloatArray

    @property
    def firm_mw(self) -> FloatArray:
        """Least monthly power of each year, shape (records, years)."""
        return np.asarray(self.power_mw.min(axis=2))


def optimised(
    reservoir: Reservoir,
    flow_m3s: FloatArray,
    calendar: Calendar,
    *,
    device: str = "auto",
    progress: StageProgress = silent_stage,
) -> OptimisedRecords:
    """Optimise records of shape (records, years, steps), in m3/s, each by itself; `calendar` is that of one.

    Years that fill no window of the reservoir's horizon are left out.
    """
    horizon = Horizon.of(reservoir.horizon)
    window = horizon.years or 1
    years = flow_m3s.shape[1] // window * window or flow_m3s.shape[1]
    flow = flow_m3s[:, :years].reshape(-1, flow_m3s.shape[2])
    inflow = Inflow(flow, Calendar(calendar.first_year, len(flow), calendar.first_month, years_each=years))
    plan = optimise(reservoir, inflow, solver=DEVICE_REFERENCE, device=device, progress=progress)
    months = (len(flow_m3s), years, inflow.steps)
    return OptimisedRecords(
        plan.energy_gwh.reshape(months[:2]),
        plan.operation.power_mw.reshape(months),
        plan.operation.storage_hm3[:, 1:].reshape(months),
    )


def compare_energy(record: OptimisedRecords, synthetic: OptimisedRecords) -> list[Comparison]:
    """Compare the energy and the firm power of synthetic records with those of the record, which is one alone."""

    def both(name: str, one: FloatArray, many: FloatArray, claim: Claim = Claim.ONE_OF_THEM) -> Comparison:
        return Comparison(name, ("",), one, many[:, np.newaxis], claim)

    def firm(each: OptimisedRecords) -> FloatArray:
        return np.asarray(np.quantile(each.power_mw.reshape(len(each.power_mw), -1), FIRM_QUANTILE, axis=1))

    energy, energies = record.energy_gwh, synthetic.energy_gwh
    return [
        both("optimised energy, mean of the years", energy.mean(axis=1), energies.mean(axis=1)),
        both("optimised energy, deviation of the years", energy.std(axis=1, ddof=1), energies.std(axis=1, ddof=1)),
        both("optimised energy, distribution", *distances(energy[0], energies), Claim.AT_MOST),
        both("firm power of the record", firm(record), firm(synthetic)),
        both("firm power of the years, distribution", *distances(record.firm_mw[0], synthetic.firm_mw), Claim.AT_MOST),
    ]


def distances(record: FloatArray, synthetic: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Kolmogorov-Smirnov distances of samples of equally many years from all synthetic years of the others.

    Parameters
    ----------
    record : ndarray, shape (years,)
    synthetic : ndarray, shape (records, years)

    Returns
    -------
    record : ndarray, shape (1,)
        Of the record from the synthetic years.
    synthetic : ndarray, shape (records,)
        Of each synthetic record from the years of the others: what sampling makes of it, dependence of years included.
    """
    count = len(synthetic)
    others = (np.delete(synthetic, place, axis=0) for place in range(count))
    of_synthetic = [_distance(each, rest) for each, rest in zip(synthetic, others, strict=True)]
    return np.array([_distance(record, synthetic)]), np.array(of_synthetic)


def _distance(one: FloatArray, many: FloatArray) -> float:
    """Largest difference of two empirical distribution functions."""
    one, many = np.sort(one.ravel()), np.sort(many.ravel())
    values = np.concatenate([one, many])
    functions = (np.searchsorted(each, values, side="right") / each.size for each in (one, many))
    return float(np.abs(np.subtract(*functions)).max())
