"""TSPLIB's files are read as its documentation says, and every mistake is told with its row."""

from pathlib import Path

import numpy as np
import pytest

from reservoir import resources
from reservoir.bench.tours import read_cities, read_tour, tour_problem
from reservoir.bench.tours.problem import TourProblem
from reservoir.errors import InputError
from reservoir.solvers import solve

ATT48 = resources.path("data", "tsp/att48.tsp")
SQUARE = """NAME : square
TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 0 1.5
3 2 1.5
4 2 0
EOF
"""


def written(folder: Path, text: str, name: str = "square.tsp") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_bundled_tour_is_as_long_as_its_proven_optimum():
    problem = tour_problem(ATT48)
    assert (problem.label, problem.dimension, problem.optimum) == ("att48", 48, 10_628)


def test_pseudo_euclidean_distances_are_rounded_up():
    cities = read_cities(ATT48)
    distances = cities.distances()
    exact = np.sqrt(((cities.coordinates[:, None] - cities.coordinates) ** 2).sum(axis=2) / 10)
    assert np.all(distances >= exact)
    assert np.all(distances < exact + 1)
    assert distances[0, 1] == 1495  # 6734 1453 and 2233 10: sqrt((4501^2 + 1443^2) / 10) = 1494.7


def test_euclidean_distances_are_rounded_to_the_nearest(tmp_path):
    distances = read_cities(written(tmp_path, SQUARE)).distances()
    np.testing.assert_array_equal(distances, [[0, 2, 3, 2], [2, 0, 2, 3], [3, 2, 0, 2], [2, 3, 2, 0]])


def test_keywords_may_be_written_without_spaces_and_in_any_case(tmp_path):
    text = SQUARE.replace(" : ", ":").replace("DIMENSION", "dimension").replace("NODE_COORD", "Node_Coord")
    assert len(read_cities(written(tmp_path, text)).coordinates) == 4


def test_a_file_without_its_end_or_name_is_read(tmp_path):
    text = "\n".join(SQUARE.splitlines()[1:-1])
    assert read_cities(written(tmp_path, text)).name == "square"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("EUC_2D", "GEO"), r"row 4: EDGE_WEIGHT_TYPE is not one.*GEO.*EUC_2D or ATT"),
        (("EDGE_WEIGHT_TYPE : EUC_2D\n", ""), r"EDGE_WEIGHT_TYPE is missing.*EUC_2D or ATT"),
        (("DIMENSION : 4\n", ""), "DIMENSION is missing"),
        (("DIMENSION : 4", "DIMENSION : four"), r"row 3: DIMENSION is no number.*four"),
        (("DIMENSION : 4", "DIMENSION : 2"), r"row 3.*3 to 10,000"),
        (
            ("DIMENSION : 4", "DIMENSION : 5"),
            r"another number of cities.*found 4.*expected 5.*row 3.*correct DIMENSION",
        ),
        (("TYPE : TSP", "TYPE : ATSP"), r"row 2: TYPE is not one.*ATSP"),
        (("2 0 1.5", "2 0"), r"row 7: is no city.*2 0.*two finite coordinates"),
        (("2 0 1.5", "2 0 north"), r"row 7: is no city.*north"),
        (("2 0 1.5", "2 0 inf"), r"row 7: is no city"),
        (("2 0 1.5", "1 0 1.5"), r"row 7: the city is there twice"),
        (("NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION"), r"no NODE_COORD_SECTION.*att48"),
        (("TYPE : TSP", "hello"), r"row 2: is no line of TSPLIB.*hello"),
    ],
)
def test_every_mistake_is_told_with_its_row(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        read_cities(written(tmp_path, SQUARE.replace(*change)))


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match=r"none\.tsp: the file cannot be read"):
        read_cities(tmp_path / "none.tsp")


def test_all_mistakes_are_told_together(tmp_path):
    text = SQUARE.replace("EUC_2D", "GEO").replace("2 0 1.5", "2 0")
    with pytest.raises(InputError) as caught:
        read_cities(written(tmp_path, text))
    assert len(caught.value.mistakes) == 2


@pytest.mark.parametrize(
    ("tour", "message"),
    [
        ("1 2 3\n4\n-1\n", None),
        ("1\n2\n3\n-1\n", r"row 4: the tour has too few cities.*found 3"),
        ("1\n2\n2\n4\n-1\n", r"row 4: the city is in the tour twice"),
        ("1\n2\n9\n4\n-1\n", r"row 4: is no number of a city.*9.*1 to 4"),
    ],
)
def test_a_tour_has_every_city_once(tmp_path, tour, message):
    path = written(tmp_path, f"TOUR_SECTION\n{tour}EOF\n", "square.opt.tour")
    if message is None:
        np.testing.assert_array_equal(read_tour(path, 4), [0, 1, 2, 3])
        assert tour_problem(written(tmp_path, SQUARE)).optimum == 8
    else:
        with pytest.raises(InputError, match=message):
            read_tour(path, 4)


def test_an_optimum_that_is_asked_for_comes_first():
    assert tour_problem(ATT48, optimum=3).optimum == 3


def test_tours_that_32_bits_cannot_tell_are_refused():
    with pytest.raises(InputError, match=r"tours may be too long.*larger unit"):
        TourProblem("far", np.full((3, 3), 10**9))


def test_a_city_that_is_missed_is_a_violation():
    problem = tour_problem(ATT48)
    tour = np.arange(48.0)
    assert problem.certify(tour).violation == 0
    tour[5] = 4
    assert (problem.certify(tour).violation, problem.certify(tour).fitness) == (1, -np.inf)


def test_solvers_of_real_vectors_refuse_tours():
    with pytest.raises(InputError, match=r"lshade cannot solve a problem of permutations.*att48.*island-ga"):
        solve([tour_problem(ATT48)], solver="lshade")
