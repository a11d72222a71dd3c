"""The program in containers, on full disks, narrow terminals and old encodings: it works, or says what to mend."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reservoir import runtime

COMMAND = [sys.executable, "-m", "reservoir"]
ROOT = Path(__file__).resolve().parents[2]
#: A search that compiles little.
SEARCH = ("--solver", "lshade", "--evaluations", "2000", "--set", "polish=false", "--no-reference", "--no-figures")


@pytest.fixture(scope="module")
def warm(tmp_path_factory, device) -> Path:
    """A cache with the code that `plan` needs in it; not to be written to."""
    folder = tmp_path_factory.mktemp("warm")
    flows = ",".join(str(400 + 150 * month) for month in range(12))
    months = ",".join(f"m{month:02d}" for month in range(1, 13))
    record = f"# caveat: flows ≤ 2,050 m3/s\nyear,{months}\n1953,{flows}\n"
    (folder / "one.csv").write_text(record, encoding="utf-8")
    assert planned(folder, folder / "cache").returncode == 0
    return folder


def planned(folder: Path, cache: Path | str, **environment: str) -> subprocess.CompletedProcess[str]:
    finished = subprocess.run(
        [*COMMAND, "plan", "one.csv", *SEARCH, "--out", "out", "--force"],
        cwd=folder,
        env=surroundings(XDG_CACHE_HOME=str(cache), **environment),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
    )
    assert "Traceback" not in finished.stderr
    return finished


def surroundings(**environment: str) -> dict[str, str]:
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    # Of these tests' own process; a program called by a user finds neither.
    usual = {name: value for name, value in os.environ.items() if name not in ("POCL_CACHE_DIR", "PYOPENCL_NO_CACHE")}
    return {**usual, "PYTHONPATH": paths, "NO_COLOR": "1", **environment}


def called(*arguments: str, shell: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """`reservoir` with its output redirected by a shell."""
    line = " ".join([*COMMAND, *arguments, shell])
    return subprocess.run(
        ["sh", "-c", line], env=surroundings(**environment), capture_output=True, text=True, errors="replace"
    )


DAMAGES = {
    "emptied": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "zeroed": lambda content: bytes(len(content)),
    "zeroed within": lambda content: (
        content[: len(content) // 3] + bytes(len(content) // 3) + content[-(len(content) // 3) :]
    ),
}


@pytest.mark.pocl(reason="other drivers keep their code elsewhere")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_built_again(warm, tmp_path, damage):
    folder = tmp_path / "work"
    shutil.copytree(warm, folder)
    kinds = (".nbi", ".nbc", ".bc", ".so")
    files = [path for path in (folder / "cache").rglob("*") if path.suffix in kinds]
    assert {path.suffix for path in files} == set(kinds)
    for path in files:
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    finished = planned(folder, folder / "cache")
    assert finished.returncode == 0, finished.stderr
    assert "Written" in finished.stdout


@pytest.mark.parametrize(
    "environment",
    [
        {"XDG_CACHE_HOME": "/dev/null"},
        {"HOME": "relative", "XDG_CACHE_HOME": "relative"},
        pytest.param({"POCL_CACHE_DIR": "/dev/null/pocl"}, marks=pytest.mark.pocl(reason="it is PoCL's folder")),
    ],
)
def test_where_the_cache_cannot_be_used_one_of_this_run_is_and_nothing_of_it_is_left(warm, tmp_path, environment):
    temporary, folder = tmp_path / "temporary", tmp_path / "work"
    temporary.mkdir()
    folder.mkdir()
    shutil.copy(warm / "one.csv", folder)
    given = {"XDG_CACHE_HOME": str(warm / "cache"), **environment}
    cache = given.pop("XDG_CACHE_HOME")
    finished = planned(folder, cache, TMPDIR=str(temporary), **given)
    assert finished.returncode == 0, finished.stderr
    assert "Note: " in finished.stderr
    assert next(iter(environment)) in finished.stderr or "XDG_CACHE_HOME" in finished.stderr
    assert not [path for path in temporary.iterdir() if path.name.startswith("reservoir-")]
    assert sorted(path.name for path in folder.iterdir()) == ["one.csv", "out"]


def test_a_folder_without_room_is_not_used(tmp_path, monkeypatch):
    assert runtime.why_unusable(tmp_path / "new") == ""
    monkeypatch.setattr(runtime, "LEAST_FREE_BYTES", 1 << 80)
    assert "free" in runtime.why_unusable(tmp_path / "new")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or not shutil.which("setpriv"),
    reason="needs root, to become a user without an account",
)
def test_a_user_without_account_and_home_gets_an_answer(tmp_path):
    if subprocess.run(["setpriv", "--reuid=54321", "--clear-groups", "env", "-i", sys.executable, "-c", ""]).returncode:
        pytest.skip("this Python cannot be read by other users")
    prefix = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", "env", "-i", f"PYTHONPATH={ROOT}"]
    finished = subprocess.run([*prefix, *COMMAND, "devices", "--json"], cwd="/", capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert "devices" in json.loads(finished.stdout)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("NUMBA_NUM_THREADS", "0"),
        ("NUMBA_NUM_THREADS", "many"),
        ("NUMBA_DISABLE_JIT", "1"),
        ("NUMBA_OPT", "9"),
        ("NUMBA_CPU_FEATURES", "nonsense"),
    ],
)
def test_what_stops_the_compiler_is_refused_by_its_name(warm, variable, value):
    finished = planned(warm, warm / "cache", **{variable: value})
    assert finished.returncode == 2, finished.stderr
    assert f"unset {variable}" in finished.stderr
    assert "Warning" not in finished.stderr


def test_options_that_do_not_compile_are_refused_by_the_variable_that_gives_them(warm):
    finished = planned(warm, warm / "cache", PYOPENCL_BUILD_OPTIONS="-nonsense")
    assert finished.returncode == 2
    assert "unset PYOPENCL_BUILD_OPTIONS" in finished.stderr


@pytest.mark.parametrize("rc", [b"backend: nonsense\nfont.size: abc\n", b"\xff\xfe"])
def test_settings_of_matplotlib_do_not_reach_the_figures(rc, tmp_path):
    (tmp_path / "matplotlibrc").write_bytes(rc)
    then = "import reservoir.cli.screen, reservoir.report.figures.style"
    code = f"import reservoir.cli as c; c.prepare_environment(); {then}"
    given = surroundings(MPLBACKEND="nonsense", MPLCONFIGDIR=str(tmp_path))
    finished = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""


def test_plugins_of_pydantic_are_not_looked_for_before_a_rule_is_read():
    then = "from reservoir.rules.base.physics import Months; Months.model_rebuild(force=True)"
    code = f"import importlib.metadata as m; m.distributions = None; import reservoir.cli as c; {{}}{then}"
    given = {name: value for name, value in surroundings().items() if not name.startswith("PYDANTIC")}
    for prepared, state in (("c.prepare_environment(); ", 0), ("", 1)):
        finished = subprocess.run([sys.executable, "-c", code.format(prepared)], env=given, capture_output=True)
        assert finished.returncode == state, finished.stderr


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
def test_operate_starts_no_threads_for_its_small_matrices(tmp_path):
    (tmp_path / "rule.json").write_text("{}")
    code = (
        "import os, sys; from click.testing import CliRunner; from reservoir.cli.operate import command; "
        f"CliRunner().invoke(command, [{str(tmp_path / 'rule.json')!r}, '--month', '6']); import numpy; "
        "print(len(os.listdir('/proc/self/task')))"
    )
    given = {name: value for name, value in surroundings().items() if "NUM_THREADS" not in name}
    finished = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True)
    assert finished.stdout == "1\n", finished.stderr


def test_help_needs_no_docstrings():
    for arguments in ((), ("plan",), ("bench",)):
        assert len(called(*arguments, "--help", PYTHONOPTIMIZE="2").stdout.split()) > 20
    assert "best operation" in called("plan", "--help", PYTHONOPTIMIZE="2").stdout


def test_a_device_of_5000_digits_is_refused_shortly(device):
    finished = called("devices", RESERVOIR_DEVICE="9" * 5000)
    assert finished.returncode == 2
    assert "no OpenCL device matches" in finished.stderr
    assert len(finished.stderr) < 1000


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_encodings_without_a_sign_get_it_in_plain_letters(encoding, warm):
    finished = planned(warm, warm / "cache", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.isascii() == (encoding == "ascii")  # the others have a sign for a cube
    assert "flows <= 2,050 m" in finished.stdout + finished.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_closed_streams_are_no_fault(closed):
    assert called("devices", shell=closed).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_is_lost_is_told(warm):
    finished = called("devices", "--json", shell=">/dev/full")
    assert finished.returncode == 2
    assert finished.stderr.startswith("Error: cannot write to standard output (No space left on device)")


def on_terminal(columns: int, *arguments: str, **environment: str) -> str:
    """What `reservoir` shows on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    given = surroundings(COLUMNS=str(columns), TERM="xterm", **environment)
    child = subprocess.Popen([*COMMAND, *arguments], stdout=theirs, stderr=theirs, env=given)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert child.wait() == 0
    return shown.decode()


@pytest.fixture(scope="module")
def listed(device) -> dict:
    """The first device as `devices --json` lists it."""
    return json.loads(called("devices", "--json").stdout)["devices"][0]


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 200])
def test_no_digit_is_lost_on_a_narrow_terminal(columns, listed):
    shown = on_terminal(columns, "devices")
    assert f"{listed['global_memory_bytes'] / 2**30:.1f}" in re.split(r"[\s│]+", shown)
    if columns > 100:
        assert "┃" in shown
        assert listed["name"] in shown


def test_a_terminal_of_no_columns_does_not_matter():
    assert "0" in on_terminal(0, "devices")


@pytest.mark.parametrize("columns", ["0", "abc", "-1", "9" * 5000])
def test_columns_that_are_no_number_do_not_matter(columns):
    assert called("devices", COLUMNS=columns, LINES=columns, TERM="xterm").returncode == 0


@pytest.mark.pocl(reason="other drivers link without one")
def test_without_a_path_pocl_finds_its_linker_and_without_a_linker_it_is_left_out(tmp_path, only_pocl):
    given = surroundings(XDG_CACHE_HOME=str(tmp_path), **only_pocl)
    bare = {name: value for name, value in given.items() if name != "PATH"}
    solve = ("--generations", "100", "--no-reference", "--no-figures", "--out")
    (tmp_path / "empty").mkdir()
    for name, environment in (("bare", bare), ("without", bare | {"PATH": str(tmp_path / "empty")})):
        finished = subprocess.run(
            [*COMMAND, "plan", *solve, name], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert finished.returncode in (0, 1), finished.stderr
        assert (tmp_path / name / "plan.json").is_file()
