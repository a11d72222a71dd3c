"""What the releases of a system come to: its reservoirs one after another, each handing its releases on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.benefit import stage_benefit
from reservoir.hydro.operation import Operation
from reservoir.hydro.rows import filled_years
from reservoir.hydro.system import Link, System

FloatArray = NDArray[np.float64]
#: Operates the reservoir at a place: told the place, what links bring (m3/s) and the level of the lake below (m), each
#: of shape (years, steps), or None.
Run = Callable[[int, FloatArray | None, FloatArray | None], Operation]


@dataclass(frozen=True, eq=False)
class SystemOperation:
    """Operations of the reservoirs of a system, in float64.

    Parameters
    ----------
    system : System
    of_reservoirs : tuple of Operation
        From upstream to downstream.
    arriving_m3s : tuple of (ndarray, shape (years, steps), or None)
        What links bring to each.
    hm3_per_m3s : ndarray, shape (years, steps)
    terms : mapping of str to ndarray, shape (years, steps)
        Terms of the objective that are of the sum of all plants (`reservoir.problems.system.system_problems`).
    """

    system: System
    of_reservoirs: tuple[Operation, ...]
    arriving_m3s: tuple[FloatArray | None, ...]
    hm3_per_m3s: FloatArray
    terms: Mapping[str, FloatArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.hm3_per_m3s)

    def __getitem__(self, years: slice | NDArray[np.integer]) -> SystemOperation:
        return self._of(lambda array: array[years])

    def _of(self, changed: Callable[..., Any], *others: SystemOperation) -> SystemOperation:
        """Of each array, and of those of other operations, what a function makes of them."""
        every = (self, *others)
        operations = zip(*(each.of_reservoirs for each in every), strict=True)
        arriving = zip(*(each.arriving_m3s for each in every), strict=True)
        return replace(
            self,
            of_reservoirs=tuple(first._of(changed, *further) for first, *further in operations),
            arriving_m3s=tuple(None if arrays[0] is None else changed(*arrays) for arrays in arriving),
            hm3_per_m3s=changed(*(each.hm3_per_m3s for each in every)),
            terms={name: changed(*(each.terms[name] for each in every)) for name in self.terms},
        )

    def in_years(self, steps: int) -> SystemOperation:
        """Horizons of several years as years of so many steps each, a row a year."""
        if self.hm3_per_m3s.shape[-1] == steps:
            return self
        of_years = tuple(each.in_years(steps) for each in self.of_reservoirs)
        by_step = self._of(lambda array: array.reshape(-1, steps) if array.shape[-1] % steps == 0 else array)
        return replace(by_step, of_reservoirs=of_years)

    def as_horizons(self, count: int) -> SystemOperation:
        """Consecutive years as so many horizons, equally long, whose storage goes on from year to year."""

        def joined(of_years: Operation) -> Operation:
            storage = of_years.storage_hm3
            ends = storage[:, 1:].reshape(count, -1)
            whole = np.concatenate([storage[:: len(storage) // count, :1], ends], axis=1)
            return of_years._of(lambda array: whole if array is storage else array.reshape(count, -1))

        return replace(
            self,
            of_reservoirs=tuple(map(joined, self.of_reservoirs)),
            arriving_m3s=tuple(None if each is None else each.reshape(count, -1) for each in self.arriving_m3s),
            hm3_per_m3s=self.hm3_per_m3s.reshape(count, -1),
            terms={name: term.reshape(count, -1) for name, term in self.terms.items()},
        )

    def stacked(self, name: str) -> FloatArray:
        """An array of `Operation` of all reservoirs, shape (years, reservoirs, ...)."""
        return np.stack([getattr(each, name) for each in self.of_reservoirs], axis=1)

    def total(self, name: str) -> FloatArray:
        """The sum of an array over all reservoirs, in their order, shape (years, ...)."""
        first, *others = (getattr(each, name) for each in self.of_reservoirs)
        for other in others:
            first = first + other
        return np.asarray(first)

    @property
    def power_mw(self) -> FloatArray:
        """Power of all plants, shape (years, steps)."""
        return self.total("power_mw")

    @property
    def leaving_m3s(self) -> FloatArray:
        """Released by all reservoirs, less what links carry to others, shape (years, steps)."""
        carried = sum(self.flow_m3s(link) for link in self.system.links if link.target is not None)
        return np.asarray(self.total("release_m3s") - carried)

    def flow_m3s(self, link: Link) -> FloatArray:
        """What a link carries, at its source, shape (years, steps)."""
        of_source = self.of_reservoirs[self.system.names.index(link.source)]
        return np.asarray(link.of_release(of_source.release_m3s, of_source.turbined_m3s))

    @property
    def stage_benefit(self) -> FloatArray:
        """Benefit of each step, in the unit of the objective, shape (years, steps)."""
        own = self.total("stage_benefit")
        if not self.terms:
            return own
        years = filled_years({"inflow": np.zeros_like(self.hm3_per_m3s), **self.terms}).by_field
        everywhere = (slice(None), slice(None))
        return own + stage_benefit(years, everywhere, self.power_mw, self.leaving_m3s, self.hm3_per_m3s)

    @property
    def benefit(self) -> FloatArray:
        """Benefit of each year, in the unit of the objective, shape (years,)."""
        return np.asarray(self.stage_benefit.sum(axis=-1))

    @property
    def annual_energy_gwh(self) -> FloatArray:
        """Energy of all plants in each year, shape (years,)."""
        return self.total("annual_energy_gwh")

    @property
    def violation_sum(self) -> FloatArray:
        """Sum of the relative violations of all reservoirs in each year (eq. 20), shape (years,)."""
        return self.total("violation_sum")

    def fitness(self, penalty: float) -> FloatArray:
        """Benefit less violation cost of each year (eq. 21), shape (years,)."""
        return self.benefit - penalty * self.violation_sum

    def under_way_hm3(self, link: Link) -> FloatArray:
        """What a link still carries at the end of each year, shape (years,)."""
        return link.under_way_hm3(self.flow_m3s(link), self.hm3_per_m3s)


def operate_system(
    system: System,
    hm3_per_m3s: FloatArray,
    run: Run,
    terms: Mapping[str, FloatArray] | None = None,
) -> SystemOperation:
    """Operate the reservoirs of a system in order, each with what those above hand on.

    Plants that a lake below backs up are operated once more when the storages of that are known: what they release does
    not depend on it, nor what their links carry, which never is what turbines take or leave (`link_mistakes`).

    Parameters
    ----------
    system : System
    hm3_per_m3s : ndarray, shape (years, steps)
    run : callable
        Operates one reservoir (`Run`).
    terms : mapping of str to ndarray, optional
        See `SystemOperation`.
    """
    done, arriving = list[Operation](), list[FloatArray | None]()

    def flow(source: int, link: Link) -> Any:
        return link.of_release(done[source].release_m3s, done[source].turbined_m3s)

    for place in range(len(system.reservoirs)):
        arriving.append(system.arriving_m3s(place, flow, hm3_per_m3s))
        done.append(run(place, arriving[place], None))
    for place in range(len(system.reservoirs)):
        below = system.backed_up_by(place)
        if below is not None:
            done[place] = run(place, arriving[place], done[below].mean_level_m)
    return SystemOperation(system, tuple(done), tuple(arriving), hm3_per_m3s, terms or {})
