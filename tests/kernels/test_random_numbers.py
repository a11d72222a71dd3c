"""Every scheme's numbers are the same on the device as in plain Python, at every width of vectors."""

import numpy as np
import pytest

from reservoir.solvers.island_ga.sequential import place_below
from reservoir.solvers.rng import seed_words, stream_states
from tests.kernels.device import WIDTHS, Run
from tests.solvers.rng.reference_random import Congruential, Draws, Shared, Stream

SEED, STREAMS, COUNT = (3 << 32) + 77, (1953, 2014), 40
PARTICLES, DRAWS, PROBABILITY = 16, 12, 0.3
CONGRUENTIAL_FILES = ("common/vector/lanes.cl", "common/rng/random_congruential.cl", "common/rng/random_one_by_one.cl")
HOST_FILES = ("common/vector/lanes.cl", "common/rng/random_host.cl", "common/rng/random_one_by_one.cl")
STREAM_FILES = ("common/vector/lanes.cl", "common/rng/philox.cl", "common/rng/random_stream.cl")

PHILOX = """
__kernel void test(__global uint4 *out, __global const uint4 *counters, __global const uint2 *keys) {
    const int i = get_global_id(0);
    out[i] = philox4x32(counters[i], keys[i]);
}
"""
KNOWN = np.array(
    [
        [0, 0, 0, 0, 0, 0, 0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8],
        [*[0xFFFFFFFF] * 6, 0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
    ],
    np.uint32,
)

PLACES = """
__kernel void test(__global int *out, __global const uint *words) {
    out[get_global_id(0)] = place_below(words[get_global_id(0)], 3, COUNT);
}
"""

#: Whole vectors; in one lane of every three an exemplar's numbers, which leave the others' streams alone: whether it
#: learns (-1 if not) and the rivals, then a number below; then whole vectors again.
SEQUENCE = """
__kernel void test(__global float *out, RANDOM_ARGUMENTS) {
    const int vectors = SWARM / LANES;
    const int problem = get_global_id(0) / vectors, first = get_global_id(0) % vectors * LANES;
    __global float *mine = out + (problem * SWARM + first) * 4 * DRAWS;
    Random random;
    random_start(&random, problem, first, RANDOM_VALUES);
    for (int k = 0; k < DRAWS; ++k) {
        const reals drawn = random_lanes(&random, 1.0f);
        for (int lane = 0; lane < LANES; ++lane) mine[lane * 4 * DRAWS + k] = ((const float *)&drawn)[lane];
    }
    const Draws draws = random_draws(&random, ((ints)(LANE_NUMBERS) + first) % 3 == 0);
    for (int lane = 0; lane < LANES; ++lane) {
        for (int k = 0; k < 2 * DRAWS; ++k) mine[lane * 4 * DRAWS + DRAWS + k] = 0;
        if ((first + lane) % 3) continue;
        const Drawn drawn = drawn_by(&draws, lane);
        for (int k = 0; k < DRAWS / 2; ++k) {
            int2 rivals;
            const bool learns = random_rivals(&drawn, k, PROBABILITY, COUNT, COUNT - 1, &rivals);
            mine[lane * 4 * DRAWS + DRAWS + 2 * k] = learns ? rivals.x : -1;
            mine[lane * 4 * DRAWS + DRAWS + 2 * k + 1] = learns ? rivals.y : -1;
        }
        mine[lane * 4 * DRAWS + 2 * DRAWS] = random_below(&drawn, DRAWS / 2, COUNT);
    }
    for (int k = 0; k < DRAWS; ++k) {
        const reals drawn = random_lanes(&random, 1.0f);
        for (int lane = 0; lane < LANES; ++lane) mine[lane * 4 * DRAWS + 3 * DRAWS + k] = ((const float *)&drawn)[lane];
    }
}
"""


def sequence_of(draws: Draws, particle: int, count: int = COUNT) -> list[float]:
    """What the kernel draws for one particle."""
    whole: list[float] = [draws.uniform() for _ in range(DRAWS)]
    chosen: list[float] = [0.0] * 2 * DRAWS
    if particle % 3 == 0:
        drawn = draws.exemplar()
        for k in range(DRAWS // 2):
            chosen[2 * k : 2 * k + 2] = drawn.rivals(k, np.float32(PROBABILITY), (count, count - 1)) or (-1, -1)
        chosen[DRAWS] = drawn.below(DRAWS // 2, count)
    return [*whole, *chosen, *(draws.uniform() for _ in range(DRAWS))]


def drawn_on_device(run: Run, files: tuple[str, ...], lanes: int, *arguments: object, **constants: int) -> np.ndarray:
    """What the kernel draws, shape (problems, particles, numbers)."""
    given = {
        "LANES": lanes,
        "SWARM": PARTICLES,
        "DRAWS": DRAWS,
        "COUNT": COUNT,
        "PROBABILITY": PROBABILITY,
        **constants,
    }
    out = np.zeros((len(STREAMS), PARTICLES, 4 * DRAWS), np.float32)
    return run(files, SEQUENCE, given, out, len(STREAMS) * PARTICLES // lanes, *arguments)


def test_philox_gives_its_known_answers_on_the_device(run: Run) -> None:
    counters, keys = np.ascontiguousarray(KNOWN[:, :4]), np.ascontiguousarray(KNOWN[:, 4:6])
    out = run(
        ["common/vector/lanes.cl", "common/rng/philox.cl"],
        PHILOX,
        {"LANES": 1},
        np.zeros((2, 4), "u4"),
        2,
        counters,
        keys,
    )
    np.testing.assert_array_equal(out, KNOWN[:, 6:])


@pytest.mark.parametrize("lanes", WIDTHS)
def test_our_own_streams_are_the_same_bits_on_the_device(run: Run, lanes: int) -> None:
    low, high = seed_words(SEED)
    arguments = np.uint32(low), np.uint32(high), np.array(STREAMS, np.uint32)
    expected = [
        [sequence_of(Stream(SEED, stream, particle), particle) for particle in range(PARTICLES)] for stream in STREAMS
    ]
    np.testing.assert_array_equal(drawn_on_device(run, STREAM_FILES, lanes, *arguments), np.array(expected, "f4"))


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("count", [32_768, 32_770, 65_536])
def test_many_to_draw_from_are_drawn_with_all_bits(run: Run, lanes: int, count: int) -> None:
    low, high = seed_words(SEED)
    arguments = np.uint32(low), np.uint32(high), np.array(STREAMS, np.uint32)
    expected = [
        [sequence_of(Stream(SEED, stream, particle), particle, count) for particle in range(PARTICLES)]
        for stream in STREAMS
    ]
    found = drawn_on_device(run, STREAM_FILES, lanes, *arguments, COUNT=count, WIDE_DRAWS=1)
    np.testing.assert_array_equal(found, np.array(expected, "f4"))


@pytest.mark.parametrize("count", [1, 41, 32_768, 32_769, 49_152, 65_536])
def test_places_are_the_same_on_the_device_and_in_compiled_python(run: Run, count: int) -> None:
    words = np.random.default_rng(9).integers(0, 2**32, 500, np.uint64).astype(np.uint32)
    files = ("common/vector/lanes.cl", "common/rng/philox.cl", "common/rng/numbers_of_streams.cl")
    found = run(files, PLACES, {"LANES": 1, "COUNT": count}, np.zeros(len(words), np.int32), len(words), words)
    assert found.tolist() == [place_below.py_func(word, 3, count) for word in words]
    assert 0 <= found.min() <= found.max() < count


@pytest.mark.parametrize("lanes", WIDTHS)
def test_congruential_numbers_are_those_of_eq_14_and_15(run: Run, lanes: int) -> None:
    seeds = np.random.default_rng(5).integers(1, 2**31 - 1, (len(STREAMS), PARTICLES), np.uint32)
    seeds[0, 0], seeds[1, 3] = 1, 2**31 - 2
    found = drawn_on_device(run, CONGRUENTIAL_FILES, lanes, seeds)
    expected = [
        [sequence_of(Congruential(int(seeds[problem, particle])), particle) for particle in range(PARTICLES)]
        for problem in range(len(STREAMS))
    ]
    np.testing.assert_allclose(found, np.array(expected, "f4"), rtol=2e-7)


@pytest.mark.parametrize("lanes", WIDTHS)
def test_shared_numbers_begin_where_the_paper_says(run: Run, lanes: int) -> None:
    """Particle i of swarm m begins with number PER_PARTICLE i + m, and padding particles read no further."""
    share, particles = 4 * DRAWS, 13
    numbers = np.random.default_rng(6).random(share * particles + len(STREAMS) - 1, np.float32)
    constants = {"PER_PARTICLE": share, "PARTICLES": particles}
    found = drawn_on_device(run, HOST_FILES, lanes, numbers, **constants)
    for problem in range(len(STREAMS)):
        for particle in range(particles):
            expected = sequence_of(Shared(numbers, share * particle + problem), particle)
            np.testing.assert_array_equal(found[problem, particle], np.array(expected, "f4"))


def test_two_swarms_share_their_numbers_but_for_one(run: Run) -> None:
    numbers = np.random.default_rng(6).random(1000, np.float32)
    constants = {"PER_PARTICLE": 60, "PARTICLES": PARTICLES}
    first, second = drawn_on_device(run, HOST_FILES, 4, numbers, **constants)
    np.testing.assert_array_equal(first[:, 1:DRAWS], second[:, : DRAWS - 1])


def test_streams_of_particles_problems_and_seeds_are_unlike(run: Run) -> None:
    starts = [stream_states(seed, stream, 8) for seed in (1, 2, 1 << 32) for stream in STREAMS]
    assert len({state.tobytes() for states in starts for state in states}) == 6 * 8


def test_a_stream_is_uniform(run: Run) -> None:
    low, high = seed_words(SEED)
    arguments = np.uint32(low), np.uint32(high), np.array(STREAMS, np.uint32)
    given = {"LANES": 16, "SWARM": 8192, "DRAWS": DRAWS, "COUNT": COUNT, "PROBABILITY": PROBABILITY}
    out = run(STREAM_FILES, SEQUENCE, given, np.zeros((2, 8192, 4 * DRAWS), "f4"), 1024, *arguments)
    whole = np.sort(out[..., :DRAWS].ravel())
    assert whole[0] >= 0
    assert whole[-1] < 1
    np.testing.assert_allclose(whole, np.linspace(0, 1, whole.size), atol=0.01)
    chosen = out[:, ::3, DRAWS : 2 * DRAWS].astype(int)
    assert np.mean(chosen >= 0) == pytest.approx(PROBABILITY, abs=0.01)
    rivals = chosen.reshape(-1, 2)
    rivals = rivals[rivals[:, 0] >= 0]
    for one, count in zip(rivals.T, (COUNT, COUNT - 1), strict=True):
        counts = np.bincount(one, minlength=count)
        assert len(counts) == count
        np.testing.assert_allclose(counts / counts.mean(), 1, atol=0.25)
    assert abs(np.corrcoef(rivals.T)[0, 1]) < 0.05


def test_the_papers_generator_runs_into_short_cycles() -> None:
    """Eq. 14 is no bijection in unsigned 32-bit arithmetic: the benchmark's report says so."""

    def cycle(phi: int) -> int:
        draws = Congruential(phi)
        for _ in range(350_000):
            draws.uniform()
        start, length = draws.phi, 1
        draws.uniform()
        while draws.phi != start:
            draws.uniform()
            length += 1
        return length

    found = [cycle(phi) for phi in (1, 12_345, 2_000_000_011)]
    assert set(found) <= {9615, 12_205, 12_332, 14_475}
    assert 9615 in found
