"""Small systems of the invented reservoir: a river, a confluence, and random ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.system import SystemYears, system_problems


def ended(reservoir: Reservoir, end: YearEnd) -> Reservoir:
    """With another year end."""
    storages: dict[str, Any] = {"initial_storage_hm3": 100.0, "final_storage_hm3": None}
    if end is YearEnd.FIXED:
        storages["final_storage_hm3"] = 100.0
    if end is YearEnd.CYCLIC:
        storages["initial_storage_hm3"] = None
    value = 0.02 if end is YearEnd.VALUED else None
    return replace(reservoir, year_end=end, end_value_gwh_per_hm3=value, **storages)


def problems_of_system(
    small: Reservoir,
    links: list[Link],
    names: str,
    end: YearEnd = YearEnd.FIXED,
    horizon: Horizon | None = None,
    years: int = 2,
    **shared: Any,
) -> RecordProblems:
    """Horizons of a system of reservoirs like the invented one, a letter each, with a part of its inflow."""
    months = np.array([55, 80, 75, 50, 35, 25, 18, 14, 12, 16, 24, 38], float)
    calendar = Calendar(1955, years, first_month=6)
    parts = np.linspace(0.5, 0.9, years)
    given = tuple(replace(ended(small, end), name=name) for name in names)
    inflows = {
        name: Inflow(np.outer(parts * (1.0 if place == 0 else 0.5), months), calendar)
        for place, name in enumerate(names)
    }
    system = System(given, tuple(links), **shared)
    return system_problems(system, SiteInflows(inflows), horizon or Horizon())


def system_years(small: Reservoir, links: list[Link], names: str, *about: Any, **more: Any) -> SystemYears:
    """Those of the length of the first."""
    return problems_of_system(small, links, names, *about, **more).batches[0]


def random_links(names: str, rng: np.random.Generator) -> list[Link]:
    """A tree to the last reservoir, with delays and losses, in part in two shares."""
    links = []
    for place, name in enumerate(names[:-1]):
        target = names[rng.integers(place + 1, len(names))]
        more = {"travel_steps": float(rng.choice([0.0, 0.3, 1.0])), "lost_share": float(rng.choice([0.0, 0.05]))}
        if rng.random() < 0.3:
            links += [Link(name, target, carries=0.7, **more), Link(name, names[-1], carries=0.3)]
        else:
            links.append(Link(name, target, **more))
    return links


def best_of_random(batch: SystemYears, seed: int, tried: int) -> np.ndarray:
    """The best fitness of each year among random positions."""
    rng = np.random.default_rng(seed)
    found = [batch.certify(rng.random((len(batch), batch.dimension))).fitness for _ in range(tried)]
    return np.max(found, axis=0)
