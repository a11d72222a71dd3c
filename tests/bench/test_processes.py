"""Processes beside the program end with it, however it ends, and share tasks."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool

import pytest

from reservoir.bench.processes import processes, shared_among

#: A race whose workers are busy for long, and that tells who they are.
RACE = """
import os, sys, time
from reservoir.bench.processes import processes

if __name__ == "__main__":
    with processes(2) as pools:
        print(*[pool.submit(os.getpid).result() for pool in pools], flush=True)
        for busy in [pool.submit(time.sleep, 600) for pool in pools]:
            busy.result()
"""


def alive(process: int) -> bool:
    """Whether a process is at work: one that nobody has waited for is not."""
    try:
        with open(f"/proc/{process}/stat") as status:
            return status.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ended(pids: list[int], within: float = 15.0) -> bool:
    until = time.monotonic() + within
    while any(map(alive, pids)):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.usefixtures("heard")
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked up in /proc")
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda each: each.name)
def test_workers_end_when_the_program_is_killed(tmp_path, sent):
    script = tmp_path / "race.py"
    script.write_text(RACE)
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as race:
        pids = [int(word) for word in race.stdout.readline().split()]
        try:
            assert len(pids) == 2
            assert all(map(alive, pids))
            race.send_signal(sent)
            assert ended(pids)
            race.wait(15)
        finally:
            race.kill()
            for each in filter(alive, pids):
                os.kill(each, signal.SIGKILL)


def test_workers_do_their_tasks_and_end_with_the_block():
    with processes(2) as pools:
        pids = [pool.submit(os.getpid).result() for pool in pools]
        assert len({*pids, os.getpid()}) == 3
        assert pools[0].submit(pow, 2, 5).result() == 32
    assert ended(pids)


def test_a_fault_in_the_block_does_not_wait_for_busy_workers():
    with pytest.raises(KeyError), processes(1) as pools:
        pids = [pools[0].submit(os.getpid).result()]
        busy = pools[0].submit(time.sleep, 600)
        raise KeyError("enough")
    assert ended(pids)
    with pytest.raises((CancelledError, BrokenProcessPool)):  # what was done to its end has a result
        busy.result(15)


def test_each_task_is_done_once_and_told_with_its_item():
    found = dict(shared_among(2, str, range(5)))
    assert found == {item: str(item) for item in range(5)}


def test_a_fault_in_a_task_is_raised_and_ends_the_others():
    with pytest.raises(ValueError, match="invalid literal"):
        list(shared_among(2, int, ["1", "two", "3"]))
