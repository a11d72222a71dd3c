"""The experiment: sweeps, or runs with every way to build a model, and what they come to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

import reservoir
from reservoir.bench.experiment import device_origin, processor_name
from reservoir.bench.linkage.acceptance import SPEED_CASE, model_checks
from reservoir.bench.linkage.cases import (
    SPIN,
    Case,
    bundled_glasses,
    kinds_named,
    sizes_named,
    spin_cases,
    trap_cases,
)
from reservoir.bench.linkage.figures import CAPTIONS, linkage_figures
from reservoir.bench.linkage.findings import rows_of, stage_times
from reservoir.bench.linkage.stages import EVALUATION_RUNS, evaluate_all, solve_all
from reservoir.bench.linkage.sweeps import CONSECUTIVE, GOLDEN, by_size, sweep_all, sweep_checks, sweep_tables
from reservoir.bench.linkage.tables import result_tables
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import QUICK_WARNING, RunBudget
from reservoir.errors import InputError, Mistake
from reservoir.opencl import DeviceInfo, choose_devices
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.solvers.dsmga2.settings import LOSSLESS, LOSSY, ON_DEMAND

#: Sizes of traps: multiples of the blocks of all three kinds.
SIZES, QUICK_SIZES = (60, 120, 240, 360, 480, 600), (60, 120)


def run(
    *,
    effort: RunBudget,
    sweep: bool = False,
    problems: str | None = None,
    sizes: str | None = None,
    spin: tuple[Path, ...] = (),
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment.

    Parameters
    ----------
    effort : RunBudget
        Its runs are sweeps of each problem, or runs of each problem and way to build a model.
    sweep : bool
        Find populations by sweep, in place of timing models.
    problems : str, optional
        Kinds of problems with commas between; all if not given.
    sizes : str, optional
        Bits of the traps with commas between.
    spin : tuple of Path
        Files of spin glasses; the bundled ones if there are none.
    progress : callable

    Raises
    ------
    InputError
        If there is no such problem, size or file.
    DeviceError
        If there is no OpenCL device of that name; a sweep needs none.
    """
    kinds = kinds_named(problems)
    _refuse_idle(kinds, sizes, spin)
    cases = _traps(kinds, sizes, effort, sweep=sweep)
    if SPIN in kinds:
        first_only = effort.quick or not sweep
        glasses = spin_cases(spin or bundled_glasses(first_only=first_only))
        cases += glasses[: 1 if effort.quick and not spin else None]
    if sweep:
        return _sweep_record(sweep_all(cases, effort.runs, effort.seed, progress), effort)
    device = choose_devices(effort.device)[0]
    runs = solve_all(cases, effort.runs, effort.seed, device, progress)
    many = effort.runs if effort.quick else EVALUATION_RUNS * effort.runs
    return _model_record(runs, evaluate_all(cases, many, effort.seed, device, progress), effort, device)


def _refuse_idle(kinds: tuple[str, ...], sizes: str | None, spin: tuple[Path, ...]) -> None:
    """Refuse options that would do nothing."""
    if spin and SPIN not in kinds:
        raise InputError(Mistake("are not among the problems", "spin in --problems", "add it", column="--spin"))
    if sizes is not None and kinds == (SPIN,):
        raise InputError(Mistake("are those of traps", "mk, ftrap or cyc in --problems", "add one", column="--sizes"))


def _traps(kinds: tuple[str, ...], sizes: str | None, effort: RunBudget, *, sweep: bool) -> list[Case]:
    traps = tuple(kind for kind in kinds if kind != SPIN)
    if sizes is not None:
        return trap_cases(traps, sizes_named(sizes))
    if not sweep:
        return trap_cases(traps, QUICK_SIZES if effort.quick else SIZES)
    known = {kind: [bits for each, bits in GOLDEN if each == kind] for kind in traps}
    return [case for kind in traps for case in trap_cases((kind,), known[kind][: 1 if effort.quick else None])]


def _sweep_record(sweeps: pd.DataFrame, effort: RunBudget) -> ExperimentResult:
    largest = by_size(sweeps).iloc[-1]
    return ExperimentResult(
        title="Populations of DSMGA-II by sweep",
        warnings=(QUICK_WARNING,) if effort.quick else (),
        headlines={
            "Sweeps": f"{len(sweeps)} of {sweeps['problem'].nunique()} problems, {CONSECUTIVE} runs of each population",
            "Largest": f"{sweeps['problem'].iloc[-1]}: population {largest['population']:,.0f}, "
            f"{largest['evaluations']:,.0f} evaluations",
        },
        checks=() if effort.quick else tuple(sweep_checks(sweeps)),
        tables=tuple(sweep_tables(sweeps)),
        data={"sweeps": sweeps},
        figures={},
        captions={},
        origin=_origin(effort) | {"consecutive_runs": CONSECUTIVE},
    )


def _model_record(
    runs: pd.DataFrame, evaluated: pd.DataFrame, effort: RunBudget, device: DeviceInfo
) -> ExperimentResult:
    foot = f"{effort.runs} timed runs, evaluations of {evaluated['run'].nunique()} · {device.name} "
    foot += f"({device.platform} {device.driver}); sequential: {processor_name()}"
    foot += f" · {QUICK_WARNING}" if effort.quick else ""
    return ExperimentResult(
        title=f"DSMGA-II: model building on {device.name}",
        warnings=(QUICK_WARNING,) if effort.quick else (),
        headlines=_headlines(runs),
        checks=() if effort.quick else tuple(model_checks(device, runs, evaluated)),
        tables=tuple(result_tables(runs, evaluated)),
        data={"runs": runs, "evaluations": evaluated},
        figures=linkage_figures(runs, evaluated, foot),
        captions=CAPTIONS,
        origin=_origin(effort) | {"device": device_origin(device)},
    )


def _headlines(runs: pd.DataFrame) -> dict[str, str]:
    rows = rows_of(stage_times(runs))
    (_, problem, _), row = next((each for each in rows if (each[0][0], each[0][2]) == SPEED_CASE), rows[-1])
    return {
        "Stages": f"{problem}: matrix {row[f'matrix_x:{LOSSLESS}']:,.1f} x the sequential engine, linkage sets "
        f"{row[f'linkage_x:{LOSSLESS}']:,.1f} x lossless, {row[f'linkage_x:{LOSSY}']:,.1f} x lossy",
        "Whole runs": f"{problem}: lossless {row[f'total_x:{LOSSLESS}']:,.2f} x, "
        f"lossy {row[f'total_x:{LOSSY}']:,.2f} x, on demand {row[f'total_x:{ON_DEMAND}']:,.2f} x",
    }


def _origin(effort: RunBudget) -> dict[str, Any]:
    return {
        "processor": processor_name(),
        "version": reservoir.__version__,
        "quick": effort.quick,
        "runs": effort.runs,
        "seed": effort.seed,
    }
