"""Who holds a place keeps others away, and nothing is cleared that a run did not make, or of which one may live."""

import json

import pytest

from reservoir.errors import OutputError
from reservoir.io import workplace as module
from reservoir.io.workplace import BeingWrittenError, clear_abandoned, contents, workplace


def left(folder, **owner):
    """What a run that was killed leaves beside the entry ``plan``."""
    with workplace(folder, "plan", folder / "plan") as place:
        name, record = place.name, json.loads((place / "owner.json").read_text())
    dead = folder / name
    (dead / "draft").mkdir(parents=True)
    (dead / "draft" / "half.csv").write_text("half")
    (dead / "owner.json").write_text(json.dumps(record | owner))
    return dead


def test_a_place_is_held_once_and_free_again_at_the_end(tmp_path):
    for _ in range(2):
        with workplace(tmp_path, "plan", tmp_path / "plan") as place:
            assert place.parent == tmp_path
            with (
                pytest.raises(BeingWrittenError, match="is being written by another run"),
                workplace(tmp_path, "plan", tmp_path / "plan"),
            ):
                pytest.fail("held twice")
            with workplace(tmp_path, "another", tmp_path / "another"):
                pass
        assert not list(tmp_path.iterdir())


def test_what_a_dead_run_left_is_cleared_and_taken_over(tmp_path):
    dead = left(tmp_path)
    clear_abandoned(tmp_path)
    assert not dead.exists()
    dead = left(tmp_path)
    with workplace(tmp_path, "plan", tmp_path / "plan") as place:
        assert place == dead
        assert not (place / "draft").exists()


def test_a_run_that_may_live_on_another_machine_keeps_its_place(tmp_path):
    dead = left(tmp_path, host="elsewhere", boot="another", pid=77)
    clear_abandoned(tmp_path)
    assert (dead / "draft" / "half.csv").is_file()
    with (
        pytest.raises(OutputError, match=rf"process 77 on elsewhere.*no longer runs, delete {dead}"),
        workplace(tmp_path, "plan", tmp_path / "plan"),
    ):
        pytest.fail("taken over")
    assert (dead / "draft" / "half.csv").is_file()


@pytest.mark.parametrize("changed", [{"host": "renamed"}, {"boot": "before the power cut"}])
def test_a_run_of_this_machine_is_known_after_a_reboot_and_in_another_container(tmp_path, changed):
    dead = left(tmp_path, **changed)
    clear_abandoned(tmp_path)
    assert not dead.exists()


@pytest.mark.parametrize("name", [".reservoir-notes", ".reservoir-0123456789ab", ".reservoir-0123456789abc", "plan"])
def test_folders_of_others_stay_and_are_contents(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.tex").write_text("precious")
    clear_abandoned(tmp_path)
    assert (tmp_path / name / "thesis.tex").is_file()
    assert contents(tmp_path) == [name]


def test_a_folder_of_others_in_the_way_is_named_and_stays(tmp_path):
    with workplace(tmp_path, "plan", tmp_path / "plan") as place:
        pass
    place.mkdir()
    (place / "thesis.tex").write_text("precious")
    with pytest.raises(OSError, match="is in the way"), workplace(tmp_path, "plan", tmp_path / "plan"):
        pytest.fail("taken")
    assert (place / "thesis.tex").is_file()


@pytest.mark.parametrize("begins", [False, True])
@pytest.mark.parametrize("look", ["contents", "take"])
def test_a_run_that_ends_while_its_folder_is_looked_at_is_no_content_and_not_in_the_way(
    tmp_path, monkeypatch, look, begins
):
    with workplace(tmp_path, "plan", tmp_path / "plan") as place:
        pass
    place.mkdir()
    listdir = module.os.listdir

    def ended(path):
        if module.Path(path) != place:
            return listdir(path)
        monkeypatch.setattr(module.os, "listdir", listdir)
        place.rmdir()
        try:
            return listdir(path)
        finally:
            if begins:  # another one
                place.mkdir()

    monkeypatch.setattr(module.os, "listdir", ended)
    if look == "contents":
        assert contents(tmp_path) == []
    else:
        with workplace(tmp_path, "plan", tmp_path / "plan") as taken:
            assert taken == place


def test_nothing_outside_is_reached_through_a_link(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("mine")
    folder = tmp_path / "given"
    folder.mkdir()
    dead = left(folder)
    (dead / "replaced").symlink_to(outside)
    (dead / "moves.json").write_text(json.dumps(["../outside/a.txt", str(outside / "a.txt"), "inner/../../x", 7]))
    clear_abandoned(folder)
    assert (outside / "a.txt").read_text() == "mine"
    assert [entry.name for entry in outside.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_place_that_cannot_be_taken_is_left_clean(tmp_path, monkeypatch, failure):
    def fail(*_):
        raise failure

    monkeypatch.setattr(module.os, "write", fail)
    with pytest.raises(type(failure)), workplace(tmp_path, "plan", tmp_path / "plan"):
        pytest.fail("taken")
    assert not list(tmp_path.iterdir())


def test_a_disk_without_locks_is_written_by_one_run(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", unsupported)
    with workplace(tmp_path, "plan", tmp_path / "plan"):
        pass
