"""Random numbers by their place: the streams are uniform, and the paper's generator is followed step by step."""

import numpy as np
import pytest

from reservoir.solvers.rng import philox4x32, seed_words
from reservoir.solvers.two_level_pso.engine import MODULUS, NUMBER_SCHEMES, SUMMAND, NumberScheme
from tests.kernels.device import WIDTHS

NUMBERS = 40
KERNEL = """
__kernel void test(__global float *out, __global const uint *words) {
    const int first = get_global_id(0) * LANES;
    for (int place = 0; place < NUMBERS; ++place) {
        uints word;
        for (int lane = 0; lane < LANES; ++lane) UINT_OF(word, lane) = words[first + lane];
        const reals numbers = number_at(word, (uints)((uint)place));
        for (int lane = 0; lane < LANES; ++lane) out[(first + lane) * NUMBERS + place] = REAL_OF(numbers, lane);
    }
}
"""


def drawn(run, lanes, scheme, words):
    constants = {"LANES": lanes, "PARTICLES": 1, **scheme.constants(NUMBERS)}
    found = np.zeros((len(words), NUMBERS), np.float32)
    files = ["common/vector/lanes.cl", *(f"common/{name}.cl" for name in scheme.files)]
    return run(files, KERNEL, constants, found, len(words) // lanes, words)


def congruential(seed, multiplier):
    """The numbers of eq. 7-8 one after the other."""
    state, found = int(seed), []
    for _ in range(NUMBERS):
        state = (multiplier * state + SUMMAND) % MODULUS
        found.append(state / MODULUS)
    return found


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("name", ["congruential", "congruential-printed"])
def test_the_papers_generator_is_followed_number_by_number(run, lanes, name):
    scheme = NUMBER_SCHEMES[name]
    seeds = np.random.default_rng(3).integers(0, MODULUS, 16).astype(np.uint32)
    expected = np.array([congruential(seed, scheme.multiplier) for seed in seeds])
    found = drawn(run, lanes, scheme, seeds)
    assert np.all((expected - 2**-23 < found) & (found <= expected))  # cut to 23 bits, never rounded up to 1


def test_steps_at_once_are_steps_one_by_one():
    scheme, state = NumberScheme(214_013), 12_345
    for factor, summand in scheme.ahead(100).tolist():
        assert (factor * 12_345 + summand) % MODULUS == state
        state = (scheme.multiplier * state + SUMMAND) % MODULUS


def test_the_printed_multiplier_has_half_the_period():
    """21403 - 1 = 2 modulo 4: against the rule of Hull and Dobell for a full period; seen modulo 2^12."""

    def period(multiplier):
        state, seen = 0, {}
        while state not in seen:
            seen[state] = len(seen)
            state = (multiplier * state + SUMMAND) % 2**12
        return len(seen) - seen[state]

    assert period(214_013) == 2**12
    assert period(21_403) == 2**11


@pytest.mark.parametrize("lanes", WIDTHS)
def test_streams_are_the_same_in_every_lane(run, lanes):
    words = np.random.default_rng(4).integers(0, 2**32, 32, np.uint64).astype(np.uint32)
    scheme = NUMBER_SCHEMES["stream"]
    assert np.array_equal(drawn(run, lanes, scheme, words), drawn(run, 1, scheme, words))


def test_streams_are_uniform_and_places_tell_nothing_of_each_other(run):
    counter = np.zeros((4096, 4), np.uint32)
    counter[:, 0], counter[:, 3] = np.arange(4096), 1
    words = np.ascontiguousarray(philox4x32(counter, seed_words(1))[:, 0])
    found = drawn(run, 1, NUMBER_SCHEMES["stream"], words)
    assert found.min() >= 0
    assert found.max() < 1
    counts = np.histogram(found, 64, (0, 1))[0]
    assert np.sum((counts - counts.mean()) ** 2 / counts.mean()) < 63 + 5 * np.sqrt(2 * 63)
    correlations = np.corrcoef(found.T) - np.eye(NUMBERS)
    assert np.abs(correlations).max() < 5 / np.sqrt(len(words))
