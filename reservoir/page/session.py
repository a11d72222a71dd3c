"""A session of changes: a reservoir is planned again whenever keys of its file change."""

from __future__ import annotations

from functools import partial
from typing import Any

from reservoir.hydro.curves.approximation import form_ranges
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System
from reservoir.io.file_keys import Changes, FileKeys
from reservoir.planning.plan import Plan, optimise
from reservoir.planning.solving import DEVICE_REFERENCE, SWEPT_SOLVER

#: Settings of a preview, with which the bundled case has the same energy, by years and as a record, to 1e-8.
_PREVIEW = {DEVICE_REFERENCE: {"states": 101, "most_states": 101}}


class PlanningSession:
    """Plans of a reservoir whose keys change, from one record.

    Changes are all keys that differ from the base's file, not from the changes before. Forms of the curves are kept on
    ranges of the base (`form_ranges`): only a limit beyond them, or another curve, fits any. Kernels are built for
    kinds of reservoirs, such as those with a demand: `prepare` builds those that a session will need.

    Parameters
    ----------
    base : Reservoir
    inflow : Inflow
    solver : str, optional
        By default ``lshade``; for horizons longer than a year dynamic programming, where that can plan them.
    **how
        Further arguments of `reservoir.optimise`, of every plan.

    Attributes
    ----------
    solver : str
    latest : Plan or None
        The last plan or preview. Changes that are refused leave it as it is.
    """

    def __init__(self, base: Reservoir, inflow: Inflow, *, solver: str | None = None, **how: Any) -> None:
        self.keys = FileKeys.of(base)
        self.latest: Plan | None = None
        years = System.of(base).asked_horizon(how.get("horizon")).is_year
        ramps = (base.ramp_up_m3s, base.ramp_down_m3s) != (None, None)
        self.solver = solver or (SWEPT_SOLVER if years or ramps else DEVICE_REFERENCE)
        self._ranges = form_ranges(base)
        self._optimise = partial(optimise, inflow=inflow, solver=self.solver, **how)

    def prepare(self, *examples: Changes) -> None:
        """Plan the base, and each of the changes, on all ranges: kernels for reservoirs of their kinds are built."""
        for changes in ({}, *examples):
            for place in range(max(len(self._ranges), 1)):
                ranges = {"form_ranges": self._ranges[place:]}
                self._planned(changes, **ranges)
                self._planned(changes, **ranges, **self._of_preview)

    def preview(self, changes: Changes) -> Plan:
        """Plan without a reference optimum: what can follow the hand.

        Raises
        ------
        InputError
            With every mistake of the changed keys, as `reservoir.read_reservoir` says it.
        """
        return self._planned(changes, **self._of_preview)

    def plan(self, changes: Changes) -> Plan:
        """Plan as `reservoir.optimise` does; `reservoir.planning.checks.plan_checks` says whether it is accepted.

        Raises
        ------
        InputError
            As `preview` does.
        """
        return self._planned(changes)

    @property
    def _of_preview(self) -> dict[str, Any]:
        return {"reference": False, **_PREVIEW.get(self.solver, {})}

    def _planned(self, changes: Changes, **how: Any) -> Plan:
        plan: Plan = self._optimise(self.keys.changed(changes), **{"form_ranges": self._ranges, **how})
        self.latest = plan
        return plan
