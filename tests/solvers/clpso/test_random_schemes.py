"""The paper's two schemes of random numbers (sections 4.1-4.3) do what the paper says, and plan as well as our own."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import DeviceError, InputError
from reservoir.opencl import DeviceInfo, Session
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import Solutions, solve
from reservoir.solvers.clpso import RELAXED, STRICT, SwarmSettings
from reservoir.solvers.clpso.engine import ClpsoEngine, numbers_per_particle
from tests.solvers.clpso.reference_clpso import Swarm
from tests.solvers.engines import CHOOSE_DEVICES
from tests.solvers.rng.reference_random import Congruential, Draws, Shared
from tests.solvers.toys import NOISE, Toy

PAPERS = ("kernel", "host")
PARTICLES, GENERATIONS, SWARMS = 8, 30, 3


@pytest.fixture
def uploads(monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """What the engine copies to the device."""
    seen: dict[str, np.ndarray] = {}
    upload = Session.upload

    def watched(self: Session, /, **arrays: np.ndarray) -> None:
        seen.update(arrays)
        upload(self, **arrays)

    monkeypatch.setattr(Session, "upload", watched)
    return seen


@pytest.mark.parametrize(
    ("dimension", "generations", "count"), [(12, 10_000, 174_326), (30, 5_000, 215_840), (12, 7, 146), (12, 8, 196)]
)
def test_a_particle_needs_as_many_numbers_as_the_paper_counts(dimension: int, generations: int, count: int) -> None:
    assert numbers_per_particle(SwarmSettings(generations=generations), dimension) == count


def test_the_case_study_shares_seven_million_numbers(
    device: DeviceInfo, monkeypatch: pytest.MonkeyPatch, years: list[ReservoirYears]
) -> None:
    """2ND + 3((K-1)/7+1)ND + 2((K-1)/7+1)N + KND + M - 1 of them, with N = 40, D = 12, K = 10,000 and M = 62."""
    asked: dict[str, object] = {}

    def watched(self: Session, /, **buffers: object) -> None:
        asked.update(buffers)
        if "numbers" in buffers:
            raise InterruptedError

    monkeypatch.setattr(Session, "allocate", watched)
    with pytest.raises(InterruptedError):
        solve(years[:1] * 62, solver="clpso", random="host")
    assert asked["numbers"] == (174_326 * 40 + 61, np.float32)


def _congruential(uploads: dict[str, np.ndarray], toy: Toy) -> Callable[[int, int], Draws]:
    return lambda swarm, particle: Congruential(int(uploads["seeds"][swarm, particle]))


def _shared(uploads: dict[str, np.ndarray], toy: Toy) -> Callable[[int, int], Draws]:
    count = numbers_per_particle(SwarmSettings(generations=GENERATIONS), toy.dimension, toy.noisy)
    return lambda swarm, particle: Shared(uploads["numbers"], count * particle + swarm)


@pytest.mark.parametrize(("scheme", "draws_of"), [("kernel", _congruential), ("host", _shared)], ids=PAPERS)
@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_swarms_move_as_the_paper_says_from_the_papers_numbers(
    device: DeviceInfo, uploads: dict[str, np.ndarray], scheme: str, draws_of, lanes: int
) -> None:
    toys = [Toy(rng_stream_id=stream) for stream in range(SWARMS)]
    settings = {"particles": PARTICLES, "generations": GENERATIONS, "trace_points": GENERATIONS}
    found = solve(toys, solver="clpso", random=scheme, lanes=lanes, **settings)
    numbers = draws_of(uploads, toys[0])
    for index, (toy, solution) in enumerate(zip(toys, found, strict=True)):
        draws = [numbers(index, particle) for particle in range(PARTICLES)]
        expected = Swarm(toy.fitness, toy.lower, toy.upper, GENERATIONS, draws).run()
        np.testing.assert_allclose(solution.trace_fitness, expected.trace, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(solution.position, expected.leader.best, rtol=1e-3, atol=1e-4)
        assert solution.evaluations == expected.evaluations


@pytest.mark.parametrize("options", [{}, {"noisy": True}, {"exemplars": STRICT}], ids=["plain", "noisy", "strict"])
@pytest.mark.parametrize(
    ("model", "draws_of"), [("basic", _congruential), ("intermediate", _shared), ("final", _shared)]
)
def test_the_papers_models_move_as_the_paper_says(
    device: DeviceInfo, uploads: dict[str, np.ndarray], model: str, draws_of, options: dict[str, object]
) -> None:
    noisy, exemplars = bool(options.get("noisy")), str(options.get("exemplars", RELAXED))
    toys = [Toy(rng_stream_id=stream, noisy=noisy) for stream in range(SWARMS)]
    settings = {"particles": PARTICLES, "generations": GENERATIONS, "trace_points": GENERATIONS, "exemplars": exemplars}
    found = solve(toys, solver="clpso", model=model, **settings)
    numbers = draws_of(uploads, toys[0])
    for index, (toy, solution) in enumerate(zip(toys, found, strict=True)):
        assert solution.settings["model"] == model
        draws = [numbers(index, particle) for particle in range(PARTICLES)]
        swarm = Swarm(
            toy.fitness, toy.lower, toy.upper, GENERATIONS, draws,
            strict=exemplars == STRICT, noise=NOISE if noisy else 0.0,
        ).run()  # fmt: skip
        np.testing.assert_allclose(solution.trace_fitness, swarm.trace, rtol=1e-3, atol=1e-5)
        assert solution.evaluations == swarm.evaluations


def test_a_model_may_take_other_random_numbers_but_no_other_layout(device: DeviceInfo) -> None:
    found = solve([Toy()], solver="clpso", model="basic", random="stream", particles=8, generations=9)
    ours = solve([Toy()], solver="clpso", particles=8, generations=9)
    np.testing.assert_allclose(found[0].position, ours[0].position, rtol=1e-4)
    with pytest.raises(InputError, match="one particle per work item"):
        solve([Toy()], solver="clpso", model="final", lanes=4)
    with pytest.raises(InputError, match=r"no such model.*basic, intermediate, final, lanes"):
        solve([Toy()], solver="clpso", model="fast")


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("generations", [1, 7, 8, 30])
def test_no_particle_reads_beyond_its_share_of_the_numbers(
    device: DeviceInfo, uploads: dict[str, np.ndarray], generations: int, noisy: bool
) -> None:
    """A plain is never improved upon, so that exemplars are chosen as often as can be."""
    toy = Toy(slope=0.0, noisy=noisy)
    solve([toy] * SWARMS, solver="clpso", random="host", particles=7, generations=generations)
    count = numbers_per_particle(SwarmSettings(generations=generations), toy.dimension, noisy)
    assert len(uploads["numbers"]) == count * 7 + SWARMS - 1
    draws = [Shared(uploads["numbers"], count * particle + SWARMS - 1) for particle in range(7)]
    Swarm(toy.fitness, toy.lower, toy.upper, generations, draws, noise=NOISE if noisy else 0.0).run()
    assert all(draw.next <= count * (particle + 1) + SWARMS - 1 for particle, draw in enumerate(draws))


@pytest.mark.parametrize("scheme", PAPERS)
def test_one_seed_gives_the_same_bytes_and_another_others(
    device: DeviceInfo, years: list[ReservoirYears], scheme: str
) -> None:
    def run(seed: int) -> list[bytes]:
        found = solve(years[:2], solver="clpso", random=scheme, seed=seed, generations=100)
        return [each.position.tobytes() for each in found]

    assert run(1) == run(1)
    assert all(one != other for one, other in zip(run(1), run(2), strict=True))


@pytest.mark.parametrize("scheme", PAPERS)
def test_the_papers_schemes_are_never_cut_into_launches(
    device: DeviceInfo, monkeypatch: pytest.MonkeyPatch, years: list[ReservoirYears], scheme: str
) -> None:
    monkeypatch.setitem(ClpsoEngine.launch_evaluations, device.kind, 1)
    monkeypatch.setattr(CHOOSE_DEVICES, lambda _: (replace(device, compute_units=1),))
    told: list[int] = []
    solve(years, solver="clpso", random=scheme, generations=10, progress=lambda done, total: told.append(done))
    assert told == [5]


@pytest.mark.parametrize("scheme", PAPERS)
def test_the_papers_schemes_plan_as_well_as_our_own(
    device: DeviceInfo, years: list[ReservoirYears], reference_optima: Solutions, scheme: str
) -> None:
    found = solve(years, solver="clpso", random=scheme, generations=3000)
    for solution, best in zip(found, reference_optima, strict=True):
        assert solution.violation == 0
        assert solution.fitness > (1 - 2e-3) * best.fitness


def test_numbers_too_many_for_one_buffer_are_refused_before_any_are_made(
    device: DeviceInfo, monkeypatch: pytest.MonkeyPatch, years: list[ReservoirYears]
) -> None:
    monkeypatch.setattr(CHOOSE_DEVICES, lambda _: (replace(device, max_allocation_bytes=1 << 20),))
    monkeypatch.setattr(np.random, "Generator", None)
    with pytest.raises(DeviceError, match=r"numbers needs a buffer of 27,892,160 bytes.*at most 1,048,576 bytes"):
        solve(years[:1], solver="clpso", random="host")


def test_an_unknown_scheme_is_answered_with_those_there_are(device: DeviceInfo, years: list[ReservoirYears]) -> None:
    with pytest.raises(InputError, match=r"no such random number scheme.*stream, kernel, host"):
        solve(years[:1], solver="clpso", random="dice")
