"""``reservoir operate``: recommend this month's release with a rule; and what commands about one rule read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.errors import InputError, Mistake, OutputError
from reservoir.text.quantities import typeset_unit

if TYPE_CHECKING:
    from reservoir.hydro.reservoir import Reservoir
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.io.rule_inputs import RuleInputs
    from reservoir.report.advice import RuleAdvice
    from reservoir.rules.advice import Outlook


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
    from reservoir.io.rule_inputs import RuleInputs, plan_folder_of
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


def _not_beside(how: str) -> InputError:
    problem = "needs the rule of the family replan beside this one, and there is none"
    return InputError(problem, mend=f'fit it: "reservoir rules PLAN_DIR", {how}', column="--replan")


def _replanning(rule_file: Path) -> Path:
    """The file of the rule of a system that replans, beside another."""
    from reservoir.rules.families.system_replan import REPLAN

    beside = rule_file.with_name(f"{REPLAN}.json")
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
    from reservoir.rules.families.system_replan import REPLAN

    given = {
        "--members": members,
        "--months-ahead": months,
        "--ensemble": ensemble,
        "--figure": figure,
    }
    if inputs.rule.family != REPLAN:
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
        from reservoir.report.advice import on_forecast

        with options.named_as_reading():
            flow_m3s = read_inflow_forecast(ensemble, inputs.record_unit, month, **reading)
        return on_forecast(inputs, flow_m3s, str(ensemble))
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


#: No river carries as much (m3/s), and no lake holds as much (hm3).
_MOST = 1e9


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
        month: Any = str(value).strip()
        if not month.lstrip("+-").isdecimal():
            from reservoir.io.records.words import MONTH_OF_NAME  # takes a moment

            month = MONTH_OF_NAME.get(month.casefold().rstrip("."))
        if month is None:
            self.fail(f"{value!r} is not a month; give 1 to 12, or a name such as May", param, ctx)
        return int(super().convert(month, param, ctx))


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
    # Before numpy: of matrices as small as these, threads cost more than they bring, above all where others run.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from reservoir.cli.operate_system import operate_system, system_file_of
    from reservoir.report.advice import USUAL_MONTHS

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
    from reservoir.io.workbook import is_workbook
    from reservoir.report.advice import RuleAdvice, assumed_words, situation_of
    from reservoir.rules.families.system_replan import REPLAN

    asked = {name: value for name, value in reading.items() if value}
    if asked and ensemble is None and not is_workbook(reservoir_file):
        problem, mend = "is given, but no inflow is read", "leave it out, or give --ensemble"
        raise InputError(Mistake(problem, "", mend, column=f"--{name.replace('_', '-')}") for name in asked)
    sheets = options.sheets_for(reservoir_file, ensemble, reading["sheet"])
    of_ensemble = options.sheets_for(ensemble, reservoir_file, reading["sheet"])
    inputs = read_rule_inputs(rule_file, reservoir_file, sheet=sheets, reading={} if ensemble else asked)
    units, plant = inputs.units(unit_system), inputs.reservoir
    if replan:
        other = inputs.beside(REPLAN)
        if other is None:
            raise _not_beside("with all families or with --family replan")
        inputs = replace(inputs, rule=other)
    inputs = _with_futures(inputs, month, members, months_ahead, ensemble, {**reading, "sheet": of_ensemble}, figure)
    situation = situation_of(inputs, month, level, storage, inflow, inflow_before, flood_index, units)
    advised = RuleAdvice.of(inputs, month, situation, months_ahead or USUAL_MONTHS)
    if as_json:
        from reservoir.cli.screen import show_json

        show_json(advised.as_dict(units))
    else:
        assumed = assumed_words(situation.inflow_m3s if ensemble is not None else inflow, inflow_before)
        _show(advised, (*inputs.caveats, *filter(None, [said_units(units, unit_system)])), assumed, units)
    if figure is not None and advised.ahead is not None:
        draw_outlook(figure, [(advised.ahead, plant)], units, inputs.caveats)


def _show(advised: RuleAdvice, notes: tuple[str, ...], assumed: str, units: UnitSystem) -> None:
    from rich.markup import escape

    from reservoir.cli.screen import console
    from reservoir.hydro.calendar import MONTH_NAMES

    inputs, screen = advised.inputs, console()
    about = f"{MONTH_NAMES[advised.month - 1]}, rule {escape(inputs.rule.family)}"
    screen.print(f"[bold]{escape(inputs.reservoir.name)}[/], {about}", soft_wrap=True)
    for note in notes:
        screen.print(f"[yellow]{escape(note[:1].upper() + note[1:])}[/]", soft_wrap=True)
    release = units.written(advised.advice.release_m3s, "m3s")
    for title, text in advised.rows(units):
        shown = text.replace(release, f"[bold]{release}[/]", 1) if title == "Release" else text
        screen.print(f"{title:<18}{shown}", soft_wrap=True)
    if assumed:
        screen.print(f"[yellow]{assumed}[/]", soft_wrap=True)
    for sentence in advised.warnings(units):
        screen.print(f"[bold red]{sentence}[/]", soft_wrap=True)
