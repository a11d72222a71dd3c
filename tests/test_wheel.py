"""A wheel, installed outside the checkout, plans the bundled case."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
#: A plan that compiles little: in a new place, nothing is compiled yet.
PLAN = ("plan", "--generations", "3000", "--no-reference", "--no-figures", "--out", "out")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Python of an environment that holds the wheel, and of the dependencies only what this environment has."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)]
    subprocess.run(build, check=True, capture_output=True)
    venv.create(folder / "venv")
    python = folder / "venv" / "bin" / "python"
    (wheel,) = folder.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    install = [*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    return python, folder


def test_the_wheel_plans_the_bundled_case_from_its_own_files(installed):
    python, folder = installed
    # The dependencies come from the testing environment; the program itself must not.
    site = next(path for path in sys.path if path.endswith("site-packages"))
    code = (
        "import sys, runpy, pathlib, reservoir\n"
        f"sys.path.append({site!r})\n"
        "print(pathlib.Path(reservoir.__file__).parent)\n"
        f"sys.argv = {['reservoir', *PLAN]}\n"
        "runpy.run_module('reservoir', run_name='__main__')"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    finished = subprocess.run([python, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert str(folder / "venv") in finished.stdout, finished.stderr
    assert "62 years" in finished.stdout, finished.stderr
    assert (folder / "out" / "schedule.csv").is_file(), finished.stderr
