"""Operations that the functions of `step` are written in: on arrays in Python, on numbers in compiled code.

Compiled code has forms of its own for them (`jit`), which keep the precision of what they are given. The words are
those of ``kernels/common/vector/lanes.cl``.
"""

from __future__ import annotations

import numpy as np


def lesser(a, b):
    """The lesser of two."""
    return np.minimum(a, b)


def greater(a, b):
    """The greater of two."""
    return np.maximum(a, b)


def choose(condition, yes, no):
    """One of two values, both of which are worked out."""
    return np.where(condition, yes, no)


def mean(a, b):
    """The mean of two."""
    return 0.5 * (a + b)


def curve_value(curve, x):
    """Value of a curve at `x`."""
    return curve(x)


def clip(x, lower, upper):
    """`x` held between two bounds; the upper one where they cross."""
    return lesser(greater(x, lower), upper)
