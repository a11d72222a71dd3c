"""How dynamic programming is laid out on a device, and the program that is specialised for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from reservoir.errors import DeviceError, Mistake
from reservoir.hydro.benefit import StepTerms
from reservoir.hydro.curves.curve import Curve
from reservoir.hydro.horizon import MOST_STEPS_OF_YEAR
from reservoir.hydro.lake import lake_area, lake_seepage
from reservoir.hydro.limits import EXACT_MARGIN
from reservoir.hydro.plant import plant_of
from reservoir.hydro.reservoir import Reservoir
from reservoir.opencl import BuiltProgram, DeviceInfo, require_local
from reservoir.problems.context_layout import ContextLayout
from reservoir.problems.reservoir.year import FLOAT32_MARGIN, ReservoirYears
from reservoir.solvers.base.program import build_around
from reservoir.solvers.base.work_groups import (
    LOCAL_RESERVE_BYTES,
    VECTOR_WIDTHS,
    items_for,
    lanes_for,
    require_countable,
)
from reservoir.solvers.dp.settings import DeviceGridSettings, Grids, first_grids

#: Points of a curve's table: power by the tables differs from the curves' own by some 1e-7 of it at most.
TABLE_POINTS = 4096
#: A curve's table: where it begins, its points per unit, and its points.
_TABLE = ContextLayout("TABLE_SIZE", {"TABLE_LOWEST": 1, "TABLE_PER_UNIT": 1, "TABLE_VALUES": TABLE_POINTS})
#: The tables in the order of the curves of a `Plant`, then those of the lake.
_PLANT_TABLES = ("level_table", "tailrace_table", "specific_power_table", "capacity_table")
_LAKE_TABLES = ("area_table", "seepage_table")
#: Work items of a group on a GPU.
GPU_ITEMS = 256
#: Work items of a group on a GPU that solve a long horizon: several share what can follow a state of a finer grid.
GPU_ITEMS_OF_LONG = 512
#: Items at most that share what can follow a state.
_MOST_MEMBERS = 16
#: Numbers of a group for each step beside the values of all states: grids, trajectories and curves near them.
_PER_STEP = 40
#: The same of a long horizon, and those that do not depend on steps.
_PER_STEP_OF_LONG, _BESIDE_STEPS = 42, 32
#: Further numbers of a step with conditions.
_PER_STEP_OF_CONDITIONS = 20
#: Further numbers of a step where the objective is not energy.
_PER_STEP_OF_TERMS = len(StepTerms._fields)
#: Smallest change of a float32 fitness that is more than rounding.
_FLOAT32_TOLERANCE = 2e-7


@dataclass(frozen=True)
class GridLayout:
    """How a year is spread over a work group.

    Parameters
    ----------
    lanes, items : int
        States in a vector, and work items of a group.
    room : int
        States of the finest first grid, padded: those that memory has room for.
    double : bool
        The device reckons in float64.
    long : bool
        For long horizons, and for devices whose local memory is too small for a year: a group makes one run and keeps
        it in global memory (``kernels/solvers/dp/long_horizon.cl``).
    conditions : bool
        Steps have losses of the lake or demands on the plant.
    terms : bool
        The objective is not energy.
    """

    lanes: int
    items: int
    room: int
    double: bool
    long: bool = False
    conditions: bool = False
    terms: bool = False

    @property
    def dtype(self) -> DTypeLike:
        """The numbers of all buffers."""
        return np.float64 if self.double else np.float32

    def group_numbers(self, steps: int) -> int:
        """Numbers that a group works on: in global memory for long horizons, else in local memory."""
        more = _PER_STEP_OF_CONDITIONS * self.conditions + _PER_STEP_OF_TERMS * self.terms
        if self.long:
            return 2 * self.room + (_PER_STEP_OF_LONG + more) * (steps + 1) + _BESIDE_STEPS
        return 2 * self.room + (_PER_STEP + more) * (steps + 1)


def layout_for(
    device: DeviceInfo, settings: DeviceGridSettings, steps: int, *, conditions: bool = False, terms: bool = False
) -> GridLayout:
    """Choose a layout for years of so many steps: on a CPU one work item in vectors of its width, on a GPU many items.

    Raises
    ------
    InputError
        If no device has such vectors or groups, or if this one (DeviceError) lacks the double precision asked for.
    """
    cpu = device.kind == "CPU"
    lanes, items, double = settings.lanes, settings.items, settings.double
    able = "cl_khr_fp64" in device.device.extensions
    if double and not able:
        problem = f"{device.name} does not support double precision"
        raise DeviceError(Mistake(problem, mend="remove `double` to compute in float32"))
    if double is None:
        double = able
    if lanes is None:
        widest = device.native_float_width // (2 if double else 1)
        lanes = max(width for width in VECTOR_WIDTHS if width <= max(widest, 1)) if cpu else 1
    grids = settings.grids(steps)
    room = max(grids.fine_states, *first_grids(grids))
    lanes = lanes_for(device, room, lanes)

    def layout(*, long: bool) -> GridLayout:
        usual = 1 if cpu else min(GPU_ITEMS_OF_LONG if long else GPU_ITEMS, device.max_work_group_size)
        of_group = items_for(device, room, usual if items is None else items)
        return GridLayout(lanes, of_group, -(-room // lanes) * lanes, double, long, conditions, terms)

    year = layout(long=False)
    fits = year.group_numbers(steps) * np.dtype(year.dtype).itemsize <= device.local_memory_bytes
    return year if fits and steps <= MOST_STEPS_OF_YEAR else layout(long=True)


def build_program(device: DeviceInfo, years: ReservoirYears, grids: Grids, layout: GridLayout) -> BuiltProgram:
    """Assemble and build dynamic programming for a year's program key.

    Raises
    ------
    DeviceError
        If the items of a work group need more local memory than the device has.
    InputError
        If a kernel cannot count a horizon's numbers.
    """
    kernel, steps = years.kernel(), years.limits.steps
    if layout.long:
        require_local(device, layout.items * layout.lanes * (np.dtype(layout.dtype).itemsize + 4) + LOCAL_RESERVE_BYTES)
    require_countable(int(kernel.constants["CONTEXT"]), "one horizon", "plan fewer steps at once")
    constants: dict[str, int | float | str] = {
        "STATES": grids.states,
        "FINE_STATES": grids.fine_states,
        "HALF_WIDTH": grids.reach,
        "TOLERANCE": max(grids.tolerance, 0.0 if layout.double else _FLOAT32_TOLERANCE),
        "AGREEMENT": grids.agreement,
        "MOST_REFINEMENTS": grids.most_refinements,
        "ROUNDING": EXACT_MARGIN if layout.double else FLOAT32_MARGIN,
        "LANES": layout.lanes,
        "ITEMS": layout.items,
        "ROOM": layout.room,
        "DOUBLE": int(layout.double),
        **table_constants(conditions=layout.conditions),
        "CONTEXT_SPACE": "__global" if layout.long else "__local",
        "GROUP_SPACE": "__global" if layout.long else "__local",
        "LONG_HORIZON": int(layout.long),
    }
    if layout.long:
        constants |= {"GROUP_NUMBERS": layout.group_numbers(steps), "MOST_MEMBERS": _MOST_MEMBERS, "NO_FITNESS": 1}
        constants |= {"RESTART_WIDTH": grids.restart_width, "RESTART_GAIN": grids.restart_gain}
    own = "solvers/dp/long_horizon.cl" if layout.long else "solvers/dp/dynamic_programming.cl"
    files = ["problems/reservoir/given_curves.cl", "solvers/dp/storage_grids.cl", "solvers/dp/transitions.cl", own]
    return build_around(kernel, device, constants, before=["common/sync/group_barrier.cl"], after=files)


def contexts(years: ReservoirYears, layout: GridLayout) -> NDArray[np.floating]:
    """What tells the years from each other, a row each."""
    return years.kernel_rows(EXACT_MARGIN) if layout.double else years.kernel_contexts()


def curve_tables(reservoir: Reservoir, layout: GridLayout) -> NDArray[np.floating]:
    """The curves as ``kernels/problems/reservoir/given_curves.cl`` reads them, a row each."""
    lake: list[Curve] = [lake_area(reservoir), lake_seepage(reservoir)] if layout.conditions else []
    given = [reservoir.level, reservoir.tailrace, reservoir.conversion, reservoir.capacity_m3s, *lake]
    lows, highs = np.transpose([curve.domain for curve in given])
    points = [
        curve(np.linspace(low, high, TABLE_POINTS))
        for curve, low, high in zip([*plant_of(reservoir)[: len(_PLANT_TABLES)], *lake], lows, highs, strict=True)
    ]
    values = {"TABLE_LOWEST": lows, "TABLE_PER_UNIT": (TABLE_POINTS - 1) / (highs - lows), "TABLE_VALUES": points}
    return _TABLE.pack(values, lows.shape).astype(layout.dtype)


def table_constants(*, conditions: bool = False) -> dict[str, int]:
    """Where the tables stand, behind each other, and what stands in one of them."""
    names = _PLANT_TABLES + _LAKE_TABLES * conditions
    tables = ContextLayout("TABLES", dict.fromkeys(names, _TABLE.size))
    return {**tables.constants(), **_TABLE.constants(), "TABLE_POINTS": TABLE_POINTS}
