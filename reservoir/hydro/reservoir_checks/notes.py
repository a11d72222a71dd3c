"""Notes on values of a reservoir that are valid but may be unintended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reservoir.hydro.reservoir_checks.whole import most_power_of, storages_of

#: An installed capacity above so many times what water and head can give, or below such a part of it, is told.
SURPRISING, TINY = 3.0, 0.01
#: A level read off a map and one off the curve differ by less.
LEVEL_TOLERANCE_M = 0.5


def notes_of(parts: Mapping[str, Any]) -> Iterator[str]:
    """Say what should be looked at again, by the fields of a reservoir."""
    yield from _installed(parts)
    yield from _marks(parts)


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
