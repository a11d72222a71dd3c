"""Experiments: what the papers measured, measured again on this machine.

An experiment is a folder whose ``experiment.run`` returns an `ExperimentResult` (frame: `bench.experiment`), and one
line in `EXPERIMENTS`; the command line goes through the registry. This file imports nothing heavy, so that experiments
are listed at once.

Every ``run`` is given what all are told, a `RunBudget` as ``budget`` and a ``progress``, and options of its own. It
raises InputError with whatever is asked for that there is not or that is out of range, DeviceError if there is no
OpenCL device of that name or it cannot hold the work, and OutputError if a journal belongs to a call of other settings.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Runs of each engine, as in Yu et al. 2020, section 5.
RUNS = 25
#: At most, in a quick trial.
QUICK_RUNS = 3


@dataclass(frozen=True)
class Experiment:
    """A registry entry: name and summary as users see them, and the folder, imported when it is first used.

    One that is resumable takes a ``journal``, from which it goes on after an interruption. Runs are of each engine,
    unless asked for.
    """

    name: str
    summary: str
    module: str
    resumable: bool = False
    runs: int = RUNS

    @property
    def quick_runs(self) -> int:
        """Runs of each engine in a quick trial."""
        return min(self.runs, QUICK_RUNS)


#: The experiment that takes a reservoir and an inflow record first, and that a bundled case's name stands for.
CASE = Experiment("case", "Speed and quality of CLPSO on a reservoir: runs, times, scaling.", "case")

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        CASE,
        Experiment("clpso", "CLPSO's models on eight benchmark functions: quality and time.", "models", resumable=True),
        Experiment("ann", "Neural networks trained by particle swarms: time and error.", "networks"),
        Experiment("ring-pso", "Ring PSO, synchronous and asynchronous: fitness, time, speed-up.", "ring", runs=100),
        Experiment(
            "tsp",
            "Island genetic algorithms on the travelling salesman problem: schemes, times, errors.",
            "tours",
            runs=10,
        ),
        Experiment("dsmga2", "DSMGA-II: model building, population sizes, evaluations.", "linkage", runs=10),
        Experiment("zoo", "All solvers on random reservoirs: gaps, violations, times.", "zoo", resumable=True, runs=1),
        Experiment(
            "proof",
            "Proven bounds against the schedules of all solvers on random reservoirs: none may be above.",
            "proof",
            resumable=True,
            runs=1,
        ),
        Experiment("scale", "The whole command `plan` over 1,000 to 100,000 years: seconds, memory.", "scale", runs=3),
        Experiment("functions", "Any solver on the eight benchmark functions.", "functions"),
    )
}
