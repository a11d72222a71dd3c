"""Systems of two to six reservoirs with links of every kind, their inflows, and three dams of a real river."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from reservoir.hydro.attributes import ConversionKind, YearEnd
from reservoir.hydro.calendar import Calendar, CalendarKind, TimeStep
from reservoir.hydro.curves.curve import Curve, Polynomial, PowerLaw, Table, constant
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Carried, Link, System
from tests.hydro.random_reservoirs import random_reservoir

#: What random systems may have besides links.
PARTS = ("plain", "losses", "demands", "ramps", "terms", "backwater")


def random_system(seed: int, part: str = "plain", step: TimeStep = TimeStep.MONTH) -> tuple[System, SiteInflows]:
    """One of them, and two years."""
    random = np.random.default_rng([seed, PARTS.index(part), step.per_year])
    count = int(random.integers(2, 7))
    reservoirs: list[Reservoir] = []
    for place in range(count):
        above = float(reservoirs[-1].release_upper_m3s.max()) if reservoirs else 0.0
        reservoirs.append(_placed(random, seed, place, part, above))
    links = [link for place in range(count - 1) for link in _links(random, reservoirs, place, part == "backwater")]
    objective = None
    if part == "terms":
        most = sum(each.installed_mw for each in reservoirs)
        targets = random.uniform(0.1, 0.5, 12) * most, random.uniform(100, 600, 12)
        weights = {Goal.ENERGY: 1.0, Goal.POWER_SHORTAGE: 500.0, Goal.SUPPLY_SHORTAGE: 300.0, Goal.UNUSED_CAPACITY: 5.0}
        objective = Objective(weights, power_target_mw=targets[0], supply_target_m3s=targets[1])
    system = System(tuple(reservoirs), tuple(links), objective=objective, step=step, name=f"system {seed}")
    calendar = Calendar(2001, 2, step=step)
    season = 1 + 0.8 * np.sin(np.arange(step.per_year) / step.per_year * 2 * np.pi + random.uniform(0, 6))
    flows = {
        each.name: random_reservoir(100 * seed + place).release_upper_m3s.mean()
        * random.uniform(0.1, 0.5)
        * season
        * random.uniform(0.6, 1.4, (2, 1))
        for place, each in enumerate(reservoirs)
    }
    return system, SiteInflows({name: Inflow(flow, calendar) for name, flow in flows.items()})


def _placed(random: np.random.Generator, seed: int, place: int, part: str, above_m3s: float) -> Reservoir:
    """A random reservoir, each some way below the one before it, that can release what those above do."""
    own = random_reservoir(100 * seed + place)
    most = own.release_upper_m3s + above_m3s
    fall = 110.0 * place
    full = float(own.storage_upper_hm3.max())
    changed: dict[str, object] = {
        "name": f"r{place}",
        "level": _lowered(own.level, fall),
        "tailrace": PowerLaw(240.0 - fall, 10 / float(most.max()) ** 0.6, 0.0, 0.6, (0.0, 1.5 * float(most.max()))),
        "release_upper_m3s": most,
    }
    kind = list(YearEnd)[int(random.integers(0, 4))]
    end = float(max(own.storage_lower_hm3[-1], min(own.storage_upper_hm3[-1], 0.5 * full)))
    changed |= {"year_end": kind, "initial_storage_hm3": None if kind is YearEnd.CYCLIC else end}
    changed |= {"final_storage_hm3": end if kind is YearEnd.FIXED else None}
    if kind is YearEnd.VALUED:
        changed["end_value_gwh_per_hm3"] = 0.05
    if random.random() < 0.15 and kind is not YearEnd.VALUED:  # a run-of-river plant
        changed |= {"storage_lower_hm3": np.full(12, end), "storage_upper_hm3": np.full(12, end)}
        changed |= {"year_end": YearEnd.FREE, "initial_storage_hm3": end, "final_storage_hm3": None}
        changed |= {"release_lower_m3s": np.zeros(12), "release_upper_m3s": 1.5 * most}
    if part == "losses":
        changed["evaporation_mm"] = random.uniform(-20, 150, 12)
        changed["area_km2"] = Polynomial((1.0, 0.02), (0.0, 2 * full))
        if random.random() < 0.5:
            changed["seepage_m3s"] = Polynomial((0.1, 3.0 / full), (0.0, 2 * full))
    if part == "demands" and kind is not YearEnd.VALUED:
        changed["withdrawal_m3s"] = random.uniform(0, 0.05, 12) * own.release_upper_m3s
        changed["release_lower_m3s"] = own.release_lower_m3s * 0.3
        changed["plant_factor"] = random.uniform(0.7, 1.0, 12)
    if part == "ramps":
        changed |= dict.fromkeys(("ramp_up_m3s", "ramp_down_m3s"), 0.3 * float(own.release_upper_m3s.mean()))
    return replace(own, **changed)  # type: ignore[arg-type]


def _lowered(level: Curve, fall: float) -> Curve:
    if isinstance(level, Table):
        return Table(level.x, tuple(y - fall for y in level.y))
    assert isinstance(level, Polynomial)
    return replace(level, coefficients=(level.coefficients[0] - fall, *level.coefficients[1:]))


def _links(random: np.random.Generator, reservoirs: list[Reservoir], place: int, backwater: bool) -> list[Link]:
    source, below = reservoirs[place].name, [each.name for each in reservoirs[place + 1 :]]
    target = str(random.choice(below[:2]))
    further: dict[str, float] = {
        "travel_steps": float(random.choice([0.0, 0.02, 0.5, 1.0, 1.3, 2.0])),
        "lost_share": float(random.choice([0.0, 0.05])),
        "lost_m3s": float(random.choice([0.0, 2.0])),
    }
    kind = int(random.integers(0, 4))
    if kind == 1 and not backwater:
        other = Link(source, str(random.choice(below)), Carried.SPILLED) if random.random() < 0.5 else None
        return [Link(source, target, Carried.TURBINED, **further), *([other] if other else [])]
    if kind == 2:
        return [Link(source, target, 0.6, **further, backwater=backwater), Link(source, below[-1], 0.3)]
    return [Link(source, target, **further, backwater=backwater)]


#: Capacity (MW), normal and dead level (m), full, dead and flood storage (hm3), exponent of the level, tailrace (m),
#: turbines (m3/s), coefficient: public figures of dams on the Lancang, levels in part estimated; and local inflow of
#: a normal year, synthetic.
_DAMS = {
    "xiaowan": (4200, 1240, 1166, 14557, 4662, 13808, 0.35, 986, 2160, 8.85),
    "manwan": (1670, 994, 988, 502, 245, 502, 0.4, 902, 2200, 8.5),
    "nuozhadu": (5850, 812, 765, 21749, 10414, 19464, 0.4, 600, 3500, 8.7),
}
_INFLOW = {
    "xiaowan": (525.0, 459.0, 544.0, 711.0, 919.0, 1483.0, 2393.0, 2429.0, 1495.0, 1570.0, 991.0, 640.0),
    "manwan": (9.9, 7.0, 6.7, 9.3, 16.3, 35.4, 53.8, 46.0, 30.3, 30.3, 19.5, 12.9),
    "nuozhadu": (179.2, 143.6, 150.5, 172.3, 380.7, 518.7, 843.9, 874.8, 793.2, 643.8, 456.4, 210.8),
}


def dams(names: tuple[str, ...]) -> tuple[System, SiteInflows]:
    """A chain of them in a normal year; what is left out has its inflow join the next."""
    reservoirs, inflows, waiting = [], {}, np.zeros(12)
    calendar = Calendar(1976, 1, kind=CalendarKind.MEAN_MONTHS)
    for name, (mw, normal, dead_m, full, dead, flood, exponent, tail, turbines, coefficient) in _DAMS.items():
        waiting = waiting + _INFLOW[name]
        if name not in names:
            continue
        inflows[name], waiting = Inflow(waiting[np.newaxis], calendar), np.zeros(12)
        factor = (normal - dead_m) / (full**exponent - dead**exponent)
        upper = np.full(12, float(full))
        upper[5:9] = flood
        reservoirs.append(
            Reservoir(
                name=name,
                level=PowerLaw(normal - factor * full**exponent, factor, 0.0, exponent, (dead, full)),
                tailrace=PowerLaw(tail, 0.0709, 0.0, 0.636, (300.0, 8000.0)),
                conversion=constant(coefficient, (0, 400)),
                conversion_kind=ConversionKind.COEFFICIENT,
                capacity_m3s=constant(turbines, (0, 400)),
                installed_mw=mw,
                storage_lower_hm3=np.full(12, float(dead)),
                storage_upper_hm3=upper,
                release_lower_m3s=np.full(12, 300.0),
                release_upper_m3s=np.full(12, 8000.0),
                initial_storage_hm3=full,
                final_storage_hm3=full,
                year_end=YearEnd.FIXED,
                penalty=1e5,
                calendar=CalendarKind.MEAN_MONTHS,
            )
        )
    links = tuple(Link(one.name, other.name) for one, other in pairwise(reservoirs))
    return System(tuple(reservoirs), links), SiteInflows(inflows)
