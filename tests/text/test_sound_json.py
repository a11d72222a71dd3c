"""JSON that a user names: every value of it is looked at, however it lies."""

import math

import pytest

from reservoir.text.strict_json import DEEPEST, unsound


def within(depth, value):
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("place", [lambda bad: bad, lambda bad: [1, [bad], 2], lambda bad: [{"a": [3, {"b": bad}]}, 4]])
@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e31, -(10**400), "\x1b", "a" * 100_001])
def test_what_is_unsound_is_found_wherever_it_stands(place, bad):
    assert len([*unsound(place(bad))]) == 1


def test_a_key_is_looked_at_too():
    assert len([*unsound({"\x00": {"\ud800": 1}})]) == 2


def test_what_is_sound_is_not_complained_of():
    assert not [*unsound({"a": [None, True, 1, -2.5e29, "x\ty\n"], "b": {}, "": []})]


@pytest.mark.parametrize(("depth", "found"), [(DEEPEST, 0), (DEEPEST + 1, 1), (900, 1)])
def test_lists_too_deep_within_each_other_are_not_looked_into(depth, found):
    assert len([*unsound(within(depth, 1))]) == found
