"""The search for the start of a cyclic year finds the highest point of every year at once."""

from itertools import pairwise

import numpy as np
import pytest

from reservoir.solvers.dp import best_starts

LOWEST, HIGHEST = np.array([100.0, 2000.0, 0.0, 50.0]), np.array([900.0, 9000.0, 10.0, 50.0])
#: Inside, at either end, and where there is nothing to choose.
SUMMITS = np.array([321.7, 9000.0, 0.0, 50.0])


@pytest.mark.parametrize("slopes", [lambda far: far, np.square, np.sqrt], ids=["kink", "bowl", "needle"])
@pytest.mark.parametrize("states", [2, 5, 25])
def test_the_summit_of_every_year_is_found(slopes, states: int) -> None:
    def fitness_of(places: np.ndarray, starts: np.ndarray) -> np.ndarray:
        return -slopes(np.abs(starts - SUMMITS[places, np.newaxis]))

    found = best_starts(LOWEST, HIGHEST, states, 1e-6, fitness_of)
    assert np.all(np.abs(found - SUMMITS) <= 1e-6 * HIGHEST)


def test_a_year_is_searched_as_if_it_were_alone() -> None:
    """One year is found at once, another takes many rounds."""
    steep = np.array([1e-9, 1.0])

    def fitness_of(places: np.ndarray, starts: np.ndarray) -> np.ndarray:
        return 1.0 - steep[places, np.newaxis] * np.abs(starts - 123.456)

    both = best_starts(LOWEST[:1].repeat(2), HIGHEST[:1].repeat(2), 5, 1e-6, fitness_of)
    for place in (0, 1):
        alone = best_starts(
            LOWEST[:1], HIGHEST[:1], 5, 1e-6, lambda _, starts, at=place: fitness_of(np.array([at]), starts)
        )
        assert alone[0] == both[place]


def test_the_highest_of_several_summits_is_found_where_the_first_starts_see_it() -> None:
    def two_summits(places: np.ndarray, starts: np.ndarray) -> np.ndarray:
        return np.maximum(-np.abs(starts - 200.0), 50.0 - np.abs(starts - 700.0))

    found = best_starts(LOWEST[:1], HIGHEST[:1], 25, 1e-6, two_summits)
    assert found[0] == pytest.approx(700.0, rel=1e-6)


def test_the_best_start_is_never_lost_again() -> None:
    tried = []

    def fitness_of(places: np.ndarray, starts: np.ndarray) -> np.ndarray:
        tried.append(dict(zip(places.tolist(), np.sin(starts).max(axis=1), strict=True)))
        return np.sin(starts)

    best_starts(LOWEST, HIGHEST, 25, 1e-6, fitness_of)
    assert len(tried) > 2
    assert all(later[place] >= earlier[place] - 1e-9 for earlier, later in pairwise(tried) for place in later)


def test_a_summit_two_starts_away_from_the_best_first_start_is_found() -> None:
    """Fitness rises slowly to the summit and falls steeply behind it, past a dent."""

    def fitness_of(places: np.ndarray, starts: np.ndarray) -> np.ndarray:
        rising = starts - 40.0 * ((starts > 655) & (starts < 670))
        return np.where(starts > 690.0, 690.0 - 10.0 * (starts - 690.0), rising)

    found = best_starts(LOWEST[:1], HIGHEST[:1], 25, 1e-6, fitness_of)
    assert found[0] == pytest.approx(690.0, rel=1e-6)
