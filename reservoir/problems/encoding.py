"""Encodings of a problem's positions: real vectors, permutations, or bit strings."""

from __future__ import annotations

from reservoir.problems.base import Problem

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
