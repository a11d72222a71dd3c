"""Engines as parameters of tests, those that need a device marked so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from reservoir.solvers import SOLVERS

#: Where engines ask for their devices.
CHOOSE_DEVICES = "reservoir.solvers.device_engine.choose_devices"


def each_of(names: Iterable[str]) -> list[Any]:
    """A parameter for each solver of these names."""
    return [pytest.param(name, marks=[pytest.mark.device] if SOLVERS[name].opencl else []) for name in names]
