"""What compiled solvers and kernels maximise in float32 is the fitness of a system's year in float64."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.objectives import Horizon
from reservoir.problems.system import Coding, SystemYears, system_problems
from tests.kernels.device import run_on
from tests.kernels.test_reservoir_year import KERNEL
from tests.problems.random_systems import PARTS, random_system
from tests.problems.reservoir.test_fitness import compiled

POSITIONS = 48
#: What forms of curves and float32 sums make of a year's fitness, as a part of it or of what all plants could generate:
#: usually, and where a demand that is just kept is just not, or a storage lies beyond those that forms are made for.
USUAL, MOST = 3e-5, 3e-3
SEEDS = range(1, 7)


def years_of(seed: int, part: str, step: TimeStep = TimeStep.MONTH) -> SystemYears:
    system, inflows = random_system(seed, part, step)
    (batch,) = system_problems(system, inflows, Horizon()).batches
    return replace(batch, coding=list(Coding)[seed % 2])


def positions_in(years: SystemYears) -> np.ndarray:
    """Random ones, shape (years, positions, dimension), of which some lie at bounds."""
    drawn = np.random.default_rng(3).random((len(years), POSITIONS, years.dimension)) * 1.4 - 0.2
    return np.clip(drawn, 0.0, 1.0).astype(np.float32)


def require_close(years: SystemYears, positions: np.ndarray, judged: np.ndarray) -> None:
    certified = [years.certify(each.astype(float)) for each in positions.swapaxes(0, 1)]
    exact, violation = (
        np.stack([getattr(each, name) for each in certified], axis=1) for name in ("fitness", "violation")
    )
    wrong = abs(judged - exact) / np.maximum(abs(exact), years.system.installed_mw * 8.76)
    assert wrong.max() < MOST
    kept = wrong[violation == 0]
    assert not kept.size or np.median(kept) < USUAL


@pytest.mark.parametrize("part", PARTS)
def test_compiled_solvers_judge_what_is_certified(part: str) -> None:
    for seed in SEEDS:
        years = years_of(seed, part)
        positions = positions_in(years)
        judged = [compiled(year.compiled_context(fine=True), each) for year, each in zip(years, positions, strict=True)]
        require_close(years, positions, np.stack(judged))


def on_device(device, years: SystemYears, positions: np.ndarray, lanes: int) -> np.ndarray:
    kernel = years.kernel(fine=True)
    constants = {**kernel.constants, "LANES": lanes, "CONTEXT_SPACE": "__global", "POSITIONS": POSITIONS}
    out = np.zeros(positions.shape[:2], np.float32)
    files = ["common/vector/lanes.cl", *kernel.files]
    given = np.ascontiguousarray(positions.swapaxes(1, 2))
    arguments = years.kernel_contexts(), given
    return run_on(device, files, KERNEL, constants, out, out.size // lanes, *arguments, between=kernel.source)


@pytest.mark.parametrize("part", PARTS)
def test_kernels_judge_what_is_certified(device, part: str) -> None:
    for seed in (2, 5):
        years = years_of(seed, part)
        positions = positions_in(years)
        require_close(years, positions, on_device(device, years, positions, 16))


def test_ten_day_steps_are_judged_so_too(device) -> None:
    years = years_of(4, "losses", TimeStep.TEN_DAYS)
    positions = positions_in(years)
    judged = [compiled(year.compiled_context(fine=True), each) for year, each in zip(years, positions, strict=True)]
    require_close(years, positions, np.stack(judged))
    require_close(years, positions, on_device(device, years, positions, 1))
