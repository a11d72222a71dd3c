"""What compiled code may be kept on disk, and by which sources it is named."""

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache

from reservoir.hydro import jit
from reservoir.hydro.conditions import NO_CONDITIONS, available, demanded, end_after_losses
from reservoir.hydro.elementwise import choose, greater, lesser
from reservoir.hydro.jit import _of_this_package, compiling_told
from reservoir.problems.fitness import BoxCoding, gray_level
from reservoir.problems.reservoir.year import ReservoirContext
from reservoir.solvers.clpso import sequential as clpso
from reservoir.solvers.dp import recursion
from tests.solvers.toys import ToyContext

OURS = BoxCoding(np.zeros(2, np.float32), np.ones(2, np.float32))
THEIRS = ToyContext(0.0, 1.0, 0.0, 1.0)


class Foreign(NamedTuple):
    """Holds anything."""

    held: Any


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        (OURS, True),
        ((1, OURS, np.zeros(3)), True),
        (OURS._replace(width=(0, 0, OURS)), True),
        (THEIRS, False),
        (Foreign(OURS), False),
        ((1, THEIRS), False),
        (OURS._replace(width=(0, THEIRS)), False),
    ],
)
def test_a_named_tuple_of_another_program_is_found_at_any_depth(value, ours):
    assert _of_this_package(value) == ours


CODE = """
import reservoir.hydro.jit as c
@c.inlined
def half(x):
    return min(x, 100) / 2
@c.compiled_part
def quarter(x):
    return half(x) / 2
@c.compiled
def twice(x):
    return 8 * quarter(x)
assert twice(21) == 42
print(sum(twice.stats.cache_hits.values()))
"""


@pytest.fixture
def hits(tmp_path, monkeypatch):
    """Compile a function in a process of its own; tells whether it was found on disk."""
    script = tmp_path / "script.py"
    script.write_text(CODE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))

    def run() -> int:
        finished = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
        assert finished.returncode == 0, finished.stderr
        assert finished.stderr == ""
        return int(finished.stdout)

    return run


def replaced_by_a_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_damaged_code_is_compiled_again_and_kept_anew(hits, tmp_path, kind):
    damages = (
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-20]),
        lambda path: path.write_bytes(bytes(path.stat().st_size)),
        replaced_by_a_folder,
    )
    assert hits() == 0
    assert hits() == 1
    for damage in damages:
        (path,) = (tmp_path / "cache").rglob(f"*.{kind}")
        damage(path)
        assert hits() == 0
        assert hits() == 1


def test_one_wrong_byte_of_machine_code_is_found(hits, tmp_path):
    assert hits() == 0
    (path,) = (tmp_path / "cache").rglob("*.nbc")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert hits() == 0
    assert hits() == 1


def doubled(x):
    return x + x


def test_processes_that_compile_for_other_arguments_at_once_do_not_take_each_others_code(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ours, theirs, later = (jit.compiled(doubled) for _ in range(3))
    saved, found = jit._SummedFile._save_data, jit._SummedFile._load_index

    def saved_beside_another(files, name, data):
        """Another process, which looked at the index before anything was kept, keeps its own just before."""
        monkeypatch.setattr(jit._SummedFile, "_save_data", saved)
        monkeypatch.setattr(jit._SummedFile, "_load_index", lambda files: {})
        assert theirs(3) == 6
        monkeypatch.setattr(jit._SummedFile, "_load_index", found)
        saved(files, name, data)

    monkeypatch.setattr(jit._SummedFile, "_save_data", saved_beside_another)
    assert ours(3.5) == 7.0
    assert [type(later(each)) for each in (3, 3.5)] == [int, float]
    assert sum(later.stats.cache_hits.values()) == 2


def test_code_of_another_signature_in_a_file_is_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, later = jit.compiled(doubled), jit.compiled(doubled)
    assert (first(3), first(3.5)) == (6, 7.0)
    one, other = sorted(tmp_path.rglob("*.nbc"))
    one.write_bytes(other.read_bytes())
    assert [type(later(each)) for each in (3, 3.5)] == [int, float]
    assert sum(later.stats.cache_hits.values()) == 1


@pytest.fixture
def digest_with(monkeypatch):
    """What names the code of some modules, with a line more in the source of another."""

    source = jit._source

    def digest(modules, changed=""):
        monkeypatch.setattr(jit, "_source", lambda module: source(module) + b"\n#" * (module == changed))
        jit.source_digest.cache_clear()
        return jit.source_digest(frozenset(modules))

    yield digest
    jit.source_digest.cache_clear()


@pytest.mark.parametrize(
    ("module", "changed", "differs"),
    [
        (recursion, "reservoir.hydro.step", True),
        (recursion, "reservoir.hydro.curves.forms", True),
        (recursion, "reservoir.hydro.units", True),  # a constant
        (recursion, "reservoir.hydro.jit", True),
        (recursion, "reservoir.hydro.inflow", False),
        (recursion, "reservoir.solvers.dsmga2.run", False),
        (clpso, "reservoir.solvers.rng", True),
        (clpso, "reservoir.problems.reservoir.year", False),  # which the types of arguments name
    ],
)
def test_code_is_named_by_the_sources_that_it_uses(digest_with, module, changed, differs):
    assert (digest_with([module.__name__]) != digest_with([module.__name__], changed)) == differs


def test_code_of_a_source_that_changes_while_it_runs_is_not_kept(digest_with, monkeypatch):
    assert digest_with([recursion.__name__])
    monkeypatch.setattr(jit, "_BEGAN", Path(jit.__file__).stat().st_mtime - 1)
    assert digest_with([recursion.__name__]) == ""


def test_types_of_arguments_name_the_sources_of_what_they_choose(digest_with):
    of_problem = numba.types.NamedTuple([numba.float32] * 4, ReservoirContext)
    modules = list(jit._modules_of_types([numba.float64, numba.types.Tuple([of_problem])]))
    assert modules == ["reservoir.problems.reservoir.year"]
    assert digest_with(modules) != digest_with(modules, "reservoir.hydro.compiled_year")


def test_parts_are_linked_into_code_of_other_compilers():
    @jit.inlined
    def half(x):
        return x / 2

    @jit.compiled_part
    def quarter(x):
        return half(half(x))

    @numba.njit
    def whole(x):
        return 4 * quarter(x)

    assert whole(3.0) == 3.0
    assert quarter(3.0) == 0.75


def test_python_may_call_what_is_compiled_into_other_code():
    assert gray_level(np.array([1, 1, 0], np.uint8), 0, 3) == 4


def test_choices_between_numbers_and_parts_that_are_not_there_are_no_functions_of_their_own(monkeypatch):
    monkeypatch.setattr(jit, "KeptCode", lambda function: NullCache())  # what is kept is not compiled

    @jit.compiled
    def chosen(a, b):
        return lesser(a, b), greater(a, b), choose(a < b, a, b)

    @jit.compiled
    def without_losses(a, b):
        none = NO_CONDITIONS
        return available(none, 0, a), demanded(none, 0), end_after_losses(none, 0, a, b, 1.0)

    told = []
    with compiling_told(lambda *words: told.append(words)):
        assert chosen(2.0, 1.0) == (1.0, 2.0, 1.0)
        assert chosen(1, np.float32(2.0)) == (1.0, 2.0, 1.0)
        assert chosen(0.0, -0.0) == (0.0, 0.0, -0.0)
        assert without_losses(3.0, 4.0) == (3.0, 0.0, 4.0)
    assert [parts for _, parts, ready in told if ready] == [1, 1, 1]
    np.testing.assert_array_equal(
        chosen(np.inf, np.nan)[:2], (np.inf, np.inf)
    )  # the first, unless the second is beyond
