"""What a page draws of a plan: arrays by year and step, and key figures beside those of the base."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reservoir.hydro.attributes import ATTRIBUTES, LINK_ATTRIBUTES, Attribute, Kind
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import Carried, Link, System, link_names
from reservoir.hydro.unit_system import SYSTEMS, UnitSystem
from reservoir.io.reservoir_toml.draft import KEYS
from reservoir.planning.checks import all_pass, failed_sentences, passed_sentence, plan_checks, system_checks
from reservoir.planning.columns import TABLES
from reservoir.planning.key_figures import gap_words
from reservoir.planning.plan import Plan
from reservoir.planning.plan_comparison import CHANGES, alike_spill, compared_plans
from reservoir.planning.system_plan import SystemPlan
from reservoir.report.places import places_of

#: Quantiles of the storages: the range of all years, 90 %, half of them, and the median.
_FAN = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
#: Points of a duration curve; steps of a trace, beyond which none is sent; points of a level curve.
_DURATION, _MOST_TRACED, _LEVELS = 51, 6000, 41
#: Attributes that the Plan screen has fields for, in this order; others are asked for by their key.
FIELDS = (
    "plant.installed_capacity_mw",
    "plant.hydraulic_capacity_m3s",
    "release.lower_m3s",
    "release.upper_m3s",
    "storage.initial_hm3",
    "storage.final_hm3",
    "plant.power_lower_mw",
    "objective.price_per_mwh",
    "objective.power_target_mw",
    "objective.supply_target_m3s",
)
#: Limits that are dragged, upper and lower.
LIMITS = {"upper": "storage.upper_hm3", "lower": "storage.lower_hm3"}
#: Of a link, what has no field: its ends, and its travel time in steps, which is shown in hours.
_NO_FIELD = ("from", "to", "travel_steps")
#: What is typed in words.
_WORDS = (Kind.OTHER, Kind.FLAG)
_KINDS = (Kind.NUMBER, Kind.WHOLE, Kind.BY_STEP, Kind.BY_MONTH, Kind.CHOICE, Kind.NUMBERS)


def numbers(values: ArrayLike, digits: int = 6) -> Any:
    """An array as lists of numbers of some digits; None for what is not finite."""
    array = np.asarray(values, float)
    if array.ndim:
        return [numbers(each, digits) for each in array]
    return float(f"{float(array):.{digits}g}") if math.isfinite(float(array)) else None


def drawn_plan(plan: Plan | SystemPlan, base: Plan | SystemPlan, *, checked: bool) -> dict[str, Any]:
    """What the Plan screen draws.

    Parameters
    ----------
    plan, base : Plan or SystemPlan
        Energy, power and spill are of the years that keep their limits in both.
    checked : bool
        Whether it is a full plan, of which the acceptance is told.

    Returns
    -------
    dict
        ``sites`` with ``fan`` (7, steps + 1), ``trace`` (years * steps), ``duration`` (51) and ``annual`` (years), by
        the name of a reservoir; ``rows``, those of the table ``compared_plans``; ``sentences``, to be read first;
        ``kept``, whether the limits of each year are kept; of a full plan ``checks`` and ``accepted``.
    """
    compared = compared_plans({"base": base, "now": plan})[1]
    sites = plan.sites if isinstance(plan, SystemPlan) else {plan.reservoir.name: plan}
    answer = {
        "sites": {name: _drawn_site(site, plan.keeps_limits) for name, site in sites.items()},
        "kept": plan.keeps_limits.tolist(),
        "rows": [_row(row) for row in compared.rows],
        "sentences": [each.removeprefix("now: ") for each in compared.sentences],
    }
    if checked:
        checks = system_checks(plan) if isinstance(plan, SystemPlan) else plan_checks(plan)
        words = "" if isinstance(plan, SystemPlan) else gap_words(plan)
        said = [passed_sentence(checks)] if all_pass(checks) else failed_sentences(checks)
        answer |= {"accepted": all_pass(checks), "checks": [*filter(None, said)], "gap": words}
    return answer


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    figures = {name: numbers(value, 9) if isinstance(value, float) else value for name, value in row.items()}
    return figures | {"alike_spill": bool(alike_spill(row))}


def _drawn_site(site: Any, kept: Any) -> dict[str, Any]:
    storage, power = site.operation.storage_hm3, site.operation.power_mw
    which = kept if kept.any() else np.ones_like(kept)
    short = power.size <= _MOST_TRACED
    return {
        "fan": numbers(np.quantile(storage[which], _FAN, axis=0)),
        "trace": numbers(storage[:, 1:].ravel(), 5) if short else None,
        "duration": numbers(np.quantile(power[which], np.linspace(1.0, 0.0, _DURATION)), 5),
        "annual": numbers(site.energy_gwh),
    }


def described(base: Reservoir | System, plan: Plan | SystemPlan) -> dict[str, Any]:
    """What a page must know of a case before it draws: names, units, limits that are dragged, and fields."""
    reservoirs = base.reservoirs if isinstance(base, System) else (base,)
    calendar = plan.inflow.calendar
    return {
        "name": base.name,
        "system": isinstance(base, System),
        "river": drawn_system(base) if isinstance(base, System) else None,
        "caveats": list(plan.caveats),
        "notes": [str(note) for note in plan.notes],
        "steps": list(calendar.step_names),
        "years": [str(label) for label in plan.inflow.labels],
        "year_word": plan.year_word if isinstance(plan, Plan) else "year",
        "sites": {each.name: _described_site(each, base) for each in reservoirs},
        "figures": [
            {"name": each.name, "change": CHANGES[each.name], "title": each.page.title}
            for each in TABLES["compared_plans"]
            if each.page and each.name in CHANGES
        ],
        "units": {name: _shown_units(units) for name, units in SYSTEMS.items()},
    }


def drawn_system(system: System) -> dict[str, Any]:
    """The drawing of a system, as its report has it.

    Returns
    -------
    dict
        ``places``, each with its ``name``, across by branches (``x``) and down by links (``y``, from 0 on); ``links``,
        ``from`` one ``to`` another or None, with what each ``carries`` and, in words, how ``late`` it arrives.
    """
    carried = ["" if link.carries is Carried.ALL else link.share_in_words for link in system.links]
    return {
        "places": [{"name": name, "x": x, "y": -y} for name, (x, y) in places_of(system).items()],
        "links": [
            {"from": link.source, "to": link.target, "carries": part, "late": link.travel_in_words(system.step)}
            for link, part in zip(system.links, carried, strict=True)
        ],
    }


def _shown_units(units: UnitSystem) -> dict[str, tuple[str, float]]:
    """Name and size of the unit that stands for each of the program's, by the end of names."""
    shown = {ending: units.amount(0.0, ending)[1] for ending in ("gwh_per_hm3", "m3s", "hm3", "m")}
    return {ending: (name, units.size(f"_{ending}")) for ending, name in shown.items()}


def _described_site(lake: Reservoir, base: Reservoir | System) -> dict[str, Any]:
    limits = {side: _steps_of(lake, getattr(lake, f"storage_{side}_hm3")) for side in LIMITS}
    low, high = float(lake.storage_lower_hm3.min()), float(lake.storage_upper_hm3.max())
    storages = np.linspace(low, high, _LEVELS)
    return {
        "limits": limits,
        "keys": LIMITS,
        "range": numbers([low, high], 9),
        "levels": numbers([storages, lake.level(storages)]),
        "fields": [
            field_of(base if row.section == "objective" else lake, row) for row in map(KEYS.__getitem__, FIELDS)
        ],
        "links": [] if isinstance(base, Reservoir) else [*_described_links(base, lake.name)],
        "keyed": [{"key": row.key, "meaning": row.meaning} for row in ATTRIBUTES if row.kind in _KINDS],
    }


def _described_links(system: System, source: str) -> Iterator[dict[str, Any]]:
    """Fields of the links that leave a reservoir; keys as changes have them."""
    names = link_names((link.source, link.target) for link in system.links)
    for name, link in zip(names, system.links, strict=True):
        if link.source == source:
            fields = {row.name: field_of(link, row) for row in LINK_ATTRIBUTES if row.name not in _NO_FIELD}
            fields["travel_hours"]["value"] = numbers(link.travel_steps * system.step.hours)
            yield {"name": name, "fields": [field | {"key": f"{name}:{key}"} for key, field in fields.items()]}


def _steps_of(lake: Reservoir, values: np.ndarray) -> dict[str, Any]:
    """Values of a list of a file, and at the end of which step of the water year each stands."""
    places = lake.by_step(np.arange(len(values), dtype=float)).astype(int)
    ends = {int(place): step + 1 for step, place in enumerate(places)}
    return {"values": numbers(values, 9), "ends": [ends.get(place) for place in range(len(values))]}


def field_of(lake: Reservoir | System | Link, row: Attribute) -> dict[str, Any]:
    """A field, and what the reservoir has there; None where it has nothing, or a curve says it."""
    of, _, name = row.field.rpartition(".")
    value = getattr(getattr(lake, of) if of else lake, name) if name else None
    if isinstance(value, np.ndarray):
        value = numbers(value[0] if np.ptp(value) == 0 else value, 9)
    least, most = (None if math.isinf(end) else end for end in row.allowed)
    unit = row.units[0].suffix if row.units else ""
    label = row.meaning.partition(",")[0].partition(" that ")[0].removeprefix("the ")
    if isinstance(lake, Link):
        label = (
            f"{row.name}: {row.meaning}"
            if row.kind in _WORDS
            else re.split("; |, in place", row.meaning)[0].removeprefix("the ")
        )
    about = {"key": row.key, "label": label[:1].upper() + label[1:], "meaning": row.description}
    return about | {"unit": unit, "value": value, "least": least, "most": most, "words": row.kind in _WORDS}
