"""A run that ended goes on with the parts that it kept, and with those of no other run."""

import errno
import json
import os
import signal

import numpy as np
import pytest

import reservoir
from reservoir.errors import OutputError
from reservoir.io import plan_parts
from reservoir.io.plan_parts import MANIFEST, ROWS, PartsFolder
from reservoir.planning import parts as planned_parts
from reservoir.planning.search import search
from reservoir.runtime import last_words

pytestmark = pytest.mark.usefixtures("device")
SEARCH = {"solver": "lshade", "evaluations": 600}


@pytest.fixture(autouse=True)
def parts(monkeypatch):
    """Parts of five years."""
    monkeypatch.setattr(planned_parts, "PART_YEARS", 5)


@pytest.fixture
def searched(monkeypatch) -> list[int]:
    """Years of the parts that are searched, one by one."""
    years = []

    def counted(problems, *others):
        years.append(len(problems))
        return search(problems, *others)

    monkeypatch.setattr(planned_parts, "search", counted)
    monkeypatch.setattr(planned_parts, "_AT_ONCE", 1)
    return years


def planned(plant, many_years, path, force=False, **changed):
    with PartsFolder(path, force=force) as folder:
        return reservoir.optimise(plant, many_years, parts=folder, **SEARCH | changed)


def ended_after(count, monkeypatch):
    """The process gets no further than so many parts."""
    keep = PartsFolder.keep

    def ends(self, part, *others):
        if len(self.reports) == count:
            raise KeyboardInterrupt
        keep(self, part, *others)

    monkeypatch.setattr(PartsFolder, "keep", ends)


def test_a_run_goes_on_where_it_ended_and_its_plan_has_the_same_bytes(
    small, many_years, tmp_path, searched, monkeypatch
):
    whole = reservoir.optimise(small, many_years, **SEARCH)
    searched.clear()
    with monkeypatch.context() as short, pytest.raises(KeyboardInterrupt):
        ended_after(2, short)
        planned(small, many_years, tmp_path / "parts")
    searched.clear()
    plan = planned(small, many_years, tmp_path / "parts")
    assert searched == [4, 5, 5]
    assert plan.schedule().equals(whole.schedule())
    assert plan.summary().equals(whole.summary())


def test_a_part_that_was_half_written_is_searched_again(small, many_years, tmp_path, searched, monkeypatch):
    with monkeypatch.context() as short, pytest.raises(KeyboardInterrupt):
        ended_after(2, short)
        planned(small, many_years, tmp_path / "parts")
    rows = tmp_path / "parts" / ROWS
    list_of_one = json.loads((tmp_path / "parts" / MANIFEST).read_text())
    del list_of_one["parts"]["1"]
    (tmp_path / "parts" / MANIFEST).write_text(json.dumps(list_of_one))
    content = bytearray(rows.read_bytes())
    first = 4 * 12 * 8  # of the releases
    content[first : first + 40] = b"x" * 40
    rows.write_bytes(content)
    searched.clear()
    plan = planned(small, many_years, tmp_path / "parts")
    assert searched == [5, 4, 5, 5]
    assert plan.schedule().equals(reservoir.optimise(small, many_years, **SEARCH).schedule())


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"seed": 2}, "seed"), ({"evaluations": 700}, "settings"), ({"solver": "lshade-sequential"}, "solver, device")],
)
def test_parts_of_another_run_are_refused_and_removed_when_asked(small, many_years, tmp_path, changed, said):
    planned(small, many_years, tmp_path / "parts")
    before = (tmp_path / "parts" / MANIFEST).read_bytes()
    with pytest.raises(OutputError, match=f"parts of another run \\(it differs in: {said}\\)"):
        planned(small, many_years, tmp_path / "parts", **changed)
    assert (tmp_path / "parts" / MANIFEST).read_bytes() == before
    plan = planned(small, many_years, tmp_path / "parts", force=True, **changed)
    assert plan.schedule().equals(reservoir.optimise(small, many_years, **SEARCH | changed).schedule())


def test_parts_of_another_record_or_reservoir_are_refused(small, many_years, tmp_path):
    planned(small, many_years, tmp_path / "parts")
    other = reservoir.Inflow(many_years.flow_m3s * 1.01, many_years.calendar)
    with pytest.raises(OutputError, match="differs in: inflow"):
        planned(small, other, tmp_path / "parts")


def test_a_second_run_with_the_same_parts_is_refused(small, many_years, tmp_path):
    with PartsFolder(tmp_path / "parts") as first:
        reservoir.optimise(small, many_years, parts=first, **SEARCH)
        with pytest.raises(OutputError, match="is being written by another run"):
            planned(small, many_years, tmp_path / "parts")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 1}', '{"run": 3, "columns": {}, "parts": []}'])
def test_a_list_that_is_none_is_refused_and_stays(small, many_years, tmp_path, content):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / MANIFEST).write_text(content)
    with pytest.raises(OutputError, match="is not a list of parts"):
        planned(small, many_years, tmp_path / "parts")
    assert (tmp_path / "parts" / MANIFEST).read_text() == content


def test_a_folder_of_the_user_is_refused_and_stays(small, many_years, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="no parts of a plan"):
        planned(small, many_years, tmp_path / "parts", force=True)
    assert (tmp_path / "parts" / "thesis.txt").read_text() == "mine"


def test_a_full_disk_leaves_the_parts_that_are_there_whole(small, many_years, tmp_path, monkeypatch):
    to_disk, written = plan_parts._to_disk, []

    def full(file):
        written.append(file)
        if len(written) > 5:  # two parts: rows and list of each
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        to_disk(file)

    with monkeypatch.context() as short:
        short.setattr(plan_parts, "_to_disk", full)
        with pytest.raises(OutputError, match="No space left on device\\); what is kept there, 2 parts, is whole"):
            planned(small, many_years, tmp_path / "parts")
    plan = planned(small, many_years, tmp_path / "parts")
    assert np.array_equal(
        plan.operation.storage_hm3, reservoir.optimise(small, many_years, **SEARCH).operation.storage_hm3
    )


def test_an_interruption_says_where_parts_are_kept(small, many_years, tmp_path, monkeypatch):
    with monkeypatch.context() as short, pytest.raises(KeyboardInterrupt):
        ended_after(2, short)
        planned(small, many_years, tmp_path / "parts")
    assert f"2 parts kept in {tmp_path / 'parts'}" in last_words()
    with PartsFolder(tmp_path / "parts") as folder:
        reservoir.optimise(small, many_years, parts=folder, **SEARCH)
        folder.remove()
    assert "parts" not in last_words()
    assert not (tmp_path / "parts").exists()


@pytest.mark.usefixtures("heard")
def test_an_interruption_in_the_midst_of_keeping_a_part_says_that_it_is_kept(tmp_path, monkeypatch):
    def replaced(new, old, replace=os.replace):
        replace(new, old)
        signal.raise_signal(signal.SIGINT)  # the list names the part, and nothing was said of it yet

    monkeypatch.setattr(os, "replace", replaced)
    with PartsFolder(tmp_path / "parts") as folder:
        folder.begin({}, 4)
        with pytest.raises(KeyboardInterrupt):
            folder.keep(0, 0, {"fitness": np.zeros(2)}, {})
        assert f"1 part kept in {tmp_path / 'parts'}" in last_words()
        folder.remove()


def test_a_folder_of_that_name_is_left_alone_by_a_run_without_parts(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "thesis.txt").write_text("mine")
    with PartsFolder(tmp_path / "parts") as folder:
        folder.remove()
    assert (tmp_path / "parts" / "thesis.txt").read_text() == "mine"


def test_parts_of_another_size_are_refused(small, many_years, tmp_path, monkeypatch):
    planned(small, many_years, tmp_path / "parts")
    monkeypatch.setattr(planned_parts, "PART_YEARS", 6)
    with pytest.raises(OutputError, match="differs in: parts"):
        planned(small, many_years, tmp_path / "parts")
