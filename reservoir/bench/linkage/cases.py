"""Which problems an experiment is on, by kind and size, and how large a population each needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reservoir import resources
from reservoir.problems.bits.problem import FAMILIES, BitProblem, spin_problem
from reservoir.problems.bits.spin_file import SpinGlass, read_spin_glass

SPIN = "spin"
#: Titles of all kinds of problems.
TITLES = {**{name: family.title for name, family in FAMILIES.items()}, SPIN: "Ising spin glass"}

#: Populations by kind and size: means of sweeps, three of each trap and ten of each bundled spin glass, by
#: ``reservoir bench dsmga2 --sweep`` on 2026-11-22 (reports/bench-dsmga2-sweep, reports/bench-dsmga2-sweep-large).
POPULATIONS: dict[str, dict[int, int]] = {
    "mk": {60: 82, 120: 86, 240: 110, 360: 114, 480: 118, 600: 116},
    "ftrap": {60: 98, 120: 120, 240: 130, 360: 200, 480: 212, 600: 242},
    "cyc": {60: 108, 120: 142, 240: 248, 360: 238, 480: 232, 600: 252},
    SPIN: {36: 28, 100: 98, 196: 46},
}


@dataclass(frozen=True)
class Case:
    """A problem of a kind (see `TITLES`) and its population; the glass is a spin glass's."""

    kind: str
    label: str
    bits: int
    population: int
    glass: SpinGlass | None = None

    def problem(self, rng_stream_id: int) -> BitProblem:
        """The problem with the random numbers of a stream."""
        if self.glass is not None:
            return spin_problem(self.glass, rng_stream_id)
        return FAMILIES[self.kind].of(self.bits, rng_stream_id)


def trap_cases(kinds: Sequence[str], sizes: Sequence[int]) -> list[Case]:
    """Traps of these kinds and sizes; InputError where a kind has no such size."""
    return [
        Case(kind, FAMILIES[kind].of(bits).label, bits, population_for(kind, bits))
        for kind in kinds
        if kind != SPIN
        for bits in sizes
    ]


def spin_cases(files: Sequence[Path]) -> list[Case]:
    """Spin glasses of files, by their spins."""
    glasses = sorted((read_spin_glass(path) for path in files), key=lambda glass: (glass.spins, glass.name))
    return [
        Case(SPIN, f"SPIN {glass.name}", glass.spins, population_for(SPIN, glass.spins), glass) for glass in glasses
    ]


def bundled_glasses(*, first_only: bool) -> list[Path]:
    """Files of the bundled spin glasses, all or the first of each size."""
    files = sorted(path for path in resources.folder("data").joinpath("spin").iterdir() if path.suffix != ".md")
    return [path for path in files if path.name.endswith("_1")] if first_only else files


def population_for(kind: str, bits: int) -> int:
    """An even population: as sweeps found, between those of the nearest sizes, or in proportion beyond the largest."""
    known = POPULATIONS[kind]
    largest = max(known)
    if bits > largest:
        return 2 * round(known[largest] * bits / largest / 2)
    population = round(float(np.interp(bits, list(known), list(known.values()))))
    return population + population % 2
