"""Files of Ising spin glasses: spins, ground-state energy per spin, and a coupling a line (see data/spin/README.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.inflow_csv.text import text_in

#: Spins of a glass.
FEWEST, MOST = 2, 65_536
#: How far the energy of all spins may be from a whole number for the digits that a file leaves out.
_ROUNDED = 0.05


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
    rows = [(row, line.split()) for row, line in enumerate(text_in(path).splitlines(), start=1) if line.strip()]
    if len(rows) < 3:
        expected = "the number of spins, the ground-state energy per spin, and couplings, a line each"
        raise InputError(Mistake("holds no spin glass", expected, "choose another file", file=str(path)))
    mistakes: list[Mistake] = []
    spins = _spins(path, *rows[0], mistakes)
    energy = _energy(path, *rows[1], mistakes)
    couplings = [_coupling(path, row, words, spins, mistakes) for row, words in rows[2:]]
    if not mistakes and abs(energy * spins - round(energy * spins)) > _ROUNDED:
        expected = (
            f"{round(energy * spins) / spins:.10g}: couplings are whole, and so is the energy of all {spins:,} spins"
        )
        mistakes.append(Mistake("is no ground state's energy", expected, file=str(path), row=rows[1][0], value=energy))
    if mistakes:
        raise InputError(mistakes)
    return SpinGlass(path.name, spins, round(energy * spins) / spins, np.array(couplings, np.int64))


def _spins(path: Path, row: int, words: list[str], mistakes: list[Mistake]) -> int:
    if len(words) == 1 and words[0].isdecimal() and FEWEST <= int(words[0]) <= MOST:
        return int(words[0])
    expected = f"a whole number, {FEWEST} to {MOST:,}"
    mistakes.append(Mistake("is no number of spins", expected, file=str(path), row=row, value=" ".join(words)))
    return MOST


def _energy(path: Path, row: int, words: list[str], mistakes: list[Mistake]) -> float:
    try:
        energy = float(*words)
    except (TypeError, ValueError):
        energy = math.nan
    if not math.isfinite(energy):
        expected = "one number"
        mistakes.append(Mistake("is no energy per spin", expected, file=str(path), row=row, value=" ".join(words)))
    return energy


def _coupling(path: Path, row: int, words: list[str], spins: int, mistakes: list[Mistake]) -> tuple[int, int, int]:
    try:
        one, other, strength = (int(word) for word in words)
    except ValueError:
        expected = "two spins and their coupling, whole numbers"
        mistakes.append(Mistake("is no coupling", expected, file=str(path), row=row, value=" ".join(words)))
        return 0, 0, 0
    if not (1 <= one <= spins and 1 <= other <= spins and one != other):
        expected = f"two spins, 1 to {spins:,}"
        mistakes.append(Mistake("couples no two spins", expected, file=str(path), row=row, value=" ".join(words)))
    if abs(strength) > 10**6:
        mistakes.append(Mistake("couples too strongly", "1,000,000 at most", file=str(path), row=row, value=strength))
    return one - 1, other - 1, strength
