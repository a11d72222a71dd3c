"""``reservoir plan``: find the best operation of every year of an inflow record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options

if TYPE_CHECKING:
    from reservoir.plan import Plan

#: Violations shown on the screen; all of them are in plan.json.
SHOWN_SHORTFALLS = 12


@click.command("plan")
@options.inputs
@click.option("--solver", default="clpso", show_default=True, help='Engine (see "reservoir compare --help").')
@options.seed
@options.device
@options.swarm
@click.option(
    "--random",
    type=click.Choice(["stream", "kernel", "host"]),
    help="Random numbers of clpso: own streams, or the paper's two schemes.",
)
@click.option("--reference/--no-reference", default=True, help="Compare every year with dynamic programming.")
@click.option("--figures/--no-figures", default=True, help="Draw the figures.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write; by default a new one under ./reports.")
@click.option("--force", is_flag=True, help="Replace an earlier plan in that folder.")
@options.json
@options.debug
def command(
    request: options.Request,
    solver: str,
    seed: int,
    device: str,
    swarm: dict[str, int],
    random: str | None,
    reference: bool,
    figures: bool,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Find the best operation of every year of an inflow record.

    Writes report.html, schedule.csv, summary.csv, plan.json and figures into a new folder. Without files, the bundled
    case is planned.
    """
    from reservoir.checks import all_pass, plan_checks
    from reservoir.cli.screen import checks_json, progress_bars, show_checks, show_inputs, show_json
    from reservoir.plan import optimise
    from reservoir.report.folder import check_target, default_folder, write_plan

    found = request.read()
    target = out or default_folder(found.reservoir.name)
    check_target(target, force)
    if not as_json:
        show_inputs(found)
    with progress_bars() as progress:
        plan = optimise(
            found.reservoir,
            found.inflow,
            solver=solver,
            seed=seed,
            device=device,
            reference=reference,
            progress=progress,
            **_settings(solver, swarm, random),
        )
        checks = plan_checks(plan)
        write_plan(
            plan,
            target,
            checks,
            force=force,
            figures=figures,
            typical_years=found.typical_years,
            progress=progress,
        )
    if as_json:
        show_json(checks_json(checks) | {"folder": str(target), "energy_gwh": float(plan.energy_gwh.sum())})
    else:
        _show_result(plan)
        show_checks(checks)
        click.echo(f"Written to {target}")
    return 0 if all_pass(checks) else 1


def _settings(solver: str, swarm: dict[str, int], random: str | None) -> dict[str, Any]:
    from reservoir.solvers import solver_named

    settings: dict[str, Any] = dict(swarm) if solver_named(solver).seeded else {}
    return settings if random is None else {**settings, "random": random}


def _show_result(plan: Plan) -> None:
    from rich.markup import escape

    from reservoir.cli.screen import console, show_solver

    screen = console()
    show_solver(plan)
    energy = plan.energy_gwh
    screen.print(
        f"[bold]{'Energy':<10}[/]{energy.sum():,.1f} GWh in {len(energy)} years, {energy.mean():,.1f} GWh a year "
        f"({energy.min():,.1f} to {energy.max():,.1f})",
        soft_wrap=True,
    )
    sentences = plan.shortfalls()
    for sentence in sentences[:SHOWN_SHORTFALLS]:
        screen.print(f"[red]{'Violation':<10}[/]{escape(sentence)}", soft_wrap=True)
    if len(sentences) > SHOWN_SHORTFALLS:
        screen.print(f"{'':<10}and {len(sentences) - SHOWN_SHORTFALLS} more months; plan.json lists them all")
