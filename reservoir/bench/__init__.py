"""Experiments: what the papers measured, measured again on this machine.

An experiment is a module here, whose ``run`` returns an `ExperimentResult` (frame: `bench.experiment`), and one row of
``EXPERIMENTS`` in `reservoir.cli.bench`: its name, what users read of it, and its options.

Every ``run`` is given what all are told, a `RunBudget` as ``budget`` and a ``progress``, and options of its own. It
raises InputError with whatever is asked for that there is not or that is out of range, DeviceError if there is no
OpenCL device of that name or it cannot hold the work, and OutputError if a journal belongs to a call of other settings.
"""

#: Runs of each engine, as in Yu et al. 2020, section 5; and at most in a quick trial.
RUNS, QUICK_RUNS = 25, 3
