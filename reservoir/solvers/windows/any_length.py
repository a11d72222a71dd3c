"""Problems of any length for an engine of short ones: long horizons are swept, all others solved as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.hydro.objectives import MOST_STEPS_OF_YEAR
from reservoir.problems.base import Batch, Problem
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.solvers.engine import Engine, Progress, Stop
from reservoir.solvers.solution import Solutions
from reservoir.solvers.windows.settings import WindowSettings
from reservoir.solvers.windows.sweeps import WindowSweeps

WINDOW_SETTINGS = tuple(each.name for each in fields(WindowSettings))


def solve_any_length(
    engine_class: type[Engine[Any]],
    problems: Sequence[Problem],
    options: Mapping[str, Any],
    *,
    seed: int,
    device: str | None,
    progress: Progress,
    stop: Stop | None,
) -> Solutions:
    """Solve problems: by sweeps if one of them has more steps than `MOST_STEPS_OF_YEAR`.

    Parameters
    ----------
    engine_class : type of Engine
    problems : sequence of Problem
    options : mapping
        Settings of the engine and of the sweeps.
    seed, device, progress, stop
        See `reservoir.solvers.solve`.

    Raises
    ------
    InputError
        If a setting is out of range, or one of the sweeps is given without a long horizon.
    """
    long = _any_long(problems)
    given = {**engine_class.window_defaults, **options} if long else options
    of_windows = {name: value for name, value in given.items() if name in WINDOW_SETTINGS}
    of_engine = {name: value for name, value in given.items() if name not in WINDOW_SETTINGS}
    if not long:
        if of_windows:
            _refuse(of_windows)
        engine = engine_class(engine_class.settings_class(**of_engine), seed=seed, stop=stop)
        return engine.solve(problems, device=device, progress=progress)
    first = of_engine.pop("first", None)
    engine = engine_class(engine_class.settings_class(**of_engine), seed=seed)
    sweeps = WindowSweeps(engine, WindowSettings(**of_windows), first=first, stop=stop)
    return sweeps.solve(problems, device=device, progress=progress)


def _any_long(problems: Sequence[Problem]) -> bool:
    some = problems[:1] if isinstance(problems, Batch) else problems
    return any(isinstance(each, ReservoirYear) and each.limits.steps > MOST_STEPS_OF_YEAR for each in some)


def _refuse(of_windows: Mapping[str, Any]) -> None:
    expected = f"a horizon of more than {MOST_STEPS_OF_YEAR} steps"
    mend = "remove it, or choose a longer horizon"
    raise InputError(
        [
            Mistake(f"{name} is a setting of sweeps over long horizons", expected, mend, value=value)
            for name, value in of_windows.items()
        ]
    )
