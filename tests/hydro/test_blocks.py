"""Blocks of years are done once each, whatever threads share them, and what fails in a thread is raised."""

import threading

import numpy as np
import pytest

from reservoir.hydro.operation import LEAST_YEARS, in_blocks
from reservoir.runtime import THREADS_VARIABLE

YEARS = [0, 1, LEAST_YEARS, 2 * LEAST_YEARS, 5 * LEAST_YEARS + 3]


@pytest.mark.parametrize("threads", [1, 2, 3, 64])
@pytest.mark.parametrize("years", YEARS)
def test_every_year_is_done_once(threads: int, years: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, str(threads))
    done = np.zeros(years, int)
    blocks = []

    def work(first: int, stop: int) -> None:
        done[first:stop] += 1
        blocks.append(stop - first)

    in_blocks(work, years)
    assert done.tolist() == [1] * years
    assert len(blocks) == max(min(threads, years // LEAST_YEARS), 1)
    assert min(blocks) >= min(years, LEAST_YEARS)


def test_blocks_are_done_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, "3")
    together = threading.Barrier(3)
    in_blocks(lambda first, stop: together.wait(timeout=30) and None, 3 * LEAST_YEARS)


def test_a_fault_in_a_block_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, "2")

    def work(first: int, stop: int) -> None:
        if first:
            raise ZeroDivisionError("the second")

    with pytest.raises(ZeroDivisionError, match="the second"):
        in_blocks(work, 2 * LEAST_YEARS)
