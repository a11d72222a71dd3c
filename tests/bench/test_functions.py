"""Any general solver on the functions."""

import pytest

from reservoir.bench import functions as solver_on_functions
from reservoir.bench.experiment import RunBudget
from reservoir.errors import InputError
from reservoir.problems.functions import FUNCTIONS, function_problems
from reservoir.solvers import solve


def test_every_function_is_solved_as_often_as_asked():
    budget = RunBudget(runs=3, quick=True)
    record = solver_on_functions.run(
        budget=budget, solver="clpso-sequential", dimension=5, functions="f1,f3", settings={"generations": 300}
    )
    runs = record.data["runs"]
    assert list(runs["function"]) == ["f1"] * 3 + ["f3"] * 3
    assert (runs["best"] < 0.1).all()
    assert record.origin["settings"] == {"threads": 1, "generations": 300}
    assert "device" not in record.origin
    assert "rotation" not in record.origin
    assert set(record.data) == {"runs"}
    assert list(record.tables[0].frame["function"]) == ["f1 Sphere", "f3 Noise"]


def test_a_solver_of_reservoir_years_alone_is_refused():
    with pytest.raises(InputError, match=r"does not solve functions.*clpso, lshade"):
        solver_on_functions.run(budget=RunBudget(), solver="dp")


@pytest.mark.parametrize("generations", [7, 500, 501])
def test_the_noisy_best_is_that_of_the_last_generation(generations):
    """The trace may end before."""
    budget = RunBudget(runs=1, quick=True)
    asked = {"solver": "clpso-sequential", "dimension": 4, "functions": "f3", "settings": {"generations": generations}}
    found = solver_on_functions.run(budget=budget, **asked).data["runs"].iloc[0]
    assert found["best"] > found["value"]
    finely = solve(
        function_problems(FUNCTIONS["f3"], 1, dimension=4),
        solver="clpso-sequential",
        seed=1,
        generations=generations,
        trace_points=generations,
    )
    assert found["best"] == -finely[0].trace_fitness[-1]


def test_the_matrix_of_rotated_functions_is_kept():
    budget = RunBudget(runs=1, quick=True)
    asked = {"solver": "clpso-sequential", "dimension": 4, "functions": "f8", "settings": {"generations": 5}}
    record = solver_on_functions.run(budget=budget, rotations=3, **asked)
    assert record.data["rotation"].shape == (4, 4)
    assert record.origin["rotation"] == {"dimension": 4, "rotations": 3, "seed": 7}
