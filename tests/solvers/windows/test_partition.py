"""Windows of a sweep do not overlap, and with those between them they cover every step."""

import numpy as np
import pytest

from reservoir.solvers.windows.sweeps import levels_of, window_starts


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize(
    ("steps", "length"), [(24, 24), (25, 24), (36, 24), (47, 24), (60, 24), (720, 96), (744, 24), (43, 5)]
)
def test_windows_cover_the_horizon(steps, length, cyclic):
    covered = np.zeros(steps, int)
    for between in (False, True):
        starts = window_starts(steps, length, between=between, cyclic=cyclic)
        inside = (starts[:, np.newaxis] + np.arange(length)).ravel()
        assert cyclic or (inside.min() >= 0 and inside.max() < steps)
        taken = np.bincount(inside % steps, minlength=steps)
        assert taken.max() == 1
        covered += taken
    assert covered.min() >= 1


@pytest.mark.parametrize(("steps", "length"), [(720, 96), (744, 24), (60, 20)])
def test_a_window_between_two_others_reaches_into_both(steps, length):
    starts, between = (window_starts(steps, length, between=each, cyclic=False) for each in (False, True))
    assert len(between) == len(starts) - 1
    assert np.all(between - starts[:-1] >= length // 2)
    assert np.all(starts[1:] - between >= length // 2)


def test_blocks_are_halved_down_to_a_step():
    assert levels_of(744, 24, 128) == [(24, 4), (24, 2), (24, 1), (12, 1)]
    assert levels_of(60, 24, 128) == [(24, 2), (24, 1), (12, 1)]
    assert levels_of(13, 13, 128) == [(13, 1), (6, 1)]
    assert levels_of(100, 10, 2000) == [(10, 8), (10, 4), (10, 2), (10, 1), (5, 1)]
