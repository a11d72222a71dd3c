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

#: What a reader types into a shell; what installs something, or needs a network, is in blocks of ``sh``.
SHELL, PYTHON = "console", "python"


def run(command: list[str], folder: Path) -> None:
    """Run a command as a reader does, in a folder of the page's own."""
    scripts = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": scripts + os.pathsep + os.environ["PATH"],
        "NO_COLOR": "1",
        "MPLBACKEND": "agg",
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr


@pytest.mark.pocl(reason="a reader's machine has no other device")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(block.language in (SHELL, PYTHON) and not block.long for block in blocks(page))],
    ids=name_of,
)
def test_the_code_of_a_page_runs_as_it_is_written(page, tmp_path):
    shutil.copytree(DOCS / "own-reservoir", tmp_path, dirs_exist_ok=True)  # the reader's own files
    for block in blocks(page):
        if block.language == SHELL and not block.long:
            for command in commands(block):
                run(["bash", "-c", command], tmp_path)
        if block.language == PYTHON and not block.long:
            run([sys.executable, "-c", block.text], tmp_path)


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
