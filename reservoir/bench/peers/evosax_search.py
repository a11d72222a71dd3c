"""evosax (Lange 2023, GECCO companion, 659): a swarm a year, all years of a share at once under vmap, in JAX."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from evosax import algorithms
from numpy.typing import NDArray

from reservoir.bench.peers.entry import Attempt, RaceCourse, gap_to
from reservoir.bench.peers.jax_objective import fitness, stacked_years
from reservoir.bench.peers.objective import FloatArray
from reservoir.problems.reservoir.year import ReservoirYear

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
        found = zip(self.gaps.tolist(), self._evaluations.tolist(), self._seconds.tolist(), strict=True)
        return [Attempt(*each) for each in found]


def _programs(
    like: ReservoirYear, algorithm: str, options: Mapping[str, Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Compiled: begin the swarms of all years, and advance them by `_CHUNK` generations.

    Swarms move in the unit cube, as evosax knows no bounds: a position outside is brought back to the nearest inside.
    """
    parameters = dict(options)
    size = parameters.pop("population")
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
        asked, told = jax.random.split(key)
        population, state = strategy.ask(asked, state, params)
        population = jnp.clip(population, 0, 1)
        state, _ = strategy.tell(told, population, losses(year, population), state, params)
        return state, None

    def advance(year: Any, state: Any, key: Any) -> Any:
        return jax.lax.scan(partial(generation, year), state, jax.random.split(key, _CHUNK))[0]

    return jax.jit(jax.vmap(begin)), jax.jit(jax.vmap(advance))
