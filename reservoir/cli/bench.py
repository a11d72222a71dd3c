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
from reservoir.cli.path_types import FilePath, FiniteNumber, FiniteRange

if TYPE_CHECKING:
    from reservoir.bench.journal import Journal
    from reservoir.bench.result import ExperimentResult

_functions = click.option("--functions", metavar="f1,f5,...", help="Functions to run (f1 to f8).  [default: all]")

#: Settings of a swarm of two levels, for an experiment that gets those that were asked for as ``swarm``.
_two_level_swarm = options.gathered(
    "swarm",
    options.given,
    click.option("--group", type=int, help="Particles per group.  [default: 8]"),
    click.option("--exchange-every", type=int, help="Iterations between exchanges.  [default: 100]"),
    click.option("--inertia", type=FiniteNumber(), help="Inertia weight (alpha in the paper).  [default: 1]"),
    click.option("--cognitive", type=FiniteNumber(), help="Cognitive coefficient (c1 in the paper).  [default: 2]"),
    click.option("--social", type=FiniteNumber(), help="Social coefficient (c2 in the paper).  [default: 2]"),
    click.option(
        "--velocity-fraction",
        type=FiniteNumber(),
        help="Maximum velocity, as a fraction of the range of the initial weights.  [default: 0.01]",
    ),
)

_part = click.option(
    "--part",
    type=click.Choice(["tuning", "test", "both"]),
    default="both",
    show_default=True,
    help="Reservoirs that solvers were tuned on, others, or both next to each other.",
)
_solvers = click.option(
    "--solvers", metavar="lshade,clpso,...", help="Solvers to run.  [default: all that can run here]"
)

OWN_OPTIONS: dict[str, tuple[Any, ...]] = {
    "case": (
        options.inputs,
        click.option("--peers", is_flag=True, help="Compare with other installed libraries on the same years."),
    ),
    "clpso": (
        _functions,
        click.option(
            "--models",
            metavar="basic,lanes,...",
            help="Models to run (basic, intermediate, final, lanes), compared with the sequential solver.  "
            "[default: all]",
        ),
    ),
    "ann": (
        click.option("--tables", metavar="1,3,...", help="Tables of the paper to reproduce (1 to 5).  [default: all]"),
        click.option(
            "--iterations",
            type=click.IntRange(2),
            help="Iterations for Tables 1, 2 and 4; the paper uses 100,000 for 1 and 2.  [default: 2000, 4: 1000]",
        ),
        click.option("--iterations-3", type=click.IntRange(2), help="Iterations for Table 3.  [default: 1000]"),
        click.option("--iterations-5", type=click.IntRange(2), help="Iterations for Table 5.  [default: 2000]"),
        click.option(
            "--baseline-iterations",
            type=click.IntRange(2),
            help="Iterations of the CPU baseline where only its time is measured.  [default: 100]",
        ),
        _two_level_swarm,
        click.option(
            "--reach",
            type=FiniteNumber(),
            default=1.0,
            show_default=True,
            help="Initial weights lie between -reach and reach.",
        ),
        click.option(
            "--threads", type=click.IntRange(1), default=2, show_default=True, help="Threads of the CPU baseline."
        ),
        click.option(
            "--random",
            default="stream",
            show_default=True,
            help="Random number generator: stream, congruential or congruential-printed (as printed in the paper).",
        ),
    ),
    "ring-pso": (
        click.option(
            "--dimensions",
            metavar="2,32,128",
            help="Numbers of variables to run.  [default: 2 to 128; 2, 10 and 32 with --quick]",
        ),
        click.option("--generations", type=click.IntRange(1), help="Generations.  [default: 10000; 200 with --quick]"),
        click.option("--particles", type=click.IntRange(2), default=32, show_default=True, help="Particles per swarm."),
    ),
    "tsp": (
        click.option(
            "--file",
            "path",
            metavar="NAME.tsp",
            type=FilePath(),
            help="Cities in TSPLIB format (EUC_2D or ATT).  [default: the bundled att48]",
        ),
        click.option(
            "--optimum",
            type=click.IntRange(1),
            help="Length of the shortest tour, if there is no NAME.opt.tour next to the file.",
        ),
        click.option("--iterations", type=click.IntRange(1), help="Iterations.  [default: 1000; 100 with --quick]"),
        click.option(
            "--populations",
            metavar="1024,2048,...",
            help="Population sizes, multiples of 128 (one island).  [default: 1024 to 32768; to 2048 with --quick]",
        ),
    ),
    "dsmga2": (
        click.option("--sweep", is_flag=True, help="Find population sizes by a sweep instead of timing the models."),
        click.option(
            "--problems",
            metavar="mk,ftrap,...",
            help="Problems to run (mk, ftrap, cyc, spin).  [default: all]",
        ),
        click.option(
            "--sizes",
            metavar="60,120,...",
            help="Bits of the trap problems.  [default: 60 to 600; to 120 with --quick; 40 to 240 with --sweep]",
        ),
        click.option(
            "--spin",
            metavar="FILE",
            multiple=True,
            type=FilePath(),
            help="Spin-glass file, repeatable (see data/spin/README.md).  [default: the bundled files]",
        ),
    ),
    "zoo": (
        _part,
        _solvers,
        click.option(
            "--reservoirs", type=click.IntRange(1), help="Reservoirs of each part.  [default: 200; 20 with --quick]"
        ),
        click.option("--years", type=click.IntRange(1), help="Years of each record.  [default: 30; 5 with --quick]"),
        click.option(
            "--host-reservoirs",
            type=click.IntRange(1),
            help="Reservoirs for solvers without OpenCL, which take longer.  [default: 20; 4 with --quick]",
        ),
        click.option(
            "--host-years", type=click.IntRange(1), help="Years for these solvers.  [default: 5; 1 with --quick]"
        ),
        click.option(
            "--jobs",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            help="Reservoirs at a time, each in a process of its own. More save time on a GPU, where compiling takes "
            "most of it.",
        ),
    ),
    "proof": (
        _part,
        _solvers,
        click.option(
            "--years",
            type=click.IntRange(1),
            help="Years of all parts together, ten of each reservoir; solvers without OpenCL get one year of 20 "
            "reservoirs of each part.  [default: 200; 4 with --quick]",
        ),
        options.proof_gap,
        click.option(
            "--prove-seconds",
            type=FiniteRange(0.0),
            default=10.0,
            show_default=True,
            help="Most time of each of the two proofs of a year, about.",
        ),
        click.option(
            "--jobs",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            help="Reservoirs at a time, each in a process of its own: as many as there are cores, for proofs take most "
            "of the time.",
        ),
    ),
    "scale": (
        options.inputs,
        click.option(
            "--years",
            metavar="1000,3000,...",
            help="Years of the ensembles, multiples of 50.  [default: 1000 to 100000; 100 and 200 with --quick]",
        ),
        click.option("--solvers", metavar="lshade,clpso,...", help="Solvers to run.  [default: lshade,clpso]"),
        click.option("--reference/--no-reference", default=True, help="Compare every year with dynamic programming."),
    ),
    "functions": (
        click.option(
            "--solver",
            default="clpso",
            show_default=True,
            help="Solver for general problems; an unknown name lists them.",
        ),
        click.option("--dim", "dimension", type=int, default=30, show_default=True, help="Number of variables."),
        _functions,
        click.option(
            "--rotations",
            type=click.IntRange(0),
            default=20,
            show_default=True,
            help="Number of plane rotations in the rotation matrix of f7 and f8.",
        ),
        options.settings(
            particles="Particles per CLPSO swarm.  [default: 40]",
            generations="Generations of CLPSO.  [default: 5000]",
            evaluations="Evaluations per run of lshade or island-ga.  [default: 200000]",
        ),
    ),
}


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

    from reservoir.cli.screen import checks_json, console, show_checks, show_json
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
