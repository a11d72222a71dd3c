"""Cities of TSPLIB."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reservoir.problems.tours import tour_problem
from reservoir.text.quantities import first_unprintable
from tests.fuzz.case import Reader, one_file
from tests.fuzz.spoiling import spoiled
from tests.problems.tours.square import SQUARE

CITIES = SQUARE.encode()
WORDS = (
    *(
        b"DIMENSION : 1000000000\n",
        b"DIMENSION : 3\n",
        b"DIMENSION : 5\n",
        b"TYPE : TOUR\n",
        b"EDGE_WEIGHT_TYPE : ATT\n",
    ),
    *(
        b"NODE_COORD_SECTION\n",
        b"TOUR_SECTION\n",
        b"DISPLAY_DATA_SECTION\n",
        b"EOF\n",
        b"-1\n",
        b"5 1e9 -1e9\n",
        b"5 1 1\n",
    ),
    *(b"1e9", b"-1e9", b"1000000001", b"NAME : " + b"x" * 101 + b"\n", b"COMMENT : a : b\n", b"CAPACITY : 9\n", b": "),
)

FILE = "some.tsp"


def reader() -> Reader:
    """`tour_problem`, with the costs."""
    data = Path(__file__).parents[2] / "data" / "tsp" / "att48.tsp"
    sound = [CITIES, CITIES, CITIES, data.read_bytes()]
    return Reader(FILE, one_file(FILE, spoiled(sound, WORDS, cells=b" ")), _read)


def _read(folder: Path) -> None:
    problem = tour_problem(folder / FILE)
    assert problem.costs.shape == (problem.dimension, problem.dimension)
    assert problem.dimension >= 3
    assert problem.costs.min() >= 0
    np.testing.assert_array_equal(problem.costs, problem.costs.T)
    assert not problem.costs.diagonal().any()
    assert 0 <= problem.length(np.arange(problem.dimension)) < 2**31
    assert first_unprintable(problem.label) is None
