"""How rules do over the members of an ensemble: in the best of them, in most, and in the worst."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.members import FIRM_QUANTILE
from reservoir.rules.base.violations import beyond_bounds
from reservoir.rules.evaluation.evaluation import TEST, Evaluation, Sample, SimulationMode
from reservoir.rules.evaluation.scores import worst_decile

FloatArray = NDArray[np.float64]

#: What perfect foresight is called beside families of rules.
FORESIGHT = "foresight"


@dataclass(frozen=True, eq=False)
class MemberRuns:
    """What a family, or perfect foresight, makes of each member; arrays of shape (members,).

    Parameters
    ----------
    family, sample : str
    energy_gwh : ndarray
        Mean energy of a year at equal end storage.
    regret_gwh : ndarray
        What perfect foresight of the member makes more.
    firm_mw : ndarray
        Mean power of a month that is exceeded in nine months of ten.
    violates : ndarray of bool
        Whether any month of the member ends outside its storage bounds.
    """

    family: str
    sample: str
    energy_gwh: FloatArray
    regret_gwh: FloatArray
    firm_mw: FloatArray
    violates: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        family: str,
        sample: str,
        reservoir: Reservoir,
        operation: Operation,
        energy_gwh: FloatArray,
        foresight_gwh: FloatArray,
        members: int,
    ) -> MemberRuns:
        """The members of a run: its operation, and energies of its years and of those of perfect foresight."""
        energy, best = (each.reshape(members, -1).mean(axis=1) for each in (energy_gwh, foresight_gwh))
        power = operation.power_mw.reshape(members, -1)
        ends = operation.storage_hm3[..., 1:].reshape(-1, len(reservoir.months))
        outside = (beyond_bounds(reservoir, ends) != 0).reshape(members, -1).any(axis=1)
        return cls(family, sample, energy, best - energy, np.quantile(power, FIRM_QUANTILE, axis=1), outside)

    def as_dict(self) -> dict[str, Any]:
        """As a row of the table."""
        return {
            "family": self.family,
            "sample": str(self.sample),
            "members": len(self.energy_gwh),
            "best_gwh": float(self.energy_gwh.max()),
            "median_gwh": float(np.median(self.energy_gwh)),
            "worst_decile_gwh": worst_decile(self.energy_gwh),
            "worst_gwh": float(self.energy_gwh.min()),
            "firm_median_mw": float(np.median(self.firm_mw)),
            "firm_worst_decile_mw": worst_decile(self.firm_mw),
            "firm_worst_mw": float(self.firm_mw.min()),
            "regret_mean_gwh": float(self.regret_gwh.mean()),
            "regret_median_gwh": float(np.median(self.regret_gwh)),
            "regret_worst_decile_gwh": 0.0 - worst_decile(-self.regret_gwh),
            "regret_largest_gwh": float(self.regret_gwh.max()),
            "violating_members": float(self.violates.mean()),
        }


def member_runs(evaluation: Evaluation) -> list[MemberRuns]:
    """Runs of members that no rule has seen, storage carried through each: perfect foresight's, then each family's.

    Those held out of the plan's ensemble first, then those of an ensemble that rules are tested on; nothing of records.
    """
    return [*_held_out(evaluation), *_tested(evaluation)]


def robustness_table(evaluation: Evaluation) -> pd.DataFrame | None:
    """A row for perfect foresight and each family, and each sample of members; None without an ensemble.

    Best, median, worst decile (the mean of the tenth of least energy) and worst of the members' mean annual energies,
    of their firm power, and of their regret; and the part of the members in which any month violates storage bounds.
    """
    runs = member_runs(evaluation)
    return pd.DataFrame([each.as_dict() for each in runs]) if runs else None


def _held_out(evaluation: Evaluation) -> Iterator[MemberRuns]:
    reservoir, members = evaluation.plan.reservoir, evaluation.plan.inflow.member_count
    if members < 2:
        return
    best = evaluation.foresight_gwh[SimulationMode.CONTINUOUS]
    key = (SimulationMode.CONTINUOUS, Sample.HELD_OUT)
    yield MemberRuns.of(FORESIGHT, Sample.HELD_OUT, reservoir, evaluation.foresight, best, best, members)
    for result in evaluation.families:
        operation, energy = result.simulations[key].operation, result.energy_gwh[key]
        yield MemberRuns.of(result.family, Sample.HELD_OUT, reservoir, operation, energy, best, members)


def _tested(evaluation: Evaluation) -> Iterator[MemberRuns]:
    for place, run in enumerate(evaluation.tests):
        members, best, foresight = run.inflow.member_count, run.foresight_gwh, run.foresight
        if members < 2 or best is None or foresight is None:
            return
        if not place:
            yield MemberRuns.of(FORESIGHT, TEST, run.reservoir, foresight, best, best, members)
        yield MemberRuns.of(
            run.rule.family, TEST, run.reservoir, run.simulation.operation, run.energy_gwh, best, members
        )
