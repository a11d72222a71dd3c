"""Names that no file can have are refused as input, by every command that takes a path."""

from pathlib import Path

import pytest

from reservoir.text.quantities import printable

_ROOT = Path(__file__).parents[2]
RULE = str(_ROOT / "reports" / "xiaowan" / "rules" / "guide-curve.json")
RESERVOIR = str(_ROOT / "data" / "xiaowan" / "reservoir.toml")
#: A lone surrogate, which only a caller in Python can pass, and a NUL character.
NO_NAMES = ("x\ud800y", "x\0y")


@pytest.mark.parametrize("name", NO_NAMES)
@pytest.mark.parametrize(
    "before",
    [
        ("plan",),
        ("plan", "--reservoir"),
        ("plan", "--no-reference", "--solver", "dp", "--out"),
        ("rules",),
        ("simulate", RULE, "--reservoir", RESERVOIR),
        ("operate", "--month", "1"),
        ("compare",),
        ("new", "mine", "--out"),
        ("bench", "tsp", "--quick", "--file"),
        ("bench", "dsmga2", "--quick", "--spin"),
        ("bench", "functions", "--quick", "--solver", "lshade", "--out"),
    ],
    ids=lambda before: " ".join(before[:1] + before[-1:]),
)
def test_what_no_file_can_be_called_is_refused(call, before, name):
    said = call(*before, name, status=2).err
    assert said.splitlines()[0].startswith(f"Error: {printable(name)}")
