"""``reservoir prove``: check a finished plan anew, and prove how far from the best possible it is."""

from __future__ import annotations

from pathlib import Path

import click

from reservoir.cli import options
from reservoir.cli.path_types import FilePath


@click.command("prove")
@click.argument("plan_folder", metavar="PLAN_DIR", type=FilePath())
@options.proof_gap
@options.proof_seconds
@options.proof_device
@options.json
@options.debug
def command(plan_folder: Path, gap: float, prove_seconds: float, device: str, as_json: bool) -> int:
    """Check a finished plan anew, and prove how far from the best possible it is.

    PLAN_DIR is a folder written by "reservoir plan". Storages, power, energy and violations are recomputed from the
    releases in the schedule; then a number is proved for each year (or horizon) that no schedule within the limits can
    exceed. Nothing of the solver is trusted. The exit status is 1 if a check fails.
    """
    from dataclasses import replace

    from reservoir.cli.screen import checks_json, progress_bars, show_checks, show_json
    from reservoir.cli.streams import say
    from reservoir.io.plan_folder.saved_plan import read_plan
    from reservoir.planning.checks import all_pass, plan_checks
    from reservoir.planning.proof import prove_plan
    from reservoir.planning.proof_sentences import proof_sentences

    plan = read_plan(plan_folder).plan
    with progress_bars() as progress:
        proofs = prove_plan(plan, gap, prove_seconds, progress, device)
    plan = replace(plan, proofs=proofs)
    checks = plan_checks(plan)
    if as_json:
        summary = plan.summary()
        rows = [
            {"year": str(label), "proven_bound": _number(bound), "proven_gap": _number(short)}
            for label, bound, short in zip(
                plan.inflow.labels, summary["proven_bound"], summary["proven_gap"], strict=True
            )
        ]
        show_json(checks_json(checks) | {"proof": proofs.as_dict(), "years": rows})
    else:
        for sentence in proof_sentences(plan):
            say(sentence)
        show_checks(checks, plan.units)
    return 0 if all_pass(checks) else 1


def _number(value: float) -> float | None:
    return None if value != value else float(value)  # NaN, without numpy
