"""Years of a system as kernels judge them (``kernels/problems/system/system_year.cl``): source, and contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.curves.forms import PolynomialForm
from reservoir.hydro.horizon_limits import START_MARGIN
from reservoir.hydro.rows import TERMS
from reservoir.opencl import literal
from reservoir.problems.base import KernelProblem
from reservoir.problems.reservoir.plant_source import (
    STEP_FILES,
    plant_constants,
    plant_numbers,
    plant_source,
    within_constants,
)
from reservoir.problems.reservoir.rows import kernel_rows, year_layout
from reservoir.problems.reservoir.year import FLOAT32_MARGIN
from reservoir.problems.stacked import SOURCE, TARGET, Links

_ZERO = PolynomialForm(np.float32(0), np.float32(1), np.float32(0), np.float32(1), (np.float32(0),))
_PLANT, _LAKE = ("level", "tailrace", "specific_power", "capacity_part"), ("area", "seepage")


def system_kernel(years: Any, *, fine: bool) -> KernelProblem:
    """The curves of all plants, each asked for by its place, and the file that loops over reservoirs."""
    links, loses = years.links, [years.loses(place) for place in range(len(years.years))]
    models, priced = [each.model for each in years.years], years.limits.priced
    forms = within_constants(
        [
            (each.fine if fine else each.approximation, (each.lake if own else (_ZERO, _ZERO)) if any(loses) else None)
            for each, own in zip(models, loses, strict=True)
        ]
    )
    curves = [plant_source(plant, lake, f"_{place}") for place, (plant, lake) in enumerate(forms)]
    asked = [_by_plant(name, len(models)) for name in (*_PLANT, *(_LAKE if any(loses) else ()))]
    macros = [_macros(name) for name in _PLANT]
    macros += [
        f"#define {name}_at(x) {f'{name}_of(step.plant, x)' if any(loses) else '((reals)(0))'}\n" for name in _LAKE
    ]
    rows = _link_rows(links)
    arrays = [
        _array("int", "said", np.column_stack([years.places, *_own_links(links, len(models))])),
        _array("int", "link_said", np.column_stack([links.places, rows])),
        _array("float", "link_numbers", np.column_stack([links.numbers, np.zeros(len(rows))])),
        _array("float", "end_values", np.array(years.end_values)),
    ]
    year = replace(year_layout(years.unlinked(0)), size_name="YEAR")
    size = year.size * len(models)
    constants: dict[str, Any] = {
        "STEPS": years.steps,
        "DIM": years.dimension,
        "RESERVOIRS": len(models),
        "PLANTS": 1,
        "LINKS": len(rows),
        "LINK_ROWS": max(rows, default=0) + 1,
        "BACKWATER": int(any(link.backwater for link in years.system.links)),
        "RAMPS": int(any(each.limits.ramps for each in years.years)),
        "REACH_SLACK": FLOAT32_MARGIN,
        "START_SLACK": START_MARGIN,
        "ABSOLUTE": size,
        "SUM_TERMS": size + 1,
        "CONTEXT": size + 1 + (len(TERMS) * years.steps if priced else 0),
        **year.constants(),
        **plant_constants(terms=priced),
        **({"CONDITIONS": 1} if years.lossy else {}),
    }
    source = "".join([*curves, *asked, *macros, *arrays])
    return KernelProblem(source, (*STEP_FILES, "problems/system/system_year.cl"), constants, looped=True)


def system_contexts(years: Any, absolute: bool) -> NDArray[np.float32]:
    """Rows of all reservoirs' years, the coding, and the terms of the sum, shape (years, CONTEXT)."""
    blocks = [
        kernel_rows(years.unlinked(place), FLOAT32_MARGIN, years.penalty, plant_numbers(reservoir), np.float32)
        for place, reservoir in enumerate(years.system.reservoirs)
    ]
    terms = [years.terms[name] for name in TERMS] if years.limits.priced else []
    return np.concatenate([*blocks, np.full((len(years), 1), absolute), *terms], axis=1, dtype=np.float32)


def _by_plant(name: str, count: int) -> str:
    cases = "".join(f"    case {place}: return {name}_{place}_at(x);\n" for place in range(count - 1))
    last = f"    default: return {name}_{count - 1}_at(x);\n"
    return f"reals {name}_of(const int plant, const reals x) {{\n    switch (plant) {{\n{cases}{last}    }}\n}}\n"


def _macros(name: str) -> str:
    asked = f"{name}_of(step.plant, x)"
    if name == "tailrace":
        asked = f"GREATER({asked}, step.tailwater)"
    return f"#define {name}_at(x) {asked}\n#define {name}_within(x) {name}_at(x)\n"


def _array(kind: str, name: str, values: NDArray[Any]) -> str:
    numbers = [float(each) if kind == "float" else int(each) for each in np.ravel(values)] or [0]
    return f"__constant {kind} {name}[] = {{{', '.join(map(literal, numbers))}}};\n"


def _own_links(links: Links, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Place of the first link of each reservoir, and behind its last: links stand in the order of their sources."""
    sources, places = links.places[:, SOURCE], np.arange(count)
    return np.searchsorted(sources, places), np.searchsorted(sources, places, side="right")


def _link_rows(links: Links) -> Sequence[int]:
    """Row of flows that each link has, which is another's when the water has come to its target."""
    rows, busy = list[int](), dict[int, int]()
    for source, target in links.places[:, [SOURCE, TARGET]].tolist():
        row = next(row for row in range(len(busy) + 1) if busy.get(row, -1) <= source)
        busy[row] = target
        rows.append(row)
    return rows
