"""Years of a system that cannot keep all limits whatever is done: proved, and told with what mends them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.inflow import first_days
from reservoir.hydro.system import System
from reservoir.hydro.unit_system import UnitSystem, UnitText
from reservoir.planning.sentences import listed
from reservoir.planning.shortfalls import Shortfall, by_kind
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers.slp.misses import (
    ABOVE,
    BELOW,
    COMMITMENT,
    LICENCE,
    RELEASE,
    WITHDRAWAL,
    LeastMisses,
    Miss,
    least_misses,
)
from reservoir.text.quantities import counted

_OR = ", or check the links to it and the unit of the inflow"
#: Of each kind of miss: what a reservoir does, with the amount, and what mends it, with the reservoir's name.
_TOLD = {
    BELOW: ("ends {} below its least storage", "lower the least or the final storage of {}"),
    ABOVE: ("ends {} above its largest storage", "raise release.upper_m3s or the largest storage of {}"),
    RELEASE: ("lacks {} of its minimum release", f"lower release.lower_m3s of {{}}{_OR}"),
    WITHDRAWAL: ("lacks {} of its withdrawal", f"lower losses.withdrawal_m3s of {{}}{_OR}"),
    COMMITMENT: ("lacks {} of its annual release", f"lower the volume in [commitments] of {{}}{_OR}"),
    LICENCE: ("has {} more than its annual release may be", f"raise most_annual_release of {{}}{_OR}"),
}


def infeasible_problems(problems: RecordProblems, violation: NDArray[np.float64]) -> dict[str, LeastMisses]:
    """Problems of a system of which it is proved that no schedule keeps their limits, by their labels.

    Only those are looked at whose schedule violates limits: `violation` has the shape (problems,).
    """
    found = dict[str, LeastMisses]()
    for places, batch in problems.placed_batches:
        years: Any = batch
        violating = np.flatnonzero(violation[places] > 0)
        if violating.size:
            each = zip(violating.tolist(), least_misses(years[violating]), strict=True)
            found |= {str(years.labels[place]): misses for place, misses in each if misses is not None}
    return found


def infeasible_notes(
    system: System, problems: RecordProblems, infeasible: Mapping[str, LeastMisses], one: str
) -> Iterator[str]:
    """Of which problems (`one`: a year, say) no schedule keeps the limits, what is missed, and what mends it."""
    if not infeasible:
        return
    worst = max(infeasible, key=lambda label: infeasible[label].least_hm3)
    most = f" in {worst}" * (len(infeasible) > 1)
    yield UnitText(
        lambda units: (
            f"Proven: no schedule keeps the limits of {counted(len(infeasible), one)}: {listed(list(infeasible))}; "
            f"at least {units.stated(infeasible[worst].least_hm3, 'hm3', ',.4g')} are missed{most}, "
            "all steps together, for example so:"
        )
    )
    places, steps = list(map(str, problems.labels)), problems.inflow.steps
    first_years = {label: int(np.argmax(problems.of_year == places.index(label))) for label in infeasible}
    groups: dict[tuple[int, str], list[tuple[int, Miss]]] = {}
    for label, found in infeasible.items():
        for miss in found.misses:
            groups.setdefault((miss.place, miss.kind), []).append((first_years[label], miss))
    for (place, kind), missed in sorted(groups.items(), key=lambda group: group[0]):

        def told(units: UnitSystem, place: int = place, kind: str = kind, missed: Any = missed) -> str:
            name, (does, mend) = system.names[place], _TOLD[kind]
            shortfalls = (
                Shortfall(
                    first + miss.step // steps,
                    miss.step % steps,
                    kind,
                    miss.hm3,
                    f"{name} {does.format(units.stated(miss.hm3, 'hm3', ',.4g'))}",
                )
                for first, miss in missed
            )
            return f"{'; '.join(by_kind(shortfalls, problems.inflow))}. Fix: {mend.format(name)}."

        yield UnitText(told)


def infeasible_provenance(
    system: System, problems: RecordProblems, infeasible: Mapping[str, LeastMisses], units: UnitSystem
) -> dict[str, Any]:
    """What ``plan.json`` says of them: what is missed at least, and where a schedule misses no more."""
    days, labels = first_days(problems.inflow.calendar), list(map(str, problems.labels))
    told = {}
    for label, found in infeasible.items():
        first = int(np.argmax(problems.of_year == labels.index(label))) * problems.inflow.steps
        misses = [
            {
                "reservoir": system.names[miss.place],
                "first_day": str(days[first + miss.step])[:10],
                "limit": miss.kind,
                **units.values({"missed_hm3": miss.hm3}),
            }
            for miss in found.misses
        ]
        told[label] = {**units.values({"least_missed_hm3": found.least_hm3}), "misses": misses}
    return told
