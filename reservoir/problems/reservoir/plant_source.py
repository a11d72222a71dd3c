"""A plant for kernels: its curves as OpenCL C, and what a planner turns of it as numbers of their context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from reservoir.hydro.benefit import GWH_PER_STAGE_BENEFIT
from reservoir.hydro.curves.approximation import Approximation, Form, most_and_part
from reservoir.hydro.curves.forms import PolynomialForm, UniformTable
from reservoir.hydro.plant import Plant
from reservoir.hydro.reservoir import Reservoir
from reservoir.opencl import literal

#: The kernel files of a reservoir's step and of its stage benefit, which read both.
STEP_FILES = (
    "problems/reservoir/stage_benefit.cl",
    "problems/reservoir/reservoir_step.cl",
    "problems/reservoir/fitted_curves.cl",
)
#: Numbers of a plant in a kernel's context: changing them builds no program.
PLANT_NUMBERS = ("INSTALLED", "MOST_TURBINED")

#: Forms of a plant, and of the area and seepage of its lake where these count.
Forms: TypeAlias = tuple[Approximation, tuple[Form, Form] | None]
#: Of the tables of a program: some less than the least that OpenCL promises.
_CONSTANT_BYTES = 60_000


def plant_numbers(reservoir: Reservoir) -> dict[str, float]:
    """`PLANT_NUMBERS` of a reservoir: MW, and m3/s."""
    return {"INSTALLED": reservoir.installed_mw, "MOST_TURBINED": most_and_part(reservoir.capacity_m3s)[0]}


def plant_constants(*, terms: bool = False) -> dict[str, float]:
    """Macros of `STEP_FILES` and of whatever sums up benefits; with `terms`, where the objective is not energy."""
    return {"PER_STAGE_BENEFIT": 1.0, "TERMS": 1} if terms else {"PER_STAGE_BENEFIT": GWH_PER_STAGE_BENEFIT}


def plant_source(forms: Approximation, lake: tuple[Form, Form] | None = None, of: str = "") -> str:
    """OpenCL C of a plant's forms, the level's by twice the storage, and of the area and seepage where these count.

    A curve is Horner's rule, or an even table in constant memory. ``{name}_at`` holds it beyond its ends;
    ``{name}_within`` is for arguments between them, but for rounding. `of` stands behind each name.
    """
    level, tailrace, conversion, *_ = forms.plant
    level = level._replace(lower=2 * level.lower, per_unit=level.per_unit / 2)  # to the last bit
    if isinstance(level, PolynomialForm):
        level = level._replace(upper=2 * level.upper, centre=2 * level.centre)
    curves = {"level": level, "tailrace": tailrace, "specific_power": conversion, "capacity_part": forms.capacity_part}
    curves |= dict(zip(("area", "seepage"), lake or (), strict=False))
    return "".join(
        _horner_source(name + of, form) if isinstance(form, PolynomialForm) else _table_source(name + of, form)
        for name, form in curves.items()
    )


def within_constants(forms: Sequence[Forms]) -> Sequence[Forms]:
    """Forms whose tables fit together into constant memory: long ones with fewer points, where they do not."""
    tables = [
        form
        for plant, lake in forms
        for form in (*plant.plant[:3], plant.capacity_part, *(lake or ()))
        if isinstance(form, UniformTable)
    ]
    most = _CONSTANT_BYTES // np.dtype(np.float32).itemsize
    if sum(len(each.values) for each in tables) <= most:
        return forms

    def fewer(form: Any) -> Any:
        points = most // len(tables)
        if not isinstance(form, UniformTable) or len(form.values) <= points:
            return form
        last = len(form.values) - 1
        values = np.interp(np.linspace(0, last, points), np.arange(last + 1), form.values).astype(np.float32)
        return form._replace(values=values, per_unit=np.float32(form.per_unit * (points - 1) / last))

    def in_room(forms: Approximation) -> Approximation:
        level, tailrace, conversion, capacity, installed = forms.plant
        plant = Plant(fewer(level), fewer(tailrace), fewer(conversion), capacity, installed)
        return replace(forms, plant=plant, capacity_part=fewer(forms.capacity_part))

    return [(in_room(plant), lake and (fewer(lake[0]), fewer(lake[1]))) for plant, lake in forms]


def _horner_source(name: str, form: PolynomialForm) -> str:
    first, *others = form.coefficients
    scale, shift = float(form.per_unit), -float(form.centre) * float(form.per_unit)
    argument = f"FUSED(x, (reals)({literal(scale)}), (reals)({literal(shift)}))"
    if not any(form.coefficients[:-1]):
        value, steps = literal(others[-1] if others else first), ""
    elif len(others) == 1:  # one product is enough of a straight line
        slope, offset = float(first) * scale, float(others[0]) + float(first) * shift
        value, steps = f"FUSED(x, (reals)({literal(slope)}), (reals)({literal(offset)}))", ""
    else:
        value = literal(first)
        steps = "".join(f"    value = FUSED(value, scaled, (reals)({literal(each)}));\n" for each in others)
        steps = f"    const reals scaled = {argument};\n{steps}"
    lower, upper = literal(form.lower), literal(form.upper)
    return (
        f"reals {name}_within(const reals x) {{\n    reals value = {value};\n{steps}    return value;\n}}\n"
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
