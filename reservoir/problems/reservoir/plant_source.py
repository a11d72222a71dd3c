"""A plant for kernels: its curves as source code, its constants as macros."""

from __future__ import annotations

from reservoir.hydro.benefit import GWH_PER_STAGE_BENEFIT
from reservoir.hydro.curves.approximation import Form
from reservoir.hydro.plant import Plant
from reservoir.problems.reservoir.curve_source import curve_source

#: The kernel files of a reservoir's step and of its stage benefit, which read both.
STEP_FILES = (
    "problems/reservoir/stage_benefit.cl",
    "problems/reservoir/reservoir_step.cl",
    "problems/reservoir/fitted_curves.cl",
)


def plant_source(plant: Plant) -> str:
    """The plant's forms as OpenCL C."""
    curves = {
        "level": plant.level,
        "tailrace": plant.tailrace,
        "specific_power": plant.conversion,
        "capacity": plant.capacity,
    }
    return "".join(curve_source(name, form) for name, form in curves.items())


def lake_source(area: Form, seepage: Form) -> str:
    """The forms of the lake's area and seepage as OpenCL C."""
    return curve_source("area", area) + curve_source("seepage", seepage)


def plant_constants(plant: Plant, *, terms: bool = False) -> dict[str, float]:
    """Macros of `STEP_FILES` and of whatever sums up benefits; with `terms`, where the objective is not energy."""
    constants = {"INSTALLED_MW": float(plant.installed_mw), "PER_STAGE_BENEFIT": GWH_PER_STAGE_BENEFIT}
    return {**constants, "PER_STAGE_BENEFIT": 1.0, "TERMS": 1} if terms else constants
