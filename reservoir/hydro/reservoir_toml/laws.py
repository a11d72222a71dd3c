"""The laws of a reservoir's curves: how each goes with its variable, and between which values it stays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import Mistake
from reservoir.hydro.curves import Curve, FloatArray
from reservoir.hydro.reservoir_toml.curve_schema import Form, Points
from reservoir.hydro.reservoir_toml.draft import Draft
from reservoir.hydro.reservoir_toml.schema import LOSSLESS_COEFFICIENT

GRID = 2001
#: Published tables are rounded: a rate may pass the physical limit by this much.
ROUNDING = 1e-3


@dataclass(frozen=True)
class Law:
    """What must hold for one of the curves.

    Parameters
    ----------
    x, y : str
        Keys of the points; they name the units too.
    claim : str
        The law in words.
    kept : callable or None
        Whether a value and the next follow the trend.
    broken : str
        What the curve does where they do not.
    above, up_to : float
        Every value is above the first and not above the second.
    mend : str
        What to do about a curve that breaks the law.
    """

    x: str
    y: str
    claim: str
    kept: Callable[[Any, Any], Any] | None = None
    broken: str = ""
    above: float = -np.inf
    up_to: float = np.inf
    mend: str = ""


def _not_falling(before: FloatArray, after: FloatArray) -> NDArray[np.bool_]:
    return after >= before - 1e-9 * np.abs(before)


LAWS: Mapping[str, Law] = {
    "level": Law("storage_hm3", "level_m", "a level that rises with the storage", operator.lt, "does not rise"),
    "tailrace": Law("release_m3s", "level_m", "a level that never falls with the release", _not_falling, "falls"),
    "conversion_rate": Law(
        "head_m", "rate_m3_per_kwh", "a rate above 0 that falls with the head", operator.gt, "does not fall", above=0
    ),
    "output_coefficient": Law(
        "head_m",
        "coefficient",
        f"a coefficient above 0, and not above {LOSSLESS_COEFFICIENT}, a plant without any loss",
        above=0,
        up_to=LOSSLESS_COEFFICIENT,
    ),
    "efficiency": Law(
        "head_m", "efficiency", "a fraction above 0, and not above 1", above=0, up_to=1, mend="write 0.92 for 92 %"
    ),
    "capacity": Law(
        "head_m",
        "capacity_m3s",
        "a capacity above 0 that never falls with the head",
        _not_falling,
        "falls",
        above=0,
        mend="give the hydraulic capacity alone; the program applies the installed capacity itself",
    ),
}


@dataclass(frozen=True)
class _Sample:
    """A curve under inspection: its points, or the values of its formula on a dense grid."""

    name: str
    block: Form
    x: FloatArray
    y: FloatArray
    draft: Draft

    @property
    def law(self) -> Law:
        return LAWS[self.name]

    def where(self, index: int) -> str:
        """Name a point by its number and values, or a place on the grid by its values."""
        section = f"curves.{self.name}"
        x = self.draft.amount(f"{section}.{self.law.x}", self.x[index])
        y = self.draft.amount(f"{section}.{self.law.y}", self.y[index])
        return f"point {index + 1} ({x}: {y})" if isinstance(self.block, Points) else f"{x} (where it gives {y})"

    def mistake(self, problem: str, expected: str = "", mend: str = "") -> Mistake:
        """State a mistake of the values."""
        key = f".{self.law.y}" if isinstance(self.block, Points) else ""
        return self.draft.mistake(f"curves.{self.name}{key}", problem, expected, mend or self.law.mend)


def broken_laws(name: str, block: Form, curve: Curve, draft: Draft) -> Iterator[Mistake]:
    """Check the values of the curve `name` of `LAWS`: its points, or its formula on a dense grid."""
    x, y = (np.array(block.x), np.array(block.y)) if isinstance(block, Points) else _grid(curve)
    sample = _Sample(name, block, x, y, draft)
    law = sample.law
    if not np.isfinite(y).all():
        yield sample.mistake("gives no finite number everywhere", mend="check the numbers and their units")
        return
    outside = np.flatnonzero((y <= law.above) | (y > law.up_to))
    if outside.size:
        yield sample.mistake(f"is out of range at {sample.where(outside[0])}", law.claim)
        return
    astray = np.flatnonzero(~law.kept(y[:-1], y[1:])) if law.kept else np.array([], int)
    if astray.size:
        first = int(astray[0])
        yield sample.mistake(f"{law.broken} from {sample.where(first)} to {sample.where(first + 1)}", law.claim)
    if sample.name == "conversion_rate":
        yield from _physical(sample)


def _physical(sample: _Sample) -> Iterator[Mistake]:
    least = 3600 / (LOSSLESS_COEFFICIENT * np.where(sample.x > 0, sample.x, np.inf))
    beyond = np.flatnonzero(sample.y * (1 + ROUNDING) < least)
    if beyond.size:
        problem = f"gives more energy than the water holds at {sample.where(beyond[0])}"
        yield sample.mistake(problem, f"at least {least[beyond[0]]:.4f} m3/kWh there")


def _grid(curve: Curve) -> tuple[FloatArray, FloatArray]:
    x = np.linspace(*curve.domain, GRID)
    # A formula in the wrong unit may overflow; that is a mistake to state, not a warning to print.
    with np.errstate(all="ignore"):
        return x, curve(x)
