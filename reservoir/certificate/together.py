"""Proofs of several horizons whose brackets a device bounds: all at once, or all that wait at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from reservoir.certificate.bound import PAIRS, Effort, Known, ProvenBound, advanced, proof_of, told_by_mean
from reservoir.certificate.cells import Cells, pairs_of
from reservoir.certificate.on_device import BracketsOnDevice, bound_program, has_double
from reservoir.certificate.reachable import Reachable, stages_to_prove
from reservoir.certificate.stages import ByMean, Stages
from reservoir.certificate.tables import FloatArray, cell_values
from reservoir.hydro.plant import Plant
from reservoir.opencl import BuiltProgram, DeviceInfo, Session

Item = TypeVar("Item")

#: Pairs of cells that are laid out together, beside those of one horizon: half a gigabyte of brackets, and no more than
#: a kernel can index.
_PAIRS_TOGETHER = 2**26
#: Steps of horizons that are proved together, beside those of one: enough pairs for any device, and proofs that wait
#: hold some tens of bytes for each pair of theirs.
_STEPS_TOGETHER = 2048


def parts_together(horizons: Sequence[Known], pairs: int = PAIRS) -> Iterator[list[Known]]:
    """Horizons in parts of one plant each, of so many steps that they may be proved together.

    Parameters
    ----------
    horizons : sequence of Known
    pairs : int
        Of cells for each step (`Effort`).
    """
    most = max(_STEPS_TOGETHER * PAIRS // pairs, 1)
    for _, group in groupby(horizons, lambda known: id(known.year.model)):
        of_plant = list(group)
        yield from _in_parts(of_plant, [known.year.limits.steps for known in of_plant], most)


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
    stages = [stages_to_prove(known.year.limits, known.year.penalty) for known in horizons]
    first_step = np.cumsum([0, *(each.rows.shape[1] for each in stages)])
    proofs = [
        proof_of(known.year, of, *known[1:], effort, cell_values) for known, of in zip(horizons, stages, strict=True)
    ]
    proved: dict[int, ProvenBound] = {}
    with Session(device) as session, ThreadPoolExecutor(effort.threads) as pool:
        on_device = BracketsOnDevice(session, horizons[0].year.model.exact, stages, single=single)
        places, states = list(range(len(proofs))), list(pool.map(advanced, proofs))
        while True:
            proved |= {place: s for place, s in zip(places, states, strict=True) if isinstance(s, ProvenBound)}
            asked = [(place, *s) for place, s in zip(places, states, strict=True) if not isinstance(s, ProvenBound)]
            done(len(proved))
            if not asked:
                return [proved[place] for place in range(len(proofs))]
            places = [place for place, *_ in asked]
            bounds = _bounded(
                on_device, [(int(first_step[place]), cells, brackets) for place, cells, brackets in asked]
            )
            states = list(pool.map(advanced, [proofs[place] for place in places], bounds))


def _bounded(on_device: BracketsOnDevice, asked: Sequence[tuple[int, Cells, FloatArray]]) -> list[FloatArray]:
    """Bounds of the brackets of horizons, from the first step of each on the device, its cells, and their numbers."""
    bounds = list[FloatArray]()
    for part in _in_parts(asked, [len(brackets) for *_, brackets in asked], _PAIRS_TOGETHER):
        pairs = pairs_of([cells for _, cells, _ in part], [first for first, *_ in part])
        sizes = np.cumsum([len(brackets) for *_, brackets in part[:-1]])
        bounds += np.split(on_device.bound(pairs, np.concatenate([brackets for *_, brackets in part])), sizes)
    return bounds


class Together:
    """Asks a device for proofs in threads of their own: for all that wait with a question of one kind, at once.

    Brackets are bounded of reservoirs with a free flow (`stages.freed`). No answer depends on what waits.

    Parameters
    ----------
    device : DeviceInfo
    single : bool
        As `BracketsOnDevice`.

    Attributes
    ----------
    programs : dict
        That answers have built, by the kind of question.

    Raises
    ------
    DeviceError
        If the device can bound no brackets; later, if it fails.
    """

    def __init__(self, device: DeviceInfo, *, single: bool = False) -> None:
        self.device, self.single = device, single or not has_double(device)
        self.programs: dict[Any, BuiltProgram] = {}
        self._waiting: dict[Any, list[tuple[Any, Future[Any]]]] = {}
        self._listing, self._turn = Lock(), Lock()
        bound_program(device, single=self.single, free=True)

    def told_by_mean(self, plant: Plant, stages: Stages, known: Reachable) -> Stages:
        """As `told_by_mean`; by compiled code where the device has no double precision."""
        if self.single:
            return told_by_mean(plant, stages, known)

        def tell(session: Session, questions: Sequence[tuple[Stages, Reachable]]) -> list[ByMean]:
            horizons, within = zip(*questions, strict=True)
            return BracketsOnDevice(session, plant, horizons).told_by_mean(within)

        by_mean: ByMean = self.asked(("told", id(plant)), tell, (stages.without_range, known))
        return stages._replace(by_mean=by_mean)

    def bounded(self, plant: Plant, stages: Stages, cells: Cells, brackets: FloatArray) -> FloatArray:
        """The bounds of all pairs that are not minus infinity, shape (pairs,), as `BracketsOnDevice.bound`."""

        def bound(session: Session, questions: Sequence[tuple[Stages, Cells, FloatArray]]) -> list[FloatArray]:
            horizons = [stages for stages, *_ in questions]
            first = np.cumsum([0, *(each.rows.shape[1] for each in horizons)]).tolist()
            parts = [(start, *of[1:]) for start, of in zip(first[:-1], questions, strict=True)]
            return _bounded(BracketsOnDevice(session, plant, horizons, single=self.single), parts)

        bounds: FloatArray = self.asked(("bounded", id(plant)), bound, (stages, cells, brackets))
        return bounds

    def asked(self, kind: Any, answers: Callable[[Session, Any], Sequence[Any]], question: Any) -> Any:
        """The answer to a question; who has a turn asks for all that wait with one of the same kind."""
        mine = Future[Any]()
        with self._listing:
            self._waiting.setdefault(kind, []).append((question, mine))
        with self._turn:
            if not mine.done():
                with self._listing:
                    questions, futures = zip(*self._waiting.pop(kind), strict=True)
                try:
                    with Session(self.device) as session:
                        found = answers(session, questions)
                except BaseException as error:
                    for future in futures:
                        future.set_exception(error)
                else:
                    for future, answer in zip(futures, found, strict=True):
                        future.set_result(answer)
        return mine.result()


def _in_parts(items: Sequence[Item], sizes: Sequence[int], most: int) -> Iterator[list[Item]]:
    """Items in a row whose sizes come to less than `most`, but for the first of them."""
    part = (np.cumsum(sizes) - 1) // most
    for _, numbered in groupby(zip(part, items, strict=True), lambda item: item[0]):
        yield [item for _, item in numbered]
