"""Whether a rule belongs to a reservoir and to a plan: by their content, not only by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.reservoir import Reservoir, differing_parts, reservoir_digests
from reservoir.io.plan_folder.files import schedule_file, schedule_sha256
from reservoir.io.rule_file import RuleFile
from reservoir.rules.base.rule import Rule

#: Keys of a rule file's ``fitted_to``.
PARTS, SCHEDULE_HASH = "reservoir_parts", "schedule_sha256"
_AGAIN = "fit the rule again: `reservoir plan`, then `reservoir rules`"


def belongings(reservoir: Reservoir, plan_folder: Path) -> dict[str, Any]:
    """What a rule file says of the reservoir and the plan that its rule was fitted to."""
    return {PARTS: reservoir_digests(reservoir), SCHEDULE_HASH: schedule_sha256(plan_folder)}


def require_reservoir(rule: Rule, reservoir: Reservoir, source: str = "") -> None:
    """Refuse a rule that was fitted for another reservoir, or for other water years.

    Parameters
    ----------
    rule : Rule
        A rule of any family.
    reservoir : Reservoir
        What it is to operate.
    source : str
        File that the rule was read from.

    Raises
    ------
    InputError
        If they do not belong together.
    """
    if rule.reservoir != reservoir.name:
        mend = f"give the reservoir file of {rule.reservoir}, or fit rules for {reservoir.name}"
        problem = "is a rule for another reservoir"
        raise InputError(Mistake(problem, f"a rule for {reservoir.name}", mend, source, value=rule.reservoir))
    first = rule.months.calendar_month[0]
    if first != reservoir.first_month:
        expected = f"{MONTH_NAMES[reservoir.first_month - 1]}, the first_month of {reservoir.name}"
        mend = f"set first_month = {first} in the reservoir file, or fit the rule again"
        problem = "has water years that begin in another month"
        raise InputError(Mistake(problem, expected, mend, source, value=MONTH_NAMES[first - 1]))


def require_same_reservoir(file: RuleFile, reservoir: Reservoir) -> None:
    """Refuse a rule that was fitted to a reservoir that works in another way, whatever its name.

    Raises
    ------
    InputError
        With the names of the parts that differ.
    """
    require_reservoir(file.rule, reservoir, file.source)
    parts = file.fitted_to.get(PARTS)
    differing = differing_parts(reservoir, parts) if isinstance(parts, dict) else []
    problem = "" if isinstance(parts, dict) else "does not say which reservoir it was fitted to"
    if differing:
        than, what = reservoir.source or "the given reservoir", f"different: {', '.join(differing)}"
        problem = f"was fitted to another {reservoir.name} than that of {than}; {what}"
    if problem:
        mend = f"give the reservoir file that it was fitted to, or {_AGAIN}"
        raise InputError(Mistake(problem, mend=mend, file=file.source))


def require_same_plan(file: RuleFile, plan_folder: Path) -> None:
    """Refuse a rule beside the schedule of another plan than the one that it was fitted to, if it says which.

    Raises
    ------
    InputError
        If the schedule differs or cannot be read.
    """
    wanted = file.fitted_to.get(SCHEDULE_HASH)
    if wanted is not None and wanted != schedule_sha256(plan_folder):
        problem = f"was fitted to another plan: {schedule_file(plan_folder)} was changed, or is that of another plan"
        mend = f"restore that file, {_AGAIN}, or copy the rule elsewhere and give --reservoir"
        raise InputError(Mistake(problem, mend=mend, file=file.source))
