"""Proofs of joint plans, and the better schedules that they lead to."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.bench.cascade_systems import lancang
from reservoir.certificate import together
from reservoir.errors import DeviceError
from reservoir.planning import proof, system_proof
from reservoir.planning.system_plan import optimise_system
from reservoir.planning.system_proof import prove_system_plan
from reservoir.zoo import zoo_system


@pytest.fixture(scope="module")
def worse():
    """A plan of a random river that is not the best."""
    plan = optimise_system(*zoo_system(4, 1, reservoirs=2), solver="slp")
    position = 0.9 * plan.solutions.position + 0.05
    operation = plan.problems.operate(position)
    solutions = replace(plan.solutions, position=position, fitness=plan.problems.batches[0].fitness_of(operation))
    return replace(plan, solutions=solutions, operation=operation), float(plan.solutions.fitness[0])


@pytest.mark.parametrize("improve", [False, True])
def test_where_a_gap_stays_open_a_better_schedule_is_found(worse, improve):
    plan, best = worse
    assert plan.operation.violation_sum.max() == 0
    proved = prove_system_plan(plan, 1e-3, 10.0, improve=improve)
    fitness = float(plan.problems.batches[0].fitness_of(proved.operation)[0])
    assert (fitness > plan.solutions.fitness[0]) == improve
    assert (fitness >= best * (1.0 - 1e-4)) == improve
    bound, gap = float(proved.proofs.bound[0]), float(proved.proofs.gap[0])
    assert bound >= best
    assert gap == pytest.approx((bound - fitness) / bound)
    assert np.isclose(proved.solutions.fitness[0], fitness)
    assert any("The proof left better schedules possible of 1 year" in note for note in proved.notes) == improve


@pytest.mark.parametrize(("horizon", "problems"), [("record", 1), ("year", 3)])
def test_how_much_of_a_proof_is_done_is_told(horizon, problems):
    system, inflows = lancang("lancang-2")
    plan = optimise_system(system, inflows.span(0, 3), solver="slp", horizon=horizon)
    told = []
    proved = prove_system_plan(plan, 1e-3, 60.0, lambda stage, done, total: told.append((stage, done, total)))
    assert (proved.proofs.gap < 1e-3).all()
    assert {(stage, total) for stage, _, total in told} == {("proof", problems)}
    done = [part for _, part, _ in told]
    assert done == sorted(done)
    assert done[-1] == problems
    assert sum(part < 0.6 * problems for part in done) >= 2


def test_a_device_proves_what_threads_prove(device):
    plan = optimise_system(*zoo_system(4, 2, reservoirs=2), solver="slp")
    told = []
    found, expected = (
        prove_system_plan(plan, 1e-3, 30.0, lambda *each: told.append(each), device=name).proofs
        for name in (str(device.index), "host")
    )
    np.testing.assert_allclose(found.bound, expected.bound, rtol=1e-9)
    assert told[-1][1:] == (2.0, 2)


def asked_for(plan, monkeypatch, device, **given):
    """The devices on which brackets are bounded, of a proof of no time."""
    asked, opened = [], system_proof.Together
    monkeypatch.setattr(system_proof, "Together", lambda device: asked.append(device) or opened(device))
    prove_system_plan(plan, 1e-3, 0.0, device=device, **given)
    return asked


def test_a_device_is_used_where_it_is_named_and_a_cpu_not_by_itself(worse, device, monkeypatch):
    plan, _ = worse
    assert asked_for(plan, monkeypatch, str(device.index)) == [device]
    assert asked_for(plan, monkeypatch, "host") == []
    assert asked_for(plan, monkeypatch, "auto") == ([] if device.kind == "CPU" else [device])
    monkeypatch.setattr(proof, "device_of", lambda *_, **__: replace(device, kind="GPU"))
    assert len(asked_for(plan, monkeypatch, None)) == 1


def test_a_device_that_cannot_is_an_error_if_it_is_named(worse, device, monkeypatch):
    plan, _ = worse

    def fails(*_, **__):
        raise DeviceError("gone", mend="choose another")

    monkeypatch.setattr(together.BracketsOnDevice, "bound", fails)
    with pytest.raises(DeviceError, match="gone"):
        prove_system_plan(plan, 1e-3, 10.0, device=str(device.index))
    assert np.isfinite(prove_system_plan(plan, 1e-3, 10.0, device=str(device.index), or_host=True).proofs.bound[0])
