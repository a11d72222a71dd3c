"""The zoo: random reservoirs with their records, on which engines are tuned and judged; the same ones for a seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.attributes import ConversionKind, Counted, YearEnd
from reservoir.hydro.calendar import HM3_PER_YEAR_AND_M3S, HOURS_PER_YEAR, MONTHS_PER_YEAR, Calendar
from reservoir.hydro.curves.curve import Curve, PowerLaw, Table
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Carried, Link, System

FloatArray = NDArray[np.float64]


class Regime(StrEnum):
    """How the inflow of a river varies within a year."""

    SNOW = "snow"
    """Most of the water comes as snow melts, in two or three months; years differ little."""
    MONSOON = "monsoon"
    """A wet season of four months."""
    ARID = "arid"
    """Floods of a few weeks in some years, next to nothing between them."""


class Start(StrEnum):
    """How full a reservoir is when a horizon begins."""

    EMPTY = "near empty"
    HALF = "half full"
    FULL = "near full"


#: Parts of the active storage that are in store at each start.
_FILLED = {Start.EMPTY: (0.0, 0.1), Start.HALF: (0.3, 0.7), Start.FULL: (0.9, 1.0)}


@dataclass(frozen=True)
class Traits:
    """One reservoir's traits, as parts of its mean inflow and its head.

    Parameters
    ----------
    mean_inflow_m3s, head_m : float
        Mean inflow; gross head of the full reservoir.
    storage_ratio : float
        Active storage as a part of the mean annual inflow.
    head_share : float
        Part of the head that is lost between the full and the empty reservoir.
    capacity_ratio : float
        Hydraulic capacity at rated head, in mean inflows.
    tailrace_share : float
        Rise of the tailrace from no release to the hydraulic capacity, as a part of the head.
    hump : float
        Part of the best efficiency that is lost where the head differs by 40 % from the best one.
    least_release_share : float
        Least release as a part of the mean inflow.
    flood_share : float
        Part of the active storage that is kept empty in the wet season; 0 without a flood limit.
    regime : Regime
    persistence : float
        Correlation of the inflow of a year with that of the year before.
    year_end : YearEnd
    start : Start
    filled : float
        Part of the active storage in store when a horizon begins.
    evaporation_mm : float
        Net evaporation of a year.
    """

    mean_inflow_m3s: float
    head_m: float
    storage_ratio: float
    head_share: float
    capacity_ratio: float
    tailrace_share: float
    hump: float
    least_release_share: float
    flood_share: float
    regime: Regime
    persistence: float
    year_end: YearEnd
    start: Start
    filled: float
    evaporation_mm: float


#: Ends of a horizon that are drawn.
_YEAR_ENDS = (YearEnd.FIXED, YearEnd.FREE, YearEnd.CYCLIC)


def draw_traits(random: np.random.Generator) -> Traits:
    """Draw one reservoir's traits, independent of each other; sizes are even on a logarithmic scale."""

    def log_uniform(least: float, most: float) -> float:
        return float(np.exp(random.uniform(np.log(least), np.log(most))))

    regime = list(Regime)[random.integers(len(Regime))]
    start = list(Start)[random.integers(len(Start))]
    evaporates = regime is Regime.ARID and random.random() < 0.5
    return Traits(
        mean_inflow_m3s=log_uniform(3, 3000),
        head_m=log_uniform(10, 300),
        storage_ratio=log_uniform(0.02, 3),
        head_share=log_uniform(0.02, 0.6),
        capacity_ratio=log_uniform(0.8, 5),
        tailrace_share=log_uniform(0.002, 0.15),
        hump=random.uniform(0.02, 0.15),
        least_release_share=random.uniform(0.0, 0.6) if random.random() < 0.8 else 0.0,
        flood_share=random.uniform(0.03, 0.3) if random.random() < 0.4 else 0.0,
        regime=regime,
        persistence=random.uniform(0.3, 0.7) if random.random() < 0.5 else 0.0,
        year_end=_YEAR_ENDS[random.integers(len(_YEAR_ENDS))],
        start=start,
        filled=random.uniform(*_FILLED[start]),
        evaporation_mm=random.uniform(600, 2200) if evaporates else 0.0,
    )


_GRAVITY_KN_PER_M3 = 9.81
#: Points of tabulated curves.
_POINTS = 15
#: Part of the head of the empty lake that the largest release may take.
_DROWNED = 0.6
#: How far above its best head a turbine is used, as a part of that head: its power still grows with the head.
_HIGHEST_ABOVE_PEAK = 0.3
#: Distance from the best head, as a part of it, at which the efficiency has lost the hump.
_HUMP_HALF_WIDTH = 0.4
#: Storages, in parts of the dead and of the full one, between which the level is known.
_KNOWN_BELOW, _KNOWN_ABOVE = 0.3, 1.15


class _Lake(NamedTuple):
    """A lake whose storage grows as a power of its depth, so that the dead storage follows from the drawdown."""

    dead_hm3: float
    full_hm3: float
    depth_m: float
    shape: float

    def level_m(self, storage_hm3: FloatArray) -> FloatArray:
        """Level above the bottom."""
        return np.asarray(self.depth_m * (storage_hm3 / self.full_hm3) ** (1 / self.shape))


def build_reservoir(
    name: str, traits: Traits, flows_m3s: FloatArray, first_month: int, random: np.random.Generator
) -> Reservoir:
    """Build a reservoir that has these traits and can pass the largest flow of its record, or nearly.

    Parameters
    ----------
    name : str
    traits : Traits
    flows_m3s : ndarray, shape (years, 12)
        Its record by calendar month, January first.
    first_month : int
        Calendar month in which its water year begins.
    random : numpy.random.Generator
        Draws what traits leave open.
    """
    lake = _lake(traits, random)
    capacity = traits.capacity_ratio * traits.mean_inflow_m3s
    largest = float(flows_m3s.max()) * random.uniform(0.95, 1.5)
    most = max(largest, capacity * 1.1)
    tailrace = _tailrace(traits, lake, capacity, most)
    lowest, highest = lake.level_m(np.array([lake.dead_hm3, lake.full_hm3])) - tailrace(np.array([most, 0.0]))
    heads = 0.95 * float(lowest), 1.02 * float(highest)  # between which a plant works, and a little more
    rated = traits.head_m * (1 - traits.head_share * random.uniform(0.2, 0.9))
    storages = np.geomspace(_KNOWN_BELOW * lake.dead_hm3, _KNOWN_ABOVE * lake.full_hm3, _POINTS)
    lower, upper = np.full(MONTHS_PER_YEAR, lake.dead_hm3), np.full(MONTHS_PER_YEAR, lake.full_hm3)
    # The flood storage is kept free before and in the three wettest months.
    wettest = (int(flows_m3s.mean(axis=0).argmax()) + np.arange(-2, 1)) % MONTHS_PER_YEAR
    upper[wettest] -= traits.flood_share * (lake.full_hm3 - lake.dead_hm3)
    initial = lake.dead_hm3 + traits.filled * (lake.full_hm3 - lake.dead_hm3)
    initial = min(initial, float(upper[first_month - 2]))  # a horizon may end with it
    fixed, cyclic = traits.year_end is YearEnd.FIXED, traits.year_end is YearEnd.CYCLIC
    kind, conversion, best = _conversion(traits, heads, random)
    return Reservoir(
        name=name,
        level=Table(tuple(storages), tuple(lake.level_m(storages))),
        tailrace=tailrace,
        conversion=conversion,
        conversion_kind=kind,
        capacity_m3s=_capacity(capacity, rated, heads, random),
        installed_mw=best * _GRAVITY_KN_PER_M3 * capacity * rated / 1000 * random.uniform(0.75, 1.05),
        storage_lower_hm3=lower,
        storage_upper_hm3=upper,
        release_lower_m3s=np.full(MONTHS_PER_YEAR, traits.least_release_share * traits.mean_inflow_m3s),
        release_upper_m3s=np.full(MONTHS_PER_YEAR, most),
        initial_storage_hm3=None if cyclic else initial,
        final_storage_hm3=initial if fixed else None,
        year_end=traits.year_end,
        penalty=_GRAVITY_KN_PER_M3 * traits.mean_inflow_m3s * traits.head_m * HOURS_PER_YEAR / 1e6,
        evaporation_mm=np.full(MONTHS_PER_YEAR, traits.evaporation_mm / MONTHS_PER_YEAR),
        first_month=first_month,
        caveat="Invented reservoir and inflow",
    )


def _lake(traits: Traits, random: np.random.Generator) -> _Lake:
    shape, depth = random.uniform(1.4, 3.2), traits.head_m * random.uniform(0.9, 1.3)
    dead_part = (1 - traits.head_share * traits.head_m / depth) ** shape
    active = traits.storage_ratio * traits.mean_inflow_m3s * HM3_PER_YEAR_AND_M3S
    full = active / (1 - dead_part)
    return _Lake(full - active, full, depth, shape)


def _tailrace(traits: Traits, lake: _Lake, capacity: float, most: float) -> PowerLaw:
    """A rating curve that leaves the empty lake some head in the largest flood."""
    exponent, empty = 0.6, traits.head_m * (1 - traits.head_share)
    factor = min(traits.tailrace_share * traits.head_m / capacity**exponent, _DROWNED * empty / most**exponent)
    return PowerLaw(lake.depth_m - traits.head_m, factor, 0.0, exponent, (0.0, 1.2 * most))


def _conversion(
    traits: Traits, heads: tuple[float, float], random: np.random.Generator
) -> tuple[ConversionKind, Curve, float]:
    """What a file of a reservoir may say about efficiency, and the best one."""
    best, kind = random.uniform(0.82, 0.93), list(ConversionKind)[random.integers(len(ConversionKind))]
    head = np.linspace(*heads, _POINTS)
    peak = heads[0] + random.uniform(0.4, 0.9) * (heads[1] - heads[0])
    away = np.minimum(head / peak - 1, _HIGHEST_ABOVE_PEAK)
    efficiency = best * (1 - traits.hump * (away / _HUMP_HALF_WIDTH) ** 2)
    values = {
        ConversionKind.EFFICIENCY: efficiency,
        ConversionKind.COEFFICIENT: efficiency * _GRAVITY_KN_PER_M3,
        ConversionKind.RATE: 3600 / (efficiency * _GRAVITY_KN_PER_M3 * head),
    }[kind]
    return kind, Table(tuple(head), tuple(values)), best


def _capacity(capacity: float, rated: float, heads: tuple[float, float], random: np.random.Generator) -> Curve:
    """Turbines wide open pass more at a higher head, some the same, and some less above the rated head."""
    above = (0.5, 0.0, -1.0)[random.integers(3)]
    head = np.linspace(*heads, _POINTS)
    flow = capacity * np.where(head < rated, (head / rated) ** 0.5, (head / rated) ** above)
    return Table(tuple(head), tuple(flow))


class _Pattern(NamedTuple):
    """A river's flow within a year, and how much it varies.

    The month of the highest flow (0 is January), how many months the high flow lasts, the flow between in parts of the
    highest, and the standard deviations of the logarithms of years' and of months' flows.
    """

    peak: float
    width: float
    base: float
    of_years: float
    of_months: float


_PATTERNS = {
    Regime.SNOW: _Pattern(4.5, 1.2, 0.12, 0.2, 0.2),
    Regime.MONSOON: _Pattern(7.0, 1.7, 0.08, 0.25, 0.3),
    Regime.ARID: _Pattern(2.0, 1.5, 0.05, 0.7, 0.9),
}
#: Correlation of the logarithm of a month's flow with that of the month before, its season apart.
_OF_NEXT_MONTH = 0.4


def season(traits: Traits) -> FloatArray:
    """Expected flow of each calendar month in parts of the mean, shape (12,), January first."""
    pattern = _PATTERNS[traits.regime]
    months = np.arange(MONTHS_PER_YEAR)
    away = np.abs((months - pattern.peak + MONTHS_PER_YEAR / 2) % MONTHS_PER_YEAR - MONTHS_PER_YEAR / 2)
    shape = pattern.base + np.exp(-0.5 * (away / pattern.width) ** 2)
    return np.asarray(shape / shape.mean())


def random_flows(traits: Traits, years: int, first_month: int, random: np.random.Generator) -> FloatArray:
    """Flows of each month of each water year (m3/s), shape (years, 12): a season, wet and dry years, and noise."""
    pattern = _PATTERNS[traits.regime]
    of_years = _autoregressive(traits.persistence, (years,), random) * pattern.of_years
    of_months = _autoregressive(_OF_NEXT_MONTH, (years * MONTHS_PER_YEAR,), random) * pattern.of_months
    spread = of_years[:, np.newaxis] + of_months.reshape(years, MONTHS_PER_YEAR)
    variance = pattern.of_years**2 + pattern.of_months**2
    expected = np.roll(season(traits), 1 - first_month) * traits.mean_inflow_m3s
    return np.asarray(expected * np.exp(spread - variance / 2))


def _autoregressive(correlation: float, shape: tuple[int], random: np.random.Generator) -> FloatArray:
    """Normal numbers with mean 0 and variance 1, each correlated with the one before."""
    numbers = random.standard_normal(shape)
    for at in range(1, len(numbers)):
        numbers[at] = correlation * numbers[at - 1] + np.sqrt(1 - correlation**2) * numbers[at]
    return numbers


_FIRST_YEAR = 1991


class Part(IntEnum):
    """Which reservoirs: engines are tuned on one part and judged on the other."""

    TUNING = 0
    TEST = 1


@dataclass(frozen=True, eq=False)
class ZooCase:
    """One reservoir of the zoo with its record; `number` is its place in its part."""

    number: int
    traits: Traits
    reservoir: Reservoir
    inflow: Inflow


def zoo_case(number: int, years: int, *, part: Part = Part.TUNING, seed: int = 1) -> ZooCase:
    """Make one reservoir with its record; no other has to be made before it."""
    random = np.random.default_rng([seed, part, number])
    traits = draw_traits(random)
    first_month = int(random.integers(1, MONTHS_PER_YEAR + 1))
    flows = random_flows(traits, years, first_month, random)
    name = f"zoo-{part.name.lower()}-{number}"
    by_calendar = np.roll(flows, first_month - 1, axis=1)
    reservoir = build_reservoir(name, traits, by_calendar, first_month, random)
    return ZooCase(number, traits, reservoir, Inflow(flows, Calendar(_FIRST_YEAR, years, first_month)))


#: Reservoirs of a random system, at least and at most; and what makes its streams others than those of `zoo_case`, and
#: those of its commitments others again.
_FEWEST, _MOST, _OF_SYSTEM, _OF_COMMITMENTS = 2, 6, 1, 2
#: Logarithmic spread of a site's local inflow about the river's season and years.
_OF_SITES = 0.25


def zoo_system(
    number: int,
    years: int,
    *,
    part: Part = Part.TUNING,
    seed: int = 1,
    reservoirs: int | None = None,
    committed: bool = False,
) -> tuple[System, SiteInflows]:
    """Make one random river with its records: a tree with delays, losses and shares; no other has to be made before it.

    Parameters
    ----------
    number : int
    years : int
        Of the records.
    part : Part
    seed : int
    reservoirs : int, optional
        How many; by default 2 to 6.
    committed : bool
        Whether the last reservoir, and about half of the others, are committed to annual releases. The river is the
        same without.
    """
    random = np.random.default_rng([seed, part, number, _OF_SYSTEM])
    of_commitments = np.random.default_rng([seed, part, number, _OF_COMMITMENTS])
    river = draw_traits(random)
    first_month = int(random.integers(1, MONTHS_PER_YEAR + 1))
    count = int(random.integers(_FEWEST, _MOST + 1)) if reservoirs is None else reservoirs
    names = [f"{part.name.lower()}-{number}-{place + 1:02}" for place in range(count)]
    links = _random_links(names, random)
    shape = random_flows(replace(river, mean_inflow_m3s=1.0), years, first_month, random)
    local, total, built = dict[str, FloatArray](), dict[str, FloatArray](), []
    for name in names:
        traits, above = draw_traits(random), [link for link in links if link.target == name]
        part_of_river = random.uniform(0.02, 0.4) if above else random.uniform(0.3, 1.0)
        noise = np.exp(_OF_SITES * random.standard_normal(shape.shape) - _OF_SITES**2 / 2)
        local[name] = part_of_river * river.mean_inflow_m3s * shape * noise
        brought = [link.of_release(total[link.source], 0.9 * total[link.source]) for link in above]
        arriving = (flow * (1 - link.lost_share) for link, flow in zip(above, brought, strict=True))
        total[name] = sum(arriving, start=local[name])
        traits = replace(traits, mean_inflow_m3s=float(total[name].mean()), regime=river.regime)
        by_calendar = np.roll(total[name], first_month - 1, axis=1)
        built.append(build_reservoir(name, traits, by_calendar, first_month, random))
        if committed and (of_commitments.random() < 0.5 or name == names[-1]):
            built[-1] = _committed(built[-1], total[name], traits.capacity_ratio, of_commitments)
    calendar = Calendar(_FIRST_YEAR, years, first_month)
    inflows = SiteInflows({name: Inflow(flow, calendar) for name, flow in local.items()})
    return System(tuple(built), tuple(links), name=f"zoo-{part.name.lower()}-{number}"), inflows


def _committed(
    reservoir: Reservoir, flow_m3s: FloatArray, capacity_ratio: float, random: np.random.Generator
) -> Reservoir:
    """A reservoir that is to release about what the driest year brings, or by tiers of its level in some month.

    Of some, what is turbined counts, and some are to release about what the wettest year brings at most. Most of those
    whose other limits can be kept can keep all, and of about half a plan does not by itself.
    """
    turbined, licensed = (random.random(2) < (0.25, 0.3)).tolist()
    counted = np.minimum(flow_m3s, capacity_ratio * flow_m3s.mean()) if turbined else flow_m3s
    driest, *_, wettest = np.sort(counted.mean(axis=1)).tolist()
    volumes = (HM3_PER_YEAR_AND_M3S * driest * np.sort(random.uniform(0.8, 1.1, 2))).tolist()
    most = max(float(HM3_PER_YEAR_AND_M3S * wettest * random.uniform(0.9, 1.2)), volumes[1]) if licensed else None
    counts = Counted.TURBINED if turbined else Counted.RELEASED
    reservoir = replace(reservoir, most_annual_release_hm3=most, counts=counts)
    if random.random() < 0.5:
        return replace(reservoir, annual_release_hm3=volumes[1])
    least, most = (float(each) for each in reservoir.level(np.ravel(reservoir.storage_bounds_hm3))[[0, -1]])
    levels = least, least + random.uniform(0.3, 0.8) * (most - least)
    month = int(random.integers(1, MONTHS_PER_YEAR + 1))
    return replace(reservoir, tier_level_m=levels, tier_release_hm3=tuple(volumes), tier_month=month)


def _random_links(names: list[str], random: np.random.Generator) -> list[Link]:
    """All rivers join at the last; some releases go two ways, by shares or as turbined and spilled water."""
    links = []
    for place, name in enumerate(names[:-1]):
        below = names[place + 1 :]
        target = below[0] if random.random() < 0.6 else below[random.integers(len(below))]
        delay = (0.0, random.uniform(0, 1), random.uniform(1, 2.5))[random.choice(3, p=(0.4, 0.4, 0.2))]
        loss = 0.0 if random.random() < 0.5 else random.uniform(0, 0.1)
        link, kind = Link(name, target, travel_steps=float(delay), lost_share=float(loss)), random.random()
        share = float(random.uniform(0.2, 0.8))
        if kind < 0.7:
            links.append(link)
        elif kind < 0.9:
            links += [replace(link, carries=share), Link(name, names[-1], carries=1 - share)]
        else:
            links += [replace(link, carries=Carried.TURBINED), Link(name, names[-1], carries=Carried.SPILLED)]
    return links
