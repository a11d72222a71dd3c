"""Options of one experiment alone; imports nothing heavy."""

from __future__ import annotations

from typing import Any

import click

from reservoir.cli import options

_functions = click.option("--functions", metavar="f1,f5,...", help="Functions to run, of f1 to f8; all if not given.")

OWN_OPTIONS: dict[str, tuple[Any, ...]] = {
    "case": (
        options.inputs,
        click.option("--peers", is_flag=True, help="Race other libraries, as far as installed, on the same years."),
    ),
    "clpso": (
        _functions,
        click.option(
            "--models",
            metavar="basic,lanes,...",
            help="Models to run, of basic, intermediate, final and lanes; all if not given. The sequential engine runs "
            "beside them.",
        ),
    ),
    "ann": (
        click.option("--tables", metavar="1,3,...", help="Tables of the paper, of 1 to 5; all if not given."),
        click.option(
            "--iterations",
            type=click.IntRange(2),
            help="Iterations of Tables 1, 2 and 4; the paper has 100,000 in 1 and 2.  [default: 2000, 4: 1000]",
        ),
        click.option("--iterations-3", type=click.IntRange(2), help="Iterations of Table 3.  [default: 1000]"),
        click.option("--iterations-5", type=click.IntRange(2), help="Iterations of Table 5.  [default: 2000]"),
        click.option(
            "--baseline-iterations",
            type=click.IntRange(2),
            help="Iterations of the CPU baseline where its time alone counts.  [default: 100]",
        ),
        options.two_level_swarm,
        click.option(
            "--reach", type=float, default=1.0, show_default=True, help="First weights lie between -reach and reach."
        ),
        click.option(
            "--threads", type=click.IntRange(1), default=2, show_default=True, help="Threads of the CPU baseline."
        ),
        click.option(
            "--random",
            default="stream",
            show_default=True,
            help="Random numbers: stream, congruential or congruential-printed (as the paper prints them).",
        ),
    ),
    "ring-pso": (
        click.option(
            "--dimensions",
            metavar="2,32,128",
            help="Numbers of variables.  [default: 2 to 128; 2, 10 and 32 with --quick]",
        ),
        click.option("--generations", type=click.IntRange(1), help="Generations.  [default: 10000; 200 with --quick]"),
        click.option("--particles", type=click.IntRange(2), default=32, show_default=True, help="Of a swarm."),
    ),
    "tsp": (
        click.option(
            "--file",
            "path",
            metavar="NAME.tsp",
            type=options.FilePath(),
            help="Cities in TSPLIB's format, EUC_2D or ATT.  [default: the bundled att48]",
        ),
        click.option(
            "--optimum",
            type=click.IntRange(1),
            help="Length of the shortest tour, if there is no NAME.opt.tour beside the file.",
        ),
        click.option("--iterations", type=click.IntRange(1), help="Iterations.  [default: 1000; 100 with --quick]"),
        click.option(
            "--populations",
            metavar="1024,2048,...",
            help="Sizes of the population, whole islands of 128.  [default: 1024 to 32768; to 2048 with --quick]",
        ),
    ),
    "dsmga2": (
        click.option("--sweep", is_flag=True, help="Find populations by sweep, in place of timing models."),
        click.option(
            "--problems",
            metavar="mk,ftrap,...",
            help="Kinds of problems, of mk, ftrap, cyc and spin; all if not given.",
        ),
        click.option(
            "--sizes",
            metavar="60,120,...",
            help="Bits of the traps.  [default: 60 to 600; to 120 with --quick; 40 to 240 with --sweep]",
        ),
        click.option(
            "--spin",
            metavar="FILE",
            multiple=True,
            type=options.FilePath(),
            help="A spin glass, repeatable (see data/spin/README.md).  [default: the bundled ones]",
        ),
    ),
    "functions": (
        click.option(
            "--solver",
            default="clpso",
            show_default=True,
            help="Engine that solves any problem; an unknown name lists them.",
        ),
        click.option("--dim", "dimension", type=int, default=30, show_default=True, help="Variables."),
        _functions,
        click.option(
            "--rotations",
            type=click.IntRange(0),
            default=20,
            show_default=True,
            help="Plane rotations that make the matrix of f7 and f8.",
        ),
        options.settings(
            particles="Particles of a swarm of CLPSO.  [default: 40]",
            generations="Generations of a swarm of CLPSO.  [default: 5000]",
            evaluations="Evaluations of a run by lshade or island-ga.  [default: 200000]",
        ),
    ),
}
