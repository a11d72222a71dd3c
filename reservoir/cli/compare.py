"""``reservoir compare``: several plans beside the first, or several solvers on the same years."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.text.quantities import quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reservoir.planning.comparison import Comparison
    from reservoir.report.comparison_folder import PlanComparison

#: Options that count for plans alone, and those that count for plans and solvers; all others count for solvers.
_OF_PLANS, _OF_BOTH = ("out", "force", "figures", "table_format"), ("words", "unit_system", "as_json")


@click.command("compare", cls=options.EngineCommand)
@options.words
@options.inputs_beside_words
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
@click.option("--figures/--no-figures", default=True, help="Of plans: draw the figures.")
@options.units
@options.table_format
@click.option("--out", type=options.FolderPath(), help="Of plans: output folder.  [default: the screen alone]")
@click.option("--force", is_flag=True, help="Of plans: replace an earlier comparison in that folder.")
@options.json
@options.debug
def command(
    request: options.Request,
    words: tuple[Path, ...],
    step: str | None,
    objective: str | None,
    settings: dict[str, Any],
    unit_system: str | None,
    as_json: bool,
    out: Path | None,
    force: bool,
    figures: bool,
    table_format: str,
    **search: Any,
) -> int:
    """Compare plans with the first of them, or run several solvers on the same years.

    Of folders that `reservoir plan` wrote: what differs in their inputs, then energy, power, spill and failing years
    of each, and the part of foresight that its best rule brings, with the changes against the first. Years that fail
    are named first; all else is of the years that keep their limits in both.

    Of a record: energy, gap, violation and seconds of solvers.

    The gap is the largest relative shortfall of a year from the reference optimum (dynamic programming). Times
    exclude compilation. Years whose limits cannot be satisfied are listed; they count only in the violation.
    A solver whose device fails is named with the reason, and the exit status is 1. Of a system of several reservoirs
    no reference is known: the gap is to the best that any of the solvers found.
    """
    from reservoir.cli.screen import progress_bars, show_inputs, show_json, show_system_inputs
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.planning.comparison import compare, compare_system

    if _are_plans(words):
        from reservoir.report.comparison_folder import compare_folders

        options.refuse_given("is of solvers, and plans are compared", lambda name: name in (*_OF_PLANS, *_OF_BOTH))
        comparison = compare_folders(words, UnitSystem.of(unit_system or "si"))
        show_comparison(comparison, out, force, figures, table_format == "xlsx", as_json)
        return 0
    options.refuse_given("is of plans, and solvers are compared", lambda name: name not in _OF_PLANS)
    if len(words) > 1:
        raise click.UsageError(f"Got unexpected extra arguments ({' '.join(map(str, words[1:]))})", _context())
    request = replace(request, inflow_file=words[0] if words else None)
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


def _are_plans(words: Sequence[Path]) -> bool:
    """Whether words of a call are folders of plans: one with a plan.json among them, or several folders."""
    from reservoir.io.plan_folder.files import PROVENANCE

    return any((word / PROVENANCE).is_file() for word in words) or (
        len(words) > 1 and all(word.is_dir() for word in words)
    )


def _context() -> click.Context:
    return click.get_current_context()


def show_comparison(
    comparison: PlanComparison, out: Path | None, force: bool, figures: bool, workbook: bool, as_json: bool
) -> None:
    """Write a comparison of plans to a folder, if one is given, and print it."""
    from rich.markup import escape

    from reservoir.cli import say, warn
    from reservoir.cli.screen import Column, show_json, show_line, show_table
    from reservoir.report.comparison_folder import comparison_cells, difference_rows, write_comparison

    target = None
    if out is not None:
        how: dict[str, Any] = {"force": force, "figures": figures, "workbook": workbook, "tell": warn}
        target = write_comparison(comparison, out, **how)
    if as_json:
        show_json(comparison.as_dict() | ({"folder": str(target)} if target else {}))
        return
    for sentence in comparison.sentences:
        show_line("", sentence, body="red" if "violate" in sentence or "not planned" in sentence else "yellow", width=0)
    titles = ("plan", "what differs", f"in {comparison.plans[0].name}", "in the plan")
    show_table([Column(title) for title in titles], [[*map(escape, each)] for each in difference_rows(comparison)])
    heads, rows, _ = comparison_cells(comparison)
    columns = [
        Column(
            ", ".join(filter(None, (head.title[:1].lower() + head.title[1:], head.unit))),
            "left" if head.text else "right",
        )
        for head in heads
    ]
    show_table(columns, [[*map(escape, row)] for row in rows])
    if target:
        say(f"Written to {target}")


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
