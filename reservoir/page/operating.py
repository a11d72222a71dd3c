"""Advice for a month by the rules of a plan, as ``reservoir operate`` gives it; and the command that fits them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from reservoir.errors import InputError, Mistake, restated
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.system import System
from reservoir.hydro.unit_system import UnitSystem, told_in
from reservoir.io.plan_folder.files import SYSTEM, read_provenance
from reservoir.io.records.cells import NumberStyle
from reservoir.io.records.reader import read_inflow_forecast
from reservoir.io.records.sites import read_system_forecast
from reservoir.io.rule_inputs import PlanRules, RuleInputs, SystemRuleInputs, read_rules_of
from reservoir.page.workspace import Tell
from reservoir.report.advice import USUAL_MONTHS, RuleAdvice, assumed_words, on_forecast, situation_of
from reservoir.report.system_advice import TYPED, SystemRuleAdvice, system_situation_of
from reservoir.rules import FAMILIES
from reservoir.rules.advice import share_outside
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.separable import SEPARABLE
from reservoir.rules.families.system_replan import REPLAN
from reservoir.rules.system_advice import local_means
from reservoir.rules.system_evaluation import SYSTEM_FAMILIES
from reservoir.text.quantities import quantity

if TYPE_CHECKING:
    from reservoir.page.desk import Desk

#: What rules of systems do that only these have.
_OF_SYSTEMS = {SEPARABLE: "values of water in each lake, which weigh all reservoirs together"}
#: Families that are fitted where nobody chooses: those that take seconds.
_USUAL = ("guide-curve", "linear", "zones", "sdp", "water-value", "standard", SEPARABLE)
#: Arguments of a system's situation by the fields, which are called as the options of the command that say the same.
_TYPED = {option.removeprefix("--"): name for name, (option, _) in TYPED.items()}
#: Of the fields.
_ENDINGS = ("m", "hm3", "m3s")
#: Commas separate thousands, or are refused: "412,5" is no 4125.
_TYPED_NUMBERS = NumberStyle("thousands")
#: As `reservoir operate` has it: no river carries as much (m3/s), and no lake holds as much (hm3).
_MOST = 1e9


def operable(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """What can be asked of the rules of a ``plan``: families, and reservoirs with what is usual, in ``units``."""
    folder = desk.workspace.path(str(ask.get("plan", "")))
    stated = read_provenance(folder)
    several, rules = (folder / SYSTEM).is_file(), _rules(folder)
    names = SYSTEM_FAMILIES if several else tuple(FAMILIES)
    told = {name: FAMILIES[name].summary if name in FAMILIES else _OF_SYSTEMS[name] for name in names}
    units = UnitSystem.of(str(ask.get("units") or stated.get("units", {}).get("system", "si")))
    return {
        "plan": folder.name,
        "system": several,
        "families": told,
        "usual": [name for name in _USUAL if name in told],
        "fitted": [each.family for each in rules],
        "months": list(MONTH_NAMES),
        "sites": _sites(rules[0], units) if rules else [],
        "units": {ending: units.amount(0.0, ending)[1] for ending in _ENDINGS},
        "sizes": {ending: units.size(f"_{ending}") for ending in _ENDINGS},
        "caveats": list(rules[0].caveats) if rules else [],
    }


def fit_rules(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Fit ``families`` to a ``plan``, in place of earlier rules, by the command."""
    folder = desk.workspace.path(str(ask.get("plan", "")))
    words = ["rules", folder.name, *(word for name in ask.get("families", ()) for word in ("--family", str(name)))]
    words += ["--force"] if (folder / "rules").exists() else []
    said = desk.workspace.run(words, tell)
    return operable(desk, ask, tell) | {"command": desk.workspace.shown(words), "said": said}


def advice(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """What rules of a ``plan`` advise for a ``month``, of numbers in ``units``: those of the ``families`` asked for.

    ``values`` has ``level``, ``storage``, ``inflow``, ``inflow-before`` and ``released`` of reservoirs by their names;
    ``flood-index`` is what a flood space depends on, ``ensemble`` a file of the workspace in place of inflows.
    """
    folder, month = desk.workspace.path(str(ask.get("plan", ""))), cast(int, ask.get("month"))
    if month not in range(1, 13):
        raise InputError("is no month", "1 to 12", column="month", value=month)
    rules = [each for each in _rules(folder) if not ask.get("families") or each.family in ask["families"]]
    if not rules:
        raise InputError("has no such rules", mend="fit them", column="plan", value=folder.name)
    several = isinstance(rules[0], SystemRuleInputs)
    names = rules[0].system.names if isinstance(rules[0], SystemRuleInputs) else (rules[0].reservoir.name,)
    units = rules[0].units(str(ask["units"]) if ask.get("units") else None)
    with _at_fields(names if several else ()):
        typed = {key: _numbers(ask, key, names) for key in _TYPED}
        forecast = None
        if ask.get("ensemble"):
            if typed["inflow"]:
                raise InputError("is given together with --ensemble", "one of them", column="--inflow")
            file = desk.workspace.file(str(ask["ensemble"]))
            forecast = _forecast(folder, file, file.stat().st_mtime_ns, month)
        flood = _number(ask.get("flood-index"), "flood-index", -math.inf)
        if several:
            return _advised_system(rules, month, typed, forecast, units)
        return _advised(rules, month, typed, forecast, flood, units)


def _advised(
    rules: Any,
    month: int,
    typed: Mapping[str, Any],
    forecast: FloatArray | None,
    flood: float | None,
    units: UnitSystem,
) -> dict[str, Any]:
    """A row of each rule beside the others, and all that the command says of it."""
    level, storage, inflow, before = (next(iter(typed[key].values()), None) for key in tuple(_TYPED)[:4])
    told, advised = list[dict[str, Any]](), None
    for inputs in rules:
        expected = inflow
        if forecast is not None and inputs.rule.family == REPLAN:
            inputs = on_forecast(inputs, forecast, "the forecast")
        elif forecast is not None:
            expected = float(forecast[:, 0].mean()) / units.size("_m3s")
        situation = situation_of(inputs, month, level, storage, expected, before, flood, units)
        advised = RuleAdvice.of(inputs, month, situation, beside=advised)
        of_it = advised.advice
        release, end = (units.amount(*each)[0] for each in ((of_it.release_m3s, "m3s"), (of_it.end_level_m, "m")))
        cells, outside = [quantity(release), f"{end:,.2f}", quantity(of_it.power_mw)], None
        if forecast is not None:
            outside = share_outside(inputs.rule, inputs.reservoir, situation, of_it.release_m3s, forecast[:, 0])
            cells.append(f"{outside:.0%}")
        words = {"rows": advised.rows(units), "warnings": advised.warnings(units)}
        of_rule = {"family": inputs.rule.family, "cells": cells, "outside": outside, "advice": advised.as_dict(units)}
        told.append(of_rule | words)
    flow, length = (units.amount(0.0, ending)[1] for ending in ("m3s", "m"))
    heads = ["Rule", f"Release, {flow}", f"End level, {length}", "Power, MW"]
    heads += [] if forecast is None else ["Members outside limits"]
    assumed = assumed_words(0.0 if forecast is not None else inflow, before)
    return {"heads": heads, "rules": told, "assumed": [assumed] if assumed else []}


def _advised_system(
    rules: Any, month: int, typed: Mapping[str, Any], forecast: FloatArray | None, units: UnitSystem
) -> dict[str, Any]:
    """A table of all reservoirs by each rule, and why."""
    known = {"state": None} | {name: tuple(typed[key].items()) for key, name in _TYPED.items()}
    told, assumed = list[dict[str, Any]](), list[str]()
    for inputs in rules:
        with told_in(units):
            situation = system_situation_of(inputs, month, known, forecast, units)
        advised = SystemRuleAdvice.of(inputs, month, situation, forecast, USUAL_MONTHS)
        heads, rows = advised.table(units)
        assumed += [words for words in advised.assumed if words not in assumed]
        told.append(
            {
                "family": inputs.file.family,
                "heads": heads,
                "table": rows,
                "reasons": [*advised.reasons(units), *advised.chances()],
                "warnings": advised.warnings(units),
                "advice": advised.as_dict(units),
            }
        )
    return {"rules": told, "assumed": [f"Assumed: {words}" for words in assumed]}


def _rules(folder: Path) -> PlanRules:
    """Rules of a plan; read again where its files changed."""
    files = sorted((*folder.glob("rules/*.json"), *folder.glob("*.toml"), *folder.glob("schedule.csv")))
    return _read_rules(folder, tuple((path, path.stat().st_mtime_ns) for path in files))


@lru_cache(4)
def _read_rules(folder: Path, stamps: tuple[tuple[Path, int], ...]) -> PlanRules:
    return read_rules_of(folder)


def _sites(inputs: RuleInputs | SystemRuleInputs, units: UnitSystem) -> list[dict[str, Any]]:
    """Reservoirs, with the range of their levels, and the level and the inflows that are usual."""
    system = System.of(inputs.reservoir) if isinstance(inputs, RuleInputs) else inputs.system
    means: Any = [inputs.rule.months.inflow_m3s] if isinstance(inputs, RuleInputs) else local_means(inputs.rule, system)
    delayed = {link.source for link in system.links if link.travel_steps and link.target is not None}
    sites = []
    for plant, flows in zip(system.reservoirs, means, strict=True):
        start = plant.initial_storage_hm3
        start = float(plant.storage_bounds_hm3[:, 0].mean()) if start is None else start
        ends = [float(plant.level(each)) for each in (*plant.level.domain, start)]
        low, high, level = (units.amount(each, "m")[0] for each in ends)
        of_month = dict(zip(plant.months.tolist(), flows, strict=True))
        sites.append(
            {
                "name": plant.name,
                "stores": not plant.is_run_of_river,
                "levels": [low, high],
                "level": round(level, 2),
                "inflow": [float(f"{units.amount(of_month[month], 'm3s')[0]:.4g}") for month in range(1, 13)],
                "flood": "" if plant.flood_space is None else plant.flood_space.column,
                "delayed": plant.name in delayed,
                "month": int(plant.months[0]),
            }
        )
    return sites


def _number(value: Any, key: str, least: float = 0.0) -> float | None:
    """A number as it was typed; None of an empty field."""
    if value is None or not str(value).strip():
        return None
    try:
        number = float(_TYPED_NUMBERS.plain(str(value).strip()))
    except ValueError:
        number = math.nan
    if not max(least, -_MOST) <= number <= _MOST:
        expected = "a number" if least < 0 else "a number of 0 or more"
        if math.isfinite(number):
            raise InputError("is not between its limits", expected, column=key)
        mend = "use a decimal point and no other mark: 412.5" if "," in str(value) else ""
        raise InputError("is not a number", expected, mend, column=key)
    return number


def _numbers(ask: Mapping[str, Any], key: str, names: tuple[str, ...]) -> dict[str, float]:
    """The numbers of a field that were typed, by reservoir."""
    values = ask.get("values", {})
    typed = {}
    for name in names:
        column = f"{key} of {name}" if len(names) > 1 else key
        number = _number(values.get(name, {}).get(key), column, -_MOST if key == "level" else 0.0)
        if number is not None:
            typed[name] = number
    return typed


@lru_cache(8)
def _forecast(folder: Path, file: Path, stamp: int, month: int) -> FloatArray:
    """The members of a forecast, shape (members, months) or, of a system, (members, months, reservoirs)."""
    inputs = _rules(folder)[0]
    if isinstance(inputs, SystemRuleInputs):
        return read_system_forecast(inputs.system, file, inputs.record_unit, month)
    return read_inflow_forecast(file, inputs.record_unit, month)


def _at_fields(names: tuple[str, ...]) -> AbstractContextManager[None]:
    """Tell mistakes at the field that they are about: with the reservoir that they name, of several."""

    def at_field(mistake: Mistake) -> Mistake:
        field = mistake.column.removeprefix("--")
        named = (name for name in names if re.search(rf"\bof {re.escape(name)}\b", str(mistake)))
        site = next(named, "") if field != mistake.column else ""
        return replace(mistake, column=f"{field} of {site}" if site else field)

    return restated(at_field)


#: Questions of this screen.
ANSWERS = {"operable": operable, "fit-rules": fit_rules, "advice": advice}
