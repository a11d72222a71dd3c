"""How rules do over the members of an ensemble: in the best of them, in most, and in the worst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.hydro.objective import Operation
from reservoir.hydro.objectives import Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.columns import FIRM_QUANTILE
from reservoir.rules.base.violations import beyond_bounds
from reservoir.rules.evaluation.evaluation import Evaluation, Sample, SimulationMode
from reservoir.rules.evaluation.scores import benefit_suffix, worst_decile

FloatArray = NDArray[np.float64]

#: What perfect foresight is called beside families of rules.
FORESIGHT = "foresight"


@dataclass(frozen=True, eq=False)
class MemberRuns:
    """What a family, or perfect foresight, makes of each member; arrays of shape (members,).

    Parameters
    ----------
    family, sample : str
    benefit : ndarray
        Mean of a year at equal end storage, in the unit of the objective.
    regret : ndarray
        What perfect foresight of the member brings more.
    firm_mw : ndarray
        Mean power of a month that is exceeded in nine months of ten.
    violates : ndarray of bool
        Whether any month of the member ends outside its storage bounds, or lacks water for its least release.
    objective : Objective
    """

    family: str
    sample: str
    benefit: FloatArray
    regret: FloatArray
    firm_mw: FloatArray
    violates: NDArray[np.bool_]
    objective: Objective

    @classmethod
    def of(
        cls,
        family: str,
        sample: str,
        reservoir: Reservoir,
        operation: Operation,
        brought: FloatArray,
        foresight: FloatArray,
        members: int,
    ) -> MemberRuns:
        """The members of a run: its operation, and what its years and those of perfect foresight bring."""
        benefit, best = (each.reshape(members, -1).mean(axis=1) for each in (brought, foresight))
        power = operation.power_mw.reshape(members, -1)
        ends = operation.storage_hm3[..., 1:].reshape(-1, len(reservoir.months))
        missed = (beyond_bounds(reservoir, ends) != 0) | (operation.missing_m3s.reshape(ends.shape) > 0)
        outside = missed.reshape(members, -1).any(axis=1)
        firm = np.quantile(power, FIRM_QUANTILE, axis=1)
        return cls(family, sample, benefit, best - benefit, firm, outside, reservoir.objective)

    def as_dict(self) -> dict[str, Any]:
        """As a row of the table; benefits are named by their unit, and costs have no sign."""
        sign = -1.0 if self.objective.is_cost else 1.0
        benefits = {
            "best": sign * float(self.benefit.max()),
            "median": sign * float(np.median(self.benefit)),
            "worst_decile": sign * worst_decile(self.benefit),
            "worst": sign * float(self.benefit.min()),
            "regret_mean": float(self.regret.mean()),
            "regret_median": float(np.median(self.regret)),
            "regret_worst_decile": 0.0 - worst_decile(-self.regret),
            "regret_largest": float(self.regret.max()),
        }
        suffix = benefit_suffix(self.objective)
        return {
            "family": self.family,
            "sample": str(self.sample),
            "members": len(self.benefit),
            **{f"{name}_{suffix}": value for name, value in list(benefits.items())[:4]},
            "firm_median_mw": float(np.median(self.firm_mw)),
            "firm_worst_decile_mw": worst_decile(self.firm_mw),
            "firm_worst_mw": float(self.firm_mw.min()),
            **{f"{name}_{suffix}": value for name, value in list(benefits.items())[4:]},
            "violating_members": float(self.violates.mean()),
        }


def member_runs(evaluation: Evaluation) -> list[MemberRuns]:
    """Runs of members that no rule has seen, storage carried through each: perfect foresight's, then each family's.

    Those held out of the plan's ensemble first, then those of an ensemble that rules are tested on; nothing of records.
    """
    key = SimulationMode.CONTINUOUS, Sample.HELD_OUT
    rows = []
    for runs in ([result.runs[key] for result in evaluation.families], evaluation.tests):
        for place, run in enumerate(runs):
            members, best, foresight, sample = (
                run.inflow.member_count,
                run.account.foresight,
                run.foresight,
                run.score.sample,
            )
            if members < 2 or foresight is None:
                break
            if not place:
                rows.append(MemberRuns.of(FORESIGHT, sample, run.reservoir, foresight.operation, best, best, members))
            brought, operation = run.account.at_equal_storage, run.simulation.operation
            rows.append(MemberRuns.of(run.score.family, sample, run.reservoir, operation, brought, best, members))
    return rows


def robustness_table(evaluation: Evaluation) -> pd.DataFrame | None:
    """A row for perfect foresight and each family, and each sample of members; None without an ensemble.

    Best, median, worst decile (the mean of the tenth of least energy) and worst of the members' mean annual energies,
    of their firm power, and of their regret; and the part of the members in which any month violates storage bounds
    or lacks water for the least release.
    """
    runs = member_runs(evaluation)
    return pd.DataFrame([each.as_dict() for each in runs]) if runs else None
