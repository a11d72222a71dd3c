"""``reservoir bench``: run the papers' experiments on this machine."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.bench import QUICK_RUNS, RUNS
from reservoir.cases import case_names
from reservoir.cli import options
from reservoir.cli.options import FilePath, FiniteNumber, FiniteRange

if TYPE_CHECKING:
    from reservoir.bench.result import ExperimentResult


class Experiment:
    """An experiment as users see it.

    Parameters
    ----------
    name, summary : str
    module : str
        Dotted path, imported when the experiment is run; its ``run`` does it.
    options : click decorators
        Its own, beside those of all experiments; ``run`` is given what they come to.
    resumable : bool
        Whether a journal is kept, from which it goes on after an interruption.
    runs : int
        Of each engine, unless asked for.
    """

    def __init__(
        self,
        name: str,
        summary: str,
        module: str,
        *options: Callable[..., Any],
        resumable: bool = False,
        runs: int = RUNS,
    ) -> None:
        self.name, self.summary, self.module, self.options = name, summary, module, options
        self.resumable, self.runs = resumable, runs
        self.quick_runs = min(runs, QUICK_RUNS)


def _words(flag: str, metavar: str, text: str) -> Callable[..., Any]:
    return click.option(flag, metavar=metavar, help=text)


def _count(flag: str, least: int, text: str, default: int | None = None) -> Callable[..., Any]:
    return click.option(flag, type=click.IntRange(least), default=default, show_default=True, help=text)


def _number(flag: str, text: str, default: float | None = None) -> Callable[..., Any]:
    return click.option(flag, type=FiniteNumber(), default=default, show_default=True, help=text)


# fmt: off
_functions = _words("--functions", "f1,f5,...", "Functions to run (f1 to f8).  [default: all]")
_part = click.option("--part", type=click.Choice(["tuning", "test", "both"]), default="both", show_default=True,
    help="Reservoirs that solvers were tuned on, others, or both next to each other.")
_solvers = _words("--solvers", "lshade,clpso,...", "Solvers to run.  [default: all that can run here]")
#: Settings of a swarm of two levels, for an experiment that gets those that were asked for as ``swarm``.
_two_level_swarm = options.gathered("swarm", options.given,
    click.option("--group", type=int, help="Particles per group.  [default: 8]"),
    click.option("--exchange-every", type=int, help="Iterations between exchanges.  [default: 100]"),
    _number("--inertia", "Inertia weight (alpha in the paper).  [default: 1]"),
    _number("--cognitive", "Cognitive coefficient (c1 in the paper).  [default: 2]"),
    _number("--social", "Social coefficient (c2 in the paper).  [default: 2]"),
    _number("--velocity-fraction",
        "Maximum velocity, as a fraction of the range of the initial weights.  [default: 0.01]"))

#: The experiment that takes a reservoir and an inflow record first, and that a bundled case's name stands for.
CASE = Experiment("case", "Speed and quality of CLPSO on a reservoir: runs, times, scaling.", "reservoir.bench.case",
    options.inputs,
    click.option("--peers", is_flag=True, help="Compare with other installed libraries on the same years."))
_OTHERS = (
    Experiment("clpso", "CLPSO's models on eight benchmark functions: quality and time.", "reservoir.bench.models",
        _functions,
        _words("--models", "basic,lanes,...",
            "Models to run (basic, intermediate, final, lanes), compared with the sequential solver.  [default: all]"),
        resumable=True),
    Experiment("ann", "Neural networks trained by particle swarms: time and error.", "reservoir.bench.networks",
        _words("--tables", "1,3,...", "Tables of the paper to reproduce (1 to 5).  [default: all]"),
        _count("--iterations", 2,
            "Iterations for Tables 1, 2 and 4; the paper uses 100,000 for 1 and 2.  [default: 2000, 4: 1000]"),
        _count("--iterations-3", 2, "Iterations for Table 3.  [default: 1000]"),
        _count("--iterations-5", 2, "Iterations for Table 5.  [default: 2000]"),
        _count("--baseline-iterations", 2,
            "Iterations of the CPU baseline where only its time is measured.  [default: 100]"),
        _two_level_swarm,
        _number("--reach", "Initial weights lie between -reach and reach.", 1.0),
        _count("--threads", 1, "Threads of the CPU baseline.", 2),
        click.option("--random", default="stream", show_default=True,
            help="Random number generator: stream, congruential or congruential-printed (as printed in the paper).")),
    Experiment("ring-pso", "Ring PSO, synchronous and asynchronous: fitness, time, speed-up.", "reservoir.bench.ring",
        _words("--dimensions", "2,32,128",
            "Numbers of variables to run.  [default: 2 to 128; 2, 10 and 32 with --quick]"),
        _count("--generations", 1, "Generations.  [default: 10000; 200 with --quick]"),
        _count("--particles", 2, "Particles per swarm.", 32),
        runs=100),
    Experiment("tsp", "Island genetic algorithms on the travelling salesman problem: schemes, times, errors.",
        "reservoir.bench.tours",
        click.option("--file", "path", metavar="NAME.tsp", type=FilePath(),
            help="Cities in TSPLIB format (EUC_2D or ATT).  [default: the bundled att48]"),
        _count("--optimum", 1, "Length of the shortest tour, if there is no NAME.opt.tour next to the file."),
        _count("--iterations", 1, "Iterations.  [default: 1000; 100 with --quick]"),
        _words("--populations", "1024,2048,...",
            "Population sizes, multiples of 128 (one island).  [default: 1024 to 32768; to 2048 with --quick]"),
        runs=10),
    Experiment("dsmga2", "DSMGA-II: model building, population sizes, evaluations.", "reservoir.bench.linkage",
        click.option("--sweep", is_flag=True, help="Find population sizes by a sweep instead of timing the models."),
        _words("--problems", "mk,ftrap,...", "Problems to run (mk, ftrap, cyc, spin).  [default: all]"),
        _words("--sizes", "60,120,...",
            "Bits of the trap problems.  [default: 60 to 600; to 120 with --quick; 40 to 240 with --sweep]"),
        click.option("--spin", metavar="FILE", multiple=True, type=FilePath(),
            help="Spin-glass file, repeatable (see data/spin/README.md).  [default: the bundled files]"),
        runs=10),
    Experiment("zoo", "All solvers on random reservoirs: gaps, violations, times.", "reservoir.bench.zoo", _part,
        _solvers,
        _count("--reservoirs", 1, "Reservoirs of each part.  [default: 200; 20 with --quick]"),
        _count("--years", 1, "Years of each record.  [default: 30; 5 with --quick]"),
        _count("--host-reservoirs", 1,
            "Reservoirs for solvers without OpenCL, which take longer.  [default: 20; 4 with --quick]"),
        _count("--host-years", 1, "Years for these solvers.  [default: 5; 1 with --quick]"),
        _count("--jobs", 1,
            "Reservoirs at a time, each in a process of its own. More save time on a GPU, where compiling takes "
            "most of it.",
            1),
        resumable=True, runs=1),
    Experiment("proof", "Proven bounds against the schedules of all solvers on random reservoirs: none may be above.",
        "reservoir.bench.proof", _part, _solvers,
        _count("--years", 1,
            "Years of all parts together, ten of each reservoir; solvers without OpenCL get one year of 20 "
            "reservoirs of each part.  [default: 200; 4 with --quick]"),
        _count("--systems", 0, "Random systems of each part, a year each, beside the reservoirs.", 0),
        _count("--committed", 0,
            "Random systems of each part with annual commitments, two years as one problem each.", 0),
        options.proof_gap,
        click.option("--prove-seconds", type=FiniteRange(0.0), default=10.0, show_default=True,
            help="Most time of each of the two proofs of a year, about."),
        _count("--jobs", 1,
            "Reservoirs at a time, each in a process of its own: as many as there are cores, for proofs take most "
            "of the time.",
            1),
        resumable=True, runs=1),
    Experiment("cascade", "Several reservoirs: known answers, dams of the Lancang, random rivers; all engines.",
        "reservoir.bench.cascade",
        _words("--sets", "linear,lancang,...", "Of linear, lancang, horizons, random, rules.  [default: all]"),
        _part,
        _words("--solvers", "auto,lshade,...", "Solvers to run.  [default: auto, and all that can run here]"),
        _count("--systems", 1, "Random systems of each part.  [default: 100; 2 with --quick]"),
        click.option("--peers", is_flag=True, help="Compare with other installed libraries: PyPSA, scipy, pygmo, ..."),
        _count("--jobs", 1, "Instances at a time, each in a process of its own.", 1),
        resumable=True, runs=10),
    Experiment("scale", "The whole command `plan` over 1,000 to 100,000 years: seconds, memory.",
        "reservoir.bench.scale", options.inputs,
        _words("--years", "1000,3000,...",
            "Years of the ensembles, multiples of 50.  [default: 1000 to 100000; 100 and 200 with --quick]"),
        _words("--solvers", "lshade,clpso,...", "Solvers to run.  [default: lshade,clpso]"),
        click.option("--reference/--no-reference", default=True, help="Compare every year with dynamic programming."),
        runs=3),
    Experiment("functions", "Any solver on the eight benchmark functions.", "reservoir.bench.functions",
        click.option("--solver", default="clpso", show_default=True,
            help="Solver for general problems; an unknown name lists them."),
        click.option("--dim", "dimension", type=int, default=30, show_default=True, help="Number of variables."),
        _functions,
        _count("--rotations", 0, "Number of plane rotations in the rotation matrix of f7 and f8.", 20),
        options.settings(particles="Particles per CLPSO swarm.  [default: 40]",
            generations="Generations of CLPSO.  [default: 5000]",
            evaluations="Evaluations per run of lshade or island-ga.  [default: 200000]")),
)
# fmt: on
EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in (CASE, *_OTHERS)}


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
            formatter.write_dl([(experiment.name, experiment.summary) for experiment in EXPERIMENTS.values()])
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
        *experiment.options,
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
    defaults = {"case": case} if case else {}
    return click.command(case or experiment.name, context_settings={"default_map": defaults})(
        options.taking(decorators)(execute)
    )


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
    from reservoir.bench.experiment import RunBudget
    from reservoir.bench.result import claimed_for_result, default_folder, write_result
    from reservoir.bench.runs import Journal
    from reservoir.cli.screen import progress_bars, show_inputs
    from reservoir.opencl import choose_devices
    from reservoir.planning.checks import all_pass
    from reservoir.solvers import SOLVERS

    count = runs or (experiment.quick_runs if quick else experiment.runs)
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
        try:
            with progress_bars() as progress:
                budget = RunBudget(count, quick, seed, device, progress, journal)
                record = _run(experiment)(*inputs, budget=budget, **own)
                write_result(record, claim)
        finally:  # the journal goes when its experiment is written; one that is not goes on from there
            if journal is not None and claim.written is not None:
                journal.end()
            elif journal is not None and journal.kept:
                said = f"\nFinished runs are saved in {journal.path}; run the same command again to continue."
                click.echo(said, err=True)
    _show(record, target, as_json)
    return 0 if all_pass(record.checks) else 1


def _run(experiment: Experiment) -> Callable[..., ExperimentResult]:
    run: Callable[..., ExperimentResult] = import_module(experiment.module).run
    return run


def _show(record: ExperimentResult, target: Path, as_json: bool) -> None:
    from reservoir.cli import say
    from reservoir.cli.screen import checks_json, show_checks, show_json, show_line

    if as_json:
        show_json(checks_json(record.checks) | {"folder": str(target), "headlines": dict(record.headlines)})
        return
    width = max([9, *map(len, record.headlines)]) + 1
    for title, words in record.headlines.items():
        show_line(title, words, width=width)
    if record.checks:
        show_checks(record.checks)
    say(f"Written to {target}")
