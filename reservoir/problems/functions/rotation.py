"""Orthogonal matrices for the rotated functions, by random rotations of planes.

Salomon's method (1996, BioSystems 39:263) as Liang et al. 2006 use it. How difficult a rotated function is depends on
the number of rotations, which the papers leave open: the best of CLPSO on f8 is about 27 with 20 of them in 30
dimensions, and 131 with a matrix from Haar's distribution. Here it is a parameter, and a seed fixes the matrix.

Even so matrices differ: over the seeds 1 to 8 the mean of CLPSO on f7 lies between 1367 and 2280 and on f8 between 24.7
and 38.0 (100 runs each); those of the seed that is taken lie in the middle of what an independent program found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

#: With which the results of Yu et al. 2020 are met.
ROTATIONS = 20
SEED = 7


@dataclass(frozen=True)
class Rotation:
    """Which matrix: of so many rotations of planes, where none gives the unit matrix."""

    dimension: int
    rotations: int = ROTATIONS
    seed: int = SEED

    def matrix(self) -> NDArray[np.float64]:
        """The matrix, shape (dimension, dimension); read-only."""
        return _matrix(self)


@cache
def _matrix(rotation: Rotation) -> NDArray[np.float64]:
    """The unit matrix, turned in the planes of two axes at random by angles uniform in [0, pi / 2)."""
    random = np.random.default_rng(rotation.seed)
    matrix = np.eye(rotation.dimension)
    for _ in range(rotation.rotations):
        plane = random.choice(rotation.dimension, 2, replace=False)
        angle = random.uniform(0, np.pi / 2)
        cosine, sine = np.cos(angle), np.sin(angle)
        matrix[:, plane] = matrix[:, plane] @ np.array([[cosine, -sine], [sine, cosine]])
    matrix.flags.writeable = False
    return matrix
