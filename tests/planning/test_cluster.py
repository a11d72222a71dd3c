"""A cluster of Dask brings what one process brings, whatever becomes of its workers; the end of its scheduler is told.

Other processes search here: the cluster of most tests has one worker, which takes seconds to begin.
"""

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
import pytest

import reservoir
from reservoir.errors import DeviceError, InputError
from reservoir.io.plan_parts import PartsFolder

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.skipif(find_spec("distributed") is None, reason="needs Dask, which the extra dask installs"),
]
SEARCH = {"solver": "lshade", "evaluations": 600}


@pytest.fixture
def started(tmp_path):
    """Begin programs of Dask, which end with the test; each says what it does to a file."""
    begun = []

    def start(*words, **environment):
        log = tmp_path / f"{len(begun)}.log"
        with log.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=tmp_path,
                stdout=file,
                stderr=file,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        begun.append(process)
        return process, log

    yield start
    for process in begun:
        end(process)


def end(process):
    """End a program and those that it began, as a machine that is switched off does."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def scheduler(started):
    process, log = started("distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")
    return process, said(log, "Scheduler at:").split()[-1]


def worker(started, address, **environment):
    where = ("--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
    return started("distributed.cli.dask_worker", address, *where, **environment)


def said(log, words, seconds=60):
    """The first line of a log with these words."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for line in log.read_text().splitlines():
            if words in line:
                return line.strip()
        time.sleep(0.1)
    raise AssertionError(log.read_text())


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_while_processes_begin_waits_until_all_have_and_then_ends_them(tmp_path, name):
    """Half begun, they ended in a fault of their own, said at length, in place of the one line."""
    code = f"""
import os, signal, distributed
from reservoir import runtime
from reservoir.planning.cluster import cluster_workers
begin = distributed.LocalCluster.__init__

def asked_to_end(*words, **named):
    signal.raise_signal(signal.{name})
    begin(*words, **named)

if __name__ == "__main__":
    runtime.listen_to_signals()
    distributed.LocalCluster.__init__ = asked_to_end
    try:
        with cluster_workers("local:1"):
            print("begun")
    except KeyboardInterrupt:
        runtime.end_interrupted()
"""
    (tmp_path / "asked.py").write_text(code)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "asked.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert (ended.stdout, ended.stderr) == ("", "Interrupted; nothing was written.\n")
    assert ended.returncode == 128 + getattr(signal, name)


def test_processes_of_this_machine_bring_the_same_bytes(small, many_years, small_parts):
    alone = reservoir.optimise(small, many_years, **SEARCH)
    shared = reservoir.optimise(small, many_years, cluster="local:2", **SEARCH)
    assert alone.schedule().equals(shared.schedule())
    assert alone.summary().equals(shared.summary())


#: Read by every process of Python that begins: the first of the cluster's are killed at once.
_KILLED_AT_START = """
import os, signal, sys
for number in range(int(os.environ["KILLED"])):
    if any(each.startswith("from multiprocessing.spawn import spawn_main") for each in sys.orig_argv):
        try:
            os.close(os.open(f"{os.environ['KILLED_IN']}/{number}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killed_at_start(tmp_path, monkeypatch):
    """Kill so many processes of a cluster on this machine at their start; the folder that counts them."""

    def killed(count):
        for name in ("site", "killed"):
            (tmp_path / name).mkdir()
        (tmp_path / "site" / "sitecustomize.py").write_text(_KILLED_AT_START)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), *filter(None, sys.path)]))
        monkeypatch.setenv("KILLED", str(count))
        monkeypatch.setenv("KILLED_IN", str(tmp_path / "killed"))
        return tmp_path / "killed"

    return killed


def test_a_worker_that_is_lost_at_its_start_is_started_again(small, many_years, small_parts, killed_at_start):
    counted = killed_at_start(1)
    shared = reservoir.optimise(small, many_years, cluster="local:2", **SEARCH)
    assert len(list(counted.iterdir())) == 1
    assert shared.schedule().equals(reservoir.optimise(small, many_years, **SEARCH).schedule())


def test_workers_that_are_lost_at_every_start_are_told(small, many_years, small_parts, killed_at_start):
    killed_at_start(99)
    with pytest.raises(DeviceError, match="processes of the cluster local:1 are lost whenever they are started"):
        reservoir.optimise(small, many_years, cluster="local:1", **SEARCH)


def test_the_parts_of_a_worker_that_is_lost_are_done_by_another(small, many_years, small_parts, started):
    _, address = scheduler(started)
    first, _ = worker(started, address)
    kept = []

    def lost(stage, done, total):
        kept.append(done)
        if done and first.poll() is None:
            end(first)
            worker(started, address)

    plan = reservoir.optimise(small, many_years, cluster=address, progress=lost, **SEARCH)
    assert first.poll() is not None
    assert kept[-1] == many_years.years
    assert np.array_equal(
        plan.operation.release_m3s, reservoir.optimise(small, many_years, **SEARCH).operation.release_m3s
    )


def test_a_scheduler_that_is_lost_leaves_parts_with_which_the_same_call_goes_on(
    small, many_years, small_parts, started, tmp_path, monkeypatch
):
    monkeypatch.setattr("reservoir.planning.cluster._CONNECT_SECONDS", 3.0)
    at, address = scheduler(started)
    worker(started, address)

    def lost(stage, done, total):
        if done:
            end(at)

    with (
        pytest.raises(DeviceError, match=r"the scheduler of the cluster at .* is lost"),
        PartsFolder(tmp_path / "p") as kept,
    ):
        reservoir.optimise(small, many_years, cluster=address, progress=lost, parts=kept, **SEARCH)
    assert kept.reports
    _, address = scheduler(started)
    worker(started, address)
    with PartsFolder(tmp_path / "p") as kept:
        plan = reservoir.optimise(small, many_years, cluster=address, parts=kept, **SEARCH)
    assert plan.schedule().equals(reservoir.optimise(small, many_years, **SEARCH).schedule())


@pytest.mark.parametrize(
    "address", ["local:0", "local:many", "local:", "somewhere", "nonsense://1.2.3.4:5", "local:99999"]
)
def test_what_is_no_cluster_is_refused(small, many_years, address):
    from distributed import default_client

    with pytest.raises(InputError, match=r"tcp://HOST:PORT or local:N") as refused:
        reservoir.optimise(small, many_years, cluster=address, **SEARCH)
    assert refused.value  # what it holds lives, a client that did not begin as well
    with pytest.raises(ValueError, match="No clients found"):  # else xarray, say, would lock its files there
        default_client()


def test_a_scheduler_that_does_not_answer_is_told(small, many_years, monkeypatch):
    monkeypatch.setattr("reservoir.planning.cluster._CONNECT_SECONDS", 1.0)
    with pytest.raises(DeviceError, match="no scheduler answers"):
        reservoir.optimise(small, many_years, cluster="tcp://127.0.0.1:9", **SEARCH)


@pytest.mark.parametrize("asked", [{"horizon": "record", "solver": "dp"}, {"start": "2001-06", "start_hm3": 100.0}])
def test_a_cluster_is_for_years_by_themselves(small, many_years, asked):
    with pytest.raises(InputError, match="a cluster searches years by themselves"):
        reservoir.optimise(small, many_years, cluster="local:1", **asked)
