"""What the runs say: tests, comparisons and speeds; which findings of Yu et al. 2020, section 5.2, hold; and claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.bench.data import bundled
from reservoir.bench.experiment import in_order, select
from reservoir.bench.models.runs import MANY_SWARMS, SEQUENTIAL, SEQUENTIAL_FOLLOWING, SEQUENTIAL_STRICT, ModelSetup
from reservoir.bench.samples import Known, p_value, p_value_of
from reservoir.planning.checks import Check, largest
from reservoir.planning.validation import SIGNIFICANCE
from reservoir.solvers.clpso.models import LANES, MODELS

#: What an independent program found in 25 runs, by function.
KNOWN = {name: Known(mean, deviation, 25) for name, (mean, deviation) in bundled("models")["known"].items()}
#: Best values below it count as found, as the paper prints them.
FOUND = 1e-6
#: Between the sequential engine and the independent program.
KNOWN_SIGNIFICANCE = 0.01
#: Two cores of a CPU against one thread, and what they evaluate in a second; and many swarms on a large GPU.
SPEED_UP, CPU_EVALUATIONS, GPU_EVALUATIONS = 6.0, 20e6, 5e9
_PAPER_ENGINES = (SEQUENTIAL, "basic", "intermediate", "final")
#: Engines whose times differ by less are as fast as each other.
_ALIKE = 0.05
#: What the paper finds of times: sentence, slower and faster engine.
_SLOWER = (
    ("random numbers from the kernel are slower than from the host", "basic", "intermediate"),
    ("private arrays, clamp and step save time", "intermediate", "final"),
    ("a single swarm on the device takes longer than the sequential model", "final", SEQUENTIAL),
)


class Finding(NamedTuple):
    """A sentence of the paper, its figure there and here, and whether it holds."""

    finding: str
    paper: str
    here: str
    holds: str


@dataclass(frozen=True, eq=False)
class ModelFindings:
    """Tables of runs, of their traces, and of many swarms, without rows if they were not measured (see `runs`)."""

    setup: ModelSetup
    runs: pd.DataFrame
    traces: pd.DataFrame
    throughput: pd.DataFrame

    @property
    def functions(self) -> list[str]:
        """Functions that ran, in order."""
        return in_order(self.runs["function"])

    @property
    def engines(self) -> list[str]:
        """Engines that ran, in order."""
        return in_order(self.runs["engine"])

    def of(self, function: str, engine: str) -> pd.DataFrame:
        """Counted runs of an engine on a function."""
        return select(self.runs, counted=True, function=function, engine=engine)

    def best(self, function: str, engine: str) -> NDArray[np.float64]:
        """Best values of the same."""
        return self.of(function, engine)["best"].to_numpy(float)

    def t_tests(self) -> pd.DataFrame:
        """P of every engine against the sequential one, a row a function; NaN where both always find the optimum."""
        rows = []
        for function in self.functions:
            base = self.best(function, SEQUENTIAL)
            row: dict[str, Any] = {"function": function}
            for engine in self.engines[1:]:
                other = self.best(function, engine)
                row[engine] = np.nan if max(base.max(), other.max()) <= FOUND else p_value(base, other)
            rows.append(row)
        return pd.DataFrame(rows)

    def against_others(self) -> pd.DataFrame:
        """Two readings of the paper beside what others found; a row for each on every function."""
        rows = []
        for function in self.functions:
            known = KNOWN.get(function)
            mean, deviation = (known.mean, known.deviation) if known else (np.nan, np.nan)
            for engine in (SEQUENTIAL, SEQUENTIAL_FOLLOWING):
                best = self.best(function, engine)
                row = {"function": function, "engine": engine, "mean": best.mean()}
                row |= {"deviation": best.std(ddof=1) if len(best) > 1 else np.nan, "known_mean": mean}
                row |= {"known_deviation": deviation, "p": p_value_of(best, known) if known else np.nan}
                paper = zip(("paper_mean", "paper_deviation"), bundled("models")["paper_best"][function], strict=True)
                rows.append(row | dict(paper))
        return pd.DataFrame(rows)

    def speed_of(self, engine: str, swarms: int | None = None) -> pd.Series[Any]:
        """The row of many swarms, by default of as many as the paper's case has years, which come first."""
        rows = select(self.throughput, engine=engine)
        return (rows if swarms is None else select(rows, swarms=swarms)).iloc[0]

    @property
    def lanes_speed_up(self) -> float:
        """Times that the `LANES` model is as fast as the sequential engine, by wall seconds."""
        return float(self.speed_of(SEQUENTIAL)["seconds"] / self.speed_of(LANES)["seconds"])

    def ratio(self, slow: str, fast: str, column: str = "seconds") -> float:
        """Mean over the functions of the ratio of mean times."""

        def mean(function: str, engine: str) -> float:
            return float(self.of(function, engine)[column].astype(float).mean())

        return float(np.mean([mean(name, slow) / mean(name, fast) for name in self.functions]))


def findings(found: ModelFindings) -> Iterator[Finding]:
    """Those that the engines and functions that ran can tell of."""
    milliseconds = bundled("models")["paper_milliseconds"]
    for sentence, slow, fast in _SLOWER:
        if {slow, fast} <= set(found.engines):
            places = [_PAPER_ENGINES.index(engine) for engine in (slow, fast)]
            times = [[milliseconds[name][place] for place in places] for name in found.functions]
            theirs, ours = float(np.mean([one / other for one, other in times])), found.ratio(slow, fast)
            device = found.ratio(slow, fast, "device_seconds")
            alone = "" if np.isnan(device) else f" ({device:.2f} by device time alone)"
            alike = abs(ours - 1) <= _ALIKE
            verdict = "no difference" if alike else "yes" if ours > 1 else "no: the opposite"
            yield Finding(sentence, f"{theirs:.2f} times", f"{ours:.2f} times{alone}", verdict)
    tests = found.t_tests()
    models = [each for each in found.engines if each in MODELS]
    yield _tests("all models find values as good as the sequential engine", "p 0.08 to 0.89", tests[models])
    if SEQUENTIAL_STRICT in found.engines:
        sentence = "a relaxed choice of exemplars does not reduce quality"
        yield _tests(sentence, "equal means", tests[[SEQUENTIAL_STRICT]])


def _tests(sentence: str, paper: str, tests: pd.DataFrame) -> Finding:
    values = tests.to_numpy(float).ravel()
    values = values[np.isfinite(values)]
    if not len(values):
        return Finding(sentence, paper, "nothing to compare", "–")
    # Of many tests the smallest p is small by chance: Bonferroni's threshold.
    threshold = SIGNIFICANCE / len(values)
    here = f"smallest p of {len(values)} tests {values.min():.2g}"
    return Finding(sentence, paper, here, "yes" if values.min() >= threshold else "no")


def model_checks(found: ModelFindings) -> Iterator[Check]:
    """Claims that this device and this budget can be held to; a quick trial and a single run claim nothing."""
    if found.setup.budget.quick or found.setup.budget.runs < 2:
        return
    for function in found.functions:
        if function in ("f1", "f2"):
            worst = largest(value for engine in found.engines for value in found.best(function, engine))
            yield Check(f"{function}: worst value of all runs of all engines", worst, FOUND)
    for tested, row in found.t_tests().set_index("function").iterrows():
        for engine, p in row.items():
            if engine != SEQUENTIAL_FOLLOWING and np.isfinite(p):
                title = f"{tested}: {engine} against {SEQUENTIAL}, t-test, p"
                yield Check(title, float(p), SIGNIFICANCE, at_least=True)
    others, ranges = found.against_others(), bundled("models")["known_ranges"]
    for each in select(others, engine=SEQUENTIAL_FOLLOWING).to_dict("records"):
        if np.isfinite(each["p"]):
            title = f"{each['function']}: {each['engine']} against an independent program, t-test, p"
            yield Check(title, each["p"], KNOWN_SIGNIFICANCE, at_least=True)
    for each in select(others, engine=SEQUENTIAL).to_dict("records"):
        if each["function"] in ranges:
            (low, high), about = ranges[each["function"]], f"{each['function']}: mean of {each['engine']}"
            yield Check(f"{about}, at least", each["mean"], low, at_least=True)
            yield Check(f"{about}, at most", each["mean"], high)
    if len(found.throughput):
        yield from _speed(found)


def _speed(found: ModelFindings) -> Iterator[Check]:
    if found.setup.small_cpu:
        where = f"{LANES} on {found.setup.device.compute_units} cores, many swarms on f5"
        yield Check(f"{where}: speed-up over one thread", found.lanes_speed_up, SPEED_UP, at_least=True)
        speed = found.speed_of(LANES)["evaluations_per_second"] / 1e6
        yield Check(f"{where}: 1e6 evaluations/s", float(speed), CPU_EVALUATIONS / 1e6, at_least=True)
    if found.setup.large_gpu:
        speed = found.speed_of(LANES, MANY_SWARMS)["evaluations_per_device_second"] / 1e9
        title = f"{MANY_SWARMS:,} swarms on f5, 1e9 evaluations/s of device time"
        yield Check(title, float(speed), GPU_EVALUATIONS / 1e9, at_least=True)
