"""What a month comes to: within its physical limits whatever is asked for, and weighed against the water it leaves.

A rule that weighs releases holds its plant as tables, dense enough to stand for the curves, without the plant's file.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import create_model

from reservoir.hydro.attributes import by_step_attributes
from reservoir.hydro.benefit import in_objective_unit, stage_benefit
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.conditions import NO_CONDITIONS, demanded, released, unmet, unmet_power
from reservoir.hydro.curves.curve import joined_lines
from reservoir.hydro.elementwise import clip, mean
from reservoir.hydro.plant import Plant, plant_of
from reservoir.hydro.reservoir import CONDITIONS, Reservoir
from reservoir.hydro.rows import ATTRIBUTE_FIELDS, TERMS, UNLIMITED, Lake, YearRows, filled_years, per_shortage
from reservoir.hydro.step import (
    enforce_limits,
    power_at,
    relative_violation,
    release_to_reach,
    storage_after,
    unmet_minimum,
)
from reservoir.hydro.units import HM3_PER_KM2_MM
from reservoir.rules.base.fields import Block, Monthly, NotFalling, Number, Numbers, Rising, as_long_as, not_below
from reservoir.rules.base.rule import Forecast, Months, Rule
from reservoir.rules.base.training import ROUNDING, FloatArray, Training

#: Points of each curve between the bounds.
POINTS = 401
#: A storage beside that of a plant that stores nothing is more by this part.
_NEXT = 1e-3
#: How far below its bounds a lake is followed, as a part of their range.
BELOW_BOUNDS = 0.5
#: Releases compared in a decision, which then looks between the best one's neighbours.
RELEASES = 61
#: Releases whose values differ by less than this part are equally good.
EQUAL = 1e-12


def month_end(
    storage: Any,
    asked: Any,
    inflow: Any,
    volume: Any,
    storages: tuple[Any, Any],
    releases: tuple[Any, Any],
    dead: Any,
    year: Any = NO_CONDITIONS,
    step: Any = 0,
) -> tuple[Any, Any, Any]:
    """How a month ends, whatever is asked for (eq. 10, repaired as in eq. 18-19): arrays of one shape, or numbers.

    Parameters
    ----------
    storage
        At the start of the step, hm3.
    asked, inflow
        Release wanted and mean inflow, m3/s.
    volume
        hm3 that 1 m3/s carries in the step.
    storages, releases : tuple
        Least and greatest storage at the end of the step and release in it.
    dead
        Storage below which nothing can be released.
    year, step : YearRows, int or tuple, optional
        Losses and demands, as functions of `hydro.conditions` take them.

    Returns
    -------
    release, draft, end
        Release and draft (`hydro.conditions`), m3/s, and the storage at the end, hm3.
    """
    demand = demanded(year, step)
    drafts = releases[0] - demand, releases[1]
    wanted = clip(asked, *releases)
    draft, end = enforce_limits(storage, wanted, inflow - demand, volume, storages, drafts, dead, year, step)
    return released(year, step, draft, drafts[0]), draft, end


def continued_below(points: FloatArray, lowest: float) -> FloatArray:
    """Points evenly apart, and more of them below as far as a lowest one allows; the given ones stay as they are."""
    spacing = (points[-1] - points[0]) / (len(points) - 1)
    count = int(max(points[0] - lowest, 0.0) / spacing) if spacing > 0 else 0
    return np.concatenate([points[0] - spacing * np.arange(count, 0, -1), points])


def storage_range(plant: Reservoir) -> tuple[float, float]:
    """Lowest and highest storage (hm3): of a plant that stores nothing its own and one beside, for lines between."""
    lowest = float(plant.storage_lower_hm3.min())
    return lowest, (1 + _NEXT) * lowest if plant.is_run_of_river else float(plant.storage_upper_hm3.max())


class PlantTable(Block):
    """The curves of a plant at so many points that straight lines between them lose nothing.

    Parameters
    ----------
    storage_hm3, level_m : tuple of float
        Forebay level by storage.
    release_m3s, tailrace_m : tuple of float
        Tailrace level by release.
    head_m, specific_mw, capacity_m3s : tuple of float
        Power of 1 m3/s and hydraulic capacity by head.
    installed_mw : float
    """

    storage_hm3: NotFalling
    level_m: Annotated[Numbers, as_long_as("storage_hm3")]
    release_m3s: NotFalling
    tailrace_m: Annotated[Numbers, as_long_as("release_m3s")]
    head_m: NotFalling
    specific_mw: Annotated[Numbers, as_long_as("head_m")]
    capacity_m3s: Annotated[Numbers, as_long_as("head_m")]
    installed_mw: Number

    @classmethod
    def of(cls, plant: Reservoir) -> PlantTable:
        """Take points from the exact curves, over all storages and releases within the bounds and storages below."""
        bounds = storage_range(plant)
        between = np.linspace(*bounds, POINTS)
        storage = continued_below(between, max(plant.level.domain[0], bounds[0] - BELOW_BOUNDS * np.ptp(bounds)))
        release = np.linspace(plant.release_lower_m3s.min(), plant.release_upper_m3s.max(), POINTS)
        level, tailrace = plant.level(storage), plant.tailrace(release)
        heads = plant.level(between).min() - tailrace.max(), level.max() - tailrace.min()
        head = continued_below(np.linspace(*heads, POINTS), level.min() - tailrace.max())
        return cls(
            storage_hm3=storage.tolist(),
            level_m=level.tolist(),
            release_m3s=release.tolist(),
            tailrace_m=tailrace.tolist(),
            head_m=head.tolist(),
            specific_mw=plant_of(plant).conversion(head).tolist(),
            capacity_m3s=plant.capacity_m3s(head).tolist(),
            installed_mw=float(plant.installed_mw),
        )

    @cached_property
    def curves(self) -> Plant:
        """The curves as functions of arrays."""
        return Plant(
            joined_lines(self.storage_hm3, self.level_m),
            joined_lines(self.release_m3s, self.tailrace_m),
            joined_lines(self.head_m, self.specific_mw),
            joined_lines(self.head_m, self.capacity_m3s),
            self.installed_mw,
        )


#: Points of the curves of area and seepage.
LAKE_POINTS = 101


def _mean_of_years(row: FloatArray) -> tuple[float, ...]:
    """Mean of each step; the years are added up one after the other also where their row is stored once."""
    return tuple(np.array(row).mean(axis=0).tolist())


def _by_month(names: Iterable[str], **defaults: float) -> Any:
    """A block with a number a month of each name; some may be left out, and are the same in all months then."""
    others = {name: (Monthly, (value,) * MONTHS_PER_YEAR) for name, value in defaults.items()}
    fields = dict.fromkeys(names, (Monthly, ...)) | others
    return create_model("_Months", __base__=Block, **fields)  # type: ignore[call-overload]


#: The attributes by step that say what a lake loses and what is demanded, by their fields.
CONDITION_FIELDS = tuple(row.field for part in CONDITIONS for row in by_step_attributes() if row.part == part)


class LakeMonths(_by_month(CONDITION_FIELDS)):  # type: ignore[misc]
    """Losses of the lake and demands on the plant, means of the training years.

    Parameters
    ----------
    **conditions : tuple of float
        Of each month, by the fields of the table of attributes (`CONDITION_FIELDS`).
    storage_hm3, area_km2, seepage_m3s : tuple of float
        Area and seepage by storage, joined by straight lines.
    operating_storage_hm3 : float
        Mean storage below which the turbines stand still.
    """

    storage_hm3: Rising
    area_km2: Annotated[Numbers, as_long_as("storage_hm3")]
    seepage_m3s: Annotated[Numbers, as_long_as("storage_hm3")]
    operating_storage_hm3: Number

    @classmethod
    def of(cls, training: Training) -> Self | None:
        """Those of the training years; None where there are none."""
        limits, plant = training.limits, training.model.reservoir
        if not limits.lake:
            return None
        storage = np.linspace(*storage_range(plant), LAKE_POINTS)
        return cls(
            **{name: _mean_of_years(getattr(limits, name)) for name in CONDITION_FIELDS},
            storage_hm3=storage.tolist(),
            area_km2=np.asarray(limits.lake.area(storage)).tolist(),
            seepage_m3s=np.asarray(limits.lake.seepage(storage)).tolist(),
            operating_storage_hm3=float(limits.operating_storage[0]),
        )

    @property
    def curves(self) -> Lake:
        """Area and seepage as functions of arrays."""
        return Lake(*(joined_lines(self.storage_hm3, values) for values in (self.area_km2, self.seepage_m3s)))


#: Terms of a promised power (`reservoir.rules.reliability`), as they are without one.
_OF_A_PROMISE = {"power_cost": 0.0, "power_cost_most": UNLIMITED}


class ObjectiveMonths(_by_month(TERMS, **_OF_A_PROMISE)):  # type: ignore[misc]
    """What a month's power and release are worth, in the unit of the objective, where that is not energy alone.

    The fields are rows of a year with the same names (`hydro.rows.TERMS`), means of the training years.
    """

    @classmethod
    def of(cls, training: Training) -> Self | None:
        """Those of the training years; None where the objective is energy."""
        limits = training.limits
        if not limits.priced:
            return None
        # Without a price there is no limit of costs, whose mean may be rounded to more than a number of a file.
        weighed = [name for name in cls.model_fields if limits.power_cost.any() or name not in _OF_A_PROMISE]
        return cls(**{name: _mean_of_years(getattr(limits, name)) for name in weighed})


class Physics(Block):
    """One month of a reservoir: what a release comes to once the physical limits are kept.

    Parameters
    ----------
    months : Months
        Bounds of the release, and the volume of a flow.
    plant : PlantTable
    storage_lower_hm3, storage_upper_hm3 : tuple of float
        Bounds of the storage at the end of each step.
    penalty_gwh : float
        Cost of a relative violation of 1, in the unit of the objective (eq. 21).
    lake : LakeMonths or None
        Losses of the lake and demands on the plant, if there are any.
    objective : ObjectiveMonths or None
        What is optimised, unless it is energy.
    """

    months: Months
    plant: PlantTable
    storage_lower_hm3: Monthly
    storage_upper_hm3: Annotated[Monthly, not_below("storage_lower_hm3")]
    penalty_gwh: Number
    lake: LakeMonths | None = None
    objective: ObjectiveMonths | None = None

    @staticmethod
    def of(training: Training) -> Physics:
        """The months of the training years."""
        plant = training.model.reservoir
        lower, upper = plant.storage_bounds_hm3.tolist()
        if plant.flood_space:  # of months to come, a rule knows no more than the mean; see `Rule.limited`
            upper = _mean_of_years(training.limits.storage_upper_hm3)
        return Physics(
            months=Months.of(training),
            plant=PlantTable.of(plant),
            storage_lower_hm3=lower,
            storage_upper_hm3=upper,
            penalty_gwh=float(plant.penalty),
            lake=LakeMonths.of(training),
            objective=ObjectiveMonths.of(training),
        )

    def value_grid(self, count: int) -> FloatArray:
        """Storages that values are known at, evenly apart: so many between the bounds, and more below.

        In a drought a lake that loses more than flows in is below its bounds for months, each of which costs. Values
        that end at the lowest bound would forgive it after one.
        """
        lowest, highest = min(self.storage_lower_hm3), max(*self.storage_upper_hm3, self.plant.storage_hm3[-1])
        highest = max(highest, lowest + 1e-6 * max(abs(lowest), 1.0))
        known = max(self.plant.storage_hm3[0], lowest - BELOW_BOUNDS * (highest - lowest), 0.0)
        return continued_below(np.linspace(lowest, highest, count), known)

    @cached_property
    def year(self) -> YearRows:
        """The months as the functions of a step read them, with losses, demands and terms where there are any."""
        volume = np.array(self.months.volume_per_flow)
        rows: dict[str, Any] = {"hm3_per_m3s": volume}
        numbers: dict[str, float] = {}
        if self.lake is not None:
            rows |= {ATTRIBUTE_FIELDS[name]: np.array(getattr(self.lake, name)) for name in CONDITION_FIELDS}
            rows["evaporation"] = rows["evaporation"] * HM3_PER_KM2_MM
            rows["per_shortage"] = per_shortage(rows["withdrawal"], volume)
            numbers = {"operating_storage": self.lake.operating_storage_hm3, "ramp_up": np.inf, "ramp_down": np.inf}
        if self.objective is not None:
            rows |= dict(self.objective)
        return filled_years(rows, numbers, self.lake.curves if self.lake else ()).some((0, 0))

    def tried_releases(
        self, step: int, storage: FloatArray, least: FloatArray, most: FloatArray, count: int, upper_hm3: Any = None
    ) -> FloatArray:
        """Releases to compare, so many, along a new first axis.

        They run from what fills the lake at the least inflow, to the step's or a given limit, to what empties it at the
        most.
        """
        volume, loss = self.months.volume_per_flow[step], self.months.loss_m3s[step]
        upper = self.storage_upper_hm3[step] if upper_hm3 is None else upper_hm3
        filling = release_to_reach(storage, upper, least - loss, volume)
        emptying = release_to_reach(storage, self.storage_lower_hm3[step], most - loss, volume)
        bounds = self.months.release_lower_m3s[step], self.months.release_upper_m3s[step]
        return np.linspace(np.clip(filling, *bounds), np.clip(emptying, *bounds), count)

    def made(self, step: int, storage: float, release: FloatArray, inflow: float) -> FloatArray:
        """Benefit of releases of a step as they are: beyond the bounds of storage there is neither repair nor cost."""
        volume, year, start = self.months.volume_per_flow[step], self.year, np.asarray(storage, float)
        demand = demanded(year, step)
        end = storage_after(start, np.asarray(inflow - demand), release - demand, volume, year, step)
        power = power_at(self.plant.curves, mean(start, end), release, year, step)
        return np.asarray(in_objective_unit(year, stage_benefit(year, step, power, release, volume)))

    def after(
        self, step: int, storage: ArrayLike, release: FloatArray, inflow: FloatArray, upper_hm3: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """End storage of a step, repaired as in the simulation, and its benefit less the cost of violations.

        The highest storage is that of the step, or a given one.
        """
        end, _, made = self.outcome(step, storage, release, inflow, upper_hm3)
        return end, made

    def outcome(
        self, step: int, storage: ArrayLike, release: FloatArray, inflow: FloatArray, upper_hm3: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """As `after`, with the release as it is repaired between the two."""
        volume, start = self.months.volume_per_flow[step], np.asarray(storage, float)
        storages = self.storage_lower_hm3[step], self.storage_upper_hm3[step] if upper_hm3 is None else upper_hm3
        releases = self.months.release_lower_m3s[step], self.months.release_upper_m3s[step]
        year, dead = self.year, min(self.storage_lower_hm3)
        kept, draft, end = month_end(start, release, inflow, volume, storages, releases, dead, year, step)
        power = power_at(self.plant.curves, mean(start, end), kept, year, step)
        violation = relative_violation(np.maximum(end, dead), *storages, max(self.storage_upper_hm3))
        # Repair lets the end stand a rounding beyond its bound, which is no violation.
        violation = np.where(violation > ROUNDING, violation, 0.0)
        violation = violation + unmet(year, step, draft, kept, kept) + unmet_power(year, step, power)
        least_draft = releases[0] - demanded(year, step)
        violation = violation + unmet_minimum(draft, least_draft, self.months.per_missing_hm3 * volume)
        benefit = in_objective_unit(year, stage_benefit(year, step, power, kept, volume))
        return end, kept, benefit - self.penalty_gwh * violation


def interpolate_values(grid: FloatArray, values: FloatArray, storage: FloatArray) -> FloatArray:
    """Values at storages, shape (situations, ..., inflows), by straight lines between those of an even grid.

    Parameters
    ----------
    grid : ndarray, shape (storages,)
    values : ndarray, shape (situations or 1, storages, inflows)
    """
    last, inflows = len(grid) - 1, values.shape[2]
    place = np.clip((storage - grid[0]) * (last / (grid[-1] - grid[0])), 0, last)
    left = np.minimum(place.astype(np.int64), last - 1)
    first = np.arange(len(values)).reshape(-1, *[1] * (storage.ndim - 1)) * (len(grid) * inflows) + np.arange(inflows)
    at, flat = left * inflows + first, values.ravel()
    low = flat[at]
    return np.asarray(low + (place - left) * (flat[at + inflows] - low))


class ValueRule(Physics, Rule):
    """A rule that weighs what a release makes now against what the water that it leaves is worth; see `Physics`."""

    @classmethod
    def weighing(cls, training: Training, forecast: Forecast, physics: Physics, **values: Any) -> Self:
        """The rule of these values that reckons with this physics."""
        of_physics = {name: getattr(physics, name) for name in Physics.model_fields if name != "months"}
        return cls.fitted(training, forecast, **of_physics, **values)

    @property
    def physics(self) -> Physics:
        """What a release comes to."""
        return self

    def best_releases(
        self,
        step: int,
        storage_hm3: FloatArray,
        inflow: FloatArray,
        probability: FloatArray,
        grid: FloatArray,
        values: FloatArray,
    ) -> FloatArray:
        """Releases of the highest expected value: tried over the whole range, then between the best one's neighbours.

        Parameters
        ----------
        step : int
        storage_hm3 : ndarray, shape (situations,)
            At the start of the step.
        inflow, probability : ndarray, shape (situations or 1, inflows)
            Inflows that may come, m3/s, and their probabilities.
        grid : ndarray, shape (storages,)
        values : ndarray, shape (situations or 1, storages, inflows)
            Value of a storage at the end of the step after each inflow.
        """
        every, storage = np.arange(len(storage_hm3)), storage_hm3[:, np.newaxis, np.newaxis]
        upper = np.full(len(storage_hm3), self.storage_upper_hm3[step]) if self._upper_hm3 is None else self._upper_hm3
        tried = self.tried_releases(step, storage_hm3, inflow.min(axis=-1), inflow.max(axis=-1), RELEASES, upper)
        chosen = tried[-1]
        for _ in range(2):
            releases = np.ascontiguousarray(tried.T)[..., np.newaxis]
            end, gained = self.after(step, storage, releases, inflow[:, np.newaxis], upper[:, np.newaxis, np.newaxis])
            expected = (gained + interpolate_values(grid, values, end)) @ probability[..., np.newaxis]
            # The last of equals is the greatest release: repair then has the least to add.
            most = expected.max(axis=1)
            best = len(tried) - 1 - np.argmax((expected[..., 0] >= most - EQUAL * np.abs(most))[:, ::-1], axis=1)
            chosen = tried[best, every]
            below, above = np.maximum(best - 1, 0), np.minimum(best + 1, len(tried) - 1)
            tried = np.linspace(tried[below, every], tried[above, every], RELEASES)
        return np.asarray(chosen)
