"""Whatever stands in a file, it is read as something sound or refused with its name: no other error, soon, small."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reservoir.text import data_file as limited_read
from tests.fuzz import __main__ as command
from tests.fuzz.case import Case, Oddity
from tests.fuzz.judge import outcome
from tests.fuzz.readers import NAMES, reader

#: Cases in the suite; `python -m tests.fuzz` tries as many as are asked for.
CASES = dict.fromkeys(NAMES, 250) | {
    "plan": 60,
    "reservoir": 150,
    "rule": 150,
    "zarr": 60,
    "netcdf": 100,
    "schedule": 100,
    "system": 150,
}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    """A pipe that stays silent is given up at once."""
    monkeypatch.setattr(limited_read, "PATIENCE_SECONDS", 0.01)


@pytest.mark.parametrize("name", NAMES)
def test_any_file_is_read_or_refused_with_its_name(name, tmp_path):
    tried = reader(name)
    found = set()

    @settings(max_examples=CASES[name], suppress_health_check=list(HealthCheck))
    @given(case=tried.cases)
    def every(case: Case) -> None:
        found.add(outcome(tried, case, tmp_path))

    every()
    assert found == {"read", "refused"}


@pytest.mark.parametrize("oddity", Oddity)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_file_is_refused_with_its_name(name, oddity, tmp_path):
    tried = reader(name)
    assert outcome(tried, {tried.file: oddity}, tmp_path) == "refused"


class Faulty:
    """A reader with a fault for `command`'s own tests."""

    cases = st.sampled_from([{"file": b"good"}, {"file": b"bad"}])

    @staticmethod
    def read(folder):
        if (folder / "file").read_bytes() == b"bad":
            raise ZeroDivisionError("division")


def test_the_command_keeps_the_first_file_of_each_fault(tmp_path, capsys):
    run = command.Run(Faulty, tmp_path / "kept")
    run.search(20, begin=1)
    assert run.found["read"] > 0
    assert run.found["failed"] > 0
    assert [kind.split()[0] for kind in run.kinds] == ["ZeroDivisionError"]
    assert (tmp_path / "kept" / "1" / "file").read_bytes() == b"bad"
    assert "kept in" in capsys.readouterr().err


def test_a_reader_that_hangs_is_a_fault(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.fuzz.judge.SECONDS", 0.05)

    class Hanging:
        cases = st.just({"file": b""})

        @staticmethod
        def read(folder):
            time.sleep(1)

    run = command.Run(Hanging, tmp_path / "kept")
    run.search(1, begin=1)
    assert [kind.split()[0] for kind in run.kinds] == ["Hang"]
