"""What the runs say: whether any schedule is above a bound, how many years are proved how closely, and how fast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.experiment import in_order, select
from reservoir.bench.proof.runs import ProofRuns, ProofSetup
from reservoir.bench.zoo.findings import short_gap
from reservoir.planning.checks import Check

#: Gaps that years are counted within; what rounding adds to a gap that was reached is a part of it.
GAPS = (1e-5, 1e-4, 1e-3)
_ROUNDING = 1e-3

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class ProofFindings:
    """Runs, and numbers of them."""

    setup: ProofSetup
    runs: ProofRuns

    @cached_property
    def years(self) -> pd.DataFrame:
        """The years, with the gap of each to the bound, and the part by which the blind bound is above the best."""
        years = self.runs.years
        for name in ("best", "blind_bound", "blind_infeasible", "blind_seconds"):
            if name not in years:
                years = years.assign(**{name: np.nan})
        return years.assign(
            gap=_part(_bound(years, ""), years["best"], years["scale"]),
            blind_gap=_part(_bound(years, "blind_"), years["best"], years["scale"]),
        )

    @cached_property
    def compared(self) -> pd.DataFrame:
        """Schedules that keep their limits, with the largest part by which each is above a bound of its year."""
        kept = self.runs.schedules[self.runs.schedules["violation"] == 0]
        both = kept.merge(self.years, on=["part", "number", "year"])
        above = [-_part(_bound(both, of), both["fitness"], both["scale"]) for of in ("", "blind_")]
        return both.assign(excess=above[0], blind_excess=above[1])

    @property
    def beyond(self) -> int:
        """How many schedules are above a bound of their year."""
        return int(_above(self.compared).sum())

    def by_part(self) -> pd.DataFrame:
        """A row for each part: shares within gaps, and seconds."""
        return pd.DataFrame([self._of_part(part) for part in in_order(self.years["part"])])

    def _of_part(self, part: str) -> Row:
        years = select(self.years, part=part)
        known = years[years["best"].notna()]
        row: Row = {"part": part, "years": len(known)}
        row |= {within(gap): share_within(known, gap) for gap in GAPS}
        row |= {"worst gap": known["gap"].max(), "blind, median": known["blind_gap"].median()}
        row |= {"no schedule, proved": int(years["infeasible"].astype(bool).sum())}
        row |= {"none known, not proved": int((years["best"].isna() & ~years["infeasible"].astype(bool)).sum())}
        seconds = known["seconds"]
        row |= {"seconds, median": seconds.median(), "seconds, mean": seconds.mean(), "seconds, most": seconds.max()}
        return row | {"blind seconds, mean": known["blind_seconds"].mean()}

    def by_solver(self) -> pd.DataFrame:
        """A row for each solver: schedules compared, and how close they come to a bound from below."""
        rows = []
        for solver in in_order(self.compared["solver"]):
            mine = select(self.compared, solver=solver)
            largest = {"largest excess": mine["excess"].max(), "blind, largest excess": mine["blind_excess"].max()}
            above = int(_above(mine).sum())
            rows.append({"solver": solver, "schedules": len(mine), **largest, "above a bound": above})
        return pd.DataFrame(rows)


def within(gap: float) -> str:
    """Name of a column of shares."""
    return f"within {short_gap(gap)}"


def share_within(years: pd.DataFrame, gap: float) -> float:
    """Share of the years that are proved to a gap; NaN of none."""
    return float((years["gap"] <= gap * (1 + _ROUNDING)).mean()) if len(years) else np.nan


def proof_checks(found: ProofFindings) -> Iterator[Check]:
    """What must hold: no schedule that keeps its limits is above a bound, whatever the effort."""
    yield Check(f"schedules above a proven bound of their year, of {len(found.compared):,}", found.beyond, 0)


def _above(compared: pd.DataFrame) -> pd.Series[bool]:
    """Schedules that are not at or below a bound of their year, or not known to be; not all years have a blind one."""
    return ~(compared["excess"] <= 0) | (compared["blind_excess"] > 0)


def _bound(years: pd.DataFrame, of: str) -> pd.Series[float]:
    """The bounds; minus infinity where it is proved that no schedule keeps the limits."""
    bound = years[f"{of}bound"].astype(float)
    return bound.mask(years[f"{of}infeasible"] == True, -np.inf)  # noqa: E712 - NaN where there is no such proof


def _part(bound: pd.Series[float], fitness: pd.Series[float], scale: pd.Series[float]) -> pd.Series[float]:
    """By how much a bound is above a fitness, as a part of the fitness."""
    size = fitness.astype(float).abs().clip(lower=scale)
    return (bound - fitness.astype(float)) / size.where(size > 0, 1.0)
