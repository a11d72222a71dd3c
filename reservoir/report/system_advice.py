"""What a rule of a system advises for a month, of numbers as they are typed: for machines, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.plant import storage_at_level
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import REPAIR_TOLERANCE
from reservoir.hydro.system import System
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.river_state import read_river_state
from reservoir.io.rule_inputs import SystemRuleInputs
from reservoir.rules.advice import step_of_month
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.separable import Separable
from reservoir.rules.system_advice import (
    FUTURES,
    SiteAdvice,
    SiteOutlook,
    SystemSituation,
    advise_system,
    futures_of,
    local_means,
    months_of,
    outlook_of_system,
)
from reservoir.text.quantities import quantity

#: Numbers as they are typed, each with the name of a reservoir.
Named = tuple[tuple[str, float], ...]
#: Options of numbers that are typed for each reservoir, and their unit.
TYPED = {
    "levels": ("--level", "m"),
    "storages": ("--storage", "hm3"),
    "inflows": ("--inflow", "m3s"),
    "inflows_before": ("--inflow-before", "m3s"),
    "released": ("--released", "m3s"),
}


def system_situation_of(
    inputs: SystemRuleInputs, month: int, known: Mapping[str, Any], forecast: FloatArray | None, units: UnitSystem
) -> tuple[SystemSituation, list[str]]:
    """What is known of a month, of numbers in the units given; and what is assumed, in words.

    Parameters
    ----------
    inputs : SystemRuleInputs
    month : int
        Calendar month.
    known : mapping
        Of each name in `TYPED`, numbers by the names of reservoirs; ``state``, a table of the month before, or None.
    forecast : ndarray, shape (members, months, reservoirs), or None
        In place of inflows.
    units : UnitSystem
        Of the numbers.

    Raises
    ------
    InputError
        If one is missing, or wrong; its column is the option of ``reservoir operate``.
    """
    system, rule, assumed = inputs.system, inputs.rule, list[str]()
    state = {} if known["state"] is None else read_river_state(known["state"], system, month)
    typed = {
        name: _by_name(system, known[name], option, units.size(f"_{unit}")) for name, (option, unit) in TYPED.items()
    }
    storages = _storages(system, typed, state, units)
    step = step_of_month(system.reservoirs[0], month)
    means, months = local_means(rule, system), months_of(rule)

    def others(given: Mapping[str, float], what: str, instead: Mapping[str, float], how: str) -> FloatArray:
        missing = [name for name in system.names if name not in given]
        if missing:
            assumed.append(f"{what} of {', '.join(missing)}: {how}")
        return np.array([given.get(name, instead[name]) for name in system.names])

    of_state = {
        name: {key: each[name] for key, each in state.items() if name in each} for name in ("local_m3s", "release_m3s")
    }
    before_means = {name: float(means[place, step - 1]) for place, name in enumerate(system.names)}
    given_before = of_state["local_m3s"] | typed["inflows_before"]
    before = others(given_before, "inflow of the previous month", before_means, "the mean of the fitted years")
    delayed = {link.source: link for link in system.links if link.travel_steps and link.target is not None}
    usual = {}
    for name in system.names:
        own, said = months[name], delayed[name].before_m3s if name in delayed else None
        mean = float(own.within_bounds(step - 1, np.array(own.inflow_m3s[step - 1])))
        usual[name] = mean if said is None else said
    given_releases = of_state["release_m3s"] | typed["released"]
    released = np.array([given_releases.get(name, usual[name]) for name in system.names])
    for name in delayed:
        if name not in given_releases:
            under_way = units.written(usual[name], "m3s")
            assumed.append(f"water under way from {name}: of a release of {under_way} in the previous month")
    if forecast is not None:
        local, probability = forecast[:, 0].T, np.full(len(forecast), 1 / len(forecast))
    elif set(typed["inflows"]) >= set(system.names):
        local, probability = np.array([[typed["inflows"][name]] for name in system.names]), np.ones(1)
    elif isinstance(rule, Separable):
        local, probability = rule.expected(step, float(before.sum()))
        local = local.copy()
        for name, flow in typed["inflows"].items():
            local[system.names.index(name)] = flow
        missing = [name for name in system.names if name not in typed["inflows"]]
        assumed.append(
            f"inflow of {', '.join(missing)}: the classes that follow the previous month in the rule's model"
        )
    else:
        expected = {name: float(means[place, step]) for place, name in enumerate(system.names)}
        if any(each.forecast == "month" for each in rule.values()):
            missing = [name for name in system.names if name not in typed["inflows"]]
            problem = f"is missing of {', '.join(missing)}: this rule uses the month's inflow"
            mend = "give --inflow NAME=INFLOW of each, or use a rule fitted with --forecast none"
            raise InputError(problem, f"mean flows in {units.amount(0.0, 'm3s')[1]}", mend, column="--inflow")
        local = others(typed["inflows"], "inflow", expected, "the mean of the fitted years")[:, np.newaxis]
        probability = np.ones(1)
    given = np.array([name in typed["inflows"] for name in system.names])
    return SystemSituation(step, storages, local, probability, before, released, given), assumed


def _by_name(system: System, numbers: Named, option: str, size: float) -> dict[str, float]:
    """Numbers by the names that they are typed with, in the program's units."""
    names = [name for name, _ in numbers]
    system.require_named(names, option)
    for name in names:
        if names.count(name) > 1:
            raise InputError("is given twice", "one number", column=option, value=name)
    return {name: number * size for name, number in numbers}


def _storages(
    system: System,
    typed: Mapping[str, Mapping[str, float]],
    state: Mapping[str, Mapping[str, float]],
    units: UnitSystem,
) -> FloatArray:
    """Storage of each reservoir at the start of the month, shape (reservoirs,)."""
    storages = list[float]()
    for plant in system.reservoirs:
        name, of_state = plant.name, state.get(plant.name, {})
        said = [option for option in ("levels", "storages") if name in typed[option]]
        if len(said) == 2:
            raise InputError(f"is given together with --storage of {name}", "one of them", column="--level")
        level, storage = (typed[option].get(name) for option in ("levels", "storages"))
        if not said:
            level, storage = of_state.get("level_m"), of_state.get("storage_hm3")
        if level is None and storage is None and plant.is_run_of_river:
            storage = plant.initial_storage_hm3
        if level is None and storage is None:
            names = units.amount(0.0, "m")[1], units.amount(0.0, "hm3")[1]
            expected = "either --level {0}=LEVEL in {1}, or --storage {0}=STORAGE in {2}".format(name, *names)
            mend = "give it, or a table of the last month with --state"
            raise InputError(f"is missing of {name}", expected, mend, column="--level")
        if storage is None and level is not None:
            storage = storage_at_level(plant, level, "--level")
        (low, high), start = plant.level.domain, float(storage or 0.0)
        if not low <= start <= high:
            ends = " to ".join(units.written(bound, "hm3") for bound in (low, high))
            what = f"{ends}, the range of the level curve of {name}"
            raise InputError("is outside the level curve", what, column="--storage", value=start)
        storages.append(start)
    return np.array(storages)


@dataclass(frozen=True, eq=False)
class SystemRuleAdvice:
    """A month's advice by one rule for all reservoirs of a system, with what is known around it.

    Parameters
    ----------
    inputs : SystemRuleInputs
    month : int
        Calendar month.
    assumed : list of str
        What was not given, in words.
    of_each : mapping of str to SiteAdvice
        By the name of the reservoir.
    outlook : mapping of str to SiteOutlook, or None
        Of a rule that knows futures, and where a forecast says them.
    """

    inputs: SystemRuleInputs
    month: int
    assumed: list[str]
    of_each: Mapping[str, SiteAdvice]
    outlook: Mapping[str, SiteOutlook] | None

    @classmethod
    def of(
        cls,
        inputs: SystemRuleInputs,
        month: int,
        known: tuple[SystemSituation, list[str]],
        forecast: FloatArray | None,
        months: int,
        members: int = FUTURES,
    ) -> SystemRuleAdvice:
        """Ask a rule of what is `known` (`system_situation_of`), and look some months ahead into some futures."""
        (situation, assumed), rule, values = known, inputs.rule, inputs.values
        advice = advise_system(rule, inputs.system, situation, values)
        futures = futures_of(None if values is None else values.inflow, situation, months, forecast, members)
        if futures is None:
            return cls(inputs, month, assumed, advice, None)
        return cls(inputs, month, assumed, advice, outlook_of_system(rule, inputs.system, situation, advice, futures))

    @property
    def futures(self) -> tuple[int, ...]:
        """Futures and months of the outlook."""
        return () if self.outlook is None else next(iter(self.outlook.values())).power_mw.shape

    def as_dict(self, units: UnitSystem) -> dict[str, Any]:
        """All of it for machines."""
        unit = self.inputs.system.objective.unit
        ending = units.column("_gwh_per_hm3" if unit == "GWh" else "_per_hm3")

        def of_site(name: str, each: SiteAdvice) -> dict[str, Any]:
            situation = {key: value for key, value in asdict(each.situation).items() if value is not None}
            worth = None if each.worth is None else {
                f"{key}{ending}": units.per_volume(value, unit)[0] for key, value in asdict(each.worth).items()
            }  # fmt: skip
            chances = {} if self.outlook is None else {"chances": _chances(self.outlook[name])}
            return {
                "reservoir": name,
                "situation": units.values(situation | {"arriving_m3s": each.arriving_m3s}),
                "advice": units.values(asdict(each.advice)),
                "water_value": worth,
                **chances,
            }

        horizon = (
            {} if self.outlook is None else {"outlook": dict(zip(("futures", "months"), self.futures, strict=True))}
        )
        return (
            {
                "system": self.inputs.system.name,
                "family": self.inputs.file.family,
                "month": self.month,
                "units": units.as_dict,
                "unit": unit,
                "reservoirs": [of_site(name, each) for name, each in self.of_each.items()],
                "power_mw": sum(each.advice.power_mw for each in self.of_each.values()),
                "energy_gwh": sum(each.advice.energy_gwh for each in self.of_each.values()),
            }
            | horizon
            | {"assumed": self.assumed}
        )

    def table(self, units: UnitSystem) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Heads, and cells of each reservoir; the last row is that of the system."""
        rows = []
        for plant, each in zip(self.inputs.system.reservoirs, self.of_each.values(), strict=True):
            start = units.amount(float(plant.level(each.situation.storage_hm3)), "m")[0]
            flows = each.situation.inflow_m3s, each.arriving_m3s, each.advice.release_m3s, each.advice.spill_m3s
            end = units.amount(each.advice.end_level_m, "m")[0]
            cells = (quantity(units.amount(abs(flow), "m3s")[0]) for flow in flows)
            made = map(quantity, (each.advice.power_mw, each.advice.energy_gwh))
            rows.append((plant.name, f"{start:,.2f}", *cells, f"{end:,.2f}", *made))
        of_all = (
            sum(getattr(each.advice, key) for each in self.of_each.values()) for key in ("power_mw", "energy_gwh")
        )
        rows.append(("system", *[""] * 6, *map(quantity, of_all)))
        flow, level = units.amount(0.0, "m3s")[1], units.amount(0.0, "m")[1]
        heads = ("reservoir", f"level, {level}", f"inflow, {flow}", "from above", "release", "spilled", f"end, {level}")
        return (*heads, "MW", "GWh"), rows

    def reasons(self, units: UnitSystem) -> list[str]:
        """Why reservoirs release what they do."""
        system = self.inputs.system
        of_each = zip(system.reservoirs, self.of_each.values(), strict=True)
        return [words for plant, each in of_each for words in _sentences(plant, each, units, system.objective.unit)]

    def chances(self) -> list[str]:
        """Chances in the futures of the outlook: first of how many they are."""
        if self.outlook is None:
            return []
        said = ["Chances in {} futures of {} months, each reservoir by its own rule:".format(*self.futures)]
        for name, ahead in self.outlook.items():
            chances = f"spill {ahead.spill_probability:.0%}, a limit or demand missed {ahead.miss_probability:.0%}"
            said.append(f"{name}: {chances}, full {ahead.refill_probability:.0%}")
        return said

    def warnings(self, units: UnitSystem) -> list[str]:
        """What is missed this month."""
        return [words for name, each in self.of_each.items() for words in _warnings(name, each, units)]


def _chances(outlook: SiteOutlook) -> dict[str, float]:
    return {
        "spill": outlook.spill_probability,
        "missed_limit": outlook.miss_probability,
        "full": outlook.refill_probability,
    }


def _sentences(plant: Reservoir, each: SiteAdvice, units: UnitSystem, unit: str) -> Iterator[str]:
    """Why a reservoir releases what it does."""
    worth, name, step = each.worth, plant.name, each.situation.step
    if plant.is_run_of_river:
        yield f"{name}: stores nothing, and releases what flows in"
        return
    limits = {"highest": plant.storage_bounds_hm3[1, step], "lowest": plant.storage_bounds_hm3[0, step]}
    slack = REPAIR_TOLERANCE * float(plant.storage_upper_hm3.max())
    for side, limit in limits.items():
        if abs(each.advice.end_storage_hm3 - float(limit)) <= slack:
            yield f"{name}: ends the month at its {side} storage, which holds the decision"
    if worth is not None:
        kept, below, last, more = (
            quantity(units.per_volume(value, unit)[0]) for value in (worth.kept, worth.below, worth.last, worth.more)
        )
        of = units.per_volume(0.0, unit)[1]
        yield (
            f"{name}: kept here, water is worth {kept} {of} later; released, the last of it makes {last} (more would "
            f"make {more}), and it is worth {below} below"
        )
    advice = each.advice
    if advice.repaired:
        asked, release = (units.written(flow, "m3s") for flow in (advice.asked_m3s, advice.release_m3s))
        yield f"{name}: the rule asked for {asked}; the limits make it {release}"


def _warnings(name: str, each: SiteAdvice, units: UnitSystem) -> Iterator[str]:
    """What is missed this month."""
    advice = each.advice
    if advice.starts_below_dead:
        yield f"{name}: the lake is below dead storage, and nothing is released before it is above."
    if advice.missing_m3s:
        yield f"{name}: {units.written(advice.missing_m3s, 'm3s')} of the minimum release are missing."
    if advice.shortage_m3s > 0:
        yield f"{name}: {units.written(advice.shortage_m3s, 'm3s')} less is withdrawn than demanded."
    if not advice.within_bounds:
        yield f"{name}: no permitted release satisfies the storage limits of this month."
