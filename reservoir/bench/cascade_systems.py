"""Systems with known answers: linear instances from the literature, and the dams of the Lancang in chosen years.

The data of linear instances is in ``data/bench/cascade.toml``. A reservoir there holds and releases units a month, here
m3/s and their volumes of 30 days. Its head is constant, so that 1 m3/s is 1 MW, and its prices are what the instance
pays for a unit: the revenue is the instance's objective.
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from typing import Any

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


def _by_month(rows: Any) -> FloatArray:
    """Rows of twelve, of which one number stands for all of a row, shape (reservoirs, 12)."""
    return np.array([np.broadcast_to(row, MONTHS_PER_YEAR) for row in rows], float)


def linear_names(name: str) -> list[str]:
    """Names of the reservoirs of an instance, in the order of its data."""
    return [f"r{place + 1:02}" for place in range(len(bundled("cascade")["linear"][name]["below"]))]


def linear_system(name: str) -> tuple[System, SiteInflows]:
    """An instance of the paper's file as a system of the program, with a year of inflow and prices."""
    data, names = bundled("cascade")["linear"][name], linear_names(name)
    calendar = Calendar(2001, 1, kind=CalendarKind.EQUAL_MONTHS)
    volume = float(calendar.hm3_per_m3s[0, 0])
    hours = 1e6 * volume / 3600
    lower, upper = (volume * _by_month(data[key]) for key in ("least_storage", "most_storage"))
    least, most = (np.array(data[key], float) for key in ("least_release", "most_release"))
    paid = Objective({Goal.REVENUE: 1.0}, price_per_mwh=np.ones(MONTHS_PER_YEAR), currency="units")
    reservoirs = [
        Reservoir(
            name=names[place],
            level=constant(_HEAD_M, (0.0, float(upper[place].max()))),
            tailrace=constant(0.0, (0.0, most[place])),
            conversion=constant(_COEFFICIENT, (0.0, 2 * _HEAD_M)),
            conversion_kind=ConversionKind.COEFFICIENT,
            capacity_m3s=constant(most[place], (0.0, 2 * _HEAD_M)),
            installed_mw=most[place],
            storage_lower_hm3=lower[place],
            storage_upper_hm3=upper[place],
            release_lower_m3s=np.full(MONTHS_PER_YEAR, least[place]),
            release_upper_m3s=np.full(MONTHS_PER_YEAR, most[place]),
            initial_storage_hm3=volume * data["start"][place],
            final_storage_hm3=volume * data["end"][place],
            year_end=YearEnd.FIXED,
            penalty=_PENALTY,
            objective=paid,
            calendar=CalendarKind.EQUAL_MONTHS,
        )
        for place in range(len(names))
    ]
    prices = 1e6 * _by_month(data["benefit"]) / hours  # revenue is in millions
    flows = _by_month(data["inflow"])
    inflows = {
        each: Inflow(flow[None], calendar, price_per_mwh=price[None])
        for each, flow, price in zip(names, flows, prices, strict=True)
    }
    links = [Link(source, names[below - 1]) for source, below in zip(names, data["below"], strict=True) if below]
    return System(tuple(reservoirs), tuple(links), objective=paid, penalty=_PENALTY, name=name), SiteInflows(inflows)


def linear_optimum(name: str) -> float:
    """The optimum of an instance's linear program, written from its data alone and solved by SciPy's HiGHS."""
    from scipy.optimize import linprog

    data = bundled("cascade")["linear"][name]
    count, steps = len(data["below"]), MONTHS_PER_YEAR
    lower, upper, flow, benefit = (
        _by_month(data[key]) for key in ("least_storage", "most_storage", "inflow", "benefit")
    )
    lower[:, -1] = upper[:, -1] = data["end"]
    balance, inflow = np.zeros((count * steps, 2 * count * steps)), flow.copy()
    inflow[:, 0] += data["start"]
    for place, step in np.ndindex(count, steps):
        row, release = place * steps + step, count * steps  # storages at ends of steps, then releases
        balance[row, row], balance[row, release + row] = 1.0, 1.0
        if step:
            balance[row, row - 1] = -1.0
        if below := data["below"][place]:
            balance[(below - 1) * steps + step, release + row] = -1.0
    most = np.stack([np.repeat(data[key], steps) for key in ("least_release", "most_release")], axis=1)
    bounds = np.concatenate([np.stack([lower.ravel(), upper.ravel()], axis=1), most])
    cost = np.concatenate([np.zeros(count * steps), -benefit.ravel()])
    found = linprog(cost, A_eq=balance, b_eq=inflow.ravel(), bounds=bounds.tolist(), method="highs")
    return float(-cost @ found.x)


def pypsa_optimum(name: str) -> float:
    """The same by PyPSA: a bus, a store and a river a reservoir, and links that are paid for what they pass."""
    import pypsa

    logging.getLogger("linopy").setLevel(logging.ERROR)
    logging.getLogger("pypsa").setLevel(logging.ERROR)
    data, names = bundled("cascade")["linear"][name], linear_names(name)
    lower, upper, flow, benefit = (
        _by_month(data[key]) for key in ("least_storage", "most_storage", "inflow", "benefit")
    )
    lower[:, -1] = upper[:, -1] = data["end"]
    network = pypsa.Network()
    network.set_snapshots(range(MONTHS_PER_YEAR))
    network.add("Bus", [*names, "sea"])
    for place, each in enumerate(names):
        size = float(upper[place].max())
        bounds = {"e_min_pu": lower[place] / size, "e_max_pu": upper[place] / size}
        network.add("Store", f"lake {each}", bus=each, e_nom=size, e_initial=data["start"][place], **bounds)
        network.add("Load", f"river {each}", bus=each, p_set=-flow[place])
        below, most = data["below"][place], float(data["most_release"][place])
        network.add(
            "Link",
            f"plant {each}",
            bus0=each,
            bus1=names[below - 1] if below else "sea",
            p_nom=most,
            p_min_pu=data["least_release"][place] / most,
            marginal_cost=-benefit[place],
        )
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
