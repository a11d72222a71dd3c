"""How solvers tell what is done, without knowing screens."""

from __future__ import annotations

from collections.abc import Callable

#: Called with how much is done and how much there is.
Progress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """No-op callback."""
