"""What the screen says while code is compiled: the first time on a machine, and never again."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from reservoir.cli import screen
from reservoir.hydro.jit import compiled, compiled_part


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


def test_files_and_pipes_get_no_word_of_compiling(shown: Callable[[bool], str]) -> None:
    assert shown(False) == ""
