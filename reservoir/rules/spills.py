"""Why a rule lets water past the turbines while there is room in the lake, in words."""

from __future__ import annotations

import numpy as np

from reservoir.hydro.step import REPAIR_TOLERANCE
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.rules.scores import RecordEvaluation
from reservoir.text.quantities import counted

#: Spill counts that is more than this part of the release, while at least this part of the range of storages is free.
SPILL, ROOM = 1e-3, 0.01
#: Months ahead whose limits are looked at.
AHEAD = 2
BEFORE_LIMIT = f"the storage limit falls within {AHEAD} months"
LEAST_RELEASE = "the least release is more than the turbines take"
NO_TURBINES = "the turbines stand still: too little head, or below their operating level"
# fmt: off
#: What decides where none of these does, by family.
DECIDES = {
    "guide-curve": "the rule aims at the storage of its curve, not at what the turbines take",
    **dict.fromkeys(("linear", "linear-search"),
                    "the rule aims at a storage that is linear in storage and inflow, not at what the turbines take"),
    **dict.fromkeys(("sdp", "water-value", "replan"),
                    "by its values, water kept would bring no more later, since much of it would spill then"),
    **dict.fromkeys(("zones", "standard"),
                    "the rule releases what makes its output at the storage of the month's first day"),
    **dict.fromkeys(("ann", "ann-regression"), "its network releases a fraction of what is feasible, as it learnt"),
}
# fmt: on
OTHER = "the rule asks for it"


def spill_with_room(run: RecordEvaluation, units: UnitSystem = SI) -> str:
    """How much a rule spills in months that end with room in the lake, and why; empty if it does not.

    A month has the first of the reasons that holds.
    """
    operation, limits = run.operation, run.limits
    upper, lower = limits.storage_upper_hm3, float(limits.storage_lower_hm3.min())
    end, release, spill = operation.storage_hm3[:, 1:], operation.release_m3s, operation.spill_m3s
    spilled = (spill > SPILL * release) & (upper - end > ROOM * (float(upper.max()) - lower))
    if not spilled.any():
        return ""
    volume_hm3 = spill * run.inflow.calendar.hm3_per_m3s
    steps = np.arange(upper.shape[1])
    ahead = np.min([upper[:, (steps + months) % len(steps)] for months in range(1, AHEAD + 1)], axis=0)
    slack = REPAIR_TOLERANCE * float(limits.release_upper_m3s.max())
    reasons = {
        BEFORE_LIMIT: (ahead < upper) & (end + volume_hm3 > ahead),
        LEAST_RELEASE: release <= limits.release_lower_m3s + slack,
        NO_TURBINES: operation.turbined_m3s <= slack,
        DECIDES.get(run.rule.family, OTHER): np.ones_like(spilled),
    }
    parts, left = [], spilled
    for reason, holds in reasons.items():
        if count := int((left & holds).sum()):
            parts.append((count, f"{reason} ({counted(count, 'month')})"))
        left = left & ~holds
    a_year = units.written(float(volume_hm3[spilled].sum()) / len(release), "hm3")
    months = f"{int(spilled.sum()):,} of {counted(spilled.size, 'month')}"
    return f"{a_year} a year in {months}: {'; '.join(text for _, text in sorted(parts, reverse=True))}"
