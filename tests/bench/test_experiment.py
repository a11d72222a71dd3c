"""What a user may choose of an experiment is read once for all of them, and mistakes are told by the option."""

import pytest

from reservoir.bench.experiment import names_named, numbers_named
from reservoir.errors import InputError

KINDS = ("mk", "ftrap", "cyc", "spin")


def kinds(text):
    return names_named(text, KINDS, "there is no such kind of problem", "--problems")


def sizes(text):
    return numbers_named(text, lambda bits: bits >= 1, "is not a valid size", "bits", "--sizes")


def test_names_are_read_in_any_case_and_all_are_meant_by_none():
    assert kinds(" MK, spin") == ("mk", "spin")
    assert kinds(None) == KINDS
    with pytest.raises(InputError, match=r"--problems.*no such kind of problem.*maxcut.*mk, ftrap, cyc, spin"):
        kinds("mk,maxcut")


def test_numbers_are_sorted_and_told_once():
    assert sizes("120,60,60") == (60, 120)
    for wrong in ("60,x", "0", ""):
        with pytest.raises(InputError, match=r"--sizes.*is not a valid size.*expected bits"):
            sizes(wrong)
