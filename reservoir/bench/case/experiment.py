"""The case study of Yu et al. 2020 (Complexity 6589658, section 5) on any reservoir, and how its speed scales.

Both engines run in turn (Tables 5 to 7); then the size of the work and the layout of the device are changed one by one,
and the speed is compared with what the device's arithmetic allows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from reservoir.bench.case.arithmetic import ArithmeticLimit, measure_limit, operations_per_move, rule
from reservoir.bench.case.figures import scaling_figure, times_figure
from reservoir.bench.case.findings import case_checks, gap_table, speed_up, table_5, table_6, table_7
from reservoir.bench.case.runs import DEVICE_ENGINE, CaseSetup, engine_runs
from reservoir.bench.case.scaling import ScalingSetup, measure_scaling, scaling_table
from reservoir.bench.data import bundled
from reservoir.bench.experiment import DeviceSetup
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.run_budget import QUICK_WARNING, RunBudget
from reservoir.hydro.horizon import YEAR
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.opencl import list_devices
from reservoir.planning.plan import StageProgress, optimise, silent_stage
from reservoir.report.figures.style import foot_texts, on_axes, plan_figure

QUICK_GENERATIONS = 500


def run(
    reservoir: Reservoir,
    inflow: Inflow,
    *,
    budget: RunBudget,
    peers: bool = False,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment on the first device; how a case is shared among all of its kind is measured, too.

    Parameters
    ----------
    peers : bool
        Race other libraries on the same years, too.
    """
    device = DeviceSetup.of(budget, progress).device
    settings: dict[str, Any] = budget.usual({}, {"generations": QUICK_GENERATIONS})
    asked = {"solver": DEVICE_ENGINE, "seed": budget.seed, "device": str(device.index), **settings}
    plan = optimise(reservoir, inflow, horizon=YEAR, engine_only=True, progress=progress, **asked)
    setup = CaseSetup(budget=budget, progress=progress, device=device, plan=plan, settings=settings)
    runs, limit = engine_runs(setup), measure_limit(setup)
    kin = [each for each in list_devices() if (each.platform, each.kind) == (device.platform, device.kind)]
    scaling = ScalingSetup(
        budget=budget,
        progress=progress,
        device=device,
        years=plan.problems.each,
        kin=[each for each in kin if each != device],
        moves_limit=limit.best / operations_per_move(plan.problems.each[0]),
    )
    found = case_result(setup, runs, measure_scaling(scaling), limit)
    return _with_peers(found, setup) if peers else found


def case_result(setup: CaseSetup, runs: pd.DataFrame, points: pd.DataFrame, limit: ArithmeticLimit) -> ExperimentResult:
    """What runs, points and limit come to."""
    plan, first = setup.plan, setup.plan.problems.each[0]
    moves_limit = limit.best / operations_per_move(first)
    foot = foot_texts(plan, setup.place + setup.budget.usual("", f". {QUICK_WARNING}"))
    reference_gwh = sum(plan.references.fitness.tolist())
    fastest = points[points["devices"] == 1]["moves_per_second"].max()
    reservoir, inflow = ({"sha256": each.sha256, "caveat": each.caveat} for each in (plan.reservoir, plan.inflow))
    return setup.result(
        f"{plan.reservoir.name}, {plan.inflow.years} years, on {setup.device.name}",
        caveats=plan.caveats,
        headlines={
            "Speed-up": f"{speed_up(runs):.2f} times the sequential engine on one thread",
            "Fastest": f"{fastest / 1e6:,.1f} million particle moves per second, {fastest / moves_limit:.0%} of the "
            "device's arithmetic limit",
        },
        checks=case_checks(setup, runs, points),
        tables=(
            *(table(runs) for table in (table_5, table_6, table_7)),
            gap_table(runs, plan, reference_gwh),
            _limit_table(setup, limit),
            scaling_table(setup, points),
        ),
        data={"runs": runs, "scaling": points},
        figures={"times": times_figure(runs, foot), "scaling": scaling_figure(points, moves_limit, foot)},
        captions=bundled("case")["captions"],
        reservoir={"name": plan.reservoir.name} | reservoir,
        inflow={"first": plan.inflow.labels[0], "last": plan.inflow.labels[-1]} | inflow,
        settings=dict(plan.solutions.settings[0]),
        arithmetic_limit={
            "instructions_per_second": limit.best,
            "instructions_per_move": operations_per_move(first),
            "counted": rule(first),
        },
    )


def _limit_table(setup: CaseSetup, limit: ArithmeticLimit) -> ResultTable:
    first = setup.plan.problems.each[0]
    moves = operations_per_move(first)
    rows = [
        {"lanes of a vector": lanes, "instructions, 1e9/s": each / 1e9, "moves, M/s": each / moves / 1e6}
        for lanes, each in limit.instructions_per_second.items()
    ]
    method = "Measured with a kernel of independent float32 multiply-adds; the maximum is the device's limit."
    return result_table("Arithmetic limit", rows, method, rule(first), form=",.1f", **{"lanes of a vector": "d"})


def _with_peers(found: ExperimentResult, setup: CaseSetup) -> ExperimentResult:
    """Add the race against other libraries."""
    from reservoir.bench.peers import draw_peers, time_peers

    plan, budget = setup.plan, setup.budget
    asked: dict[str, Any] = {"seed": budget.seed, "device": budget.device, "quick": budget.quick}
    race = time_peers(list(plan.problems.each), plan.references, progress=setup.progress, **asked)
    frame = race.frame()
    drawn, height = on_axes(race.title, draw_peers, race), 1.6 + 0.3 * int(frame["total_seconds"].notna().sum())
    return replace(
        found,
        tables=(*found.tables, ResultTable(race.title, frame, race.notes)),
        data={**found.data, "peers": frame},
        figures={**found.figures, "peers": plan_figure(plan, height, drawn)},
        captions={**found.captions, "peers": race.title},
    )
