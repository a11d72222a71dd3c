"""Problems of bit strings: traps and spin glasses, and files of the latter."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.elementwise import RealArray
from reservoir.hydro.jit import compiled
from reservoir.problems.base import BITS, Certified, FloatArray, KernelProblem
from reservoir.problems.fitness import fitness_of, register_fitness
from reservoir.text.data_file import Mistakes, real_number, text_in_limits, whole_number
from reservoir.text.quantities import printable

#: Spins of a glass.
FEWEST, MOST = 2, 65_536
#: How far the energy of all spins may be from a whole number for the digits that a file leaves out.
_ROUNDED = 0.05
#: Energies up to this are told apart from whole numbers.
_COUNTED = 2**50


class BlockContext(NamedTuple):
    """Blocks of neighbouring bits in a ring, each judged by how many of its bits are set."""

    values: NDArray[np.float64]  # (size + 1,), by the bits that are set
    stride: int  # from the first bit of a block to that of the next
    blocks: int


class SpinContext(NamedTuple):
    """Couplings of spins."""

    one: NDArray[np.int32]  # (couplings,)
    other: NDArray[np.int32]  # (couplings,)
    strength: NDArray[np.int32]  # (couplings,)


def _block_fitness(context: BlockContext, position: NDArray[np.uint8], scratch: RealArray) -> float:
    size, bits = len(context.values) - 1, context.blocks * context.stride
    total = 0.0
    for block in range(context.blocks):
        first, unitation = block * context.stride, 0
        for place in range(first, first + size):
            unitation += position[place if place < bits else place - bits]
        total += context.values[unitation]
    return total


def _spin_fitness(context: SpinContext, position: NDArray[np.uint8], scratch: RealArray) -> float:
    """Sum of J x x over the couplings, by the spins: x x is 1 - 2 (bits differ)."""
    total = 0
    for coupling in range(len(context.strength)):
        apart = position[context.one[coupling]] ^ position[context.other[coupling]]
        total += context.strength[coupling] * (1 - 2 * np.int64(apart))
    fitness: float = total / (scratch.shape[1] - 1)
    return fitness


register_fitness(BlockContext, _block_fitness)
register_fitness(SpinContext, _spin_fitness)


#: A trap's value by the bits that are set (eq. 1 with k = 5), and a folded trap's (k = 6).
TRAP = (*(0.8 * (4 - ones) / 4 for ones in range(5)), 1.0)
FOLDED_TRAP = (1.0, 0.0, 0.4, 0.8, 0.4, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class BitProblem:
    """A problem of bit strings (implements `Problem`).

    Parameters
    ----------
    label : str
    dimension : int
        Bits.
    context : BlockContext or SpinContext
    optimum : float
        The best fitness there is.
    rng_stream_id : int
        Names its random numbers.
    """

    encoding = BITS

    label: str
    dimension: int
    context: BlockContext | SpinContext = field(repr=False)
    optimum: float
    rng_stream_id: int = 0

    @property
    def lower(self) -> FloatArray:
        """Zeros, shape (bits,)."""
        return np.zeros(self.dimension)

    @property
    def upper(self) -> FloatArray:
        """Ones, shape (bits,)."""
        return np.ones(self.dimension)

    @property
    def program_key(self) -> Hashable:
        """Problems with equally many bits."""
        return BITS, self.dimension

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """There is none."""
        raise NotImplementedError("bits are judged on the host")

    def kernel_context(self) -> NDArray[np.float32]:
        """There is none."""
        raise NotImplementedError("bits are judged on the host")

    def compiled_context(self, *, fine: bool = False) -> Any:
        """Blocks or couplings."""
        return self.context

    def certify(self, position: FloatArray) -> Certified:
        """Fitness in float64."""
        genes = np.asarray(position).astype(np.uint8)
        fitness = float(_fitness(self.context, genes, np.empty((2, self.dimension + 1))))
        return Certified(fitness, fitness, 0.0)


@compiled
def _fitness(context: BlockContext | SpinContext, genes: NDArray[np.uint8], scratch: FloatArray) -> float:
    return fitness_of(context, genes, scratch)


@dataclass(frozen=True)
class Family:
    """Problems of one kind in many sizes.

    Parameters
    ----------
    name, title : str
        As in the paper's figures.
    values : tuple of float
        Of a block, by the bits that are set.
    stride : int
        From the first bit of a block to that of the next; sizes are multiples of it.
    """

    name: str
    title: str
    values: tuple[float, ...]
    stride: int

    def of(self, bits: int, rng_stream_id: int = 0) -> BitProblem:
        """The problem of so many bits; InputError if there is none."""
        if bits < 2 * self.stride or bits % self.stride:
            expected = f"a multiple of {self.stride}, at least two blocks"
            raise InputError(f"invalid number of bits for a {self.title.lower()}", expected, value=bits)
        blocks = bits // self.stride
        context = BlockContext(np.array(self.values), self.stride, blocks)
        return BitProblem(f"{self.name.upper()} {bits}", bits, context, float(blocks), rng_stream_id)


FAMILIES = {
    family.name: family
    for family in (
        Family("mk", "Concatenated trap", TRAP, 5),
        Family("ftrap", "Folded trap", FOLDED_TRAP, 6),
        Family("cyc", "Cyclic trap", TRAP, 4),
    )
}


def read_spin_glass(path: Path) -> BitProblem:
    """The ground state of a spin glass, by its file.

    Raises
    ------
    InputError
        With every mistake in it, or if it cannot be read.
    """
    lines = text_in_limits(path).splitlines()
    rows = [(row, line.split()) for row, line in enumerate(lines, start=1) if line.strip()]
    if len(rows) < 3:
        expected = "the number of spins, the ground-state energy per spin and the couplings, one per line"
        raise InputError("is not a spin-glass file", expected, "choose another file", file=str(path))
    mistakes = Mistakes(path)
    (row, words), (energy_row, energy_words), *others = rows
    spins = (whole_number(words[0]) if len(words) == 1 else None) or 0
    if not FEWEST <= spins <= MOST:
        expected = f"a whole number, {FEWEST} to {MOST:,}"
        mistakes.add("is not a valid number of spins", expected, row=row, value=" ".join(words))
        spins = MOST
    energy = real_number(energy_words[0]) if len(energy_words) == 1 else math.nan
    if not math.isfinite(energy):
        mistakes.add("is not an energy per spin", "one number", row=energy_row, value=" ".join(energy_words))
    couplings: dict[tuple[int, int], int] = {}
    for row, words in others:
        _couple(row, words, spins, couplings, mistakes)
    mistakes.tell()
    total, strengths = energy * spins, sum(map(abs, couplings.values()))
    expected = ""
    if abs(total) < _COUNTED and abs(total - round(total)) > _ROUNDED:
        expected = f"{round(total) / spins:.10g}: the couplings and the energy of all {spins:,} spins are whole numbers"
    elif not -strengths - _ROUNDED <= total <= _ROUNDED:
        expected = f"{-strengths / spins:.10g} to 0, the range that the couplings allow"
    if expected:
        mistakes.add("is not a ground-state energy", expected, row=energy_row, value=energy)
    mistakes.tell()
    table = np.array([(*pair, strength) for pair, strength in couplings.items()], np.int32)
    context = SpinContext(*map(np.ascontiguousarray, table.T))
    return BitProblem(f"SPIN {printable(path.name)}", spins, context, -(round(total) / spins))


def _couple(row: int, words: list[str], spins: int, couplings: dict[tuple[int, int], int], mistakes: Mistakes) -> None:
    """Add the coupling of a line."""
    numbers, text = [whole_number(word) for word in words[:4]], " ".join(words)
    if len(numbers) != 3 or None in numbers:
        mistakes.add("is not a coupling", "two spins and their coupling, whole numbers", row=row, value=text)
        return
    one, other, strength = (number or 0 for number in numbers)
    pair = one - 1, other - 1
    if not (1 <= one <= spins and 1 <= other <= spins and one != other):
        mistakes.add("does not couple two spins", f"two different spins, 1 to {spins:,}", row=row, value=text)
    if pair in couplings or pair[::-1] in couplings:
        expected = "one line per pair of spins, with the sum of their couplings"
        mistakes.add("couples two spins a second time", expected, row=row, value=text)
    if abs(strength) > 10**6:
        mistakes.add("has too large a coupling", "at most 1,000,000", row=row, value=strength)
    couplings[pair] = strength
