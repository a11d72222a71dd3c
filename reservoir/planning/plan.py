"""Optimise a case: a reservoir and an inflow record in, the best operation of every year out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from numpy.typing import ArrayLike

from reservoir.errors import InputError, Mistake
from reservoir.hydro.commitments import is_committed
from reservoir.hydro.curves.approximation import FormRanges
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.inflow_check import InflowCheck
from reservoir.hydro.objectives import Goal, Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.planning.notes import commitment_notes, fixed_end_notes, plan_notes
from reservoir.planning.operated_record import OperatedRecord
from reservoir.planning.parts import PARTS_STAGE, LocalWorkers, PartStore, has_parts, search_in_parts
from reservoir.planning.planned_record import Plan as Plan
from reservoir.planning.search import Method, references_of, search
from reservoir.planning.solving import NotedStop, both_of_system, chosen_solver
from reservoir.planning.solving import StageProgress as StageProgress
from reservoir.planning.solving import silent_stage as silent_stage
from reservoir.planning.start import plan_start, with_end_value, with_implied_end_value
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.record import record_problems
from reservoir.solvers import Stop
from reservoir.solvers.engine import callers_own

if TYPE_CHECKING:
    import pandas as pd

    from reservoir.planning.system_plan import SystemPlan

#: The one grid on which year ends are compared.
_COARSE = {"states": 51, "most_states": 51}


@overload
def optimise(reservoir: Reservoir, inflow: Inflow, **how: Any) -> Plan: ...


@overload
def optimise(reservoir: System, inflow: SiteInflows, **how: Any) -> SystemPlan: ...


def optimise(
    reservoir: Reservoir | System,
    inflow: Inflow | SiteInflows,
    *,
    solver: str | None = None,
    horizon: Horizon | str | int | None = None,
    start: object = None,
    start_level_m: Any = None,
    start_hm3: Any = None,
    seed: int = 1,
    device: str | None = "auto",
    reference: bool = True,
    engine_only: bool = False,
    best: bool = False,
    initial: OperatedRecord | ArrayLike | pd.Series[float] | Any = None,
    progress: StageProgress = silent_stage,
    stop: Stop | None = None,
    parts: PartStore | None = None,
    cluster: str | None = None,
    form_ranges: tuple[FormRanges, ...] = (),
    searched: Plan | None = None,
    **options: Any,
) -> Plan | SystemPlan:
    """Find the best operation of every year of a record.

    Parameters
    ----------
    reservoir : Reservoir or System
        A system is planned by `optimise_system`, which has no reference, and knows ``seconds``.
    inflow : Inflow or SiteInflows
        Its water years begin in the reservoir's first month; of a system, a record a reservoir.
    solver : str, optional
        A name of `reservoir.solvers.SOLVERS`; by default ``clpso``; for longer horizons dynamic programming, or
        ``lshade`` if the change of the release is limited.
    horizon : Horizon, str or int, optional
        What is planned as one problem: ``"year"``, ``"record"`` or a number of years; by default as the reservoir says.
    start : str, date or pandas.Period, optional
        Month in which the plan begins, such as ``"2026-11"``, from the level or the storage that is given with it.
        Each year of the record is then one scenario of the inflow, from that month to the end of the water year; with
        a horizon of N years, to the end of the Nth. It ends as the reservoir's year end says.
    start_level_m, start_hm3 : float or mapping of str to float, optional
        Level, or storage, at the start of that month; of a system, by the names of the reservoirs.
    seed : int
        The same seed on the same device gives the same plan.
    device : str, optional
        See `reservoir.opencl.choose_device`.
    reference : bool
        Also find the reference optimum by dynamic programming, so that every year's gap is known. A year in which the
        solver is not close enough to it is solved again with more effort, and holds the reference's schedule if that
        is not enough either; `Plan.source` says which years these are. See `reservoir.planning.search.best_known`.
    engine_only : bool
        Hold the solver's own schedule in every year.
    best : bool
        Hold the reference's schedule in every year in which it is better than the solver's, by any amount: what a proof
        of a small gap needs (`reservoir.planning.proof.prove_plan`).
    initial : Plan, ReleaseSimulation, array_like or pandas.Series, optional
        Releases that the search begins with (m3/s), as of `reservoir.simulate`: one member of the first population of
        each problem, the others are random. The plan is no worse than they are, but for the rounding of float32. Only
        ``clpso``, ``lshade``, ``ann-pso`` and their forms on the CPU can begin with them.
    progress : callable
        Told the stage, how many years are done and how many there are.
    stop : callable, optional
        Asked with an `IntermediateResult` between launches, or years. If it returns True, the plan has the years that
        are planned, from the first of the record; if that is during the reference optimum, it has no gaps. ``clpso``
        and ``lshade`` ask after each sweep over long horizons, which then have the schedules found so far.
        `Plan.stopped` says where. See `reservoir.solvers.solve`.
    parts : PartStore, optional
        Keeps the parts in which more than 4,096 years are searched, such as a `reservoir.PartsFolder`; in memory by
        default. Without `initial`, `start` and `stop` alone: with them, all years are searched at once. Problems of a
        system are searched in parts on a cluster alone.
    cluster : str, optional
        Where parts are searched: ``tcp://HOST:PORT`` of a Dask scheduler, or ``local:N`` for N processes here.
    form_ranges : tuple
        Storages and releases on which forms of the curves are, as of
        `reservoir.hydro.curves.approximation.form_ranges`: plans of one reservoir with other limits between their ends
        then fit no curve again, and build no kernel. Without them, they follow from the limits.
    searched : Plan, optional
        A plan of the same reservoir, inflow and settings, but without a reference: its search is not made again. The
        plan is the same without it, but for the seconds.
    **options
        Settings of the solver, such as ``particles`` and ``generations``.

    Raises
    ------
    InputError
        If reservoir and record do not fit each other, the solver cannot take such a horizon, or a setting is wrong.
    DeviceError
        If the device asked for is missing or too small.
    """
    if isinstance(reservoir, System) or isinstance(inflow, SiteInflows):
        from reservoir.planning.system_plan import optimise_system  # here: what systems need, one reservoir does not

        one = {"reference": not reference, "engine_only": engine_only, "best": best, "form_ranges": form_ranges}
        one |= {"searched": searched is not None}
        how: dict[str, Any] = {"solver": solver, "horizon": horizon, "seed": seed, "device": device, **options}
        how |= {"start": start, "start_levels_m": start_level_m, "start_storages_hm3": start_hm3, "initial": initial}
        how |= {"parts": parts, "cluster": cluster}
        return optimise_system(*_of_system(reservoir, inflow, one), progress=progress, stop=stop, **how)
    watch = Stopwatch()
    with watch("prepare"):
        system = System.of(reservoir)
        asked = system.asked_horizon(horizon)
        begin = plan_start(start, start_level_m, start_hm3, asked, reservoir)
        inflow = system.on_calendar(inflow)
        doubts = InflowCheck(inflow, reservoir).doubts
        end_value = with_implied_end_value(reservoir, inflow, watch).end_value_gwh_per_hm3
        if begin:
            reservoir, inflow, asked = begin.begun, begin.traces(inflow), Horizon()
        given = record_problems(with_end_value(reservoir, end_value), inflow, asked, form_ranges)
    progress, noted = callers_own(progress), NotedStop(stop) if stop else None
    committed, problems = is_committed(reservoir), given
    if committed:
        from reservoir.planning.commitments import COMMITMENT_STAGE, judged_without_room, keeping_commitments

        if reservoir.objective.is_firm:
            problem, mend = "is not planned together with [commitments]", "choose another goal, or give firm_power_mw"
            raise InputError(problem, "a goal such as energy", mend, column="objective.goal", value=Goal.FIRM_POWER)
        with watch(COMMITMENT_STAGE):
            problems, keeping = keeping_commitments(given, progress)
    with watch("devices"):
        solver, notes, options = chosen_solver(solver, device, options, problems)
        if initial is not None:
            from reservoir.planning.simulation import first_positions

            options = {**options, **first_positions(problems, initial, solver)}
            notes = (*notes, "The search began with given releases.")
    method = Method(solver, seed, device, reference, engine_only, options, best)
    in_parts = problems.horizon.is_year and not (begin or noted or initial is not None or committed)
    if cluster and not in_parts:
        problem, expected = "a cluster searches years by themselves", "the horizon year, without start, stop or initial"
        expected += ", of a reservoir without commitments" * committed
        raise InputError(problem, expected, "leave out the cluster", column="cluster", value=cluster)
    if in_parts and (cluster or has_parts(problems)):
        from reservoir.planning.cluster import cluster_workers

        searching = cluster_workers(cluster) if cluster else nullcontext(LocalWorkers(method))
        with watch(PARTS_STAGE), searching as workers:
            plan: Plan = search_in_parts(problems, method, progress, parts or PartStore(), workers)
    else:
        plan = search(problems, method, progress, noted, watch, None if committed else searched)
    if committed:
        with watch("certify"):
            plan = judged_without_room(plan, given, keeping)
        notes = (*notes, *commitment_notes(reservoir, plan.operation, plan.inflow))
    if plan.references and not begin:
        with watch("year end"):
            tried = partial(references_of, solver=solver, device=device, progress=silent_stage, watch=Stopwatch())
            notes = (*notes, *fixed_end_notes(plan.problems, partial(tried, stop=None, **_COARSE)))
    about_plan = plan_notes(reservoir, plan.problems, plan.operation, begin, plan.stopped)
    notes = (*plan.inflow.notes, *reservoir.notes, *doubts, *notes, *plan.notes, *about_plan)
    return replace(plan, reservoir=reservoir, notes=notes, seconds=watch.seconds, start=begin)


def _of_system(reservoir: Any, inflow: Any, of_one: Mapping[str, Any]) -> tuple[System, SiteInflows]:
    """A system and its record; InputError where one of them is of one reservoir, or arguments are."""
    system, inflows = both_of_system(reservoir, inflow)
    problem, mend = "counts for one reservoir", "leave it out"
    if given := [name for name, value in of_one.items() if value]:
        raise InputError(Mistake(problem, "a single reservoir", mend, column=name) for name in given)
    return system, inflows


def solver_stages(plan: Plan) -> dict[str, float]:
    """The stages of `Plan.seconds`, those of solvers on a device cut into programs, device and host.

    ``programs`` is the time to build them or to load them from the driver's cache, ``device`` what the device itself
    stamped, ``host`` all else: imports, copies, and recomputing every year in float64. Stages that overlap on several
    devices are not cut.
    """
    calls = [solutions for solutions in (plan.solutions, plan.references) if solutions]
    if PARTS_STAGE in plan.seconds:  # searched side by side: what the host did meanwhile is not counted
        devices = {f"{call.solver}: device": call.device_seconds for call in calls if call.device_seconds is not None}
        host = plan.seconds[PARTS_STAGE] - sum(devices.values())
        others = {stage: seconds for stage, seconds in plan.seconds.items() if stage != PARTS_STAGE}
        return dict(plan.seconds) if host < 0 else {**others, **devices, f"{PARTS_STAGE}: host": host}
    stages: dict[str, float] = {}
    for stage, seconds in plan.seconds.items():
        call = next((each for each in calls if each.solver == stage), None)
        on_device = None if call is None else call.device_seconds
        programs = 0.0 if call is None else call.host_seconds_by_phase.get("build", 0.0)
        if on_device is None or seconds < programs + on_device:
            stages[stage] = seconds
        else:
            stages |= {f"{stage}: programs": programs, f"{stage}: device": on_device}
            stages[f"{stage}: host"] = seconds - programs - on_device
    return stages
