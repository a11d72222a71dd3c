"""What a solver can optimise: a dimension, bounds and a fitness to make as large as possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class KernelProblem:
    """A problem as a device program sees it: ``DIM``, ``lower``, ``upper`` and ``fitness`` of design section 4.

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
    """

    source: str
    files: tuple[str, ...]
    constants: Mapping[str, int | float | str]
    terms: int = 0
    by_dimension: bool = False
    bounded: bool = True

    @property
    def noisy(self) -> bool:
        """Whether a position's fitness is another at every evaluation."""
        return "NOISE" in self.constants


@dataclass(frozen=True)
class Certified:
    """A position's worth in float64: fitness = benefit - penalty factor x violation."""

    fitness: float
    benefit: float
    violation: float


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

    def compiled_context(self) -> Any:
        """What compiled code reads, a named tuple that `fitness.fitness_of` knows, in float32."""

    def certify(self, position: FloatArray) -> Certified:
        """The worth of a position in float64."""


def kernel_contexts(problems: Sequence[Problem]) -> NDArray[np.float32]:
    """`Problem.kernel_context` of problems of one signature, a row each.

    A class of problems that can make many at once, as ``stacked_contexts``, is asked to.
    """
    at_once = getattr(type(problems[0]), "stacked_contexts", None)
    return at_once(problems) if at_once else np.stack([problem.kernel_context() for problem in problems])


def certify_all(problems: Sequence[Problem], positions: Sequence[FloatArray]) -> list[Certified]:
    """`Problem.certify` of a position of each problem; of any signatures, in the problems' order.

    A class of problems that can certify many of one signature at once, as ``stacked_certificates``, is asked to.
    """
    certified: dict[int, Certified] = {}
    for members in by_program_key(problems).values():
        group, at = [problems[index] for index in members], [positions[index] for index in members]
        at_once = getattr(type(group[0]), "stacked_certificates", None)
        each = at_once(group, at) if at_once else [problem.certify(x) for problem, x in zip(group, at, strict=True)]
        certified.update(zip(members, each, strict=True))
    return [certified[index] for index in range(len(problems))]


def by_program_key(problems: Sequence[Problem]) -> dict[Hashable, list[int]]:
    """Places of the problems of each signature."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, problem in enumerate(problems):
        groups[problem.program_key].append(index)
    return groups
