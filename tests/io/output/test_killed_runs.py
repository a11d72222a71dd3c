"""A run that is killed at any moment leaves the old folder or the new one, and the next run there clears the rest."""

import os
import signal

import pytest

from reservoir.errors import OutputError
from reservoir.io.output import claimed
from reservoir.io.workplace import clear_abandoned, contents, leaves
from tests.io.output.other_process import begin, run

#: Three files go aside and three come: each is a rename, and before and after each the process may die.
STEPS = 12


def text(folder):
    return {leaf: (folder / leaf).read_text() for leaf in leaves(folder, contents(folder))}


def written(content):
    return {"a.txt": content, "b.txt": content, "inner/c.txt": content}


def abandoned(folder):
    return [entry.name for entry in folder.iterdir() if entry.name.startswith(".reservoir-")]


@pytest.mark.parametrize("step", range(STEPS))
def test_a_run_killed_while_it_replaces_a_folder_leaves_one_plan_whole(earlier, step):
    before, inode = text(earlier), earlier.stat().st_ino
    status, _, _ = run(earlier, "new", DIES_AT=step)
    assert status == -signal.SIGKILL
    assert abandoned(earlier)
    clear_abandoned(earlier)
    assert text(earlier) == before
    assert not abandoned(earlier)
    assert earlier.stat().st_ino == inode
    assert run(earlier, "new")[0] == 0
    assert text(earlier) == written("new")


def test_a_run_that_outlives_the_last_step_has_written_the_new_folder(earlier):
    assert run(earlier, "new", DIES_AT=STEPS)[0] == 0
    assert text(earlier) == written("new")
    assert not abandoned(earlier)


@pytest.mark.parametrize("step", [0, 1])
def test_a_run_killed_while_it_puts_a_new_folder_in_place_leaves_all_of_it_or_none(tmp_path, step):
    assert run(tmp_path / "plan", "new", DIES_AT=step)[0] == -signal.SIGKILL
    assert abandoned(tmp_path)
    assert (tmp_path / "plan").exists() == (step == 1)
    with claimed(tmp_path / "another", lambda place: None):
        pass
    assert not abandoned(tmp_path)
    assert step == 0 or text(tmp_path / "plan") == written("new")


def test_what_a_living_run_works_in_is_not_cleared(tmp_path):
    living = begin(tmp_path / "one", "one", WAITS=1)
    assert living.stdout.readline() == "claimed\n"
    assert run(tmp_path / "two", "two")[0] == 0
    assert len(abandoned(tmp_path)) == 1
    output, errors = living.communicate("go on\n", timeout=60)
    assert output.strip() == str(tmp_path / "one"), errors
    assert text(tmp_path / "one") == written("one")
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_second_run_is_refused_at_its_start_and_the_first_writes(tmp_path, exists):
    target = tmp_path / "plan"
    if exists:
        target.mkdir()
    first = begin(target, "first", WAITS=1)
    assert first.stdout.readline() == "claimed\n"
    with (
        pytest.raises(OutputError, match=rf"is being written by another run \(process {first.pid} on .*, since 20"),
        claimed(target, lambda place: None),
    ):
        pytest.fail("claimed twice")
    first.communicate("go on\n", timeout=60)
    assert text(target) == written("first")
    assert run(target, "second")[0] == 0
    assert text(target) == written("second")
