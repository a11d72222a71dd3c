"""One step of a reservoir (Yu et al. 2020, Complexity 6589658, eq. 7-10, 18 and 19), scalar and compiled.

The sequential solvers, dynamic programming and the certificate all call it, on exact curves in float64 or on the
solvers' least-degree forms.
"""

from __future__ import annotations

from reservoir.hydro.curves.forms import curve_value, specific_power
from reservoir.hydro.jit import inlined


@inlined
def head_at(plant, mean_storage, release):
    """Head, m (eq. 8): forebay level at the step's mean storage less tailrace level at its release."""
    return curve_value(plant.level, mean_storage) - curve_value(plant.tailrace, release)


@inlined
def turbined_at(plant, head, release):
    """Power discharge, m3/s (eq. 9): the release, as far as hydraulic and installed capacity allow."""
    allowed = min(curve_value(plant.capacity, head), plant.installed_mw / specific_power(plant.conversion, head))
    return min(release, allowed)


@inlined
def power_at(plant, mean_storage, release):
    """Power, MW (eq. 7 with eq. 9): `turbined_at` times the power of 1 m3/s, with one division less."""
    head = head_at(plant, mean_storage, release)
    discharge = min(release, curve_value(plant.capacity, head))
    return min(specific_power(plant.conversion, head) * discharge, plant.installed_mw)


@inlined
def steered(year, step, storage, release, lower, upper):
    """Release and end storage of a step once its end is brought into [lower, upper] (eq. 18-19).

    The deviation is made up by the release, in flow units: the printed eq. 19 leaves the division out of its last
    line. The release may leave its bounds here; see `enforce_limits`.
    """
    per_flow = year.hm3_per_m3s[step]
    end = storage + (year.inflow[step] - release) * per_flow
    target = min(max(end, lower), upper)
    return release + (end - target) / per_flow, target


@inlined
def enforce_limits(year, step, storage, release, lower, upper):
    """Release and end storage as `steered`, as far as the bounds of the release allow (eq. 19)."""
    wanted, end = steered(year, step, storage, release, lower, upper)
    kept = min(max(wanted, year.release_lower[step]), year.release_upper[step])
    if kept != wanted:
        end = storage + (year.inflow[step] - kept) * year.hm3_per_m3s[step]
    return kept, end
