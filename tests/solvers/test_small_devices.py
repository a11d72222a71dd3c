"""Every solver of one reservoir that needs a device solves on one that has little."""

from dataclasses import replace

import pytest

from reservoir.opencl import DeviceInfo
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import RESERVOIR_SOLVERS, SOLVERS, solve

#: Local memory that OpenCL 1.2 lets a small device have.
LITTLE_BYTES = 16 << 10


@pytest.fixture(params=[name for name, solver in RESERVOIR_SOLVERS.items() if solver.opencl])
def name(request: pytest.FixtureRequest) -> str:
    """Each solver that needs a device."""
    return request.param


@pytest.fixture
def little(device: DeviceInfo, monkeypatch: pytest.MonkeyPatch):
    """Call it with properties to have the device described with these."""

    def describe(**properties: int) -> None:
        described = replace(device, **properties)
        monkeypatch.setattr("reservoir.opencl.devices.list_devices", lambda: [described])

    return describe


def _violations(years: list[ReservoirYears], name: str) -> list[float]:
    less = {"generations": 100, "evaluations": 2000}
    options = {setting: less[setting] for setting in SOLVERS[name].budget if setting in less}
    return solve(years[:1], solver=name, **options).violation.tolist()


def test_groups_of_one_work_item_are_enough(little, years: list[ReservoirYears], name: str) -> None:
    little(max_work_group_size=1)
    assert _violations(years, name) == [0.0]


def test_little_local_memory_is_enough(little, years: list[ReservoirYears], name: str) -> None:
    little(local_memory_bytes=LITTLE_BYTES)
    assert _violations(years, name) == [0.0]
