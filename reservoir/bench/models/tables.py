"""Tables 3, 4 and 7 of Yu et al. 2020 from the runs, and how they compare with what others found."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from reservoir.bench.benchmark_functions import titled
from reservoir.bench.data import bundled
from reservoir.bench.experiment import select
from reservoir.bench.host_time import host_time_table
from reservoir.bench.models.findings import FOUND, Finding, ModelFindings, findings
from reservoir.bench.models.runs import SEQUENTIAL_FOLLOWING
from reservoir.bench.result import ResultTable, result_table
from reservoir.bench.samples import summary


def result_tables(found: ModelFindings) -> Iterator[ResultTable]:
    """Those of what ran."""
    yield table_3(found)
    yield _t_tests(found)
    yield _others(found)
    yield _findings(found)
    if found.setup.models:
        yield _host_time(found)
    if len(found.throughput):
        yield _throughput(found.throughput)


def table_3(found: ModelFindings) -> ResultTable:
    """Execution time and best value of every engine on every function."""
    rows = []
    for function in found.functions:
        for engine in found.engines:
            mine = found.of(function, engine)
            row = {"function": titled(function), "engine": engine}
            row |= {f"time, ms: {name}": value for name, value in summary(1e3 * mine["seconds"], ",.2f").items()}
            rows.append(row | {f"best: {name}": value for name, value in summary(mine["best"], ".3g").items()})
    note = (
        f"{found.runs['run'].max()} runs of each engine, alternating, each with its own seed, after one that compiles "
        "and is not counted. Best values are recomputed in float64 from the position found; those of f3 are the "
        "engine's own, including noise. The paper's models determine the best particle in every generation (Step 5), "
        "as in the paper; the other engines 100 times per run, for the convergence."
    )
    return result_table("Execution time and best value (after Table 3)", rows, note)


def _t_tests(found: ModelFindings) -> ResultTable:
    frame = found.t_tests()
    frame["function"] = frame["function"].map(titled)
    notes = [
        "p-values of two-tailed t-tests of the best values against those of the sequential engine, with equal "
        f"variances. Dash: all runs of both ended below {FOUND:g}. Of 20 tests between samples that do not differ, one "
        "falls below 0.05 on average."
    ]
    if "basic" in frame.columns and "f3" in found.functions:
        notes.append(
            "The basic model's random generator (eq. 14 in unsigned 32-bit arithmetic) ends in one of a few cycles of "
            "9,615 to 14,475 numbers, mostly the shortest; a particle of 5,000 generations needs 215,840. The noise of "
            "f3 comes from it, too."
        )
    return result_table("t-tests (after Table 4)", frame, *notes, form=".2f")


def _host_time(found: ModelFindings) -> ResultTable:
    note = (
        "Host time, ms, mean over the functions. Context and program are reused between runs, so only first runs "
        "create them (the driver may have the program in its cache). The host waits for the kernel between phases 4 "
        "and 5, where PoCL compiles again before its first launch. Phase 6 releases kernel, buffers and queue."
    )
    return host_time_table("model", {name: select(found.runs, engine=name) for name in found.setup.models}, note)


def _others(found: ModelFindings) -> ResultTable:
    frame, ranges = found.against_others(), bundled("models")["known_ranges"]
    known = [
        "{:g} to {:g}".format(*ranges[function]) if function in ranges else f"{mean:.3g}"
        for function, mean in zip(frame["function"], frame["known_mean"], strict=True)
    ]
    shown = frame.assign(function=frame["function"].map(titled), known_mean=known).rename(
        columns={
            "mean": "here: mean",
            "deviation": "here: standard deviation",
            "known_mean": "other program: mean",
            "known_deviation": "other program: standard deviation",
            "p": "t-test, p",
            "paper_mean": "paper: mean",
            "paper_deviation": "paper: standard deviation",
        }
    )
    note = (
        "Comparison with an independent sequential program in C (25 runs, float32, sums of f6 in float64), whose "
        f"exemplars follow the personal bests they were chosen from, as in {SEQUENTIAL_FOLLOWING!r}. All other engines "
        "keep copies until the next choice and end closer to the optimum of f1, f2 and f6. The paper prints small "
        "values as 0, and its f6 ends at the resolution of float32. f7 and f8 depend on the rotation matrix: the range "
        "covers the other program's means over 20 rotations."
    )
    return result_table("Comparison with other programs", shown, note, form=".3g", **{"t-test, p": ".2g"})


def _findings(found: ModelFindings) -> ResultTable:
    frame = pd.DataFrame(findings(found), columns=list(Finding._fields))
    note = (
        "Ratios of mean times of whole calls over the functions, including random numbers generated on the host; the "
        "paper's are from its Table 3. The paper's models determine the best particle in every generation, the "
        "sequential engine 100 times per run."
    )
    return result_table("Findings of the paper", frame, note)


def _throughput(throughput: pd.DataFrame) -> ResultTable:
    seconds = {"seconds": throughput["seconds"], "on the device, s": throughput["device_seconds"]}
    speeds = {
        "evaluations, M/s": throughput["evaluations_per_second"] / 1e6,
        "by device time, M/s": throughput["evaluations_per_device_second"] / 1e6,
    }
    frame = throughput[["engine", "swarms"]].assign(**seconds, **speeds)
    formats = {"swarms": ",d"} | dict.fromkeys(seconds, ",.3f") | dict.fromkeys(speeds, ",.1f")
    note = "Independent swarms on f5 in one call, median of the calls; only positions within the bounds are evaluated."
    return result_table("Many swarms", frame, note, **formats)
