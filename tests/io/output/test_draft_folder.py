"""A folder is written as a whole or not at all, keeps what others put there, and no result is lost."""

import os
import signal

import pytest

from reservoir import runtime
from reservoir.errors import OutputError
from reservoir.io import output
from reservoir.io import workplace as moves
from reservoir.io.output import claimed, claimed_new, drafted
from reservoir.io.workplace import contents, leaves, workplace


def anything(place):
    """No check."""


def everything(place):
    return list(leaves(place, contents(place)))


def text(folder):
    return {leaf: (folder / leaf).read_text() for leaf in leaves(folder)}


def fill(claim, *names, content="new"):
    for name in names or ("a.txt", "inner/c.txt"):
        (claim.draft / name).parent.mkdir(exist_ok=True)
        (claim.draft / name).write_text(content)


NEW = {"a.txt": "new", "inner/c.txt": "new"}


def test_a_folder_that_is_replaced_stays_the_same_folder(earlier, monkeypatch):
    monkeypatch.chdir(earlier)
    inode = earlier.stat().st_ino
    with drafted(earlier, anything, everything) as claim:
        fill(claim)
    assert earlier.stat().st_ino == inode == os.stat(".").st_ino
    assert text(earlier) == NEW


def test_the_present_folder_can_be_written_and_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for content in ("first", "second"):
        with drafted(type(tmp_path)("."), anything, everything) as claim:
            fill(claim, content=content)
        assert sorted(os.listdir()) == ["a.txt", "inner"]
        assert (tmp_path / "a.txt").read_text() == content


@pytest.mark.parametrize("name", ["mine.txt", "inner/mine.txt", "deep/er/mine.txt"])
def test_a_file_that_others_put_there_meanwhile_stays(earlier, name):
    with drafted(earlier, anything, everything) as claim:
        fill(claim)
        (earlier / name).parent.mkdir(exist_ok=True, parents=True)
        (earlier / name).write_text("mine")
    assert text(earlier) == {**NEW, name: "mine"}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(16, "Device or resource busy", "a.txt")])
@pytest.mark.parametrize("step", range(5))
def test_a_failure_at_any_rename_leaves_the_old_folder_whole(earlier, tmp_path, monkeypatch, step, failure, when):
    """Three files go aside and two come."""
    rename, made = os.rename, []

    def failing(origin, target):
        fails = len(made) == step
        made.append(target)
        if fails and when == "before":
            raise failure
        rename(origin, target)
        if fails:
            raise failure

    before = text(earlier)
    runtime.begin_run()
    monkeypatch.setattr(moves.os, "rename", failing)
    with pytest.raises((OutputError, KeyboardInterrupt)) as failed, drafted(earlier, anything, everything) as claim:
        fill(claim)
    assert len(made) > step
    assert text(earlier) == before
    if isinstance(failure, OSError):
        assert f"the results are in {tmp_path / 'plan-2'}" in str(failed.value)
        assert text(tmp_path / "plan-2") == NEW
        assert "written to" in runtime.last_words()
    else:
        assert os.listdir(tmp_path) == ["plan"]
        assert runtime.last_words() == "Interrupted; nothing was written."


@pytest.mark.usefixtures("heard")
def test_a_signal_while_files_are_moved_waits_until_all_are(earlier, monkeypatch):
    rename, made = os.rename, []

    def signalled(origin, target):
        signal.raise_signal(signal.SIGINT)
        made.append(target)
        rename(origin, target)

    runtime.begin_run()
    monkeypatch.setattr(moves.os, "rename", signalled)
    with pytest.raises(KeyboardInterrupt), drafted(earlier, anything, everything) as claim:
        fill(claim)
    assert len(made) == 5
    assert text(earlier) == NEW
    assert runtime.last_words() == f"Interrupted; written to {earlier}."


@pytest.mark.parametrize("exists", [True, False])
def test_an_interruption_before_the_end_leaves_nothing(tmp_path, exists):
    target = tmp_path / "reports" / "deep" / "plan"
    if exists:
        target.mkdir(parents=True)
    runtime.begin_run()
    with pytest.raises(KeyboardInterrupt), claimed(target, anything) as claim, drafted(claim, anything) as draft:
        fill(draft)
        raise KeyboardInterrupt
    assert list(tmp_path.rglob("*")) == ([target.parent.parent, target.parent, target] if exists else [])
    assert runtime.last_words() == "Interrupted; nothing was written."


def test_a_file_changed_meanwhile_is_not_replaced_and_the_results_are_kept(earlier, tmp_path):
    with (
        pytest.raises(
            OutputError, match=r"changed by another program during the run \(a\.txt\); the results are in .*plan-2"
        ),
        drafted(earlier, anything, everything) as claim,
    ):
        fill(claim)
        (earlier / "a.txt").write_text("changed by hand")
    assert (earlier / "a.txt").read_text() == "changed by hand"
    assert text(tmp_path / "plan-2") == NEW


def test_results_whose_place_is_taken_in_a_folder_that_is_not_ours_are_kept_inside(earlier, tmp_path, monkeypatch):
    rename = os.rename

    def refuse(origin, goal):
        if type(tmp_path)(goal).parent == tmp_path:
            raise OSError(13, "Permission denied", str(goal))
        rename(origin, goal)

    monkeypatch.setattr(moves.os, "rename", refuse)
    kept = earlier / "plan-2"
    with (
        pytest.raises(OutputError, match=f"the results are in {kept}"),
        drafted(earlier, anything, everything) as claim,
    ):
        fill(claim)
        (earlier / "a.txt").write_text("changed by hand")
    assert (earlier / "a.txt").read_text() == "changed by hand"
    assert text(kept) == NEW


def test_a_file_that_came_where_one_is_written_is_not_replaced(earlier, tmp_path):
    with pytest.raises(OutputError, match="the results are in"), drafted(earlier, anything, everything) as claim:
        fill(claim, "a.txt", "new.txt")
        (earlier / "new.txt").write_text("mine")
    assert text(earlier) == {"a.txt": "old", "inner/c.txt": "old", "inner/old.txt": "old", "new.txt": "mine"}
    assert text(tmp_path / "plan-2") == {"a.txt": "new", "new.txt": "new"}


def test_a_new_folder_is_not_seen_before_it_is_complete(tmp_path, monkeypatch):
    """Another run that looks in that moment would take it for a folder that is there, and work in it."""
    made, mkdir = [], type(tmp_path).mkdir

    def noted(self, *arguments, **named):
        made.append(self)
        mkdir(self, *arguments, **named)

    monkeypatch.setattr(type(tmp_path), "mkdir", noted)
    with drafted(tmp_path / "plan", anything) as claim:
        fill(claim)
    assert claim.draft in made
    assert tmp_path / "plan" not in made
    assert text(tmp_path / "plan") == NEW


def test_a_folder_that_another_run_writes_while_one_begins_is_replaced_as_any_other(tmp_path, monkeypatch):
    target = tmp_path / "plan"

    def later(folder, name, shown):
        monkeypatch.setattr(output, "workplace", workplace)
        with drafted(target, anything) as other:
            fill(other, "a.txt", "old.txt", content="old")
        return workplace(folder, name, shown)

    monkeypatch.setattr(output, "workplace", later)
    with drafted(target, anything, everything) as claim:
        assert (target / "old.txt").read_text() == "old"
        fill(claim)
    assert text(target) == NEW
    assert os.listdir(tmp_path) == ["plan"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_took_the_name_of_a_new_folder_is_not_replaced(tmp_path, kind):
    target = tmp_path / "plan"
    with (
        pytest.raises(OutputError, match="created by another program during the run"),
        drafted(target, anything) as claim,
    ):
        fill(claim)
        target.write_text("mine") if kind == "file" else (target / "mine").mkdir(parents=True)
    assert target.is_file() == (kind == "file")
    assert text(tmp_path / "plan-2") == NEW


def test_a_folder_of_any_name_takes_the_next_that_is_free(tmp_path):
    target = tmp_path / "reports" / "plan"
    with claimed_new(target) as first, claimed_new(target) as second, claimed_new(target) as third:
        for claim in (third, first):
            with drafted(claim, anything):
                fill(claim, content=claim.target.name)
        (tmp_path / "reports" / "plan-2").mkdir()
        with drafted(second, anything):
            fill(second)
    assert [claim.place.name for claim in (first, second, third)] == ["plan", "plan-2-2", "plan-3"]
    assert text(target) == {"a.txt": "plan", "inner/c.txt": "plan"}
    assert sorted(os.listdir(tmp_path / "reports")) == ["plan", "plan-2", "plan-2-2", "plan-3"]


def test_a_folder_whose_place_cannot_be_renamed_is_written(tmp_path, monkeypatch):
    """Such as the root of a disk, or one in a folder that is not ours."""
    target = tmp_path / "mount"
    target.mkdir()
    rename = os.rename

    def busy(origin, goal):
        if target in (type(target)(origin), type(target)(goal)):
            raise OSError(16, "Device or resource busy")
        rename(origin, goal)

    monkeypatch.setattr(moves.os, "rename", busy)
    with drafted(target, anything, everything) as claim:
        fill(claim)
    assert text(target) == NEW


@pytest.mark.parametrize(
    ("make", "name", "words"),
    [
        (lambda folder: (folder / "out").write_text(""), "out", "is a file, not a folder"),
        (lambda folder: (folder / "out").write_text(""), "out/plan/deep", "part of its path is a file"),
        (lambda folder: (folder / "out").symlink_to("nothing"), "out", "is a broken link"),
        (lambda folder: (folder / "out").symlink_to("nothing"), "out/plan", "is a broken link"),
        (lambda folder: (folder / "out").symlink_to("out"), "out", "cannot be written .*symbolic links"),
        (lambda folder: os.mkfifo(folder / "out"), "out", "is a file, not a folder"),
        (lambda folder: None, "x" * 300, r"cannot be written \(File name too long\)"),
        (lambda folder: None, "x" * 300 + "/plan", r"cannot be written \(File name too long\)"),
        (lambda folder: None, "/".join(["x" * 200] * 30), r"cannot be written \(File name too long\)"),
        (lambda folder: None, "a\0b", "cannot be written .*null"),
    ],
)
def test_what_cannot_be_a_folder_is_refused_at_the_start_and_left_as_it_is(tmp_path, make, name, words):
    make(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError, match=words), claimed(tmp_path / name, anything):
        pytest.fail("computed")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("exists", [True, False])
def test_a_place_that_takes_no_files_is_refused_at_the_start(tmp_path, monkeypatch, exists):
    def refuse(self, *_, **__):
        raise OSError(30, "Read-only file system")

    target = tmp_path / "plan"
    if exists:
        target.mkdir()
    monkeypatch.setattr(type(tmp_path), "mkdir", refuse)
    with (
        pytest.raises(OutputError, match=r"plan: cannot be written \(Read-only file system\)"),
        claimed(target, anything),
    ):
        pytest.fail("computed")


def test_a_folder_behind_a_link_is_written_where_it_is(earlier, tmp_path):
    (tmp_path / "link").symlink_to(earlier)
    with drafted(tmp_path / "link", anything, everything) as claim:
        fill(claim)
    assert (tmp_path / "link").is_symlink()
    assert text(earlier) == NEW


def test_a_link_in_the_folder_is_replaced_and_not_followed(earlier, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "c.txt").write_text("mine")
    for name in ("c.txt", "old.txt"):
        (earlier / "inner" / name).unlink()
    (earlier / "inner").rmdir()
    (earlier / "inner").symlink_to(tmp_path / "outside")
    with drafted(earlier, anything, everything) as claim:
        fill(claim)
    assert not (earlier / "inner").is_symlink()
    assert text(earlier) == NEW
    assert text(tmp_path / "outside") == {"c.txt": "mine"}
