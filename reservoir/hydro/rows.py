"""One array of a year: what a step reads, a row for each field; and the numbers that a year has one of.

``rows[year, reservoir, field, step]`` and ``numbers[year, reservoir, name]`` hold many years; compiled code runs one
year, ``rows[field, step]`` and ``numbers[name]``, and kernels are handed the same rows behind each other
(`problems.reservoir.rows`). What a record gives of them has the same names (`record_rows`), and `limits.Limits` works
out the others. An attribute by step of the table (`attributes`) that no name here stands for is a further field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.attributes import by_step_attributes, units_of

#: Fields of a step; storages are those at its end. ``REACH_LOWER`` and ``REACH_UPPER`` are the reachable bounds of
#: eq. 16-17 (Yu et al. 2020): in a cyclic year they hold for an open end, and the bounds for a given start are
#: ``clip(start - drift, reach_lower, reach_upper)``. With losses or demands ``INFLOW`` is less the withdrawal demanded,
#: and ``RELEASE_LOWER`` is the least draft. From ``EVAPORATION`` on: only of years with losses or demands;
#: from ``OFFSET`` on: only where the objective is not energy.
(
    INFLOW,
    HM3_PER_M3S,
    RELEASE_LOWER,
    RELEASE_UPPER,
    STORAGE_LOWER,
    STORAGE_UPPER,
    REACH_LOWER,
    REACH_UPPER,
    DRIFT_LOWER,
    DRIFT_UPPER,
    EVAPORATION,  # net, hm3 per km2 of the lake
    WITHDRAWAL,  # demanded, m3/s
    PLANT_FACTOR,  # part of the step in which the turbines can run
    POWER_LOWER,  # MW; 0 where none is demanded
    PER_SHORTAGE,  # relative violation of a shortage of 1 m3/s (`per_shortage`)
    TILT_LOWER,  # how much more than a hm3 the reachable bounds of a cyclic year rise with each hm3 of its start
    TILT_UPPER,
    POWER_UPPER,  # MW of which any more only costs: where prices are negative, water is spilled instead (`most_wanted`)
    RECORDED_EVAPORATION,  # hm3, as the next: of ``INFLOW`` they are taken already
    BANK_STORAGE,
    TAILWATER,  # m, the level of the lake below: the tailrace is no lower
    OFFSET,  # what a step is worth whatever it does, in the unit of the objective, as all that follow (`benefit`)
    POWER_VALUE,  # of each MW of mean power
    POWER_TARGET,  # MW, of which less is a shortage
    POWER_COST,  # of each MW of a shortage, and of its square
    POWER_COST_SQUARED,
    POWER_COST_MOST,  # most that a shortage costs in a step
    SUPPLY_TARGET,  # release, m3/s, of which less is a shortage
    SUPPLY_COST_SQUARED,  # of the square of a shortage in m3/s
) = range(29)
#: Their names, in order.
FIELDS = tuple(name.lower() for name in list(globals()) if name.isupper())
#: Those of an objective's terms.
TERMS = FIELDS[OFFSET:]
#: Numbers of a year. ``CAPACITY`` is its largest storage, ``DEAD`` the one below which nothing can be released,
#: ``PER_MISSING`` the relative violation of a hm3 that is missing of the least release. ``MIDDLE_START`` and those
#: behind it: as ``EVAPORATION``.
(
    START,
    CAPACITY,
    DEAD,
    PER_MISSING,
    MIDDLE_START,  # of a cyclic year: the start for which its drift is told
    OPERATING_STORAGE,  # mean storage below which the turbines stand still
    RAMP_UP,  # largest rise and fall of the release from one step to the next, m3/s
    RAMP_DOWN,
    END_VALUE,  # what a hm3 more at the end than at the start is worth, in the unit of the objective
) = range(9)
NUMBERS = tuple(name.lower() for name in list(globals()) if name.isupper())[len(FIELDS) + 2 :]
#: How many of both a year without losses, demands and terms has.
PLAIN_FIELDS, PLAIN_NUMBERS = EVAPORATION, MIDDLE_START
#: The field of an attribute by step is called as it is, without its unit; further ones follow the others.
ATTRIBUTE_FIELDS = {row.field: units_of(row.field)[0] for row in by_step_attributes() if row.section != "objective"}
FIELDS += tuple(name for name in ATTRIBUTE_FIELDS.values() if name not in FIELDS)
_FIELD_PLACES = {name: place for place, name in enumerate(FIELDS)}
_NUMBER_PLACES = {name: place for place, name in enumerate(NUMBERS)}


class Lake(NamedTuple):
    """Curves of the lake by storage (hm3): area (km2) and seepage (m3/s)."""

    area: Any
    seepage: Any


class YearRows(NamedTuple):
    """One year, or many, as compiled code reads them. In Python ``year.inflow`` is the row of that name, and so on.

    Parameters
    ----------
    rows : ndarray, shape (fields, steps), or (years, reservoirs, fields, steps)
    numbers : ndarray, shape (names,), or (years, reservoirs, names)
    lake : Lake or ()
        Nothing of a reservoir without losses and demands: compiled code has one form with and one without.
    priced : tuple of int
        Empty where the objective is energy, which has a form of its own as well; else one 0.
    cyclic : bool
    unrolled : tuple of int
        So many zeros as there are steps: unlike an array's, its length is known when code is compiled, so that loops
        over steps become vector instructions (`compiled_year.steps_in`). Empty where there are many steps, and in
        float64: dynamic programming and certificates gain nothing by it, and would be compiled again for every number
        of steps.
    """

    rows: Any
    numbers: Any
    lake: Any
    priced: tuple[int, ...]
    cyclic: bool
    unrolled: tuple[int, ...]

    def __getattr__(self, name: str) -> Any:
        """A row, shape (steps,) or (years, steps), or a number, shape () or (years,), by name; of the one reservoir."""
        place = _FIELD_PLACES.get(name, len(FIELDS))
        if place < self.rows.shape[-2]:
            return self.rows[place] if self.rows.ndim == 2 else self.rows[:, 0, place]
        place = _NUMBER_PLACES.get(name, len(NUMBERS))
        if place < self.numbers.shape[-1]:
            return self.numbers[place] if self.numbers.ndim == 1 else self.numbers[:, 0, place]
        raise AttributeError(name)

    @property
    def conditions(self) -> YearRows | tuple[()]:
        """The year, if there are losses of the lake or demands on the plant; else nothing."""
        return self if self.lake else ()

    @property
    def terms(self) -> YearRows | tuple[()]:
        """The year, if the objective is not energy; else nothing."""
        return self if self.priced else ()

    @property
    def by_field(self) -> YearRows:
        """Many years for functions of one in Python: a row has shape (years, steps), and numbers are the first year's.

        The numbers that a step reads (`conditions`) are the same in all years.
        """
        return self._replace(rows=np.moveaxis(self.rows[:, 0], 0, 1), numbers=self.numbers[0, 0])

    def some(self, which: Any) -> YearRows:
        """Some of many years, as an array is indexed."""
        return self._replace(rows=self.rows[which], numbers=self.numbers[which])

    @property
    def as_many(self) -> YearRows:
        """One year as one of many."""
        return self._replace(rows=self.rows[np.newaxis, np.newaxis], numbers=self.numbers[np.newaxis, np.newaxis])

    def changed(self, **values: Any) -> YearRows:
        """A copy with other rows or numbers, by name."""
        rows, numbers = self.rows.copy(), self.numbers.copy()
        for name, value in values.items():
            array, place = (rows, _FIELD_PLACES[name]) if name in _FIELD_PLACES else (numbers, _NUMBER_PLACES[name])
            at = place if self.rows.ndim == 2 else (slice(None), 0, place)
            array[at] = value
        return self._replace(rows=rows, numbers=numbers)

    def converted(self, dtype: type[np.floating], lake: Any, unrolled: tuple[int, ...] = ()) -> YearRows:
        """In another precision, with curves of the lake in another form."""
        rows, numbers = (np.array(each, dtype, order="C") for each in (self.rows, self.numbers))
        return YearRows(rows, numbers, self.lake and lake, self.priced, self.cyclic, unrolled)


#: In place of a limit that there is not: within float32, whose infinity not all devices know.
UNLIMITED = 1e30
#: In place of the level of a lake below: lower than any tailrace.
NO_TAILWATER = -1e9
#: Demands of a year of less volume count as so much.
_LITTLE_HM3 = 1e-6


def per_shortage(withdrawal_m3s: Any, hm3_per_m3s: Any) -> Any:
    """Row of what a shortage of 1 m3/s violates: its volume over the largest that is demanded in a step."""
    return hm3_per_m3s / np.maximum((withdrawal_m3s * hm3_per_m3s).max(axis=-1, keepdims=True), _LITTLE_HM3)


def filled_years(
    rows: Mapping[str, Any], numbers: Mapping[str, Any] | None = None, lake: Any = (), *, cyclic: bool = False
) -> YearRows:
    """Years in float64, one reservoir each.

    Parameters
    ----------
    rows : mapping of str to ndarray, shape (years, steps), or (steps,) of one year
        By field, the first in full, others in shapes that broadcast. Without terms of an objective it is energy.
    numbers : mapping of str to ndarray, shape (years,)
        By name. Rows and numbers that are not given are 0.
    lake : Lake or ()
    cyclic : bool
    """
    years, steps = np.atleast_2d(next(iter(rows.values()))).shape
    fields = len(FIELDS) if max(_FIELD_PLACES[name] for name in rows) >= OFFSET else OFFSET if lake else PLAIN_FIELDS
    shapes = (years, 1, fields, steps), (years, 1, len(NUMBERS) if lake else PLAIN_NUMBERS)
    priced = (0,) if TERMS[0] in rows else ()
    filled = YearRows(np.zeros(shapes[0]), np.zeros(shapes[1]), lake, priced, cyclic, ())
    for name, value in {**rows, **(numbers or {})}.items():
        getattr(filled, name)[:] = value
    if lake:
        filled.power_upper[:] = most_wanted(filled) if priced else UNLIMITED
        if "tailwater" not in rows:
            filled.tailwater[:] = NO_TAILWATER
    return filled


def most_wanted(years: YearRows) -> Any:
    """Row of the power (MW) beyond which a step's benefit falls, or the lowest that is demanded; without a limit else.

    It falls where energy has a negative price: with a target, from where that costs more than what is short of it.
    """
    wanted = _wanted_power(years.power_value, years.power_target, years.power_cost, years.power_cost_squared)
    return np.where(years.power_value < 0, np.maximum(wanted, years.power_lower), UNLIMITED)


def without_negative_prices(terms: Mapping[str, Any], lowest_mw: Any) -> Mapping[str, Any]:
    """Terms by which no power is worth less than a smaller one, for what knows no spilling past the turbines (kernels).

    More than what is wanted is worth as much as that; what is left is a shortage of it, and what it costs, or what the
    lowest power costs. Where a failed step costs a most, power costs nothing in it.

    Parameters
    ----------
    terms : mapping of str to ndarray, shape (..., steps)
        By their names.
    lowest_mw : ndarray
        Power that is demanded.
    """
    value, target, cost, squared = (terms[f"power_{name}"] for name in ("value", "target", "cost", "cost_squared"))
    costs, most = value < 0, terms["power_cost_most"]
    if not np.any(costs):
        return terms
    wanted = _wanted_power(value, target, cost, squared)
    power = np.maximum(wanted, lowest_mw)
    short = np.maximum(target - power, 0.0)
    paid = np.where(costs, value * power - (squared * short + cost) * short, 0.0)
    changed = {
        "power_value": np.maximum(value, 0.0),
        "power_target": np.where(costs, wanted, target),
        "power_cost": np.where(costs, np.maximum(cost + value, 0.0), cost),
        "offset": terms["offset"] + paid,
        "power_cost_most": np.where(most < UNLIMITED, most + paid, UNLIMITED),
    }
    return {**terms, **changed}


def _wanted_power(value: Any, target: Any, cost: Any, squared: Any) -> Any:
    """Power (MW) of the most benefit by the terms of an objective that are named so, where its value is negative."""
    slope = cost + value
    below = np.divide(np.maximum(-slope, 0.0), 2 * squared, out=np.where(slope < 0, target, 0.0), where=squared > 0)
    return np.maximum(target - below, 0.0)
