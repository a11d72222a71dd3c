"""Proofs of many horizons of one plant at once, level by level: their brackets are bounded together on a device.

Between the levels, threads of the host do what is left of each horizon: values, longest paths, halves. What is proved
of a horizon does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.bound import PAIRS, Effort, ProvenBound, advanced, proof_of
from reservoir.certificate.on_device import BracketsOnDevice
from reservoir.certificate.pairs import pairs_of
from reservoir.certificate.paths import Cells
from reservoir.certificate.reachable import stages_to_prove
from reservoir.certificate.tables import cell_values
from reservoir.opencl import DeviceInfo, Session
from reservoir.problems.reservoir.year import ReservoirYear

FloatArray = NDArray[np.float64]

Item = TypeVar("Item")

#: Pairs of cells that are laid out together, beside those of one horizon: half a gigabyte of brackets, and no more than
#: a kernel can index.
_PAIRS_TOGETHER = 2**26
#: Steps of horizons that are proved together, beside those of one: enough pairs for any device, and proofs that wait
#: hold some tens of bytes for each pair of theirs.
_STEPS_TOGETHER = 2048


class Known(NamedTuple):
    """A horizon, a schedule of it, and the fitness of that; arguments of `prove_bound`."""

    year: ReservoirYear
    storages_hm3: FloatArray
    fitness: float | None


class _Asked(NamedTuple):
    """What a proof yields, and the place of its horizon."""

    place: int
    cells: Cells
    brackets: FloatArray


def parts_together(horizons: Sequence[Known], pairs: int = PAIRS) -> Iterator[list[Known]]:
    """Horizons in parts of one plant each, of so many steps that they may be proved together.

    Parameters
    ----------
    horizons : sequence of Known
    pairs : int
        Of cells for each step (`Effort`).
    """
    most = max(_STEPS_TOGETHER * PAIRS // pairs, 1)
    for _, of_plant in groupby(horizons, lambda known: id(known.year.model)):
        some = list(of_plant)
        yield from _in_parts(some, [known.year.limits.steps for known in some], most)


def prove_together(
    device: DeviceInfo,
    horizons: Sequence[Known],
    effort: Effort,
    done: Callable[[int], None] = lambda _: None,
    *,
    single: bool = False,
) -> list[ProvenBound]:
    """Prove a bound for each of some horizons of one plant, as `prove_bound` does.

    Parameters
    ----------
    device : DeviceInfo
    horizons : sequence of Known
    effort : Effort
        Its seconds are those of all horizons; its threads do what the device does not.
    done : callable
        Told how many horizons are proved, whenever more are.
    single : bool
        As `BracketsOnDevice`.

    Raises
    ------
    DeviceError
        If the device can bound no brackets (`BracketsOnDevice`), or fails.
    """
    stages = [stages_to_prove(each.year.limits, each.year.penalty) for each in horizons]
    first_step = np.cumsum([0, *(len(each.per_flow) for each in stages)])
    proofs = [
        proof_of(each.year, of, *each[1:], effort, cell_values) for each, of in zip(horizons, stages, strict=True)
    ]
    found: dict[int, ProvenBound] = {}
    with Session(device) as session, ThreadPoolExecutor(effort.threads) as pool:
        on_device = BracketsOnDevice(session, horizons[0].year.model.exact, stages, single=single)
        places, told = list(range(len(proofs))), list(pool.map(advanced, proofs))
        while True:
            asked = []
            for place, each in zip(places, told, strict=True):
                if isinstance(each, ProvenBound):
                    found[place] = each
                else:
                    asked.append(_Asked(place, *each))
            done(len(found))
            if not asked:
                return [found[place] for place in range(len(proofs))]
            places = [each.place for each in asked]
            bounds = _bounded(on_device, asked, first_step)
            told = list(pool.map(advanced, [proofs[place] for place in places], bounds))


def _bounded(on_device: BracketsOnDevice, asked: Sequence[_Asked], first_step: NDArray[np.int64]) -> list[FloatArray]:
    """Bounds of the brackets of each horizon."""
    found: list[FloatArray] = []
    for some in _in_parts(asked, [len(each.brackets) for each in asked], _PAIRS_TOGETHER):
        pairs = pairs_of([each.cells for each in some], [int(first_step[each.place]) for each in some])
        bounds = on_device.bound(pairs, np.concatenate([each.brackets for each in some]))
        found += np.split(bounds, np.cumsum([len(each.brackets) for each in some[:-1]]))
    return found


def _in_parts(items: Sequence[Item], sizes: Sequence[int], most: int) -> Iterator[list[Item]]:
    """Items in a row whose sizes come to less than `most`, but for the first of them."""
    part = (np.cumsum(sizes) - 1) // most
    for _, numbered in groupby(zip(part, items, strict=True), lambda each: each[0]):
        yield [item for _, item in numbered]
