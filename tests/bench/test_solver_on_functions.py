"""Any general solver on the functions."""

import pytest

from reservoir.bench import solver_on_functions
from reservoir.bench.effort import Effort
from reservoir.errors import InputError


def test_every_function_is_solved_as_often_as_asked():
    effort = Effort(runs=3, quick=True)
    record = solver_on_functions.run(
        effort=effort, solver="clpso-sequential", dimension=5, functions="f1,f3", budget={"generations": 300}
    )
    runs = record.data["runs"]
    assert list(runs["function"]) == ["f1"] * 3 + ["f3"] * 3
    assert (runs["best"] < 0.1).all()
    assert record.origin["settings"] == {"generations": 300}
    assert "device" not in record.origin
    assert list(record.tables[0].frame["function"]) == ["f1 Sphere", "f3 Noise"]


def test_a_solver_of_reservoir_years_alone_is_refused():
    with pytest.raises(InputError, match=r"solves no functions.*clpso, lshade"):
        solver_on_functions.run(effort=Effort(), solver="dp")
