"""``reservoir validate``: check this installation on a case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options

if TYPE_CHECKING:
    from reservoir.planning.checks import Check

# fmt: off
_OPTIONS = (
    options.inputs,
    click.option("--runs", type=click.IntRange(1), default=1, show_default=True,
        help="Runs per solver; with 2 or more, their spread and a t-test are checked."),
    click.option("--horizon", default="year", show_default=True, metavar="year|record|N",
        help="Horizon on which engines are compared; those that cannot plan it are listed as not checked."),
    click.option("--zoo/--no-zoo", default=True, show_default=True,
        help="Check every solver on random reservoirs; only with the horizon of a year."),
    options.solving(**options.SWARM),
    options.json, options.debug,
)
# fmt: on


@click.command("validate", cls=options.EngineCommand)
@options.taking(_OPTIONS)
def command(
    request: options.Request, runs: int, horizon: str, zoo: bool, settings: dict[str, Any], as_json: bool, **where: Any
) -> int:
    """Check this installation: physics, solvers on this device and host, dynamic programming.

    Prints an acceptance table and what could not be checked; the exit status is 1 if a check fails. Then every solver
    solves some years of random reservoirs, and must be within the range that it states. Without OpenCL, only solvers on
    the host are checked. On a horizon of several years, each solver that can plan it is compared with dynamic
    programming on the host. Of a system, populations that begin with nothing are compared with the joint plan of all
    stages. --json adds versions, machine, device, driver and settings.
    """
    from reservoir.cli.screen import progress_bars, show_inputs, show_solver, show_system
    from reservoir.errors import InputError
    from reservoir.hydro.objectives import Horizon
    from reservoir.opencl.trial import forget_refusals
    from reservoir.planning.validation import (
        NOT_ASKED,
        not_checked,
        not_checked_on,
        validate,
        validate_horizon,
        validate_system,
        validate_zoo,
    )
    from reservoir.report.folder import provenance
    from reservoir.report.system_folder import system_provenance

    forget_refusals()
    span = Horizon.of(horizon)
    if request.names_system:
        system, inflows = request.read_system()
        with progress_bars() as progress:
            how: dict[str, Any] = {"runs": runs, "options": settings, "progress": progress, **where}
            joint, checks, missing = validate_system(system, inflows, span, **how)
        made = system_provenance(joint, checks)
        return _shown(partial(show_system, joint), made, checks, missing, runs, as_json)
    if runs > 1 and not span.is_year:
        mend = "leave it out: on a longer horizon each solver runs once"
        raise InputError("is of the horizon of a year", "1", mend, value=runs, column="--runs")
    found = request.read()
    if not as_json:
        show_inputs(found)
    asked: dict[str, Any] = {"runs": runs, "reference_gwh": found.reference_gwh}
    with progress_bars() as progress:
        given: dict[str, Any] = {"options": settings, "progress": progress, **where}
        if span.is_year:
            plan, checks = validate(found.reservoir, found.inflow, **asked, **given)
            of_zoo, left = validate_zoo(progress=progress, **where) if zoo else ([], [NOT_ASKED])
            checks, missing = [*checks, *of_zoo], [*not_checked(plan, **asked), *left]
        else:
            plan, checks = validate_horizon(found.reservoir, found.inflow, span, **given)
            missing = not_checked_on(span)
    return _shown(partial(show_solver, plan), provenance(plan, checks), checks, missing, runs, as_json)


def _shown(
    show_plan: Callable[[], None],
    made: dict[str, Any],
    checks: Sequence[Check],
    missing: Sequence[str],
    runs: int,
    as_json: bool,
) -> int:
    """Show what was found, with what the plan is of; the exit status."""
    from reservoir.cli import say
    from reservoir.cli.screen import show_checks, show_json
    from reservoir.planning.checks import all_pass

    if as_json:
        show_json(made | {"runs": runs, "not_checked": missing, "pass": all_pass(checks)})
    else:
        show_plan()
        show_checks(checks)
        for each in missing:
            say(f"Not checked: {each}")
    return 0 if all_pass(checks) else 1
