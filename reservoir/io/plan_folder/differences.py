"""What differs in the inputs of two plans: keys of their reservoir files as users wrote them, records, and the call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.hydro.inflow import COMPANIONS, Inflow
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.plan_folder import files
from reservoir.io.plan_folder.files import RESERVOIR, SYSTEM
from reservoir.io.plan_folder.saved_plan import SavedPlan, read_plan
from reservoir.io.plan_folder.saved_system import read_system_plan
from reservoir.io.reservoir_toml.draft import Draft, Entry, parsed
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.io.reservoir_toml.writer import write_reservoir
from reservoir.io.system_file import ENTRIES
from reservoir.planning.plan_comparison import common_years
from reservoir.planning.system_plan import SystemPlan
from reservoir.text.quantities import quantity

#: In place of what is not there.
NOTHING = "–"
#: Keys that change nothing of a plan but its words.
_WORDS = ("name", "description", "caveat")
#: Keys that say nothing where they are as another.
_FOLLOWS = {
    "storage.lower_hm3": "storage.dead_hm3",
    "storage.upper_hm3": "storage.full_hm3",
    "storage.final_hm3": "storage.initial_hm3",
}
#: Places of lists that are told one by one.
_MOST_PLACES = 3


class Difference(NamedTuple):
    """Something of the inputs that two plans have differently: what, in the base, and in the plan."""

    what: str
    base: str
    value: str


def read_any_plan(folder: Path) -> SavedPlan[Any]:
    """Read the folder of a plan of one reservoir, or of a joint plan.

    Raises
    ------
    InputError
        If it is no such folder, or with every file that is missing or was changed.
    """
    return read_system_plan(folder) if SYSTEM in files.read_provenance(folder)[files.FILES] else read_plan(folder)


def input_differences(base: SavedPlan[Any], other: SavedPlan[Any], units: UnitSystem) -> list[Difference]:
    """What differs between the inputs of a plan and of the base; records in some units, keys in those of their files.

    Of systems, keys are named ``RESERVOIR: KEY``, those of links ``FROM to TO: KEY``.
    """
    # A file that the program wrote has every key; beside one of a user both are compared as the program writes them.
    as_written = all(_is_users(saved) for saved in (base, other))
    of_base, of_other = (_entries(saved, as_written) for saved in (base, other))
    found = []
    for key in dict.fromkeys(chain(of_base, of_other)):
        one, two = of_base.get(key), of_other.get(key)
        if one is None or two is None or one.scaled != two.scaled:
            named = one or two
            assert named is not None
            site, colon, _ = key.rpartition(": ")
            found.append(Difference(f"{site}{colon}{named.key}", *_texts(one, two)))
    keys = {each.what.rpartition(": ")[2] for each in found}
    found += _of_records(base.plan, other.plan, units)
    calls = _call(base), _call(other)
    for what in dict.fromkeys(chain(*calls)):
        first, second = (call.get(what, NOTHING) for call in calls)
        if first != second and not any(key.startswith(what) for key in keys):  # the file says it
            found.append(Difference(what, first, second))
    return found


def _is_users(saved: SavedPlan[Any]) -> bool:
    return bool(saved.origin["reservoir"].get("file")) and not isinstance(saved.plan, SystemPlan)


def _entries(saved: SavedPlan[Any], as_written: bool) -> dict[str, Entry]:
    """What the file of a plan says, by dotted keys in the program's units behind the part that they are of."""
    if not isinstance(saved.plan, SystemPlan):
        file = saved.folder / RESERVOIR
        if as_written:
            return dict(_leaves("", parsed(file.read_bytes(), str(file))))
        reservoir = read_reservoir(file)
        return dict(_leaves("", parsed(write_reservoir(reservoir).encode(), str(file)), reservoir))
    file, system = saved.folder / SYSTEM, saved.plan.system
    tree, of = parsed(file.read_bytes(), str(file)), {each.name: each for each in system.reservoirs}
    parts: list[tuple[str, Any, Any]] = [
        ("", {key: value for key, value in tree.items() if key not in ENTRIES}, system)
    ]
    parts += [(f"{site['name']}: ", site, of[site["name"]]) for site in tree["reservoirs"]]
    end = "the end of the river"
    parts += [(f"{link['from']} to {link.get('to', end)}: ", link, None) for link in tree.get("links", ())]
    return {key: entry for part in parts for key, entry in _leaves(*part)}


def _leaves(part: str, tree: Mapping[str, Any], of: Any = None) -> Iterator[tuple[str, Entry]]:
    """Keys of a part of a file; of what the program wrote, which is given, only those that follow from no others."""
    entries = Draft.of(tree, "").entries
    follows = {*_WORDS}
    if of is not None:
        follows |= {key for key, other in _FOLLOWS.items() if key in entries and _same(entries, key, other)}
        if of.penalty == of.objective.largest_per_year(of.installed_mw, of.step.per_year):
            follows |= {"objective.penalty", "objective.penalty_gwh"}
    for dotted, entry in entries.items():
        domain = of is not None and dotted.rpartition(".")[2].startswith("domain_")
        if not (isinstance(entry.value, dict) or dotted in follows or domain):
            yield f"{part}{dotted}", entry


def _same(entries: Mapping[str, Entry], key: str, other: str) -> bool:
    return other in entries and entries[key].scaled == entries[other].scaled


def _texts(one: Entry | None, two: Entry | None) -> tuple[str, str]:
    """Two values in words: of lists of one length what differs; in another unit with the key that names it."""
    values = [None if each is None else each.value for each in (one, two)]
    words = ["" if one is None or two is None or one.key == two.key else f" ({two.key})"]
    if all(isinstance(value, list) for value in values) and len({len(value) for value in values}) == 1:  # type: ignore[arg-type]
        return _of_lists(*values)
    return _written(values[0]), _written(values[1]) + words[0]


def _of_lists(one: Any, two: Any) -> tuple[str, str]:
    places = [place for place, pair in enumerate(zip(one, two, strict=True)) if pair[0] != pair[1]]
    if len(places) > _MOST_PLACES:
        return f"{len(one)} values", f"{len(places)} of {len(one)} values differ"
    names = (
        [name[:3] for name in MONTH_NAMES] if len(one) == MONTHS_PER_YEAR else [f"[{k + 1}]" for k in range(len(one))]
    )
    return tuple(", ".join(f"{names[place]} {_written(each[place])}" for place in places) for each in (one, two))  # type: ignore[return-value]


def _written(value: Any) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, list):
        return f"{len(value)} values"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_records(base: Any, other: Any, units: UnitSystem) -> Iterator[Difference]:
    """Records that hold other years or numbers, with their means, and in how many of the steps that both have."""
    of_base = base.inflows if isinstance(base, SystemPlan) else {"": base.inflow}
    for site, two in (other.inflows if isinstance(other, SystemPlan) else {"": other.inflow}).items():
        if (one := of_base.get(site)) is None:
            continue
        begin = f"{site}: " if site else ""
        in_one, in_two = common_years(one, two)
        alike = one.calendar.steps == two.calendar.steps
        apart = int((one.flow_m3s[in_one] != two.flow_m3s[in_two]).sum()) if alike else 0
        if apart or len(in_one) < max(one.years, two.years):
            how = f"; {apart:,} of {in_one.size * one.steps:,} steps in common differ" if apart else ""
            yield Difference(f"{begin}inflow", _record(one, units), _record(two, units) + how)
        for name in COMPANIONS if alike else ():
            values = [getattr(each, name) for each in (one, two)]
            absent = sum(value is None for value in values)
            if absent == 1 or (not absent and not np.array_equal(values[0][in_one], values[1][in_two])):
                said = (NOTHING if value is None else f"mean {quantity(float(value.mean()))}" for value in values)
                yield Difference(f"{begin}{name} of the record", *said)


def _record(record: Inflow, units: UnitSystem) -> str:
    file = Path(record.source).name or "made in Python"
    return f"{file}, {record.span_text}, mean {units.stated(record.mean_m3s, 'm3/s')}"


def _call(saved: SavedPlan[Any]) -> dict[str, str]:
    """What a call says beside its files; by the names of sections and keys where a file says it."""
    origin, plan = saved.origin, saved.plan
    start = origin["start"] or {}
    storages = start if isinstance(plan, SystemPlan) else {"": start}
    said = {
        "horizon": str(origin["horizon"]),
        "objective": plan.objective.title,
        "step": str(plan.inflow.calendar.step),
        "start": ", ".join(
            f"{name} {each['month']}, {each['storage_hm3']:g} hm3".strip() for name, each in storages.items() if each
        ),
        "solver": str(origin["solver"]),
        "seed": str(origin["settings"].get("seed", "")),
    }
    return {what: words for what, words in said.items() if words}
