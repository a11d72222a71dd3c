"""Stages of a horizon as the bounds of boxes read them: release bounds, losses, demands and terms of each step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.curves.curve import CompiledCurve, constant
from reservoir.hydro.limits import Limits
from reservoir.hydro.record_rows import UNLIMITED
from reservoir.hydro.rows import TERMS, YearRows
from reservoir.hydro.units import GWH_PER_MW_VOLUME

FloatArray = NDArray[np.float64]

#: Schedules are bounded that keep every limit but for this part: of the largest storage, and of the largest release.
#: What float64 rounds in a schedule, or a table of it, is less.
TOLERANCE = 1e-9
#: `conditions` calls a demand kept that is missed by less than 1e-6 of it, a minimum release for want of water as well;
#: a little more is allowed for here.
DEMAND_TOLERANCE = 1.1e-6


class Stages(NamedTuple):
    """Steps of one horizon; arrays of shape (steps,), but for the curves of the lake and the operating storage.

    Parameters
    ----------
    per_flow : ndarray
        hm3 that 1 m3/s carries.
    inflow : ndarray
        Less the withdrawal, m3/s.
    least, most : ndarray
        Bounds of the release with their tolerance, m3/s.
    at_rest : ndarray
        Draft that takes nothing of the lake, with its tolerance: those that end below dead storage, m3/s.
    missing_price : ndarray
        What a m3/s costs that is missing of the least release, where a step that touches dead storage may fall short of
        it; 0 where none may.
    missing_as_none : ndarray
        What counts as nothing of what is missing there, m3/s; in ``least`` where there is no such price.
    spare : ndarray
        By how much more than the draft the release may be: the shortage that counts as none, m3/s.
    power_lower : ndarray
        Lowest power with its tolerance, MW; below 0 where none is demanded.
    dead, touched : float
        Dead storage, and up to where a step touches it that ends there: more by the tolerance, hm3.
    has_losses : bool
    area, seepage : CompiledCurve
    operating_storage : float
        Mean storage below which the turbines stand still, hm3.

    The others are as in `StepConditions` and `StepTerms`.
    """

    per_flow: FloatArray
    inflow: FloatArray
    least: FloatArray
    most: FloatArray
    at_rest: FloatArray
    missing_price: FloatArray
    missing_as_none: FloatArray
    spare: FloatArray
    power_lower: FloatArray
    evaporation: FloatArray
    plant_factor: FloatArray
    offset: FloatArray
    power_value: FloatArray
    power_target: FloatArray
    power_cost: FloatArray
    power_cost_squared: FloatArray
    power_cost_most: FloatArray
    supply_target: FloatArray
    supply_cost_squared: FloatArray
    dead: float
    touched: float
    has_losses: bool
    area: CompiledCurve
    seepage: CompiledCurve
    operating_storage: float


def stages_of(limits: Limits, missing_penalty: float = 0.0) -> Stages:
    """The steps of one horizon; limits to the change of release are left out, which makes the bound no smaller.

    Parameters
    ----------
    limits : Limits
    missing_penalty : float
        What a relative violation of the least release costs, if it may fall short where dead storage is touched: of a
        horizon without withdrawals, which would be cut before it.
    """
    steps, per_flow = limits.steps, np.array(limits.hm3_per_m3s, np.float64)
    year = limits.arrays()
    most = np.array(limits.release_upper_m3s, np.float64)
    allowed = TOLERANCE * (float(limits.capacity_hm3) / per_flow + most)
    price = np.where(_may_touch(limits), missing_penalty * year.per_missing * per_flow, 0.0)
    as_none = _missing_as_none(limits)
    spare, power_lower = np.zeros(steps), np.full(steps, -1.0)
    evaporation, factor = np.zeros(steps), np.ones(steps)
    if year.lake:
        spare = np.divide(DEMAND_TOLERANCE, year.per_shortage, out=spare, where=year.withdrawal > 0)
        power_lower = np.where(year.power_lower > 0, year.power_lower * (1 - DEMAND_TOLERANCE), -1.0)
        evaporation, factor = np.array(year.evaporation), np.array(year.plant_factor)
    terms: dict[str, Any] = _terms(year, per_flow)
    return Stages(
        per_flow=per_flow,
        inflow=np.array(limits.net_inflow_m3s, np.float64),
        least=np.array(limits.release_lower_m3s, np.float64) - allowed - spare - np.where(price > 0, 0.0, as_none),
        most=most + allowed,
        missing_price=price,
        missing_as_none=np.where(price > 0, as_none, 0.0),
        at_rest=allowed + np.array(limits.net_inflow_m3s - limits.inflow_m3s, np.float64),
        spare=spare,
        power_lower=power_lower,
        dead=float(limits.dead_hm3),
        touched=float(limits.dead_hm3 + TOLERANCE * limits.capacity_hm3),
        evaporation=evaporation,
        plant_factor=factor,
        **terms,
        **_lake(year, float(limits.capacity_hm3)),
    )


def _missing_as_none(limits: Limits) -> FloatArray:
    """What counts as nothing of what is missing of the least release, m3/s: only dead storage cuts it."""
    missing = DEMAND_TOLERANCE * (limits.release_lower_m3s * limits.hm3_per_m3s).max() / limits.hm3_per_m3s
    return np.where(_may_touch(limits), missing.clip(max=limits.release_lower_m3s), 0.0)


def _may_touch(limits: Limits) -> NDArray[np.bool_]:
    """Steps that may end at dead storage, and must release something."""
    return np.asarray((limits.storage_lower_hm3 <= limits.dead_hm3) & (limits.release_lower_m3s > 0))


def _lake(year: YearRows, capacity_hm3: float) -> dict[str, Any]:
    if not year.lake:
        none = constant(0.0, (0.0, capacity_hm3)).compiled()
        return {"has_losses": False, "area": none, "seepage": none, "operating_storage": -1.0}
    operating = float(year.operating_storage)
    lost = bool(np.any(year.evaporation != 0) or np.any(year.lake.seepage.coefficients != 0))
    return {"has_losses": lost, **year.lake._asdict(), "operating_storage": operating}


def _terms(year: YearRows, per_flow: FloatArray) -> dict[str, FloatArray]:
    """What power and release are worth; energy where nothing else is said."""
    if year.priced:
        return {name: np.array(getattr(year, name)) for name in TERMS}
    none = dict.fromkeys(TERMS, np.zeros(len(per_flow)))
    return {**none, "power_value": per_flow * GWH_PER_MW_VOLUME, "power_cost_most": none["offset"] + UNLIMITED}
