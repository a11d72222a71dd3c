"""Engines and problems that the solvers' tests share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reservoir.opencl import DeviceInfo
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import Solutions, solve
from tests.solvers.engines import CHOOSE_DEVICES


@pytest.fixture(scope="session")
def reference_optima(years: list[ReservoirYears]) -> Solutions:
    """The five years by dynamic programming."""
    return solve(years, solver="dp")


@pytest.fixture
def pretend(device: DeviceInfo, monkeypatch: pytest.MonkeyPatch):
    """Call it with properties to let the engine see the device with these changed."""

    def change(**properties: int) -> None:
        monkeypatch.setattr(CHOOSE_DEVICES, lambda _: (replace(device, **properties),))

    return change
