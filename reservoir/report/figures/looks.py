"""How each of several that are compared is drawn: colour, line and marker, the same in every figure."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.report.figures.style import REFERENCE


@dataclass(frozen=True)
class Look:
    """How one of several that are compared is drawn: its colour, and what tells it apart in black and white."""

    colour: str
    line: str | tuple[float, tuple[float, ...]]
    marker: str


#: Families of operation rules; most of the colours are Tol's. The two greens are the two linear rules.
FAMILY_LOOKS = {
    "guide-curve": Look("#AA4499", (0, (5, 1.5)), "o"),
    "linear": Look("#117733", (4.5, (9, 1.5)), "s"),
    "linear-search": Look("#5AAE61", (0, (3, 1, 1, 1)), "X"),
    "zones": Look("#E69F00", (0, (6, 1.5, 1.5, 1.5)), "^"),
    "sdp": Look("#332288", (0, (2.5, 1.2)), "D"),
    "water-value": Look("#332200", (0, (7, 1.2, 2, 1.2)), "<"),
    "replan": Look("#9933EE", (0, (4, 1, 1, 1)), "h"),
    "standard": Look("#888888", (0, (1, 1)), "v"),
    "ann-regression": Look("#661144", (0, (4, 1.2, 4, 1.2, 1, 1.2)), "d"),
    "ann": Look("#33BBEE", (0, (6, 1.2, 1, 1.2, 1, 1.2)), "P"),
}
#: Of any family that has no look of its own.
OTHER_FAMILY = Look("#882255", (0, (8, 1.5, 1, 1.5)), "p")
FORESIGHT = Look(REFERENCE, "-", "*")


def family_look(family: str) -> Look:
    """How a family of rules is drawn in every figure."""
    return FAMILY_LOOKS.get(family, OTHER_FAMILY)
