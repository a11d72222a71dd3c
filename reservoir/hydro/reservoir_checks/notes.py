"""Notes on values of a reservoir that are valid but may be unintended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from reservoir.errors import shortened
from reservoir.hydro.curves.curve import Curve
from reservoir.hydro.reservoir_checks.curves import SLACK, Domain
from reservoir.hydro.reservoir_checks.whole import most_power_of, storages_of, turbines_within

#: An installed capacity above so many times what water and head can give, or below such a part of it, is told.
SURPRISING, TINY = 3.0, 0.01
#: A table of a reservoir file, and a number that is marked as invented, with what it was.
_SECTION = re.compile(r"\[([\w.]+)\]")
_INVENTED = re.compile(r"\s*(\w+)\s*=\s*(.+?)\s*# invented \((.+?)\)")
_SHOWN = 24
#: A level read off a map and one off the curve differ by less.
LEVEL_TOLERANCE_M = 0.5


def notes_of(parts: Mapping[str, Any]) -> Iterator[str]:
    """Say what should be looked at again, by the fields of a reservoir."""
    yield from _installed(parts)
    yield from _marks(parts)
    yield from _short_curves(parts)
    yield from _invented(parts["content"])


def _invented(content: bytes) -> Iterator[str]:
    """Name numbers that ``reservoir new`` marked as invented, and that are still what they were."""
    section, found = "", list[str]()
    for line in content.decode("utf-8", "replace").splitlines():
        head = _SECTION.match(line)
        section = f"{head[1]}." if head else section
        marked = _INVENTED.match(line)
        if marked and "".join(marked[2].split()) == "".join(marked[3].split()):
            found.append(f"{section}{marked[1]} = {shortened(marked[2], _SHOWN)}")
    if found:
        are = "1 number is still one that" if len(found) == 1 else f"{len(found)} numbers are still those that"
        yield f'{are} "reservoir new" invented, or took from the ends of a table: {", ".join(found)}.'


def _installed(parts: Mapping[str, Any]) -> Iterator[str]:
    most = most_power_of(parts)
    installed = parts["installed_mw"]
    if TINY * most <= installed <= SURPRISING * most:
        return
    than = "far above" if installed > most else "far below"
    yield (
        f"The installed capacity of {installed:,.6g} MW is {than} the {most:,.4g} MW that the largest release, the "
        "head and the conversion give: check its unit (MW), the release limits and the curves."
    )


def _marks(parts: Mapping[str, Any]) -> Iterator[str]:
    least, most = storages_of(parts)
    for name, mark, word, storage in (
        ("dead", parts["marks"].dead_m, "smallest", least),
        ("normal", parts["marks"].normal_m, "largest", most),
    ):
        level = float(parts["level"](storage))
        if mark is not None and abs(mark - level) > LEVEL_TOLERANCE_M:
            yield (
                f"The {name} level (marks.{name}_m) is {mark:.7g} m, but the level curve gives {level:.7g} m at the "
                f"{word} storage, {storage:,.6g} hm3; marks are drawn in figures and are no limits."
            )


def _short_curves(parts: Mapping[str, Any]) -> Iterator[str]:
    """Say where a curve of the turbines is held at its end because what is missing changes nothing."""
    turbines, heads = turbines_within(parts)
    capacity = "which limits nothing there", _missing(turbines.capacity_m3s, heads)
    conversion = "where the turbines stand still", _missing(turbines.conversion, heads)
    for name, (why, missing) in {"hydraulic capacity": capacity, "conversion to power": conversion}.items():
        if missing:
            yield f"The {name} is not given for heads of {missing}: it is held at its last value, {why}."


def _missing(curve: Curve, heads: Domain) -> str:
    (low, high), slack = curve.domain, SLACK * (heads[1] - heads[0])
    below = [f"{heads[0]:.4g} to {low:.4g} m"] if low > heads[0] + slack else []
    above = [f"{high:.4g} to {heads[1]:.4g} m"] if high < heads[1] - slack else []
    return " and ".join(below + above)
