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
    help="Runs of each engine; from 2 on, their spread and a t-test are checked.",
)
@options.solving()
@options.json
@options.debug
def command(request: options.Request, runs: int, settings: dict[str, Any], as_json: bool, **where: Any) -> int:
    """Check this installation: physics, device against sequential, both against dynamic programming.

    Prints an acceptance table; the status is 1 if a check fails.
    """
    from reservoir.cli.screen import checks_json, progress_bars, show_checks, show_inputs, show_json, show_solver
    from reservoir.planning.checks import all_pass
    from reservoir.planning.validation import validate

    found = request.read()
    if not as_json:
        show_inputs(found)
    with progress_bars() as progress:
        plan, checks = validate(
            found.reservoir,
            found.inflow,
            runs=runs,
            reference_gwh=found.reference_gwh,
            options=settings,
            progress=progress,
            **where,
        )
    if as_json:
        show_json(checks_json(checks))
    else:
        show_solver(plan)
        show_checks(checks)
    return 0 if all_pass(checks) else 1
