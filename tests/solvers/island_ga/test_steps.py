"""The steps of the compiled genetic algorithm do what they say, each seen alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from reservoir.hydro.jit import OPTIONS
from reservoir.solvers.island_ga import sequential as island_steps
from reservoir.solvers.island_ga import sequential as tour_breeding
from reservoir.solvers.island_ga.sequential import place_below

SIZES = st.integers(4, 40)
SEEDS = st.integers(0, 2**32 - 1)


@njit(**OPTIONS)
def select(worth, before, after, parents):
    island_steps.select(worth, before, after, parents)


@njit(**OPTIONS)
def migrate(genes, worth, ranks, migrants):
    island_steps.migrate(genes, worth, ranks, migrants)


@njit(**OPTIONS)
def cross(child, one, other, costs, word, by_order, used):
    return tour_breeding.crossed_tour(child, one, other, costs, word, 2, by_order, used)


@njit(**OPTIONS)
def mutate(child, parent, costs, word, by_two_opt):
    return tour_breeding.mutated_tour(child, parent, costs, word, 1, by_two_opt)


@njit(**OPTIONS)
def drawn(word, place, count):
    return place_below(word, place, count)


def costs_of(cities, rng):
    points = rng.uniform(0, 1000, (cities, 2))
    return np.rint(np.hypot(*(points[:, None] - points).transpose(2, 0, 1))).astype(np.int32)


def mutated(cities, seed, *, by_two_opt):
    """A tour, what a mutation makes of it, the costs, and the fitness that it tells."""
    rng = np.random.default_rng(seed)
    parent, child = rng.permutation(cities).astype(np.uint8), np.zeros(cities + 1, np.uint8)
    costs = costs_of(cities, rng)
    return parent, child, costs, mutate(child, parent, costs, np.uint32(seed), by_two_opt)


def length(tour, costs):
    return int(costs[tour, np.roll(tour, -1)].sum())


@given(size=SIZES, part=st.floats(0.05, 0.5), seed=SEEDS)
def test_the_winner_of_every_tournament_stays_and_nobody_is_lost(size, part, seed):
    rng = np.random.default_rng(seed)
    parents = max(1, int(part * size))
    worth, before, after = rng.integers(0, 9, size).astype(np.int32), rng.permutation(size), np.full(size, -1)
    select(worth, before, after, parents)
    assert sorted(after) == list(range(size))
    for tournament in range(parents):
        met = before[tournament * size // parents : (tournament + 1) * size // parents]
        assert after[tournament] == met[worth[met].argmax()]


@given(islands=st.integers(1, 5), size=SIZES, migrants=st.integers(0, 2), seed=SEEDS)
def test_migration_moves_the_best_over_the_worst_of_the_next_island_and_nothing_else(islands, size, migrants, seed):
    rng = np.random.default_rng(seed)
    genes, worth = rng.integers(0, 200, (islands, size, 3)), rng.integers(0, 6, (islands, size)).astype(np.int32)
    expected_genes, expected_worth = genes.copy(), worth.copy()
    ranking = [np.lexsort((np.arange(size), -row)) for row in worth]
    for island in range(islands if islands > 1 else 0):
        source = (island - 1) % islands
        for migrant in range(migrants):
            at, come = ranking[island][size - 1 - migrant], ranking[source][migrant]
            expected_genes[island, at], expected_worth[island, at] = genes[source, come], worth[source, come]
    migrate(genes, worth, np.zeros((islands, size), np.int64), migrants)
    np.testing.assert_array_equal(genes, expected_genes)
    np.testing.assert_array_equal(worth, expected_worth)


@given(cities=st.integers(3, 70), seed=SEEDS, by_order=st.booleans())
def test_a_child_has_a_stretch_of_one_parent_and_the_rest_in_the_others_order(cities, seed, by_order):
    rng = np.random.default_rng(seed)
    one, other = (rng.permutation(cities).astype(np.uint8) for _ in range(2))
    costs, word = costs_of(cities, rng), np.uint32(seed)
    child = np.zeros(cities + 1, np.uint8)
    worth = cross(child, one, other, costs, word, by_order, np.zeros(cities, np.uint8))
    if by_order:
        first = drawn(word, 2, cities)
        second = (first + 1 + drawn(word, 3, cities - 1)) % cities
        low, high = sorted((first, second))
        order, places = np.roll(other, -high), [(high + k) % cities for k in range(cities - (high - low))]
    else:
        low, high = 0, 1 + drawn(word, 2, cities - 1)
        order, places = other, list(range(high, cities))
    expected = one.copy()
    expected[places] = [city for city in order if city not in one[low:high]]
    np.testing.assert_array_equal(child[:cities], expected)
    assert -worth == length(expected, costs)


@given(cities=st.integers(3, 70), seed=SEEDS)
def test_a_swap_changes_two_places(cities, seed):
    parent, child, costs, worth = mutated(cities, seed, by_two_opt=False)
    changed = np.flatnonzero(child[:cities] != parent)
    assert len(changed) == 2
    assert list(child[changed]) == list(parent[changed][::-1])
    assert -worth == length(child[:cities], costs)


@given(cities=st.integers(3, 25), seed=SEEDS)
def test_a_two_opt_mutation_makes_the_best_reversal_or_a_double_bridge(cities, seed):
    parent, child, costs, worth = mutated(cities, seed, by_two_opt=True)
    reversed_ones = [
        length(np.concatenate((parent[:i], parent[i : j + 1][::-1], parent[j + 1 :])), costs)
        for i in range(cities)
        for j in range(i + 1, cities)
    ]
    assert sorted(child[:cities]) == list(range(cities))
    assert -worth == length(child[:cities], costs)
    if min(reversed_ones) < length(parent, costs):
        assert -worth == min(reversed_ones)


def test_large_counts_are_drawn_evenly():
    """16 bits give every other of 65,536 - 1 - k numbers twice: every third of 49,152, say."""
    found = np.array([drawn(np.uint32(place), 7, 49_152) for place in range(49_152)])
    thirds = np.bincount(found % 3, minlength=3) / len(found)
    assert np.abs(thirds - 1 / 3).max() < 0.01


@pytest.mark.parametrize("count", [1, 2, 38, 9830, 32_768, 32_769, 46_341, 65_536])
def test_places_are_drawn_evenly_and_within_their_count(count):
    found = np.array([drawn(np.uint32(7), place, count) for place in range(4000)])
    assert found.min() >= 0
    assert found.max() < count
    assert abs(found.mean() - (count - 1) / 2) <= 0.03 * count
