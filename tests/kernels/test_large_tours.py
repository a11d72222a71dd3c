"""The best move of a tour with more cities than the square root of 2^31 is found where it is."""

import numpy as np
import pytest

from tests.kernels.device import Run

CITIES = 46_500
FILES = (
    "common/vector/lanes.cl",
    "common/rng/philox.cl",
    "common/rng/numbers_of_streams.cl",
    "common/sync/teams.cl",
    "solvers/island_ga/island.cl",
    "encodings/permutation.cl",
)
#: Cities on a line, a unit apart; distances end at 9, so that a reversal pays at the reversed stretch alone.
EDGES = """
int edge(const int from, const int to, CONTEXT_SPACE const float *context) { return min((int)abs(from - to), 9); }
"""
KERNEL = """
__kernel void test(__global int *out, __global const ushort *tour) {
    int gain;
    const SubGroup team = {46000, 0}; // the loop begins at its place: the stretches before would take long
    const Stretch move = best_move(tour, &gain, 0, team);
    out[0] = move.first;
    out[1] = move.last;
    out[2] = gain;
}
"""
CONSTANTS = {
    "LANES": 1,
    "DIM": CITIES,
    "TEAM": 1,
    "SIZE": 4,
    "PARENTS": 1,
    "CROSSED": 1,
    "STRIDE": CITIES + 1,
    "GENE": "ushort",
    "FITNESS": "int",
    "HOME": "__global",
    "CONTEXT_SPACE": "__global",
    "ORDER_CROSSOVER": 0,
    "TWO_OPT": 1,
}


@pytest.mark.parametrize("stretch", [(46_400, 46_420), (46_190, 46_480)])
def test_a_reversed_stretch_at_the_end_of_a_large_tour_is_found(run: Run, stretch: tuple[int, int]) -> None:
    first, last = stretch
    tour = np.arange(CITIES, dtype=np.uint16)
    tour[first : last + 1] = tour[first : last + 1][::-1]
    assert first * CITIES + last > 2**31
    found = run(FILES, KERNEL, CONSTANTS, np.zeros(3, np.int32), 1, tour, between=EDGES)
    assert found[:2].tolist() == [first, last]
    assert found[2] == 2 * (9 - 1)
