"""An interruption at any moment of a run is one line that says truly what was written, and never a traceback."""

import os
import signal
import subprocess
import sys

import pytest

from reservoir import runtime
from reservoir.runtime import SIGNALS, deferred

pytestmark = pytest.mark.usefixtures("heard")

_SENT_AT_IMPORT = """
import os, runpy, signal, sys

class Hook:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            {act}

sys.meta_path.insert(0, Hook())
sys.argv = ["reservoir", "plan", "--no-figures", "--out", "out"]
runpy.run_module("reservoir", run_name="__main__", alter_sys=True)
"""


def started(code, tmp_path):
    return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("module", ["click", "reservoir.cli", "reservoir.errors", "numba"])
def test_a_signal_while_modules_are_imported_is_one_line(tmp_path, module, name):
    act = f"os.kill(os.getpid(), signal.{name})"
    ended = started(_SENT_AT_IMPORT.format(name=module, act=act), tmp_path)
    assert ended.stderr.strip() == "Interrupted; nothing was written."
    assert ended.returncode == 128 + getattr(signal, name)
    assert not list(tmp_path.iterdir())


def test_an_interruption_that_other_code_makes_an_error_of_is_still_one(tmp_path):
    act = "\n".join(
        [
            "try:",
            "                signal.raise_signal(signal.SIGINT)",
            "            except KeyboardInterrupt:",
            "                raise ImportError('cannot import name')",
        ]
    )
    ended = started(_SENT_AT_IMPORT.format(name="numba", act=act), tmp_path)
    assert ended.stderr.strip() == "Interrupted; nothing was written."
    assert ended.returncode == 130


def test_a_signal_that_is_ignored_stays_ignored(tmp_path):
    """As nohup has it."""
    act = "os.kill(os.getpid(), signal.SIGHUP); sys.exit(7)"
    code = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + _SENT_AT_IMPORT.format(
        name="click", act=act
    )
    assert started(code, tmp_path).returncode == 7


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_what_is_ignored_stays_so_in_what_must_not_be_left_half_done_and_to_the_end(tmp_path, name):
    number = getattr(signal, name)
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with deferred():
            assert signal.getsignal(number) is signal.SIG_IGN
            signal.raise_signal(number)
        runtime.leave_signals()
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)
        for other in set(SIGNALS) - {number}:
            signal.signal(other, signal.default_int_handler if other == signal.SIGINT else signal.SIG_DFL)


def test_the_early_modules_import_nothing_that_takes_time():
    code = "import sys; before = set(sys.modules); import reservoir; print(sorted(set(sys.modules) - before))"
    assert started(code, None).stdout.strip() == "['__future__', 'reservoir']"


def test_signals_wait_until_the_end_of_what_must_not_be_left_half_done():
    done = []
    with pytest.raises(KeyboardInterrupt), deferred():
        signal.raise_signal(signal.SIGINT)
        done.append("the rest")
    assert done == ["the rest"]


def test_handlers_are_as_they_were_after_waiting():
    before = [signal.getsignal(number) for number in SIGNALS]
    with deferred(), deferred():
        assert all(signal.getsignal(number) is not handler for number, handler in zip(SIGNALS, before, strict=True))
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_a_signal_that_waits_in_the_innermost_waits_for_the_outermost():
    done = []
    with pytest.raises(KeyboardInterrupt), deferred():
        with deferred():
            signal.raise_signal(signal.SIGINT)
        done.append("the rest")
    assert done == ["the rest"]


def test_what_is_said_last_is_what_was_written():
    runtime.begin_run()
    assert runtime.last_words() == "Interrupted; nothing was written."
    runtime.wrote("reports/plan")
    assert runtime.last_words() == "Interrupted; written to reports/plan."
    runtime.begin_run()
    assert "nothing" in runtime.last_words()


def test_an_interruption_after_the_end_says_where_the_plan_is(call, monkeypatch, short_record, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("reservoir.cli.plan._show_result", interrupt)
    asked = ("plan", short_record, "--solver", "dp", "--no-figures", "--no-reference", "--out", "out")
    assert call(*asked, status=130).err.strip() == "Interrupted; written to out."
    assert (tmp_path / "out" / "plan.json").is_file()


@pytest.mark.device
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_end_leaves_nothing(short_record, tmp_path, number):
    before = sorted(os.listdir(tmp_path))
    asked = ("plan", str(short_record), "--generations", "1000000", "--out", "deep/out")
    running = subprocess.Popen(
        [sys.executable, "-m", "reservoir", *asked],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while "Inflow" not in running.stdout.readline():  # the folder is claimed, and the solver begins
        assert running.poll() is None
    assert os.listdir(tmp_path / "deep")
    running.send_signal(number)
    _, errors = running.communicate(timeout=60)
    assert errors.strip() == "Interrupted; nothing was written."
    assert running.returncode == 128 + number
    assert sorted(os.listdir(tmp_path)) == before
