"""Engines that turn problems into solutions, by name.

A solver is one folder with an `Engine` (`reservoir.solvers.engine`), which a module names ``ENGINE``, and one entry in
`registry.SOLVERS` (``docs/examples/solver.py`` is a whole one); the command line, the tests and the documentation go
through the registry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from numbers import Integral
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.problems.base import Batch, Problem, encoding_of
from reservoir.solvers.engine import Engine, IntermediateResult, Progress, Stop, callers_own, silent
from reservoir.solvers.registry import GENERAL_SOLVERS, SOLVERS, Solver, runs_here, solver_named, why_unusable
from reservoir.solvers.settings import Settings
from reservoir.solvers.solution import Solution, Solutions
from reservoir.solvers.windows import WindowSettings

__all__ = [
    "GENERAL_SOLVERS",
    "SOLVERS",
    "IntermediateResult",
    "Problem",
    "Progress",
    "Solution",
    "Solutions",
    "Solver",
    "Stop",
    "described_settings",
    "more_effort",
    "runs_here",
    "settings_of",
    "solve",
    "solver_named",
    "why_unusable",
]


def solve(
    problems: Sequence[Problem],
    *,
    solver: str = "clpso",
    seed: int = 1,
    device: str | None = "auto",
    progress: Progress = silent,
    stop: Stop | None = None,
    **options: Any,
) -> Solutions:
    """Solve problems with the engine of that name.

    Parameters
    ----------
    problems : sequence of Problem
        At least one; years of a reservoir best as a batch.
    solver : str
        A name of `SOLVERS`.
    seed : int
        0 to 2**64 - 1; the same seed on the same device gives the same solutions.
    device : str, optional
        See `reservoir.opencl.choose_device`; solvers that need no device ignore it.
    progress : callable
        Told how many problems are done.
    stop : callable, optional
        Asked with an `IntermediateResult` after each launch, or each problem on the host, but not after the last. If it
        returns True, the solutions are those of the problems before the first that is not solved, at least one. On a
        device, launches then have as many problems as it has compute units, so that it is asked often enough. Sweeps
        over long horizons ask after each sweep, and the solutions are the schedules so far.
    **options
        Settings of the engine.

    Raises
    ------
    InputError
        If there is no such solver or setting, a setting is out of range, or a problem is not one for the solver.
    DeviceError
        If the device is missing or too small.
    """
    entry = solver_named(solver)
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= seed < 2**64:
        raise InputError(
            Mistake("the seed is out of range", "a whole number, 0 to 2**64 - 1", "choose another seed", value=seed)
        )
    if not problems:
        return Solutions.of([])
    _require_encoding(entry, problems)
    engine = _engine_class(entry)
    _require_settings(entry, options)
    caller_stop = stop and callers_own(stop)
    if entry.swept:
        from reservoir.solvers.windows.sweeps import solve_any_length

        return solve_any_length(
            engine, problems, options, seed=int(seed), device=device, progress=progress, stop=caller_stop
        )
    ready = engine(settings=engine.settings_class(**options), seed=int(seed), seeded=entry.seeded, stop=caller_stop)
    return ready.solve(problems, device=device, progress=progress)


def settings_of(name: str) -> tuple[str, ...]:
    """Names of a solver's settings, those of sweeps over long horizons behind them."""
    return tuple(each.name for settings in _settings_classes(name) for each in fields(settings))


def described_settings(name: str) -> list[tuple[str, Any, str, str]]:
    """Name, default, what it may be, and meaning of each of a solver's settings that words can give."""
    return [row for settings in _settings_classes(name) for row in settings.described()]


def _settings_classes(name: str) -> list[type[Settings]]:
    entry = solver_named(name)
    return [_engine_class(entry).settings_class, *([WindowSettings] if entry.swept else [])]


def more_effort(name: str, options: Mapping[str, Any], times: int, *, swept: bool = False) -> dict[str, Any]:
    """Options of a solver with which it works more, as far as its settings have room.

    `Solver.effort_settings` are added where the call chose nothing but sizes and first positions.

    Parameters
    ----------
    name : str
        Of the solver.
    options : mapping
        Settings that differ from their defaults.
    times : int
        By which the settings of `Solver.effort` are multiplied.
    swept : bool
        Whether it sweeps a long horizon; then the work of each window is meant.
    """
    entry = solver_named(name)
    engine = _engine_class(entry)
    known = {each.name: each for each in fields(engine.settings_class)}
    given = {**(engine.window_defaults if swept else {}), **options}
    more = {}
    for setting in entry.effort or entry.budget[-1:]:
        value, check = given.get(setting, known[setting].default), known[setting].metadata["check"]
        if value is not None and not check(setting, value * times):
            more[setting] = value * times
    usual = {*entry.budget, "first"}.issuperset(options)
    return {**(entry.effort_settings if usual else {}), **options, **more}


def _engine_class(entry: Solver) -> type[Engine[Any]]:
    found: type[Engine[Any]] = import_module(entry.module).ENGINE
    return found


def _require_settings(entry: Solver, options: Mapping[str, Any]) -> None:
    known = settings_of(entry.name)
    unknown = [name for name in options if name not in known]
    if unknown:
        raise InputError(
            [
                Mistake(f"the solver {entry.name} has no setting {name}", f"one of {', '.join(known)}", "remove it")
                for name in unknown
            ]
        )


def _require_encoding(entry: Solver, problems: Sequence[Problem]) -> None:
    for problem in problems[:1] if isinstance(problems, Batch) else problems:
        encoding = encoding_of(problem)
        if encoding not in entry.encodings:
            able = ", ".join(name for name, solver in SOLVERS.items() if encoding in solver.encodings)
            wrong = f"the solver {entry.name} does not support {encoding} encoding"
            expected = " or ".join(f"{known} encoding" for known in entry.encodings)
            raise InputError(Mistake(wrong, expected, f"choose the solver {able}", value=problem.label))
