"""Linkage models of many populations built in OpenCL at once (Li and Yu 2017, sections 4 and 5)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled, inlined
from reservoir.opencl import BuiltProgram, DeviceInfo, Session, assemble, build
from reservoir.solvers.device_engine import items_for, team_of
from reservoir.solvers.dsmga2.linkage import Model, entropy_table, rank_bits
from reservoir.solvers.dsmga2.run import LINKAGE_STAGE, MATRIX_STAGE, Population, Run, below, select

#: Loci of a work item of a GPU beyond which a group takes more items, and how many it takes at most; measured on an
#: H200 with 60 to 600 loci.
MOST_OWN, MOST_ITEMS = 5, 128
#: Loci of a vector on a CPU.
CPU_LANES = 8


@dataclass(frozen=True)
class ModelLayout:
    """How a model is laid out on a device.

    Parameters
    ----------
    loci, individuals : int
    lossy : bool
    lanes : int
        Loci of a vector.
    items : int
        Work items that make a linkage set together.
    team : int
        Items that exchange in registers: a warp, or 1.
    """

    loci: int
    individuals: int
    lossy: bool
    lanes: int
    items: int
    team: int

    @property
    def padded(self) -> int:
        """Loci and more, whole vectors."""
        return -(-self.loci // self.lanes) * self.lanes

    @property
    def words(self) -> int:
        """Words of 64 individuals of a column."""
        return -(-self.individuals // 64)

    @property
    def numbers(self) -> int:
        """Words that the host sends for a problem."""
        return 2 * self.loci * self.words + self.individuals + 4 * self.loci

    @property
    def longest(self) -> int:
        """Loci of the longest set: mixing never asks for more than half of all, and sets that may end may end there."""
        return min(max(self.loci // 2, 2), self.loci) if self.lossy else self.loci

    def constants(self) -> dict[str, int]:
        """Macros."""
        return {
            "LOCI": self.loci,
            "PADDED": self.padded,
            "PEOPLE": self.individuals,
            "WORDS": self.words,
            "LANES": self.lanes,
            "ITEMS": self.items,
            "OWN": -(-self.padded // (self.lanes * self.items)),
            "OWN_WORDS": -(-2 * self.words // self.items),
            "LONGEST": self.longest,
            "RANK_BITS": rank_bits(self.loci),
            "LOSSY": int(self.lossy),
            "TEAM": self.team,
            "WARPS": int(self.team > 1),
        }


def model_layout(
    device: DeviceInfo, loci: int, individuals: int, *, lossy: bool, items: int | None = None
) -> ModelLayout:
    """On a CPU an item makes a set, in vectors; on a GPU so many that each has a few loci, in registers.

    Raises
    ------
    InputError
        If no group has so many items.
    """
    cpu = device.kind == "CPU"
    if items is None and not cpu:
        items = device.sub_group_size
        while items * MOST_OWN < loci and 2 * items <= min(MOST_ITEMS, device.max_work_group_size):
            items *= 2
    items = items_for(device, loci, items)
    return ModelLayout(
        loci=loci,
        individuals=individuals,
        lossy=lossy,
        lanes=CPU_LANES if cpu else 1,
        items=items,
        team=team_of(device, items),
    )


def build_model_program(device: DeviceInfo, layout: ModelLayout) -> BuiltProgram:
    """Assemble and build."""
    files = ["common/vector/lanes.cl", "common/sync/teams.cl", "solvers/dsmga2/linkage_model.cl"]
    return build(device, assemble(files, layout.constants()))


#: Rows of sets that are read at first where sets may end early: the first has their lengths, and few are longer.
FIRST_ROWS = 32
#: Work items of a group where any number would do.
ITEMS = 64


class DeviceBuilder:
    """Builds the models of populations of one size.

    Parameters
    ----------
    session : Session
        Open on the device; this builder uses its buffers.
    program : BuiltProgram
        From `build_model_program`.
    layout : ModelLayout
        That the program was built for.
    most : int
        Populations at once.
    timed : bool
        Wait between the two stages, so that their seconds are told apart.
    """

    def __init__(
        self,
        session: Session,
        program: BuiltProgram,
        layout: ModelLayout,
        most: int,
        *,
        timed: bool = False,
    ) -> None:
        self.seconds: Counter[str] = Counter()
        self.layout, self._program = layout, program
        self._session, self._timed = session, timed
        self._numbers = np.zeros((most, layout.numbers), np.uint32)
        session.upload(table=entropy_table(layout.loci, layout.individuals))
        session.allocate(
            genes=((most, layout.words, layout.padded), np.uint64),
            matrix=((most, layout.padded, layout.padded), np.int64),
            sets=(layout.longest * most * layout.loci, np.uint16),
        )

    def build(self, runs: Sequence[Run], each: Callable[[Callable[[Run], None], Sequence[Run]], None]) -> None:
        """Select on the host, all else on the device."""
        began = time.perf_counter()
        rows = {id(run): row for run, row in zip(runs, self._numbers, strict=False)}
        each(lambda run: _select(run.population, run.model, self.layout.lossy, rows[id(run)]), runs)
        self._find_matrices(len(runs))
        if self._timed:
            self._session.wait()
        between = time.perf_counter()
        self._find_sets(len(runs))
        self._read(runs)
        self.seconds.update({MATRIX_STAGE: between - began, LINKAGE_STAGE: time.perf_counter() - between})

    def matrices(self, runs: Sequence[Run]) -> Sequence[NDArray[np.int64]]:
        """The matrices of the models that were built last."""
        loci = self.layout.loci
        return list(self._session.download("matrix", len(runs))[:, :loci, :loci])

    def _find_matrices(self, count: int) -> None:
        layout, session = self.layout, self._session
        items = 1 if layout.lanes > 1 else ITEMS
        session.send(numbers=self._numbers)
        size = (-(-layout.padded // items) * items, count, layout.words)
        session.run(self._program, "count_genes", size, (items, 1, 1), "genes", "numbers")
        wide = (items, count, -(-layout.loci // layout.lanes))
        session.run(self._program, "fill_matrix", wide, (items, 1, 1), "matrix", "genes", "table")

    def _find_sets(self, count: int) -> None:
        items = self.layout.items
        size = (self.layout.loci * items, count)
        self._session.run(self._program, "find_sets", size, (items, 1), "sets", "matrix", "numbers")

    def _read(self, runs: Sequence[Run]) -> None:
        loci = self.layout.loci
        if not self.layout.lossy:
            whole = self._session.download("sets", len(runs) * loci * loci, at_once=True).reshape(len(runs), loci, loci)
            for run, found in zip(runs, whole, strict=True):
                run.model.sets[:] = found
                run.model.lengths[:] = loci
            return
        across = len(runs) * loci
        rows = min(FIRST_ROWS, self.layout.longest)
        sets = self._session.download("sets", rows * across, at_once=True).reshape(rows, across)
        most = int(sets[0].max())
        if most > rows:
            sets = self._session.download("sets", most * across, at_once=True).reshape(most, across)
        for place, run in enumerate(runs):
            found = sets[:most, place * loci : (place + 1) * loci]
            run.model.lengths[:] = found[0]
            run.model.sets[:, :most] = found.T
            run.model.sets[:, 0] = np.arange(loci)


@compiled
def _select(population: Population, model: Model, lossy: bool, numbers: NDArray[np.uint32]) -> None:
    """Select, draw an individual for each set of a lossy model, and list all that the kernels read, in their order.

    Parameters
    ----------
    population : Population
    model : Model
    lossy : bool
    numbers : ndarray of uint32, shape (numbers,)
        Is filled: halves of the words of columns, winners, ranks, places and representatives.
    """
    select(population, model)
    if lossy:
        for locus in range(len(model.representatives)):
            model.representatives[locus] = below(population.states, len(population.keys))
    at = 0
    for locus in range(population.columns.shape[0]):
        for word in population.columns[locus]:
            numbers[at] = word & np.uint64(0xFFFFFFFF)
            numbers[at + 1] = word >> np.uint64(32)
            at += 2
    at = _appended(numbers, at, model.winners)
    at = _appended(numbers, at, model.ranks)
    at = _appended(numbers, at, model.places)
    _appended(numbers, at, model.representatives)


@inlined
def _appended(numbers: NDArray[np.uint32], at: int, part: NDArray[np.integer]) -> int:
    for place in range(len(part)):
        numbers[at + place] = part[place]
    return at + len(part)
