"""The race against other libraries: one physics, nothing missing is an error, nobody is drawn better than it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.bench import peer_search, peers
from reservoir.bench.experiment import RunBudget
from reservoir.bench.peer_search import Attempt, Peer, RaceCourse, SearchBudget, SearchOver, YearObjective
from reservoir.bench.peers import PEERS, PeerRace, completed, draw_peers, peer_runs, ranking, time_peers
from reservoir.hydro.curves.approximation import POWER_TOLERANCE
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import Solutions, solve
from reservoir.solvers.engine import silent

PATIENT = SearchBudget(near=-math.inf, seconds=600.0)
SCIPY = next(peer for peer in PEERS if peer.library == "scipy")
GONE = Peer("no-such-library", "PSO", {})


@pytest.fixture(scope="module")
def years(small: Reservoir, small_inflow: Inflow) -> list[ReservoirYears]:
    return list(reservoir_problems(small, small_inflow))


@pytest.fixture(scope="module")
def references(years: list[ReservoirYears]) -> Solutions:
    return solve(years, solver="dp")


def drawn(year: ReservoirYears, count: int = 50) -> np.ndarray:
    return np.random.default_rng(1).uniform(year.lower, year.upper, (count, year.dimension))


def assert_equal_worth(found: np.ndarray, year: ReservoirYears, positions: np.ndarray) -> None:
    """Equal up to what the forms of the curves change; where the penalty counts, up to float32 storages."""
    certified = [year.certify(position) for position in positions]
    worth = np.array([each.fitness for each in certified])
    scale = np.array([each.benefit + year.penalty * (each.violation + 0.01) for each in certified])
    assert np.all(np.abs(found - worth) <= POWER_TOLERANCE * scale)


# The objective


def test_the_libraries_objective_is_the_certified_fitness(case: tuple[Reservoir, Inflow]):
    for year in reservoir_problems(*case):
        positions = drawn(year)
        objective = YearObjective(year, 0.0, PATIENT)
        assert_equal_worth(-objective.losses(positions), year, positions)
        assert objective.loss(positions[3]) == objective.losses(positions)[3]


@pytest.mark.skipif(not find_spec("jax"), reason="needs JAX")
def test_the_objective_in_jax_is_the_certified_fitness(case: tuple[Reservoir, Inflow]):
    import jax

    from reservoir.bench.peer_evosax import fitness, stacked_years

    years = reservoir_problems(*case)
    positions = np.stack([drawn(year) for year in years])
    one_year = jax.vmap(lambda year, position: fitness(years[0], year, position), in_axes=(None, 0))
    found = np.asarray(jax.jit(jax.vmap(one_year))(stacked_years(years), positions))
    for year, of_year, at in zip(years, found, positions, strict=True):
        assert_equal_worth(of_year, year, at)


def test_a_search_is_over_when_the_year_is_near_its_optimum(years: list[ReservoirYears]):
    year, positions = years[0], drawn(years[0])
    best = max(year.certify(position).fitness for position in positions)
    objective = YearObjective(year, best, replace(PATIENT, near=1e-4))
    with pytest.raises(SearchOver):
        objective.losses(positions)
    assert abs(objective.gap) <= 1e-4
    with pytest.raises(SearchOver):
        objective.end_if_over()


@pytest.mark.parametrize("limits", [{"evaluations": 50}, {"seconds": 0.0}])
def test_a_search_is_over_when_its_budget_is_used_up(years: list[ReservoirYears], limits: dict[str, float]):
    objective = YearObjective(years[0], 0.0, replace(PATIENT, **limits))
    if "evaluations" in limits:
        objective.losses(drawn(years[0]))
    with pytest.raises(SearchOver):
        objective.losses(drawn(years[0]))


def test_only_the_certified_fitness_counts_as_near(years: list[ReservoirYears]):
    year, positions = years[1], drawn(years[1])
    objective = YearObjective(year, 1000.0, PATIENT)
    best = positions[objective.losses(positions).argmin()]
    assert objective.gap == (1000.0 - year.certify(best).fitness) / 1000.0


# The libraries


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: f"{peer.library}-{peer.algorithm}")
def test_every_algorithm_is_better_than_chance(peer: Peer, years: list[ReservoirYears], references: Solutions):
    if not peer.version:
        pytest.skip(f"needs {peer.library}")
    budget = SearchBudget(near=1e-2, evaluations=3000, seconds=60.0)
    optima = [each.fitness for each in references]
    chance = YearObjective(years[0], optima[0], PATIENT)
    chance.losses(drawn(years[0], 40))
    if peer.together:
        found = peer_search.search_years(peer, RaceCourse(years, optima, replace(budget, seconds=1.0), seed=1))[0]
    else:
        found = peer_search.search_year(peer, years[0], optima[0], [1], budget)
    assert found.gap < 0.7 * chance.gap
    assert found.evaluations > 0


def test_processes_bring_every_year_near_its_optimum(years: list[ReservoirYears], references: Solutions):
    told: list[tuple[int, int]] = []
    course = RaceCourse(years, [each.fitness for each in references], SearchBudget(near=1e-3), seed=1)
    runs = peer_runs(SCIPY, course, lambda done, total: told.append((done, total)))
    run = next(runs)
    runs.close()
    assert run["years_within"] == len(years)
    assert run["worst_gap"] <= 1e-3
    assert run["seconds"] <= run["total_seconds"] < math.inf
    assert told[-1] == (3, 3)


class _Here(Executor):
    """Does at once what it is given."""

    def submit(self, function, /, *arguments, **options):
        future: Future = Future()
        future.set_result(function(*arguments, **options))
        return future


def test_a_year_that_was_missed_is_tried_again_with_other_random_numbers(
    years: list[ReservoirYears], monkeypatch: pytest.MonkeyPatch
):
    seeds: dict[str, list] = {}

    def search_year(peer, year, optimum_gwh, given, budget):
        tries = seeds.setdefault(year.label, [])
        tries.append(given)
        return Attempt(0.5 if year is years[1] and len(tries) < 3 else 0.0, 10, 0.0)

    @contextmanager
    def here(count: int) -> Iterator[list[_Here]]:
        yield [_Here()]

    monkeypatch.setattr("reservoir.bench.peers.processes", here)
    monkeypatch.setattr(peer_search, "warm_up", lambda peer, year: None)
    monkeypatch.setattr(peer_search, "search_year", search_year)
    run = next(peer_runs(SCIPY, RaceCourse(years, [1.0, 1.0, 1.0], SearchBudget(), seed=1), silent))
    assert [len(tries) for tries in seeds.values()] == [1, 3, 1]
    assert len(set(map(tuple, seeds[years[1].label]))) == 3
    assert (run["years_within"], run["worst_gap"], run["evaluations"]) == (3, 0.0, 50)


# The table


def raced(years: list[ReservoirYears], references: Solutions, **options) -> PeerRace:
    return time_peers(years, references, budget=RunBudget(quick=True), **{"solvers": (), **options})


def test_a_missing_library_is_reported_with_how_to_get_it(years: list[ReservoirYears], references: Solutions):
    found = raced(years, references, peers=(GONE,))
    assert found.entries[0]["status"] == "not installed: pip install 'reservoir[peers]'"
    assert found.notes[-1].startswith("Not installed: no-such-library. ")
    assert not found.entries[0]["runs"]


def test_a_library_that_fails_is_reported_and_the_race_goes_on(
    years: list[ReservoirYears], references: Solutions, monkeypatch: pytest.MonkeyPatch
):
    def failing(peer, course, progress):
        raise ValueError("no such setting\nat all")
        yield

    monkeypatch.setattr(peers, "peer_runs", failing)
    found = raced(years, references, peers=(SCIPY, GONE))
    assert found.entries[0]["status"] == "failed: ValueError: no such setting"
    assert len(found.entries) == 2


def test_the_projects_own_solvers_are_in_the_race(years: list[ReservoirYears], references: Solutions, device):
    found = raced(years, references, peers=(), solvers=("clpso", "dp"))
    assert [(entry["library"], entry["algorithm"]) for entry in found.entries] == [
        ("reservoir", "clpso"),
        ("reservoir", "dp"),
    ]
    for entry in found.entries:
        assert entry["status"] == "every year"
        assert entry["seconds"] == entry["total_seconds"] > 0
        assert entry["worst_gap"] <= 1e-4


RUN = {"seconds": 2.0, "years_within": 3, "worst_gap": 5e-5, "evaluations": 1000}
RUN |= {"total_seconds": 2.0, "start_up_seconds": 7.0, "device": "one process"}
MISSED = RUN | {"seconds": math.inf, "years_within": 2, "worst_gap": 0.1, "total_seconds": 60.0}
BLANK = {"library": "pygmo", "version": "2", "algorithm": "pso_gen", "settings": "population 40", "years": 3}


def test_a_time_is_the_median_and_missing_where_half_of_the_runs_missed_a_year():
    most = completed(BLANK, [RUN, RUN | {"seconds": 3.0}, MISSED])
    assert tuple(most[name] for name in ("seconds", "years_within", "worst_gap", "runs")) == (3.0, 2, 0.1, 3)
    assert most["status"] == "2 of 3 years"
    assert math.isnan(completed(BLANK, [RUN, MISSED])["seconds"])
    assert completed(BLANK, [RUN])["status"] == "every year"


def test_runs_are_repeated_only_as_far_as_they_fit_into_the_budget(
    years: list[ReservoirYears], references: Solutions, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(peers, "peer_runs", lambda peer, course, progress: (run for run in [RUN] * 9))
    for seconds, runs in ((1.0, 1), (6.0, 3), (600.0, 5)):
        budget = SearchBudget(seconds=seconds)
        assert raced(years, references, peers=(SCIPY,), search=budget).entries[0]["runs"] == runs


@pytest.fixture(scope="module")
def example() -> PeerRace:
    entries = (
        completed(BLANK | {"library": "reservoir", "algorithm": "clpso"}, [RUN]),
        completed(BLANK, [MISSED]),
        completed(BLANK | {"algorithm": "cmaes"}, [RUN | {"seconds": 1.0}]),
        completed(BLANK | {"library": "evosax", "version": ""}, []) | {"status": "not installed"},
    )
    return PeerRace(entries, SearchBudget())


def test_the_table_has_a_row_for_each_entrant(example: PeerRace):
    frame = example.frame()
    assert len(frame) == 4
    for column in ("library", "version", "algorithm", "settings", "seconds", "years_within", "years", "worst_gap"):
        assert column in frame
    for column in ("evaluations", "total_seconds", "start_up_seconds", "runs", "device", "status"):
        assert column in frame
    assert frame["seconds"].isna().tolist() == [False, True, False, True]
    assert example.title == "Time until 3 years are within 0.01 % of dp"


def test_the_fastest_is_on_top_and_who_did_not_get_there_is_hollow_at_the_end_of_its_time(example: PeerRace):
    assert [f"{entry['library']} {entry['algorithm']}" for entry in ranking(example)] == [
        "pygmo cmaes",
        "reservoir clpso",
        "pygmo pso_gen",
    ]
    axis = draw_peers(Figure().add_subplot(), example)
    dots = [line for line in axis.get_lines() if line.get_marker() == "o"]
    assert [dot.get_xdata()[0] for dot in dots] == [1.0, 2.0, 60.0]
    assert [dot.get_markerfacecolor() == "white" for dot in dots] == [False, False, True]
    assert [text.get_text() for text in axis.texts] == ["1 s", "2 s", "2 of 3 years"]


def test_a_time_is_drawn_with_the_years_that_one_of_the_runs_missed(example: PeerRace):
    entry = completed(BLANK, [RUN, RUN, MISSED])
    axis = draw_peers(Figure().add_subplot(), replace(example, entries=(entry,)))
    assert [text.get_text() for text in axis.texts] == ["2 s (2 of 3 years in one run)"]


def test_a_race_that_nobody_ran_is_still_a_figure(example: PeerRace):
    draw_peers(Figure().add_subplot(), replace(example, entries=example.entries[-1:])).figure.draw_without_rendering()
