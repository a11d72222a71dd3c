"""Energy of a run with what the water left at its end would make by itself: for comparing rules without foresight."""

from reservoir.hydro.power import stored_energy_gwh
from reservoir.rules.base.simulation import Simulation


def energy_at_equal_storage(run: Simulation, end_hm3: float) -> float:
    """GWh over the record, as if it had ended with a storage."""
    release = run.operation.release_m3s.mean()
    left = stored_energy_gwh(run.reservoir, run.end_storage_hm3[-1], end_hm3, release)
    return float(run.energy_gwh.sum() + left)
