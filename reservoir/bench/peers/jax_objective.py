"""The fitness of a year in JAX: what evosax is given, in float32 on the forms of the curves that every solver uses.

The third expression of the physics (`hydro`, ``kernels/problems/reservoir``), needed because JAX can neither call
compiled Python within its own programs nor OpenCL. A test holds it against `ReservoirYear.certify`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from reservoir.hydro.benefit import GWH_PER_STAGE_BENEFIT
from reservoir.hydro.curves.approximation import Form
from reservoir.hydro.curves.forms import PolynomialForm
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import FIELDS, NUMBERS, PLAIN_FIELDS, PLAIN_NUMBERS
from reservoir.problems.reservoir.year import ReservoirYear

_NAMES = (*FIELDS[:PLAIN_FIELDS], *NUMBERS[:PLAIN_NUMBERS])


def stacked_years(years: Sequence[ReservoirYear]) -> dict[str, jax.Array]:
    """The years of one reservoir by name (`hydro.rows`), shapes (years, steps) and (years,)."""
    arrays = [year.compiled_context().year for year in years]
    return {name: jnp.asarray(np.stack([getattr(each, name) for each in arrays])) for name in _NAMES}


def fitness(like: ReservoirYear, year: dict[str, jax.Array], position: jax.Array) -> jax.Array:
    """Fitness, GWh (paper eq. 21), of one position in one year.

    Parameters
    ----------
    like : ReservoirYear
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
        kept = jnp.clip(steered, least, most)
        following = jnp.where(kept == steered, target, storage + (inflow - kept) * volume)
        return following, (kept, following)

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
