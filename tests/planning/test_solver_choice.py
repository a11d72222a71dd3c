"""A solver that cannot run without OpenCL is replaced by its own algorithm on the CPU, on all cores."""

import pytest

from reservoir import opencl
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.plan import optimise
from reservoir.planning.solving import chosen_solver
from reservoir.problems.reservoir.record import record_problems
from reservoir.solvers import SOLVERS


@pytest.mark.parametrize("solver", [name for name, entry in SOLVERS.items() if entry.opencl])
def test_without_opencl_each_solver_is_replaced_by_its_own_algorithm(
    monkeypatch: pytest.MonkeyPatch, small: Reservoir, small_inflow: Inflow, solver: str
) -> None:
    monkeypatch.setattr(opencl, "why_unavailable", lambda: "no OpenCL platform is installed")
    problems = record_problems(small, small_inflow, Horizon.of("year"))
    chosen, (note,), options = chosen_solver(solver, "auto", {"evaluations": 90, "lanes": 8}, problems)
    assert chosen in ("dp", f"{solver}-sequential", f"{solver}-parallel")
    assert note.startswith("OpenCL cannot be used: no OpenCL platform is installed. Solved by " + chosen)
    assert options.keys() <= {"evaluations"}
    assert (f"{chosen} on all CPU cores instead of {solver}" in note) == (
        chosen in ("dp", "clpso-sequential", "lshade-sequential", "ann-pso-parallel")
    )


def test_a_replaced_solver_uses_all_cores(
    monkeypatch: pytest.MonkeyPatch, small: Reservoir, small_inflow: Inflow
) -> None:
    monkeypatch.setattr(opencl, "why_unavailable", lambda: "no OpenCL platform is installed")
    monkeypatch.setenv("RESERVOIR_THREADS", "3")
    plan = optimise(small, small_inflow, solver="lshade", evaluations=500, reference=False)
    assert (plan.solutions.solver, plan.solutions.device) == ("lshade-sequential", "3 CPU threads")
