"""Values of the functions of Mussi, Nashed and Cagnoni 2011 that `problems.functions` does not have, in compiled code.

Each is written once, for positions of either precision. Weights stand in an array, a number for each dimension.
"""

from __future__ import annotations

import numpy as np

from reservoir.hydro.elementwise import RealArray
from reservoir.hydro.jit import inlined
from reservoir.problems.functions.elementary import squared_sine_of_half_turns


@inlined
def elliptic(x: RealArray, weights: RealArray) -> np.floating:
    """High-conditioned elliptic: the sum of weighted squares."""
    total = x.dtype.type(0)
    for d in range(len(x)):
        total += weights[d] * x[d] * x[d]
    return total


@inlined
def griewank(x: RealArray, weights: RealArray) -> np.floating:
    """1 + the sum of x^2 / 4000 - the product of cos(2 pi w x), where w is 1 / (2 pi sqrt(d))."""
    real = x.dtype.type
    total, product = real(0), real(1)
    for d in range(len(x)):
        total += x[d] * x[d] * real(1 / 4000)
        product *= real(1) - real(2) * squared_sine_of_half_turns(x[d] * weights[d])
    return total + (real(1) - product)
