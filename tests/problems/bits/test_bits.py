"""The problems of DSMGA-II's paper: their values, their optima, and files of spin glasses."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from reservoir.bench.populations import bundled_glasses, spin_cases, trap_case
from reservoir.errors import InputError
from reservoir.problems.bits import FAMILIES, read_spin_glass
from reservoir.solvers import solve
from tests.bench.mutations import read_anyway


def fitness_of_genes(problem, genes):
    return problem.certify(np.array(genes)).fitness


def test_a_trap_leads_away_from_its_optimum():
    problem = FAMILIES["mk"].of(10)
    values = [fitness_of_genes(problem, [1] * ones + [0] * (10 - ones)) - 0.8 for ones in range(6)]
    assert values == pytest.approx([0.8, 0.6, 0.4, 0.2, 0, 1])
    assert problem.optimum == fitness_of_genes(problem, np.ones(10)) == 2


def test_a_folded_trap_has_two_optima():
    problem = FAMILIES["ftrap"].of(12)
    values = [fitness_of_genes(problem, [1] * ones + [0] * (12 - ones)) - 1 for ones in range(7)]
    assert values == pytest.approx([1, 0, 0.4, 0.8, 0.4, 0, 1])
    assert problem.optimum == fitness_of_genes(problem, np.ones(12)) == fitness_of_genes(problem, np.zeros(12)) == 2


def test_blocks_of_a_cyclic_trap_share_a_bit_with_the_next_and_the_last_with_the_first():
    problem = FAMILIES["cyc"].of(12)
    assert problem.optimum == fitness_of_genes(problem, np.ones(12)) == 3
    zeros = fitness_of_genes(problem, np.zeros(12))
    alone = [zeros - fitness_of_genes(problem, np.eye(12)[bit]) for bit in range(12)]
    assert alone == pytest.approx([0.4 if bit % 4 == 0 else 0.2 for bit in range(12)])


def test_no_string_is_better_than_the_optimum():
    for problem in (FAMILIES["mk"].of(10), FAMILIES["ftrap"].of(12), FAMILIES["cyc"].of(12)):
        every = itertools.product((0, 1), repeat=problem.dimension)
        assert max(fitness_of_genes(problem, genes) for genes in every) == pytest.approx(problem.optimum)


@pytest.mark.parametrize(("family", "bits"), [("mk", 12), ("mk", 5), ("ftrap", 15), ("cyc", 10)])
def test_sizes_that_no_blocks_fill_are_told(family, bits):
    with pytest.raises(InputError, match=f"invalid number of bits for a .*found {bits}.*multiple of"):
        FAMILIES[family].of(bits)


GLASS = "4\n-0.5\n1 2 1\n2 3 -1\n\n3 4 1\n4 1 1\n"


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "glass"
        path.write_text(text)
        return path

    return written


def test_a_spin_glass_is_the_sum_of_its_couplings(write):
    problem = read_spin_glass(write(GLASS))
    assert (problem.dimension, problem.optimum) == (4, 0.5)
    couplings = [(0, 1, 1), (1, 2, -1), (2, 3, 1), (3, 0, 1)]
    for genes in itertools.product((0, 1), repeat=4):
        spins = [2 * gene - 1 for gene in genes]
        assert fitness_of_genes(problem, genes) == sum(j * spins[a] * spins[b] for a, b, j in couplings) / 4


def test_digits_that_a_file_leaves_out_are_made_up_for(write):
    glass = read_spin_glass(write("3\n-0.333\n1 2 1\n2 3 1\n3 1 -1\n"))
    assert glass.optimum == 1 / 3


def test_bundled_glasses_have_the_ground_states_that_they_state():
    for case in spin_cases(bundled_glasses(first_only=False)):
        assert len(case.glass.context.strength) == 2 * case.bits
        if case.bits <= 100:
            problem = case.problem(1)
            found = solve([problem], solver="dsmga2", population=400)[0]
            assert found.fitness == pytest.approx(problem.optimum, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4\n", "is not a spin-glass file; expected the number of spins"),
        ("x\n-1\n1 2 1\n", 'row 1: is not a valid number of spins.*found "x"'),
        ("1\n-1\n1 2 1\n", "row 1: is not a valid number of spins.*2 to 65,536"),
        ("4\nlow\n1 2 1\n", 'row 2: is not an energy per spin.*found "low"'),
        ("4\n-1 2\n1 2 1\n", "row 2: is not an energy per spin"),
        (
            "4\n-0.4\n1 2 1\n",
            "row 2: is not a ground-state energy.*found -0.4.*expected -0.5: the couplings and the energy",
        ),
        ("4\n-1\n1 2\n", 'row 3: is not a coupling.*found "1 2"'),
        ("4\n-1\n1 2 0.5\n", "row 3: is not a coupling"),
        ("4\n-1\n1 5 1\n", 'row 3: does not couple two spins.*found "1 5 1".*1 to 4'),
        ("4\n-1\n2 2 1\n", "row 3: does not couple two spins"),
        ("4\n-1\n1 2 9999999\n", "row 3: has too large a coupling"),
        ("9" * 5000 + "\n-1\n1 2 1\n", "row 1: is not a valid number of spins"),
        ("1000000000\n-1\n1 2 1\n", "row 1: is not a valid number of spins"),
        (
            "4\n-1e308\n1 2 1\n",
            "row 2: is not a ground-state energy.*expected -0.25 to 0, the range that the couplings allow",
        ),
        ("4\n1e300\n1 2 1\n", "row 2: is not a ground-state energy.*expected -0.25 to 0"),
        ("4\n0.25\n1 2 1\n", "row 2: is not a ground-state energy.*expected -0.25 to 0"),
        ("4\nnan\n1 2 1\n", "row 2: is not an energy per spin"),
        ("4\n-1_0\n1 2 1\n", "row 2: is not an energy per spin"),
        ("4\n-0.25\n1 2 " + "9" * 5000 + "\n", "row 3: is not a coupling"),
        ("4\n-0.5\n1 2 1\n2 1 1\n", "row 4: couples two spins a second time"),
    ],
)
def test_mistakes_in_a_file_are_told_with_their_row(write, text, message):
    with pytest.raises(InputError, match=message):
        read_spin_glass(write(text))


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_in_a_file_is_refused_or_read_right(tmp_path, seed):
    for glass in read_anyway(read_spin_glass, GLASS.encode(), tmp_path / "some", seed):
        assert 2 <= glass.dimension <= 65_536
        assert 0 <= round(glass.optimum * glass.dimension) <= np.abs(glass.context.strength).sum()


def test_a_file_without_end_is_refused_soon():
    with pytest.raises(InputError, match="too large"):
        read_spin_glass(Path("/dev/zero"))


def test_all_mistakes_of_a_file_are_told_at_once(write):
    with pytest.raises(InputError) as caught:
        read_spin_glass(write("4\n?\n1 9 1\n1 2\n"))
    assert [mistake.row for mistake in caught.value.mistakes] == [2, 3, 4]


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_spin_glass(tmp_path / "none")


def test_populations_lie_between_those_of_the_nearest_sizes():
    small, between, large = (trap_case("ftrap", bits).population for bits in (120, 180, 240))
    assert small < between < large
    assert between % 2 == 0
    assert trap_case("ftrap", 1200).population == 484
