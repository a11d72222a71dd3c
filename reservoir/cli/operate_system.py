"""Rules of a system, as commands about one rule read them; and the advice of ``reservoir operate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reservoir.cli import options
from reservoir.cli.operate import Named, draw_outlook, plan_folder_of, require_outlook, said_units, units_of
from reservoir.errors import InputError
from reservoir.text.quantities import quantity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reservoir.hydro.reservoir import Reservoir
    from reservoir.hydro.system import System
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.io.system_rule_file import SystemRuleFile
    from reservoir.rules.families.separable import Separable, SystemRule
    from reservoir.rules.system_advice import SiteAdvice, SiteOutlook, SiteWorth, SystemSituation

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class SystemRuleInputs:
    """A rule of a system with the system.

    Parameters
    ----------
    file : SystemRuleFile
    system : System
    plan_folder : Path or None
        The folder whose ``rules/`` the rule's files stand in.
    """

    file: SystemRuleFile
    system: System
    plan_folder: Path | None

    @property
    def rule(self) -> SystemRule:
        """The rule."""
        return self.file.rule

    @property
    def record_unit(self) -> str:
        """The unit of the record that the plan was made for; empty if nobody said it, or sites differ in it."""
        units = {options.unit_said(record) for record in self.file.records.values()}
        return units.pop() if len(units) == 1 else ""

    def values(self, rule_file: Path) -> Separable | None:
        """Separable values: the rule itself, or those of the file beside it for the same plan; None without any."""
        from reservoir.io.system_rule_file import read_system_rule
        from reservoir.rules.families.separable import SEPARABLE, Separable

        beside = rule_file.with_name(f"{SEPARABLE}.json")
        if isinstance(self.rule, Separable) or self.plan_folder is None or not beside.is_file():
            return self.rule if isinstance(self.rule, Separable) else None
        other = read_system_rule(beside, self.system)
        other.require_same_plan(self.plan_folder)
        return other.rule if isinstance(other.rule, Separable) else None

    def units(self, asked: str | None) -> UnitSystem:
        """The units asked for, or those of the rule's plan."""
        return units_of(self.plan_folder, self.file.first, asked)


def system_file_of(rule_file: Path | None, reservoir_file: Path | None) -> Path | None:
    """The file of the system that a call is of: the given one, or that of the rule's plan; None of one reservoir."""
    from reservoir.io.plan_folder.files import SYSTEM

    if reservoir_file is not None or rule_file is None:
        return reservoir_file if options.names_system(reservoir_file) else None
    folder = plan_folder_of(rule_file)
    return folder / SYSTEM if folder is not None and (folder / SYSTEM).is_file() else None


def read_system_rule_inputs(rule_file: Path, system_file: Path) -> SystemRuleInputs:
    """Read a rule of a system.

    Raises
    ------
    InputError
        With every mistake of the files, or if the rule was fitted to another system or plan.
    """
    from reservoir.io.system_file import read_system
    from reservoir.io.system_rule_file import read_system_rule
    from reservoir.io.workplace import clear_abandoned

    clear_abandoned(rule_file.absolute().parent.parent)  # a run that was killed in the midst of an exchange of files
    system, plan_folder = read_system(system_file), plan_folder_of(rule_file)
    return SystemRuleInputs(read_system_rule(rule_file, system), system, plan_folder)


def operate_system(
    rule_file: Path,
    system_file: Path,
    month: int,
    known: Mapping[str, Any],
    *,
    months: int,
    members: int | None,
    figure: Path | None,
    unit_system: str | None,
    as_json: bool,
) -> None:
    """Recommend the releases of a month; arguments are options of the command, `known` those that say the situation."""
    from reservoir.io.plan_folder.files import read_caveats
    from reservoir.rules.system_advice import FUTURES, advise_system, futures_of, outlook_of_system

    require_outlook(members, known["ensemble"], figure)
    inputs = read_system_rule_inputs(rule_file, system_file)
    units, system = inputs.units(unit_system), inputs.system
    caveats = tuple(dict.fromkeys(filter(None, (system.caveat, *(each.caveat for each in system.reservoirs)))))
    if inputs.plan_folder is not None:
        inputs.file.require_same_plan(inputs.plan_folder)
        caveats = read_caveats(inputs.plan_folder)
    forecast = _forecast(inputs, month, known)
    with options.told_in(units):
        situation, assumed = _situation(inputs, month, known, forecast, units)
    values = inputs.values(rule_file)
    advice = advise_system(inputs.rule, system, situation, values)
    futures = futures_of(None if values is None else values.inflow, situation, months, forecast, members or FUTURES)
    if futures is None and (members or figure):
        problem, mend = "needs futures, and this rule knows none", "fit separable beside it, or give --ensemble"
        raise InputError(problem, "", mend, column="--members" if members else "--figure")
    outlook = None if futures is None else outlook_of_system(inputs.rule, system, situation, advice, futures)
    if as_json:
        from reservoir.cli.screen import show_json

        show_json(_as_json(inputs, month, advice, outlook, units) | {"assumed": assumed, "caveats": caveats})
    else:
        notes = (*caveats, *filter(None, [said_units(units, unit_system)]))
        _show(inputs, month, advice, outlook, units, notes, assumed)
    if figure is not None and outlook is not None:
        of_each = zip(outlook.values(), system.reservoirs, strict=True)
        draw_outlook(figure, [each for each in of_each if not each[1].is_run_of_river], units, caveats)


def _forecast(inputs: SystemRuleInputs, month: int, known: Mapping[str, Any]) -> FloatArray | None:
    """The members of a forecast, shape (members, months, reservoirs), a column for each reservoir; None without one."""
    file, reading = known["ensemble"], {name: value for name, value in known["reading"].items() if value}
    if file is None:
        for name in reading:
            column = f"--{name.replace('_', '-')}"
            raise InputError("is given, but no inflow is read", "", "leave it out, or give --ensemble", column=column)
        return None
    from reservoir.io.records.sites import read_system_forecast

    if known["inflows"]:
        raise InputError("is given together with --ensemble", "one of them", column="--inflow")
    with options.named_as_reading():
        return read_system_forecast(inputs.system, file, inputs.record_unit, month, **reading)


def _situation(
    inputs: SystemRuleInputs, month: int, known: Mapping[str, Any], forecast: FloatArray | None, units: UnitSystem
) -> tuple[SystemSituation, list[str]]:
    """What is known of the month, of numbers as they are typed; and what is assumed, in words."""
    import numpy as np

    from reservoir.io.river_state import read_river_state
    from reservoir.rules.advice import step_of_month
    from reservoir.rules.families.separable import Separable
    from reservoir.rules.system_advice import SystemSituation, local_means, months_of

    system, rule, assumed = inputs.system, inputs.rule, list[str]()
    state = {} if known["state"] is None else read_river_state(known["state"], system, month)
    typed = {
        name: _by_name(system, known[name], option, units.size(f"_{unit}")) for name, (option, unit) in _TYPED.items()
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


#: Options of numbers that are typed for each reservoir, and their unit.
_TYPED = {
    "levels": ("--level", "m"),
    "storages": ("--storage", "hm3"),
    "inflows": ("--inflow", "m3s"),
    "inflows_before": ("--inflow-before", "m3s"),
    "released": ("--released", "m3s"),
}


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
    import numpy as np

    from reservoir.hydro.plant import storage_at_level

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


def _chances(outlook: SiteOutlook) -> dict[str, float]:
    return {
        "spill": outlook.spill_probability,
        "missed_limit": outlook.miss_probability,
        "full": outlook.refill_probability,
    }


def _as_json(
    inputs: SystemRuleInputs,
    month: int,
    advice: Mapping[str, SiteAdvice],
    outlook: Mapping[str, SiteOutlook] | None,
    units: UnitSystem,
) -> dict[str, Any]:
    unit = inputs.system.objective.unit
    ending = units.column("_gwh_per_hm3" if unit == "GWh" else "_per_hm3")

    def of_site(name: str, each: SiteAdvice) -> dict[str, Any]:
        situation = {key: value for key, value in asdict(each.situation).items() if value is not None}
        worth = None if each.worth is None else {
            f"{key}{ending}": units.per_volume(value, unit)[0] for key, value in asdict(each.worth).items()
        }  # fmt: skip
        chances = {} if outlook is None else {"chances": _chances(outlook[name])}
        return {
            "reservoir": name,
            "situation": units.values(situation | {"arriving_m3s": each.arriving_m3s}),
            "advice": units.values(asdict(each.advice)),
            "water_value": worth,
            **chances,
        }

    horizon = {} if outlook is None else {"outlook": dict(zip(("futures", "months"), _size(outlook), strict=True))}
    return {
        "system": inputs.system.name,
        "family": inputs.file.family,
        "month": month,
        "units": units.as_dict,
        "unit": unit,
        "reservoirs": [of_site(name, each) for name, each in advice.items()],
        "power_mw": sum(each.advice.power_mw for each in advice.values()),
        "energy_gwh": sum(each.advice.energy_gwh for each in advice.values()),
    } | horizon


def _size(outlook: Mapping[str, SiteOutlook]) -> tuple[int, ...]:
    """Futures and months."""
    return next(iter(outlook.values())).power_mw.shape


def _show(
    inputs: SystemRuleInputs,
    month: int,
    advice: Mapping[str, SiteAdvice],
    outlook: Mapping[str, SiteOutlook] | None,
    units: UnitSystem,
    notes: tuple[str, ...],
    assumed: list[str],
) -> None:
    from rich.markup import escape

    from reservoir.cli.screen import Column, console, show_table
    from reservoir.hydro.calendar import MONTH_NAMES

    screen, system = console(), inputs.system
    screen.print(
        f"[bold]{escape(system.name)}[/], {MONTH_NAMES[month - 1]}, rule {escape(inputs.file.family)}", soft_wrap=True
    )
    for note in notes:
        screen.print(f"[yellow]{escape(note[:1].upper() + note[1:])}[/]", soft_wrap=True)
    rows = []
    for name, each in advice.items():
        plant = system.reservoirs[system.names.index(name)]
        start = units.amount(float(plant.level(each.situation.storage_hm3)), "m")[0]
        flows = each.situation.inflow_m3s, each.arriving_m3s, each.advice.release_m3s, each.advice.spill_m3s
        end = units.amount(each.advice.end_level_m, "m")[0]
        rows.append(
            (
                escape(name),
                f"{start:,.2f}",
                *(quantity(units.amount(abs(flow), "m3s")[0]) for flow in flows),
                f"{end:,.2f}",
                quantity(each.advice.power_mw),
                quantity(each.advice.energy_gwh),
            )
        )
    of_all = (sum(getattr(each.advice, key) for each in advice.values()) for key in ("power_mw", "energy_gwh"))
    rows.append(("system", *[""] * 6, *map(quantity, of_all)))
    flow, level = units.amount(0.0, "m3s")[1], units.amount(0.0, "m")[1]
    heads = (
        "reservoir",
        f"level, {level}",
        f"inflow, {flow}",
        "from above",
        "release",
        "spilled",
        f"end, {level}",
        "MW",
        "GWh",
    )
    columns = [Column(title, "right" if place else "left") for place, title in enumerate(heads)]
    show_table(columns, rows, lines_after=[len(rows) - 2])
    for name, each in advice.items():
        plant = system.reservoirs[system.names.index(name)]
        for sentence in _sentences(plant, each, units, system.objective.unit):
            screen.print(escape(sentence), soft_wrap=True)
    if outlook is not None:
        count, months = _size(outlook)
        screen.print(f"Chances in {count} futures of {months} months, each reservoir by its own rule:", soft_wrap=True)
        for name, ahead in outlook.items():
            chances = f"spill {ahead.spill_probability:.0%}, a limit or demand missed {ahead.miss_probability:.0%}"
            screen.print(f"{escape(name)}: {chances}, full {ahead.refill_probability:.0%}", soft_wrap=True)
    for words in assumed:
        screen.print(f"[yellow]Assumed: {escape(words)}[/]", soft_wrap=True)
    for name, each in advice.items():
        for sentence in _warnings(name, each, units):
            screen.print(f"[bold red]{escape(sentence)}[/]", soft_wrap=True)


def _sentences(plant: Reservoir, each: SiteAdvice, units: UnitSystem, unit: str) -> Iterator[str]:
    """Why a reservoir releases what it does."""
    from reservoir.hydro.step import REPAIR_TOLERANCE

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
        kept, below, last, more = (quantity(units.per_volume(value, unit)[0]) for value in _values(worth))
        of = units.per_volume(0.0, unit)[1]
        yield (
            f"{name}: kept here, water is worth {kept} {of} later; released, the last of it makes {last} (more would "
            f"make {more}), and it is worth {below} below"
        )
    advice = each.advice
    if advice.repaired:
        asked, release = (units.written(flow, "m3s") for flow in (advice.asked_m3s, advice.release_m3s))
        yield f"{name}: the rule asked for {asked}; the limits make it {release}"


def _values(worth: SiteWorth) -> tuple[float, ...]:
    return worth.kept, worth.below, worth.last, worth.more


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
