"""Which findings of Yu et al. 2020, section 5.2, hold on this device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from reservoir.bench.models.engines import SEQUENTIAL, SEQUENTIAL_STRICT
from reservoir.bench.models.reference import PAPER_MILLISECONDS
from reservoir.bench.models.runs import of_engine
from reservoir.bench.models.tables import engines_of, functions_of, t_tests
from reservoir.bench.result import ResultTable
from reservoir.planning.validation import SIGNIFICANCE
from reservoir.solvers.clpso.models import MODELS

_PAPER_ENGINES = (SEQUENTIAL, "basic", "intermediate", "final")
#: Engines whose times differ by less are as fast as each other.
_ALIKE = 0.05


class Finding(NamedTuple):
    """A sentence of the paper, its figure there and here, and whether it holds."""

    finding: str
    paper: str
    here: str
    holds: str


def findings(runs: pd.DataFrame) -> list[Finding]:
    """Those that the engines and functions that ran can tell of."""
    present = set(engines_of(runs))
    told = ((needed, tell) for needed, tell in _TOLD if present.issuperset(needed))
    return [finding for _, tell in told for finding in tell(runs)]


def findings_table(runs: pd.DataFrame) -> ResultTable:
    """The same for reading."""
    frame = pd.DataFrame(findings(runs), columns=list(Finding._fields))
    note = (
        "Ratios are of mean times of whole calls over the functions, making numbers on the host included; the paper's "
        "are of its Table 3. The paper's models look for the best particle in every generation, the sequential engine "
        "a hundred times a run."
    )
    return ResultTable("Findings of the paper", frame, (note,))


def _ratio(runs: pd.DataFrame, slow: str, fast: str) -> tuple[float, float, float]:
    """Mean over the functions of the ratio of mean times: the paper's, ours, and ours of the device alone."""
    names = functions_of(runs)
    places = [_PAPER_ENGINES.index(engine) for engine in (slow, fast)]
    theirs = [PAPER_MILLISECONDS[name][places[0]] / PAPER_MILLISECONDS[name][places[1]] for name in names]
    whole, device = (
        [_mean(runs, name, slow, column) / _mean(runs, name, fast, column) for name in names]
        for column in ("seconds", "device_seconds")
    )
    return float(np.mean(theirs)), float(np.mean(whole)), float(np.mean(device))


def _mean(runs: pd.DataFrame, function: str, engine: str, column: str) -> float:
    return float(of_engine(runs, function, engine)[column].astype(float).mean())


def _slower(sentence: str, slow: str, fast: str) -> Callable[[pd.DataFrame], Iterator[Finding]]:
    def tell(runs: pd.DataFrame) -> Iterator[Finding]:
        theirs, ours, device = _ratio(runs, slow, fast)
        verdict = (
            "as fast as each other here" if abs(ours - 1) <= _ALIKE else "yes" if ours > 1 else "no: the other way"
        )
        alone = "" if np.isnan(device) else f" ({device:.2f} by the device's time alone)"
        yield Finding(sentence, f"{theirs:.2f} times", f"{ours:.2f} times{alone}", verdict)

    return tell


def _alike(runs: pd.DataFrame) -> Iterator[Finding]:
    models = [each for each in engines_of(runs) if each in MODELS]
    yield _tests("all models find as good values as the sequential one", "p 0.08 to 0.89", t_tests(runs)[models])


def _relaxed(runs: pd.DataFrame) -> Iterator[Finding]:
    tests = t_tests(runs)[[SEQUENTIAL_STRICT]]
    yield _tests("relaxing the choice of exemplars costs nothing", "means alike", tests)


def _tests(sentence: str, paper: str, tests: pd.DataFrame) -> Finding:
    values = tests.to_numpy(float).ravel()
    values = values[np.isfinite(values)]
    if not len(values):
        return Finding(sentence, paper, "nothing to compare", "–")
    # Of many tests the smallest p is small by chance: Bonferroni's threshold.
    threshold = SIGNIFICANCE / len(values)
    here = f"smallest p of {len(values)} tests {values.min():.2g}"
    return Finding(sentence, paper, here, "yes" if values.min() >= threshold else "no")


_SINGLE = "a single swarm on the device takes longer than the sequential model"
_TOLD: tuple[tuple[tuple[str, ...], Callable[[pd.DataFrame], Iterator[Finding]]], ...] = (
    (
        ("basic", "intermediate"),
        _slower("random numbers made in the kernel are slower than made on the host", "basic", "intermediate"),
    ),
    (("intermediate", "final"), _slower("private arrays, clamp and step save time", "intermediate", "final")),
    (("final",), _slower(_SINGLE, "final", SEQUENTIAL)),
    ((), _alike),
    ((SEQUENTIAL_STRICT,), _relaxed),
)
