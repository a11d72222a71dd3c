"""How a month ends: the physical limits are kept, whatever is asked for."""

from __future__ import annotations

from reservoir.hydro.step import enforce_limits


def month_end(
    storage: float,
    asked: float,
    inflow: float,
    volume: float,
    storages: tuple[float, float],
    releases: tuple[float, float],
) -> tuple[float, float]:
    """Release (m3/s) of a step and storage (hm3) after it, whatever is asked for (eq. 10, repaired as in eq. 18-19).

    Parameters
    ----------
    storage : float
        At the start of the step, hm3.
    asked, inflow : float
        Release wanted and mean inflow, m3/s.
    volume : float
        hm3 that 1 m3/s carries in the step.
    storages, releases : tuple of float
        Least and greatest storage at the end of the step and release in it.
    """
    wanted = min(max(asked, releases[0]), releases[1])
    release, end = enforce_limits(storage, wanted, inflow, volume, storages, releases)
    return float(release), float(end)
