"""Reservoirs of any size and kind, and states of a step of them, some beyond their bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reservoir.hydro.attributes import ConversionKind, YearEnd
from reservoir.hydro.curves.curve import Curve, Polynomial, PowerLaw, Table
from reservoir.hydro.reservoir import Reservoir

HEADS = (20.0, 200.0)


class States(NamedTuple):
    """Steps and what is wanted of them, each of shape (states,)."""

    storage: np.ndarray
    wanted: np.ndarray
    inflow: np.ndarray
    hm3_per_m3s: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    least: np.ndarray
    most: np.ndarray


def random_reservoir(seed: int) -> Reservoir:
    """One with a table or a polynomial as its level, a power law as its tailrace, and any kind of conversion."""
    random = np.random.default_rng(seed)
    full, flow = random.uniform(50, 5000), random.uniform(30, 800)
    storages = np.linspace(0.1, 1.05, 9) * full
    levels = 300 + np.cumsum(random.uniform(2, 8, 9))
    level: Curve = Table(storages.tolist(), levels.tolist())
    if seed % 2:
        level = Polynomial((300.0, 60 / full, -10 / full**2), (storages[0], storages[-1]))
    kind = list(ConversionKind)[seed % 3]
    factor = random.uniform(7, 9)
    conversion: Curve = {
        ConversionKind.RATE: PowerLaw(0.0, 3600 / factor, 0.0, -1.0, HEADS),
        ConversionKind.COEFFICIENT: Polynomial((factor, 2e-3), HEADS),
        ConversionKind.EFFICIENCY: Polynomial((factor / 10, 5e-4, -1e-6), HEADS),
    }[kind]
    return Reservoir(
        name=f"random {seed}",
        level=level,
        tailrace=PowerLaw(240.0, 8 / flow**0.6, 0.0, 0.6, (0.0, 2 * flow)),
        conversion=conversion,
        conversion_kind=kind,
        capacity_m3s=PowerLaw(0.0, random.uniform(0.3, 0.9) * flow / 10, 0.0, 0.5, HEADS),
        installed_mw=random.uniform(0.2, 0.8) * flow * 0.7,
        storage_lower_hm3=full * random.uniform(0.12, 0.3, 12),
        storage_upper_hm3=full * random.uniform(0.6, 1.0, 12),
        release_lower_m3s=flow * random.uniform(0.01, 0.2, 12),
        release_upper_m3s=flow * random.uniform(0.8, 1.9, 12),
        initial_storage_hm3=full * 0.45,
        final_storage_hm3=None,
        year_end=YearEnd.FREE,
        penalty=random.uniform(1, 1000),
    )


def random_states(reservoir: Reservoir, count: int, seed: int = 0) -> States:
    """States of the steps of a year, months in turn."""
    random = np.random.default_rng(seed)
    month = np.arange(count) % 12
    bounds = reservoir.storage_lower_hm3, reservoir.storage_upper_hm3
    lowest, highest = (bound[month] for bound in bounds)
    least, most = reservoir.release_lower_m3s[month], reservoir.release_upper_m3s[month]
    return States(
        lowest + random.uniform(-0.2, 1.1, count) * (highest - lowest),
        least + random.uniform(0, 1, count) * (most - least),
        random.uniform(0, 2, count) * most,
        random.uniform(2.4, 2.7, count),
        lowest,
        highest,
        least,
        most,
    )
