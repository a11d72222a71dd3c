"""How well a rule serves: energy at equal end storage, and reliability, resilience and vulnerability.

Hashimoto, Stedinger and Loucks 1982, Water Resour. Res. 18:14.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.objective import Operation
from reservoir.hydro.stored_energy import stored_energy_gwh
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules.base.simulation import Simulation
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.violations import ROUNDING, Violations

FloatArray = NDArray[np.float64]

#: Part of the years, the poorest, whose mean is the worst decile.
DECILE = 0.1
#: A storage this close to a bound, as a part of the largest storage, is at the bound.
AT_LIMIT = 1e-6


@dataclass(frozen=True)
class ReliabilityMetrics:
    """How often and how far a target is met.

    ``reliability`` is the part of the periods that meet the target. ``resilience`` is that of the failing periods which
    are followed by one that meets it, 1 where none fails; a failure in the very last period is not counted, since
    nothing follows it. ``vulnerability`` is the mean shortfall of the failing periods, as a part of the target, 0 where
    none fails.
    """

    reliability: float
    resilience: float
    vulnerability: float


@dataclass(frozen=True)
class Score:
    """One line of the table of scores; energies in GWh a year, at equal end storage.

    ``end_storage_value_gwh`` is what has been added to the mean for water left at the end (negative: water that is
    missing); ``regret_gwh`` is what perfect foresight makes more. Months that end with a storage outside its bounds,
    whatever the release, are counted as `reservoir.rules.base.violations` has them; ``violation`` is their relative
    sum.
    """

    family: str
    sample: str
    mean_gwh: float
    percent_of_foresight: float
    worst_decile_gwh: float
    worst_gwh: float
    reliability: float
    resilience: float
    vulnerability: float
    spill_hm3: float
    repairs: int
    run: str
    median_gwh: float
    regret_gwh: float
    firm_reliability: float
    firm_resilience: float
    firm_vulnerability: float
    months_at_limit: int
    end_storage_value_gwh: float
    months_violated: int
    largest_violation_hm3: float
    violation: float

    def as_dict(self) -> dict[str, Any]:
        """As a row of a table."""
        return asdict(self)


def service(values: FloatArray, target: float) -> ReliabilityMetrics:
    """Reliability, resilience and vulnerability of a series, or of a row a member, against a target to be reached."""
    failed = np.asarray(values) < target
    followed = failed[..., :-1]
    recovered = followed & ~failed[..., 1:]
    shortfall = (target - np.asarray(values)[failed]) / target
    return ReliabilityMetrics(
        float(1 - failed.mean()),
        float(recovered.sum() / followed.sum()) if followed.any() else 1.0,
        float(shortfall.mean()) if failed.any() else 0.0,
    )


def worst_decile(energy_gwh: FloatArray) -> float:
    """Mean of the poorest tenth of the years, at least one."""
    return float(np.sort(energy_gwh)[: max(1, round(DECILE * len(energy_gwh)))].mean())


def energy_at_equal_storage(simulation: Simulation, model: ReservoirModel, end_hm3: float) -> FloatArray:
    """Energy of each year (GWh), charged for the water by which its end differs from `end_hm3`; shape (years,).

    A year that hands its water on to the next is not charged.
    """
    ends = np.where(simulation.carried, end_hm3, simulation.end_storage_hm3)
    return equal_storage(simulation.energy_gwh, ends, simulation.operation.release_m3s, model, end_hm3)


def equal_storage(
    energy_gwh: FloatArray,
    ends_hm3: FloatArray,
    release_m3s: FloatArray,
    model: ReservoirModel,
    end_hm3: float | FloatArray,
) -> FloatArray:
    """Energies of years (GWh) that end at `ends_hm3`, with what the water beyond `end_hm3` would have made.

    That water is taken to be released at the mean of `release_m3s`.
    """
    charged = np.asarray(ends_hm3 != np.asarray(end_hm3))
    ends, wanted = (np.broadcast_to(each, charged.shape)[charged] for each in (ends_hm3, end_hm3))
    energy = np.array(energy_gwh)
    energy[charged] += stored_energy_gwh(model.reservoir, ends, wanted, release_m3s.mean())
    return energy


def energy_of_foresight(found: Operation, model: ReservoirModel, years: int, end_hm3: float) -> FloatArray:
    """Energy of each year (GWh) of perfect foresight, at equal end storage; shape (years,).

    A horizon, the record or each of its years, ends at `end_hm3` unless no releases get there: then its last year is
    charged as a rule's is.
    """
    energy = np.asarray(found.energy_gwh.reshape(years, -1).sum(axis=1))
    ends, releases = np.atleast_1d(found.storage_hm3[..., -1]), np.atleast_1d(found.release_m3s.mean(axis=-1))
    missed = np.abs(ends - end_hm3) > ROUNDING * float(model.reservoir.storage_upper_hm3.max())
    last_years = energy.reshape(len(ends), -1)[:, -1]
    last_years[missed] += stored_energy_gwh(model.reservoir, ends[missed], end_hm3, releases[missed])
    return energy


def score(
    simulation: Simulation,
    model: ReservoirModel,
    energy_gwh: FloatArray,
    foresight_gwh: FloatArray,
    targets: Targets,
    *,
    family: str,
    run: str,
    sample: str,
) -> Score:
    """Score a simulation against perfect foresight of the same years.

    Parameters
    ----------
    energy_gwh, foresight_gwh : ndarray, shape (years,)
        What the rule and what perfect foresight make in each year, at equal end storage.
    targets : Targets
        A year's energy and a month's power.
    family, run, sample : str
        Name the line of the table.
    """
    yearly = service(energy_gwh.reshape(simulation.members, -1), targets.annual_gwh)
    monthly = service(simulation.operation.power_mw.reshape(simulation.members, -1), targets.firm_mw)
    violations = Violations.of(model.reservoir, simulation.operation.storage_hm3[:, 1:])
    return Score(
        family=family,
        sample=sample,
        mean_gwh=float(energy_gwh.mean()),
        percent_of_foresight=100 * float(energy_gwh.sum() / foresight_gwh.sum()),
        worst_decile_gwh=worst_decile(energy_gwh),
        worst_gwh=float(energy_gwh.min()),
        reliability=yearly.reliability,
        resilience=yearly.resilience,
        vulnerability=yearly.vulnerability,
        spill_hm3=_spill_hm3(simulation),
        repairs=int(simulation.repaired.sum()),
        run=run,
        median_gwh=float(np.median(energy_gwh)),
        regret_gwh=float((foresight_gwh - energy_gwh).mean()),
        firm_reliability=monthly.reliability,
        firm_resilience=monthly.resilience,
        firm_vulnerability=monthly.vulnerability,
        months_at_limit=_months_at_limit(simulation, model),
        end_storage_value_gwh=float((energy_gwh - simulation.energy_gwh).mean()),
        months_violated=violations.months,
        largest_violation_hm3=violations.largest_hm3,
        violation=violations.relative,
    )


def _spill_hm3(simulation: Simulation) -> float:
    """Water released past the turbines in a year, mean of the years."""
    return float((simulation.operation.spill_m3s * simulation.hm3_per_m3s).sum(axis=1).mean())


def _months_at_limit(simulation: Simulation, model: ReservoirModel) -> int:
    ends = simulation.operation.storage_hm3[:, 1:]
    lower, upper = model.reservoir.storage_bounds_hm3
    slack = AT_LIMIT * float(upper.max())
    return int(((ends <= lower + slack) | (ends >= upper - slack)).sum())
