"""Files of spin glasses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reservoir.problems.bits import read_spin_glass
from tests.fuzz.case import Reader, one_file
from tests.fuzz.spoiling import spoiled

_GLASS = b"4\n-0.5\n1 2 1\n2 3 -1\n\n3 4 1\n4 1 1\n"
_WORDS = (
    b"2",
    b"65536",
    b"65537",
    b"1 3 1\n",
    b"2 1 1\n",
    b"1 1 1\n",
    b"1000000",
    b"1000001",
    b"-0.25",
    b"0.0001",
    b"1e15",
)

FILE = "glass"


def reader() -> Reader:
    """`read_spin_glass`, and the problem that it makes."""
    bundled = Path(__file__).parents[2] / "data" / "spin" / "own36_1"
    return Reader(FILE, one_file(FILE, spoiled([_GLASS, _GLASS, bundled.read_bytes()], _WORDS, cells=b" ")), _read)


def _read(folder: Path) -> None:
    problem = read_spin_glass(folder / FILE)
    one, other, strength = problem.context
    assert 2 <= problem.dimension <= 65_536
    assert len(one) == len(other) == len(strength)
    assert 0 <= min(one.min(), other.min()) <= max(one.max(), other.max()) < problem.dimension
    assert np.isfinite(problem.optimum)
    assert 0 <= round(problem.optimum * problem.dimension) <= np.abs(strength).sum()
