"""Kinds of reservoirs, by which results are listed: what each trait is called, and its classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

#: Largest values of the classes of a trait that is a number, and the format of these values.
_CLASSES: dict[str, tuple[str, tuple[float, ...], str]] = {
    "storage_ratio": ("active storage, mean annual inflows", (0.1, 0.5, 1.5), "g"),
    "head_share": ("share of the head that depends on storage", (0.1, 0.3), ".0%"),
    "capacity_ratio": ("hydraulic capacity, mean inflows", (1.5, 3.0), "g"),
    "least_release_share": ("least release, parts of the mean inflow", (0.1, 0.3), ".0%"),
}
#: Traits whose values are classes, and those that a reservoir has or not.
_NAMED = {"regime": "inflow", "year_end": "end of the year", "start": "start of the year"}
_HAD = {
    "flood_share": "flood limit",
    "evaporation_mm": "evaporation",
    "persistence": "persistence of wet and dry years",
}


def classes_of(reservoirs: pd.DataFrame) -> Iterator[tuple[str, str, pd.Series[bool]]]:
    """Each kind, each of its classes, and which reservoirs belong to it; classes without reservoirs are left out.

    Parameters
    ----------
    reservoirs : DataFrame
        A row for each reservoir, with its traits.
    """
    for trait, kind in _NAMED.items():
        yield from _named(kind, reservoirs[trait], sorted(reservoirs[trait].unique()), lambda value: value)
    for trait, (kind, bounds, form) in _CLASSES.items():
        place = sum((reservoirs[trait] > bound).astype(int) for bound in bounds)
        names = [_class_name(bounds, each, form) for each in range(len(bounds) + 1)]
        yield from _named(kind, place, range(len(names)), names.__getitem__)
    for trait, kind in _HAD.items():
        yield from _named(kind, reservoirs[trait] > 0, (False, True), lambda has: "yes" if has else "no")


def _named(
    kind: str, values: Any, classes: Any, name: Callable[[Any], str]
) -> Iterator[tuple[str, str, pd.Series[bool]]]:
    for each in classes:
        chosen = values == each
        if chosen.any():
            yield kind, name(each), chosen


def _class_name(bounds: tuple[float, ...], place: int, form: str) -> str:
    if place == 0:
        return f"≤ {bounds[0]:{form}}"
    if place == len(bounds):
        return f"> {bounds[-1]:{form}}"
    return f"{bounds[place - 1]:{form}} to {bounds[place]:{form}}"
