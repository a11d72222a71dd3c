"""TSPLIB's files are read as its documentation says, and every mistake is told with its row."""

from pathlib import Path

import numpy as np
import pytest

from reservoir import runtime
from reservoir.errors import InputError
from reservoir.problems.tours import KINDS, Cities, TourProblem, read_cities, read_tour, tour_problem
from reservoir.solvers import solve
from tests.bench.mutations import read_anyway
from tests.problems.tours.square import SQUARE

ATT48 = runtime.package_path("data", "tsp/att48.tsp")


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
        (("EUC_2D", "GEO"), r"row 4: EDGE_WEIGHT_TYPE is not supported.*GEO.*EUC_2D or ATT"),
        (("EDGE_WEIGHT_TYPE : EUC_2D\n", ""), r"EDGE_WEIGHT_TYPE is missing.*EUC_2D or ATT"),
        (("DIMENSION : 4\n", ""), "DIMENSION is missing"),
        (("DIMENSION : 4", "DIMENSION : four"), r"row 3: DIMENSION is not a supported number of cities.*four"),
        (("DIMENSION : 4", "DIMENSION : 2"), r"row 3.*3 to 10,000"),
        (
            ("DIMENSION : 4", "DIMENSION : 5"),
            r"wrong number of cities.*found 4.*expected 5.*row 3.*correct DIMENSION",
        ),
        (("TYPE : TSP", "TYPE : ATSP"), r"row 2: TYPE is not supported.*ATSP"),
        (("2 0 1.5", "2 0"), r"row 7: is not a city.*2 0.*two coordinates"),
        (("2 0 1.5", "2 0 north"), r"row 7: is not a city.*north"),
        (("2 0 1.5", "2 0 inf"), r"row 7: is not a city"),
        (("2 0 1.5", "1 0 1.5"), r"row 7: the city appears twice"),
        (("NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION"), r"no NODE_COORD_SECTION.*att48"),
        (("TYPE : TSP", "hello"), r"row 2: is not a TSPLIB line.*hello"),
        (
            ("DIMENSION : 4", "DIMENSION : " + "9" * 5000),
            r"row 3: DIMENSION is not a supported number of cities.*3 to 10,000",
        ),
        (
            ("DIMENSION : 4", "DIMENSION : 1000000000"),
            r"row 3: DIMENSION is not a supported number of cities.*3 to 10,000",
        ),
        (("2 0 1.5", "2 0 1e36"), r"row 7: is not a city.*-1,000,000,000 to 1,000,000,000"),
        (("2 0 1.5", "2 0 " + "9" * 5000), r"row 7: is not a city"),
        (("2 0 1.5", "2 0 1_5"), r"row 7: is not a city"),
        (("2 0 1.5", "9" * 5000 + " 0 1.5"), r"row 7: is not a city"),
        (("2 0 1.5", "two 0 1.5"), r"row 7: is not a city.*a city number"),
        (("2 0 1.5", "7 0 1.5"), r"row 7: the city number is out of range.*1 to 4"),
        (("NAME : square", "NAME : \x1b[31mred"), r"row 1: NAME has the unprintable character U\+001B"),
        (("NAME : square", "NAME : " + "x" * 101), r"row 1: NAME is too long.*101.*100 characters"),
        (("TYPE : TSP", "DIMENSION : 4"), r"row 3: DIMENSION appears twice"),
        (("EOF", "NODE_COORD_SECTION"), r"row 10: NODE_COORD_SECTION appears twice"),
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
        ("1\n2\n9\n4\n-1\n", r"row 4: is not a city number.*9.*1 to 4"),
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


def test_cities_stand_in_the_order_of_their_numbers_as_tours_have_them(tmp_path):
    lines = SQUARE.splitlines()
    shuffled = "\n".join([*lines[:5], lines[8], lines[6], lines[5], lines[7], "EOF"])
    cities = [read_cities(written(tmp_path, text)).coordinates.tolist() for text in (SQUARE, shuffled)]
    assert cities[0] == cities[1]


def test_what_stands_behind_the_end_is_not_read(tmp_path):
    assert len(read_cities(written(tmp_path, SQUARE + "5 1 1\n")).coordinates) == 4
    tour = written(tmp_path, "TOUR_SECTION\n1 2 3 4 -1\n4 3 2 1 -1\n", "two.tour")
    assert read_tour(tour, 4).tolist() == [0, 1, 2, 3]


def test_the_farthest_cities_are_apart_and_not_on_each_others_wrong_side(tmp_path):
    text = SQUARE.replace("1 0 0", "1 -1e9 -1e9").replace("3 2 1.5", "3 1e9 1e9")
    cities = read_cities(written(tmp_path, text))
    assert cities.distances().min() == 0
    assert cities.distances()[0, 2] == round(2e9 * 2**0.5)
    with pytest.raises(InputError, match=r"square\.tsp: tours may be too long"):
        tour_problem(written(tmp_path, text))


def test_distances_of_many_cities_are_those_of_each_two():
    points = np.random.default_rng(5).uniform(-1e4, 1e4, (300, 2))
    for kind in KINDS:
        distances = Cities("many", kind, points).distances()
        exact = np.hypot(*(points[:, None] - points).transpose(2, 0, 1)) / (1 if kind == "EUC_2D" else 10**0.5)
        assert np.abs(distances - exact).max() <= 1
        np.testing.assert_array_equal(distances, distances.T)


def test_a_file_without_end_is_refused_soon():
    with pytest.raises(InputError, match="too large"):
        read_cities(Path("/dev/zero"))


def test_no_more_mistakes_are_told_than_anybody_reads(tmp_path):
    with pytest.raises(InputError) as caught:
        read_cities(written(tmp_path, SQUARE.replace("1 0 0", "what\n" * 10_000)))
    assert len(caught.value.mistakes) == 20


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_in_a_file_is_refused_or_read_right(tmp_path, seed):
    for cities in read_anyway(read_cities, SQUARE.encode(), tmp_path / "some.tsp", seed):
        distances = cities.distances()
        assert distances.shape == (len(cities.coordinates),) * 2
        assert distances.min() >= 0


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_in_a_tour_is_refused_or_read_right(tmp_path, seed):
    good = b"TYPE : TOUR\nTOUR_SECTION\n1 2\n4\n3\n-1\nEOF\n"
    for tour in read_anyway(lambda path: read_tour(path, 4), good, tmp_path / "some.tour", seed):
        assert sorted(tour) == [0, 1, 2, 3]


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
    with pytest.raises(InputError, match=r"lshade does not support permutation encoding.*att48.*island-ga"):
        solve([tour_problem(ATT48)], solver="lshade")
