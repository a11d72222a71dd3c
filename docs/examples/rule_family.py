"""A family of rules in one file: release a share of the available water, which differs by month.

    python docs/examples/rule_family.py

fits it to ten optimised years of the bundled record, operates the other 52 years by it, and compares it with two
families of the package. For clarity the fit is scalar.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

import reservoir
from reservoir import rules
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.rules import FAMILIES, Family, Forecast, Rule, Training
from reservoir.rules.base.simulation import simulate
from reservoir.rules.base.training import FloatArray

FAMILY: Final = "share"

Share = Annotated[float, Field(ge=0, le=1)]


# 1. The rule. Its fields and their checks define its JSON file.
class ShareRule(Rule):
    """Share of the available water (storage above the lowest in any year, and inflow) to release, by month."""

    family: Literal["share"]
    lowest_hm3: float
    share: tuple[Share, ...]

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """Requested releases of a step (m3/s), one for each storage; the simulation keeps the physical limits."""
        inflow = self.months.inflow_m3s[step] if inflow_now_m3s is None else inflow_now_m3s
        carried_m3s = (storage_hm3 - self.lowest_hm3) / self.months.volume_per_flow[step]
        return self.share[step] * np.maximum(carried_m3s + inflow, 0.0)


# 2. The fit to optimised years: here, the median share that they released in each month.
def fit(training: Training, forecast: Forecast) -> ShareRule:
    """Fit each month's share as the median over the years."""
    lowest = float(training.storage_start_hm3.min())
    shares = []
    for step in range(training.steps):
        seen = []
        for year in range(training.years):
            carried = training.storage_start_hm3[year, step] - lowest
            available = carried / training.hm3_per_m3s[year, step] + training.inflow_m3s[year, step]
            seen.append(min(training.release_m3s[year, step] / available, 1.0))
        shares.append(float(np.median(seen)))
    return ShareRule.fitted(training, forecast, lowest_hm3=lowest, share=tuple(shares))


# 3. One line in the registry, which rules, simulate, operate, the report and the tests use.
def register() -> None:
    """Register the family; in the package this is a line in `reservoir.rules.FAMILIES`."""
    FAMILIES[FAMILY] = Family(FAMILY, __name__, "ShareRule", "release a share of the available water")


def main() -> dict[str, float]:
    """Mean annual energy (GWh) of the years that no rule was fitted to, by family."""
    register()
    case = reservoir.bundled_case()
    plant, record = case.reservoir(), case.inflow()
    first_years = Inflow(flow_m3s=record.flow_m3s[:10], calendar=Calendar(1953, 10))
    last_years = Inflow(flow_m3s=record.flow_m3s[10:], calendar=Calendar(1963, record.years - 10))
    training = Training.of(reservoir.optimise(plant, first_years, solver="dp"))
    energy = {}
    for family in ("standard", FAMILY, "guide-curve"):
        rule = rules.fit(family, training, Forecast.MONTH)
        run = simulate(rule, training.model, last_years, float(training.storage_start_hm3[0, 0]))
        energy[family] = float(run.energy_gwh.sum() / last_years.years)
        print(f"{family:<12} {energy[family]:10,.0f} GWh a year")
    return energy


if __name__ == "__main__":
    main()
