"""evosax (Lange 2023, GECCO companion, 659): a swarm a year, all years of a share at once under vmap, in JAX.

The fitness of a year in JAX, in float32 on the forms of the curves that every solver uses, is the third expression of
the physics (`hydro`, ``kernels/problems/reservoir``), needed because JAX can neither call compiled Python within its
own programs nor OpenCL. A test holds it against `ReservoirYears.certify`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from reservoir.bench.peer_search import Attempt, FloatArray, RaceCourse, gap_to
from reservoir.hydro.benefit import GWH_PER_STAGE_BENEFIT
from reservoir.hydro.curves.approximation import Form
from reservoir.hydro.curves.forms import PolynomialForm
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import FIELDS, NUMBERS, PLAIN_FIELDS, PLAIN_NUMBERS
from reservoir.problems.reservoir.year import ReservoirYears

#: Generations from one look at the results to the next.
_CHUNK = 50


def platform() -> str:
    """Where JAX computes: ``cpu``, or the name of the device."""
    return "cpu" if jax.default_backend() == "cpu" else str(jax.devices()[0].device_kind)


def search_years(course: RaceCourse, algorithm: str, settings: Mapping[str, Any]) -> list[Attempt]:
    """Search until every year is near its optimum or the time is up; the time of compilation is left out.

    When the swarms have run their generations, all start anew, those of years that are done on years that are not.
    """
    options = dict(settings)
    chunks = options.pop("generations") // _CHUNK
    years, near = course.years, course.budget.near
    begin, advance = _programs(years[0], algorithm, options)
    contexts, keys = stacked_years(years), _keys(course.seed, len(years))
    jax.block_until_ready(advance(contexts, begin(contexts, next(keys)), next(keys)))  # compiles
    watch = _Watch(course)
    while True:
        slots = np.resize(np.flatnonzero(watch.gaps > near), len(years))
        swarms = {name: array[slots] for name, array in contexts.items()}
        state = begin(swarms, next(keys))
        for _ in range(chunks):
            state = advance(swarms, state, next(keys))
            watch.look(slots, np.asarray(state.best_solution, np.float64), _CHUNK * options["population"])
            if watch.over:
                return watch.attempts()


def _keys(seed: int, years: int) -> Iterator[jax.Array]:
    """Random keys, one a year, as often as asked for."""
    key = jax.random.key(seed)
    while True:
        key, drawn = jax.random.split(key)
        yield jax.random.split(drawn, years)


class _Watch:
    """Certifies the best positions of the swarms in float64, and keeps the time."""

    def __init__(self, course: RaceCourse) -> None:
        years = len(course.years)
        self.gaps = np.full(years, np.inf)
        self._course = course
        self._evaluations, self._seconds = np.zeros(years, int), np.zeros(years)
        self._started = time.perf_counter()

    @property
    def over(self) -> bool:
        """Whether all years are done, or the time is up."""
        return bool(np.all(self.gaps <= self._course.budget.near)) or self._elapsed >= self._course.budget.seconds

    @property
    def _elapsed(self) -> float:
        return time.perf_counter() - self._started

    def look(self, slots: NDArray[np.int64], cubes: FloatArray, judged: int) -> None:
        """Take note of the best position, in the unit cube, of the swarm in every slot."""
        for slot, cube in zip(slots, cubes, strict=True):
            self._evaluations[slot] += judged
            if self.gaps[slot] > self._course.budget.near:
                year = self._course.years[slot]
                fitness = year.certify(year.lower + cube * (year.upper - year.lower)).fitness
                self.gaps[slot] = min(self.gaps[slot], gap_to(self._course.optima_gwh[slot], fitness))
                self._seconds[slot] = self._elapsed

    def attempts(self) -> list[Attempt]:
        """What the years came to."""
        numbers = zip(self.gaps.tolist(), self._evaluations.tolist(), self._seconds.tolist(), strict=True)
        return [Attempt(*each) for each in numbers]


def _programs(
    like: ReservoirYears, algorithm: str, options: Mapping[str, Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Compiled: begin the swarms of all years, and advance them by `_CHUNK` generations.

    Swarms move in the unit cube, as evosax knows no bounds: a position outside is brought back to the nearest inside.
    """
    parameters = dict(options)
    size = parameters.pop("population")
    from evosax import algorithms

    strategy = getattr(algorithms, algorithm)(population_size=size, solution=jnp.zeros(like.dimension))
    params = strategy.default_params.replace(**parameters)
    lower, width = jnp.asarray(like.lower), jnp.asarray(like.upper - like.lower)

    def losses(year: Any, population: Any) -> Any:
        return -jax.vmap(partial(fitness, like, year))(lower + population * width)

    def begin(year: Any, key: Any) -> Any:
        place, rest = jax.random.split(key)
        population = jax.random.uniform(place, (size, like.dimension))
        return strategy.init(rest, population, losses(year, population), params)

    def generation(year: Any, state: Any, key: Any) -> tuple[Any, None]:
        ask_key, tell_key = jax.random.split(key)
        population, state = strategy.ask(ask_key, state, params)
        population = jnp.clip(population, 0, 1)
        state, _ = strategy.tell(tell_key, population, losses(year, population), state, params)
        return state, None

    def advance(year: Any, state: Any, key: Any) -> Any:
        return jax.lax.scan(partial(generation, year), state, jax.random.split(key, _CHUNK))[0]

    return jax.jit(jax.vmap(begin)), jax.jit(jax.vmap(advance))


_NAMES = (*FIELDS[:PLAIN_FIELDS], *NUMBERS[:PLAIN_NUMBERS])


def stacked_years(years: Sequence[ReservoirYears]) -> dict[str, jax.Array]:
    """The years of one reservoir by name (`hydro.rows`), shapes (years, steps) and (years,)."""
    arrays = [year.compiled_context().year for year in years]
    return {name: jnp.asarray(np.stack([getattr(each, name) for each in arrays])) for name in _NAMES}


def fitness(like: ReservoirYears, year: dict[str, jax.Array], position: jax.Array) -> jax.Array:
    """Fitness, GWh (paper eq. 21), of one position in one year.

    Parameters
    ----------
    like : ReservoirYears
        Any year of the reservoir: what does not change from year to year.
    year : dict
        One year of `stacked_years`.
    position : array, shape (dimension,)
    """
    plant, steps, cyclic = like.model.approximation.plant, like.limits.steps, like.limits.cyclic
    wanted = jnp.clip(position[:steps], year["release_lower"], year["release_upper"])
    start = position[steps] if cyclic else year["start"]
    releases, storages = _follow(year, wanted, start, cyclic)
    volume = year["hm3_per_m3s"]
    mean_storages = 0.5 * (storages[:-1] + storages[1:])
    energy = jnp.sum(_power(plant, mean_storages, releases) * volume) * GWH_PER_STAGE_BENEFIT
    return energy - like.penalty * _violation(year, storages[1:], start, cyclic)


def _follow(year: dict[str, jax.Array], wanted: Any, start: Any, cyclic: bool) -> tuple[Any, Any]:
    """Releases and storages of a year, repaired (eq. 10 and 16-19)."""
    lower, upper = year["reach_lower"], year["reach_upper"]
    if cyclic:
        reach = lower, upper
        lower, upper = (jnp.clip(start - year[f"drift_{side}"], *reach) for side in ("lower", "upper"))

    def step(storage: Any, row: Any) -> tuple[Any, Any]:
        wanted, inflow, volume, lower, upper, least, most = row
        end = storage + (inflow - wanted) * volume
        target = jnp.clip(end, lower, upper)
        steered = wanted + (end - target) / volume
        release = jnp.clip(steered, least, most)
        following = jnp.where(release == steered, target, storage + (inflow - release) * volume)
        return following, (release, following)

    inflow, volume, least, most = (year[name] for name in ("inflow", "hm3_per_m3s", "release_lower", "release_upper"))
    # A loop: unrolled, the steps take three times as long to compile and no less to run.
    _, (releases, ends) = jax.lax.scan(step, start, (wanted, inflow, volume, lower, upper, least, most))
    return releases, jnp.append(start, ends)


def _power(plant: Plant, storages: Any, releases: Any) -> Any:
    """Power of each step, MW (eq. 7-9)."""
    head = _curve(plant.level, storages) - _curve(plant.tailrace, releases)
    discharge = jnp.minimum(releases, _curve(plant.capacity, head))
    return jnp.minimum(_curve(plant.conversion, head) * discharge, plant.installed_mw)


def _curve(form: Form, x: Any) -> Any:
    if isinstance(form, PolynomialForm):
        return jnp.polyval(
            jnp.asarray(form.coefficients), (jnp.clip(x, form.lower, form.upper) - form.centre) * form.per_unit
        )
    places = form.lower + jnp.arange(len(form.values)) / form.per_unit
    return jnp.interp(x, places, jnp.asarray(form.values))


def _violation(year: dict[str, jax.Array], ends: Any, start: Any, cyclic: bool) -> Any:
    """Sum of the relative violations of the storage bounds (eq. 20)."""
    lower, upper = year["storage_lower"], year["storage_upper"]
    if cyclic:
        lower, upper = lower.at[-1].set(start), upper.at[-1].set(start)
    capacity = year["capacity"]
    below = jnp.maximum(lower - ends, 0) / jnp.where(lower > 0, lower, capacity)
    above = jnp.maximum(ends - upper, 0) / jnp.where(upper > 0, upper, capacity)
    return jnp.sum(below + above)
