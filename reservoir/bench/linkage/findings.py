"""What the runs come to: speed-ups of the stages, and evaluations."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reservoir.bench.linkage.stages import EVALUATED, MODELS
from reservoir.solvers.dsmga2.settings import LOSSY, ON_DEMAND, SEQUENTIAL

#: What a problem is told by.
KEYS = ["kind", "problem", "bits"]
_STAGES = {"matrix": "matrix_s", "linkage": "linkage_s", "building": "building_s", "total": "total_s"}


def rows_of(frame: pd.DataFrame) -> list[tuple[Any, dict[str, Any]]]:
    """Key and columns of every row of a frame."""
    return [(key, {str(name): value for name, value in row.items()}) for key, row in frame.to_dict("index").items()]


def by_kind_and_bits(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over the problems of a kind and size."""
    return frame.groupby(level=["kind", "bits"], sort=False).mean()


def stage_times(runs: pd.DataFrame) -> pd.DataFrame:
    """Milliseconds of stages and runs, and speed-ups over the sequential engine: medians over runs.

    Index: kind, problem, bits. Columns: ``matrix_ms:MODEL`` and ``linkage_ms:MODEL`` of a generation,
    ``total_ms:MODEL`` of a run, ``set_length:MODEL``, and speed-ups ``matrix_x:MODEL``, ``linkage_x:MODEL``,
    ``building_x:MODEL`` (both together) and ``total_x:MODEL``: how many times as long the sequential engine takes for
    the same run, seconds of a stage summed over its generations as in the paper. Runs that miss the optimum with either
    engine are left out: they go on until nothing moves.
    """
    timed = runs.assign(building_s=runs["matrix_s"] + runs["linkage_s"]).set_index([*KEYS, "run"])
    base = timed[timed["model"] == SEQUENTIAL]
    columns: dict[str, pd.Series[float]] = {}
    for model in MODELS:
        mine = timed[timed["model"] == model]
        both = mine["found"] & base["found"]
        mine, theirs = mine[both], base[both]
        columns[f"set_length:{model}"] = _median(mine["set_length"])
        for stage, column in _STAGES.items():
            units = 1 if stage == "total" else mine["generations"]
            columns[f"{stage}_ms:{model}"] = _median(1e3 * mine[column] / units)
            columns[f"{stage}_x:{model}"] = _median(theirs[column] / mine[column])
    return pd.DataFrame(columns).reindex(pd.MultiIndex.from_frame(runs[KEYS].drop_duplicates()))


def _median(column: pd.Series[float]) -> pd.Series[float]:
    """Median of the runs of each problem."""
    return column.groupby(level=KEYS, sort=False).median()


def evaluations(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean evaluations until the optimum, of the runs that found it.

    Index: kind, problem, bits. Columns, of the models that were evaluated, ``evaluations:MODEL``,
    ``mixing_evaluations:MODEL`` (hill climbing apart), ``generations:MODEL`` and ``found:MODEL``, the part of the runs
    that found it; and ``apart`` and ``mixing_apart``: how far the lossy model's evaluations are from the exact one's,
    as a part of them.
    """
    columns: dict[str, pd.Series[float]] = {}
    for model in EVALUATED:
        every = runs[runs["model"] == model].groupby(KEYS, sort=False)
        mine = runs[runs["found"] & (runs["model"] == model)].groupby(KEYS, sort=False)
        for name in ("evaluations", "mixing_evaluations", "generations"):
            columns[f"{name}:{model}"] = mine[name].mean()
        columns[f"found:{model}"] = every["found"].mean()
    frame = pd.DataFrame(columns).reindex(pd.MultiIndex.from_frame(runs[KEYS].drop_duplicates()))
    for name, column in (("apart", "evaluations"), ("mixing_apart", "mixing_evaluations")):
        frame[name] = frame[f"{column}:{LOSSY}"] / frame[f"{column}:{ON_DEMAND}"] - 1
    return frame


def differing_runs(runs: pd.DataFrame, model: str) -> int:
    """Runs of a model that do not go as the sequential engine's."""
    keys = ["problem", "run"]
    told = ["evaluations", "mixing_evaluations", "generations", "found"]
    one, other = (runs[runs["model"] == name].set_index(keys)[told] for name in (SEQUENTIAL, model))
    return int((one != other.reindex(one.index)).any(axis=1).sum())
