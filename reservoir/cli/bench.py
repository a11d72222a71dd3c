"""``reservoir bench``: run the papers' experiments on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.bench import CASE, EXPERIMENTS, Experiment
from reservoir.bench.run_budget import RunBudget
from reservoir.cases import case_names
from reservoir.cli import options
from reservoir.cli.bench_options import OWN_OPTIONS

if TYPE_CHECKING:
    from reservoir.bench.journal import Journal
    from reservoir.bench.result import ExperimentResult


class BenchGroup(click.Group):
    """Experiments by name, and the bundled cases' names for the experiment that runs on a case."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the experiments and the cases."""
        return [*EXPERIMENTS, *case_names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The experiment of that name, or that of a case of that name."""
        if cmd_name in EXPERIMENTS:
            return _command(EXPERIMENTS[cmd_name])
        return _command(CASE, case=cmd_name) if cmd_name in case_names() else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the experiments without importing them."""
        with formatter.section("Experiments"):
            formatter.write_dl([(each.name, each.summary) for each in EXPERIMENTS.values()])
        with formatter.section("Bundled cases"):
            formatter.write_dl([(name, f'Same as "{CASE.name} --case {name}".') for name in case_names()])


@click.command("bench", cls=BenchGroup, subcommand_metavar="EXPERIMENT ...")
@options.debug
def command() -> None:
    """Run an experiment from the papers on this machine and write its tables and figures to a folder.

    Prints an acceptance table; the exit status is 1 if a check fails.
    """


def _command(experiment: Experiment, case: str | None = None) -> click.Command:
    """The command of an experiment, with the options of all experiments and its own."""
    decorators: list[Callable[..., Any]] = [
        *OWN_OPTIONS.get(experiment.name, ()),
        click.option("--quick", is_flag=True, help="Short trial: few generations, small ensembles."),
        click.option(
            "--runs",
            type=click.IntRange(1),
            help=f"Runs per solver.  [default: {experiment.runs}; {experiment.quick_runs} with --quick]",
        ),
        options.seed,
        options.device,
        options.out("bench/NAME-DEVICE"),
        click.option("--force", is_flag=True, help="Replace an earlier result in that folder."),
        options.json,
        options.debug,
    ]

    def execute(**values: Any) -> int:
        return _execute(experiment, **values)

    execute.__doc__ = experiment.summary
    for decorator in reversed(decorators):
        execute = decorator(execute)
    defaults = {"case": case} if case else {}
    return click.command(case or experiment.name, context_settings={"default_map": defaults})(execute)


def _execute(
    experiment: Experiment,
    *,
    quick: bool,
    runs: int | None,
    seed: int,
    device: str,
    out: Path | None,
    force: bool,
    as_json: bool,
    request: options.Request | None = None,
    **own: Any,
) -> int:
    from reservoir.bench.folder import claimed_for_result, default_folder, write_result
    from reservoir.bench.journal import Journal
    from reservoir.cli.screen import progress_bars, show_inputs
    from reservoir.opencl import choose_devices
    from reservoir.planning.checks import all_pass
    from reservoir.solvers import SOLVERS

    budget = RunBudget(runs or (experiment.quick_runs if quick else experiment.runs), quick, seed, device)
    found = request.read() if request is not None else None
    solver = SOLVERS.get(own.get("solver", ""))
    parts = [experiment.name] if found is None else [found.reservoir.name]
    name = "-".join([*parts, solver.name] if solver else parts)
    on_host = solver is not None and not solver.opencl
    target = out or default_folder(name, None if on_host else choose_devices(device)[0])
    inputs = () if found is None else (found.reservoir, found.inflow)
    with claimed_for_result(target, force=force) as claim:
        if found is not None and not as_json:
            show_inputs(found)
        journal = Journal.beside(target) if experiment.resumable else None
        if journal is not None:
            own["journal"] = journal
        try:
            with progress_bars() as progress:
                record = _run(experiment)(*inputs, budget=budget, progress=progress, **own)
                write_result(record, claim)
        finally:
            if journal is not None:
                _close(journal, written=claim.written is not None)
    _show(record, target, as_json)
    return 0 if all_pass(record.checks) else 1


def _close(journal: Journal, *, written: bool) -> None:
    """The journal goes when its experiment is written; one that is not goes on from there."""
    if written:
        journal.end()
    elif journal.kept:
        said = f"\nFinished runs are saved in {journal.path}; run the same command again to continue."
        click.echo(said, err=True)


def _run(experiment: Experiment) -> Callable[..., ExperimentResult]:
    from importlib import import_module

    run: Callable[..., ExperimentResult] = import_module(f"reservoir.bench.{experiment.module}.experiment").run
    return run


def _show(record: ExperimentResult, target: Path, as_json: bool) -> None:
    from rich.markup import escape

    from reservoir.cli.console import console
    from reservoir.cli.screen import checks_json, show_checks, show_json
    from reservoir.cli.streams import say

    if as_json:
        show_json(checks_json(record.checks) | {"folder": str(target), "headlines": dict(record.headlines)})
        return
    screen = console()
    width = max([9, *map(len, record.headlines)]) + 1
    for title, words in record.headlines.items():
        screen.print(f"[bold]{title:<{width}}[/]{escape(words)}", soft_wrap=True)
    if record.checks:
        show_checks(record.checks)
    say(f"Written to {target}")
