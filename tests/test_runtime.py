"""Threads of the host: as many as the variable says, else as this process may run on."""

import os

import pytest

from reservoir.runtime import THREADS_VARIABLE, processors


def test_the_variable_says_how_many(monkeypatch):
    monkeypatch.setenv(THREADS_VARIABLE, " 3 ")
    assert processors() == 3


@pytest.mark.parametrize("words", ["", "0", "-1", "many", "9" * 5000])
def test_what_is_no_number_of_threads_says_nothing(monkeypatch, words):
    monkeypatch.setenv(THREADS_VARIABLE, words)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5}, raising=False)
    assert processors() == 3


def test_where_the_system_does_not_tell_all_are_used(monkeypatch):
    monkeypatch.delenv(THREADS_VARIABLE, raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1
