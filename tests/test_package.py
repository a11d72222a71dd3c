"""The names of the package itself."""

import subprocess
import sys

import pytest

import reservoir


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
