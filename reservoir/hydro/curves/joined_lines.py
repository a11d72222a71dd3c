"""Points joined by straight lines, as a function of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np


def joined_lines(x: Sequence[float], y: Sequence[float]) -> Callable[..., Any]:
    """Straight lines between points whose x do not fall; beyond their ends the value there."""
    return partial(np.interp, xp=np.array(x), fp=np.array(y))
