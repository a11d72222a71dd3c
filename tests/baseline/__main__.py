"""Time the sequential engine against plain C, turn about: ``python -m tests.baseline``."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from reservoir.cases import bundled_case
from reservoir.problems.reservoir.year import reservoir_problems
from reservoir.solvers import solve
from reservoir.solvers.clpso import SwarmSettings
from tests.baseline.plain_c import FLAGS, PlainC

REPEATS = 5


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    """Print medians and their ratio."""
    case = bundled_case()
    years = reservoir_problems(case.reservoir(), case.inflow())
    with tempfile.TemporaryDirectory() as folder:
        program = PlainC(years[0], SwarmSettings(), Path(folder))
        solve(years[:1], solver="clpso-sequential", generations=10)  # compiles
        pairs = [
            (
                _seconds(lambda seed=seed: solve(years, solver="clpso-sequential", seed=seed, threads=1)),  # type: ignore[misc]
                _seconds(lambda seed=seed: program.solve(years, seed)),  # type: ignore[misc]
            )
            for seed in range(1, REPEATS + 1)
        ]
    sequential, plain = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"clpso-sequential {sequential:.3f} s, plain C ({' '.join(FLAGS[:3])}) {plain:.3f} s: {sequential / plain:.2f}"
    )


main()
