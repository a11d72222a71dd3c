"""A file is written as a whole or not at all."""

import pytest

from reservoir import runtime
from reservoir.errors import OutputError
from reservoir.io.output import write_new, write_whole
from reservoir.io.workplace import workplace


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    runtime.begin_run()
    for text in ("first", "second"):
        write_whole(tmp_path / "mine.toml", text)
        assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("mine.toml", text)]
    assert runtime.last_words().startswith("Interrupted; written to ")


def test_a_function_may_write_the_file(tmp_path):
    write_whole(tmp_path / "mine.nc", lambda path: path.write_bytes(b"1"))
    assert (tmp_path / "mine.nc").read_bytes() == b"1"

    def fail(path):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match=r"mine\.nc: cannot be written \(No space left on device\)"):
        write_new(tmp_path / "mine.nc", fail, force=True, choose="choose another", replace="force")
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("mine.nc", b"1")]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_file_as_it_was(tmp_path, monkeypatch, failure):
    def fail(*_, **__):
        raise failure

    write_whole(tmp_path / "mine.toml", "first")
    monkeypatch.setattr(type(tmp_path), "replace", fail)
    with pytest.raises(type(failure)):
        write_whole(tmp_path / "mine.toml", "second")
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("mine.toml", "first")]


def test_what_a_killed_run_left_beside_it_is_cleared(tmp_path):
    with workplace(tmp_path, "other.toml", tmp_path / "other.toml") as place:
        owner = (place / "owner.json").read_text()
    place.mkdir()
    (place / "owner.json").write_text(owner)
    (place / "draft").write_text("half")
    write_whole(tmp_path / "mine.toml", "first")
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.toml"]
