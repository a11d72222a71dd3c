"""Tables of the experiment."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reservoir.bench.linkage.cases import TITLES
from reservoir.bench.linkage.findings import evaluations, rows_of, stage_times
from reservoir.bench.linkage.stages import MODELS
from reservoir.bench.result import ResultTable
from reservoir.solvers.dsmga2.settings import LOSSLESS, LOSSY, ON_DEMAND, SEQUENTIAL


def result_tables(runs: pd.DataFrame, evaluated: pd.DataFrame) -> list[ResultTable]:
    """Speed-ups of both stages, whole runs, and evaluations."""
    times, found = stage_times(runs), evaluations(evaluated)
    populations = runs.groupby("problem")["population"].first().to_dict()
    return [_stages(times, populations), _whole(times), _evaluations(found)]


def _heading(key: tuple[str, str, int]) -> dict[str, object]:
    kind, problem, bits = key
    return {"problem": TITLES[kind] if not problem.startswith("SPIN") else problem, "bits": bits}


def _stages(times: pd.DataFrame, populations: dict[Any, Any]) -> ResultTable:
    rows = [
        {
            **_heading(key),
            "population": populations[key[1]],
            "sequential matrix, ms": row[f"matrix_ms:{SEQUENTIAL}"],
            "lossless x": row[f"matrix_x:{LOSSLESS}"],
            "lossy x": row[f"matrix_x:{LOSSY}"],
            "sequential sets, ms": row[f"linkage_ms:{SEQUENTIAL}"],
            "lossless sets x": row[f"linkage_x:{LOSSLESS}"],
            "lossy sets x": row[f"linkage_x:{LOSSY}"],
            "lossless both x": row[f"building_x:{LOSSLESS}"],
            "lossy both x": row[f"building_x:{LOSSY}"],
            "loci of a lossy set": row[f"set_length:{LOSSY}"],
        }
        for key, row in rows_of(times)
    ]
    formats = {name: ".3g" for name in rows[0] if name.endswith("ms")} | {
        name: ".3g" for name in rows[0] if name.endswith("x")
    }
    formats["loci of a lossy set"] = ".1f"
    notes = (
        "Stage 1, matrix: selection, copies to the device, FastCounting and mutual information. Stage 2, sets: linkage "
        "sets from every locus, and the copy back. Milliseconds of a generation of the sequential engine, on one "
        "thread with vector instructions, all sets in full length; and how many times as long it takes as the OpenCL "
        "engines for the same run, seconds of a stage summed over the generations as in the paper. Medians of the runs "
        "in which both find the optimum.",
        "Most of what the lossy engine gains in stage 2 is left out rather than sped up: its sets end after the loci "
        "in the last column (of the last generation), the others' have all.",
    )
    return ResultTable("Model building (Figures 6 to 9)", pd.DataFrame(rows), notes, formats)


def _whole(times: pd.DataFrame) -> ResultTable:
    rows = [
        {
            **_heading(key),
            **{f"{model}, ms": row[f"total_ms:{model}"] for model in MODELS},
            **{f"{model} x": row[f"total_x:{model}"] for model in MODELS if model != SEQUENTIAL},
        }
        for key, row in rows_of(times)
    ]
    formats = {name: ".3g" for name in rows[0] if name.endswith((", ms", " x"))}
    notes = (
        "Milliseconds of a whole run, medians: hill climbing, models and mixing, all but compilation. On-demand is "
        "this program's own way: it finds the same sets as the sequential engine, on one thread of the host, but "
        "builds of them only what mixing asks for, and keeps what it has.",
    )
    return ResultTable("Whole runs", pd.DataFrame(rows), notes, formats)


def _evaluations(found: pd.DataFrame) -> ResultTable:
    rows = [
        {
            **_heading(key),
            "lossless": row[f"evaluations:{ON_DEMAND}"],
            "lossy": row[f"evaluations:{LOSSY}"],
            "apart, %": 100 * row["apart"],
            "mixing, lossless": row[f"mixing_evaluations:{ON_DEMAND}"],
            "mixing, lossy": row[f"mixing_evaluations:{LOSSY}"],
            "mixing apart, %": 100 * row["mixing_apart"],
            "generations, lossless": row[f"generations:{ON_DEMAND}"],
            "generations, lossy": row[f"generations:{LOSSY}"],
            "found, lossless %": 100 * row[f"found:{ON_DEMAND}"],
            "found, lossy %": 100 * row[f"found:{LOSSY}"],
        }
        for key, row in rows_of(found)
    ]
    formats = dict.fromkeys(("lossless", "lossy", "mixing, lossless", "mixing, lossy"), ",.0f")
    formats |= dict.fromkeys(("apart, %", "mixing apart, %"), "+.1f")
    formats |= {name: ".1f" if name.startswith("generations") else ".0f" for name in rows[0] if name not in formats}
    notes = (
        "Mean evaluations until the optimum is found, of the runs that find it: with hill climbing, as the original "
        "program reports them, and those of mixing alone. The paper's largest difference of lossy is 13.12 %. "
        "The lossless engine's are those of the on-demand one, which goes exactly the same way.",
    )
    return ResultTable("Evaluations (Figure 10)", pd.DataFrame(rows), notes, formats)
