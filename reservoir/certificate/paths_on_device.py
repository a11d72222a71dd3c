"""Best paths of reservoirs by themselves on a device (`Single.best`): all that are asked for at a time in one launch.

They are those of the host but for what a device rounds: hints for a proof, which holds with any others too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.single import DEMANDS, Path, Single
from reservoir.certificate.tables import MISSED, FloatArray
from reservoir.certificate.together import Together
from reservoir.hydro.benefit import objective_per_stage_benefit
from reservoir.hydro.conditions import KEPT
from reservoir.hydro.curves.curve import CompiledCurve
from reservoir.hydro.rows import NO_TAILWATER
from reservoir.hydro.units import MW_PER_KW_HOURS
from reservoir.opencl import BuiltProgram, DeviceInfo, Session
from reservoir.problems.base import ContextLayout
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers.device_engine import build_around
from reservoir.solvers.dp import free_flow, recursion
from reservoir.solvers.dp.free_flow import FreeFlow

#: Work items of a group: about as many as there are storages near a schedule.
_ITEMS = 64
#: Curves, whose places stand first, and the numbers in front of the pieces of each.
_CURVES = ("level", "tailrace", "specific_power", "capacity", "area", "seepage")
_OF_CURVE = ("PIECES", "COLUMNS", "IS_POWER", "ORIGIN", "EXPONENT", "IS_RATE", "FACTOR", "LOWER", "UPPER", "BREAKS")
#: Numbers of a problem: of each step in the order of a `FreeFlow`, and others; one each.
_OF_FLOW = ("FREE_LOWER", "FREE_UPPER", "FREE_PRICE", "RELEASE_PAID", "TURBINED_PAID", "POWER_PAID")
_OF_STEPS = (*_OF_FLOW, "LEVEL_BELOW", "MOST_POWER", "LOWEST_POWER")
_OF_PROBLEM = ("FIRST_NODE", "NODES_PER_HM3", "WORTH_OF_END")
_FILES = ("problems/reservoir/exact_curves", "problems/reservoir/given_curves", "certificate/best_paths")


class Asked(NamedTuple):
    """A reservoir at prices, and storages between which a path is sought, shape (steps + 1, states)."""

    single: Single
    free: FreeFlow
    grid: FloatArray


def best_paths(together: Together, singles: Sequence[Single], frees: Sequence[FreeFlow]) -> list[Path]:
    """The best path of each reservoir of a problem at prices, of which the best releases are filled in.

    Parameters
    ----------
    together : Together
        Of a device with double precision.
    singles : sequence of Single
    frees : sequence of FreeFlow
        From `Single.priced`.

    Raises
    ------
    DeviceError
        If the device fails.
    """
    forms = [(bool(single.rows.lake), bool(single.rows.priced)) for single in singles]

    def found(grids: Mapping[int, FloatArray]) -> dict[int, Path]:
        paths = dict[int, Path]()
        for form in sorted({forms[place] for place in grids}):
            places = [place for place in grids if forms[place] == form]
            kind = ("paths", singles[0].year.limits.steps, *form)
            if kind not in together.programs:
                together.programs[kind] = _program(together.device, singles[forms.index(form)].year)
            asked = [Asked(singles[place], frees[place], grids[place]) for place in places]
            answers = partial(_answers, together.programs[kind])
            paths |= dict(zip(places, together.asked(kind, answers, asked), strict=True))
        return paths

    paths = found({place: single.grid for place, single in enumerate(singles)})
    near = {place: singles[place].grid_near(path) for place, path in paths.items()}
    for place, path in found({place: grid for place, grid in near.items() if grid is not None}).items():
        paths[place] = max(paths[place], path, key=lambda path: path.worth)
    return [paths[place] for place in range(len(singles))]


def _answers(program: BuiltProgram, session: Session, questions: Sequence[Sequence[Asked]]) -> list[list[Path]]:
    asked = [one for question in questions for one in question]
    steps, nodes = asked[0].free.best.shape
    models = {id(one.single.year.model): one.single for one in asked}
    curves, years = [_curves(single) for single in models.values()], [one.single.kernel_year for one in asked]
    first_curve = dict(zip(models, np.cumsum([0, *map(len, curves)]).tolist(), strict=False))
    first_storage = np.cumsum([0, *(one.grid.size for one in asked)]).tolist()
    places = [
        (len(years[0]) * number, first_curve[id(one.single.year.model)], first, one.grid.shape[1])
        for number, (one, first) in enumerate(zip(asked, first_storage, strict=False))
    ]
    layout, numbers = _layout(steps), [_numbers(one) for one in asked]
    inputs: dict[str, NDArray[Any]] = {
        "places": np.array(places, np.int32),
        "years": np.stack(years),
        "curves": np.concatenate(curves),
        "grids": np.concatenate([one.grid.ravel() for one in asked]),
        "problems": layout.pack({name: [each[name] for each in numbers] for name in layout.blocks}, (len(asked),)),
    }
    shapes = {"best": (steps, nodes), "storages": (steps + 1,), "flows": (4, steps), "worth": ()}
    session.upload(**inputs)
    session.allocate(values=(first_storage[-1], np.float64))
    session.allocate(**{name: ((len(asked), *shape), np.float64) for name, shape in shapes.items()})
    session.run(program, "best_paths", len(asked) * _ITEMS, _ITEMS, *inputs, "values", *shapes)
    best, storages, flows, worth = map(session.download, shapes)
    for one, filled in zip(asked, best, strict=True):
        one.free.best[:] = filled
    flows = np.append(flows, np.zeros((len(asked), 2, steps)), axis=1)  # no lake has a level with a price here
    each = iter(zip(worth.tolist(), storages, flows, strict=True))
    return [[one.single.path(one.free, *next(each)) for one in question] for question in questions]


def _layout(steps: int) -> ContextLayout:
    return ContextLayout("PROBLEM", dict.fromkeys(_OF_STEPS, steps) | dict.fromkeys(_OF_PROBLEM, 1))


def _numbers(asked: Asked) -> dict[str, Any]:
    """What a layout holds of a reservoir at prices."""
    single, free, rows = asked.single, asked.free, asked.single.rows
    most, lowest, level = np.full(len(free.lower), single.year.model.reservoir.installed_mw), 0.0, NO_TAILWATER
    if rows.lake:  # the kernel takes the part of the step in which turbines can run of the most
        most = np.minimum(most, rows.power_upper / np.maximum(rows.plant_factor, 1e-300))
        lowest, level = rows.power_lower, rows.tailwater
    return {
        **dict(zip(_OF_FLOW, free, strict=False)),
        "LEVEL_BELOW": np.broadcast_to(level, most.shape),
        "LOWEST_POWER": np.broadcast_to(lowest, most.shape),
        "MOST_POWER": most,
        "FIRST_NODE": free.first[0],
        "NODES_PER_HM3": free.per_hm3[0],
        "WORTH_OF_END": single.end_value(free),
    }


def _curves(single: Single) -> FloatArray:
    """The curves of a plant and of its lake as ``kernels/problems/reservoir/exact_curves.cl`` reads them."""
    plant, lake = single.year.model.exact, single.rows.lake
    conversion = plant.conversion
    power = conversion.is_rate, conversion.factor, conversion.lower, conversion.upper
    given = [
        (plant.level,),
        (plant.tailrace,),
        (conversion.curve, *power),
        (plant.capacity,),
        *((each,) for each in lake),
    ]
    numbers = [_of_curve(*each) for each in given]
    first = np.cumsum([len(_CURVES), *map(len, numbers)])[: len(given)]
    return np.concatenate([np.pad(first, (0, len(_CURVES) - len(given))), *numbers]).astype(np.float64)


def _of_curve(
    curve: CompiledCurve, is_rate: bool = False, factor: float = 0.0, lower: float = 0.0, upper: float = 0.0
) -> FloatArray:
    head = *curve.coefficients.shape, curve.is_power, curve.origin, curve.exponent, is_rate, factor, lower, upper
    return np.concatenate([head, curve.breaks, curve.coefficients.ravel()])


def _program(device: DeviceInfo, year: ReservoirYears) -> BuiltProgram:
    """For all years of so many steps that have terms, losses and demands, or not, as this one."""
    constants: dict[str, int | float | str] = {
        "LANES": 1,
        "ITEMS": _ITEMS,
        "DOUBLE": 1,
        "CONTEXT_SPACE": "__global",
        "NO_FITNESS": 1,
        "PER_STAGE_BENEFIT": repr(objective_per_stage_benefit(year.limits.arrays())),
        "MW_PER_KW_HOURS": repr(MW_PER_KW_HOURS),
        "NODES": free_flow.NODES,
        "TRIED": free_flow.TRIED,
        "DIVISIONS": free_flow.DIVISIONS,
        "STRIDE": recursion.STRIDE,
        "END_DIVISIONS": recursion.DIVISIONS,
        "SHORTER": repr(recursion.SHORTER),
        "DEAR": repr(DEMANDS[1] / DEMANDS[0]),
        "MISSED": repr(MISSED),
        "KEPT": repr(float(KEPT)),
        **{f"{name}_table": place for place, name in enumerate(_CURVES)},
        **{f"CURVE_{name}": place for place, name in enumerate(_OF_CURVE)},
        **_layout(year.limits.steps).constants(),
    }
    return build_around(year.kernel(), device, constants, common=["sync/group_barrier"], after=_FILES)
