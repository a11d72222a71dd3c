"""What is proved of a plan, in words."""

from __future__ import annotations

import numpy as np

from reservoir.planning.infeasible import chosen, counted, listed
from reservoir.planning.planned_record import Plan


def proof_sentences(plan: Plan) -> list[str]:
    """How far the schedules can be from the best possible, and which problems have none; nothing without a proof."""
    proofs = plan.proofs
    if proofs is None:
        return []
    one = plan.year_word if len(plan.problems) == plan.inflow.years else "horizon"
    known, nothing = int((~np.isnan(proofs.gap)).sum()), int(np.isinf(proofs.gap).sum())
    sentences = []
    if nothing:
        sentences.append(f"Nothing could be proved of the schedules of {nothing} of {counted(known, one)}")
    elif known:
        within = f"{proofs.reached} of {counted(known, one)} within {proofs.asked:.1e}"
        sentences.append(
            f"Proven: no schedule that keeps the limits is better by more than {proofs.worst_gap:.1e} ({within})"
        )
    if proofs.infeasible:
        named = [f"{label} (by {day})" if day else label for label, day in proofs.infeasible.items()]
        count = counted(len(named), one)
        sentences.append(f"Proven: no schedule keeps the limits of {count}: {listed(named)}")
        unable = np.isin(np.array(plan.problems.labels, str), list(proofs.infeasible))
        short = chosen(plan.problems.labels, unable & np.isfinite(proofs.gap))
        if len(short):
            sentences.append(
                f"Of {listed(short)} the gap is to schedules that lack only water for the minimum release, of which a "
                "step is short only where it ends at dead storage or below; bound and gap contain what that costs"
            )
    return sentences
