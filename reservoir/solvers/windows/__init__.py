"""Long horizons by engines of short problems: windows of the horizon, swept until nothing improves (`sweeps`).

Here are the settings of the sweeps, beside those of the engine that solves the windows.
"""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.solvers.settings import Settings, number


@dataclass(frozen=True)
class WindowSettings(Settings):
    """How a long horizon is swept.

    Parameters
    ----------
    window_steps : int
        Storages that a window chooses: one a step, or one a block of steps; half as many at the end of a sweep.
    range_factor : float
        By which the range of the corrections shrinks from sweep to sweep.
    sweep_tolerance : float
        The sweeps end when two running improve the fitness by less than this part of it each, once the range is a
        hundredth of the first.
    most_sweeps : int
        They end after so many at the latest.
    """

    window_steps: int = number(24, 2, 96)
    range_factor: float = number(0.7, 0.01, 1.0)
    sweep_tolerance: float = number(1e-6, 0.0, 1.0)
    most_sweeps: int = number(40, 1, 10_000)
