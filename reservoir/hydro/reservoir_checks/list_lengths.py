"""Values by month or by step: whether there are as many as the reservoir's step asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reservoir.errors import Mistake
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.reservoir_kinds import CalendarKind
from reservoir.hydro.time_step import TimeStep
from reservoir.hydro.wording import Words
from reservoir.text.quantities import counted

#: Fields of a reservoir that are compared with each other.
_COMPARED = (
    "storage_lower_hm3",
    "storage_upper_hm3",
    "release_lower_m3s",
    "release_upper_m3s",
    "plant_factor",
    "power_lower_mw",
)
_OTHERS = ("evaporation_mm", "withdrawal_m3s")
_OF_OBJECTIVE = ("price_per_mwh", "power_target_mw", "supply_target_m3s")


def comparable(parts: Mapping[str, Any], words: Words) -> tuple[dict[str, Any], list[Mistake]]:
    """Bring fields that are compared with each other to one length, and refuse lists that do not fit the step.

    Parameters
    ----------
    parts : mapping
        Fields of a reservoir, as far as they are sound.
    words : Words

    Returns
    -------
    parts : dict
        Without the fields that are refused.
    mistakes : list of Mistake
    """
    step, found = parts.get("step", TimeStep.MONTH), dict(parts)
    refused = {name for name, values in _lists(parts).items() if len(values) not in (MONTHS_PER_YEAR, step.per_year)}
    mistakes = [_mistake(name, len(_lists(parts)[name]), step, words) for name in _lists(parts) if name in refused]
    for name in refused:
        found.pop(name.partition(".")[0], None)
    if step is not TimeStep.MONTH and parts.get("calendar") is CalendarKind.EQUAL_MONTHS:
        problem = f'contradicts step = "{step}": only months can be equal'
        mistakes.append(words.mistake("calendar", problem, mend="remove one of the two"))
    some = {name: found[name] for name in _COMPARED if name in found}
    if "first_month" in found and any(len(values) != MONTHS_PER_YEAR for values in some.values()):
        found |= {name: step.listed(values, found["first_month"]) for name, values in some.items()}
    return found, mistakes


def _lists(parts: Mapping[str, Any]) -> dict[str, Any]:
    objective = parts.get("objective")
    lists = {name: parts.get(name) for name in (*_COMPARED, *_OTHERS)}
    lists |= {f"objective.{name}": getattr(objective, name, None) for name in _OF_OBJECTIVE}
    return {name: values for name, values in lists.items() if values is not None}


def _mistake(name: str, count: int, step: TimeStep, words: Words) -> Mistake:
    other = next((each for each in TimeStep if each.per_year == count), step)
    own = "" if step is TimeStep.MONTH else f", or {counted(step.per_year, step.noun)}"
    problem = f'has {counted(count, other.noun)}, but step is "{step}"'
    expected = f"one number, or {counted(MONTHS_PER_YEAR, 'month')}{own}"
    return words.mistake(name, problem, expected, f'set step = "{other}", or give other values')
