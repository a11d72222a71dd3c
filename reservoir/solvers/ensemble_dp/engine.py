"""The value of storage under each future of an ensemble: on a device, on CPU threads, or of a few with numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.solvers.ensemble_dp.few import values_of_few
from reservoir.solvers.ensemble_dp.step import Float32Array
from reservoir.solvers.ensemble_dp.tables import FloatArray, StepTables

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
    from reservoir.solvers.ensemble_dp.on_device import device_of, values_on_device
    from reservoir.solvers.ensemble_dp.recursion import compiled_values

    chosen = device_of(device)
    if chosen is None:
        return compiled_values(tables, inflow, first_step, ends)
    return values_on_device(chosen, tables, inflow, first_step, ends)
