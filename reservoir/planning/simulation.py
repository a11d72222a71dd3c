"""Simulate a record with given releases: what they come to, and where the physical limits change them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.commitments import LEAST, MOST, SIDES, missing_hm3, sides, with_misses
from reservoir.hydro.conditions import KEPT
from reservoir.hydro.horizon_limits import open_limits
from reservoir.hydro.inflow import Inflow, flows_by_date
from reservoir.hydro.limits import without_foresight
from reservoir.hydro.objectives import RECORD, Horizon
from reservoir.hydro.operation import Operation, joined, operate, repaired
from reservoir.hydro.plant import exact_plant
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.hydro.system_operation import SystemOperation, operate_system
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.planning.notes import below_dead_notes, commitment_notes
from reservoir.planning.operated_record import FloatArray, OperatedRecord
from reservoir.planning.operated_system import OperatedSystem
from reservoir.planning.shortfalls import Shortfall, by_kind
from reservoir.planning.solving import FIRST, both_of_system
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import RESERVOIR_SOLVERS, settings_of
from reservoir.text.quantities import counted, quantity

if TYPE_CHECKING:
    import pandas as pd

#: What is beyond a limit by this part of the largest such is so by rounding; of a demand, what is within `KEPT` of it.
_NEGLIGIBLE = 1e-9
#: What the six decimals of a schedule's releases come to in a year, m3/s.
_DIGITS = 1e-5


def releases_of(given: Any, inflow: Inflow, column: str) -> FloatArray:
    """Releases of every step of a record (m3/s), shape (years, steps).

    Parameters
    ----------
    given : ndarray, shape (years, steps) or (years * steps,), or pandas.Series
        A series with dates or periods must have every step of the record; any other is taken in its order.
    inflow : Inflow
    column : str
        The argument that they are, for messages.

    Raises
    ------
    InputError
        If they do not fit the record, are negative or not finite.
    """
    import pandas as pd

    if isinstance(given, pd.Series) and isinstance(given.index, pd.DatetimeIndex | pd.PeriodIndex):
        return flows_by_date(given, inflow.calendar, column)
    shape, size = inflow.flow_m3s.shape, inflow.flow_m3s.size
    try:
        asked = np.array(given, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        expected = f"an array of the shape {shape}, or a pandas.Series"
        mend = "give releases in m3/s"
        raise InputError("is not an array of numbers", expected, mend, column=column) from error
    if asked.shape not in (shape, (size,)):
        expected = f"the shape {shape} (water years x steps) or ({size},)"
        mend = "give one release for each step of the record, or a pandas.Series with dates"
        raise InputError("does not fit the record", expected, mend, column=column, value=asked.shape)
    asked = asked.reshape(shape)
    wrong = np.argwhere(~(np.isfinite(asked) & (asked >= 0)))
    if len(wrong):
        year, step = wrong[0]
        month = f"{inflow.calendar.step_names[step]} of {inflow.labels[year]}"
        problem = f"has {counted(len(wrong), 'release')} that are negative or not finite, first {month}"
        value, mend = float(asked[year, step]), "correct these values"
        raise InputError(problem, "0 m3/s or more", mend, column=column, value=value)
    return asked


def first_positions(
    problems: RecordProblems, initial: OperatedRecord | ArrayLike | pd.Series[float], solver: str
) -> dict[str, list[FloatArray]]:
    """The setting with which a solver begins its search with given releases.

    Parameters
    ----------
    problems : RecordProblems
    initial : Plan, ReleaseSimulation, or releases as of `releases_of`
    solver : str
        A name of `RESERVOIR_SOLVERS`.

    Raises
    ------
    InputError
        If the solver cannot begin with given releases, with the names of those that can; as `releases_of`.
    """
    if FIRST not in settings_of(solver):
        able = ", ".join(name for name in RESERVOIR_SOLVERS if FIRST in settings_of(name))
        raise InputError(
            f"the solver {solver} cannot begin with given releases", able, "choose one of them", column="initial"
        )
    inflow, starts = problems.inflow, None
    if isinstance(initial, OperatedRecord):
        if initial.inflow.labels != inflow.labels:
            value, expected = (f"{each[0]} to {each[-1]}" for each in (initial.inflow.labels, inflow.labels))
            mend = "plan the same years, or give the releases of these years"
            raise InputError("has other years than the record", expected, mend, column="initial", value=value)
        value, expected = (
            f"each {calendar.step.noun} from {MONTH_NAMES[calendar.first_month - 1]} on"
            for calendar in (initial.inflow.calendar, inflow.calendar)
        )
        if value != expected:
            mend = "plan the same steps, or give the releases of these steps"
            raise InputError("has other steps than the record", expected, mend, column="initial", value=value)
        releases, starts = initial.operation.release_m3s, initial.operation.storage_hm3[:, 0]
    else:
        releases = releases_of(initial, inflow, "initial")
    positions = []
    for place, problem in enumerate(problems.each):
        years = np.flatnonzero(problems.of_year == place)
        position = releases[years].ravel()
        if problem.limits.cyclic:
            start = problem.limits.start_bounds_hm3.mean() if starts is None else starts[years[0]]
            position = np.append(position, start)
        positions.append(np.clip(position, problem.lower, problem.upper)[np.newaxis])
    return {FIRST: positions}


# Compared by identity, as the arrays it holds.
@dataclass(frozen=True, eq=False)
class ReleaseSimulation(OperatedRecord):
    """A record operated with given releases, with the tables and arrays of a plan.

    Parameters
    ----------
    reservoir : Reservoir
    inflow : Inflow
    horizon : Horizon
        Years through which storage is carried over; each horizon starts with the same storage.
    operation : Operation
        What the releases of each year come to.
    asked_m3s : ndarray, shape (years, steps)
        The given releases.
    repaired : ndarray of bool, shape (years, steps)
        Where the physical limits changed them.
    notes : tuple of str
        What the user should know, such as the number of repairs.
    """

    reservoir: Reservoir
    inflow: Inflow
    horizon: Horizon
    operation: Operation
    asked_m3s: FloatArray
    repaired: NDArray[np.bool_]
    notes: tuple[str, ...]
    step_table, year_table = "given_steps", "given_years"

    def __repr__(self) -> str:
        years, energy = counted(self.inflow.years, "year"), quantity(float(self.energy_gwh.sum()))
        repairs = counted(self.repairs, "repair")
        return f"<Simulation of {self.reservoir.name}: {energy} GWh in {years}, {repairs}, horizon {self.horizon}>"

    @property
    def repairs(self) -> int:
        """Steps in which the physical limits changed the given release."""
        return int(self.repaired.sum())


@overload
def simulate(
    reservoir: Reservoir,
    inflow: Inflow,
    release: ArrayLike | pd.Series[float],
    *,
    horizon: Horizon | str | int = ...,
    start_hm3: float | None = ...,
) -> ReleaseSimulation: ...


@overload
def simulate(
    reservoir: System,
    inflow: SiteInflows,
    release: Mapping[str, Any],
    *,
    horizon: Horizon | str | int = ...,
    start_hm3: Mapping[str, ArrayLike] | None = ...,
) -> SystemSimulation: ...


def simulate(
    reservoir: Reservoir | System,
    inflow: Inflow | SiteInflows,
    release: Any,
    *,
    horizon: Horizon | str | int = RECORD,
    start_hm3: Any = None,
) -> ReleaseSimulation | SystemSimulation:
    """Operate a record with given releases, step by step.

    A release that would take the storage of its step's end beyond its bounds, or that is beyond its own, is changed by
    no more than needed, and counted as a repair. Later steps are not looked at, and no end storage is prescribed.

    Parameters
    ----------
    reservoir : Reservoir or System
        A system is simulated by `simulate_system`: releases and starts are then by the names of the reservoirs.
    inflow : Inflow or SiteInflows
        Its water years begin in the reservoir's first month.
    release : ndarray, shape (years, steps) or (years * steps,), or pandas.Series
        Releases asked for (m3/s). A series with dates or periods must have every step of the record, and may have
        more; any other series is taken in its order, as an array.
    horizon : Horizon, str or int
        Years through which the storage is carried over: ``"record"``, ``"year"``, or a number of them. Each horizon
        starts with the same storage.
    start_hm3 : float, optional
        That storage; by default the reservoir's initial storage.

    Returns
    -------
    ReleaseSimulation

    Raises
    ------
    InputError
        If reservoir and record do not fit each other, the releases do not fit the record, are negative or not finite,
        the horizon is not known, or there is no storage to start with.
    """
    if isinstance(reservoir, System) or isinstance(inflow, SiteInflows):
        both = both_of_system(reservoir, inflow)
        return simulate_system(*both, release, horizon=horizon, starts_hm3=start_hm3)
    system = System.of(reservoir)
    inflow = system.on_calendar(inflow)
    asked, spans = releases_of(release, inflow, "release"), Horizon.of(horizon).within(inflow.calendar)
    start = float(_start(reservoir, start_hm3))
    limits, plant, runs = open_limits(system, inflow), exact_plant(reservoir), []
    for first, stop, length in spans.equal_spans(inflow.years):
        problems = limits[first:stop].joined(length)
        years = without_foresight(problems, np.full(len(problems), start))
        wanted = asked[first:stop].reshape(len(problems), -1)
        runs.append(operate(plant, years, wanted).in_years(inflow.steps))
    operation = with_misses(reservoir, joined(runs), inflow.calendar.hm3_per_m3s)
    moved = repaired(reservoir, operation, asked)
    notes = (*inflow.notes, *reservoir.notes, *below_dead_notes(reservoir, inflow, operation))
    notes = (*notes, *commitment_notes(reservoir, operation, inflow))
    if moved.any():
        steps = counted(int(moved.sum()), inflow.calendar.step.noun)
        notes = (*notes, f"The physical limits changed the given release in {steps} of {moved.size}.")
    return ReleaseSimulation(reservoir, inflow, spans, operation, asked, moved, notes)


def _start(reservoir: Reservoir, start_hm3: ArrayLike | None) -> Any:
    """The storage at the start, or those of years, shape (years,)."""
    given = reservoir.initial_storage_hm3 if start_hm3 is None else start_hm3
    if given is None:
        problem = f"the reservoir has no initial storage (its year_end is {reservoir.year_end.value})"
        raise InputError(problem, "a storage in hm3", "give start_hm3", column="start_hm3")
    start, (lower, upper) = np.asarray(given, np.float64), reservoir.level.domain
    wrong = start[~((lower <= start) & (start <= upper))]
    if wrong.size:
        expected, mend = f"{lower:,.6g} to {upper:,.6g} hm3, the range of the level curve", "give another start_hm3"
        raise InputError("is outside the level curve", expected, mend, column="start_hm3", value=float(wrong.flat[0]))
    return start


@dataclass(frozen=True, eq=False)
class SystemSimulation(OperatedSystem):
    """A system operated with given releases, with the tables and arrays of a joint plan.

    Parameters
    ----------
    system : System
    inflows : SiteInflows
    horizon : Horizon
        Years through which storage is carried over.
    operation : SystemOperation
    asked_m3s : ndarray, shape (years, reservoirs, steps)
        The given releases.
    notes : tuple of str
        What the user should know, such as the number of repairs of each reservoir.
    units : UnitSystem
        In which files and sentences show results.
    """

    system: System
    inflows: SiteInflows
    horizon: Horizon
    operation: SystemOperation
    asked_m3s: FloatArray
    notes: tuple[str, ...]
    units: UnitSystem = SI
    year_table = "simulated_system_years"

    def __repr__(self) -> str:
        years, energy = counted(self.inflow.years, "year"), quantity(float(self.energy_gwh.sum()))
        return f"<SystemSimulation of {self.system.name}: {energy} GWh in {years}, horizon {self.horizon}>"

    def shortfalls(self) -> list[str]:
        """What limits and demands are not kept, by reservoir and kind: how many steps, which, and the worst."""
        return by_kind(self._shortfalls(), self.inflow)

    def _shortfalls(self) -> Iterator[Shortfall]:
        for name, site in self.sites.items():
            own, limits = site.operation, open_limits(System.of(site.reservoir), self.inflows[name])
            ends, lower = own.storage_hm3[:, 1:], limits.storage_lower_hm3
            change = np.diff(own.release_m3s.ravel(), prepend=0.0).reshape(ends.shape)
            change[[first for first, _ in self.horizon.spans(len(ends))], 0] = 0.0
            rises, falls = (limits.ramp_up_m3s, limits.ramp_down_m3s) if limits.ramps else (np.inf, np.inf)
            of_years = {side: np.zeros_like(ends) for side in SIDES}
            for side in sides(site.reservoir):
                of_years[side][:, -1:] = missing_hm3(site.reservoir, own, self.inflow.calendar.hm3_per_m3s, side)
            power = limits.power_demanded_mw if limits.demands_power else np.zeros_like(ends)
            withdrawal = limits.withdrawal_m3s if limits.lake else np.zeros_like(ends)
            rise, fall = (np.broadcast_to(most, len(ends))[:, np.newaxis] for most in (rises, falls))
            none = np.zeros_like(ends)
            beyond = {  # by what, its unit, and the demand
                "storage above its upper limit": (ends - limits.storage_upper_hm3, "hm3", none),
                "storage below its lower limit": (lower - ends, "hm3", none),
                "less than the minimum release": (own.missing_m3s, "m3/s", none),
                "less than the withdrawal": (own.shortage_m3s, "m3/s", withdrawal),
                "less than the annual release": (of_years[LEAST], "hm3", none),
                "more than the largest annual release": (of_years[MOST], "hm3", none),
                "less than the lowest power": (power - own.power_mw, "MW", power),
                "release rises too fast": (change - rise, "m3/s", rise),
                "release falls too fast": (-change - fall, "m3/s", fall),
            }
            for kind, (by, unit, demand) in beyond.items():
                rounding = _NEGLIGIBLE * np.abs(by[np.isfinite(by)]).max(initial=1.0)
                for year, step in np.argwhere(by > np.maximum(rounding, float(KEPT) * demand)).tolist():
                    amount = float(by[year, step])
                    stated = f"{amount:,.4g} MW" if unit == "MW" else self.units.stated(amount, unit, ",.4g")
                    yield Shortfall(year, step, f"{name}: {kind}", amount, f"{name}: {kind} by {stated}")


def simulate_system(
    system: System,
    inflows: SiteInflows,
    releases: Mapping[str, ArrayLike | pd.Series[float]],
    *,
    horizon: Horizon | str | int = RECORD,
    starts_hm3: Mapping[str, ArrayLike] | None = None,
    said: str = "given release",
) -> SystemSimulation:
    """Operate a record of several sites with given releases; each reservoir as `simulate` does, with what links bring.

    Parameters
    ----------
    system : System
    inflows : SiteInflows
    releases : mapping of str to array
        Of each reservoir by its name, as of `simulate`; a run-of-river plant releases what flows in.
    horizon : Horizon, str or int
        Years through which the storage is carried over.
    starts_hm3 : mapping of str to float or ndarray, shape (years,), optional
        Storages at the start of each horizon, or of each year, of which those count with which horizons begin; by
        default the reservoirs' initial storages.
    said : str
        What a release is called where limits change it.

    Raises
    ------
    InputError
        As `simulate`; if the releases of a reservoir are missing.
    """
    inflows = SiteInflows({name: system.on_calendar(inflows[name]) for name in system.names})
    system, spans = system.under_way(list(inflows.values())), Horizon.of(horizon).within(inflows.calendar)
    unsaid = [each.name for each in system.reservoirs if not each.is_run_of_river and each.name not in releases]
    if unsaid:
        expected = f"releases of {', '.join(system.names)}"
        raise InputError(f"has no releases of {', '.join(unsaid)}", expected, column="releases")
    zeros = np.zeros((inflows.years, inflows.steps))
    asked = {name: releases_of(releases.get(name, zeros), inflows[name], name) for name in system.names}
    opened, runs = [], []
    for place, (reservoir, inflow) in enumerate(zip(system.reservoirs, inflows.values(), strict=True)):
        conditions = system.backed_up_by(place) is not None
        start = np.broadcast_to(_start(reservoir, (starts_hm3 or {}).get(reservoir.name)), inflows.years)
        opened.append((exact_plant(reservoir), open_limits(System.of(reservoir), inflow, conditions=conditions), start))
    for first, stop, length in spans.equal_spans(inflows.years):

        def run(place: int, arriving_m3s: FloatArray | None, tailwater_m: FloatArray | None) -> Operation:
            plant, limits, starts = opened[place]
            limits = limits[first:stop].joined(length)  # noqa: B023 # called in this turn of the loop alone
            limits = limits.linked(arriving_m3s, tailwater_m)
            wanted = asked[system.names[place]][first:stop].reshape(len(limits), -1)  # noqa: B023
            return operate(plant, without_foresight(limits, starts[first:stop:length]), wanted)  # noqa: B023

        volume = opened[0][1][first:stop].joined(length).hm3_per_m3s
        runs.append(operate_system(system, volume, run).in_years(inflows.steps))
    of_all, volumes = joined(runs), inflows.first.calendar.hm3_per_m3s
    of_each = zip(system.reservoirs, of_all.of_reservoirs, strict=True)
    operation = replace(of_all, of_reservoirs=tuple(with_misses(*each, volumes) for each in of_each))
    stacked = np.stack([asked[name] for name in system.names], axis=1)
    notes = [*inflows.notes, *(f"{each.name}: {note}" for each in system.reservoirs for note in each.notes)]
    for place, reservoir in enumerate(system.reservoirs):
        own = operation.of_reservoirs[place]
        notes += commitment_notes(reservoir, own, inflows.first, f"{reservoir.name}: ")
        moved = repaired(reservoir, own, stacked[:, place]) & (np.abs(own.release_m3s - stacked[:, place]) > _DIGITS)
        if moved.any() and not reservoir.is_run_of_river:
            steps = counted(int(moved.sum()), inflows.calendar.step.noun)
            notes.append(f"{reservoir.name}: the physical limits changed the {said} in {steps} of {moved.size}.")
    return SystemSimulation(system, inflows, spans, operation, stacked, tuple(notes))
