"""The value of storage under each future of an ensemble: on a device, on CPU threads, or of a few with numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.opencl import BuiltProgram, DeviceInfo, Session, assemble, build, choose_device, opencl_available
from reservoir.solvers.ensemble_dp.step import (
    INTERVALS,
    LOSS_ROUNDS,
    ROUNDS,
    SCALARS,
    Float32Array,
    FloatArray,
    StepTables,
    TableArrays,
    best_value,
)


def values_of_few(
    tables: StepTables, inflow: Float32Array, first_step: NDArray[np.int32], ends: Float32Array
) -> Float32Array:
    """See `reservoir.solvers.ensemble_dp.engine.ensemble_values`."""
    arrays, states = tables.in_float32(), tables.states
    storage = (arrays.lowest + np.arange(states, dtype=np.float32) * arrays.spacing)[None]
    first = np.arange(len(inflow))[:, None] * states
    values = np.ascontiguousarray(ends, np.float32)
    for month in range(inflow.shape[1] - 1, -1, -1):
        step = ((first_step + month) % tables.steps)[:, None]
        values = best_value(arrays, step, storage, inflow[:, month, None], values.reshape(-1), first)
    return values


#: So many months of futures are solved with numpy: they take less time than it takes to load a compiler.
FEW_MONTHS = 5_000


def ensemble_values(
    tables: StepTables,
    inflow_m3s: FloatArray,
    first_step: NDArray[np.int32],
    ends: Float32Array,
    device: str | None = None,
) -> Float32Array:
    """Solve every future by dynamic programming, backwards from its end.

    Parameters
    ----------
    tables : StepTables
    inflow_m3s : ndarray, shape (futures, months)
        Inflows, less the withdrawals that are demanded.
    first_step : ndarray, shape (futures,)
        Step of the water year that each begins with.
    ends : ndarray, shape (futures, states)
        Value of each storage at the end of each future, in the unit of the objective.
    device : str, optional
        See `choose_device`. By default numpy for a few futures, for more a GPU or an accelerator if there is one, else
        compiled code on CPU threads: there it is three times as fast as OpenCL. All have the same results but for
        rounding.

    Returns
    -------
    ndarray, shape (futures, states)
        Value of each storage at the start of each future. It depends on neither the other futures nor
        launches, but for rounding where they decide on what it is solved.
    """
    inflow = np.ascontiguousarray(inflow_m3s, np.float32)
    if device is None and inflow.size <= FEW_MONTHS:
        return values_of_few(tables, inflow, first_step, ends)
    # A second of loading, for which a single decision does not wait.
    from reservoir.solvers.ensemble_dp.recursion import compiled_values

    chosen = device_of(device)
    if chosen is None:
        return compiled_values(tables, inflow, first_step, ends)
    return values_on_device(chosen, tables, inflow, first_step, ends)


#: Work items of a group on a GPU.
GPU_ITEMS = 64
_FILES = ("common/sync/group_barrier.cl", "solvers/ensemble_dp/ensemble_values.cl")


def device_of(wanted: str | None) -> DeviceInfo | None:
    """The device to solve on; None for CPU threads."""
    if wanted is not None:
        return choose_device(wanted)
    if not opencl_available():
        return None
    best = choose_device("auto")
    return None if best.kind == "CPU" else best


def values_on_device(
    device: DeviceInfo, tables: StepTables, inflow: Float32Array, first_step: NDArray[np.int32], ends: Float32Array
) -> Float32Array:
    """See `reservoir.solvers.ensemble_dp.engine.ensemble_values`."""
    arrays = tables.in_float32()
    items = 1 if device.kind == "CPU" else min(GPU_ITEMS, device.max_work_group_size)
    program = _program(device, tables, arrays, inflow.shape[1], items)
    at_once = max(device.max_allocation_bytes // (4 * max(tables.states, inflow.shape[1])), 1)
    parts = [
        _launched(device, program, arrays, items, inflow[part], first_step[part], ends[part])
        for part in (slice(first, first + at_once) for first in range(0, len(inflow), at_once))
    ]
    return np.concatenate(parts)


def _launched(
    device: DeviceInfo,
    program: BuiltProgram,
    arrays: TableArrays,
    items: int,
    inflow: Float32Array,
    first_step: NDArray[np.int32],
    ends: Float32Array,
) -> Float32Array:
    """Values of some futures, in one launch."""
    with Session(device) as session:
        session.upload(scalars=arrays.scalars, losses=arrays.losses, benefit=arrays.benefit)
        session.upload(inflow=inflow, first_step=np.ascontiguousarray(first_step, np.int32), ends=ends)
        session.allocate(values=(ends.shape, np.float32))
        names = ("scalars", "losses", "benefit", "inflow", "first_step", "ends", "values")
        session.run(program, "ensemble_values", len(inflow) * items, items, *names)
        return session.download("values")


def _program(device: DeviceInfo, tables: StepTables, arrays: TableArrays, months: int, items: int) -> BuiltProgram:
    constants: dict[str, int | float | str] = {
        "STATES": tables.states,
        "MEANS": arrays.means,
        "DRAFTS": arrays.drafts,
        "STEPS": tables.steps,
        "MONTHS": months,
        "ITEMS": items,
        "LOWEST": float(arrays.lowest),
        "SPACING": float(arrays.spacing),
        "STATES_PER_HM3": float(arrays.states_per_hm3),
        "MEANS_PER_HM3": float(arrays.means_per_hm3),
        "DRAFTS_PER_M3S": float(arrays.drafts_per_m3s),
        "ROUNDING": float(arrays.rounding),
        "LOSSY": int(arrays.lossy),
        "INTERVALS": INTERVALS,
        "ROUNDS": ROUNDS,
        "LOSS_ROUNDS": LOSS_ROUNDS,
        "SCALARS": len(SCALARS),
        **{name.upper(): place for place, name in enumerate(SCALARS)},
    }
    return build(device, assemble(_FILES, constants))
