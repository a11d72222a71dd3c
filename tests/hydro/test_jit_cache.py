import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import reservoir.hydro.jit as c
@c.compiled
def twice(x):
    return 2 * x
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
