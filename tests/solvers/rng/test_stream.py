"""The host's random numbers are those of the papers they are named after."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reservoir.solvers.rng import philox4x32, seed_words, stream_states
from tests.solvers.rng import reference_random

words = st.integers(0, 2**32 - 1)

#: Known answers published with Random123: counter, key, result.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_philox_gives_its_known_answers(counter, key, expected) -> None:
    assert philox4x32(np.array(counter, np.uint32), key).tolist() == list(expected)
    assert reference_random.philox4x32(counter, key) == expected


@given(st.lists(st.tuples(words, words, words, words), min_size=1, max_size=5), st.tuples(words, words))
def test_philox_takes_many_counters_at_once(counters, key) -> None:
    expected = [reference_random.philox4x32(counter, key) for counter in counters]
    assert philox4x32(np.array(counters, np.uint32), key).tolist() == [list(each) for each in expected]


@given(st.integers(0, 2**64 - 1), words, st.integers(1, 9))
def test_a_stream_starts_from_seed_problem_and_particle_alone(seed: int, rng_stream_id: int, particles: int) -> None:
    expected = [reference_random.Stream(seed, rng_stream_id, particle).state for particle in range(particles)]
    assert stream_states(seed, rng_stream_id, particles).tolist() == expected


@given(st.integers(0, 2**64 - 1))
def test_a_seed_is_its_two_words(seed: int) -> None:
    low, high = seed_words(seed)
    assert low + (high << 32) == seed
