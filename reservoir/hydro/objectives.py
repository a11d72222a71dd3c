"""What a plan is asked for, as a planner states it: the horizon and the objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.calendar import HOURS_OF_MONTHS, HOURS_PER_YEAR, MONTHS_PER_YEAR, Calendar, TimeStep

#: Steps of a year of months; a horizon of more is a long one.
MOST_STEPS_OF_YEAR = MONTHS_PER_YEAR
#: How each year by itself and the whole record are named; a window is named by its number of years.
YEAR, RECORD = "year", "record"


@dataclass(frozen=True)
class Horizon:
    """How many consecutive water years are planned as one problem.

    Parameters
    ----------
    years : int, optional
        1 or more; None for the whole record. Of a record that they do not divide, the last window is shorter.

    Raises
    ------
    InputError
        If there are less than 1.
    """

    years: int | None = 1

    def __post_init__(self) -> None:
        if self.years is not None and (isinstance(self.years, bool) or self.years < 1):
            raise _refused(self.years)

    @classmethod
    def of(cls, named: object) -> Horizon:
        """Read ``"year"``, ``"record"`` or a number of years.

        Raises
        ------
        InputError
            If it is none of them.
        """
        if isinstance(named, Horizon):
            return named
        if named in (YEAR, RECORD):
            return cls(1 if named == YEAR else None)
        try:
            return cls(int(str(named)))
        except ValueError:
            raise _refused(named) from None

    def __str__(self) -> str:
        return {1: YEAR, None: RECORD}.get(self.years, str(self.years))

    @property
    def is_year(self) -> bool:
        """Whether each year is planned by itself, as in Yu et al. 2020."""
        return self.years == 1

    def within(self, calendar: Calendar) -> Horizon:
        """The same of each member of an ensemble: its whole record is a window of all its years.

        Raises
        ------
        InputError
            If the years of a window do not divide those of a member.
        """
        if not calendar.is_ensemble:
            return self
        each = calendar.years_each
        years = min(self.years or each, each)
        if each % years or calendar.years % years:
            problem = f"windows of {years} years do not divide the {each} years of a member"
            expected = "one of " + ", ".join(str(count) for count in range(1, each + 1) if each % count == 0)
            raise InputError(problem, expected, "choose another horizon", column="horizon", value=str(self))
        return Horizon(years)

    def spans(self, years: int) -> list[tuple[int, int]]:
        """First year of each problem of a record, and the one behind its last."""
        return list(pairwise([*range(0, years, self.years or years), years]))

    def equal_spans(self, years: int) -> list[tuple[int, int, int]]:
        """First year of equally long problems, the one behind their last, and the years of each problem.

        One item, and another of the last problem where it is shorter.
        """
        length = min(self.years or years, years)
        whole = years // length * length
        return [(0, whole, length), *([(whole, years, years - whole)] if whole < years else [])]


def _refused(found: object) -> InputError:
    expected = '"year", "record", or a number of years of 1 or more'
    return InputError("the horizon is not known", expected, "choose one of them", value=found)


FloatArray = NDArray[np.float64]


class Goal(StrEnum):
    """What an objective is a weighted sum of; shortages and unused capacity are to be small."""

    ENERGY = "energy"
    REVENUE = "revenue"
    FIRM_POWER = "firm-power"
    POWER_SHORTAGE = "power-shortage"
    SUPPLY_SHORTAGE = "supply-shortage"
    UNUSED_CAPACITY = "unused-capacity"


#: Goals of which less is better.
COSTS = (Goal.POWER_SHORTAGE, Goal.SUPPLY_SHORTAGE, Goal.UNUSED_CAPACITY)
#: What an objective needs to be told for a goal, by the names of its fields.
NEEDED: Mapping[Goal, str] = {
    Goal.POWER_SHORTAGE: "power_target_mw",
    Goal.SUPPLY_SHORTAGE: "supply_target_m3s",
}
#: A gap of a cost is a part of it, or of this part of the largest.
_PART_OF_LARGEST = 1e-3
_LIST_SHAPES = frozenset((step.per_year,) for step in TimeStep)
_TITLES: Mapping[Goal, str] = {
    Goal.ENERGY: "energy",
    Goal.REVENUE: "revenue",
    Goal.FIRM_POWER: "energy at firm power",
    Goal.POWER_SHORTAGE: "squared power shortage",
    Goal.SUPPLY_SHORTAGE: "squared supply shortage",
    Goal.UNUSED_CAPACITY: "unused capacity",
}


@dataclass(frozen=True, eq=False)
class Objective:
    """A weighted sum of goals, to be maximised; shortages and unused capacity count negatively.

    Parameters
    ----------
    weights : mapping of Goal to float
        Each more than 0.
    price_per_mwh : ndarray, shape (12,) or (steps,), or None
        Price of energy in each calendar month, January first; a record's own prices take precedence.
    currency : str
        Of the price.
    power_target_mw, supply_target_m3s : ndarray, shape (12,) or (steps,), or None
        Mean power and release of each calendar month, of which less is a shortage; it is relative to the largest.
    firm_share : float
        Share of the steps of a problem that must give the firm power.
    firm_power_mw : float, optional
        Power that they must give, whatever else is optimised; the goal of firm power is to find the largest.

    Raises
    ------
    InputError
        If prices or targets are no twelve numbers. Whether they fit each other is checked with the `Reservoir`.
    """

    weights: Mapping[Goal, float] = field(default_factory=lambda: {Goal.ENERGY: 1.0})
    price_per_mwh: FloatArray | None = None
    currency: str = ""
    power_target_mw: FloatArray | None = None
    supply_target_m3s: FloatArray | None = None
    firm_share: float = 1.0
    firm_power_mw: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", {Goal(goal): float(weight) for goal, weight in self.weights.items()})
        for name in ("price_per_mwh", "power_target_mw", "supply_target_m3s"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _by_step(name, getattr(self, name)))

    def __eq__(self, other: object) -> bool:
        """Whether both state the same."""
        return isinstance(other, Objective) and self.stated == other.stated

    def __hash__(self) -> int:
        return hash(self.stated)

    @property
    def stated(self) -> tuple[object, ...]:
        """All that it says, as numbers and texts."""
        weights = tuple(sorted((str(goal), weight) for goal, weight in self.weights.items()))
        monthly = self.price_per_mwh, self.power_target_mw, self.supply_target_m3s
        given = tuple(None if each is None else tuple(each.tolist()) for each in monthly)
        return weights, *given, self.currency, self.firm_share, self.firm_power_mw

    @property
    def is_energy(self) -> bool:
        """Whether the benefit is energy and nothing else (Yu et al. 2020, eq. 6)."""
        return dict(self.weights) == {Goal.ENERGY: 1.0} and self.firm_power_mw is None

    @property
    def of_one_plant(self) -> Objective:
        """What a plant of several contributes by itself: its energy, or its revenue; the rest is of the sum of all."""
        weights: dict[Goal, float] = {
            goal: weight for goal, weight in self.weights.items() if goal in (Goal.ENERGY, Goal.REVENUE)
        }
        if Goal.REVENUE not in weights:
            return Objective()
        return Objective(weights, price_per_mwh=self.price_per_mwh, currency=self.currency)

    @property
    def is_firm(self) -> bool:
        """Whether it asks for firm power."""
        return Goal.FIRM_POWER in self.weights

    @property
    def is_cost(self) -> bool:
        """Whether all its goals are to be small: it is shown as what is to be small then."""
        return all(goal in COSTS for goal in self.weights)

    @property
    def single(self) -> Goal | None:
        """Its goal, if there is one only, of weight 1."""
        goals = list(self.weights)
        return goals[0] if len(goals) == 1 and self.weights[goals[0]] == 1.0 else None

    @property
    def title(self) -> str:
        """What it is called in tables and reports."""
        weighted = [f"{weight:g} x {_TITLES[goal]}" for goal, weight in self.weights.items()]
        title = _TITLES[self.single] if self.single else " + ".join(weighted)
        return title if self.firm_power_mw is None else f"{title} at {self.firm_power_mw:.6g} MW of firm power"

    @property
    def unit(self) -> str:
        """Its unit; empty if it has none."""
        million = f"million {self.currency}".strip()
        units = {Goal.ENERGY: "GWh", Goal.FIRM_POWER: "GWh", Goal.REVENUE: million}
        return units.get(self.single, "") if self.single else ""

    def least_scale(self, installed_mw: float, steps_per_year: int = MONTHS_PER_YEAR) -> float:
        """What a gap is at least a part of: where all goals are costs, the optimum may be nothing."""
        return _PART_OF_LARGEST * self.largest_per_year(installed_mw, steps_per_year) if self.is_cost else 0.0

    def largest_per_year(self, installed_mw: float, steps_per_year: int = MONTHS_PER_YEAR) -> float:
        """What a year at full load, or a year without power and release, comes to: the penalty factor by default."""
        gwh = installed_mw * HOURS_PER_YEAR / 1000
        price = 0.0
        if self.price_per_mwh is not None:
            by_month = len(self.price_per_mwh) == MONTHS_PER_YEAR
            price = float(np.average(np.abs(self.price_per_mwh), weights=HOURS_OF_MONTHS if by_month else None))
        largest = {
            Goal.ENERGY: gwh,
            Goal.FIRM_POWER: gwh,
            Goal.REVENUE: gwh * (price or 1000.0) / 1000,
            Goal.POWER_SHORTAGE: _squares(self.power_target_mw, steps_per_year),
            Goal.SUPPLY_SHORTAGE: _squares(self.supply_target_m3s, steps_per_year),
            Goal.UNUSED_CAPACITY: float(steps_per_year),
        }
        return sum(weight * largest[goal] for goal, weight in self.weights.items())


def goal_label(goal: Goal, currency: str = "", years: int = 1) -> str:
    """Name and unit of a goal, for tables and axes; of how many years it is the sum, which firm power never is."""
    title = "firm power" if goal is Goal.FIRM_POWER else f"{_TITLES[goal]}{f' of {years:,} years' if years > 1 else ''}"
    unit = "MW" if goal is Goal.FIRM_POWER else Objective({goal: 1.0}, currency=currency).unit
    return f"{title[:1].upper()}{title[1:]}{f' ({unit})' if unit else ''}"


def _by_step(name: str, given: object) -> FloatArray:
    """Values by month or by step as a read-only copy; one number is that of all months."""
    expected = f"one number, {MONTHS_PER_YEAR} finite numbers, January first, or one a step"
    try:
        values = np.array(given, np.float64)
        lists = values if values.shape in _LIST_SHAPES else np.array(np.broadcast_to(values, MONTHS_PER_YEAR))
    except (TypeError, ValueError, OverflowError):
        raise InputError("does not fit the months", expected, column=f"objective.{name}") from None
    if not np.isfinite(lists).all():
        raise InputError("has a value that is not a finite number", expected, column=f"objective.{name}")
    lists.setflags(write=False)
    return lists


def _squares(target: FloatArray | None, steps_per_year: int) -> float:
    """Sum of a year's squared targets, relative to the largest."""
    if target is None or not target.any():
        return 0.0
    return float(((target / target.max()) ** 2).sum()) * (steps_per_year / len(target))
