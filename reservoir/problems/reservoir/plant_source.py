"""A plant for kernels: its curves as OpenCL C, their coefficients written into the source, its constants as macros."""

from __future__ import annotations

from reservoir.hydro.benefit import GWH_PER_STAGE_BENEFIT
from reservoir.hydro.curves.approximation import Form
from reservoir.hydro.curves.forms import PolynomialForm, UniformTable
from reservoir.hydro.plant import Plant
from reservoir.opencl import literal


def curve_source(name: str, form: Form) -> str:
    """OpenCL C of a curve: Horner's rule, or an even table in constant memory.

    ``{name}_at`` holds the curve beyond its ends; ``{name}_within`` is for arguments between them, but for rounding.
    """
    if isinstance(form, PolynomialForm):
        return _horner_source(name, form)
    return _table_source(name, form)


def _horner_source(name: str, form: PolynomialForm) -> str:
    shift = -float(form.centre) * float(form.per_unit)
    steps = "".join(f"    value = FUSED(value, scaled, (reals)({literal(c)}));\n" for c in form.coefficients[1:])
    lower, upper = literal(form.lower), literal(form.upper)
    return (
        f"reals {name}_within(const reals x) {{\n"
        f"    const reals scaled = FUSED(x, (reals)({literal(form.per_unit)}), (reals)({literal(shift)}));\n"
        f"    reals value = {literal(form.coefficients[0])};\n{steps}    return value;\n}}\n"
        f"reals {name}_at(const reals x) {{\n"
        f"    return {name}_within(LESSER(GREATER(x, (reals)({lower})), (reals)({upper})));\n}}\n"
    )


def _table_source(name: str, form: UniformTable) -> str:
    points = ", ".join(map(literal, form.values))
    last = len(form.values) - 1
    place = f"(x - {literal(form.lower)}) * {literal(form.per_unit)}"
    return (
        f"__constant float {name}_values[] = {{{points}}};\n"
        f"reals {name}_at(const reals x) {{\n"
        f"    const reals place = LESSER(GREATER({place}, (reals)(0)), (reals)({last}));\n"
        f"    reals value;\n"
        f"    for (int lane = 0; lane < LANES; ++lane) {{\n"
        f"        const REAL at = REAL_OF(place, lane);\n"
        f"        const int left = min((int)at, {last - 1});\n"
        f"        const REAL low = {name}_values[left];\n"
        f"        REAL_OF(value, lane) = FUSED(at - left, {name}_values[left + 1] - low, low);\n"
        f"    }}\n    return value;\n}}\n"
        f"reals {name}_within(const reals x) {{ return {name}_at(x); }}\n"
    )


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
