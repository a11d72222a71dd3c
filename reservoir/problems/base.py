"""The contract of a problem: a dimension, bounds and a fitness to maximise; what a kernel reads of it; batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class KernelProblem:
    """A problem as a device program sees it: ``DIM``, ``lower``, ``upper`` and ``fitness`` (docs/design.md).

    Parameters
    ----------
    source : str
        OpenCL C written in front of `files`: curves and the like.
    files : tuple of str
        Kernel files, in order, that define the contract.
    constants : mapping
        Macros to define. ``NOISE``, if it is among them, is added to every fitness, times a fresh number in [0, 1).
    terms : int
        Not 0 where the fitness is made of a sum of so many terms, such as the samples of a training error, which work
        items may share: the files then have ``share_of_sum`` and ``fitness_of_sum`` in place of ``fitness``, and only
        solvers that share sums can take the problem.
    by_dimension : bool
        Whether the fitness is made of terms of the dimensions, which work items may share: the files then have
        ``add_term`` and ``fitness_of_terms`` beside ``fitness`` (``kernels/problems/sums/of_terms.cl``).
    bounded : bool
        Whether a position must be within the bounds; else they only say where a search begins.
    looped : bool
        Whether there are so many dimensions that loops over them stay loops.
    """

    source: str
    files: tuple[str, ...]
    constants: Mapping[str, int | float | str]
    terms: int = 0
    by_dimension: bool = False
    bounded: bool = True
    looped: bool = False

    @property
    def noisy(self) -> bool:
        """Whether a position's fitness is another at every evaluation."""
        return "NOISE" in self.constants


@dataclass(frozen=True)
class ContextLayout:
    """Named blocks of numbers, one behind the other.

    Parameters
    ----------
    size_name : str
        Constant that tells how many numbers there are.
    blocks : mapping
        By the name of a block, the constant that tells where it begins: how many numbers it has.
    padded_to : int
        The size is a multiple of this; zeros stand at the end.
    """

    size_name: str
    blocks: Mapping[str, int]
    padded_to: int = 1

    @property
    def size(self) -> int:
        """Numbers in all."""
        return -(-sum(self.blocks.values()) // self.padded_to) * self.padded_to

    def constants(self) -> dict[str, int]:
        """Macros of a kernel: the place of each block, and the size."""
        places = np.cumsum([0, *self.blocks.values()]).tolist()
        return {**dict(zip(self.blocks, places, strict=False)), self.size_name: self.size}

    def pack(
        self, values: Mapping[str, ArrayLike], shape: tuple[int, ...] = (), dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """What stands in each block as contexts, shape (*shape, size).

        Parameters
        ----------
        values : mapping
            By name of a block; shape (*shape, numbers), or `shape` where a block is one number.
        shape : tuple of int
            Contexts.
        dtype : dtype
            Of what is packed.

        Raises
        ------
        ValueError
            If the names or the shapes are others than the blocks'.
        """
        if set(values) != set(self.blocks):
            raise ValueError(f"{self.size_name} has {', '.join(self.blocks)}, not {', '.join(values)}")
        packed = np.zeros((*shape, self.size), dtype)
        last = 0
        for name, count in self.blocks.items():
            first, last = last, last + count
            packed[..., first:last] = np.reshape(values[name], (*shape, count))
        return packed


@dataclass(frozen=True)
class Certified:
    """Fitness in float64 of a position, or of many: numbers, or arrays of shape (problems,).

    Parameters
    ----------
    fitness, benefit, violation : float or ndarray
        Fitness = benefit - penalty factor x violation.
    operation : Operation, optional
        What years of a reservoir were computed from, a row for each.
    """

    fitness: Any
    benefit: Any
    violation: Any
    operation: Any = field(default=None, compare=False)


class Problem(Protocol):
    """One problem; solvers maximise its fitness."""

    @property
    def label(self) -> str:
        """Name for messages and tables."""

    @property
    def rng_stream_id(self) -> int:
        """Number that, with the seed, names the problem's random numbers; the same whatever is solved beside it."""

    @property
    def dimension(self) -> int:
        """Number of variables."""

    @property
    def lower(self) -> FloatArray:
        """Lower bounds, shape (dimension,)."""

    @property
    def upper(self) -> FloatArray:
        """Upper bounds, shape (dimension,)."""

    @property
    def program_key(self) -> Hashable:
        """Problems of one signature differ by their context alone and can share a launch."""

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """The problem as a device program sees it; closer to what certifies, and dearer, where that is `fine`."""

    def kernel_context(self) -> NDArray[np.float32]:
        """The numbers that tell this problem from others of its signature, one flat array."""

    def compiled_context(self, *, fine: bool = False) -> Any:
        """What compiled code reads in float32, a named tuple that `fitness.fitness_of` knows; `fine` as of `kernel`."""

    def certify(self, position: FloatArray) -> Certified:
        """Benefit, violation and fitness of a position in float64."""


@runtime_checkable
class Batch(Protocol):
    """Problems of one program as arrays with a leading axis; ``batch[i]`` is a `Problem`, a slice another batch."""

    @property
    def program_key(self) -> Hashable:
        """That of all problems."""

    @property
    def rng_stream_ids(self) -> NDArray[np.int64]:
        """`Problem.rng_stream_id` of each, shape (problems,)."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any) -> Any: ...

    def kernel_contexts(self) -> NDArray[np.float32]:
        """`Problem.kernel_context` of each, a row each."""

    def certify(self, positions: FloatArray) -> Certified:
        """Benefit, violation and fitness of a position of each, shape (problems, dimension), in float64."""


def as_batch(problems: Sequence[Problem]) -> Any:
    """Problems of one program as a batch, if their class makes arrays of many, by its ``batch``; else as they are."""
    if isinstance(problems, Batch):
        return problems
    batch_of = getattr(type(problems[0]), "batch", None)
    return problems if batch_of is None else batch_of(problems)


def kernel_contexts(problems: Sequence[Problem]) -> NDArray[np.float32]:
    """`Problem.kernel_context` of problems of one program, a row each."""
    batch = as_batch(problems)
    rows = batch.kernel_contexts() if isinstance(batch, Batch) else np.stack([each.kernel_context() for each in batch])
    return np.asarray(rows, np.float32)


def rng_stream_ids(problems: Sequence[Problem]) -> NDArray[np.uint32]:
    """`Problem.rng_stream_id` of problems of one program, as kernels read them."""
    batch = as_batch(problems)
    streams = batch.rng_stream_ids if isinstance(batch, Batch) else [each.rng_stream_id for each in batch]
    return np.asarray(streams, np.uint32)


def certify_all(problems: Sequence[Problem], positions: Sequence[FloatArray] | FloatArray) -> Certified:
    """`Problem.certify` of a position of each problem; of any programs, in the problems' order."""
    columns = np.empty((3, len(problems)))
    for members in by_program_key(problems).values():
        batch, rows = as_batch(take(problems, members)), rows_at(positions, members)
        if isinstance(batch, Batch):
            certified = batch.certify(rows)
            if len(members) == len(problems):
                return certified
            columns[:, members] = certified.fitness, certified.benefit, certified.violation
        else:
            each = [problem.certify(position) for problem, position in zip(batch, rows, strict=True)]
            columns[:, members] = np.transpose([(one.fitness, one.benefit, one.violation) for one in each])
    return Certified(*columns)


def rows_at(rows: Sequence[FloatArray] | NDArray[Any], places: Sequence[int]) -> FloatArray:
    """Rows of one shape at some places as an array."""
    if isinstance(places, range) and isinstance(rows, np.ndarray) and rows.dtype != object:
        return rows[places.start : places.stop]
    return np.stack([rows[place] for place in places])


def take(problems: Sequence[Problem], places: Sequence[int]) -> Any:
    """Some of the problems; of a batch, a batch, where the places follow each other."""
    if isinstance(places, range):
        return problems[places.start : places.stop]
    return [problems[place] for place in places]


def by_program_key(problems: Sequence[Problem]) -> Mapping[Hashable, Sequence[int]]:
    """Places of the problems of each program."""
    if isinstance(problems, Batch):
        return {problems.program_key: range(len(problems))}
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, problem in enumerate(problems):
        groups[problem.program_key].append(index)
    return groups


class SymmetricBox:
    """A problem whose variables lie between ``-reach`` and ``reach``, whose `value` is to be made small."""

    @property
    def lower(self: Any) -> FloatArray:
        """Lower bounds, shape (dimension,)."""
        return np.full(self.dimension, -self.reach)

    @property
    def upper(self: Any) -> FloatArray:
        """Upper bounds, shape (dimension,)."""
        return np.full(self.dimension, self.reach)

    def certify(self: Any, position: FloatArray) -> Certified:
        """The negative of the value in float64, of a noisy function without its noise."""
        fitness = -self.value(position)
        return Certified(fitness, fitness, 0.0)


#: A number within its bounds for every variable.
REAL = "real vector"
#: A tour: every number 0 .. dimension - 1 once, in the order in which they are visited, and back to the first. The
#: fitness is minus the sum of the costs of its edges, whole numbers. The kernel files of such a problem define
#: ``edge(from, to, context)`` in place of ``fitness``, and its compiled context has them as ``costs``, int32, shape
#: (dimension, dimension).
PERMUTATION = "permutation"
#: Zeros and ones. An attribute ``optimum`` is the best fitness there is, or None if it is not known. Compiled code
#: judges an array of uint8; there is no kernel of such a problem.
BITS = "bit string"


def encoding_of(problem: Problem) -> str:
    """`REAL`, unless the problem says otherwise in an attribute ``encoding``."""
    return str(getattr(problem, "encoding", REAL))
