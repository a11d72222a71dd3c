"""A plan is proved on a device as on CPU threads, and on which of them by what is asked for and what is there."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import reservoir
from reservoir.certificate import bound, on_device
from reservoir.errors import DeviceError, Mistake
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.planning import proof
from reservoir.planning.plan import Plan
from reservoir.planning.proof import device_of, prove_plan
from reservoir.planning.sentences import proof_sentences
from reservoir.zoo import Part, zoo_case

GAP = 1e-4


@pytest.fixture(scope="module")
def plan(small, small_inflow) -> Plan:
    """Three years and one that nothing flows into."""
    flow = np.vstack([small_inflow.flow_m3s, np.zeros(12)])
    return reservoir.optimise(small, Inflow(flow, Calendar(1955, 4, first_month=6)), solver="dp")


@pytest.fixture(scope="module")
def by_threads(plan):
    return prove_plan(plan, GAP, device="host").proofs


@pytest.fixture
def without_double(monkeypatch):
    """No device has double precision."""
    for module in (on_device, proof):
        monkeypatch.setattr(module, "has_double", lambda _: False)


def test_a_device_proves_what_threads_prove(plan, by_threads, device):
    told = []
    found = prove_plan(plan, GAP, progress=lambda *each: told.append(each), device=str(device.index)).proofs
    np.testing.assert_allclose(found.bound, by_threads.bound, rtol=1e-12)
    np.testing.assert_allclose(found.gap, by_threads.gap, rtol=0, atol=1e-12)
    assert found.reached == 3
    assert list(found.infeasible) == ["1958/59"]
    assert found.infeasible == by_threads.infeasible
    assert [stage for stage, *_ in told] == ["proof"] * len(told)
    assert told[-1][1:] == (4, 4)


def test_a_plan_in_windows_is_proved_on_a_device(small, small_inflow, device):
    """Two years as one problem, and one: in batches of other steps."""
    plan = reservoir.optimise(small, small_inflow, horizon=2, solver="dp")
    found, expected = (prove_plan(plan, 1e-2, device=name).proofs for name in (str(device.index), "host"))
    assert len(found.bound) == 2
    np.testing.assert_allclose(found.bound, expected.bound, rtol=1e-12)


def test_what_is_proved_when_time_is_up_holds(plan, device):
    found = prove_plan(plan, 1e-9, 0.0, device=str(device.index)).proofs
    assert np.all(found.gap[:3] > 1e-9)


@pytest.mark.parametrize("where", ["host", "device"])
def test_years_that_take_more_cells_are_proved_again_when_all_others_are(device, monkeypatch, where):
    case, told, name = zoo_case(39, 2, part=Part.TUNING), [], "host" if where == "host" else str(device.index)
    plan = reservoir.optimise(case.reservoir, case.inflow, solver="dp")
    monkeypatch.setattr(proof, "Effort", partial(bound.Effort, pairs=100))
    found = prove_plan(plan, progress=lambda *each: told.append(each), device=name).proofs
    assert found.reached == 2
    stages = [stage for stage, *_ in told]
    again = stages.count("longer proof")
    assert 0 < again < len(stages)
    assert stages == ["proof"] * (len(stages) - again) + ["longer proof"] * again
    assert told[-1] == ("longer proof", 2, 2)
    monkeypatch.setattr(proof, "LONGER_PAIRS", 100)
    short = prove_plan(plan, device=name).proofs
    assert short.reached == 0
    assert np.all(short.bound > found.bound)


@pytest.mark.parametrize("where", ["host", "device"])
def test_the_time_of_proofs_begins_when_their_code_is_compiled(plan, device, monkeypatch, where):
    """The clock stands still but for compiling, which takes longer than all the time that there is."""
    clock = SimpleNamespace(now=0.0)

    def passing():
        clock.now += 1e-6
        return clock.now

    def compiling(compile_code):
        def slowly(*given, **named):
            clock.now += 1000.0
            return compile_code(*given, **named)

        return slowly

    for module in (proof, bound):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=passing))
    for name in ("compile_ahead", "bound_program"):
        monkeypatch.setattr(proof, name, compiling(getattr(proof, name)))
    found = prove_plan(plan, 1e-8, 10.0, device="host" if where == "host" else str(device.index)).proofs
    assert found.reached == 3


def test_a_proof_ends_where_a_better_schedule_makes_the_gap_impossible(small, small_inflow):
    """The reference is known: pairs are not used up below it in vain, and what the gap is to is said."""
    gap, told = 1e-5, []
    plan = reservoir.optimise(small, small_inflow, solver="clpso-sequential", generations=60, engine_only=True)
    better, best = plan.better_known(gap), plan.references.fitness
    assert better.all()
    assert not plan.better_known(1.0).any()
    found = prove_plan(plan, gap, progress=lambda *each: told.append(each), device="host").proofs
    assert {stage for stage, *_ in told} == {"proof"}
    assert np.all((found.bound >= best) & (found.bound <= best * (1 + gap * 1.001)))
    assert np.all(found.gap > gap)
    assert found.reached == 0
    sentence = proof_sentences(replace(plan, proofs=found))[1]
    found_better = "dp found a schedule that is better by more (3 years: 1955/"
    assert sentence.startswith(f"No proof comes to 1.0e-05 where {found_better}")
    of_best = prove_plan(replace(plan, solutions=plan.references), gap, device="host").proofs
    np.testing.assert_allclose(found.bound, of_best.bound, rtol=gap)
    assert len(proof_sentences(replace(plan, solutions=plan.references, proofs=of_best))) == 1


def test_a_device_without_double_proves_in_float32_if_it_is_named(plan, by_threads, device, without_double):
    found = prove_plan(plan, GAP, device=str(device.index)).proofs
    assert not np.array_equal(found.bound[:3], by_threads.bound[:3])
    np.testing.assert_allclose(found.bound, by_threads.bound, rtol=2e-5)
    assert np.all((found.gap[:3] >= 0) & (found.gap[:3] <= GAP))
    assert found.infeasible == by_threads.infeasible


@pytest.mark.parametrize(("name", "or_host"), [("Auto", False), (None, False), ("named", True)])
def test_else_threads_prove(plan, by_threads, device, without_double, monkeypatch, name, or_host):
    monkeypatch.setattr(proof, "choose_devices", lambda _: (replace(device, kind="GPU"),))
    found = prove_plan(plan, GAP, device=name, or_host=or_host).proofs
    assert np.array_equal(found.bound, by_threads.bound)


def test_threads_prove_what_the_device_of_a_plan_cannot(plan, by_threads, device, monkeypatch):
    def failing(*_):
        raise DeviceError(Mistake("out of memory", mend="another device"))

    monkeypatch.setattr(proof, "prove_together", failing)
    found = prove_plan(plan, GAP, device=str(device.index), or_host=True).proofs
    assert np.array_equal(found.bound, by_threads.bound)
    with pytest.raises(DeviceError, match="out of memory"):
        prove_plan(plan, GAP, device=str(device.index))


def test_by_default_the_best_kind_of_device_is_taken_if_it_has_double(two_cores, large_gpu, monkeypatch):
    with_double = {large_gpu.name, two_cores.name}
    monkeypatch.setattr(proof, "has_double", lambda device: device.name in with_double)
    monkeypatch.setattr(proof, "opencl_available", lambda: True)
    monkeypatch.setattr(proof, "choose_devices", lambda _: (two_cores,))
    assert device_of("auto") == device_of("two cores") == two_cores
    monkeypatch.setattr(proof, "choose_devices", lambda _: (replace(two_cores, name="without"),))
    assert device_of("auto") is None
    monkeypatch.setattr(proof, "choose_devices", lambda _: (replace(large_gpu, name="without"), large_gpu))
    assert device_of("auto") == device_of("all") == large_gpu
    monkeypatch.setattr(proof, "opencl_available", lambda: False)
    assert device_of("auto") is None
