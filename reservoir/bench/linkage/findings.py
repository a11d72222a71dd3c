"""What the runs come to: speed-ups of the stages, and evaluations."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reservoir.bench.linkage.stages import MODELS
from reservoir.solvers.dsmga2.settings import LOSSLESS, LOSSY, SEQUENTIAL

#: What a problem is told by.
KEYS = ["kind", "problem", "bits"]
_STAGES = {"matrix": "matrix_s", "linkage": "linkage_s", "total": "total_s"}


def rows_of(frame: pd.DataFrame) -> list[tuple[Any, dict[str, Any]]]:
    """Key and columns of every row of a frame."""
    return [(key, {str(name): value for name, value in row.items()}) for key, row in frame.to_dict("index").items()]


def by_kind_and_bits(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over the problems of a kind and size."""
    return frame.groupby(level=["kind", "bits"], sort=False).mean()


def stage_times(runs: pd.DataFrame) -> pd.DataFrame:
    """Milliseconds of stages and runs, and speed-ups over the sequential engine.

    Index: kind, problem, bits. Columns: ``matrix_ms:MODEL`` and ``linkage_ms:MODEL`` of a generation,
    ``total_ms:MODEL`` of a run, and speed-ups ``matrix_x:MODEL``, ``linkage_x:MODEL`` and ``total_x:MODEL``: of seconds
    summed over all generations of all runs, as in the paper.
    """
    columns: dict[str, pd.Series[float]] = {}
    base = _of_model(runs, SEQUENTIAL)[list(_STAGES.values())].sum()
    for model in MODELS:
        mine = _of_model(runs, model)
        sums, count, generations = mine[list(_STAGES.values())].sum(), mine.size(), mine["generations"].sum()
        for stage, column in _STAGES.items():
            columns[f"{stage}_ms:{model}"] = 1e3 * sums[column] / (count if stage == "total" else generations)
            columns[f"{stage}_x:{model}"] = base[column] / sums[column]
    return pd.DataFrame(columns)


def evaluations(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean evaluations until the optimum, of the runs that found it; with generations and the part that found it.

    Index: kind, problem, bits. Columns ``evaluations:MODEL``, ``generations:MODEL``, ``found:MODEL``, and ``apart``:
    how much more of them the lossy model takes than the lossless one, as a part.
    """
    columns: dict[str, pd.Series[float]] = {}
    for model in MODELS:
        mine = _of_model(runs[runs["found"]], model)
        columns[f"evaluations:{model}"] = mine["evaluations"].mean()
        columns[f"generations:{model}"] = mine["generations"].mean()
        columns[f"found:{model}"] = _of_model(runs, model)["found"].mean()
    frame = pd.DataFrame(columns).reindex(pd.MultiIndex.from_frame(runs[KEYS].drop_duplicates()))
    frame["apart"] = frame[f"evaluations:{LOSSY}"] / frame[f"evaluations:{LOSSLESS}"] - 1
    return frame


def _of_model(runs: pd.DataFrame, model: str) -> Any:
    """Runs of a model, grouped by problem in their order."""
    return runs[runs["model"] == model].groupby(KEYS, sort=False)


def differing_runs(runs: pd.DataFrame, model: str) -> int:
    """Runs of a model that do not go as the sequential engine's."""
    keys = ["problem", "run"]
    told = ["evaluations", "mixing_evaluations", "generations", "found"]
    one, other = (runs[runs["model"] == name].set_index(keys)[told] for name in (SEQUENTIAL, model))
    return int((one != other.reindex(one.index)).any(axis=1).sum())
