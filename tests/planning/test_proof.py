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

GAP = 1e-4


@pytest.fixture(scope="module")
def plan(small, small_inflow) -> Plan:
    """Three years and one that nothing flows into."""
    flow = np.vstack([small_inflow.flow_m3s, np.zeros(12)])
    return reservoir.optimise(small, Inflow(flow, Calendar(1955, 4, first_month=6)), solver="dp")


@pytest.fixture(scope="module")
def by_threads(plan):
    return prove_plan(plan, GAP, device="host")


@pytest.fixture
def without_double(monkeypatch):
    """No device has double precision."""
    for module in (on_device, proof):
        monkeypatch.setattr(module, "has_double", lambda _: False)


def test_a_device_proves_what_threads_prove(plan, by_threads, device):
    told = []
    found = prove_plan(plan, GAP, progress=lambda *each: told.append(each), device=str(device.index))
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
    found, expected = (prove_plan(plan, 1e-2, device=name) for name in (str(device.index), "host"))
    assert len(found.bound) == 2
    np.testing.assert_allclose(found.bound, expected.bound, rtol=1e-12)


def test_what_is_proved_when_time_is_up_holds(plan, device):
    found = prove_plan(plan, 1e-9, 0.0, device=str(device.index))
    assert np.all(found.gap[:3] > 1e-9)


from reservoir.certificate import bound, on_device
from reservoir.errors import DeviceError, Mistake


@pytest.mark.parametrize(("name", "or_host"), [("Auto", False), (None, False), ("named", True)])
def test_else_threads_prove(plan, by_threads, device, without_double, monkeypatch, name, or_host):
    monkeypatch.setattr(proof, "choose_devices", lambda _: (replace(device, kind="GPU"),))
    found = prove_plan(plan, GAP, device=name, or_host=or_host)
    assert np.array_equal(found.bound, by_threads.bound)


def test_threads_prove_what_the_device_of_a_plan_cannot(plan, by_threads, device, monkeypatch):
    def failing(*_):
        raise DeviceError(Mistake("out of memory", mend="another device"))

    monkeypatch.setattr(proof, "prove_together", failing)
    found = prove_plan(plan, GAP, device=str(device.index), or_host=True)
    assert np.array_equal(found.bound, by_threads.bound)
    with pytest.raises(DeviceError, match="out of memory"):
        prove_plan(plan, GAP, device=str(device.index))


def test_by_default_a_gpu_with_double_is_taken_and_never_a_cpu(two_cores, large_gpu, monkeypatch):
    with_double = {large_gpu.name, two_cores.name}
    monkeypatch.setattr(proof, "has_double", lambda device: device.name in with_double)
    monkeypatch.setattr(proof, "opencl_available", lambda: True)
    monkeypatch.setattr(proof, "choose_devices", lambda _: (two_cores,))
    assert device_of("auto") is None
    assert device_of("two cores") == two_cores
    monkeypatch.setattr(proof, "choose_devices", lambda _: (replace(large_gpu, name="without"), large_gpu))
    assert device_of("auto") == device_of("all") == large_gpu
    monkeypatch.setattr(proof, "opencl_available", lambda: False)
    assert device_of("auto") is None
