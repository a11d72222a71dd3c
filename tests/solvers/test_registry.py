"""Every solver that is registered solves, tells its progress, and refuses what it cannot do in plain words."""

import json
from dataclasses import fields

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import RESERVOIR_SOLVERS, SOLVERS, settings_of, solve, solver_named
from reservoir.solvers.codings import CodingSettings
from reservoir.solvers.windows import WindowSettings
from tests.solvers.engines import each_of


@pytest.fixture(params=each_of(RESERVOIR_SOLVERS))
def name(request: pytest.FixtureRequest) -> str:
    """Each solver."""
    return request.param


@pytest.fixture(params=each_of(solver.name for solver in SOLVERS.values() if "generations" in solver.budget))
def swarm(request: pytest.FixtureRequest) -> str:
    """Each solver that has a swarm."""
    return request.param


def options_of(name: str) -> dict[str, int]:
    """Less work than usual, where there is a setting for it."""
    less = {"generations": 300, "evaluations": 5000}
    return {setting: less[setting] for setting in SOLVERS[name].budget if setting in less}


def test_every_solver_solves_two_years_without_violation(years: list[ReservoirYears], name: str) -> None:
    told: list[tuple[int, int]] = []
    found = solve(
        years[:2],
        solver=name,
        progress=lambda done, total: told.append((done, total)),
        **options_of(name),
    )
    assert told[-1] == (2, 2)
    for year, solution in zip(years, found, strict=False):
        assert solution.violation == 0
        assert solution.fitness == solution.benefit == year.certify(solution.position).benefit
        assert solution.solver == name
        assert solution.generations > 0
        assert solution.evaluations > 0
        assert solution.wall_seconds > 0
        assert len(solution.trace_fitness) == len(solution.trace_generations)
        assert np.all(solution.position >= year.lower * (1 - 1e-6))
        assert np.all(solution.position <= year.upper * (1 + 1e-6))


def test_every_solver_gives_the_same_bytes_again(years: list[ReservoirYears], name: str) -> None:
    one, other = (solve(years[:2], solver=name, **options_of(name)) for _ in range(2))
    assert [each.position.tobytes() for each in one] == [each.position.tobytes() for each in other]


def test_no_problems_have_no_solutions(name: str) -> None:
    assert len(solve([], solver=name)) == 0


def test_the_registry_says_whether_a_seed_matters(years: list[ReservoirYears], name: str) -> None:
    one, other = (solve(years[:1], solver=name, seed=seed, **options_of(name))[0] for seed in (1, 2))
    assert (one.position.tobytes() != other.position.tobytes()) == SOLVERS[name].seeded


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"particles": 1}, "particles is out of range.*found 1.*expected 2 to 65536"),
        ({"particles": 65_537}, "particles is out of range"),
        ({"generations": 0}, "generations is out of range.*found 0"),
    ],
)
def test_a_setting_out_of_range_is_refused_with_its_range(
    years: list[ReservoirYears], swarm: str, options: dict[str, int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        solve(years[:1], solver=swarm, **options)


@pytest.mark.parametrize(
    ("solver", "setting"),
    [
        ("clpso", "refreshing_gap"),
        ("clpso-sequential", "trace_points"),
        ("ann-pso", "exchange_every"),
        ("ann-pso-parallel", "group"),
    ],
)
def test_a_setting_of_one_swarm_is_refused_with_its_range(
    years: list[ReservoirYears], solver: str, setting: str
) -> None:
    with pytest.raises(InputError, match=f"{setting} is out of range.*found 0.*expected 1 to"):
        solve(years[:1], solver=solver, **{setting: 0})


def test_every_setting_out_of_range_is_told_at_once(years: list[ReservoirYears]) -> None:
    with pytest.raises(InputError) as caught:
        solve(years[:1], solver="clpso-sequential", particles=0, generations=0)
    assert len(caught.value.mistakes) == 2


def test_a_setting_that_a_solver_does_not_have_is_named(years: list[ReservoirYears], name: str) -> None:
    with pytest.raises(InputError, match=f"the solver {name} has no setting temperature"):
        solve(years[:1], solver=name, temperature=3)


def test_every_unknown_setting_is_told_at_once_with_those_there_are(years: list[ReservoirYears]) -> None:
    with pytest.raises(InputError, match=r"no setting temperature.*states, most_states") as caught:
        solve(years[:1], solver="dp", temperature=3, pressure=4)
    assert len(caught.value.mistakes) == 2


def test_a_fault_in_a_callback_is_no_mistake_of_the_user(years: list[ReservoirYears], name: str) -> None:
    def cool(*, temperature: int) -> None:
        """Is called wrongly."""

    with pytest.raises(TypeError, match="unexpected keyword argument 'pressure'"):
        solve(years[:1], solver=name, progress=lambda *_: cool(pressure=3), **options_of(name))


def test_a_fault_in_an_engine_is_no_mistake_of_the_user(years: list[ReservoirYears], monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise TypeError("got an unexpected keyword argument 'temperature'")

    monkeypatch.setattr("reservoir.solvers.clpso.sequential.SequentialClpso.solve_one", broken)
    with pytest.raises(TypeError, match="temperature"):
        solve(years[:1], solver="clpso-sequential")


def test_every_setting_stands_in_the_solution(years: list[ReservoirYears], name: str) -> None:
    """But those of sweeps over long horizons and of systems, which years have not (`test_sweeps`, `test_codings`)."""
    found = solve(years[:1], solver=name, **options_of(name))[0]
    assert len(settings_of(name)) >= 7
    others = {each.name for settings in (WindowSettings, CodingSettings) for each in fields(settings)}
    assert set(settings_of(name)) - others <= found.settings.keys()
    assert not SOLVERS[name].seeded or found.settings["seed"] == 1
    json.dumps(found.settings, default=float)


def test_settings_that_were_asked_for_stand_in_the_solution(years: list[ReservoirYears]) -> None:
    asked = {"states": 101, "most_states": 151, "agreement": 1e-5, "fine_states": 31, "reach": 5.0, "tolerance": 1e-7}
    restarts = {"restart_width": 0.4, "restart_gain": 1e-6, "most_restarts": 2}
    found = solve(years[:1], solver="dp", most_refinements=30, start_states=9, **asked, **restarts)[0]
    assert found.settings == {**asked, "most_refinements": 30, "start_states": 9, **restarts}


def test_an_unknown_solver_is_answered_with_those_there_are(years: list[ReservoirYears]) -> None:
    with pytest.raises(
        InputError, match=r'no such solver.*found "annealing".*clpso, lshade, clpso-sequential, .*dp, dp-opencl'
    ):
        solve(years, solver="annealing")
    with pytest.raises(InputError, match="no such solver"):
        solver_named("")


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_beyond_64_bits_is_refused(years: list[ReservoirYears], seed: int) -> None:
    with pytest.raises(InputError, match="the seed is out of range"):
        solve(years[:1], solver="clpso-sequential", seed=seed)
