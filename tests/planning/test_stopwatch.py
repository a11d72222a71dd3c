"""Stages of a run: none overlap, and with the rest they make the total. The clock is the test's own."""

import pytest

from reservoir.planning.stopwatch import Profile, Stopwatch, untimed


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.now = 100.0

    def pass_seconds(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    own = Clock()
    monkeypatch.setattr("reservoir.planning.stopwatch.time.perf_counter", lambda: own.now)
    return own


def test_a_stage_is_as_long_as_its_block(clock):
    watch = Stopwatch()
    with watch("read"):
        clock.pass_seconds(2)
    assert watch.seconds == {"read": 2}


def test_a_stage_inside_another_pauses_it_and_stands_behind_it(clock):
    watch = Stopwatch()
    with watch("write"):
        clock.pass_seconds(1)
        with watch("report"):
            clock.pass_seconds(5)
        clock.pass_seconds(2)
    assert list(watch.seconds.items()) == [("write", 3), ("report", 5)]


def test_a_stage_that_comes_again_adds_up(clock):
    watch = Stopwatch()
    for seconds in (1, 4):
        with watch("figure"):
            clock.pass_seconds(seconds)
    assert watch.seconds == {"figure": 5}


def test_a_stage_that_fails_is_counted_and_ended(clock):
    watch = Stopwatch()
    with pytest.raises(ValueError, match="broken"), watch("read"):
        clock.pass_seconds(3)
        raise ValueError("broken")
    clock.pass_seconds(9)
    assert watch.seconds == {"read": 3}


def test_stages_and_rest_make_the_total_since_the_run_began(clock):
    watch = Stopwatch(began=clock.now - 4)
    watch.add({"start": 4})
    clock.pass_seconds(1)
    with watch("read"):
        clock.pass_seconds(3)
    profile = watch.profile()
    assert profile == Profile({"start": 4, "read": 3}, total_seconds=8)
    assert profile.rows() == [("start", 4, 0.5), ("read", 3, 0.375), ("rest", 1, 0.125)]


def test_nothing_need_be_timed(clock):
    with untimed("read"):
        clock.pass_seconds(1)
