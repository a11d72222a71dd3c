"""Explicit stochastic dynamic programming: the strong baseline.

Stedinger, Sule and Loucks 1984, Water Resour. Res. 20:1499; Loucks and van Beek 2017, Water Resource Systems Planning
and Management, ch. 8. The inflow of each month falls into classes, and the class of a month depends on that of the
month before (a lag-1 Markov chain that repeats every year). The value of a storage and a class is the energy still to
come, beyond the yearly mean, found by going backwards through the year until it repeats. A decision looks one month
ahead with the inflow that is known, rather than reading a table of decisions made for whole classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.approximation import specific_power_curve
from reservoir.hydro.objective import GWH_PER_MW_VOLUME
from reservoir.hydro.reservoir import Reservoir
from reservoir.rules.monthly import Months
from reservoir.rules.rule import Forecast
from reservoir.rules.training import Training

FloatArray = NDArray[np.float64]

FAMILY = "sdp"
#: Inflow classes of a month, and the fewest years that a class may stand for.
CLASSES, YEARS_PER_CLASS = 7, 3
#: Storages of the grid, releases compared, and points of each curve of the plant.
STORAGES, RELEASES, POINTS = 61, 61, 401
#: Years that the months' own frequencies of classes count for beside the transitions seen.
CLIMATOLOGY_YEARS = 1.0
#: The values have converged when a year more changes their differences by less than this part of its energy.
TOLERANCE = 1e-6
MOST_CYCLES = 60
#: Releases whose worth differs by less than this part are equally good.
EQUAL = 1e-12


@dataclass(frozen=True)
class PlantTable:
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

    storage_hm3: tuple[float, ...]
    level_m: tuple[float, ...]
    release_m3s: tuple[float, ...]
    tailrace_m: tuple[float, ...]
    head_m: tuple[float, ...]
    specific_mw: tuple[float, ...]
    capacity_m3s: tuple[float, ...]
    installed_mw: float

    @classmethod
    def of(cls, plant: Reservoir) -> PlantTable:
        """Take points from the exact curves, over all storages and releases within the bounds."""
        storage = np.linspace(plant.storage_lower_hm3.min(), plant.storage_upper_hm3.max(), POINTS)
        release = np.linspace(plant.release_lower_m3s.min(), plant.release_upper_m3s.max(), POINTS)
        level, tailrace = plant.level(storage), plant.tailrace(release)
        head = np.linspace(level.min() - tailrace.max(), level.max() - tailrace.min(), POINTS)
        specific, capacity = specific_power_curve(plant)(head), plant.capacity_m3s(head)
        installed = float(plant.installed_mw)
        parts = (storage, level, release, tailrace, head, specific, capacity, installed)
        return cls(*(_tuples(part) for part in parts))

    @cached_property
    def curves(self) -> dict[str, FloatArray]:
        """The points of the curves as arrays."""
        return {name: np.array(points, float) for name, points in asdict(self).items()}

    def power_mw(self, mean_storage_hm3: FloatArray, release_m3s: FloatArray) -> FloatArray:
        """Power at a month's mean storage and release (eq. 7-9)."""
        of = self.curves
        level = np.interp(mean_storage_hm3, of["storage_hm3"], of["level_m"])
        head = level - np.interp(release_m3s, of["release_m3s"], of["tailrace_m"])
        discharge = np.minimum(release_m3s, np.interp(head, of["head_m"], of["capacity_m3s"]))
        return np.minimum(np.interp(head, of["head_m"], of["specific_mw"]) * discharge, self.installed_mw)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {name: _lists(points) for name, points in asdict(self).items()}


@dataclass(frozen=True)
class Physics:
    """One month of a reservoir: what a release comes to once the physical limits are kept.

    Parameters
    ----------
    months : Months
        Bounds of the release, and the volume of a flow.
    plant : PlantTable
    storage_lower_hm3, storage_upper_hm3 : tuple of float
        Bounds of the storage at the end of each step.
    penalty_gwh : float
        Cost of a relative violation of 1 (eq. 21).
    """

    months: Months
    plant: PlantTable
    storage_lower_hm3: tuple[float, ...]
    storage_upper_hm3: tuple[float, ...]
    penalty_gwh: float

    @classmethod
    def of(cls, training: Training) -> Physics:
        """The months of the training years."""
        plant = training.model.reservoir
        lower, upper = (plant.by_step(each) for each in (plant.storage_lower_hm3, plant.storage_upper_hm3))
        table = PlantTable.of(plant)
        return cls(Months.of(training), table, _tuples(lower), _tuples(upper), float(plant.penalty_gwh))

    def releases(self, step: int, storage: FloatArray, least_inflow: FloatArray, most_inflow: FloatArray) -> FloatArray:
        """Releases worth comparing, along a new first axis.

        They run from what fills the reservoir at the least inflow to what empties it at the most.
        """
        volume = self.months.volume_per_flow[step]
        filling = least_inflow - (self.storage_upper_hm3[step] - storage) / volume
        emptying = most_inflow - (self.storage_lower_hm3[step] - storage) / volume
        bounds = self.months.release_lower_m3s[step], self.months.release_upper_m3s[step]
        return np.linspace(np.clip(filling, *bounds), np.clip(emptying, *bounds), RELEASES)

    def after(
        self, step: int, storage: ArrayLike, release: FloatArray, inflow: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """End storage of a step, repaired as in the simulation, and its energy less the cost of violations."""
        volume = self.months.volume_per_flow[step]
        least, most = self.months.release_lower_m3s[step], self.months.release_upper_m3s[step]
        start = np.asarray(storage, float)
        wanted = start + (inflow - np.clip(release, least, most)) * volume
        target = np.clip(wanted, self.storage_lower_hm3[step], self.storage_upper_hm3[step])
        kept = np.clip(inflow - (target - start) / volume, least, most)
        end = start + (inflow - kept) * volume
        energy = self.plant.power_mw((start + end) / 2, kept) * volume * GWH_PER_MW_VOLUME
        return end, energy - self.penalty_gwh * self._violation(step, end)

    def _violation(self, step: int, end: FloatArray) -> FloatArray:
        """Relative violation of the storage bounds (eq. 20)."""
        capacity = max(self.storage_upper_hm3)
        lower, upper = self.storage_lower_hm3[step], self.storage_upper_hm3[step]
        below, above = np.maximum(lower - end, 0.0), np.maximum(end - upper, 0.0)
        # Repair lets the end stand a rounding beyond its bound, which is no violation.
        beyond = below / (lower if lower > 0 else capacity) + above / (upper if upper > 0 else capacity)
        return np.where(beyond > 1e-9, beyond, 0.0)


@dataclass(frozen=True)
class Sdp:
    """A rule that takes the release of most energy, this month's and the value of what it leaves behind.

    Parameters
    ----------
    reservoir : str
    forecast : Forecast
    physics : Physics
        What a release comes to.
    grid_hm3 : tuple of float
        Storages that values are known at, evenly apart.
    classes_m3s : tuple of tuple of float
        Mean inflow of each class, by step; they rise.
    transitions : tuple of tuple of tuple of float
        Probability of a class, by step, class of the step before and class.
    values_gwh : tuple of tuple of tuple of float
        Energy still to come beyond the yearly mean, by step, storage at its start and class of the step before.
    """

    reservoir: str
    forecast: Forecast
    physics: Physics
    grid_hm3: tuple[float, ...]
    classes_m3s: tuple[tuple[float, ...], ...]
    transitions: tuple[tuple[tuple[float, ...], ...], ...]
    values_gwh: tuple[tuple[tuple[float, ...], ...], ...]

    family = FAMILY

    @cached_property
    def arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Grid, classes, transitions and values as arrays."""
        nested = (self.grid_hm3, self.classes_m3s, self.transitions, self.values_gwh)
        grid, classes, transitions, values = (np.array(each, float) for each in nested)
        return grid, classes, transitions, values

    def release(self, step: int, storage_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float) -> float:
        """Release of the greatest expected worth: tried over the whole range, then between the best one's neighbours.

        Without a forecast the expectation runs over the classes that may follow the inflow before.
        """
        inflow, probability, values = self._outcomes(step, inflow_now_m3s, inflow_before_m3s)
        storage = np.asarray(float(storage_hm3))
        tried = self.physics.releases(step, storage, inflow[0], inflow[-1])
        for _ in range(2):
            end, gained = self.physics.after(step, storage, tried[:, None], inflow)
            best = _best((gained + _along(self.arrays[0], values, end)) @ probability)
            chosen = float(tried[best])
            tried = np.linspace(tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)], RELEASES)
        return chosen

    def _outcomes(self, step: int, now: float | None, before: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Inflows that may come, their probabilities, and the values of storages after each (storages, inflows)."""
        _, classes, transitions, values = self.arrays
        following = values[(step + 1) % len(classes)]
        if self.forecast is Forecast.NONE or now is None:
            return classes[step], _shares(classes[step - 1], before) @ transitions[step], following
        return np.array([now]), np.ones(1), following @ _shares(classes[step], now)[:, None]

    def to_dict(self) -> dict[str, Any]:
        """Everything that makes the rule, as JSON can hold it."""
        physics = self.physics
        return {
            "family": FAMILY,
            "reservoir": self.reservoir,
            "forecast": str(self.forecast),
            "months": physics.months.to_dict(),
            "plant": physics.plant.to_dict(),
            "storage_lower_hm3": list(physics.storage_lower_hm3),
            "storage_upper_hm3": list(physics.storage_upper_hm3),
            "penalty_gwh": physics.penalty_gwh,
            **{name: _lists(getattr(self, name)) for name in _TABLES},
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Sdp:
        """Read back what `to_dict` gave.

        Raises
        ------
        InputError
            If a part is missing, has the wrong size, or holds what is no number.
        """
        try:
            forecast, months = Forecast(content["forecast"]), _months_from(content["months"])
            name, penalty = str(content["reservoir"]), _numbers(content, "penalty_gwh", ())
            bounds = [_numbers(content, key, (len(months.inflow_m3s),)) for key in _BOUNDS]
            plant = _plant_from(content["plant"])
            tables = _tables_from(content, len(months.inflow_m3s))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise _unreadable(f"a part is missing or is not what it should be ({error})") from error
        lower, upper = (_tuples(each) for each in bounds)
        physics = Physics(months, plant, lower, upper, float(penalty))
        return cls(name, forecast, physics, *(_tuples(each) for each in tables))


_BOUNDS = ("storage_lower_hm3", "storage_upper_hm3")
_TABLES = ("grid_hm3", "classes_m3s", "transitions", "values_gwh")


def fit(training: Training, forecast: Forecast) -> Sdp:
    """Estimate the classes and their transitions from the training years, and the values that repeat every year."""
    physics = Physics.of(training)
    classes, transitions = inflow_chain(training)
    grid = np.linspace(min(physics.storage_lower_hm3), max(physics.storage_upper_hm3), STORAGES)
    values = _values(physics, forecast, grid, classes, transitions)
    tables = (_tuples(each) for each in (grid, classes, transitions, values))
    return Sdp(training.model.reservoir.name, forecast, physics, *tables)


def inflow_chain(training: Training) -> tuple[FloatArray, FloatArray]:
    """Inflow classes of each step, and the probability of each after each class of the step before.

    Classes hold equally many years. The transitions seen are mixed with the frequency of the classes, as if
    `CLIMATOLOGY_YEARS` more had been seen after each class, so that every class may follow.

    Returns
    -------
    classes : ndarray, shape (steps, classes)
        Mean inflow of each class, rising.
    transitions : ndarray, shape (steps, classes, classes)
        By step, class of the step before and class.
    """
    count = max(1, min(CLASSES, training.years // YEARS_PER_CLASS))
    groups = [np.array_split(np.sort(flow), count) for flow in training.inflow_m3s.T]
    classes = np.array([[group.mean() for group in step] for step in groups])
    # A class begins halfway between its least inflow and the greatest of the class below.
    edges = [[(one[-1] + other[0]) / 2 for one, other in pairwise(step)] for step in groups]
    share = np.array([len(group) for group in groups[0]]) / training.years
    transitions = np.empty((training.steps, count, count))
    for step in range(training.steps):
        before = np.searchsorted(edges[step - 1], training.inflow_before_m3s[:, step])
        transitions[step] = _frequencies(before, np.searchsorted(edges[step], training.inflow_m3s[:, step]), share)
    return classes, transitions


def _frequencies(before: NDArray[np.int64], now: NDArray[np.int64], share: FloatArray) -> FloatArray:
    """Part of each class after each class before, mixed with the parts of the classes in all years."""
    seen = np.zeros((len(share), len(share)))
    np.add.at(seen, (before, now), 1.0)
    seen += CLIMATOLOGY_YEARS * share
    return np.asarray(seen / seen.sum(axis=1, keepdims=True))


def _values(
    physics: Physics, forecast: Forecast, grid: FloatArray, classes: FloatArray, transitions: FloatArray
) -> FloatArray:
    """Relative value iteration: go back through the year until a year more adds the same to all values."""
    steps = len(classes)
    months = [_month(physics, forecast, step, grid, classes[step]) for step in range(steps)]
    values = np.zeros((steps + 1, len(grid), classes.shape[1]))
    for _ in range(MOST_CYCLES):
        for step in range(steps - 1, -1, -1):
            end, gained = months[step]
            worth = gained + _along(grid, values[step + 1], end)
            # What is known when the release is chosen: the month's class, or only that of the month before.
            if forecast is Forecast.MONTH:
                values[step] = worth.max(axis=0) @ transitions[step].T
            else:
                values[step] = (worth @ transitions[step].T).max(axis=0)
        gain = values[0] - values[-1]
        values[-1] = values[0] - values[0, -1, 0]
        if np.ptp(gain) <= TOLERANCE * np.abs(gain).max():
            break
    return values[:-1]


def _month(
    physics: Physics, forecast: Forecast, step: int, grid: FloatArray, classes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """End storage and gain of a step, by release tried, storage of the grid and class of the inflow."""
    storage = grid[:, None]
    if forecast is Forecast.MONTH:
        tried = physics.releases(step, storage, classes, classes)
    else:
        tried = physics.releases(step, storage, classes[:1], classes[-1:])
    return physics.after(step, storage, tried, classes)


def _along(grid: FloatArray, values: FloatArray, storage: FloatArray) -> FloatArray:
    """Values by storage and class at storages (..., classes), by straight lines between an even grid's."""
    last = len(grid) - 1
    place = np.clip((storage - grid[0]) * (last / (grid[-1] - grid[0])), 0, last)
    left = np.minimum(place.astype(np.int64), last - 1)
    classes = np.arange(values.shape[1])
    low = values[left, classes]
    return np.asarray(low + (place - left) * (values[left + 1, classes] - low))


def _best(worth: FloatArray) -> int:
    """Place of the best; of equals the last, the greatest release: repair then has the least to add."""
    most = worth.max()
    return int(np.flatnonzero(worth >= most - EQUAL * abs(most))[-1])


def _shares(classes: FloatArray, inflow: float) -> FloatArray:
    """How much an inflow belongs to each class: to the two whose means it lies between, by nearness."""
    places = np.arange(len(classes))
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(np.interp(inflow, classes, places) - places)))


def _tables_from(content: Mapping[str, Any], steps: int) -> tuple[FloatArray, ...]:
    """Grid, classes, transitions and values, of sizes that belong together."""
    storages, classes = len(content["grid_hm3"]), len(content["classes_m3s"][0])
    sizes = ((storages,), (steps, classes), (steps, classes, classes), (steps, storages, classes))
    grid, means, chain, values = (_numbers(content, *each) for each in zip(_TABLES, sizes, strict=True))
    apart = np.diff(grid)
    if len(grid) < 2 or apart[0] <= 0 or not np.allclose(apart, apart[0], rtol=1e-6):
        raise _unreadable("grid_hm3 does not rise in even steps")
    if np.any(np.diff(means, axis=1) < 0):
        raise _unreadable("classes_m3s do not rise within a month")
    if np.any(chain < 0) or not np.allclose(chain.sum(axis=2), 1.0, atol=1e-6):
        raise _unreadable("transitions are no probabilities that sum to 1")
    return grid, means, chain, values


def _months_from(content: Mapping[str, Any]) -> Months:
    """The months, as many values of each kind."""
    for name in content:
        _numbers(content, name, (len(content["calendar_month"]),))
    return Months.from_dict(content)


def _plant_from(content: Mapping[str, Any]) -> PlantTable:
    """The plant's curves, each pair of one length and by something that rises."""
    sizes = {field.name: np.shape(content[field.name]) for field in fields(PlantTable)}
    for by, *others in (
        ("storage_hm3", "level_m"),
        ("release_m3s", "tailrace_m"),
        ("head_m", "specific_mw", "capacity_m3s"),
    ):
        if np.any(np.diff(_numbers(content, by, (len(content[by]),))) < 0):
            raise _unreadable(f"{by} of the plant does not rise")
        sizes.update(dict.fromkeys(others, sizes[by]))
    points = {name: _numbers(content, name, size) for name, size in sizes.items() if name != "installed_mw"}
    installed = float(_numbers(content, "installed_mw", ()))
    return PlantTable(**{name: _tuples(each) for name, each in points.items()}, installed_mw=installed)


def _numbers(content: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> FloatArray:
    """A part of the content as finite numbers of a shape."""
    numbers = np.array(content[name], float)
    if numbers.shape != shape:
        raise _unreadable(f"{name} has the wrong size", f"{shape}", numbers.shape)
    if not np.all(np.isfinite(numbers)):
        raise _unreadable(f"{name} holds what is no finite number")
    return numbers


def _unreadable(problem: str, expected: str = "", value: object = None) -> InputError:
    mend = "take the file as `reservoir rules` wrote it"
    return InputError(Mistake(f"this is no rule of family {FAMILY}: {problem}", expected, mend, value=value))


def _tuples(numbers: ArrayLike) -> Any:
    """Nested tuples of the numbers of an array."""
    array = np.asarray(numbers, float)
    return tuple(_tuples(each) for each in array) if array.ndim else float(array)


def _lists(nested: Any) -> Any:
    return [_lists(each) for each in nested] if isinstance(nested, tuple) else nested
