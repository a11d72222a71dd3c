"""``reservoir operate``: recommend this month's release with a rule; and what commands about one rule read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from reservoir.cli import options
from reservoir.errors import InputError, Mistake, OutputError
from reservoir.text.quantities import quantity, typeset_unit

if TYPE_CHECKING:
    from reservoir.hydro.reservoir import Reservoir
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.io.rule_file import RuleFile
    from reservoir.rules import Rule
    from reservoir.rules.advice import Advice, AnalogueYears, MarginalWorth, Outlook, Situation


@dataclass(frozen=True)
class RuleInputs:
    """A rule with its reservoir.

    Parameters
    ----------
    rule : Rule
    file : RuleFile
        What it was read from.
    reservoir : Reservoir
    plan_folder : Path or None
        The folder whose ``rules/`` the rule's file stands in.
    """

    rule: Rule
    file: RuleFile
    reservoir: Reservoir
    plan_folder: Path | None

    @property
    def record_unit(self) -> str:
        """The unit of the record that the plan was made for; empty if nobody said it."""
        return options.unit_said(self.file.record)

    def units(self, asked: str | None) -> UnitSystem:
        """The units asked for, or those of the rule's plan (`units_of`)."""
        return units_of(self.plan_folder, self.file, asked)

    def beside(self, family: str) -> Rule | None:
        """The rule of a family for the same plan: this one, or that of the file beside it; None if there is none.

        Raises
        ------
        InputError
            If the file beside belongs to another reservoir or plan.
        """
        from reservoir.io.rule_file import read_rule_file, require_same_plan, require_same_reservoir

        if self.rule.family == family or self.plan_folder is None:
            return self.rule if self.rule.family == family else None
        path = self.plan_folder / "rules" / f"{family}.json"
        if not path.is_file():
            return None
        other = read_rule_file(path)
        require_same_reservoir(other, self.reservoir)
        require_same_plan(other, self.plan_folder)
        return other.rule


def units_of(plan_folder: Path | None, file: RuleFile, asked: str | None) -> UnitSystem:
    """The units asked for, else those of the rule's plan: by ``plan.json``, or by the rule's file elsewhere.

    Raises
    ------
    InputError
        If these are not known, or ``plan.json`` cannot be read.
    """
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.io.plan_folder.files import read_units
    from reservoir.io.rule_file import UNITS

    of_plan = read_units(plan_folder) if plan_folder else str(file.fitted_to.get(UNITS, "si"))
    return UnitSystem.of(asked or of_plan)


def plan_folder_of(rule_file: Path) -> Path | None:
    """The folder of a plan whose ``rules/`` a rule's file stands in."""
    from reservoir.io.plan_folder.files import PROVENANCE

    folder = rule_file.absolute().parent.parent
    return folder if (folder / PROVENANCE).is_file() else None


def said_units(units: UnitSystem, asked: str | None) -> str:
    """A line on units that a call does not name and that are not SI, see `RuleInputs.units`; else empty."""
    if asked or not units.by_ending:
        return ""
    named = ("{flow}, {volume} and {level}".format_map(each.as_dict) for each in (units, units.of("si")))
    theirs, usual = map(typeset_unit, named)
    return f"Units: {theirs}, as in the plan; for {usual} give --units si"


def read_rule_inputs(
    rule_file: Path,
    reservoir_file: Path | None,
    step: str | None = None,
    sheet: Sequence[str] = (),
    reading: Mapping[str, Any] | None = None,
) -> RuleInputs:
    """Read a rule, and its reservoir from the file given or from the plan's folder that the rule stands in.

    A `step` replaces that of the reservoir file; `sheet` names those of a workbook that are meant. The record in a
    workbook is read as `reading` says, and by default as it was for the rule's plan.

    Raises
    ------
    InputError
        With every mistake of both files, if there is no reservoir file, or if the rule was fitted to another one.
    """
    from reservoir.io.plan_folder.files import RESERVOIR
    from reservoir.io.rule_file import read_rule_file, require_same_reservoir
    from reservoir.io.workplace import clear_abandoned

    clear_abandoned(rule_file.absolute().parent.parent)  # a run that was killed in the midst of an exchange of files
    plan_folder = plan_folder_of(rule_file)
    beside = plan_folder / RESERVOIR if plan_folder is not None else None
    path = reservoir_file or beside
    mistakes: list[Mistake] = []
    file = plant = None
    try:
        file = read_rule_file(rule_file)
    except InputError as error:
        mistakes += error.mistakes
    try:
        if path is not None:
            how = {} if file is None else file.reading_of(path.name, options.READING_OPTIONS)
            how |= {**(reading or {}), **({"sheet": sheet} if sheet else {})}
            plant = options.read_plant(path, step, how.get("sheet", ()), (path, how))
        elif file is not None:
            mend = "give --reservoir FILE.toml, or use the rule file in the rules folder of its plan"
            raise InputError("the rule's reservoir file is unknown", mend=mend, file=str(rule_file))
    except InputError as error:
        mistakes += error.mistakes
    if file is None or plant is None:
        raise InputError(mistakes)
    require_same_reservoir(file, plant)
    return RuleInputs(file.rule, file, plant, plan_folder)


#: The family that has futures.
FAMILY = "replan"
#: Months of the outlook where none are asked for, and the quantiles that are told of them.
USUAL_MONTHS = 12
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def _not_beside(how: str) -> InputError:
    problem = "needs the rule of the family replan beside this one, and there is none"
    return InputError(problem, mend=f'fit it: "reservoir rules PLAN_DIR", {how}', column="--replan")


def _replanning(rule_file: Path) -> Path:
    """The file of the rule of a system that replans, beside another."""
    beside = rule_file.with_name(f"{FAMILY}.json")
    if not beside.is_file():
        raise _not_beside("with --family replan")
    return beside


def _with_futures(
    inputs: RuleInputs,
    month: int,
    members: int | None,
    months: int | None,
    ensemble: Path | None,
    reading: Mapping[str, Any],
    figure: Path | None,
) -> RuleInputs:
    """The inputs with another number of futures, or with those of a forecast; refused with a rule that has none.

    Raises
    ------
    InputError
        With what does not go together, or with the mistakes of the forecast's file.
    """
    given = {
        "--members": members,
        "--months-ahead": months,
        "--ensemble": ensemble,
        "--figure": figure,
    }
    if inputs.rule.family != FAMILY:
        mend = "add --replan, or use the rule file of the family replan"
        mistakes = [
            Mistake(f"needs futures, and a rule of the family {inputs.rule.family} has none", "", mend, column=name)
            for name, value in given.items()
            if value is not None
        ]
        if mistakes:
            raise InputError(mistakes)
        return inputs
    require_outlook(members, ensemble, figure)
    rule: Any = inputs.rule
    if ensemble is not None:
        from reservoir.io.records.reader import read_inflow_forecast
        from reservoir.rules.families.replan import MOST_MEMBERS, ReplanOnForecast

        with options.named_as_reading():
            flow_m3s = read_inflow_forecast(ensemble, inputs.record_unit, month, **reading)
        if len(flow_m3s) > MOST_MEMBERS:
            problem, expected = f"has {len(flow_m3s):,} members", f"at most {MOST_MEMBERS:,}"
            raise InputError(problem, expected, "give fewer of them", file=str(ensemble))
        return replace(inputs, rule=ReplanOnForecast.of(rule, flow_m3s))
    return inputs if members is None else replace(inputs, rule=rule.changed(members=members))


def require_outlook(members: int | None, ensemble: Path | None, figure: Path | None) -> None:
    """Refuse a figure of an unknown kind, and futures that are told twice."""
    if figure is not None and figure.suffix not in (".png", ".svg"):
        raise InputError("is not a kind of figure", "a name that ends in .png or .svg", column="--figure")
    if ensemble is not None and members is not None:
        raise InputError("is given together with --ensemble", "the members of the forecast", column="--members")


def draw_outlook(
    figure: Path, outlooks: Sequence[tuple[Outlook, Reservoir]], units: UnitSystem, caveats: tuple[str, ...]
) -> None:
    """Draw the outlook of each reservoir into a file."""
    from reservoir.cli.screen import drawn
    from reservoir.report.figures.storages import outlook_figure

    names = [plant.name for _, plant in outlooks]
    content = drawn(figure, lambda: outlook_figure(outlooks, units, caveats), *names, *caveats)
    try:
        if content is not None:
            figure.write_bytes(content)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror or error}", file=str(figure)) from error


def _outlook_as_json(ahead: Outlook, units: UnitSystem) -> dict[str, Any]:
    """The outlook for machines: probabilities, and quantiles of the storage at the end of each month."""
    import numpy as np

    levels = np.quantile(ahead.storage_hm3[:, 1:], _QUANTILES, axis=0).T
    months = [
        {"month": int(month)}
        | units.values(
            {f"storage_q{100 * share:02.0f}_hm3": float(each) for share, each in zip(_QUANTILES, row, strict=True)}
        )
        for month, row in zip(ahead.calendar_month, levels, strict=True)
    ]
    return {
        "members": len(ahead.storage_hm3),
        "refill_probability": ahead.refill_probability,
        "spill_probability": ahead.spill_probability,
        "firm_mw": ahead.firm_mw,
        "firm_probability": ahead.firm_probability,
        "months": months,
    }


def _outlook_rows(ahead: Outlook, units: UnitSystem) -> list[tuple[str, str]]:
    """The outlook as rows on the screen."""
    import numpy as np

    from reservoir.hydro.calendar import MONTH_NAMES

    members, months = ahead.power_mw.shape
    low, middle, high = np.quantile(ahead.storage_hm3[:, -1], [0.1, 0.5, 0.9])
    chances = [f"full in {ahead.refill_probability:.0%}", f"spill in {ahead.spill_probability:.0%}"]
    if ahead.firm_mw is not None and ahead.firm_probability is not None:
        chances.append(f"at least {quantity(ahead.firm_mw)} MW in every month in {ahead.firm_probability:.0%}")
    end = MONTH_NAMES[ahead.calendar_month[-1] - 1]
    lowest, highest = quantity(units.amount(float(low), "hm3")[0]), units.written(float(high), "hm3")
    median = units.written(float(middle), "hm3")
    storage = f"{lowest} to {highest} at the end of {end} in 80 % of them, median {median}"
    return [(f"Next {months} months", f"of {members:,} futures: {', '.join(chances)}"), ("Storage", storage)]


#: No river carries as much (m3/s), and no lake holds as much (hm3).
_MOST = 1e9
#: Spill is told of from this fraction of the release on.
_VISIBLE = 5e-4


class Amount(click.ParamType):  # type: ignore[type-arg] # generic in click 8.4 and later alone
    """A flow or a volume: a number of 0 or more."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number, which is neither infinite nor none."""
        try:
            amount = float(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if not 0 <= amount <= _MOST:
            self.fail(f"{value!r} is not between 0 and {_MOST:g}", param, ctx)
        return amount


_amount = Amount()


class NamedAmount(options.NamedNumber):
    """A flow or a volume, or NAME=VALUE: that of one reservoir of a system."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the name, "" without one, and the number."""
        if isinstance(value, tuple):  # click asks twice
            return value
        name, equals, number = str(value).rpartition("=")
        return (name.strip() if equals else "", _amount.convert(number.strip(), param, ctx))


_named, _named_number = NamedAmount(), options.NamedNumber()


class Month(click.IntRange):
    """A calendar month, by its number or its name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a month."""
        from reservoir.io.records.words import MONTH_OF_NAME

        word = str(value).strip()
        month = MONTH_OF_NAME.get(word.casefold().rstrip("."), word)
        if not str(month).lstrip("+-").isdecimal():
            self.fail(f"{value!r} is not a month; give 1 to 12, or a name such as May", param, ctx)
        return int(super().convert(cast(Any, month), param, ctx))


# fmt: off
_OPTIONS = (
    options.rule, options.rule_reservoir,
    click.option("--month", type=Month(1, 12), metavar="MONTH", required=True,
        help="Calendar month: 1 to 12, or its name."),
    click.option("--level", "levels", type=_named_number, multiple=True, metavar="[NAME=]NUMBER",
        help="Forebay level at the start of the month, m (or as --units); of a system NAME=LEVEL."),
    click.option("--storage", "storages", type=_named, multiple=True, metavar="[NAME=]NUMBER",
        help="Storage at the start of the month, hm3 (or as --units), instead of --level."),
    click.option("--state", type=options.FilePath(), metavar="FILE",
        help="Of a system, in place of --level: a table with a column reservoir, of each of which the last row counts, "
        "such as schedule.csv of a simulation; its releases and inflows are those of the previous month."),
    click.option("--inflow", "inflows", type=_named, multiple=True, metavar="[NAME=]NUMBER",
        help="Expected mean inflow of the month, m3/s (or as --units); of a system NAME=INFLOW, local inflow."),
    click.option("--inflow-before", "inflows_before", type=_named, multiple=True, metavar="[NAME=]NUMBER",
        help="Mean inflow of the previous month, m3/s (or as --units)."),
    click.option("--released", "released", type=_named, multiple=True, metavar="NAME=NUMBER",
        help="Of a system: release of the previous month, m3/s (or as --units), for water under way on links that "
        "delay."),
    click.option("--flood-index", type=options.FiniteNumber(),
        help="Value of the column that the reservoir's flood space depends on."),
    click.option("--replan", is_flag=True,
        help="Decide by many futures: with the rule of the family replan beside this one."),
    click.option("--members", type=click.IntRange(1, 10_000),
        help="Futures of a replan rule or of a system.  [default: those of the rule; of a system 100]"),
    click.option("--ensemble", type=options.FilePath(),
        help="Forecast of the inflow with members, from the month on: CSV or a workbook (date, member, inflow), or "
        "NetCDF. A replan rule decides with it instead of --inflow."),
    options.reading,
    click.option("--months-ahead", type=click.IntRange(1, 60),
        help="Months of the outlook of a replan rule or of a system.  [default: 12]"),
    click.option("--figure", type=options.FilePath(),
        help="Draw the outlook of a replan rule or of a system into this .png or .svg file."),
    options.units_of_plan, options.json, options.debug,
)
# fmt: on


#: Numbers as they are typed, each with the name of a reservoir, or "".
Named = tuple[tuple[str, float], ...]


def _last(numbers: Named, option: str) -> float | None:
    """The number that is typed last, where there is one reservoir."""
    return options.of_one([each for each in numbers if each[0]] or numbers[-1:], option)


@click.command("operate")
@options.taking(_OPTIONS)
def command(
    rule_file: Path,
    reservoir_file: Path | None,
    reading: dict[str, Any],
    month: int,
    levels: Named,
    storages: Named,
    state: Path | None,
    inflows: Named,
    inflows_before: Named,
    released: Named,
    flood_index: float | None,
    replan: bool,
    members: int | None,
    ensemble: Path | None,
    months_ahead: int | None,
    figure: Path | None,
    unit_system: str | None,
    as_json: bool,
) -> None:
    """Recommend this month's release.

    Prints the release that a rule recommends, the resulting level, power and energy, the zone of the dispatch chart,
    and the releases of the optimised years in similar months. Inflows that are not given are replaced by their mean
    over the years that the rule was fitted to; a rule fitted with a one-month forecast needs --inflow. A replan rule
    also tells the probability of refill, spill and firm power in the months to come. Options on how an inflow is read
    are of --ensemble, or without one of the record in a workbook that --reservoir names, which is read as for the
    rule's plan otherwise. With the rule of a system, advice is for all its reservoirs.
    """
    from reservoir.cli.operate_system import operate_system, system_file_of

    system_file = system_file_of(rule_file, reservoir_file)
    if system_file is not None:
        options.require_of_one({"--flood-index": flood_index})
        asked: dict[str, Any] = {"storages": storages, "inflows": inflows, "inflows_before": inflows_before}
        asked |= {"levels": levels, "released": released, "state": state, "ensemble": ensemble, "reading": reading}
        how: dict[str, Any] = {"months": months_ahead or USUAL_MONTHS, "members": members, "figure": figure}
        how |= {"unit_system": unit_system, "as_json": as_json}
        operate_system(_replanning(rule_file) if replan else rule_file, system_file, month, asked, **how)
        return
    options.require_of_several({"--state": state, "--released": released or None})
    level, storage = _last(levels, "--level"), _last(storages, "--storage")
    inflow, inflow_before = _last(inflows, "--inflow"), _last(inflows_before, "--inflow-before")
    from reservoir.io.plan_folder.files import read_caveats
    from reservoir.io.plan_folder.tables import read_schedule
    from reservoir.io.rule_file import require_same_plan
    from reservoir.io.workbook import is_workbook
    from reservoir.rules.advice import advise, alike, marginal_worth

    asked = {name: value for name, value in reading.items() if value}
    if asked and ensemble is None and not is_workbook(reservoir_file):
        problem, mend = "is given, but no inflow is read", "leave it out, or give --ensemble"
        raise InputError(Mistake(problem, "", mend, column=f"--{name.replace('_', '-')}") for name in asked)
    sheets = options.sheets_for(reservoir_file, ensemble, reading["sheet"])
    of_ensemble = options.sheets_for(ensemble, reservoir_file, reading["sheet"])
    inputs = read_rule_inputs(rule_file, reservoir_file, sheet=sheets, reading={} if ensemble else asked)
    units, plant = inputs.units(unit_system), inputs.reservoir
    if replan:
        other = inputs.beside(FAMILY)
        if other is None:
            raise _not_beside("with all families or with --family replan")
        inputs = replace(inputs, rule=other)
    inputs = _with_futures(inputs, month, members, months_ahead, ensemble, {**reading, "sheet": of_ensemble}, figure)
    situation = _situation(inputs, month, level, storage, inflow, inflow_before, flood_index, units)
    advice = advise(inputs.rule, plant, situation)
    ahead, similar, chart = None, None, cast(Any, inputs.beside("zones"))
    if inputs.rule.family == FAMILY:
        from reservoir.rules.families.replan import outlook

        ahead = outlook(cast(Any, inputs.rule), plant, situation, advice.release_m3s, months_ahead or USUAL_MONTHS)
    # The zone of the dispatch chart: the rule's own, or that of the chart beside it.
    zone = None if chart is None else chart.zone(situation.step, situation.storage_hm3)
    caveats: tuple[str, ...] = (plant.caveat,) if plant.caveat else ()
    if inputs.plan_folder is not None:
        schedule = read_schedule(inputs.plan_folder)
        require_same_plan(inputs.file, inputs.plan_folder)
        similar, caveats = alike(schedule, plant, month, situation), read_caveats(inputs.plan_folder)
    # What water is worth around the decision: by the rule, or by the table of water values beside it.
    worth = marginal_worth(inputs.rule, situation, advice)
    table = None if worth is not None else inputs.beside("water-value")
    worth = worth if table is None else marginal_worth(table, situation, advice)
    if as_json:
        from reservoir.cli.screen import show_json
        from reservoir.text.strict_json import known

        show_json(
            {
                "family": inputs.rule.family,
                "reservoir": plant.name,
                "month": month,
                "units": units.as_dict,
                "situation": units.values({name: at for name, at in asdict(situation).items() if at is not None}),
                "advice": units.values(asdict(advice)),
                "zone": zone,
                "water_value": None if worth is None else _worth_as_json(worth, plant.objective.unit, units),
                "optimised_years": None if similar is None else known(units.values(asdict(similar))),
                "caveats": caveats,
            }
            | ({} if ahead is None else {"outlook": _outlook_as_json(ahead, units)})
        )
    else:
        assumed = [name for name, given in (("inflow", inflow), ("previous inflow", inflow_before)) if given is None]
        assumed = assumed if ensemble is None else [name for name in assumed if name != "inflow"]
        rows = _advice_rows(inputs, situation, advice, units)
        rows += [] if zone is None else [("Zone", f"{zone} output (dispatch chart)")]
        rows += [] if similar is None else [("Optimised years", _alike_words(similar, units))]
        rows += [] if worth is None else [("Water value", _worth_words(worth, plant.objective.unit, units))]
        rows += [] if ahead is None else _outlook_rows(ahead, units)
        notes = (*caveats, *filter(None, [said_units(units, unit_system)]))
        _show(inputs, situation, advice, rows, notes, assumed, units)
    if figure is not None and ahead is not None:
        draw_outlook(figure, [(ahead, plant)], units, caveats)


def _situation(
    inputs: RuleInputs,
    month: int,
    level: float | None,
    storage: float | None,
    inflow: float | None,
    inflow_before: float | None,
    flood_index: float | None,
    units: UnitSystem,
) -> Situation:
    """What is known of the month, of numbers as they are typed; inflows that are not are means of the fitted years."""
    from reservoir.hydro.plant import storage_at_level
    from reservoir.rules.advice import Situation, step_of_month

    rule, plant, flow = inputs.rule, inputs.reservoir, units.size("inflow_m3s")
    step, means = step_of_month(plant, month), rule.months.inflow_m3s
    expected, forecast = means[step], getattr(rule, "forecast_m3s", None)
    if forecast is not None:
        expected = sum(member[0] for member in forecast) / len(forecast)
        if inflow is not None:
            raise InputError("is given together with --ensemble", "one of them", column="--inflow")
    elif rule.forecast == "month" and inflow is None:
        problem = "is missing: this rule uses the month's inflow"
        mend = "give the expected inflow, or use a rule fitted with --forecast none"
        raise InputError(problem, f"a mean flow in {units.amount(0.0, 'm3s')[1]}", mend, column="--inflow")
    expected = expected if inflow is None else inflow * flow
    before = means[step - 1] if inflow_before is None else inflow_before * flow
    with options.told_in(units):
        if (level is None) == (storage is None):
            problem = "is missing" if level is None else "is given together with --storage"
            names = units.amount(0.0, "m")[1], units.amount(0.0, "hm3")[1]
            raise InputError(problem, "either --level in {} or --storage in {}".format(*names), column="--level")
        if storage is None:
            start = storage_at_level(plant, cast(float, level) * units.size("level_m"), "--level")
        else:
            (low, high), start = plant.level.domain, storage * units.size("storage_hm3")
            if not low <= start <= high:
                least, most = (units.amount(bound, "hm3")[0] for bound in (low, high))
                form = ",.0f" if most >= 1000 else ",.6g"  # no digit of a bound is rounded away
                ends = f"{least:{form}} to {most:{form}} {units.unit_name('hm3')}"
                what = f"{ends}, the range of the level curve of {plant.name}"
                raise InputError("is outside the level curve", what, column="--storage", value=start)
    if (space := plant.flood_space) is not None and flood_index is None:
        expected_value = f"a value of {space.column}, {space.values[0]:g} to {space.values[-1]:g} in its table"
        raise InputError("is missing: the flood space depends on it", expected_value, column="--flood-index")
    if space is None and flood_index is not None:
        raise InputError("is given, but the reservoir has no flood space", "leave it out", column="--flood-index")
    return Situation(step, start, expected, before, flood_index)


def _worth_words(worth: MarginalWorth, unit: str, units: UnitSystem) -> str:
    amounts = (units.per_volume(value, unit) for value in (worth.kept, worth.last, worth.more))
    kept, last, more = (f"{quantity(value)} {of}" for value, of in amounts)
    return f"kept {kept} later (by {worth.source}); released now, the last of it makes {last}, more would make {more}"


def _worth_as_json(worth: MarginalWorth, unit: str, units: UnitSystem) -> dict[str, Any]:
    values = {"kept": worth.kept, "last_released": worth.last, "one_more_released": worth.more}
    ending = units.column("_gwh_per_hm3" if unit == "GWh" else "_per_hm3")
    in_units = {f"{name}{ending}": units.per_volume(value, unit)[0] for name, value in values.items()}
    return {"by_rule": worth.source, "unit": unit} | in_units


def _advice_rows(inputs: RuleInputs, situation: Situation, advice: Advice, units: UnitSystem) -> list[tuple[str, str]]:
    """The decision and what it comes to, as rows on the screen."""
    flow, volume, written = partial(units.written, ending="m3s"), partial(units.written, ending="hm3"), units.written
    level, before = float(inputs.reservoir.level(situation.storage_hm3)), flow(situation.inflow_before_m3s)
    release = f"[bold]{flow(advice.release_m3s)}[/]"
    if advice.spill_m3s > 0 and advice.spill_m3s >= _VISIBLE * advice.release_m3s:
        release += f", of which {flow(advice.spill_m3s)} spilled"
    release += f" (the rule gave {flow(advice.asked_m3s)}, outside the limits)" if advice.repaired else ""
    rows = [
        ("Start of month", f"level {written(level, 'm', ',.2f')}, storage {volume(situation.storage_hm3)}"),
        ("Inflow", f"{flow(situation.inflow_m3s)}, previous month {before}"),
        ("Release", release),
        ("End of month", f"level {written(advice.end_level_m, 'm', ',.2f')}, storage {volume(advice.end_storage_hm3)}"),
        ("Power", f"{quantity(advice.power_mw)} MW, mean head {written(advice.head_m, 'm', ',.1f')}"),
        ("Energy", f"{quantity(advice.energy_gwh)} GWh in the month"),
    ]
    if advice.loss_hm3:
        rows.append(("Losses", f"{volume(advice.loss_hm3)} of evaporation and seepage in the month"))
    if advice.withdrawal_m3s or advice.shortage_m3s:
        short = f", {flow(advice.shortage_m3s)} less than demanded" if advice.shortage_m3s > 0 else ""
        rows.append(("Withdrawal", f"{flow(advice.withdrawal_m3s)}{short}"))
    return rows


def _show(
    inputs: RuleInputs,
    situation: Situation,
    advice: Advice,
    rows: list[tuple[str, str]],
    notes: tuple[str, ...],
    assumed: list[str],
    units: UnitSystem,
) -> None:
    from rich.markup import escape

    from reservoir.cli.screen import console
    from reservoir.hydro.calendar import MONTH_NAMES

    plant, screen = inputs.reservoir, console()
    month = MONTH_NAMES[int(plant.months[situation.step]) - 1]
    screen.print(f"[bold]{escape(plant.name)}[/], {month}, rule {escape(inputs.rule.family)}", soft_wrap=True)
    for note in notes:
        screen.print(f"[yellow]{escape(note[:1].upper() + note[1:])}[/]", soft_wrap=True)
    for title, text in rows:
        screen.print(f"{title:<18}{text}", soft_wrap=True)
    if assumed:
        screen.print(f"[yellow]Not given, mean of the fitted years used: {', '.join(assumed)}[/]", soft_wrap=True)
    if advice.starts_below_dead:
        start, dead = (units.written(v, "hm3") for v in (situation.storage_hm3, float(plant.storage_lower_hm3.min())))
        below = f"The storage at the start, {start}, is below dead storage, {dead}"
        screen.print(f"[bold red]{below}: nothing is released before the lake is above it.[/]", soft_wrap=True)
    if advice.missing_m3s:
        least, missing = advice.missing_m3s + advice.release_m3s, units.written(advice.missing_m3s, "m3s")
        why = f"of the minimum release of {units.written(least, 'm3s')}: there is no more water above dead storage."
        screen.print(f"[bold red]{missing} are missing {why}[/]", soft_wrap=True)
    if not advice.within_bounds:
        screen.print("[bold red]No permitted release satisfies the storage limits of this month.[/]", soft_wrap=True)


def _alike_words(similar: AnalogueYears, units: UnitSystem) -> str:
    def more(apart: float, ending: str) -> str:
        """How much a planned month differs from the present one."""
        return f"{'+' if apart >= 0 else '-'}{units.written(abs(apart), ending)}"

    if not similar.labels:
        apart = (
            f"storage {more(similar.storage_apart_hm3, 'hm3')}, inflow {more(similar.inflow_apart_m3s, 'm3s')}, "
            f"distance {similar.nearest_distance:.1f}"
        )
        return f"none began the month like this: the nearest, {similar.nearest}, differs ({apart}; like it: up to 1)"
    lowest, highest = (units.amount(each, "m3s")[0] for each in (similar.lowest_m3s, similar.highest_m3s))
    unit, median = units.amount(0.0, "m3s")[1], units.written(similar.median_m3s, "m3s")
    span = f"{quantity(lowest)} to {quantity(highest)} {unit}, median {median}"
    span = f"each {median}" if quantity(lowest) == quantity(highest) else span
    return f"{span}, in the {len(similar.labels)} most similar years: {', '.join(similar.labels)}"
