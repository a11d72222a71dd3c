"""Experiments: what the papers measured, measured again on this machine.

An experiment is a folder whose ``experiment.run`` returns an `ExperimentResult` (frame: `bench.experiment`), and one
line in `EXPERIMENTS`; the command line goes through the registry. This file imports nothing heavy, so that experiments
are listed at once.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Runs of each engine, as in Yu et al. 2020, section 5.
RUNS = 25


@dataclass(frozen=True)
class Experiment:
    """A registry entry.

    Parameters
    ----------
    name, summary : str
        As shown to users.
    module : str
        The folder of its ``experiment``, which is imported when it is first used.
    on_a_case : bool
        It works on a reservoir and an inflow record, which ``run`` takes first; every bundled case's name stands for
        it, too.
    runs : int
        Runs of each engine, unless asked for.
    resumable : bool
        ``run`` takes a `reservoir.bench.journal.Journal`, from which it goes on after an interruption.
    """

    name: str
    summary: str
    module: str
    on_a_case: bool = False
    resumable: bool = False
    runs: int = RUNS


#: The experiment that a bundled case's name stands for.
CASE = Experiment("case", "Speed and quality of CLPSO on a reservoir: runs, times, scaling.", "case", on_a_case=True)

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        CASE,
        Experiment("clpso", "CLPSO's models on eight functions: quality and time.", "models", resumable=True),
        Experiment("ann", "Networks trained by particle swarms: time and error.", "networks"),
        Experiment("ring-pso", "Ring PSO, synchronous and asynchronous: fitness, time, speed-up.", "ring", runs=100),
        Experiment("tsp", "Genetic algorithms on islands, on tours: schemes, times, errors.", "tours", runs=10),
        Experiment("dsmga2", "DSMGA-II: model building, populations by sweep, evaluations.", "linkage", runs=10),
        Experiment("functions", "Any solver on the eight functions.", "functions"),
    )
}
