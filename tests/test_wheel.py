"""A wheel that is built from the source archive is whole, and plans the bundled case outside the checkout."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
#: A plan that compiles little: in a new place, nothing is compiled yet.
PLAN = ("plan", "--generations", "3000", "--no-reference", "--no-figures", "--out", "out")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the source archive, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)]
    subprocess.run(build, check=True, capture_output=True)
    return folder


def test_the_wheel_has_every_file_of_the_program_and_all_licences_and_nothing_compiled(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if name.startswith("reservoir/")}
        licences = {name.split("/licenses/")[1] for name in wheel.namelist() if "/licenses/" in name}
    placed = {"reservoir": "reservoir", "kernels": "reservoir/kernels", "data": "reservoir/data"}
    files = {
        f"{place}/{path.relative_to(CHECKOUT / part).as_posix()}"
        for part, place in placed.items()
        for path in (CHECKOUT / part).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == files
    assert licences == {"LICENSE", "reservoir/page/static/vendor/uPlot.LICENSE"}


def test_the_source_archive_leaves_out_tests_and_committed_reports(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        parts = {Path(name).parts[1] for name in archive.getnames()}
    assert {"CHANGELOG.md", "SECURITY.md", "docs"} <= parts
    assert not {"tests", "reports"} & parts


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Python of an environment that holds the wheel, and of the dependencies only what this environment has."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv")
    python = folder / "venv" / "bin" / "python"
    (wheel,) = built.glob("*.whl")
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
