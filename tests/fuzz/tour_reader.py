"""Tours of TSPLIB, beside the cities that they visit."""

from __future__ import annotations

from pathlib import Path

from reservoir.problems.tours import read_tour
from tests.fuzz.case import Reader, one_file
from tests.fuzz.spoiling import spoiled
from tests.fuzz.tsplib_reader import WORDS

_TOUR = b"NAME : four\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n1 2\n4\n3\n-1\nEOF\n"
_CITIES = 4

FILE = "some.tour"


def reader() -> Reader:
    """`read_tour`."""
    return Reader(FILE, one_file(FILE, spoiled([_TOUR], (*WORDS, b"1", b"2", b"3", b"4"), cells=b" ")), _read)


def _read(folder: Path) -> None:
    assert sorted(read_tour(folder / FILE, _CITIES)) == list(range(_CITIES))
