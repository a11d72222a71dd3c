"""The random numbers of the solvers, in plain Python integers: written from their papers, not from the package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

WORD = 0xFFFFFFFF


def philox4x32(counter: Sequence[int], key: Sequence[int]) -> tuple[int, int, int, int]:
    """Philox4x32-10 (Salmon et al. 2011, table 2 and section 4.3)."""
    left0, right0, left1, right1 = counter[1], counter[0], counter[3], counter[2]
    key0, key1 = key
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * right0, 2**32)
        high1, low1 = divmod(0xCD9E8D57 * right1, 2**32)
        right0, left0, right1, left1 = high1 ^ left0 ^ key0, low1, high0 ^ left1 ^ key1, low0
        key0, key1 = (key0 + 0x9E3779B9) & WORD, (key1 + 0xBB67AE85) & WORD
    return right0, left0, right1, left1


class Draws(Protocol):
    """Random numbers of one particle, in the order it asks for them."""

    def uniform(self) -> np.float32:
        """A number from 0 to 1."""

    def exemplar(self) -> Exemplar:
        """What a new exemplar is chosen by."""


class Exemplar(Protocol):
    """Random numbers of one new exemplar; steps are numbered from 0, and asked for in order."""

    def rivals(self, step: int, probability: np.float32, counts: tuple[int, int]) -> tuple[int, int] | None:
        """Two numbers, each below its count, if the particle learns, else None."""

    def below(self, step: int, count: int) -> int:
        """A number in 0 .. count - 1."""


class OneByOne:
    """An exemplar whose numbers follow each other in the particle's own."""

    def __init__(self, draws: Draws) -> None:
        self.draws = draws

    def rivals(self, step: int, probability: np.float32, counts: tuple[int, int]) -> tuple[int, int] | None:
        """A draw, and two more if the particle learns."""
        if self.draws.uniform() >= probability:
            return None
        return self.below(step, counts[0]), self.below(step, counts[1])

    def below(self, step: int, count: int) -> int:
        """A draw scaled to the count; it may be 1."""
        return min(int(self.draws.uniform() * np.float32(count)), count - 1)


#: Counts that 16 bits are enough for.
FEW = 32_768


class Mixed:
    """An exemplar whose numbers are all mixed from one draw (lowbias32 of C. Wellons, stepped as SplitMix)."""

    def __init__(self, drawn: int) -> None:
        self.drawn = drawn

    def bits(self, step: int) -> int:
        """32 bits."""
        bits = (self.drawn + step * 0x9E3779B9) & WORD
        bits = ((bits ^ (bits >> 16)) * 0x7FEB352D) & WORD
        bits = ((bits ^ (bits >> 15)) * 0x846CA68B) & WORD
        return bits ^ (bits >> 16)

    def rivals(self, step: int, probability: np.float32, counts: tuple[int, int]) -> tuple[int, int] | None:
        """The bits as a fraction decide; multiplied, their halves are the rivals; of many, they and a mixture."""
        bits = self.bits(step)
        if (bits >> 9) / 2**23 >= probability:
            return None
        spread = (bits * 0x9E379E37) & WORD
        if counts[0] > FEW:
            return scaled(spread, counts[0]), scaled(Mixed(spread).bits(1), counts[1])
        return (spread >> 16) * counts[0] >> 16, (spread & 0xFFFF) * counts[1] >> 16

    def below(self, step: int, count: int) -> int:
        """The bits, scaled to the count."""
        return scaled(self.bits(step), count)


def scaled(bits: int, count: int) -> int:
    """The upper half of the bits scaled to a count, or of a large count all of them."""
    return bits * count >> 32 if count > FEW else (bits >> 16) * count >> 16


class Stream:
    """The product's own stream of one particle: xoshiro128+ (Blackman and Vigna 2021), started by Philox."""

    def __init__(self, seed: int, rng_stream_id: int, particle: int) -> None:
        self.state = list(philox4x32((particle, rng_stream_id, 0, 0), (seed & WORD, seed >> 32)))

    def bits(self) -> int:
        """32 random bits."""
        s = self.state
        result = (s[0] + s[3]) & WORD
        kept = (s[1] << 9) & WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= kept
        s[3] = ((s[3] << 11) | (s[3] >> 21)) & WORD
        return result

    def uniform(self) -> np.float32:
        """The upper 23 bits as a fraction."""
        return np.float32((self.bits() >> 9) / 2**23)

    def exemplar(self) -> Exemplar:
        """One draw for all."""
        return Mixed(self.bits())


class Congruential:
    """Eq. 14-15 of Yu et al. 2020 in OpenCL's unsigned 32-bit arithmetic: the product wraps before the modulus."""

    def __init__(self, phi: int) -> None:
        self.phi = phi

    def uniform(self) -> np.float32:
        """Eq. 15."""
        self.phi = ((1103515245 * self.phi + 12345) & WORD) % 2147483647
        return np.float32(self.phi) / np.float32(2147483647.0)

    def exemplar(self) -> Exemplar:
        """Draws that follow each other."""
        return OneByOne(self)


class Shared:
    """Numbers of one buffer from a particle's first on (Yu et al. 2020, section 4.3)."""

    def __init__(self, numbers: np.ndarray, first: int) -> None:
        self.numbers = numbers
        self.next = first

    def uniform(self) -> np.float32:
        """The next number."""
        self.next += 1
        return self.numbers[self.next - 1]

    def exemplar(self) -> Exemplar:
        """Numbers that follow each other."""
        return OneByOne(self)
