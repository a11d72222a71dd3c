"""Dynamic programming by successive approximation in OpenCL: all years of a reservoir are solved in two launches.

What is worth something beyond a reservoir, and what schedules come to, the host reckons as for `engine`, in float64;
the kernels of ``kernels/solvers/dpsa/given_grids.cl`` reckon in float64 where the device can.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.limits import EXACT_MARGIN
from reservoir.hydro.rows import NO_TAILWATER, TAILWATER
from reservoir.opencl import BuiltProgram, require_local
from reservoir.problems.reservoir.plant_source import plant_numbers
from reservoir.problems.reservoir.rows import kernel_rows
from reservoir.problems.reservoir.year import FLOAT32_MARGIN
from reservoir.solvers.device_engine import LOCAL_RESERVE_BYTES, build_around
from reservoir.solvers.dp.beyond import KINDS, RELEASED, SPILLED, STORED, TURBINED
from reservoir.solvers.dp.engine import TABLE_FILES, GridLayout, curve_tables, reckons_in_double, table_constants
from reservoir.solvers.dpsa.engine import DpsaEngine, DpsaSettings, FloatArray, Grids
from reservoir.solvers.settings import switch
from reservoir.solvers.system_engine import DeviceSystemEngine

#: Work items of a group at most.
_MOST_ITEMS = 256
#: Macros of what is worth something to others, and its kind.
_BEYOND = {"BEYOND_r": RELEASED, "BEYOND_t": TURBINED, "BEYOND_s": SPILLED, "BEYOND_l": STORED}


@dataclass(frozen=True)
class DeviceDpsaSettings(DpsaSettings):
    """How finely storages are divided, and how a device reckons; threads are those of linear programs.

    Parameters
    ----------
    double : bool, optional
        Whether to reckon in float64; if not given, where the device can.
    """

    double: bool | None = switch(None, run=True)


class DeviceDpsaEngine(DeviceSystemEngine[DeviceDpsaSettings], DpsaEngine):
    """Sweeps over all reservoirs, all years of each at once."""

    name = "dpsa"
    settings_class = DeviceDpsaSettings

    def best_storages(self, of: Grids) -> tuple[FloatArray, NDArray[np.int64]]:
        """As many years at once as memory has room for."""
        years, points, states = of.storages_hm3.shape
        at_once = max(self.session.device.max_allocation_bytes // (8 * points * states**2), 1)
        parts = [slice(first, first + at_once) for first in range(0, years, at_once)]
        places, tried = map(np.concatenate, zip(*(self._places(of, part) for part in parts), strict=True))
        return np.take_along_axis(of.storages_hm3, places[:, :, np.newaxis].astype(np.intp), axis=2)[:, :, 0], tried

    def _places(self, of: Grids, part: slice) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Places of the best storages in the grids of some years, and the transitions tried."""
        session, own, device = self.session, of.own, self.session.device
        grids, worth = of.storages_hm3[part], [each[part] for each in of.worth[1:]]
        years, points, states = grids.shape
        limits, steps, double = own.years.limits[part], points - 1, reckons_in_double(device, self.settings.double)
        items = min(states, _MOST_ITEMS, device.max_work_group_size)
        layout = GridLayout(1, items, states, double, conditions=bool(limits.lake), terms=limits.priced)
        require_local(device, 2 * states * np.dtype(layout.dtype).itemsize + LOCAL_RESERVE_BYTES)
        margin = EXACT_MARGIN if double else FLOAT32_MARGIN
        numbers = plant_numbers(own.years.model.reservoir)
        tailwater = own.rows.rows[TAILWATER][part] if limits.lake else np.full((years, steps), NO_TAILWATER)
        inputs = {
            "tables": curve_tables(own.years.model.reservoir, layout),
            "contexts": kernel_rows(limits, margin, of.penalty, numbers),
            "grids": grids,
            "tailwater": tailwater,
            **dict(zip(("worth", "first", "per_unit"), worth, strict=True)),
        }
        session.upload(**{name: array.astype(layout.dtype) for name, array in inputs.items()})
        session.allocate(made=((years, steps, states, states), layout.dtype), tried=((years, steps, states), np.int32))
        session.allocate(choices=((years, steps, states), np.uint16), paths=((years, points), np.int32))
        program, turned = self._program(of, layout, margin), np.int32(of.turned)
        session.run(program, "value_given", years * steps * items, items, *inputs, turned, "made", "tried")
        session.run(program, "solve_given", years * items, items, "contexts", "grids", "made", "choices", "paths")
        paths, tried = session.download("paths"), session.download("tried").sum(axis=(1, 2), dtype=np.int64)
        session.free(*inputs, "made", "tried", "choices", "paths")
        return paths, tried

    def _program(self, of: Grids, layout: GridLayout, margin: float) -> BuiltProgram:
        key = of.place, of.own.years.program_key, layout.room, layout.double, of.worth.kinds.tobytes()
        if key not in self.programs:
            constants: dict[str, int | float | str] = {
                "LANES": 1,
                "ITEMS": layout.items,
                "STATES": layout.room,
                "DOUBLE": int(layout.double),
                "ROUNDING": margin,
                "KINDS": KINDS,
                "POINTS": of.worth.worth.shape[-1],
                "CONTEXT_SPACE": "__global",
                "GROUP_SPACE": "__global",
                "NO_FITNESS": 1,
                **{name: int(of.worth.kinds[kind]) for name, kind in _BEYOND.items()},
                **table_constants(conditions=layout.conditions),
            }
            files = [*TABLE_FILES, "solvers/dpsa/given_grids"]
            kernel, common = of.own.years.kernel(), ["sync/group_barrier"]
            self.programs[key] = build_around(kernel, self.session.device, constants, common=common, after=files)
        return self.programs[key]


ENGINE = DeviceDpsaEngine
