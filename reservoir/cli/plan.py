"""``reservoir plan``: find the best operation of every year of an inflow record."""

from __future__ import annotations

import gc
import time
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.cli.options import (
    FilePath,
    FiniteRange,
    NamedNumber,
    named_as,
    of_one,
    require_of_one,
    require_of_several,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reservoir.io.output import Claim
    from reservoir.io.plan_parts import PartsFolder
    from reservoir.planning.plan import Plan
    from reservoir.planning.stopwatch import Profile, Stopwatch

#: Objects made before the interpreter looks for garbage: what is imported and drawn stays, so that it finds little.
GARBAGE_THRESHOLD = 100_000
#: When the process began. No portable clock tells; it has hardly waited yet, so its processor time does.
BEGAN = time.perf_counter() - time.process_time()

#: Arguments of `reservoir.optimise` that options are called otherwise.
_NAMES = {
    "start_level_m": "--level",
    "start_hm3": "--storage",
    "start_levels_m": "--level",
    "start_storages_hm3": "--storage",
    "start": "--from",
    "cluster": "--cluster",
    "solver": "--solver",
}


# fmt: off
_OPTIONS = (
    options.inputs, options.horizon, options.step, options.objective,
    click.option("--point", metavar="FOLDER/NAME", type=FilePath(),
        help="Point of a tradeoff to plan, such as front/p07: its objective, reservoir and record."),
    click.option("--from", "start", metavar="YYYY-MM",
        help="Month in which the plan begins, with --level or --storage: each year of the record is a scenario of the "
        "inflow from then on.  [default: whole water years]"),
    click.option("--level", "levels", type=NamedNumber(), multiple=True, metavar="[NAME=]NUMBER",
        help="Forebay level at the start of the month of --from, m (or as --units); of a system NAME=LEVEL for each "
        "reservoir."),
    click.option("--storage", "storages", type=NamedNumber(), multiple=True, metavar="[NAME=]NUMBER",
        help="Storage at the start of that month, hm3 (or as --units), instead of --level."),
    click.option("--solver",
        help="Solver; an unknown name lists them.  [default: clpso; dp-opencl for more than 12 steps as one problem]"),
    options.solving(**options.SWARM, **options.EVALUATIONS),
    click.option("--reference/--no-reference", default=True, help="Compare every year with dynamic programming."),
    click.option("--engine-only", is_flag=True,
        help="Hold the solver's own schedule in every year, also where it is not close enough to dynamic programming.  "
        "[default: solve such years again with more effort, then take the schedule of dynamic programming]"),
    click.option("--prove", metavar="[GAP]", type=FiniteRange(1e-9, 1.0), is_flag=False, flag_value=1e-5,
        help="Prove for every year (or horizon) a bound that no schedule can exceed, to this relative gap; 1e-5 "
        "without a number."),
    options.proof_seconds,
    click.option("--seconds", type=FiniteRange(0.0),
        help="Of a system: after so many seconds no further stage of the solver auto begins.  [default: all stages]"),
    click.option("--figures/--no-figures", default=True, help="Draw the figures."),
    click.option("--format", "table_format", type=click.Choice(["csv", "xlsx", "netcdf", "zarr"]),
        help="Format of the tables.  [default: csv below 5,000 years, else netcdf if it is installed]"),
    click.option("--cluster", metavar="ADDRESS",
        help="Search many years, or those of a system, in parts, on a Dask cluster: tcp://HOST:PORT of its scheduler, "
        "or local:N for N processes on this machine."),
    click.option("--profile", is_flag=True, help="Show the time of each stage; also written to profile.json."),
    click.option("--vary", "varied", metavar="KEY=FROM:TO:N", type=options.VariedKey(), multiple=True,
        help="Plan N times, with a key of the reservoir file at N values, such as storage.full_hm3=90:110:5 (of a "
        "reservoir of a system NAME:KEY), and compare these plans with the unvaried one; given twice, every pair."),
    options.units,
    options.out("a new folder"),
    click.option("--force", is_flag=True, help="Replace an earlier plan in that folder."),
    options.json, options.debug,
)
# fmt: on


@click.command("plan", cls=options.EngineCommand)
@options.taking(_OPTIONS)
def command(
    request: options.Request,
    varied: tuple[options.Varied, ...],
    point: Path | None,
    settings: dict[str, Any],
    **search: Any,
) -> int:
    """Find the best operation of every year of an inflow record.

    Writes report.html, schedule.csv, summary.csv, plan.json and figures to a new folder. Without files, it plans the
    bundled case.
    """
    if search["prove"] is None:
        mend = "add --prove, or leave it out"
        options.refuse_given("is of a proof, and none is asked for", lambda option: option != "prove_seconds", mend)
    request = request.at_point(point)
    if varied:
        from reservoir.cli.vary import plan_varied

        return plan_varied(request, varied, planned, settings=settings, **search)
    return planned(request, settings=settings, **search)


def planned(
    request: options.Request,
    step: str | None,
    objective: str | None,
    levels: tuple[tuple[str, float], ...],
    storages: tuple[tuple[str, float], ...],
    settings: dict[str, Any],
    prove: float | None,
    prove_seconds: float,
    seconds: float | None,
    figures: bool,
    table_format: str | None,
    profile: bool,
    unit_system: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    silent: bool = False,
    **search: Any,
) -> int:
    """Plan, write and show one plan, or show nothing of it; arguments are options of the command."""
    from reservoir.planning.stopwatch import Stopwatch

    gc.set_threshold(GARBAGE_THRESHOLD)
    watch = Stopwatch(BEGAN)
    watch.add({"start": time.perf_counter() - BEGAN})
    if request.names_system:
        refused = _of_one_reservoir(search)
        require_of_one(refused)
        asked: dict[str, Any] = {
            "unit_system": unit_system,
            "out": out,
            "force": force,
            "as_json": as_json,
            "silent": silent,
            "profile": profile,
        }
        asked |= {"figures": figures, "table_format": table_format, "objective": objective}
        asked |= {"prove": prove, "prove_seconds": prove_seconds}
        return _plan_system(
            request, step, (levels, storages), {**search, **settings, "seconds": seconds}, watch, **asked
        )
    require_of_several({"--seconds": seconds})
    with watch("import"):
        from reservoir.cli import say, warn
        from reservoir.cli.screen import checks_json, progress_bars, show_checks, show_inputs, show_json
        from reservoir.hydro.unit_system import UnitSystem, told_in
        from reservoir.io.plan_folder.formats import format_of
        from reservoir.planning.checks import all_pass, plan_checks
        from reservoir.planning.key_figures import key_figures
        from reservoir.planning.plan import optimise, solver_stages
        from reservoir.report.folder import claimed_for_plan, objective_provenance, write_plan, write_profile
        from reservoir.solvers.engine import meanwhile

    with watch("read"):
        inputs = request.read(step).optimised_for(objective)
        units = UnitSystem.of(unit_system or "si")
        kind = format_of(table_format, inputs.inflow.years, inputs.inflow.steps)
        level, storage = of_one(levels, "--level"), of_one(storages, "--storage")
    with (
        claimed_for_plan(out, inputs.reservoir.name, force=force) as claim,
        _parts_beside(claim, force, as_json or silent) as parts,
    ):
        if not (as_json or silent):
            show_inputs(inputs, units)
        drawing = meanwhile(partial(import_module, "reservoir.report.figures.figures")) if figures else nullcontext()
        with progress_bars() as progress, named_as(_NAMES), told_in(units), drawing:
            plan = optimise(
                inputs.reservoir,
                inputs.inflow,
                start_level_m=None if level is None else level * units.size("level_m"),
                start_hm3=None if storage is None else storage * units.size("storage_hm3"),
                best=prove is not None,
                progress=progress,
                parts=parts,
                **search,
                **settings,
            )
            plan = replace(plan, units=units)
            watch.add(solver_stages(plan))
            if prove is not None:
                with watch("prove"):
                    from reservoir.planning.proof import prove_plan  # takes a moment, and compiles

                    how = {"or_host": True, "improve": not search["engine_only"]}
                    plan = prove_plan(plan, prove, prove_seconds, progress, search["device"], **how)
            with watch("certify"):
                checks = plan_checks(plan)
            gc.freeze()  # where a copy of the process draws, what is looked through for garbage is copied
            target = write_plan(
                plan,
                claim,
                checks,
                figures=figures,
                kind=kind,
                progress=progress,
                watch=watch,
                tell=warn,
            )
        parts.remove()
        measured = watch.profile() if profile else None
        if measured:
            write_profile(measured, claim.place)
    if as_json:
        shown = checks_json(checks) | {"folder": str(target), "energy_gwh": float(plan.kept_energy_gwh.sum())}
        shown["key_figures"] = figures_of._asdict() if (figures_of := key_figures(plan)) else None
        shown |= {"sources": plan.source_counts, "caveats": list(plan.caveats), "notes": list(plan.notes)}
        shown |= {} if plan.proofs is None else {"proof": plan.proofs.as_dict()}
        shown |= {} if plan.objective.is_energy else {"objective": objective_provenance(plan)}
        show_json(shown | ({"profile": measured.as_dict()} if measured else {}))
    elif not silent:
        _show_result(plan)
        show_checks(checks, units)
        if measured:
            _show_profile(measured)
        say(f"Written to {target}")
    gc.freeze()  # else the interpreter, at its end, looks for garbage in all that was imported: a third of a second
    return 0 if all_pass(checks) else 1


def _of_one_reservoir(search: dict[str, Any]) -> dict[str, Any]:
    """Take out of the options of a search what counts for one reservoir alone: those that are not as usual."""
    usual = {"reference": True, "engine_only": False}
    names = {"reference": "--no-reference", "engine_only": "--engine-only"}
    return {names[name]: None if search.pop(name) == value else True for name, value in usual.items()}


def _parts_beside(claim: Claim, force: bool, as_json: bool) -> PartsFolder:
    """Keeps parts of the search beside the folder of the plan."""
    from reservoir.cli import say
    from reservoir.io.plan_parts import PartsFolder

    again = f"the same call with --out {claim.target} goes on from there"
    tell: dict[str, Any] = {} if as_json else {"tell": say}
    return PartsFolder(f"{claim.target}.parts", force=force, again=again, **tell)


def _plan_system(
    request: options.Request,
    step: str | None,
    starts: tuple[Sequence[tuple[str, float]], Sequence[tuple[str, float]]],
    search: dict[str, Any],
    watch: Stopwatch,
    *,
    unit_system: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    silent: bool,
    profile: bool,
    figures: bool,
    table_format: str | None,
    objective: str | None,
    prove: float | None,
    prove_seconds: float,
) -> int:
    """Plan several reservoirs jointly; arguments are options of the command."""
    with watch("import"):
        from reservoir.cli import say, warn
        from reservoir.cli.screen import checks_json, progress_bars, show_checks, show_json, show_system
        from reservoir.hydro.unit_system import UnitSystem, told_in
        from reservoir.io.plan_folder.formats import format_of
        from reservoir.planning.checks import all_pass, system_checks
        from reservoir.planning.system_plan import optimise_system
        from reservoir.report.folder import claimed_for_plan, objective_provenance, write_profile
        from reservoir.report.system_folder import write_system_plan

    with watch("read"):
        system, inflows = request.read_system(step, objective)
        units = UnitSystem.of(unit_system or "si")
        kind = format_of(table_format, inflows.years, inflows.steps)
        sizes = units.size("level_m"), units.size("storage_hm3")
        levels, storages = (
            {name: number * size for name, number in each} for each, size in zip(starts, sizes, strict=True)
        )
    with (
        claimed_for_plan(out, system.name, force=force) as claim,
        _parts_beside(claim, force, as_json or silent) as parts,
    ):
        with progress_bars() as progress, named_as(_NAMES), told_in(units):
            search |= {"start_levels_m": levels, "start_storages_hm3": storages}
            plan = optimise_system(system, inflows, progress=progress, parts=parts, **search)
            plan = replace(plan, units=units)
            watch.add(plan.seconds)
            if prove is not None:
                with watch("prove"):
                    from reservoir.planning.system_proof import prove_system_plan  # compiles

                    plan = prove_system_plan(
                        plan, prove, prove_seconds, progress, search["device"], improve=True, or_host=True
                    )
            with watch("certify"):
                checks = system_checks(plan)
            how: dict[str, Any] = {"figures": figures, "kind": kind, "progress": progress, "watch": watch, "tell": warn}
            target = write_system_plan(plan, claim, checks, **how)
        parts.remove()
        measured = watch.profile() if profile else None
        if measured:
            write_profile(measured, claim.place)
    if as_json:
        shown = checks_json(checks) | {"folder": str(target), "energy_gwh": float(plan.kept_energy_gwh.sum())}
        by_reservoir = {name: float(site.energy_gwh[plan.keeps_limits].sum()) for name, site in plan.sites.items()}
        shown |= {"energy_gwh_by_reservoir": by_reservoir, "sources": plan.source_counts}
        shown |= {"caveats": list(plan.caveats), "notes": list(map(units.text, plan.notes))}
        shown |= {} if plan.objective.is_energy else {"objective": objective_provenance(plan)}
        shown |= {} if plan.proofs is None else {"proof": plan.proofs.as_dict()}
        show_json(shown | ({"profile": measured.as_dict()} if measured else {}))
    elif not silent:
        show_system(plan)
        show_checks(checks, units)
        if measured:
            _show_profile(measured)
        say(f"Written to {target}")
    return 0 if all_pass(checks) else 1


def _show_result(plan: Plan) -> None:
    from reservoir.cli.screen import show_line, show_solver
    from reservoir.planning import sentences
    from reservoir.planning.key_figures import key_sentences

    show_solver(plan)
    for title, sentence in (
        *key_sentences(plan),
        ("Losses", sentences.losses_sentence(plan)),
        *(("Proof", sentence) for sentence in sentences.proof_sentences(plan)),
    ):
        if sentence:
            show_line(title, sentence)
    for sentence in sentences.outside_sentences(plan):
        show_line("Limits", sentence, "red")
    told = sentences.shortfalls_by_kind(plan)
    for sentence in told:
        show_line("Violation", sentence, "red")
    if sentences.shortfall_months(plan) > len(told):
        show_line("", f"plan.json lists every {plan.inflow.calendar.step.noun}")


def _show_profile(measured: Profile) -> None:
    from reservoir.cli.screen import Column, show_table

    rows = [(stage, f"{seconds:.3f}", f"{part:.1%}") for stage, seconds, part in measured.rows()]
    total = ("total", f"{measured.total_seconds:.3f}", f"{1:.1%}")
    columns = (Column("stage"), Column("seconds", "right"), Column("share", "right"))
    show_table(columns, [*rows, total], title="Profile", lines_after=(len(rows) - 1,))
