"""What to do this month: the release that a rule recommends, what it comes to, and what optimised years did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.hydro.power import generation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import REPAIR_TOLERANCE
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.rules.base.month_end import month_end
from reservoir.rules.base.rule import Forecast, Rule

FloatArray = NDArray[np.float64]

#: Optimised years that are like the present one: at least so many, and this part of all.
FEWEST_ALIKE, PART_ALIKE = 5, 0.15


@dataclass(frozen=True)
class Situation:
    """What is known on the first day of a month: its step of the water year, from 0, and the storage.

    ``inflow_m3s`` is the mean inflow expected in the month, ``inflow_before_m3s`` that of the month before.
    """

    step: int
    storage_hm3: float
    inflow_m3s: float
    inflow_before_m3s: float


@dataclass(frozen=True)
class AnalogueYears:
    """What the optimised years did in the month that began most like this one."""

    labels: tuple[str, ...]
    lowest_m3s: float
    median_m3s: float
    highest_m3s: float


@dataclass(frozen=True)
class Advice:
    """A month's recommendation.

    ``release_m3s`` keeps the limits; ``repaired`` tells that the rule had asked for ``asked_m3s`` instead. End storage,
    level, power and energy are those of the expected inflow.
    """

    asked_m3s: float
    release_m3s: float
    repaired: bool
    turbined_m3s: float
    spill_m3s: float
    end_storage_hm3: float
    end_level_m: float
    head_m: float
    power_mw: float
    energy_gwh: float
    within_bounds: bool


def advise(rule: Rule, plant: Reservoir, situation: Situation) -> Advice:
    """Ask a rule for a month's release, and work out what it comes to."""
    step, storage, inflow = situation.step, situation.storage_hm3, situation.inflow_m3s
    known = inflow if rule.forecast is Forecast.MONTH else None
    asked = rule.release(step, storage, known, situation.inflow_before_m3s)
    volume = rule.months.volume_per_flow[step]
    storages, releases = plant.storage_bounds_hm3[:, step].tolist(), plant.release_bounds_m3s[:, step].tolist()
    release, end = month_end(storage, asked, inflow, volume, storages, releases)
    made = generation(plant, (storage + end) / 2, release)
    slack = REPAIR_TOLERANCE * storages[1]
    return Advice(
        asked_m3s=asked,
        release_m3s=release,
        repaired=abs(release - asked) > REPAIR_TOLERANCE * releases[1],
        turbined_m3s=float(made.turbined_m3s),
        spill_m3s=release - float(made.turbined_m3s),
        end_storage_hm3=end,
        end_level_m=float(plant.level(end)),
        head_m=float(made.head_m),
        power_mw=float(made.power_mw),
        energy_gwh=float(made.power_mw) * volume * GWH_PER_MW_VOLUME,
        within_bounds=storages[0] - slack <= end <= storages[1] + slack,
    )


def step_of_month(plant: Reservoir, month: int) -> int:
    """Step of the water year that is a calendar month."""
    return int(np.flatnonzero(plant.months == month)[0])


def alike(schedule: pd.DataFrame, month: int, situation: Situation) -> AnalogueYears:
    """Find the optimised years whose month began most like this one, by storage and inflow.

    Both are measured in their standard deviations over the years; a storage that is the same in all of them counts
    for nothing.

    Parameters
    ----------
    schedule : DataFrame
        Months of a plan, see `schedule_table`.
    """
    rows = schedule[schedule["month"] == month]
    pairs = (("storage_start_hm3", situation.storage_hm3), ("inflow_m3s", situation.inflow_m3s))
    distance = sum(_apart(rows[name].to_numpy(float), value) ** 2 for name, value in pairs)
    count = min(len(rows), max(FEWEST_ALIKE, round(PART_ALIKE * len(rows))))
    nearest = np.sort(np.argsort(distance, kind="stable")[:count])
    release = rows["release_m3s"].to_numpy(float)[nearest]
    names = [rows[name].to_numpy()[nearest] for name in ("member", "year") if name in rows]
    labels = tuple(": ".join(map(str, each)) for each in zip(*names, strict=True))
    return AnalogueYears(labels, float(release.min()), float(np.median(release)), float(release.max()))


def _apart(values: FloatArray, value: float) -> FloatArray:
    spread = values.std()
    return np.zeros_like(values) if spread <= 1e-9 * abs(values).max() else (values - value) / spread
