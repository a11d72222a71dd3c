"""The product's random numbers on the host: the same streams as ``kernels/common/rng/random_stream.cl``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import inlined, overload
from reservoir.problems.fitness import Context, noise_of

#: Of powers of the square of turns, and of odd powers of a ratio, the highest first.
_COSINE = tuple(map(np.float32, (-25.018335, 60.15002, -85.453934, 64.939354, -19.739208, 1.0)))
_LOGARITHM = tuple(map(np.float32, (1 / 9, 1 / 7, 1 / 5, 1 / 3, 1.0)))
#: Bits of the square root of 1/2, and by how much they fall short of those of 1.
_ROOT_BITS, _TO_ONE = np.uint32(0x3F3504F3), np.uint32(0x004AFB0D)
_FRACTION_BITS, _FRACTION = np.uint32(23), np.uint32(0x7FFFFF)


@inlined
def cosine_of_turns(turns: np.float32) -> np.float32:
    """Cosine of 2 pi `turns`, which are 0 to 1/2: a polynomial with an error under 2e-7."""
    nearest = min(turns, np.float32(0.5) - turns)
    square = nearest * nearest
    value = _COSINE[0]
    for coefficient in _COSINE[1:]:
        value = value * square + coefficient
    return -value if turns > np.float32(0.25) else value


@inlined
def logarithm(x: np.float32) -> np.float32:
    """Natural logarithm of a normal number.

    The exponent, and the series of the inverse hyperbolic tangent for the rest, which lies between the square roots of
    1/2 and of 2.
    """
    bits = np.uint32(np.float32(x).view(np.uint32) + _TO_ONE)
    exponent = np.float32(np.int32(bits >> _FRACTION_BITS)) - np.float32(127)
    rest = np.uint32((bits & _FRACTION) + _ROOT_BITS).view(np.float32)
    ratio = (rest - np.float32(1)) / (rest + np.float32(1))
    square = ratio * ratio
    series = _LOGARITHM[0]
    for coefficient in _LOGARITHM[1:]:
        series = series * square + coefficient
    return exponent * np.float32(math.log(2)) + np.float32(2) * ratio * series


@inlined
def normal(radial: np.float32, angle: np.float32) -> np.float32:
    """A standard normal number of two in [0, 1) (Box and Muller 1958)."""
    square = np.float32(-2) * logarithm(np.float32(1) - radial)
    number: np.float32 = np.sqrt(max(square, np.float32(0))) * cosine_of_turns(min(angle, np.float32(1) - angle))
    return number


@inlined
def cauchy(part: np.float32) -> np.float32:
    """A standard Cauchy number of one in (0, 1), by the inverse of its distribution; useless in the last thousandth."""
    half = np.float32(0.5)
    from_middle = max(part - half, half - part)
    tangent = cosine_of_turns(np.float32(0.25) - half * from_middle) / cosine_of_turns(half * from_middle)
    return -tangent if part < half else tangent


_MULTIPLIERS = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
_KEY_STEPS = np.array([0x9E3779B9, 0xBB67AE85], np.uint64)
_LOW = np.uint64(0xFFFFFFFF)

#: Counts up to which numbers below them are drawn from 16 bits: of more, some would be twice as likely as others.
EVEN_IN_16_BITS = 32_768


def philox4x32(counter: NDArray[np.uint32], key: tuple[int, int]) -> NDArray[np.uint32]:
    """Philox4x32-10 (Salmon et al. 2011): four random 32-bit numbers for each counter.

    Parameters
    ----------
    counter : ndarray of uint32, shape (..., 4)
    key : pair of int
        Two 32-bit words.
    """
    words = [word.astype(np.uint64) for word in np.moveaxis(np.asarray(counter), -1, 0)]
    keys = [np.uint64(word) for word in key]
    for _ in range(10):
        products = words[0] * _MULTIPLIERS[0], words[2] * _MULTIPLIERS[1]
        words = [
            (products[1] >> np.uint64(32)) ^ words[1] ^ keys[0],
            products[1] & _LOW,
            (products[0] >> np.uint64(32)) ^ words[3] ^ keys[1],
            products[0] & _LOW,
        ]
        keys = [(each + step) & _LOW for each, step in zip(keys, _KEY_STEPS, strict=True)]
    return np.stack(words, axis=-1).astype(np.uint32)


def seed_words(seed: int) -> tuple[int, int]:
    """A seed of up to 64 bits as the two words of a Philox key."""
    return seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF


class StreamKey(NamedTuple):
    """What names a problem's random numbers, for `philox_word`."""

    rng_stream_id: np.uint32
    seed_low: np.uint32
    seed_high: np.uint32


def stream_key(rng_stream_id: int, seed: int) -> StreamKey:
    """The key of a problem's stream under a seed."""
    low, high = seed_words(seed)
    return StreamKey(rng_stream_id=np.uint32(rng_stream_id), seed_low=np.uint32(low), seed_high=np.uint32(high))


def stream_states(seed: int, rng_stream_id: int, particles: int) -> NDArray[np.uint32]:
    """Starting states of the xoshiro128+ streams of a swarm, shape (particles, 4)."""
    counter = np.zeros((particles, 4), np.uint32)
    counter[:, 0] = np.arange(particles)
    counter[:, 1] = rng_stream_id
    return philox4x32(counter, seed_words(seed))


@inlined
def _advanced(
    s0: np.uint32, s1: np.uint32, s2: np.uint32, s3: np.uint32
) -> tuple[np.uint32, np.uint32, np.uint32, np.uint32, np.uint32]:
    """32 bits of a stream and its next state (xoshiro128+; Blackman and Vigna 2021)."""
    bits = np.uint32(s0 + s3)
    shifted = np.uint32(s1 << np.uint32(9))
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    return bits, s0, s1, s2, np.uint32(s3 << np.uint32(11)) | np.uint32(s3 >> np.uint32(21))


@inlined
def uniform_of(bits: np.uint32) -> np.float32:
    """A float32 in [0, 1), in steps of 2^-23."""
    return np.float32(np.int32(bits >> np.uint32(9))) * np.float32(2.0**-23)


@inlined
def philox_word(particle: int, key: StreamKey, generation: int) -> np.uint32:
    """First word of `philox4x32` of (particle, stream, generation, 1) under the key of the seed's two words."""
    x, y, z, w = np.uint32(particle), key.rng_stream_id, np.uint32(generation), np.uint32(1)
    low, high = key.seed_low, key.seed_high
    for _ in range(10):
        one, other = np.uint64(0xD2511F53) * np.uint64(x), np.uint64(0xCD9E8D57) * np.uint64(z)
        x, z = (
            np.uint32(np.uint32(other >> np.uint64(32)) ^ y ^ low),
            np.uint32(np.uint32(one >> np.uint64(32)) ^ w ^ high),
        )
        y, w = np.uint32(other & np.uint64(0xFFFFFFFF)), np.uint32(one & np.uint64(0xFFFFFFFF))
        low, high = np.uint32(low + np.uint32(0x9E3779B9)), np.uint32(high + np.uint32(0xBB67AE85))
    return x


@inlined
def next_bits(states: NDArray[np.uint32], particle: int) -> np.uint32:
    """Advance one stream and return 32 bits."""
    s0, s1, s2, s3 = states[particle, 0], states[particle, 1], states[particle, 2], states[particle, 3]
    bits, states[particle, 0], states[particle, 1], states[particle, 2], states[particle, 3] = _advanced(s0, s1, s2, s3)
    return bits


@inlined
def fill_uniform(
    states: NDArray[np.uint32], particle: int, drawn: NDArray[np.float32], unrolled: tuple[int, ...]
) -> None:
    """Fill the first numbers of `drawn` as `next_uniform` would; the state stays in registers meanwhile."""
    s0, s1, s2, s3 = states[particle, 0], states[particle, 1], states[particle, 2], states[particle, 3]
    for d in range(len(unrolled) or len(drawn)):
        bits, s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        drawn[d] = uniform_of(bits)
    states[particle, 0], states[particle, 1], states[particle, 2], states[particle, 3] = s0, s1, s2, s3


@inlined
def next_uniform(states: NDArray[np.uint32], particle: int) -> np.float32:
    """A float32 in [0, 1), in steps of 2^-23."""
    return uniform_of(next_bits(states, particle))


@inlined
def mixed(drawn: np.uint32, step: int) -> np.uint32:
    """32 bits for each step from one draw, so that steps do not wait for each other.

    SplitMix with the mixer lowbias32 of C. Wellons.
    """
    bits = np.uint32(drawn + np.uint32(np.uint32(step) * np.uint32(0x9E3779B9)))
    bits = np.uint32((bits ^ (bits >> np.uint32(16))) * np.uint32(0x7FEB352D))
    bits = np.uint32((bits ^ (bits >> np.uint32(15))) * np.uint32(0x846CA68B))
    return np.uint32(bits ^ (bits >> np.uint32(16)))


@inlined
def below(bits: np.uint32, count: int) -> int:
    """A number in 0 .. count - 1 from 32 bits.

    From the upper 16 of them, unless these would make some numbers twice as likely as others.
    """
    if count > EVEN_IN_16_BITS:
        return int(np.int64((np.uint64(bits) * np.uint64(count)) >> np.uint64(32)))
    return _in_16_bits(bits >> np.uint32(16), count)


@inlined
def _in_16_bits(bits: np.uint32, count: int) -> int:
    return int((np.int64(bits) * np.int64(count)) >> 16)


@inlined
def rivals(bits: np.uint32, probability: np.float32, count: int, other_count: int) -> tuple[np.bool_, int, int]:
    """Whether a particle learns, and two numbers, below `count` and `other_count`, that it would choose between.

    What is left of the bits below the probability is spread over 32 bits by a multiplication; their halves are the two
    numbers, or where 16 bits are too few, they and their mixture.
    """
    spread = np.uint32(bits * np.uint32(0x9E379E37))
    learns = np.float32(bits >> np.uint32(9)) < probability * np.float32(2.0**23)
    if count > EVEN_IN_16_BITS:
        return learns, below(spread, count), below(mixed(spread, 1), other_count)
    return (
        learns,
        _in_16_bits(spread >> np.uint32(16), count),
        _in_16_bits(spread & np.uint32(0xFFFF), other_count),
    )


def fresh_noise(context: Context, states: NDArray[np.uint32], particle: int) -> np.float32:
    """What is added to a fitness, drawn from the particle's stream if the problem is noisy."""
    raise NotImplementedError("call this from compiled code")


@overload(fresh_noise)
def _fresh_noise(context: Any, states: Any, particle: Any) -> Callable[..., Any]:
    kind: Any = getattr(context, "instance_class", None)
    noise = noise_of(kind)
    if noise == 0:
        return lambda context, states, particle: np.float32(0)
    return lambda context, states, particle: np.float32(noise) * next_uniform(states, particle)
