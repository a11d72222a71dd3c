"""What the screen says while code is compiled: the first time on a machine, and never again."""

import io
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from reservoir.cli import screen
from reservoir.hydro.jit import compiled, compiled_part
from reservoir.opencl import program
from reservoir.opencl.devices import choose_device


@compiled_part
def half_of_it(flow: float) -> float:
    return flow / 2


def fresh() -> Callable[[float], float]:
    """A function that this process has not compiled."""

    @compiled
    def twice_the_flow(flow: float) -> float:
        return 4 * half_of_it(flow)

    return twice_the_flow


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Callable[[bool], str]:
    """What bars show while a function is called, on a terminal or into a file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def show(terminal: bool) -> str:
        text, function = io.StringIO(), fresh()
        there = Console(file=text, force_terminal=terminal, width=120)
        monkeypatch.setattr(screen, "console", lambda stderr=False: there)
        with screen.progress_bars():
            assert function(3.0) == 6.0
        return text.getvalue()

    return show


def test_a_terminal_says_what_is_compiled_and_nothing_of_what_is_kept(shown: Callable[[bool], str]) -> None:
    first = shown(True)
    assert "compiling twice the flow" in first
    assert "2/2" in first
    assert "half" not in first
    assert "compiling" not in shown(True)


def test_a_terminal_says_that_a_device_s_program_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.StringIO()
    monkeypatch.setattr(screen, "console", lambda stderr=False: Console(file=text, force_terminal=True, width=120))
    with screen.progress_bars():
        with program._announced(SimpleNamespace(name="Some device")):
            assert "compiling for Some device" not in text.getvalue() or "1/1" not in text.getvalue()
        with program._announced(SimpleNamespace(name="Some device")):
            pass
    assert "compiling for Some device" in text.getvalue()
    assert "2/2" in text.getvalue()
    assert program._LISTENERS == []


@pytest.mark.device
def test_a_program_is_told_when_it_is_built_and_not_when_it_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    device, told = choose_device(None), list[bool]()
    source = "kernel void told(global float *x) { x[0] = 42.0f; }"
    with program.builds_told(lambda name, ready: told.append(ready)):
        for _ in range(2):
            program.build(device, source)
            program._build_once.cache_clear()
    assert told[:2] == [False, True]
    assert len(told) in (2, 4)  # a driver may have no binaries to keep


def test_files_and_pipes_get_no_word_of_compiling(shown: Callable[[bool], str]) -> None:
    assert shown(False) == ""


def test_a_program_that_asks_for_lines_is_told_of_compiling(
    shown: Callable[[bool], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(screen.PROGRESS, "lines")
    told = [json.loads(line) for line in shown(False).splitlines()]
    assert {each["stage"] for each in told} == {"compiling twice the flow"}
    assert told[0]["total"] is None
    assert told[-1]["done"] == told[-1]["total"] >= 1
