"""The command line as a user runs it: in a subprocess, in a folder of its own."""

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from reservoir.bench.scaling import Point, ScalingStudy
from reservoir.cli import main


@pytest.fixture
def run(tmp_path):
    """Run `reservoir` in `tmp_path`; returns the completed process. Without a status it may be 0 or 1."""

    def execute(*arguments, status=0, **environment):
        finished = subprocess.run(
            [sys.executable, "-m", "reservoir", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1", **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
        expected = (0, 1) if status is None else (status,)
        assert finished.returncode in expected, finished.stdout + finished.stderr
        assert "Traceback" not in finished.stderr
        return finished

    return execute


@pytest.fixture
def short_record(tmp_path) -> Path:
    """Three years of inflow in a CSV."""
    rows = ["year," + ",".join(f"m{month:02d}" for month in range(1, 13))]
    flows = [400, 380, 430, 520, 800, 1500, 2600, 2500, 2400, 1500, 850, 600]
    rows += [f"{1953 + year}," + ",".join(str(flow + 20 * year) for flow in flows) for year in range(3)]
    path = tmp_path / "inflow.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def call(call_in, tmp_path):
    """Run `reservoir` in `tmp_path`, in this process: quick; returns standard output and standard error.

    Without a status it may be 0 or 1: checks of a tiny run may fail.
    """
    return partial(call_in, tmp_path)


@pytest.fixture
def call_in(monkeypatch, capsys):
    """Run `reservoir` in a folder, in this process."""

    def execute(folder, *arguments, status=0):
        monkeypatch.chdir(folder)
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setattr(sys, "argv", ["reservoir", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        assert ended.value.code in ((0, 1) if status is None else (status,)), output.out + output.err
        return output

    return execute


@pytest.fixture
def brief(monkeypatch) -> None:
    """Quick trials of the experiments that take seconds: a point, few generations."""
    monkeypatch.setattr(ScalingStudy, "points", lambda _: [Point("generations", 3, generations=20)])
    monkeypatch.setattr("reservoir.bench.scaling.LEAST_SECONDS", 1e-4)
    monkeypatch.setattr("reservoir.bench.case.QUICK_GENERATIONS", 50)
    monkeypatch.setattr("reservoir.bench.models.QUICK_GENERATIONS", 5)
    monkeypatch.setattr("reservoir.bench.models.CASE_SWARMS", 2)


@pytest.fixture
def plan(ruled, tmp_path) -> Path:
    """A copy of a plan's folder with its rules, in the folder where commands run."""
    return shutil.copytree(ruled, tmp_path / "plan")


@pytest.fixture
def strict():
    """Read JSON as the standard has it: no NaN, no infinity."""

    def refuse(constant):
        raise AssertionError(constant)

    return lambda text: json.loads(text, parse_constant=refuse)


@pytest.fixture
def heavy_imports():
    """Names of the heavy libraries that are imported by a call of the command line, and what it prints."""

    def execute(*arguments: str) -> tuple[str, str]:
        code = (
            "import sys, reservoir.cli as c\n"
            f"c.cli.main({list(arguments)!r}, standalone_mode=False)\n"
            "heavy = {'numpy', 'pandas', 'numba', 'pyopencl', 'rich', 'pydantic', 'matplotlib'}\n"
            "print('HEAVY', *sorted(heavy & set(sys.modules)))"
        )
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        shown, _, imported = printed.rpartition("HEAVY")
        return imported.strip(), shown

    return execute
