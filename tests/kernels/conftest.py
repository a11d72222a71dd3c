"""A device to run the tests' kernels on."""

from functools import partial

import pytest

from reservoir.opencl import DeviceInfo
from tests.kernels.device import Run, run_on


@pytest.fixture(scope="session")
def run(device: DeviceInfo) -> Run:
    """`run_on` for the device."""
    return partial(run_on, device)
