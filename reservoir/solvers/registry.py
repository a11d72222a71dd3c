"""The registry of solvers: what each is for, what it can solve, and how close it comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.problems.base import BITS, PERMUTATION, REAL


@dataclass(frozen=True, kw_only=True)
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
    """

    name: str
    summary: str
    module: str
    opencl: bool = False
    seeded: bool = True
    budget: tuple[str, ...] = ()
    general: bool = True
    long_horizons: bool = False
    swept: bool = False
    host_solver: str = ""
    encodings: tuple[str, ...] = (REAL,)
    measured_with: Mapping[str, Any] = field(default_factory=dict)
    effort: tuple[str, ...] = ()
    effort_settings: Mapping[str, Any] = field(default_factory=dict)
    zoo_gap: float = inf


_SWARM, _EVALUATIONS = ("particles", "generations"), ("evaluations",)
_ONE_THREAD = {"threads": 1}

SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (
        Solver(
            name="clpso",
            summary="multipopulation CLPSO in OpenCL: one work group per year; trapped in some years",
            module="reservoir.solvers.clpso.engine",
            zoo_gap=0.2,
            opencl=True,
            budget=_SWARM,
            long_horizons=True,
            swept=True,
            host_solver="clpso-sequential",
            effort_settings={"exchange_interval": 5},
        ),
        Solver(
            name="lshade",
            summary="multipopulation L-SHADE in OpenCL: closest to the optimum, on random reservoirs too",
            module="reservoir.solvers.lshade.engine",
            zoo_gap=1e-3,
            opencl=True,
            budget=_EVALUATIONS,
            long_horizons=True,
            swept=True,
            host_solver="lshade-sequential",
        ),
        Solver(
            name="clpso-sequential",
            summary="CLPSO on CPU threads, compiled: replaces clpso where there is no OpenCL, and is its baseline",
            module="reservoir.solvers.clpso.sequential",
            zoo_gap=0.2,
            budget=_SWARM,
            measured_with=_ONE_THREAD,
        ),
        Solver(
            name="lshade-sequential",
            summary="L-SHADE on CPU threads, compiled: replaces lshade where there is no OpenCL, and is its baseline",
            module="reservoir.solvers.lshade.sequential",
            zoo_gap=1e-3,
            budget=_EVALUATIONS,
            measured_with=_ONE_THREAD,
        ),
        Solver(
            name="ann-pso",
            summary="two-level PSO in OpenCL, for training neural networks; on reservoirs, most years are beyond 1e-3",
            module="reservoir.solvers.two_level_pso.engine",
            zoo_gap=0.6,
            opencl=True,
            host_solver="ann-pso-parallel",
            budget=_SWARM,
        ),
        Solver(
            name="ann-pso-parallel",
            summary="two-level PSO on CPU threads: the baseline of ann-pso",
            module="reservoir.solvers.two_level_pso.parallel",
            zoo_gap=0.6,
            budget=_SWARM,
        ),
        Solver(
            name="island-ga",
            summary="island genetic algorithm in OpenCL: one work group per island; slow, seldom trapped",
            module="reservoir.solvers.island_ga.engine",
            zoo_gap=0.1,
            opencl=True,
            host_solver="island-ga-sequential",
            budget=_EVALUATIONS,
            effort=(*_EVALUATIONS, "iterations"),
            encodings=(REAL, PERMUTATION),
        ),
        Solver(
            name="island-ga-sequential",
            summary="island genetic algorithm on one CPU thread: the baseline of island-ga",
            module="reservoir.solvers.island_ga.sequential",
            zoo_gap=0.1,
            budget=_EVALUATIONS,
            effort=(*_EVALUATIONS, "iterations"),
            encodings=(REAL, PERMUTATION),
        ),
        Solver(
            name="ring-pso",
            summary="ring PSO in OpenCL, synchronous or asynchronous: a work group per particle; trapped in some years",
            module="reservoir.solvers.ring_pso.engine",
            zoo_gap=0.2,
            opencl=True,
            host_solver="ring-pso-sequential",
            budget=_SWARM,
        ),
        Solver(
            name="ring-pso-sequential",
            summary="ring PSO on one CPU thread: the baseline of ring-pso; also Standard PSO 2006",
            module="reservoir.solvers.ring_pso.sequential",
            zoo_gap=0.2,
            budget=_SWARM,
        ),
        Solver(
            name="dsmga2",
            summary="DSMGA-II: genetic algorithm with linkage learning, storages in Gray code; the slowest",
            module="reservoir.solvers.dsmga2.engine",
            zoo_gap=0.01,
            budget=_EVALUATIONS,
            effort=("population", *_EVALUATIONS),
            encodings=(REAL, BITS),
        ),
        Solver(
            name="dp",
            summary="dynamic programming: the reference optimum",
            module="reservoir.solvers.dp.sequential",
            seeded=False,
            general=False,
            long_horizons=True,
        ),
        Solver(
            name="dp-opencl",
            summary="dynamic programming in OpenCL: one work group per year",
            module="reservoir.solvers.dp.engine",
            zoo_gap=1e-5,
            opencl=True,
            host_solver="dp",
            seeded=False,
            general=False,
            long_horizons=True,
        ),
    )
}

#: Those that solve whatever is a `Problem`, not reservoir years alone.
GENERAL_SOLVERS = {name: solver for name, solver in SOLVERS.items() if solver.general}


def solver_named(name: str) -> Solver:
    """The registry entry of that name; InputError lists the names there are."""
    if name not in SOLVERS:
        raise InputError(Mistake("there is no such solver", ", ".join(SOLVERS), "choose one of them", value=name))
    return SOLVERS[name]


def why_unusable(name: str) -> str:
    """Why the solver of that name cannot run on this machine; empty if it can."""
    if not solver_named(name).opencl:
        return ""
    from reservoir.opencl import why_unavailable

    reason = why_unavailable()
    return f"OpenCL cannot be used: {reason}" if reason else ""


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
