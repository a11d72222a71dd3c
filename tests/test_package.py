"""The names of the package itself."""

import subprocess
import sys
from pathlib import Path

import pytest

import reservoir
from tests.conftest import LONGEST


@pytest.mark.parametrize("name", reservoir.__all__)
def test_a_public_name_is_that_of_its_module(name):
    found = getattr(reservoir, name)
    assert name in dir(reservoir)
    if name != "__version__":
        assert found.__name__ == name
        assert getattr(sys.modules[found.__module__], name) is found


def test_the_package_imports_nothing_before_a_name_is_used():
    code = "import sys; before = set(sys.modules); import reservoir; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"__future__", "reservoir"}


@pytest.mark.parametrize("name", LONGEST)
def test_a_file_that_workers_begin_with_is_there(name):
    assert (Path(__file__).parent / name).is_file()
