"""``reservoir validate``: check this installation on a case."""

from __future__ import annotations

from typing import Any

import click

from reservoir.cli import options


@click.command("validate")
@options.inputs
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Runs per solver; with 2 or more, their spread and a t-test are checked.",
)
@options.solving(**options.SWARM)
@options.json
@options.debug
def command(request: options.Request, runs: int, settings: dict[str, Any], as_json: bool, **where: Any) -> int:
    """Check this installation: physics, device against sequential solver, both against dynamic programming.

    Prints an acceptance table and what could not be checked; the exit status is 1 if a check fails. Without OpenCL,
    only the sequential solver is checked. --json adds versions, machine, device, driver and settings.
    """
    from reservoir.cli.screen import progress_bars, show_checks, show_inputs, show_json, show_solver
    from reservoir.cli.streams import say
    from reservoir.planning.checks import all_pass
    from reservoir.planning.validation import not_checked, validate
    from reservoir.report.folder import provenance

    found = request.read()
    if not as_json:
        show_inputs(found)
    asked: dict[str, Any] = {"runs": runs, "reference_gwh": found.reference_gwh}
    with progress_bars() as progress:
        plan, checks = validate(found.reservoir, found.inflow, options=settings, progress=progress, **asked, **where)
    missing = not_checked(plan, **asked)
    if as_json:
        show_json(provenance(plan, checks) | {"runs": runs, "not_checked": missing, "pass": all_pass(checks)})
    else:
        show_solver(plan)
        show_checks(checks)
        for each in missing:
            say(f"Not checked: {each}")
    return 0 if all_pass(checks) else 1
