"""A turbine table as utilities have it: discharge and power at full gate by head, from which two curves follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reservoir.errors import Mistake
from reservoir.hydro import ranges
from reservoir.hydro.curves.checks import point_mistakes
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.reservoir_checks.curve_constraints import LOSSLESS_COEFFICIENT, ROUNDING
from reservoir.io.reservoir_toml.curve_schema import TurbineTable
from reservoir.io.reservoir_toml.draft import Draft

_KW_PER_MW = 1000


def turbine_curves(table: TurbineTable, draft: Draft) -> tuple[tuple[Table, Table] | None, list[Mistake]]:
    """Capacity (m3/s) and output coefficient K (kW per m3/s and m), both by head, of all units of a turbine table.

    Returns
    -------
    tuple of Table, or None
        None where there is a mistake. Where the turbines take no water, K is that of the nearest head at which they do.
    list of Mistake
        Everything that is wrong with the table.
    """
    words = replace(draft, section="curves.turbine")
    mistakes = [
        *point_mistakes("head_m", table.head_m, "flow_m3s", table.flow_m3s, words),
        *point_mistakes("head_m", table.head_m, "power_mw", table.power_mw, words),
    ]
    if not mistakes:
        mistakes = list(_broken_points(table, words))
    if mistakes:
        return None, list(dict.fromkeys(mistakes))
    rows = list(zip(table.head_m, table.flow_m3s, table.power_mw, strict=True))
    running = {head: _KW_PER_MW * power / (flow * head) for head, flow, power in rows if flow > 0}
    nearest = {head: min(running, key=lambda other: abs(other - head)) for head in table.head_m}
    coefficients = tuple(min(running[nearest[head]], LOSSLESS_COEFFICIENT) for head in table.head_m)
    capacity = Table(table.head_m, tuple(flow * table.units for flow in table.flow_m3s))
    return (capacity, Table(table.head_m, coefficients)), []


def _broken_points(table: TurbineTable, words: Draft) -> Iterator[Mistake]:
    """State the first point that no turbine has."""
    if not any(flow > 0 for flow in table.flow_m3s):
        yield words.mistake("flow_m3s", "is 0 at every head", "the discharge of the turbines at full gate")
        return
    for number, (head, flow, power) in enumerate(zip(table.head_m, table.flow_m3s, table.power_mw, strict=True), 1):
        at = f"at point {number} ({words.amount('head_m', head)})"
        if not ranges.FLOW_M3S.holds(flow * table.units):
            yield words.mistake("flow_m3s", f"is out of range {at}", "a discharge of 0 or more")
            return
        if (flow > 0) != (power > 0):
            problem = f"is {words.amount('power_mw', power)} with a discharge of {words.amount('flow_m3s', flow)} {at}"
            yield words.mistake("power_mw", problem, "both above 0, or both 0 where the turbines do not run")
            return
        most = LOSSLESS_COEFFICIENT * flow * head / _KW_PER_MW
        if power > most * (1 + ROUNDING):
            problem = f"is more than the water contains {at}"
            mend = "check the units of head, discharge and power, and that all three are of the same number of units"
            yield words.mistake("power_mw", problem, f"at most {words.amount('power_mw', most)} there", mend)
            return
        if power * _KW_PER_MW < ranges.LEAST_COEFFICIENT * flow * head:
            mend = "check the units of head, discharge and power"
            yield words.mistake("power_mw", f"is hardly any for the discharge {at}", mend=mend)
            return
