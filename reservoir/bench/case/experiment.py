"""The case study of Yu et al. 2020 (Complexity 6589658, section 5) on any reservoir, and how its speed scales.

Both engines run in turn (Tables 5 to 7); then the size of the work and the layout of the device are changed one by one,
and the speed is compared with what the device's arithmetic allows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from reservoir.bench.case.acceptance import case_checks
from reservoir.bench.case.arithmetic_limit import ArithmeticLimit, measure_limit
from reservoir.bench.case.engine_runs import DEVICE_ENGINE, engine_runs
from reservoir.bench.case.operation_count import operations_per_move, rule
from reservoir.bench.case.scaling import Bench, measure_scaling, scaling_table
from reservoir.bench.case.scaling_figure import SCALING_CAPTION, scaling_figure
from reservoir.bench.case.tables import gap_table, speed_up, table_5, table_6, table_7
from reservoir.bench.case.times_figure import TIMES_CAPTION, times_figure
from reservoir.bench.experiment import device_origin, processor_name
from reservoir.bench.result import ExperimentResult, ResultTable
from reservoir.bench.run_budget import QUICK_WARNING, RunBudget
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.opencl import DeviceInfo, choose_devices, list_devices
from reservoir.planning.plan import Plan, StageProgress, optimise, silent_stage

QUICK_GENERATIONS = 500


def run(
    reservoir: Reservoir,
    inflow: Inflow,
    *,
    effort: RunBudget,
    peers: bool = False,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment.

    Parameters
    ----------
    reservoir : Reservoir
    inflow : Inflow
    effort : RunBudget
        Of several devices the first is measured; how a case is shared among all of its kind is measured anyway.
    peers : bool
        Race other libraries on the same years, too.
    progress : callable

    Raises
    ------
    InputError
        If reservoir and record do not fit each other.
    DeviceError
        If there is no OpenCL device of that name.
    """
    device = choose_devices(effort.device)[0]
    settings: dict[str, Any] = {"generations": QUICK_GENERATIONS} if effort.quick else {}
    plan = optimise(
        reservoir,
        inflow,
        solver=DEVICE_ENGINE,
        seed=effort.seed,
        device=str(device.index),
        progress=progress,
        **settings,
    )
    runs = engine_runs(plan, device, effort, settings, progress)
    limit = measure_limit(device, progress=lambda done, total: progress("arithmetic limit", done, total))
    moves_limit = limit.best / operations_per_move(plan.years[0])
    bench = Bench(plan.years, (device, *_others(device)), moves_limit, effort)
    points = measure_scaling(bench, progress)
    found = _record(plan, device, effort, runs, points, limit)
    return _with_peers(found, plan, effort, progress) if peers else found


def _others(device: DeviceInfo) -> list[DeviceInfo]:
    kin = [each for each in list_devices() if (each.platform, each.kind) == (device.platform, device.kind)]
    return [each for each in kin if each != device]


def _record(
    plan: Plan, device: DeviceInfo, effort: RunBudget, runs: pd.DataFrame, points: pd.DataFrame, limit: ArithmeticLimit
) -> ExperimentResult:
    per_move = operations_per_move(plan.years[0])
    reference_gwh = sum(plan.references.fitness.tolist())
    note = f"{device.name} ({device.platform} {device.driver})" + (". " + QUICK_WARNING if effort.quick else "")
    return ExperimentResult(
        title=f"{plan.reservoir.name}, {len(plan.years)} years, on {device.name}",
        warnings=((QUICK_WARNING,) if effort.quick else ()) + plan.caveats,
        headlines=_headlines(runs, points, limit.best / per_move),
        checks=tuple(case_checks(plan, device, runs, points, effort)),
        tables=(
            table_5(runs),
            table_6(runs),
            table_7(runs),
            gap_table(runs, len(plan.years), reference_gwh),
            _limit_table(plan, limit),
            scaling_table(points, effort),
        ),
        data={"runs": runs, "scaling": points},
        figures={
            "times": times_figure(plan, runs, note),
            "scaling": scaling_figure(plan, points, limit.best / per_move, note),
        },
        captions={"times": TIMES_CAPTION, "scaling": SCALING_CAPTION},
        origin=_origin(plan, device, effort, limit),
    )


def _headlines(runs: pd.DataFrame, points: pd.DataFrame, moves_limit: float) -> dict[str, str]:
    fastest = points[points["devices"] == 1]["moves_per_second"].max()
    return {
        "Speed-up": f"{speed_up(runs):.2f} times the sequential engine on one thread",
        "Fastest": f"{fastest / 1e6:,.1f} million particle moves a second, {fastest / moves_limit:.0%} of what the "
        "device's arithmetic allows",
    }


def _limit_table(plan: Plan, limit: ArithmeticLimit) -> ResultTable:
    per_move = operations_per_move(plan.years[0])
    measured = limit.instructions_per_second
    frame = pd.DataFrame(
        {
            "lanes of a vector": list(measured),
            "instructions, 1e9/s": [each / 1e9 for each in measured.values()],
            "moves, M/s": [each / per_move / 1e6 for each in measured.values()],
        }
    )
    method = "Measured by a kernel of independent multiply-adds in float32; the largest is the device's limit."
    formats = {"lanes of a vector": "d", "instructions, 1e9/s": ",.1f", "moves, M/s": ",.1f"}
    return ResultTable("Arithmetic limit", frame, (method, rule(plan.years[0])), formats)


def _origin(plan: Plan, device: DeviceInfo, effort: RunBudget, limit: ArithmeticLimit) -> dict[str, Any]:
    def of(read: Reservoir | Inflow) -> dict[str, str]:
        return {"sha256": read.sha256, "caveat": read.caveat}

    return {
        "processor": processor_name(),
        "device": device_origin(device),
        "reservoir": {"name": plan.reservoir.name} | of(plan.reservoir),
        "inflow": {"first": plan.inflow.labels[0], "last": plan.inflow.labels[-1]} | of(plan.inflow),
        "quick": effort.quick,
        "runs": effort.runs,
        "seed": effort.seed,
        "settings": dict(plan.solutions.settings[0]),
        "arithmetic_limit": {
            "instructions_per_second": limit.best,
            "instructions_per_move": operations_per_move(plan.years[0]),
            "counted": rule(plan.years[0]),
        },
    }


def _with_peers(found: ExperimentResult, plan: Plan, effort: RunBudget, progress: StageProgress) -> ExperimentResult:
    """Add the race against other libraries."""
    from reservoir.bench.peers import draw_peers, time_peers
    from reservoir.report.figures.style import figure_style, new_figure, settled

    race = time_peers(
        list(plan.years), plan.references, seed=effort.seed, device=effort.device, quick=effort.quick, progress=progress
    )
    frame = race.frame()
    with figure_style():
        figure: Figure
        ran = int(frame["total_seconds"].notna().sum())
        figure, sheet = new_figure(plan, 1.6 + 0.3 * ran)
        draw_peers(race, sheet.add_subplot())
        settled(figure)
    return replace(
        found,
        tables=(*found.tables, ResultTable(race.title, frame, race.notes)),
        data={**found.data, "peers": frame},
        figures={**found.figures, "peers": figure},
        captions={**found.captions, "peers": race.title},
    )
