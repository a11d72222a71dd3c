"""What the case experiment claims: every threshold once, with its reason."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from reservoir.bench.case.engine_runs import DEVICE_ENGINE, counted_runs
from reservoir.bench.case.tables import ENGINES, speed_up, t_test, worst_run
from reservoir.bench.run_budget import RunBudget
from reservoir.opencl import DeviceInfo
from reservoir.planning.checks import TOTAL_GAP, YEAR_GAP, Check
from reservoir.planning.plan import Plan
from reservoir.planning.validation import SIGNIFICANCE, SPREAD

#: Two cores of a CPU in vectors against one thread of compiled scalar code. More cores make it no harder, a GPU another
#: matter: only CPUs of so many units at most are held to it.
SPEED_UP, SPEED_UP_UNITS = 8.0, 2
#: GPUs of so many units at least are held to absolute times; the figures are those of an NVIDIA H200, of 132.
LARGE_GPU_UNITS = 100
#: Device seconds of a generation while every year has a unit of its own: 12 ms for 10,000 of 40 particles, 12 months.
GENERATION_SECONDS, CASE_PARTICLES, CASE_DIMENSION = 1.2e-6, 40, 12
#: Moves a second where years fill the device.
MANY_YEARS, MANY_YEARS_MOVES = 10_000, 25e9
#: Devices that share an ensemble, as a part of so many times one.
SHARING = 0.9


def case_checks(
    plan: Plan, device: DeviceInfo, runs: pd.DataFrame, points: pd.DataFrame, effort: RunBudget
) -> list[Check]:
    """Claims that this device and this effort can be held to."""
    checks = list(_violation(runs))
    if not effort.quick:
        checks += [*_quality(plan, runs), *_speed(plan, device, runs), *_throughput(device, points), *_sharing(points)]
    return checks


def _violation(runs: pd.DataFrame) -> Iterator[Check]:
    for engine in ENGINES:
        mine = counted_runs(runs, engine)
        yield Check(f"{engine}: sum of relative violations, {len(mine)} runs", mine["violation"].sum(), 0.0)


def _quality(plan: Plan, runs: pd.DataFrame) -> Iterator[Check]:
    reference = sum(plan.references.fitness.tolist())
    for engine in ENGINES:
        mine = counted_runs(runs, engine)
        worst = worst_run(mine)
        where = f"{worst['worst_year']}, seed {worst['seed']}"
        total_gap = float((mine["fitness_gwh"] / reference - 1).abs().max())
        yield Check(f"{engine}: gap to dp, worst year of {len(mine)} runs ({where})", worst["worst_gap"], YEAR_GAP)
        yield Check(f"{engine}: gap to dp, worst total of {len(mine)} runs", total_gap, TOTAL_GAP)
        if len(mine) > 1:
            spread = float(mine["benefit_gwh"].std(ddof=1) / mine["benefit_gwh"].mean())
            yield Check(f"{engine}: standard deviation of the totals, part of their mean", spread, SPREAD)
    p_value = t_test(runs)
    if np.isfinite(p_value):
        yield Check("two-tailed t-test between the engines' totals, p", p_value, SIGNIFICANCE, at_least=True)


def _speed(plan: Plan, device: DeviceInfo, runs: pd.DataFrame) -> Iterator[Check]:
    if device.kind == "CPU" and device.compute_units <= SPEED_UP_UNITS:
        title = f"{DEVICE_ENGINE} on {device.compute_units} cores against one thread, times as fast"
        yield Check(title, speed_up(runs), SPEED_UP, at_least=True)
    settings = plan.solutions.settings[0]
    own_unit = len(plan.years) <= device.compute_units and plan.years.dimension <= CASE_DIMENSION
    if _large_gpu(device) and own_unit and settings["particles"] <= CASE_PARTICLES:
        mine = counted_runs(runs, DEVICE_ENGINE)
        generations = plan.solutions[0].generations
        title = f"{len(plan.years)} years, {generations:,} generations: device milliseconds"
        yield Check(title, 1e3 * mine["device_seconds"].median(), 1e3 * GENERATION_SECONDS * generations)


def _throughput(device: DeviceInfo, points: pd.DataFrame) -> Iterator[Check]:
    many = points[(points["sweep"] == "years") & (points["years"] >= MANY_YEARS)]
    if _large_gpu(device):
        least = many["moves_per_second"].min() / 1e9
        title = f"particle moves from {MANY_YEARS:,} years on, 1e9 a second"
        yield Check(title, least, MANY_YEARS_MOVES / 1e9, at_least=True)


def _sharing(points: pd.DataFrame) -> Iterator[Check]:
    shared = points[points["sweep"] == "devices"].set_index("devices")["moves_per_second"]
    for count in shared.index[1:]:
        share = float(shared[count] / shared.iloc[0] / count)
        title = f"{count} devices, as a part of {count} times one, by device seconds"
        yield Check(title, share, SHARING, at_least=True)


def _large_gpu(device: DeviceInfo) -> bool:
    return device.kind == "GPU" and device.compute_units >= LARGE_GPU_UNITS
