"""Engines that share problems among CPU threads: the same bytes, progress and stops with any number of them."""

import threading

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.planning.comparison import compare
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import SOLVERS, Solutions, solve
from reservoir.solvers.clpso.sequential import SequentialClpso

#: Engines that share problems among threads, with a small budget.
FEW = {"clpso-sequential": {"generations": 60}, "lshade-sequential": {"evaluations": 2000}}
ENGINES = pytest.mark.parametrize("solver", FEW)


def bytes_of(solutions: Solutions) -> list[tuple[bytes, bytes, int]]:
    """Everything that a solver found, to the last bit."""
    return [(each.position.tobytes(), each.trace_fitness.tobytes(), each.evaluations) for each in solutions]


def test_all_engines_that_benchmarks_measure_on_one_thread_are_tested_here() -> None:
    assert set(FEW) == {name for name, entry in SOLVERS.items() if entry.measured_with}


@ENGINES
@pytest.mark.parametrize("threads", [2, 3, 16])
def test_threads_make_no_difference(years: list[ReservoirYears], solver: str, threads: int) -> None:
    one, several = (solve(years, solver=solver, threads=each, **FEW[solver]) for each in (1, threads))
    assert bytes_of(several) == bytes_of(one)
    assert (one.device, several.device) == ("one CPU thread", f"{threads} CPU threads")
    assert [each.settings["threads"] for each in (one[0], several[0])] == [1, threads]


@ENGINES
def test_all_processors_are_used_by_default(
    years: list[ReservoirYears], monkeypatch: pytest.MonkeyPatch, solver: str
) -> None:
    monkeypatch.setenv("RESERVOIR_THREADS", "3")
    found = solve(years[:1], solver=solver, **FEW[solver])
    assert (found.device, found[0].settings["threads"]) == ("3 CPU threads", 3)


def test_problems_are_solved_at_the_same_time(years: list[ReservoirYears], monkeypatch: pytest.MonkeyPatch) -> None:
    met, solve_one = threading.Barrier(2, timeout=60), SequentialClpso.solve_one

    def waits_for_another(engine: SequentialClpso, problem: ReservoirYears, place: int) -> object:
        met.wait()  # raises if no other thread comes
        return solve_one(engine, problem, place)

    monkeypatch.setattr(SequentialClpso, "solve_one", waits_for_another)
    assert len(solve(years[:4], solver="clpso-sequential", threads=2, generations=2)) == 4


@ENGINES
def test_progress_counts_every_problem_once_in_order(years: list[ReservoirYears], solver: str) -> None:
    told: list[tuple[int, int]] = []
    solve(years, solver=solver, threads=2, progress=lambda *done: told.append(done), **FEW[solver])
    assert told == [(done, 5) for done in range(1, 6)]


@ENGINES
def test_a_stop_ends_with_the_problems_in_front(years: list[ReservoirYears], solver: str) -> None:
    every = solve(years, solver=solver, threads=2, **FEW[solver])
    asked: list[np.ndarray] = []

    def after_two(so_far: object) -> bool:
        asked.append(so_far.fitness)
        return so_far.done == 2

    found = solve(years, solver=solver, threads=2, stop=after_two, **FEW[solver])
    assert bytes_of(found) == bytes_of(every)[:2]
    assert asked[-1].tolist() == every.fitness[:2].tolist()


@ENGINES
@pytest.mark.parametrize("threads", [0, 4097])
def test_a_number_of_threads_out_of_range_is_refused(years: list[ReservoirYears], solver: str, threads: int) -> None:
    with pytest.raises(InputError, match=rf"threads is out of range.*found {threads}.*expected 1 to 4096"):
        solve(years, solver=solver, threads=threads)


@ENGINES
def test_a_comparison_measures_a_baseline_on_one_thread(small, small_inflow, solver: str) -> None:
    (row,) = compare(small, small_inflow, solvers=[solver], options=FEW[solver])
    assert row.device == "one CPU thread"
