"""Corrections of a schedule's storages: what they mean in float64, and the same in a kernel."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.curves.curve import Table
from reservoir.hydro.horizon_limits import window_limits
from reservoir.hydro.objectives import Horizon
from reservoir.problems.base import as_batch
from reservoir.problems.reservoir.corrections import StorageCorrections
from reservoir.problems.reservoir.record import record_problems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers.engine import silent
from reservoir.solvers.lshade import DeviceLshadeSettings
from reservoir.solvers.lshade.engine import LshadeEngine

BLOCKS = 4


def losing(reservoir):
    """With losses that depend on the storage, withdrawals, and limits of the change of release."""
    return replace(
        reservoir,
        evaporation_mm=np.linspace(20.0, 150.0, 12),
        seepage_m3s=Table((20.0, 120.0), (0.1, 3.0)),
        withdrawal_m3s=np.linspace(0.5, 2.0, 12),
        ramp_up_m3s=30.0,
        ramp_down_m3s=30.0,
    )


@pytest.fixture(scope="module", params=[(1, False), (3, False), (3, True)], ids=["steps", "blocks", "blocks, losses"])
def windows(request, small, small_inflow) -> StorageCorrections:
    """Three windows of a schedule that wastes water, in blocks of one step and of three."""
    length, losses = request.param
    (batch,) = record_problems(losing(small) if losses else small, small_inflow, Horizon(None)).batches
    schedule = batch.operate(batch.limits.inflow_m3s)
    steps = np.array([1, 13, 36 - BLOCKS * length])[:, np.newaxis] + np.arange(BLOCKS * length)
    horizon = np.zeros(3, np.intp)
    limits = window_limits(batch.limits, horizon, steps, schedule.storage_hm3, schedule.release_m3s)
    years = ReservoirYears(batch.model, limits, ("a", "b", "c"), np.arange(3))
    reach = np.tile([2.0, 4.0, 3.0, 0.0], (3, 1))
    return StorageCorrections(years, schedule.draft_m3s[horizon[:, np.newaxis], steps], -reach, reach)


def test_no_correction_is_the_schedule(windows):
    assert np.array_equal(windows.drafts_m3s(np.zeros((3, BLOCKS))), windows.draft_m3s)


def test_a_correction_changes_the_storage_at_the_end_of_a_block(windows):
    wide = windows.windows.limits.changed(storage_lower_hm3=1.0, storage_upper_hm3=300.0, release_lower_m3s=0.0)
    if wide.lake:
        wide = wide.changed(ramp_up_m3s=1e9, ramp_down_m3s=1e9)
    free = replace(windows, windows=replace(windows.windows, limits=wide))
    corrections = np.array([[0.5, -1.0, 1.5, 0.0]] * 3)
    before, after = (free.certify(each).operation.storage_hm3 for each in (np.zeros_like(corrections), corrections))
    ends = np.s_[:, free.steps_of_block :: free.steps_of_block]
    close = 2e-3 if wide.lake else 1e-9  # losses are linear in a correction, but for curves that are not
    assert (after - before)[ends] == pytest.approx(corrections, abs=close)


def test_a_window_alone_is_what_it_is_among_others(windows):
    corrections = np.random.default_rng(2).uniform(windows.lower, windows.upper)
    found, contexts = windows.certify(corrections), windows.kernel_contexts()
    for place, one in enumerate(windows):
        certified = one.certify(corrections[place : place + 1])
        assert (certified.fitness, certified.benefit) == (found.fitness[place], found.benefit[place])
        assert np.array_equal(one.kernel_contexts(), contexts[place : place + 1])
        assert (one.windows.labels, one.rng_stream_ids) == ((windows.windows.labels[place],), place)
        assert np.array_equal(one.lower, windows.lower[place : place + 1])
        assert one.program_key == windows.program_key
    assert as_batch(windows[1:]).kernel_contexts().tobytes() == contexts[1:].tobytes()


def test_the_kernel_evaluates_what_is_certified(windows, device):
    engine = LshadeEngine(DeviceLshadeSettings(evaluations=600))
    found = engine.solve(windows, device=device.name, progress=silent)
    assert found.fitness_float32 == pytest.approx(found.fitness, rel=2e-4)
    schedule = windows.certify(np.zeros((3, BLOCKS))).fitness
    assert np.all(found.fitness >= schedule * (1 - 1e-6))
    assert found.fitness[0] > schedule[0] * 1.0005
