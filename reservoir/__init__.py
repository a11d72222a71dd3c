"""reservoir: plan how a hydropower reservoir is operated, from an inflow record and a reservoir file.

>>> import reservoir
>>> case = reservoir.bundled_case()
>>> plan = reservoir.optimise(case.reservoir(), case.inflow())
>>> plan.summary()

Names are imported when they are first used, so that the command line starts at once. Nothing is imported here, not even
``typing``: before the command line runs, no interruption can be answered.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know it by this name
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.3.0"

_HOMES = {
    "Calendar": "reservoir.hydro.calendar",
    "Case": "reservoir.cases",
    "ConversionKind": "reservoir.hydro.attributes",
    "Horizon": "reservoir.hydro.objectives",
    "Inflow": "reservoir.hydro.inflow",
    "InputError": "reservoir.errors",
    "PartsFolder": "reservoir.io.plan_parts",
    "Plan": "reservoir.planning.planned_record",
    "Polynomial": "reservoir.hydro.curves.curve",
    "PowerLaw": "reservoir.hydro.curves.curve",
    "ReferenceLevels": "reservoir.hydro.attributes",
    "ReleaseSimulation": "reservoir.planning.simulation",
    "Reservoir": "reservoir.hydro.reservoir",
    "ReservoirError": "reservoir.errors",
    "Table": "reservoir.hydro.curves.curve",
    "System": "reservoir.hydro.system",
    "SiteInflows": "reservoir.hydro.site_inflows",
    "SystemPlan": "reservoir.planning.system_plan",
    "Link": "reservoir.hydro.system",
    "TimeStep": "reservoir.hydro.calendar",
    "YearEnd": "reservoir.hydro.attributes",
    "bundled_case": "reservoir.cases",
    "optimise": "reservoir.planning.plan",
    "optimise_system": "reservoir.planning.system_plan",
    "plan_figures": "reservoir.report.figures.figures",
    "read_inflow": "reservoir.io.records.reader",
    "read_reservoir": "reservoir.io.reservoir_toml.reader",
    "read_system": "reservoir.io.system_file",
    "read_system_inflow": "reservoir.io.records.sites",
    "save_plan": "reservoir.report.folder",
    "simulate": "reservoir.planning.simulation",
    "write_reservoir": "reservoir.io.reservoir_toml.writer",
    "write_system": "reservoir.io.reservoir_toml.writer",
}

__all__ = [
    "Calendar",
    "Case",
    "ConversionKind",
    "Horizon",
    "Inflow",
    "InputError",
    "Link",
    "PartsFolder",
    "Plan",
    "Polynomial",
    "PowerLaw",
    "ReferenceLevels",
    "ReleaseSimulation",
    "Reservoir",
    "ReservoirError",
    "SiteInflows",
    "System",
    "SystemPlan",
    "Table",
    "TimeStep",
    "YearEnd",
    "__version__",
    "bundled_case",
    "optimise",
    "optimise_system",
    "plan_figures",
    "read_inflow",
    "read_reservoir",
    "read_system",
    "read_system_inflow",
    "save_plan",
    "simulate",
    "write_reservoir",
    "write_system",
]

if TYPE_CHECKING:
    from reservoir.cases import Case, bundled_case
    from reservoir.errors import InputError, ReservoirError
    from reservoir.hydro.attributes import ConversionKind, ReferenceLevels, YearEnd
    from reservoir.hydro.calendar import Calendar, TimeStep
    from reservoir.hydro.curves.curve import Polynomial, PowerLaw, Table
    from reservoir.hydro.inflow import Inflow
    from reservoir.hydro.objectives import Horizon
    from reservoir.hydro.reservoir import Reservoir
    from reservoir.hydro.site_inflows import SiteInflows
    from reservoir.hydro.system import Link, System
    from reservoir.io.plan_parts import PartsFolder
    from reservoir.io.records.reader import read_inflow
    from reservoir.io.records.sites import read_system_inflow
    from reservoir.io.reservoir_toml.reader import read_reservoir
    from reservoir.io.reservoir_toml.writer import write_reservoir, write_system
    from reservoir.io.system_file import read_system
    from reservoir.planning.plan import Plan, optimise
    from reservoir.planning.simulation import ReleaseSimulation, simulate
    from reservoir.planning.system_plan import SystemPlan, optimise_system
    from reservoir.report.figures.figures import plan_figures
    from reservoir.report.folder import save_plan


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'reservoir' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
