"""Files of Ising spin glasses: spins, ground-state energy per spin, and a coupling a line (see data/spin/README.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.text.data_file import Mistakes, real_number, text_in_limits, whole_number
from reservoir.text.quantities import printable

#: Spins of a glass.
FEWEST, MOST = 2, 65_536
#: How far the energy of all spins may be from a whole number for the digits that a file leaves out.
_ROUNDED = 0.05
#: Energies up to this are told apart from whole numbers.
_COUNTED = 2**50


@dataclass(frozen=True, eq=False)
class SpinGlass:
    """Spins and their couplings.

    Parameters
    ----------
    name : str
        Of the file.
    spins : int
    ground_energy : float
        Of a spin.
    couplings : ndarray of int, shape (couplings, 3)
        Two spins, counted from 0, and their coupling.
    """

    name: str
    spins: int
    ground_energy: float
    couplings: NDArray[np.int64]


def read_spin_glass(path: Path) -> SpinGlass:
    """Read a file.

    Raises
    ------
    InputError
        With every mistake in it, or if it cannot be read.
    """
    lines = text_in_limits(path).splitlines()
    rows = [(row, line.split()) for row, line in enumerate(lines, start=1) if line.strip()]
    if len(rows) < 3:
        expected = "the number of spins, the ground-state energy per spin and the couplings, one per line"
        raise InputError(Mistake("is not a spin-glass file", expected, "choose another file", file=str(path)))
    mistakes = Mistakes(path)
    spins = _spins(*rows[0], mistakes)
    energy = _energy(*rows[1], mistakes)
    couplings: dict[tuple[int, int], int] = {}
    for row, words in rows[2:]:
        _couple(row, words, spins, couplings, mistakes)
    mistakes.tell()
    whole = _whole_energy(rows[1][0], energy, spins, sum(map(abs, couplings.values())), mistakes)
    table = np.array([(*pair, strength) for pair, strength in couplings.items()], np.int64)
    return SpinGlass(printable(path.name), spins, whole / spins, table)


def _spins(row: int, words: list[str], mistakes: Mistakes) -> int:
    spins = whole_number(words[0]) if len(words) == 1 else None
    if spins is not None and FEWEST <= spins <= MOST:
        return spins
    mistakes.add(
        "is not a valid number of spins", f"a whole number, {FEWEST} to {MOST:,}", row=row, value=" ".join(words)
    )
    return MOST


def _energy(row: int, words: list[str], mistakes: Mistakes) -> float:
    energy = real_number(words[0]) if len(words) == 1 else math.nan
    if not math.isfinite(energy):
        mistakes.add("is not an energy per spin", "one number", row=row, value=" ".join(words))
    return energy


def _whole_energy(row: int, energy: float, spins: int, strengths: int, mistakes: Mistakes) -> int:
    """The energy of all spins, from that of one in so many digits; `strengths` is the sum of all couplings' sizes."""
    total, expected = energy * spins, ""
    if abs(total) < _COUNTED and abs(total - round(total)) > _ROUNDED:
        expected = f"{round(total) / spins:.10g}: the couplings and the energy of all {spins:,} spins are whole numbers"
    elif not -strengths - _ROUNDED <= total <= _ROUNDED:
        expected = f"{-strengths / spins:.10g} to 0, the range that the couplings allow"
    if expected:
        mistakes.add("is not a ground-state energy", expected, row=row, value=energy)
    mistakes.tell()
    return round(total)


def _couple(row: int, words: list[str], spins: int, couplings: dict[tuple[int, int], int], mistakes: Mistakes) -> None:
    """Add the coupling of a line."""
    numbers = [whole_number(word) for word in words[:4]]
    if len(numbers) != 3 or None in numbers:
        mistakes.add("is not a coupling", "two spins and their coupling, whole numbers", row=row, value=" ".join(words))
        return
    one, other, strength = (number or 0 for number in numbers)
    pair = one - 1, other - 1
    if not (1 <= one <= spins and 1 <= other <= spins and one != other):
        mistakes.add(
            "does not couple two spins", f"two different spins, 1 to {spins:,}", row=row, value=" ".join(words)
        )
    if pair in couplings or pair[::-1] in couplings:
        expected = "one line per pair of spins, with the sum of their couplings"
        mistakes.add("couples two spins a second time", expected, row=row, value=" ".join(words))
    if abs(strength) > 10**6:
        mistakes.add("has too large a coupling", "at most 1,000,000", row=row, value=strength)
    couplings[pair] = strength
