"""DSMGA-II as Li and Yu 2017 measured it: sweeps, or runs with every way to build a model, and what they come to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from reservoir.bench.data import bundled
from reservoir.bench.experiment import names_named, numbers_named
from reservoir.bench.linkage.figures import linkage_figures
from reservoir.bench.linkage.findings import SPEED_CASE, LinkageFindings, linkage_checks, rows_of
from reservoir.bench.linkage.runs import (
    MODELS,
    SPIN,
    TITLES,
    Case,
    LinkageSetup,
    bundled_glasses,
    evaluate_all,
    solve_all,
    spin_cases,
    trap_cases,
)
from reservoir.bench.linkage.sweeps import GOLDEN, SweepSetup, sweep_all, sweep_result
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.run_budget import RunBudget
from reservoir.errors import InputError, Mistake
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.solvers.dsmga2.settings import LOSSLESS, LOSSY, ON_DEMAND, SEQUENTIAL

#: Sizes of traps: multiples of the blocks of all three kinds.
SIZES, QUICK_SIZES = (60, 120, 240, 360, 480, 600), (60, 120)


def run(
    *,
    budget: RunBudget,
    sweep: bool = False,
    problems: str | None = None,
    sizes: str | None = None,
    spin: tuple[Path, ...] = (),
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment; its runs are sweeps of each problem, or runs of each problem and way to build a model.

    Parameters
    ----------
    sweep : bool
        Find populations by sweep, in place of timing models.
    problems : str, optional
        Kinds of problems with commas between; all if not given.
    sizes : str, optional
        Bits of the traps with commas between.
    spin : tuple of Path
        Files of spin glasses; the bundled ones if there are none.
    """
    kinds = names_named(problems, TITLES, "there is no such kind of problem", "--problems")
    if spin and SPIN not in kinds:
        raise InputError(
            Mistake("is given, but spin is not among the problems", "spin in --problems", "add it", column="--spin")
        )
    if sizes is not None and kinds == (SPIN,):
        raise InputError(
            Mistake("applies only to traps", "mk, ftrap or cyc in --problems", "add one of them", column="--sizes")
        )
    cases = _traps(kinds, sizes, budget, sweep=sweep)
    if SPIN in kinds:
        glasses = spin_cases(spin or bundled_glasses(first_only=budget.quick or not sweep))
        cases += glasses[: 1 if budget.quick and not spin else None]
    if sweep:
        swept = SweepSetup(budget=budget, progress=progress, cases=cases)
        return sweep_result(swept, sweep_all(swept))
    setup = LinkageSetup.of(budget, progress, cases=cases)
    return linkage_result(LinkageFindings(setup, solve_all(setup), evaluate_all(setup)))


def _traps(kinds: tuple[str, ...], sizes: str | None, budget: RunBudget, *, sweep: bool) -> list[Case]:
    traps = tuple(kind for kind in kinds if kind != SPIN)
    if sizes is not None:
        return trap_cases(traps, numbers_named(sizes, lambda bits: bits >= 1, "is not a valid size", "bits", "--sizes"))
    if not sweep:
        return trap_cases(traps, budget.usual(SIZES, QUICK_SIZES))
    known = {kind: [bits for each, bits in GOLDEN if each == kind] for kind in traps}
    return [case for kind in traps for case in trap_cases((kind,), known[kind][: budget.usual(None, 1)])]


def linkage_result(found: LinkageFindings) -> ExperimentResult:
    """What the runs with every way to build a model come to."""
    return found.setup.result(
        f"DSMGA-II: model building on {found.setup.device.name}",
        headlines=_headlines(found),
        checks=linkage_checks(found),
        tables=(_stages(found), _whole(found), _evaluations(found)),
        data={"runs": found.runs, "evaluations": found.evaluated},
        figures=linkage_figures(found),
        captions=bundled("linkage")["captions"],
    )


def _headlines(found: LinkageFindings) -> dict[str, str]:
    rows = rows_of(found.times)
    (_, problem, _), row = next((each for each in rows if (each[0][0], each[0][2]) == SPEED_CASE), rows[-1])
    return {
        "Stages": f"{problem}: matrix {row[f'matrix_x:{LOSSLESS}']:,.1f} x the sequential engine, linkage sets "
        f"{row[f'linkage_x:{LOSSLESS}']:,.1f} x lossless, {row[f'linkage_x:{LOSSY}']:,.1f} x lossy",
        "Whole runs": f"{problem}: lossless {row[f'total_x:{LOSSLESS}']:,.2f} x, "
        f"lossy {row[f'total_x:{LOSSY}']:,.2f} x, on demand {row[f'total_x:{ON_DEMAND}']:,.2f} x",
    }


def _rows(frame: pd.DataFrame, columns: Callable[[str, dict[str, Any]], dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each problem: which it is, and columns of its own."""
    return [
        {"problem": TITLES[kind] if not problem.startswith("SPIN") else problem, "bits": bits} | columns(problem, row)
        for (kind, problem, bits), row in rows_of(frame)
    ]


def _stages(found: LinkageFindings) -> ResultTable:
    populations = found.runs.groupby("problem")["population"].first().to_dict()
    columns = {
        "sequential matrix, ms": f"matrix_ms:{SEQUENTIAL}",
        "lossless x": f"matrix_x:{LOSSLESS}",
        "lossy x": f"matrix_x:{LOSSY}",
        "sequential sets, ms": f"linkage_ms:{SEQUENTIAL}",
        "lossless sets x": f"linkage_x:{LOSSLESS}",
        "lossy sets x": f"linkage_x:{LOSSY}",
        "lossless both x": f"building_x:{LOSSLESS}",
        "lossy both x": f"building_x:{LOSSY}",
        "loci of a lossy set": f"set_length:{LOSSY}",
    }

    def row(problem: str, times: dict[str, Any]) -> dict[str, Any]:
        return {"population": populations[problem]} | {title: times[name] for title, name in columns.items()}

    notes = (
        "Stage 1, matrix: selection, copies to the device, FastCounting and mutual information. Stage 2, sets: linkage "
        "sets from every locus, and the copy back. Milliseconds: of one generation of the sequential engine, on one "
        "thread with vector instructions, all sets in full length. x: speed-up of the OpenCL engines over it in the "
        "same run, with the seconds of a stage summed over the generations as in the paper. Medians of the runs in "
        "which both find the optimum.",
        "The lossy engine gains in stage 2 mainly by doing less work: its sets end after the number of loci in the "
        "last column (last generation); those of the others are complete.",
    )
    formats = {"*ms": ".3g", "*x": ".3g", "loci of a lossy set": ".1f"}
    return result_table("Model building (Figures 6 to 9)", _rows(found.times, row), *notes, **formats)


def _whole(found: LinkageFindings) -> ResultTable:
    def row(problem: str, times: dict[str, Any]) -> dict[str, Any]:
        spent = {f"{model}, ms": times[f"total_ms:{model}"] for model in MODELS}
        return spent | {f"{model} x": times[f"total_x:{model}"] for model in MODELS if model != SEQUENTIAL}

    note = (
        "Milliseconds of a whole run, medians: hill climbing, models and mixing, without compilation. On-demand is "
        "this program's own method: the same sets as the sequential engine, on one host thread, but only the parts "
        "that mixing needs are built, and they are reused."
    )
    return result_table("Whole runs", _rows(found.times, row), note, **{"*, ms": ".3g", "* x": ".3g"})


def _evaluations(found: LinkageFindings) -> ResultTable:
    def row(problem: str, told: dict[str, Any]) -> dict[str, Any]:
        def both(name: str, column: str, scale: float = 1.0) -> dict[str, float]:
            models = (("lossless", ON_DEMAND), ("lossy", LOSSY))
            return {name.format(model): scale * told[f"{column}:{each}"] for model, each in models}

        columns = both("{}", "evaluations") | {"difference, %": 100 * told["apart"]}
        columns |= both("mixing, {}", "mixing_evaluations") | {"mixing difference, %": 100 * told["mixing_apart"]}
        return columns | both("generations, {}", "generations") | both("found, {} %", "found", 100)

    note = (
        "Mean evaluations until the optimum is found, over the runs that find it: with hill climbing, as the original "
        "program reports them, and of mixing alone. The paper's largest difference of lossy is 13.12 %. Lossless: "
        "measured with the on-demand engine, whose search is identical."
    )
    counts = dict.fromkeys(("lossless", "lossy", "mixing, lossless", "mixing, lossy"), ",.0f")
    formats = counts | {"*difference, %": "+.1f", "generations, lossless": ".1f", "generations, lossy": ".1f"}
    rows = _rows(found.evaluations, row)
    return result_table("Evaluations (Figure 10)", rows, note, form=".0f", **formats)
