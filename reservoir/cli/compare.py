"""``reservoir compare``: run several solvers on the same years."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.text.quantities import quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reservoir.planning.comparison import Comparison


@click.command("compare", cls=options.EngineCommand)
@options.inputs
@options.horizon
@options.step
@options.objective
@click.option("--solver", "solvers", multiple=True, help="Solver to run, repeatable.  [default: all]")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Runs per solver, with consecutive seeds; their median time is shown.",
)
@options.solving(**options.SWARM, **options.EVALUATIONS)
@options.units
@options.json
@options.debug
def command(
    request: options.Request,
    step: str | None,
    objective: str | None,
    settings: dict[str, Any],
    unit_system: str | None,
    as_json: bool,
    **search: Any,
) -> int:
    """Run several solvers on the same years and print energy, gap, violation and seconds.

    The gap is the largest relative shortfall of a year from the reference optimum (dynamic programming). Times
    exclude compilation. Years whose limits cannot be satisfied are listed; they count only in the violation.
    A solver whose device fails is named with the reason, and the exit status is 1. Of a system of several reservoirs
    no reference is known: the gap is to the best that any of the solvers found.
    """
    from reservoir.cli.screen import progress_bars, show_inputs, show_json, show_system_inputs
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.planning.comparison import compare, compare_system

    rows: Sequence[Comparison]
    if request.names_system:
        system, inflows = request.read_system(step, objective)
        if not as_json:
            show_system_inputs(system, inflows, UnitSystem.of(unit_system or "si"))
        with progress_bars() as progress, options.named_as({"solver": "--solver"}):
            rows = compare_system(system, inflows, options=settings, progress=progress, **search)
        optimised = system.objective
    else:
        inputs = request.read(step).optimised_for(objective)
        if not as_json:
            show_inputs(inputs, UnitSystem.of(unit_system or "si"))
        with progress_bars() as progress:
            rows = compare(inputs.reservoir, inputs.inflow, options=settings, progress=progress, **search)
        optimised = inputs.reservoir.objective
    left_out = next(row.left_out for row in rows if not row.failure)
    if as_json:
        benefit = {"benefit": "energy_gwh" if optimised.is_energy else "objective"}
        solved = [{benefit.get(name, name): value for name, value in asdict(row).items()} for row in rows]
        for row in solved:
            del row["left_out"]
            if not row["failure"]:
                del row["failure"]
        show_json({"solvers": solved, "left_out": list(left_out)})
    else:
        _show(
            rows,
            ", ".join(filter(None, (f"total {optimised.title}", optimised.unit))),
            left_out,
            of_system=request.names_system,
        )
    return 1 if any(row.failure for row in rows) else 0


def _show(rows: Sequence[Comparison], title: str, left_out: Sequence[str], *, of_system: bool) -> None:
    from rich.markup import escape

    from reservoir.cli import say
    from reservoir.cli.screen import Column, show_table
    from reservoir.planning.sentences import listed
    from reservoir.text.quantities import counted

    titles = (title, "worst gap", "violation", "seconds", "device seconds")
    cells = []
    for row in rows:
        if row.failure:
            cells.append((row.solver, "failed", *"–––––"))
            continue
        busy = "" if row.device_seconds is None else f"{row.device_seconds:.3g}"
        known = isfinite(row.gap)  # no year can keep its limits: there is neither an energy nor a gap
        benefit = f"{row.benefit:,.1f}" if abs(row.benefit) >= 1000 else quantity(row.benefit)
        benefit, gap = (benefit, f"{row.gap:.2e}") if known else ("–", "–")
        numbers = (benefit, gap, f"{row.violation:.2g}", f"{row.seconds:.3g}", busy)
        cells.append((row.solver, escape(row.device), *numbers))
    show_table((Column("solver"), Column("device"), *(Column(title, "right") for title in titles)), cells)
    for row in rows:
        if row.failure:
            say(f"{row.solver} failed: {row.failure}")
    if left_out:
        kept = "of a limit that no solver kept" if of_system else "cannot satisfy the storage limits"
        what = f"{counted(len(left_out))} {kept} ({listed(left_out)})"
        say(f"{what}: excluded from energy and gap, included in the violation")
