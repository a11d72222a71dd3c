"""Plans of the workspace beside a base, and batches over ranges of keys, which the command plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.objectives import Goal, goal_label
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.plan_folder.files import PROVENANCE
from reservoir.io.reservoir_toml.draft import KEYS
from reservoir.page.drawn import FIELDS, field_of, numbers
from reservoir.page.fronts import fronts_in, values_of
from reservoir.page.workspace import CancelledError, Tell
from reservoir.planning.plan_comparison import ComparedPlan
from reservoir.planning.system_plan import SystemPlan
from reservoir.report import comparison_folder
from reservoir.report.comparison_folder import PlanComparison, compare_folders, comparison_cells, difference_rows
from reservoir.text.quantities import counted
from reservoir.text.strict_json import read_json

if TYPE_CHECKING:
    from reservoir.page.desk import Desk, Opened

#: Plans that are drawn beside each other at most.
_MOST_PLANS = 50
#: Quantiles of the storages: a band of 90 % of the years, and the median; points of a duration curve.
_FAN, _DURATION = (0.05, 0.5, 0.95), 51
#: Of a file that is read.
_MOST_BYTES = 100_000_000
#: Where `plan --vary` writes the comparison.
_COMPARISON = "comparison"


def plans(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Names of the plans in the workspace, and of those in folders of batches behind these (``BATCH/NAME``).

    Of what is open, an ``example`` of a range too.
    """
    folder = desk.workspace.folder
    within = [path.parent.relative_to(folder) for path in folder.glob(f"*/*/{PROVENANCE}")]
    batches = sorted(path.as_posix() for path in within if not any(part.startswith(".") for part in path.parts))
    example = _example(desk.opened) if desk.current else None
    return {"plans": [*desk.workspace.saved(), *batches], "example": example}


def compared(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Compare ``plans`` with the first of them, in ``units``, as `reservoir compare` does.

    Raises
    ------
    InputError
        If there are too few or too many, or they cannot be compared.
    """
    names = [str(name) for name in ask.get("plans", ())]
    if not 2 <= len(names) <= _MOST_PLANS:
        expected = f"a base and 1 to {_MOST_PLANS - 1} others"
        raise InputError("is no number of plans to compare", expected, column="plans", value=len(names))
    return _compared(desk, names, str(ask.get("units", "si")), {})


def _compared(desk: Desk, names: Sequence[str], units: str, refused: Mapping[str, str]) -> dict[str, Any]:
    folders = [desk.workspace.file(f"{name}/{PROVENANCE}").parent for name in names]
    comparison = compare_folders(folders, UnitSystem.of(units), refused)
    heads, rows, failing = comparison_cells(comparison)
    base = comparison.plans[0].plan
    return {
        "plans": list(names),
        "names": [plan.name for plan in comparison.plans],
        "command": desk.workspace.shown(["compare", *names, *(["--units", units] if units != "si" else [])]),
        "sentences": list(comparison.sentences),
        "differences": [list(each) for each in difference_rows(comparison)],
        "heads": [", ".join(filter(None, (head.title, head.unit))) for head in heads],
        "rows": [list(row) for row in rows],
        "failing": sorted(failing),
        "steps": list(base.inflow.calendar.step_names),
        "drawn": [_drawn(plan) for plan in comparison.plans],
        "fronts": _fronts(desk.workspace.folder, comparison),
    }


def _drawn(compared: ComparedPlan) -> dict[str, Any]:
    """Storages (3, steps + 1) of each reservoir and duration of the power, of the years that are compared."""
    plan, years = compared.plan, compared.compared
    sites: Mapping[str, Any] = plan.sites if isinstance(plan, SystemPlan) else {"": plan}
    if not years.size:
        return {"fans": dict.fromkeys(sites), "duration": None}
    fans = {name: numbers(np.quantile(site.operation.storage_hm3[years], _FAN, axis=0)) for name, site in sites.items()}
    power = plan.operation.power_mw[years]
    return {"fans": fans, "duration": numbers(np.quantile(power, np.linspace(1.0, 0.0, _DURATION)), 5)}


def _fronts(folder: Path, comparison: PlanComparison) -> list[dict[str, Any]]:
    """Fronts in the workspace between the goals of the newest, of the record of one of the plans."""
    records = {saved.origin["inflow"]["sha256"] for saved in comparison.saved}
    base, found = comparison.plans[0].plan, list[dict[str, Any]]()
    for name, origin in reversed([*fronts_in(folder)]):
        goals = list(origin["between"])
        if origin["inflow"]["sha256"] in records and all(each["goals"] == goals for each in found):
            labels = [goal_label(Goal(each), base.objective.currency, base.inflow.years) for each in goals]
            found.append({"name": name, "goals": goals, "labels": labels, "values": values_of(origin)})
    return found


def varied(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Plan what is open for each value of one key or two by `plan --vary`, and compare the plans with its base.

    ``keys`` has for each a ``key`` of the file, ``first``, ``last`` and ``count``; ``name`` is that of the folder, and
    the base has the changes of the ``wish``.

    Raises
    ------
    InputError
        In the words of the command.
    CancelledError
        If it was cancelled: plans that were whole stay.
    """
    now, name, wish = desk.opened, str(ask.get("name", "")), desk.wish_of(ask)
    folder = desk.workspace.path(name)
    ranges = [f"{each['key']}={each['first']}:{each['last']}:{each['count']}" for each in ask.get("keys", ())]
    if not ranges:
        raise InputError("asks for no range", "a key, its first and its last value, and how many", column="keys")
    with desk.changed_files(wish, name) if wish else nullcontext(now.case.reservoir) as reservoir:
        words = ["plan", *now.case.words, *reservoir, *(word for each in ranges for word in ("--vary", each))]
        words += [*now.solver, "--no-figures", "--out", name]

        def whole() -> str:
            return counted(len([*folder.glob(f"*/{PROVENANCE}")]), "whole plan")

        try:
            desk.workspace.run(words, lambda stage, done, total: tell(f"{whole()}; {stage}", done, total))
        except CancelledError as end:
            raise CancelledError(end.why, *[f"{whole()} in {name}"] * folder.exists()) from None
    told: Any = read_json(folder / _COMPARISON / comparison_folder.PROVENANCE, _MOST_BYTES)
    names = dict.fromkeys(f"{name}/{row['plan']}" for row in told["plans"])
    shown = _compared(desk, [*names], str(ask.get("units", "si")), told["not_planned"])
    return {**shown, "varied": desk.workspace.shown(words)}


def _example(opened: Opened) -> dict[str, Any] | None:
    """A key and two of its values that the files of what is open can have."""
    keys, site = opened.session.keys, opened.reservoirs[0]
    for key in FIELDS:
        value, named = field_of(site, KEYS[key])["value"], f"{site.name}:{key}" if opened.several else key
        with suppress(InputError):  # of which no example can be
            if isinstance(value, float) and value > 0 and keys.as_written(named) == named:
                first, last = (float(f"{part * value:.2g}") for part in (0.8, 1.0))
                if all(keys.changed({named: each}) for each in (first, last)):
                    return {"key": named, "first": first, "last": last}
    return None


ANSWERS = {"plans": plans, "compared": compared, "varied": varied}
