"""An interrupted experiment goes on where it was, and never mixes runs of different settings.

Processes beside the program end with it, however it ends, and share tasks.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from reservoir import runtime
from reservoir.bench.runs import Journal, processes, shared_among, sources_digest
from reservoir.errors import InputError, OutputError

ORIGIN = {"device": "one", "runs": 3}


def test_runs_are_found_again(tmp_path):
    first = Journal.beside(tmp_path / "reports" / "bench")
    assert first.begin(ORIGIN) == 0
    first.add("f1, 1", {"best": 1e-16, "seconds": None})
    again = Journal.beside(tmp_path / "reports" / "bench")
    assert again.begin(ORIGIN) == 1
    assert again.row("f1, 1") == {"best": 1e-16, "seconds": None}
    assert again.row("f1, 2") is None


def test_a_line_that_was_cut_off_is_run_again(tmp_path):
    journal = Journal.beside(tmp_path / "bench")
    journal.begin(ORIGIN)
    journal.add("f1, 1", {"best": 1.0})
    with journal.path.open("a") as file:
        file.write('{"run": "f1, 2", "ro')
    again = Journal.beside(tmp_path / "bench")
    assert again.begin(ORIGIN) == 1
    again.add("f1, 2", {"best": 2.0})
    assert Journal.beside(tmp_path / "bench").begin(ORIGIN) == 2


def test_other_settings_are_refused_by_name(tmp_path):
    Journal.beside(tmp_path / "bench").begin(ORIGIN)
    with pytest.raises(OutputError, match=r"device: one, not other.*same settings.*delete"):
        Journal.beside(tmp_path / "bench").begin({**ORIGIN, "device": "other"})


def test_the_file_goes_when_the_experiment_is_written(tmp_path):
    journal = Journal.beside(tmp_path / "bench")
    journal.begin(ORIGIN)
    journal.end()
    assert not list(tmp_path.iterdir())
    journal.end()


def test_without_a_file_runs_are_kept_in_memory():
    journal = Journal()
    assert journal.begin(ORIGIN) == 0
    journal.add("f1, 1", {"best": 1.0})
    assert journal.row("f1, 1") == {"best": 1.0}


def test_a_file_that_is_no_journal_is_left_alone(tmp_path):
    for text in ("my thesis\n", '{"device": "one", "runs": 3}\nnot json\n{"run": "f1, 2", "row": {}}\n', "[1]\n"):
        journal = Journal.beside(tmp_path / "bench")
        journal.path.write_text(text)
        with pytest.raises(OutputError, match=r"not a valid record of runs.*delete it"):
            journal.begin(ORIGIN)
        assert journal.path.read_text() == text


def test_a_journal_that_cannot_be_read_is_told(tmp_path):
    journal = Journal.beside(tmp_path / "bench")
    journal.path.mkdir()
    with pytest.raises(OutputError, match="cannot be used"):
        journal.begin(ORIGIN)


def test_the_present_folder_has_a_journal_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Journal.beside(Path()).path == tmp_path.with_name(tmp_path.name + ".unfinished.jsonl")


def kept(tmp_path, runs=2):
    """The text of a journal of some runs."""
    journal = Journal.beside(tmp_path / "bench")
    journal.begin(ORIGIN)
    for run in range(runs):
        journal.add(f"f1, {run}", {"best": float(run)})
    return journal.path


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe\x00",
        b"\x00" * 4096,
        b"[" * 200_000,
        b'{"run": "f1, 9", "row": {"best": ' + b"9" * 5000 + b'}, "crc32": 1}',
        b'{"run": "f1, 9", "row": {"best": 1.0}}',
        b'{"run": "f1, 9", "row": {"best": 1.0}, "crc32": 1}',
        b'{"run": 9, "row": {}, "crc32": 1}',
        b'{"run": "f1, 9", "row": [], "crc32": 1}',
        b'{"device": "one"}',
        b'"text"',
        b"null",
        b"7",
        b"",
    ],
)
def test_a_line_that_no_run_wrote_is_refused_and_the_file_left_alone(tmp_path, line):
    path = kept(tmp_path)
    path.write_bytes(odd := path.read_bytes() + line + b"\n")
    with pytest.raises(OutputError, match=r"not a valid record of runs.*delete it"):
        Journal.beside(tmp_path / "bench").begin(ORIGIN)
    assert path.read_bytes() == odd


def test_a_result_that_was_changed_or_kept_twice_never_enters_an_experiment(tmp_path):
    path = kept(tmp_path)
    text = path.read_text()
    assert Journal.beside(tmp_path / "bench").begin(ORIGIN) == 2
    for odd in (text.replace('"best": 1.0', '"best": 0.5'), text + text.splitlines()[-1] + "\n"):
        assert odd != text
        path.write_text(odd)
        with pytest.raises(OutputError, match="not a valid record of runs"):
            Journal.beside(tmp_path / "bench").begin(ORIGIN)


def test_a_beginning_of_other_or_endless_settings_is_shown_shortly(tmp_path):
    path = kept(tmp_path, 0)
    path.write_text(json.dumps({"device": "x" * 100_000} | {f"setting {each}": 1 for each in range(5000)}) + "\n")
    with pytest.raises(OutputError, match="other settings") as refused:
        Journal.beside(tmp_path / "bench").begin(ORIGIN)
    assert len(str(refused.value)) < 2500


def test_a_journal_beyond_any_experiment_is_refused_unread(tmp_path, monkeypatch):
    path = kept(tmp_path)
    monkeypatch.setattr("reservoir.bench.runs._MOST_BYTES", 100)
    with pytest.raises(InputError, match="is too large"):
        Journal.beside(tmp_path / "bench").begin(ORIGIN)
    assert path.stat().st_size > 100


@pytest.mark.parametrize(("folder", "file"), [("data", "bench/models.toml"), ("kernels", "common/rng/philox.cl")])
def test_runs_of_other_data_or_kernels_are_other_runs(folder, file, tmp_path, monkeypatch):
    before = sources_digest()
    changed = shutil.copytree(runtime.package_folder(folder), tmp_path / folder)
    found = runtime.package_folder
    monkeypatch.setattr(runtime, "package_folder", lambda name: changed if name == folder else found(name))
    assert sources_digest() == before
    with (changed / file).open("a") as opened:
        opened.write("\n")
    assert sources_digest() != before


def test_runs_on_other_random_reservoirs_are_other_runs(monkeypatch):
    read, files = Path.read_bytes, []
    monkeypatch.setattr(Path, "read_bytes", lambda path: files.append(path.name) or read(path))
    sources_digest()
    assert {"zoo.py", "lshade.cl", "step.py", "experiment.py"} <= set(files)


# Processes

#: A race whose workers are busy for long, and that tells who they are.
RACE = """
import os, sys, time
from reservoir.bench.runs import processes

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
