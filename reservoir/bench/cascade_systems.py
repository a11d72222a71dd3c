"""Systems with known answers: linear instances from the literature, and the dams of the Lancang in chosen years.

The data of linear instances is in ``data/bench/cascade.toml``. A reservoir there holds and releases units a month, here
m3/s and their volumes of 30 days. Its head is constant, so that 1 m3/s is 1 MW, and its prices are what the instance
pays for a unit: the revenue is the instance's objective.
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.bench.experiment import bundled
from reservoir.cases import bundled_case
from reservoir.hydro.attributes import ConversionKind, YearEnd
from reservoir.hydro.calendar import MONTHS_PER_YEAR, Calendar, CalendarKind
from reservoir.hydro.curves.curve import constant
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System

FloatArray = NDArray[np.float64]
#: 8 kW for a m3/s and a metre, and 125 m of head.
_COEFFICIENT, _HEAD_M = 8.0, 125.0
#: Cost of a relative violation of 1: more than any instance is worth.
_PENALTY = 1e4


class LinearInstance(NamedTuple):
    """An instance of the paper's file: of each reservoir its name and the place of the one below, -1 for none.

    Storages and releases are in units and units a month, rows of shape (reservoirs, 12); the end is among the bounds.
    """

    names: list[str]
    below: list[int]
    start: list[float]
    end: list[float]
    least_release: list[float]
    most_release: list[float]
    inflow: FloatArray
    benefit: FloatArray
    least_storage: FloatArray
    most_storage: FloatArray

    @classmethod
    def of(cls, name: str) -> LinearInstance:
        """The instance of that name; one number stands for a row of twelve."""
        data = bundled("cascade")["linear"][name]["data"]
        names = [f"r{place + 1:02}" for place in range(len(data["below"]))]
        lists = [[float(each) for each in data[key]] for key in cls._fields[2:6]]
        years = [[np.broadcast_to(row, MONTHS_PER_YEAR) for row in data[key]] for key in cls._fields[6:]]
        rows = [np.array(each, float) for each in years]
        for bound in rows[2:]:
            bound[:, -1] = lists[1]
        return cls(names, [below - 1 for below in data["below"]], *lists, *rows)  # type: ignore[arg-type]


def linear_system(name: str) -> tuple[System, SiteInflows]:
    """An instance of the paper's file as a system of the program, with a year of inflow and prices."""
    given, calendar = LinearInstance.of(name), Calendar(2001, 1, kind=CalendarKind.EQUAL_MONTHS)
    volume = float(calendar.hm3_per_m3s[0, 0])
    lower, upper, most = volume * given.least_storage, volume * given.most_storage, given.most_release
    paid = Objective({Goal.REVENUE: 1.0}, price_per_mwh=np.ones(MONTHS_PER_YEAR), currency="units")
    reservoirs = [
        Reservoir(
            name=given.names[place],
            level=constant(_HEAD_M, (0.0, float(upper[place].max()))),
            tailrace=constant(0.0, (0.0, most[place])),
            conversion=constant(_COEFFICIENT, (0.0, 2 * _HEAD_M)),
            conversion_kind=ConversionKind.COEFFICIENT,
            capacity_m3s=constant(most[place], (0.0, 2 * _HEAD_M)),
            installed_mw=most[place],
            storage_lower_hm3=lower[place],
            storage_upper_hm3=upper[place],
            release_lower_m3s=np.full(MONTHS_PER_YEAR, given.least_release[place]),
            release_upper_m3s=np.full(MONTHS_PER_YEAR, most[place]),
            initial_storage_hm3=volume * given.start[place],
            final_storage_hm3=volume * given.end[place],
            year_end=YearEnd.FIXED,
            penalty=_PENALTY,
            objective=paid,
            calendar=CalendarKind.EQUAL_MONTHS,
        )
        for place in range(len(given.names))
    ]
    prices = given.benefit * 3600 / volume  # of a MWh: revenue is in millions, and volumes are in millions of m3
    inflows = {
        each: Inflow(flow[None], calendar, price_per_mwh=price[None])
        for each, flow, price in zip(given.names, given.inflow, prices, strict=True)
    }
    pairs = zip(given.names, given.below, strict=True)
    links = [Link(source, given.names[below]) for source, below in pairs if below >= 0]
    return System(tuple(reservoirs), tuple(links), objective=paid, penalty=_PENALTY, name=name), SiteInflows(inflows)


def linear_optimum(name: str) -> float:
    """The optimum of an instance's linear program, written from its data alone and solved by SciPy's HiGHS."""
    from scipy.optimize import linprog

    given, steps = LinearInstance.of(name), MONTHS_PER_YEAR
    count = len(given.names)
    balance, inflow = np.zeros((count * steps, 2 * count * steps)), given.inflow.copy()
    inflow[:, 0] += given.start
    for place, step in np.ndindex(count, steps):
        row, release = place * steps + step, count * steps  # storages at ends of steps, then releases
        balance[row, row], balance[row, release + row] = 1.0, 1.0
        if step:
            balance[row, row - 1] = -1.0
        if given.below[place] >= 0:
            balance[given.below[place] * steps + step, release + row] = -1.0
    storages = given.least_storage.ravel(), given.most_storage.ravel()
    releases = np.repeat(given.least_release, steps), np.repeat(given.most_release, steps)
    bounds = np.concatenate([np.stack(storages, axis=1), np.stack(releases, axis=1)])
    cost = np.concatenate([np.zeros(count * steps), -given.benefit.ravel()])
    found = linprog(cost, A_eq=balance, b_eq=inflow.ravel(), bounds=bounds.tolist(), method="highs")
    return float(-cost @ found.x)


def pypsa_optimum(name: str) -> float:
    """The same by PyPSA: a bus, a store and a river a reservoir, and links that are paid for what they pass."""
    import pypsa

    logging.getLogger("linopy").setLevel(logging.ERROR)
    logging.getLogger("pypsa").setLevel(logging.ERROR)
    given = LinearInstance.of(name)
    network = pypsa.Network()
    network.set_snapshots(range(MONTHS_PER_YEAR))
    network.add("Bus", [*given.names, "sea"])
    for place, each in enumerate(given.names):
        lower, upper, most = given.least_storage[place], given.most_storage[place], given.most_release[place]
        size, below = float(upper.max()), given.below[place]
        bounds = {"e_min_pu": lower / size, "e_max_pu": upper / size}
        network.add("Store", f"lake {each}", bus=each, e_nom=size, e_initial=given.start[place], **bounds)
        network.add("Load", f"river {each}", bus=each, p_set=-given.inflow[place])
        ends = {"bus0": each, "bus1": given.names[below] if below >= 0 else "sea"}
        paid = {"p_min_pu": given.least_release[place] / most, "marginal_cost": -given.benefit[place]}
        network.add("Link", f"plant {each}", p_nom=most, **ends, **paid)
    network.add("Generator", "into the sea", bus="sea", p_nom=1e6, sign=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        status, _ = network.optimize(solver_name="highs", log_to_console=False)
    if status != "ok":
        raise RuntimeError(status)
    return -float(network.objective)


def lancang(case: str, year: int | None = None, *, backwater: bool = False) -> tuple[System, SiteInflows]:
    """A bundled case of several dams in one of its years, or all; with the level of each lake in the head above it."""
    from reservoir.io.records.sites import read_system_inflow
    from reservoir.io.system_file import read_system

    files = bundled_case(case)
    system = read_system(files.reservoir_file)
    inflows = read_system_inflow(system, files.inflow_file)
    if backwater:
        system = replace(system, links=tuple(replace(link, backwater=True) for link in system.links))
    if year is None:
        return system, inflows
    place = [int(str(label)[:4]) for label in inflows.labels].index(year)
    return system, inflows.span(place, place + 1)
