"""Dynamic programming of all reservoirs of a small system at once in OpenCL: a launch for each step of all years.

It reckons in float32, with what transitions make relative to others of their step; the storages that it finds are
judged in float64. The kernels are in ``kernels/solvers/dp_joint/joint_steps.cl``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.opencl import BuiltProgram, assemble, build
from reservoir.problems.system import SystemYears
from reservoir.solvers.device_engine import Argument
from reservoir.solvers.dp_joint.lattice import RESERVOIRS, IntArray, Lattice
from reservoir.solvers.dp_joint.search import JointSearch, JointSettings, Size
from reservoir.solvers.system_engine import DeviceSystemEngine, Places

#: Work items of a group.
ITEMS = 64
#: Bytes that the host makes at once of tables, and a device of choices, at most; and what a number takes on the host,
#: with what it is made of.
_MOST_BYTES, _BYTES_OF_NUMBER = 1 << 30, 64


class JointEngine(DeviceSystemEngine[JointSettings], JointSearch[JointSettings]):
    """All years together, as far as memory has room for them."""

    name = "dp-joint"
    settings_class = JointSettings

    def parts(self, batch: SystemYears, largest: Size) -> list[Places]:
        """As many years as memory has room for."""
        numbers, device = _BYTES_OF_NUMBER * RESERVOIRS * largest.numbers, self.session.device
        room = min(_MOST_BYTES, device.max_allocation_bytes)
        at_once = max(min(_MOST_BYTES // numbers, room // (4 * largest.storages)), 1)
        return np.array_split(np.arange(len(batch)), -(-len(batch) // at_once))

    def best_paths(self, of: Lattice, origin: IntArray) -> tuple[IntArray, NDArray[np.int64]]:
        """A launch for each step."""
        session, (years, _, steps) = self.session, of.least.shape
        size, shape = int(np.prod(of.shape)), tuple(of.shape)
        items = min(ITEMS, session.device.max_work_group_size)
        program = self._program(of, items)
        rows = [each.reshape(years, -1) for each in (of.lowest, of.highest, of.least, of.most)]
        # Less than a number of the step: it is the differences that float32 must tell apart.
        made = np.swapaxes(of.made - of.made[..., :1, :1], 3, 4).astype(np.float32)
        paths = np.zeros((years, steps + 1), np.int32)
        paths[:, 0] = np.ravel_multi_index(tuple(origin.T), shape)
        session.upload(bounds=np.concatenate(rows, axis=1).astype(np.int32), made=made, paths=paths)
        session.upload(ends=of.ends.astype(np.float32))
        values, choices = ("even", "odd"), ((years, steps, size), np.int32)
        session.allocate(**dict.fromkeys(values, ((years, size), np.float32)), choices=choices)
        session.allocate(tried=((years, size), np.uint32))
        every = (-(-size // items) * items, years)
        common: list[Argument] = ["bounds", *map(np.int32, shape)]
        session.run(
            program, "joint_ends", every, (items, 1), *common, "ends", np.int32(of.ends.shape[2]), values[steps % 2]
        )
        tables = ("made", np.int32(made.shape[3]), np.int32(made.shape[4]))
        for step in range(steps - 1, -1, -1):
            ahead, here = values[(step + 1) % 2], values[step % 2]
            session.run(
                program,
                "joint_step",
                every,
                (items, 1),
                *common,
                *tables,
                np.int32(step),
                ahead,
                here,
                "choices",
                "tried",
            )
        session.run(program, "joint_paths", years, None, values[0], "choices", np.int32(size), "paths")
        places, tried = session.download("paths"), session.download("tried").sum(axis=1, dtype=np.int64)
        session.free("bounds", "made", "paths", "ends", *values, "choices", "tried")
        found = np.stack(np.unravel_index(np.maximum(places, 0), shape), axis=1)
        return found, np.where(places[:, 0] < 0, 0, tried)

    def _program(self, of: Lattice, items: int) -> BuiltProgram:
        pairs = ((source, target) for target in range(RESERVOIRS) for source in range(target))
        links = {f"LINK_{source}_{target}": int(of.links[source, target]) for source, target in pairs}
        constants = {"ITEMS": items, "STEPS": of.least.shape[2], **links}
        return build(self.session.device, assemble(["solvers/dp_joint/joint_steps.cl"], constants))


ENGINE = JointEngine
