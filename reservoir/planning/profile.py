"""What a plan's solvers spent their time on, as stages of a profile."""

from __future__ import annotations

from collections.abc import Mapping

from reservoir.planning.parts.run import PARTS_STAGE
from reservoir.planning.plan import Plan
from reservoir.solvers import Solution


def solver_stages(plan: Plan) -> dict[str, float]:
    """The stages of `Plan.seconds`, those of solvers on a device cut into programs, device and host.

    ``programs`` is the time to build them or to load them from the driver's cache, ``device`` what the device itself
    stamped, ``host`` all else: imports, copies, and recomputing every year in float64.
    """
    if PARTS_STAGE in plan.seconds:
        return _of_parts(plan)
    first = {solutions[0].solver: solutions[0] for solutions in (plan.solutions, plan.references) if solutions}
    stages: dict[str, float] = {}
    for stage, seconds in plan.seconds.items():
        stages |= _parts(stage, seconds, first[stage]) if stage in first else {stage: seconds}
    return stages


def _of_parts(plan: Plan) -> dict[str, float]:
    """Stages of a plan whose parts were searched side by side: what the host did meanwhile is not counted."""
    each = [solutions for solutions in (plan.solutions, plan.references) if solutions]
    devices = {f"{found.solver}: device": found.device_seconds for found in each if found.device_seconds is not None}
    host = plan.seconds[PARTS_STAGE] - sum(devices.values())
    if host < 0:  # several devices at once
        return dict(plan.seconds)
    others = {stage: seconds for stage, seconds in plan.seconds.items() if stage != PARTS_STAGE}
    return {**others, **devices, f"{PARTS_STAGE}: host": host}


def _parts(solver: str, seconds: float, solution: Solution) -> Mapping[str, float]:
    if solution.device_seconds is None:
        return {solver: seconds}
    programs = solution.host_seconds_by_phase.get("build", 0.0)
    host = seconds - programs - solution.device_seconds
    if host < 0:  # several devices at once: their seconds overlap
        return {solver: seconds}
    return {
        f"{solver}: programs": programs,
        f"{solver}: device": solution.device_seconds,
        f"{solver}: host": host,
    }
