"""Processes of the race end with the program, however it ends."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool

import pytest

from reservoir.bench.peers import workers

#: A race whose workers are busy for long, and that tells who they are.
RACE = """
import os, sys, time
from reservoir.bench.peers import workers

if __name__ == "__main__":
    with workers.processes(2) as pools:
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


def ended(processes: list[int], within: float = 15.0) -> bool:
    until = time.monotonic() + within
    while any(map(alive, processes)):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


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
    with workers.processes(2) as pools:
        pids = [pool.submit(os.getpid).result() for pool in pools]
        assert len({*pids, os.getpid()}) == 3
        assert pools[0].submit(pow, 2, 5).result() == 32
    assert ended(pids)


def test_a_fault_in_the_block_does_not_wait_for_busy_workers():
    with pytest.raises(KeyError), workers.processes(1) as pools:
        pids = [pools[0].submit(os.getpid).result()]
        busy = pools[0].submit(time.sleep, 600)
        raise KeyError("enough")
    assert ended(pids)
    with pytest.raises((CancelledError, BrokenProcessPool)):  # what was done to its end has a result
        busy.result(15)
