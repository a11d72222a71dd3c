"""Every command and every block of Python in the README and the documentation runs as it is written there."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from reservoir.cli import cli
from tests.docs.documents import DOCS, PAGES, blocks, commands, name_of
from tests.docs.reader import Reader

#: What a reader types into a shell; what installs something, or needs a network, is in blocks of ``sh``.
SHELL, PYTHON = "console", "python"


@pytest.fixture(scope="module")
def reader(tmp_path_factory) -> Reader:
    return Reader(tmp_path_factory.mktemp("reader"))


@pytest.fixture(scope="module")
def own_files(tmp_path_factory) -> Path:
    """The reader's own files."""
    return shutil.copytree(DOCS / "own-reservoir", tmp_path_factory.mktemp("own") / "files")


@pytest.mark.pocl(reason="a reader's machine has no other device")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(block.language in (SHELL, PYTHON) and not block.long for block in blocks(page))],
    ids=name_of,
)
def test_the_code_of_a_page_runs_as_it_is_written(page, reader, own_files):
    folder = own_files
    for block in blocks(page):
        if block.language == SHELL and not block.long:
            for line in commands(block):
                folder = reader.type(line, folder)
        if block.language == PYTHON and not block.long:
            folder = reader.run(block.text, folder)


def test_the_program_of_the_pages_is_one_that_a_shell_finds():
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", "reservoir --help"], env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "reservoir" in done.stdout


def test_a_reader_runs_equal_code_in_equal_folders_once(tmp_path):
    reader, empty = Reader(tmp_path), tmp_path / "empty"
    empty.mkdir()
    write = "import pathlib; pathlib.Path('a.txt').touch(exist_ok=False)"
    look = "import os; assert os.listdir() == ['a.txt']"
    made = reader.run(write, empty)
    assert reader.run(write, empty) is made
    assert reader.run(look, made) is made
    assert os.listdir(empty) == []
    with pytest.raises(FileExistsError):
        reader.run(write, made)
    with pytest.raises(AssertionError):
        reader.run(look, empty)


LONG = [(page, line) for page in PAGES for block in blocks(page) if block.long for line in commands(block)]


@pytest.mark.parametrize(("page", "line"), LONG, ids=[f"{name_of(page)}: {line}" for page, line in LONG])
def test_the_options_of_a_long_command_are_those_of_the_program(page, line):
    program, *words = shlex.split(line)
    assert program == "reservoir"
    command, context = cli, click.Context(cli, info_name="reservoir")
    while isinstance(command, click.Group):
        name, *words = words
        command = command.get_command(context, name)
    command.make_context(name, words)


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CONTRIBUTING.md"], ids=name_of)
def test_commands_stand_only_in_blocks_that_tests_run(page):
    for block in blocks(page):
        if block.language in ("sh", "text", ""):
            lines = [line.removeprefix("$ ") for line in block.text.splitlines()]
            assert not [line for line in lines if line.startswith(("reservoir ", "python "))]
        if block.language == SHELL:
            assert commands(block)
