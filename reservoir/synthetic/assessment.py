"""The acceptance of synthetic inflow: flows, and with a reservoir what optimised operation makes of them."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.checks import Check
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.synthetic.acceptance import LEAST_RECORDS, Comparison, compare_flows
from reservoir.synthetic.energy import MOST_RECORDS, OptimisedRecords, compare_energy, optimised
from reservoir.synthetic.ensemble import SyntheticInflow

#: Synthetic records that are compared at most: more would not make the sampling error known any better.
_MOST_COMPARED = 1000


@dataclass(frozen=True, eq=False)
class Assessment:
    """Synthetic inflow compared with its record.

    Parameters
    ----------
    comparisons : tuple of Comparison
    optimised : tuple of OptimisedRecords, optional
        The record's operation, and that of synthetic records.
    not_checked : str
        What could not be compared, and why; empty if all was.
    """

    comparisons: tuple[Comparison, ...]
    optimised: tuple[OptimisedRecords, OptimisedRecords] | None
    not_checked: str

    @property
    def checks(self) -> list[Check]:
        """The acceptance table."""
        return [each.check for each in self.comparisons]


def assessed(
    source: SyntheticInflow,
    members: int,
    reservoir: Reservoir | None = None,
    *,
    device: str = "auto",
    progress: StageProgress = silent_stage,
) -> Assessment:
    """Compare the first members of an ensemble, each as long as the record, with the record.

    Members of other lengths begin with the same years, so that these are of the same ensemble. There are at least
    `LEAST_RECORDS`.

    Parameters
    ----------
    source : SyntheticInflow
    members : int
        As many as the ensemble has.
    reservoir : Reservoir, optional
        Whose operation is optimised by dynamic programming, with the record's inflow and the first members'.
    device : str
        OpenCL device for that.
    progress : callable
        Told the years that are optimised.
    """
    calendar, record = source.record.calendar, source.adjusted_record
    flow = source.flows(0, min(max(members, LEAST_RECORDS), _MOST_COMPARED), len(record))
    comparisons = compare_flows(record, flow, calendar)
    why_not = _why_not_optimised(reservoir)
    if reservoir is None or why_not:
        return Assessment(tuple(comparisons), None, why_not)
    both = (
        optimised(reservoir, record[None], calendar, device=device, progress=progress),
        optimised(reservoir, flow[:MOST_RECORDS], calendar, device=device, progress=progress),
    )
    return Assessment((*comparisons, *compare_energy(*both)), both, "")


def _why_not_optimised(reservoir: Reservoir | None) -> str:
    if reservoir is None:
        return "optimised energy and firm power: no reservoir is given"
    if reservoir.ramp_up_m3s is not None or reservoir.ramp_down_m3s is not None:
        return "optimised energy and firm power: dynamic programming cannot limit the change of the release"
    return ""
