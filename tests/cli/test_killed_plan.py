"""A long run that is killed goes on when it is called again, and writes the same bytes."""

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

pytestmark = [
    pytest.mark.usefixtures("device", "heard"),
    pytest.mark.skipif(find_spec("xarray") is None, reason="needs xarray, which the extra netcdf installs"),
]
RESERVOIR = [sys.executable, "-m", "reservoir"]
PLAN = [
    *("plan", "many.nc", "--solver", "lshade", "--evaluations", "300", "--no-reference", "--no-figures"),
    *("--format", "netcdf"),
]
#: Four parts.
YEARS = "13000"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where an ensemble lies, and the plan of it by a run that was left alone."""
    folder = tmp_path_factory.mktemp("many")
    synth = ["synth", "--years", YEARS, "--member-years", "50", "--no-check", "--out", "many.nc"]
    subprocess.run([*RESERVOIR, *synth], cwd=folder, check=True, capture_output=True)
    whole = subprocess.run([*RESERVOIR, *PLAN, "--out", "whole"], cwd=folder, capture_output=True)
    assert whole.returncode in (0, 1)
    return folder


def ended_by(number, folder, out):
    """Begin a run, and send it a signal when it has kept a part; its status and what it said."""
    run = subprocess.Popen(
        [*RESERVOIR, *PLAN, "--out", out], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    until = time.monotonic() + 120
    while not (folder / f"{out}.parts" / "parts.json").exists() and time.monotonic() < until and run.poll() is None:
        time.sleep(0.005)
    os.kill(run.pid, number)
    said, _ = run.communicate()
    return run.returncode, said.decode()


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_a_run_goes_on_with_the_parts_that_it_had_kept(folder, name):
    number = getattr(signal, name)
    status, said = ended_by(number, folder, name)
    assert status == (-number if name == "SIGKILL" else 128 + number)
    assert not (folder / name).exists()
    if name != "SIGKILL":
        assert f"kept in {name}.parts: the same call with --out {name} goes on from there" in said
    again = subprocess.run([*RESERVOIR, *PLAN, "--out", name], cwd=folder, capture_output=True, text=True)
    assert again.returncode in (0, 1)
    assert f"of an earlier run kept in {name}.parts: the search goes on from there" in again.stdout
    for table in ("plan.nc", "members.csv"):
        assert (folder / name / table).read_bytes() == (folder / "whole" / table).read_bytes()
    assert sorted(each.name for each in folder.iterdir() if each.name.startswith((name, ".reservoir"))) == [name]


def test_a_second_run_into_the_same_folder_is_refused_before_it_computes(folder):
    first = subprocess.Popen([*RESERVOIR, *PLAN, "--out", "twice"], cwd=folder, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while not (folder / "twice.parts").exists() and time.monotonic() < until:
        time.sleep(0.005)
    first.send_signal(signal.SIGSTOP)  # else it might have ended before the second has begun
    second = subprocess.run([*RESERVOIR, *PLAN, "--out", "twice"], cwd=folder, capture_output=True, text=True)
    first.send_signal(signal.SIGCONT)
    status = first.wait()
    assert second.returncode == 2
    assert "twice: is being written by another run" in second.stderr
    assert status in (0, 1)
    assert (folder / "twice" / "plan.nc").read_bytes() == (folder / "whole" / "plan.nc").read_bytes()
