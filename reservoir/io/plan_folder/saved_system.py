"""A joint plan from its folder: operated anew with the releases of its arrays, nothing else of it is believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.plan_folder import files
from reservoir.io.plan_folder.arrays import Arrays, saved_record
from reservoir.io.plan_folder.files import SYSTEM
from reservoir.io.plan_folder.saved_plan import FOLLOWING, SavedPlan, require_same, saved_plan
from reservoir.io.system_file import read_system
from reservoir.planning.checked_system import operated_plan
from reservoir.planning.columns import PROVEN_BOUND, PROVEN_GAP
from reservoir.planning.notes import notes_again
from reservoir.planning.start import PlanStart
from reservoir.planning.system_plan import SystemPlan, SystemProofs
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.system import system_problems

#: Array of whose schedule each problem has: the place of the solver among those that ``plan.json`` counts.
SOURCES = "source"


def read_system_plan(folder: Path) -> SavedPlan[SystemPlan]:
    """Read the folder of a joint plan, and operate its releases anew.

    Raises
    ------
    InputError
        If it is no such folder; with every file that is missing or was changed, or with the first year and step of
        each array that does not follow from the releases.
    """

    def planned(origin: Mapping[str, Any], arrays: Arrays) -> SystemPlan:
        system, horizon = read_system(folder / SYSTEM), Horizon.of(origin["horizon"])
        if SOURCES not in arrays:
            raise InputError("was written by an earlier edition", mend=files.AGAIN, file=str(folder))
        of_sites = {"members": None, **{name: array for name, array in arrays.items() if name not in _OF_PLAN}}
        records = {
            name: saved_record(
                {"inflow": origin["inflows"][name], files.CALENDAR: origin[files.CALENDAR]},
                {
                    key: each if key == "members" else each[:, place]
                    for key, each in of_sites.items()
                    if each is not None and (key == "members" or not np.isnan(each[:, place]).all())
                },
            )
            for place, name in enumerate(system.names)
        }
        starts = {
            name: PlanStart(start["month"], start["storage_hm3"], Horizon(), reservoir)
            for reservoir in system.reservoirs
            for name, start in (origin["start"] or {}).items()
            if name == reservoir.name
        }
        problems = system_problems(system, SiteInflows(records), horizon)
        plan = operated_plan(system, SiteInflows(records), problems, _positions(problems, arrays))
        follow = {name: plan.operation.stacked(name) for name in FOLLOWING if name in arrays}
        require_same(folder, arrays, follow, plan.inflow.labels, SYSTEM)
        proofs, names = None, list(origin["sources"])
        if PROVEN_BOUND in arrays:
            stated = origin["proof"]
            bounds = arrays[PROVEN_BOUND], arrays[PROVEN_GAP]
            proofs = SystemProofs(*bounds, float(stated["gap_asked"]), stated["infeasible"])
        return replace(
            plan,
            solutions=replace(plan.solutions, solver=origin["solver"], device=origin["device"]),
            sources=tuple(names[place] for place in arrays[SOURCES].tolist()),
            notes=notes_again(origin["notes"], plan.notes),
            seconds=dict(origin["seconds"]),
            stopped=origin["stopped"] or "",
            starts=starts,
            units=UnitSystem.of(origin["units"]["system"]),
            proofs=proofs,
        )

    return saved_plan(folder, planned)


#: Arrays that are not of the record.
_OF_PLAN = (*FOLLOWING, SOURCES, PROVEN_BOUND, PROVEN_GAP)


def _positions(problems: RecordProblems, arrays: Arrays) -> list[Any]:
    """Positions that release what the arrays say, from the starts that they say."""
    found, (releases, storages) = list[Any](), (arrays[name] for name in ("release_m3s", "storage_hm3"))
    for places, batch in problems.placed_batches:
        years: Any = batch
        first = int(np.flatnonzero(problems.of_year == places[0])[0])
        length = years.steps // problems.inflow.steps
        some = slice(first, first + len(places) * length)
        own = releases[some].reshape(len(places), length, *releases.shape[1:])
        own = own.swapaxes(1, 2).reshape(len(places), releases.shape[1], -1)
        found += list(years.positions_of(years.operate_releases(own, storages[some][::length, :, 0])))
    return found
