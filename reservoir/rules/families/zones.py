"""Rules that release what makes an output: the standard operating policy, and a dispatch chart (调度图).

The chart of Chinese practice parts reduced, guaranteed, increased and full output, month by month: the storage at the
start of a month falls in a zone, and the zone says the output. How it is fitted is in `zones_operation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

import numpy as np

from reservoir.rules.base.fields import (
    Known,
    Monthly,
    NotFalling,
    NotNegative,
    Numbers,
    Refusal,
    Rising,
    as_long_as,
    beyond,
    check,
    count,
    length,
    not_below,
)
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import FloatArray, Training

ZONES = ("reduced", "guaranteed", "increased", "full")
CURVES = len(ZONES) - 1
#: A storage higher than a curve by less than this part of the largest lies on it: a full lake must not be in a zone or
#: in the one above as rounding will have it.
ON_CURVE = 1e-6
ZONES_FAMILY: Final = "zones"
#: Zones that follow each other and whose outputs differ by no more than this part are one: nobody could tell them apart
#: at work.
ALIKE = 0.01
#: The bounds of the storage, and the curve that must not pass each.
_FENCE: tuple[tuple[str, Literal["below", "above"], int], ...] = (
    ("storage_lower_hm3", "below", 0),
    ("storage_upper_hm3", "above", CURVES - 1),
)


def _in_order(curves: Sequence[Numbers], known: Known) -> Iterator[Refusal]:
    """Refuse curves that cross, or leave the storage bounds at the start of a step."""
    for place, (lower, upper) in enumerate(pairwise(curves)):
        yield from beyond(upper, "below", lower, f"curves_hm3[{place}]", known, place + 1)
    for name, side, place in _FENCE:
        if name in known:
            yield from beyond(
                curves[place], side, np.roll(known[name], 1), f"{name} of the previous month", known, place
            )


def _by_storage(tables: Sequence[Numbers], known: Known) -> Iterator[Refusal]:
    for place, table in enumerate(tables):
        yield from length(table, len(known.get("storage_hm3", table)), "one for each value of storage_hm3", place)


class ZonesRule(Rule):
    """A dispatch chart.

    Parameters
    ----------
    storage_lower_hm3, storage_upper_hm3 : tuple of float
        Bounds of the storage at the end of each step.
    curves_hm3 : three tuples of float
        Storage at the start of each step above which the output is guaranteed, increased and full; never crossing.
    outputs_mw : tuple of four float
        Output of each zone of `ZONES`, rising.
    storage_hm3 : tuple of float
        Storages of the table of releases.
    release_m3s : four tuples of float
        Release that makes each zone's output at those storages; that of most output where none makes it.
    """

    family: Literal["zones"]
    storage_lower_hm3: Monthly
    storage_upper_hm3: Annotated[Monthly, not_below("storage_lower_hm3")]
    curves_hm3: Annotated[tuple[Monthly, ...], count(CURVES, "one list per curve"), check(_in_order)]
    outputs_mw: Annotated[NotFalling, count(len(ZONES), "one per zone")]
    storage_hm3: Rising
    release_m3s: Annotated[tuple[Numbers, ...], count(len(ZONES), "one list per zone"), check(_by_storage)]

    def zone(self, step: int, storage_hm3: float) -> str:
        """Name of the zone that a storage at the start of a step falls in; on a curve, the zone below it.

        Zones of about the same output are one, with all their names (`together`).
        """
        place = int(self._zones(step, np.array([storage_hm3]))[0])
        return zone_name(next(zones for zones in self.together if place in zones))

    @property
    def together(self) -> tuple[tuple[int, ...], ...]:
        """Places of the zones, from the lowest up; those that follow each other with about the same output are one."""
        groups = [[0]]
        for zone, output in enumerate(self.outputs_mw[1:], start=1):
            least = self.outputs_mw[groups[-1][0]]
            if abs(output - least) <= ALIKE * max(abs(output), abs(least)):
                groups[-1].append(zone)
            else:
                groups.append([zone])
        return tuple(map(tuple, groups))

    def _zones(self, step: int, storage_hm3: FloatArray) -> Any:
        curves = [curve[step] for curve in self.curves_hm3]
        return np.searchsorted(curves, storage_hm3 - ON_CURVE * self.storage_hm3[-1])

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """Releases that make the zone's output at the start storage, and keep the end within the storage bounds."""
        zones = self._zones(step, storage_hm3)
        outputs = np.stack([np.interp(storage_hm3, self.storage_hm3, table) for table in self.release_m3s])
        wanted = outputs[zones, np.arange(len(zones))]
        bounds = self.storage_lower_hm3[step], self.storage_upper_hm3[step]
        filling, emptying = self.months.feasible_releases(step, storage_hm3, bounds, inflow_now_m3s)
        return np.asarray(np.minimum(np.maximum(wanted, filling), emptying))


def zone_name(zones: Sequence[int]) -> str:
    """The name of a zone, or of several that are one."""
    return " and ".join(ZONES[zone] for zone in zones)


_STANDARD_POINTS = 41


class StandardRule(Rule):
    """Release (m3/s) that makes the firm power, by storage (hm3), joined by straight lines.

    Standard operating policy: the firm output while water lasts, and nothing held back for later; the weak baseline
    (Maass et al. 1962, Design of Water-Resource Systems). The release makes the firm power at the month's start
    storage; what does not fit under the upper bound of the storage is released too, by the simulation's repair.
    """

    family: Literal["standard"]
    firm_mw: NotNegative
    storage_hm3: Rising
    release_m3s: Annotated[Numbers, as_long_as("storage_hm3")]

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """Releases that make the firm power at the start storage, whatever flows in."""
        return self.months.within_bounds(step, np.interp(storage_hm3, self.storage_hm3, self.release_m3s))


def fit_standard(training: Training, forecast: Forecast) -> StandardRule:
    """Take what is guaranteed as firm power; without that, what this policy gives in nine months of ten."""
    # An operator with a rule does not wait for what fitting needs.
    from reservoir.hydro.power import releases_for_power
    from reservoir.rules.base.physics import storage_range
    from reservoir.rules.base.targets import Targets

    plant, firm = training.model.reservoir, Targets.of(training).firm_mw
    storages = np.linspace(*storage_range(plant), _STANDARD_POINTS)
    releases = releases_for_power(plant, storages, np.array([firm]))[0]
    return StandardRule.fitted(training, forecast, firm_mw=firm, storage_hm3=storages, release_m3s=releases)
