"""Results of launches are brought together in the order of the problems, and solutions change at their places alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from reservoir.problems.base import Problem
from reservoir.solvers import Solution, Solutions
from reservoir.solvers.device_engine import launch_all
from reservoir.solvers.engine import silent
from reservoir.solvers.solution import EngineResult, EngineResults, LaunchResult, engine_results, to_solutions
from tests.solvers.toys import Toy


@dataclass(frozen=True)
class Device:
    """As much of a device as sharing problems takes."""

    compute_units: int


DEVICES: Any = [Device(1), Device(3)]
CALL: dict[str, Any] = {"solver": "toy", "device": "here", "settings": {"seed": 1}, "wall_seconds": 0.0}


def toys(count: int) -> list[Problem]:
    """Toys of two dimensions in turn: two programs."""
    return [Toy(rng_stream_id=number, dimension=2 + number % 2) for number in range(count)]


def launched(device: Any, problems: Sequence[Problem]) -> LaunchResult:
    """Each position is made of the number of its problem."""
    streams = np.array([each.rng_stream_id for each in problems])
    positions = np.repeat(streams[:, np.newaxis], problems[0].dimension, axis=1).astype(np.float32)
    found = engine_results(position=positions, generations=streams, of_all={"evaluations": 7, "settings": {"items": 4}})
    return LaunchResult(found=found, device_seconds=1.0, host_seconds_by_phase={})


def one_by_one(problems: Sequence[Problem]) -> EngineResults:
    return EngineResults.of(
        [
            EngineResult(
                position=np.full(each.dimension, each.rng_stream_id, np.float32),
                generations=each.rng_stream_id,
                evaluations=7,
                settings={"items": 4},
            )
            for each in problems
        ]
    )


def told(solutions: Solutions) -> list[dict[str, Any]]:
    """All that is known of each solution, to be compared."""
    arrays = ("position", "trace_generations", "trace_fitness", "best_position_history", "linkage")
    return [
        {**vars(each), "fitness_float32": str(each.fitness_float32)}
        | {name: getattr(each, name).tolist() for name in arrays}
        for each in solutions
    ]


@pytest.mark.parametrize("most", [1, 3, 100])
@pytest.mark.parametrize("devices", [DEVICES[:1], DEVICES])
def test_launches_of_any_number_are_the_results_of_problems_solved_one_by_one(most: int, devices: Any) -> None:
    problems = toys(11)
    found = launch_all(problems, devices, lambda device, problem: most, launched, silent).found
    assert told(to_solutions(problems, found, **CALL)) == told(to_solutions(problems, one_by_one(problems), **CALL))


def test_a_stopped_run_has_the_problems_before_the_first_that_is_not_solved() -> None:
    problems = toys(11)
    solved = []

    def stops(part: Sequence[Problem], positions: Any, total: int) -> bool:
        solved.extend(each.rng_stream_id for each in part)
        return len(solved) > 6

    found = launch_all(problems, DEVICES[:1], lambda device, problem: 1, launched, silent, stops).found
    assert solved == [0, 2, 4, 6, 8, 10, 1]
    assert found.generations.tolist() == [0, 1, 2]


def test_settings_that_are_the_same_are_one_object_of_all_problems() -> None:
    problems = toys(20)
    for found in (one_by_one(problems), launched(None, problems[::2]).found):
        solutions = to_solutions(problems[: len(found)], found, **CALL)
        assert len({id(each.settings) for each in solutions}) == 1


def test_replaced_solutions_are_others_at_their_places_and_the_same_elsewhere() -> None:
    problems = toys(9)
    solutions = to_solutions(problems, one_by_one(problems), **CALL)
    each: list[Solution] = [replace(solutions[place], fitness=100.0 + place, generations=0) for place in (6, 1)]
    others = Solutions.of([replace(one, trace_fitness=np.arange(3.0)) for one in each])
    found = solutions.replaced(np.array([6, 1]), others)
    expected = told(solutions)
    expected[6], expected[1] = told(others)
    assert told(found) == expected
    assert told(found.some(np.array([1, 8]))) == [expected[1], expected[8]]
