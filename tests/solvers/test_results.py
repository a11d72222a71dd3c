"""Results of launches are brought together in the order of the problems, and solutions change at their places alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from reservoir.problems.base import Problem
from reservoir.solvers import Solutions
from reservoir.solvers.device_engine import DeviceEngine
from reservoir.solvers.engine import silent
from reservoir.solvers.settings import Settings
from reservoir.solvers.solution import EngineResults, engine_results, joined_results, to_solutions
from tests.solvers.engines import CHOOSE_DEVICES
from tests.solvers.toys import Toy


@dataclass(frozen=True)
class Device:
    """As much of a device as sharing problems takes."""

    compute_units: int
    name: str = "here"
    platform: str = "none"
    driver: str = "1"


DEVICES: Any = [Device(1), Device(3)]
CALL: dict[str, Any] = {"solver": "toy", "device": "here", "settings": {"seed": 1}, "wall_seconds": 0.0}


def toys(count: int) -> list[Problem]:
    """Toys of two dimensions in turn: two programs."""
    return [Toy(rng_stream_id=number, dimension=2 + number % 2) for number in range(count)]


def launched(problems: Sequence[Problem]) -> EngineResults:
    """Each position is made of the number of its problem."""
    streams = np.array([each.rng_stream_id for each in problems])
    positions = np.repeat(streams[:, np.newaxis], problems[0].dimension, axis=1).astype(np.float32)
    return engine_results(position=positions, generations=streams, of_all={"evaluations": 7, "settings": {"items": 4}})


class ToyEngine(DeviceEngine[Settings]):
    """Launches so many problems at a time."""

    name = "toy"
    settings_class = Settings
    most = 100

    def most_problems(self, device: Any, problem: Problem) -> int:
        return self.most

    def launch(self, device: Any, problems: Any, places: Any, clock: Any) -> tuple[EngineResults, float]:
        assert [each.rng_stream_id for each in problems] == list(places)
        return launched(problems), 1.0


def one_by_one(problems: Sequence[Problem]) -> EngineResults:
    return joined_results(
        [
            engine_results(
                position=np.full((1, each.dimension), each.rng_stream_id, np.float32),
                generations=[each.rng_stream_id],
                of_all={"evaluations": 7, "settings": {"items": 4}},
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
def test_launches_of_any_number_are_the_results_of_problems_solved_one_by_one(
    monkeypatch: pytest.MonkeyPatch, most: int, devices: Any
) -> None:
    monkeypatch.setattr(CHOOSE_DEVICES, lambda _: devices)
    monkeypatch.setattr(ToyEngine, "most", most)
    problems = toys(11)
    found = ToyEngine(Settings()).solve(problems, device=None, progress=silent)
    expected = to_solutions(
        problems,
        one_by_one(problems),
        **CALL | {"settings": {"seed": 1}},
        of_device={"platform": "none", "driver": "1"},
    )
    of_call = {name: getattr(found, name) for name in ("device", "wall_seconds", "device_seconds")}
    assert told(found) == told(replace(expected, **of_call))


def test_only_devices_that_had_problems_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    both: Any = [Device(1, "small", "one", "2.0"), Device(3, "large", "two", "3.1")]
    monkeypatch.setattr(CHOOSE_DEVICES, lambda _: both)
    for count, *named in ((1, "large", "two", "3.1"), (11, "small, large", "one, two", "2.0, 3.1")):
        found = ToyEngine(Settings()).solve(toys(count), device=None, progress=silent)
        assert [found.device, found.settings[0]["platform"], found.settings[0]["driver"]] == named


def test_a_stopped_run_has_the_problems_before_the_first_that_is_not_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHOOSE_DEVICES, lambda _: DEVICES[:1])
    monkeypatch.setattr(ToyEngine, "most", 1)
    done = []

    def stop(so_far: Any) -> bool:
        done.append(so_far.done)
        return so_far.done > 6

    found = ToyEngine(Settings(), stop=stop).solve(toys(11), device=None, progress=silent)
    assert done == [1, 2, 3, 4, 5, 6, 7]  # problems 0, 2, 4, 6, 8, 10 and 1
    assert found.generations.tolist() == [0, 1, 2]


def test_settings_that_are_the_same_are_one_object_of_all_problems() -> None:
    problems = toys(20)
    for found in (one_by_one(problems), launched(problems[::2])):
        solutions = to_solutions(problems[: len(found["position"])], found, **CALL)
        assert len({id(each.settings) for each in solutions}) == 1


def test_replaced_solutions_are_others_at_their_places_and_the_same_elsewhere() -> None:
    problems = toys(9)
    solutions = to_solutions(problems, one_by_one(problems), **CALL)
    each: Solutions = [replace(solutions[place], fitness=100.0 + place, generations=0) for place in (6, 1)]
    others = Solutions.of([replace(one, trace_fitness=np.arange(3.0)) for one in each])
    found = solutions.replaced(np.array([6, 1]), others)
    expected = told(solutions)
    expected[6], expected[1] = told(others)
    assert told(found) == expected
    assert told(found[np.array([1, 8])]) == [expected[1], expected[8]]


def test_one_solution_is_what_the_arrays_have_at_its_place() -> None:
    solutions = to_solutions(toys(5), one_by_one(toys(5)), **CALL)
    assert [type(each.generations) for each in solutions] == [int] * 5
    assert [each.position.tolist() for each in solutions[3:]] == [[3.0] * 3, [4.0] * 2]
    assert told(Solutions.of(list(solutions))) == told(solutions)
    assert len(Solutions.of([])) == 0 == len(Solutions.of([]).position)
