"""What the runs say: Tables 1 to 5 of Li and Liu 2017 with the paper's own figures beside them, and what is claimed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.data import bundled
from reservoir.bench.experiment import select
from reservoir.bench.networks import loads
from reservoir.bench.networks.loads import Load
from reservoir.bench.networks.runs import BASELINE, IN_STEPS, NO_LOCAL, TWO_LEVEL, NetworkSetup
from reservoir.bench.result import ResultTable, result_table
from reservoir.bench.samples import p_value, summary
from reservoir.planning.checks import Check
from reservoir.planning.validation import SIGNIFICANCE

#: Time of two levels beside that without a local level, on a GPU.
MOST_TIME = 0.5
#: Of two cores and of a large GPU: speed beside the baseline on two threads, and seconds of the search for a policy.
CPU_SPEED_UP, GPU_SPEED_UP = 1.5, 35.0
CPU_SEARCH_SECONDS, GPU_SEARCH_SECONDS = 60.0, 1.0


@dataclass(frozen=True, eq=False)
class NetworkFindings:
    """Tables of runs, of errors by iteration, of speeds in turn, and of searches for a policy with their caveats."""

    setup: NetworkSetup
    runs: pd.DataFrame
    traces: pd.DataFrame
    pairs: pd.DataFrame
    searches: pd.DataFrame
    caveats: tuple[str, ...]

    @property
    def speed_up(self) -> float:
        """Median speed beside the baseline."""
        return float(np.median(self.pairs["ratio"]))


def network_checks(found: NetworkFindings) -> Iterator[Check]:
    """Claims that this device and this budget can be held to; a quick trial claims nothing."""
    setup = found.setup
    if setup.budget.quick:
        return
    if 3 in setup.tables:
        yield from _claims_of_variants(setup, select(found.runs, table=3))
    if setup.small_cpu or setup.large_gpu:
        if 5 in setup.tables:
            title = f"6-30-2, 5000 samples: median speed-up over the baseline on {setup.threads} threads"
            yield Check(title, found.speed_up, GPU_SPEED_UP if setup.large_gpu else CPU_SPEED_UP, at_least=True)
        most = GPU_SEARCH_SECONDS if setup.large_gpu else CPU_SEARCH_SECONDS
        yield Check("policy search, all years of the case, s", float(found.searches["seconds"].median()), most)


def _claims_of_variants(setup: NetworkSetup, runs: pd.DataFrame) -> Iterator[Check]:
    two_level, no_local, baseline = (select(runs, engine=engine) for engine in (TWO_LEVEL, NO_LOCAL, BASELINE))
    if setup.budget.runs > 1:
        title = f"training error of {TWO_LEVEL} against the {BASELINE}, t-test, p"
        yield Check(title, p_value(two_level["error"], baseline["error"]), SIGNIFICANCE, at_least=True)
    error = two_level["error"].mean() / no_local["error"].mean()
    yield Check(f"mean training error, {TWO_LEVEL} / {NO_LOCAL}", error, 1.0)
    if setup.device.kind == "GPU":
        ratio = float(two_level["seconds"].median() / no_local["seconds"].median())
        yield Check(f"time, {TWO_LEVEL} / {NO_LOCAL}", ratio, MOST_TIME)


_PAPER_GPU, _PAPER_CPU = "the paper's OpenCL (GT 630)", "the paper's C++ (two threads)"
_NOTES = {
    1: "A 3-10-2 network with 50 weights, and 50 samples: the paper gives only these two numbers.",
    2: f"{loads.PARTICLES:,} particles; 50 samples, as in Table 1: the paper gives no number here.",
}


def result_tables(found: NetworkFindings) -> Iterator[ResultTable]:
    """Those that were asked for."""
    tables = found.setup.tables
    if 1 in tables:
        yield _speeds(found, loads.TABLE_1, "Particles (after Table 1)")
    if 2 in tables:
        yield _speeds(found, loads.TABLE_2, "Networks (after Table 2)")
    if 3 in tables:
        yield _variants(select(found.runs, table=3))
    if 4 in tables:
        yield _functions(select(found.runs, table=4))
    if 5 in tables:
        yield _modelling(select(found.runs, table=5))
        yield _pairs(found)
    yield _searches(found)


def _milliseconds(runs: pd.DataFrame, engine: str, column: str = "seconds") -> float:
    """Median of an iteration."""
    mine = select(runs, engine=engine)
    return float(np.median(1e3 * mine[column] / mine["iterations"]))


def _speeds(found: NetworkFindings, of: tuple[Load, ...], title: str) -> ResultTable:
    rows, setup, table = [], found.setup, of[0].table
    for load in of:
        mine = select(found.runs, table=table, load=load.title)
        ours, baseline = _milliseconds(mine, TWO_LEVEL), _milliseconds(mine, BASELINE)
        row = {"load": load.title, "OpenCL, ms per iteration": ours}
        row |= {"on the device": _milliseconds(mine, TWO_LEVEL, "device_seconds")}
        row |= {f"{BASELINE}, ms per iteration": baseline, "speed-up": baseline / ours}
        row |= {f"OpenCL, s for {loads.PAPER_ITERATIONS:,}": ours * loads.PAPER_ITERATIONS / 1e3}
        row |= {f"{_PAPER_GPU}, s": load.paper_opencl, f"{_PAPER_CPU}, s": load.paper_baseline}
        rows.append(row | {"the paper's speed-up": load.paper_baseline / load.paper_opencl})
    how = (
        f"Medians of calls of {setup.iterations[table]:,} iterations with OpenCL and {setup.baseline_iterations:,} "
        f"with the baseline ({setup.threads} threads); the time of {loads.PAPER_ITERATIONS:,} is extrapolated."
    )
    return result_table(title, rows, _NOTES[table], how, **{"*speed-up": ",.1f"})


def _variants(runs: pd.DataFrame) -> ResultTable:
    base = select(runs, engine=BASELINE)["error"]
    rows = []
    for engine in (TWO_LEVEL, IN_STEPS, NO_LOCAL, BASELINE):
        mine = select(runs, engine=engine)
        seconds, error = bundled("networks")["table_3"].get(engine, (np.nan, np.nan))
        rows.append(
            {"engine": engine, "seconds": float(mine["seconds"].median())}
            | {"on the device, s": float(mine["device_seconds"].median())}
            | {f"error: {name}": value for name, value in summary(mine["error"], ".5f").items()}
            | {"against the baseline, p": p_value(mine["error"], base) if engine != BASELINE else np.nan}
            | {"the paper's seconds": seconds, "the paper's error": error}
        )
    notes = (
        f"6-30-2, 100 samples, {loads.PARTICLES:,} particles, {int(runs['iterations'].iloc[0]):,} iterations, "
        f"{runs['run'].max()} runs of each engine, alternating. The paper's samples are not public: errors cannot "
        "be compared with the paper's, ratios of times can.",
        "'Two-level' runs all iterations up to an exchange in one kernel, which is possible because groups do not wait "
        "for each other. Without a local level every iteration needs the best of the swarm and launches its own "
        "kernels: most of that time is the host's.",
    )
    formats = {"seconds": ",.4f", "on the device, s": ",.4f", "against the baseline, p": ".2f"}
    return result_table("With and without a local level (after Table 3)", rows, *notes, **formats)


def _functions(runs: pd.DataFrame) -> ResultTable:
    rows = []
    for load, (_, calazan) in zip(loads.TABLE_4, bundled("networks")["table_4"].values(), strict=True):
        mine = select(runs, load=load.title)
        ours = select(mine, engine=TWO_LEVEL)
        medians = ours[["seconds", "device_seconds", "error"]].median()
        row = {"function": load.title, "OpenCL, s": medians["seconds"], "on the device, s": medians["device_seconds"]}
        row |= {"iterations": int(ours["iterations"].iloc[0]), "value": medians["error"]}
        row |= {f"{BASELINE}, ms per iteration": _milliseconds(mine, BASELINE)}
        row |= {"OpenCL, ms per iteration": _milliseconds(mine, TWO_LEVEL), f"{_PAPER_GPU}, s": load.paper_opencl}
        rows.append(row | {"Calazan et al. 2013 (GTX 460), s": calazan})
    notes = (
        f"{loads.FUNCTION_DIMENSION} variables and {loads.PARTICLES:,} particles. The paper states neither these nor "
        "the iterations: its times cannot be compared with ours. f2 is as printed there, with the indices of "
        "Rosenbrock's function swapped.",
        "With the paper's inertia of 1 and c1 = c2 = 2 a swarm does not converge; its accuracy depends on the velocity "
        "limit, which the paper does not state.",
    )
    return result_table("Functions (after Table 4)", rows, *notes)


def _modelling(runs: pd.DataFrame) -> ResultTable:
    rows = []
    for engine, (seconds, error) in zip((TWO_LEVEL, BASELINE), bundled("networks")["table_5"].values(), strict=True):
        mine = select(runs, engine=engine)
        row: dict[str, Any] = {"engine": engine, "seconds": float(mine["seconds"].median())}
        row |= {"iterations": int(mine["iterations"].iloc[0]), "error, %": 100 * float(mine["error"].median())}
        rows.append(row | {"the paper's seconds": seconds, "the paper's error, %": 100 * error})
    note = (
        "6-30-2, 5000 samples, 1024 particles. The antenna's samples are not public and are replaced by a "
        "synthetic response of six inputs and two outputs: a one-port with two resonances "
        "(reservoir/problems/mlp/samples.py)."
    )
    return result_table("Modelling a response (after Table 5)", rows, note, **{"error, %": ".2f"})


def _pairs(found: NetworkFindings) -> ResultTable:
    setup, pairs = found.setup, found.pairs
    ours, baseline = (1e3 * pairs[f"{engine}_seconds"] / pairs["iterations"] for engine in (TWO_LEVEL, BASELINE))
    columns = {"pair": pairs["pair"], "OpenCL, ms per iteration": ours, f"{BASELINE}, ms per iteration": baseline}
    note = (
        f"Both engines, alternating, on the load of Table 5, {setup.baseline_iterations:,} iterations each; the "
        "acceptance table uses their ratio. The baseline is compiled by numba, in float32, with vector instructions, "
        f"on {setup.threads} threads."
    )
    frame = pd.DataFrame(columns | {"speed-up": pairs["ratio"]})
    return result_table("Speed-up over the baseline", frame, note, pair="d", **{"speed-up": ",.2f"})


def _searches(found: NetworkFindings) -> ResultTable:
    titles = {"device_seconds": "on the device, s", "gwh_a_year": "GWh per year", "years": "years of record"}
    note = (
        "The second stage of the ann rule: every particle is a network that operates all years of the record in one "
        "work item or lane. GWh per year includes the value of the water left at the end, on the training years."
    )
    said = (f"{caveat[:1].upper()}{caveat[1:]}." for caveat in found.caveats)
    formats = {"run": "d", "seconds": ",.3f", "on the device, s": ",.3f", "GWh per year": ",.1f"}
    frame = found.searches.rename(columns=titles)
    return result_table("Direct policy search on the bundled case", frame, note, *said, **formats)
