"""Engines that turn problems into solutions, by name.

A solver is one folder with an `Engine` (`reservoir.solvers.engine`), which a module names ``ENGINE``, and one entry in
`SOLVERS`: what it is for, what it can solve, and how close it comes (``docs/examples/solver.py`` is a whole one). The
command line, the tests and the documentation go through the registry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import partial
from importlib import import_module
from math import inf
from numbers import Integral
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.hydro.objectives import MOST_STEPS_OF_YEAR
from reservoir.problems.base import BITS, PERMUTATION, REAL, Batch, Problem, encoding_of
from reservoir.solvers.codings import MOST_VARIABLES, CodingSettings, is_coded, nothing_to_choose, solve_coded
from reservoir.solvers.engine import Engine, IntermediateResult, Progress, Stop, callers_own, silent
from reservoir.solvers.settings import Settings, first_positions
from reservoir.solvers.solution import Solutions
from reservoir.solvers.windows import WindowSettings

__all__ = [
    "GENERAL_SOLVERS",
    "RESERVOIR_SOLVERS",
    "SOLVERS",
    "IntermediateResult",
    "Problem",
    "Progress",
    "Solutions",
    "Solver",
    "Stop",
    "described_settings",
    "devices_of",
    "more_effort",
    "runs_here",
    "settings_of",
    "solve",
    "solver_named",
    "why_unusable",
]


@dataclass(frozen=True)
class Solver:
    """A registry entry.

    Parameters
    ----------
    name, summary : str
        As shown to users.
    module : str
        Dotted path of the module with its ``ENGINE``; imported when it is first used.
    opencl : bool
        It needs an OpenCL device.
    seeded : bool
        Its result depends on a seed.
    budget : tuple of str
        Its settings that the command line offers.
    general : bool
        It solves whatever is a `Problem`, not reservoir years alone.
    long_horizons : bool
        It solves horizons of many years; the others are made for a year's dozen variables.
    swept : bool
        It does so by sweeps over windows (`reservoir.solvers.windows`).
    coded : bool
        It has settings for years of systems, and chooses how their variables are coded (`reservoir.solvers.codings`).
    host_solver : str
        The solver with the same algorithm on the CPU, which replaces it where there is no OpenCL; empty if none.
    encodings : tuple of str
        How the positions may be written down of problems that it solves.
    measured_with : mapping
        Settings with which comparisons and benchmarks measure it: a baseline of devices runs on one thread.
    effort : tuple of str
        Its settings that make it work more and come closer to the optimum; the last of the budget if not given.
    effort_settings : mapping
        Further settings with which it comes closer, which are not its published algorithm's.
    zoo_gap : float
        Its range: the largest gap to dynamic programming in a year of random reservoirs (`reservoir.zoo`), with default
        settings, as a part of the fitness; measured and rounded up. By default it states none.
    alone : bool
        It plans one reservoir.
    systems : bool
        It plans systems of several reservoirs (`reservoir.problems.system`).
    """

    name: str
    summary: str
    module: str
    _: KW_ONLY
    opencl: bool = False
    seeded: bool = True
    budget: tuple[str, ...] = ()
    general: bool = True
    long_horizons: bool = False
    swept: bool = False
    coded: bool = False
    host_solver: str = ""
    encodings: tuple[str, ...] = (REAL,)
    measured_with: Mapping[str, Any] = field(default_factory=dict)
    effort: tuple[str, ...] = ()
    effort_settings: Mapping[str, Any] = field(default_factory=dict)
    zoo_gap: float = inf
    alone: bool = True
    systems: bool = True


_SWARM, _EVALUATIONS = ("particles", "generations"), ("evaluations",)
_ONE_THREAD = {"threads": 1}
_SWEPT: dict[str, Any] = {"opencl": True, "long_horizons": True, "swept": True}

#: What the engines of an algorithm have in common, on devices and on CPU threads.
_CLPSO = partial(Solver, systems=True, budget=_SWARM, coded=True, zoo_gap=0.2)
_LSHADE = partial(Solver, systems=True, budget=_EVALUATIONS, coded=True, zoo_gap=1e-3)
_TWO_LEVEL = partial(Solver, budget=_SWARM, zoo_gap=0.6)
_RING = partial(Solver, budget=_SWARM, zoo_gap=0.2)
_ISLANDS = partial(
    Solver, budget=_EVALUATIONS, zoo_gap=0.1, effort=(*_EVALUATIONS, "iterations"), encodings=(REAL, PERMUTATION)
)
_HOST = partial(Solver, seeded=False, general=False, long_horizons=True)
_DP, _OF_SYSTEMS = partial(_HOST, systems=False), partial(_HOST, alone=False)

SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (
        _CLPSO(
            "clpso",
            "multipopulation CLPSO in OpenCL: one work group per year; trapped in some years",
            "reservoir.solvers.clpso.engine",
            **_SWEPT,
            host_solver="clpso-sequential",
            effort_settings={"exchange_interval": 5},
        ),
        _LSHADE(
            "lshade",
            "multipopulation L-SHADE in OpenCL: closest to the optimum, on random reservoirs too",
            "reservoir.solvers.lshade.engine",
            **_SWEPT,
            host_solver="lshade-sequential",
        ),
        _CLPSO(
            "clpso-sequential",
            "CLPSO on CPU threads, compiled: replaces clpso where there is no OpenCL, and is its baseline",
            "reservoir.solvers.clpso.sequential",
            measured_with=_ONE_THREAD,
        ),
        _LSHADE(
            "lshade-sequential",
            "L-SHADE on CPU threads, compiled: replaces lshade where there is no OpenCL, and is its baseline",
            "reservoir.solvers.lshade.sequential",
            measured_with=_ONE_THREAD,
        ),
        _TWO_LEVEL(
            "ann-pso",
            "two-level PSO in OpenCL, for training neural networks; on reservoirs, most years are beyond 1e-3",
            "reservoir.solvers.two_level_pso.engine",
            opencl=True,
            host_solver="ann-pso-parallel",
        ),
        _TWO_LEVEL(
            "ann-pso-parallel",
            "two-level PSO on CPU threads: the baseline of ann-pso",
            "reservoir.solvers.two_level_pso.parallel",
        ),
        _ISLANDS(
            "island-ga",
            "island genetic algorithm in OpenCL: one work group per island; slow, seldom trapped",
            "reservoir.solvers.island_ga.engine",
            opencl=True,
            host_solver="island-ga-sequential",
        ),
        _ISLANDS(
            "island-ga-sequential",
            "island genetic algorithm on one CPU thread: the baseline of island-ga",
            "reservoir.solvers.island_ga.sequential",
        ),
        _RING(
            "ring-pso",
            "ring PSO in OpenCL, synchronous or asynchronous: a work group per particle; trapped in some years",
            "reservoir.solvers.ring_pso.engine",
            opencl=True,
            host_solver="ring-pso-sequential",
        ),
        _RING(
            "ring-pso-sequential",
            "ring PSO on one CPU thread: the baseline of ring-pso; also Standard PSO 2006",
            "reservoir.solvers.ring_pso.sequential",
        ),
        Solver(
            "dsmga2",
            "DSMGA-II: genetic algorithm with linkage learning, storages in Gray code; the slowest",
            "reservoir.solvers.dsmga2.engine",
            zoo_gap=0.01,
            budget=_EVALUATIONS,
            effort=("population", *_EVALUATIONS),
            encodings=(REAL, BITS),
        ),
        _DP("dp", "dynamic programming: the reference optimum", "reservoir.solvers.dp.sequential"),
        _DP(
            "dp-opencl",
            "dynamic programming in OpenCL: one work group per year",
            "reservoir.solvers.dp.engine",
            zoo_gap=1e-5,
            opencl=True,
            host_solver="dp",
        ),
        _OF_SYSTEMS(
            "slp",
            "successive linear programming of systems: all reservoirs at once, close to the optimum in a few programs",
            "reservoir.solvers.slp.engine",
        ),
        _OF_SYSTEMS(
            "dpsa",
            "dynamic programming of systems in OpenCL, a reservoir at a time: what slp leaves, at kinks above all",
            "reservoir.solvers.dpsa.on_device",
            opencl=True,
            host_solver="dpsa-sequential",
        ),
        _OF_SYSTEMS(
            "dpsa-sequential",
            "the same on CPU threads, compiled: replaces dpsa where there is no OpenCL, and in auto no GPU",
            "reservoir.solvers.dpsa.engine",
        ),
        _OF_SYSTEMS(
            "dp-joint",
            "dynamic programming in OpenCL of up to four reservoirs at once, exact on its storages; for comparison",
            "reservoir.solvers.dp_joint.engine",
            opencl=True,
            host_solver="dp-joint-sequential",
        ),
        _OF_SYSTEMS(
            "dp-joint-sequential",
            "the same on CPU threads, compiled: replaces dp-joint where there is no OpenCL; the slowest",
            "reservoir.solvers.dp_joint.sequential",
        ),
    )
}

#: Those that plan one reservoir.
RESERVOIR_SOLVERS = {name: solver for name, solver in SOLVERS.items() if solver.alone}
#: Those that solve whatever is a `Problem`, not reservoir years alone.
GENERAL_SOLVERS = {name: solver for name, solver in SOLVERS.items() if solver.general}


def solver_named(name: str) -> Solver:
    """The registry entry of that name; InputError lists the names there are."""
    if name not in SOLVERS:
        raise InputError("there is no such solver", ", ".join(SOLVERS), "choose one of them", value=name)
    return SOLVERS[name]


def why_unusable(name: str) -> str:
    """Why the solver of that name cannot run on this machine; empty if it can."""
    if not solver_named(name).opencl:
        return ""
    from reservoir.opencl import why_unavailable

    reason = why_unavailable()
    return f"OpenCL cannot be used: {reason}" if reason else ""


def usable(name: str) -> str:
    """The solver of that name, or that which does the same on the host where it cannot run on this machine."""
    return solver_named(name).host_solver if why_unusable(name) else name


def runs_here(name: str) -> bool:
    """Whether the solver of that name can run on this machine; a driver that is left out is noted."""
    from reservoir.opencl import opencl_available

    return not solver_named(name).opencl or opencl_available()


def devices_of(name: str, device: str | None) -> dict[str, str]:
    """Devices on which the solver of that name would work, and what they are; none for one that needs none.

    Parameters
    ----------
    name : str
    device : str or None
        See `reservoir.opencl.choose_devices`; the keys of what is returned name one of them each.

    Raises
    ------
    DeviceError
        If there is no such device.
    """
    if not solver_named(name).opencl:
        return {}
    from reservoir.opencl import choose_devices

    return {str(each.index): f"{each.name} ({each.platform} {each.driver})" for each in choose_devices(device)}


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

    Horizons of more than `MOST_STEPS_OF_YEAR` steps are swept in windows by the solvers that the registry says so of.

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
        over long horizons ask after each sweep, `dsmga2` after each generation, and what takes systems alone after each
        of its rounds: the solutions are the schedules so far.
    **options
        Settings of the engine, of the sweeps, and of systems.

    Raises
    ------
    InputError
        If there is no such solver or setting, a setting is out of range, or one of the sweeps is given without a long
        horizon, or a problem is not one for the solver.
    DeviceError
        If the device is missing or too small.
    """
    entry = solver_named(solver)
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= seed < 2**64:
        expected = "a whole number, 0 to 2**64 - 1"
        raise InputError("the seed is out of range", expected, "choose another seed", value=seed)
    if not problems:
        return Solutions.of([])
    different = problems[:1] if isinstance(problems, Batch) else problems
    for problem in different:
        if (encoding := encoding_of(problem)) not in entry.encodings:
            able = ", ".join(name for name, other in SOLVERS.items() if encoding in other.encodings)
            unsupported = f"the solver {solver} does not support {encoding} encoding"
            expected = " or ".join(f"{known} encoding" for known in entry.encodings)
            raise InputError(unsupported, expected, f"choose the solver {able}", value=problem.label)
        if not (entry.systems if hasattr(problem, "system") else entry.alone):
            several, one = "systems of several reservoirs", "one reservoir"
            what, asked = (one, several) if entry.alone else (several, one)
            able = ", ".join(name for name, other in SOLVERS.items() if (other.systems if entry.alone else other.alone))
            raise InputError(f"the solver {solver} plans {what} only", mend=f"choose a solver of {asked}: {able}")
    engine, known = _engine_class(entry), settings_of(solver)
    if unknown := [name for name in options if name not in known]:
        expected = f"one of {', '.join(known)}"
        unknown = [f"the solver {solver} has no setting {name}" for name in unknown]
        raise InputError(Mistake(each, expected, "remove it") for each in unknown)
    own = callers_own(stop) if stop else None

    def run(problems: Sequence[Problem], options: Mapping[str, Any], progress: Progress) -> Solutions:
        ready = engine(engine.settings_class(**options), seed=int(seed), seeded=entry.seeded, stop=own)
        return ready.solve(problems, device=device, progress=progress)

    year: Any = different[0]
    coding = options.pop("coding", None)
    if coding is not None and not is_coded(year):
        wrong = "coding is a setting of systems of several reservoirs"
        raise InputError(Mistake(wrong, "a system", "remove it, or give it a system", value=coding))
    if entry.swept:
        steps = [each.limits.steps for each in different if hasattr(each, "limits") and not is_coded(each)]
        long = max(steps, default=0) > MOST_STEPS_OF_YEAR
        given = {**engine.window_defaults, **options} if long else options
        of_windows = {each.name: given[each.name] for each in fields(WindowSettings) if each.name in given}
        options = {name: value for name, value in given.items() if name not in of_windows}
        if long:
            from reservoir.solvers.windows.sweeps import WindowSweeps

            first = options.pop("first", None)
            swept = engine(engine.settings_class(**options), seed=int(seed))
            sweeps = WindowSweeps(swept, WindowSettings(**of_windows), first=first, stop=own)
            return sweeps.solve(problems, device=device, progress=progress)
        if of_windows:
            expected = f"a horizon of more than {MOST_STEPS_OF_YEAR} steps"
            mend, wrong = "remove it, or choose a longer horizon", "{} is a setting of sweeps over long horizons"
            raise InputError(
                Mistake(wrong.format(name), expected, mend, value=value) for name, value in of_windows.items()
            )
    if entry.coded and is_coded(year):
        kind: Any = engine.settings_class
        if not year.dimension:
            return nothing_to_choose(problems, solver)
        if year.dimension > MOST_VARIABLES:
            able = ", ".join(name for name, other in SOLVERS.items() if other.systems and not other.general)
            wrong, expected = f"{solver} takes horizons of few variables", f"at most {MOST_VARIABLES}"
            raise InputError(wrong, expected, f"choose a shorter horizon, or the solver {able}", value=year.dimension)
        options = kind.of_systems(len(year.years), year.steps, year.dimension) | options
        ready = kind(**options)  # first positions that do not fit are refused before codings take them apart
        first_positions(ready.first, problems, ready.first_members(year.dimension))
        chosen = CodingSettings(**({} if coding is None else {"coding": coding}))
        return solve_coded(problems, chosen.coding, options, entry.budget[-1], run, progress)
    return run(problems, options, progress)


def settings_of(name: str) -> tuple[str, ...]:
    """Names of a solver's settings, those of sweeps over long horizons and of systems behind them."""
    return tuple(each.name for settings in _settings_classes(name) for each in fields(settings))


def described_settings(name: str) -> list[tuple[str, Any, str, str]]:
    """Name, default, what it may be, and meaning of each of a solver's settings that words can give."""
    return [row for settings in _settings_classes(name) for row in settings.described()]


def _settings_classes(name: str) -> list[type[Settings]]:
    entry = solver_named(name)
    more = ([WindowSettings] if entry.swept else []) + ([CodingSettings] if entry.coded else [])
    return [_engine_class(entry).settings_class, *more]


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
    engine: type[Engine[Any]] = import_module(entry.module).ENGINE
    return engine
