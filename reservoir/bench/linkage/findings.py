"""What the runs come to: speed-ups of the stages, evaluations, and what is claimed of the engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from reservoir.bench.experiment import select
from reservoir.bench.linkage.runs import EVALUATED, MODELS, LinkageSetup
from reservoir.planning.checks import Check, largest
from reservoir.solvers.dsmga2.settings import LOSSLESS, LOSSY, ON_DEMAND, SEQUENTIAL

#: What a problem is told by.
KEYS = ["kind", "problem", "bits"]
_STAGES = {"matrix": "matrix_s", "linkage": "linkage_s", "building": "building_s", "total": "total_s"}
#: How far the lossy engine's evaluations may be from the lossless one's, the paper's largest difference; the part of
#: the runs that it may miss more; and runs from which means of evaluations are held to that.
LOSSY_APART, LOSSY_MISSES, FEWEST_RUNS = 0.1312, 0.1, 50
#: Times as fast as the sequential engine on a large GPU: matrices, and linkage sets of the lossy engine; and of what.
MATRIX_SPEED, LOSSY_SPEED, SPEED_CASE = 10.0, 400.0, ("ftrap", 600)
#: Bits from which the lossless stages are no slower than the sequential ones on a CPU.
CPU_BITS = 200


def rows_of(frame: pd.DataFrame) -> list[tuple[Any, dict[str, Any]]]:
    """Key and columns of every row of a frame."""
    return [(key, {str(name): value for name, value in row.items()}) for key, row in frame.to_dict("index").items()]


def by_kind_and_bits(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over the problems of a kind and size."""
    return frame.groupby(level=["kind", "bits"], sort=False).mean()


def _of_all(columns: dict[str, pd.Series[float]], runs: pd.DataFrame) -> pd.DataFrame:
    """A row for each problem that ran, in order."""
    return pd.DataFrame(columns).reindex(pd.MultiIndex.from_frame(runs[KEYS].drop_duplicates()))


@dataclass(frozen=True, eq=False)
class LinkageFindings:
    """Tables of timed and of evaluated runs (see `stages`), and what they come to."""

    setup: LinkageSetup
    runs: pd.DataFrame
    evaluated: pd.DataFrame

    @cached_property
    def times(self) -> pd.DataFrame:
        """Milliseconds of stages and runs, and speed-ups over the sequential engine: medians over runs.

        Index: kind, problem, bits. Columns: ``matrix_ms:MODEL`` and ``linkage_ms:MODEL`` of a generation,
        ``total_ms:MODEL`` of a run, ``set_length:MODEL``, and speed-ups ``matrix_x:MODEL``, ``linkage_x:MODEL``,
        ``building_x:MODEL`` (both together) and ``total_x:MODEL``: how many times as long the sequential engine takes
        for the same run, seconds of a stage summed over its generations as in the paper. Runs that miss the optimum
        with either engine are left out: they go on until nothing moves.
        """
        timed = self.runs.assign(building_s=self.runs["matrix_s"] + self.runs["linkage_s"]).set_index([*KEYS, "run"])
        base = select(timed, model=SEQUENTIAL)
        columns: dict[str, pd.Series[float]] = {}
        for model in MODELS:
            mine = select(timed, model=model)
            both = mine["found"] & base["found"]
            mine, theirs = mine[both], base[both]
            columns[f"set_length:{model}"] = mine["set_length"]
            for stage, column in _STAGES.items():
                units = 1 if stage == "total" else mine["generations"]
                columns[f"{stage}_ms:{model}"] = 1e3 * mine[column] / units
                columns[f"{stage}_x:{model}"] = theirs[column] / mine[column]
        medians = {name: column.groupby(level=KEYS, sort=False).median() for name, column in columns.items()}
        return _of_all(medians, self.runs)

    @cached_property
    def evaluations(self) -> pd.DataFrame:
        """Mean evaluations until the optimum, of the runs that found it.

        Index: kind, problem, bits. Columns, of the models that were evaluated, ``evaluations:MODEL``,
        ``mixing_evaluations:MODEL`` (hill climbing apart), ``generations:MODEL`` and ``found:MODEL``, the part of the
        runs that found it; and ``apart`` and ``mixing_apart``: how far the lossy model's evaluations are from the exact
        one's, as a part of them.
        """
        columns: dict[str, pd.Series[float]] = {}
        for model in EVALUATED:
            every = select(self.evaluated, model=model)
            found = every[every["found"]].groupby(KEYS, sort=False)
            columns |= {
                f"{name}:{model}": found[name].mean() for name in ("evaluations", "mixing_evaluations", "generations")
            }
            columns[f"found:{model}"] = every.groupby(KEYS, sort=False)["found"].mean()
        frame = _of_all(columns, self.evaluated)
        for name, column in (("apart", "evaluations"), ("mixing_apart", "mixing_evaluations")):
            frame[name] = frame[f"{column}:{LOSSY}"] / frame[f"{column}:{ON_DEMAND}"] - 1
        return frame

    def differing_runs(self, model: str) -> int:
        """Runs of a model that do not go as the sequential engine's."""
        told = ["evaluations", "mixing_evaluations", "generations", "found"]
        one, other = (select(self.runs, model=each).set_index(["problem", "run"])[told] for each in (SEQUENTIAL, model))
        return int((one != other.reindex(one.index)).any(axis=1).sum())


def linkage_checks(found: LinkageFindings) -> Iterator[Check]:
    """Claims that this device and these runs can be held to; a quick trial claims nothing."""
    if found.setup.budget.quick:
        return
    false = float(found.runs["false_optimum"].sum() + found.evaluated["false_optimum"].sum())
    yield Check("false optima reported", false, 0.0)
    for model in (LOSSLESS, ON_DEMAND):
        yield Check(f"{model}: runs that differ from the sequential engine's", found.differing_runs(model), 0.0)
    if found.evaluated["run"].nunique() >= FEWEST_RUNS:
        evaluated = found.evaluations
        missed = evaluated[f"found:{ON_DEMAND}"] - evaluated[f"found:{LOSSY}"]
        title = "evaluations of lossy against lossless: largest relative difference"
        yield Check(title, largest(evaluated["apart"].abs()), LOSSY_APART)
        yield Check("largest fraction of runs that lossless solves and lossy does not", largest(missed), LOSSY_MISSES)
    yield from _speed(found)


def _speed(found: LinkageFindings) -> Iterator[Check]:
    times = dict(rows_of(by_kind_and_bits(found.times)))
    speed_up = "speed-up over the sequential engine"
    if found.setup.large_gpu and SPEED_CASE in times:
        row, about = times[SPEED_CASE], f"Folded trap, 600 bits: {speed_up}"
        for model in (LOSSLESS, LOSSY):
            yield Check(f"{about}, matrix, {model}", row[f"matrix_x:{model}"], MATRIX_SPEED, at_least=True)
        yield Check(f"{about}, sets, {LOSSY}", row[f"linkage_x:{LOSSY}"], LOSSY_SPEED, at_least=True)
    large = [row for (_, bits), row in times.items() if bits >= CPU_BITS]
    if found.setup.device.kind == "CPU" and large:
        for stage, title in (("matrix", "matrix"), ("linkage", "sets"), ("building", "both stages")):
            least = -largest(-row[f"{stage}_x:{LOSSLESS}"] for row in large)
            yield Check(f"lossless, {CPU_BITS} bits and more: {speed_up}, {title}, smallest", least, 1.0, at_least=True)
