"""Files that a user names are read within limits of size and of time."""

import os
import threading

import pytest

from reservoir.errors import InputError
from reservoir.text import data_file as limited_read
from reservoir.text.data_file import read_limited


def test_a_file_is_read_as_a_whole(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"abc" * 1_000_000)
    assert read_limited(path, 3_000_000) == b"abc" * 1_000_000


def test_a_file_of_one_byte_too_many_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    with pytest.raises(InputError, match="is too large; expected at most"):
        read_limited(path, 4)


def test_an_endless_device_is_refused():
    with pytest.raises(InputError, match="at most 2 MB"):
        read_limited("/dev/zero", 2_000_000)


def test_an_empty_file_is_empty():
    assert read_limited("/dev/null", 10) == b""


def test_a_pipe_without_a_writer_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(limited_read, "PATIENCE_SECONDS", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="received no data"):
        read_limited(tmp_path / "pipe", 10)


def test_a_silent_writer_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(limited_read, "PATIENCE_SECONDS", 0.1)
    reader, writer = os.pipe()
    with pytest.raises(InputError, match="received no data"):
        read_limited(f"/dev/fd/{reader}", 10)
    os.close(writer)
    os.close(reader)


def test_a_pipe_is_read_until_its_writer_closes_it(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        with pipe.open("wb") as file:
            for _ in range(300):
                file.write(b"x" * 1000)
                file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    assert read_limited(pipe, 1_000_000) == b"x" * 300_000
    writer.join()


@pytest.mark.parametrize("name", ["none", "."])
def test_what_is_no_file_is_an_error_of_the_system(tmp_path, name):
    with pytest.raises(OSError, match=r"No such file|is a folder"):
        read_limited(tmp_path / name, 10)
