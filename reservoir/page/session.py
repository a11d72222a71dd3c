"""A session of changes: a reservoir, or a system, is planned again whenever keys of its files change."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

from reservoir.hydro.curves.approximation import form_ranges
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import MOST_STEPS_OF_YEAR
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.io.file_keys import Changes, FileKeys
from reservoir.planning.plan import optimise
from reservoir.planning.solving import DEVICE_REFERENCE, SWEPT_SOLVER
from reservoir.planning.system_search import FINISH

#: Settings of a preview. With the first, the bundled case has the same energy, by years and as a record, to 1e-8; with
#: the second, the systems of the Lancang have that of the plan to 1e-4 where a capacity is a fifth smaller.
_PREVIEW = {DEVICE_REFERENCE: {"states": 101, "most_states": 101}, FINISH: {"most_programs": 3}}
#: Settings of a preview whose search is that of the plan, and arguments that change none.
_SAME_SEARCH, _NO_SETTINGS = {"reference": False}, {"progress"}


class PlanningSession:
    """Plans of a reservoir or of a system whose keys change, from one record.

    Changes are all keys that differ from the base's files, not from the changes before, and a plan follows from them
    alone. Of a reservoir, forms of the curves are kept on ranges of the base (`form_ranges`): only a limit beyond them,
    or another curve, fits any. Kernels are built for kinds of reservoirs, such as those with a demand: `prepare` builds
    those that a session will need. Of a system, plans begin with the schedules of the base.

    Parameters
    ----------
    base : Reservoir or System
    inflow : Inflow or SiteInflows
    solver : str, optional
        By default ``lshade``; for more than 12 steps as one problem dynamic programming, where that can plan them. Of a
        system ``slp``, the first stage of what `reservoir.optimise_system` runs.
    **how
        Further arguments of `reservoir.optimise`, of every plan.

    Attributes
    ----------
    solver : str
    latest : Plan, SystemPlan or None
        The last plan or preview. Changes that are refused leave it as it is.
    """

    def __init__(
        self, base: Reservoir | System, inflow: Inflow | SiteInflows, *, solver: str | None = None, **how: Any
    ) -> None:
        self.keys = FileKeys.of(base)
        self.latest: Any = None
        self._ranges: tuple[Any, ...] = ()
        self._of_preview: dict[str, Any] = {}
        self._initial: dict[str, Any] | None = None
        self._searched: tuple[Changes, Any] | None = None
        if isinstance(base, System):
            self.solver = solver or FINISH
        else:
            short = System.of(base).asked_horizon(how.get("horizon")).is_year
            short &= base.step.per_year <= MOST_STEPS_OF_YEAR
            ramps = (base.ramp_up_m3s, base.ramp_down_m3s) != (None, None)
            self.solver = solver or (SWEPT_SOLVER if short or ramps else DEVICE_REFERENCE)
            self._ranges, self._of_preview, self._initial = form_ranges(base), dict(_SAME_SEARCH), {}
        self._of_preview |= _PREVIEW.get(self.solver, {})
        self._optimise: Any = partial(optimise, inflow=inflow, solver=self.solver, **how)

    def prepare(self, *examples: Changes) -> None:
        """Plan the base, and each of the changes, on all ranges: kernels for reservoirs of their kinds are built."""
        for changes in ({}, *examples):
            for place in range(max(len(self._ranges), 1)):
                ranges: dict[str, Any] = {"form_ranges": self._ranges[place:]}
                self._planned(changes, **ranges)
                self._planned(changes, **ranges, **self._of_preview)

    def preview(self, changes: Changes, **how: Any) -> Any:
        """Plan without a reference optimum, or of a system with few programs: what can follow the hand.

        Parameters
        ----------
        changes : mapping
        **how
            Further arguments of this plan, such as ``progress``.

        Returns
        -------
        Plan or SystemPlan

        Raises
        ------
        InputError
            With every mistake of the changed keys, as `reservoir.read_system` says it.
        """
        plan = self._planned(changes, **self._of_preview, **how)
        if self._of_preview == _SAME_SEARCH and how.keys() <= _NO_SETTINGS:
            self._searched = deepcopy(dict(changes)), plan
        return plan

    def plan(self, changes: Changes, **how: Any) -> Any:
        """Plan as `reservoir.optimise` does; of a system from the schedules of the base, by a solver alone.

        `reservoir.planning.checks.plan_checks`, or `system_checks`, says whether it is accepted. Arguments and what it
        raises are those of `preview`. Where the last preview is of the same changes, its search is not made again.
        """
        return self._planned(changes, known=how.keys() <= _NO_SETTINGS, **how)

    def _planned(self, changes: Changes, *, known: bool = False, **how: Any) -> Any:
        changed = self.keys.changed(changes)
        if known and self._searched is not None and self._searched[0] == changes:
            how["searched"] = self._searched[1]
        if self._initial is None:
            self._initial = {"initial": self._optimise(self.keys.changed({})).operation}
        self.latest = self._optimise(changed, **{"form_ranges": self._ranges, **self._initial, **how})
        return self.latest
