"""Checks that a reservoir's curves satisfy their constraints and cover the range in which they are evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from reservoir.errors import Mistake
from reservoir.hydro.conversion import conversion_of
from reservoir.hydro.curves.curve import Curve
from reservoir.hydro.reservoir_checks.curve_constraints import CurveConstraint, check_curve
from reservoir.hydro.reservoir_kinds import ConversionKind
from reservoir.hydro.wording import Words

Domain = tuple[float, float]

#: A curve may miss the end of its range by this much of it, as volumes in two units do.
SLACK = 1e-6
#: Heads at which the most power is looked for.
_HEADS = 101

#: The constraint of a conversion, by what it says about a head.
CONVERSIONS: Mapping[ConversionKind, str] = {
    ConversionKind.RATE: "conversion_rate",
    ConversionKind.COEFFICIENT: "output_coefficient",
    ConversionKind.EFFICIENCY: "efficiency",
}

_NEEDED = {
    "storage_hm3": "from the dead to the full storage",
    "release_m3s": "all releases that [release] allows",
    "head_m": "all heads of these storages and releases",
}


def curve_mistakes(constraint: CurveConstraint, curve: Curve, needed: Domain | None, words: Words) -> Iterator[Mistake]:
    """State what is wrong with a curve.

    Parameters
    ----------
    constraint : CurveConstraint
    curve : Curve
    needed : pair of float or None
        The range on which it will be asked; None where a mistake elsewhere leaves it unknown.
    words : Words
        Of the curve: its variable and its value are called as in its constraint, and it itself "".
    """
    if not all(constraint.x_range.holds(end) for end in curve.domain):
        have, allowed = (
            " to ".join(words.amount(constraint.x, end) for end in ends) for ends in (curve.domain, constraint.x_range)
        )
        yield words.mistake("", f"covers {have}", f"values within {allowed}", "check the numbers and their units")
        return
    yield from check_curve(constraint, curve, words)
    if needed is not None:
        yield from coverage_mistakes(constraint, curve, needed, words)


def coverage_mistakes(constraint: CurveConstraint, curve: Curve, needed: Domain, words: Words) -> Iterator[Mistake]:
    """Require a curve to cover a range, but for what volumes in two units differ by."""
    slack = SLACK * (needed[1] - needed[0])
    if curve.domain[0] > needed[0] + slack or curve.domain[1] < needed[1] - slack:
        have, need = (" to ".join(words.amount(constraint.x, end) for end in ends) for ends in (curve.domain, needed))
        yield words.mistake("", f"covers only {have}", f"{need}, {_NEEDED[constraint.x]}", "extend the curve")


def heads_of(level: Curve, tailrace: Curve, storages: Domain, releases: Domain) -> Domain:
    """Lowest and highest head (m) between these storages (hm3) and releases (m3/s)."""
    lowest, highest = (float(level(end)) for end in storages)
    below_least, below_most = (float(tailrace(end)) for end in releases)
    return lowest - below_most, highest - below_least


def lake_above_tailrace(
    level: Curve, tailrace: Curve, storages: Domain, releases: Domain, words: Words
) -> Iterator[Mistake]:
    """Require some head at every storage and release."""
    lowest, below_most = float(level(storages[0])), float(tailrace(releases[1]))
    if lowest <= below_most:
        problem = f"the level at dead storage, {lowest:.7g} m, is not above the tailrace at the largest release"
        expected = f"a level above {below_most:.7g} m"
        yield words.mistake("tailrace", problem, expected, "check that both levels have the same datum")


def most_power_mw(conversion: Curve, kind: ConversionKind, capacity: Curve, heads: Domain, release_m3s: float) -> float:
    """Power (MW) that no head and no release up to `release_m3s` exceeds, but for the installed capacity."""
    head = np.linspace(*heads, _HEADS)
    power = conversion_of(conversion, kind)(head) * np.minimum(capacity(head), release_m3s)
    return float(power.max())
