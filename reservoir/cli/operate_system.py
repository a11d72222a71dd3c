"""Rules of a system, as commands about one rule read them; and the advice of ``reservoir operate``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reservoir.cli import options
from reservoir.cli.operate import draw_outlook, require_outlook, said_units
from reservoir.errors import InputError
from reservoir.hydro.unit_system import UnitSystem, told_in

if TYPE_CHECKING:
    from reservoir.io.rule_inputs import SystemRuleInputs
    from reservoir.report.system_advice import SystemRuleAdvice
    from reservoir.rules.base.training import FloatArray


def system_file_of(rule_file: Path | None, reservoir_file: Path | None) -> Path | None:
    """The file of the system that a call is of: the given one, or that of the rule's plan; None of one reservoir."""
    from reservoir.io.plan_folder.files import SYSTEM
    from reservoir.io.rule_inputs import plan_folder_of

    if reservoir_file is not None or rule_file is None:
        return reservoir_file if options.names_system(reservoir_file) else None
    folder = plan_folder_of(rule_file)
    return folder / SYSTEM if folder is not None and (folder / SYSTEM).is_file() else None


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
    from reservoir.io.rule_inputs import read_system_rule_inputs
    from reservoir.report.system_advice import SystemRuleAdvice, system_situation_of
    from reservoir.rules.system_advice import FUTURES

    require_outlook(members, known["ensemble"], figure)
    inputs = read_system_rule_inputs(rule_file, system_file)
    units, caveats = inputs.units(unit_system), inputs.caveats
    forecast = _forecast(inputs, month, known)
    with told_in(units):
        situation = system_situation_of(inputs, month, known, forecast, units)
    advised = SystemRuleAdvice.of(inputs, month, situation, forecast, months, members or FUTURES)
    if advised.outlook is None and (members or figure):
        problem, mend = "needs futures, and this rule knows none", "fit separable beside it, or give --ensemble"
        raise InputError(problem, "", mend, column="--members" if members else "--figure")
    if as_json:
        from reservoir.cli.screen import show_json

        show_json(advised.as_dict(units) | {"caveats": caveats})
    else:
        _show(advised, units, (*caveats, *filter(None, [said_units(units, unit_system)])))
    if figure is not None and advised.outlook is not None:
        of_each = zip(advised.outlook.values(), inputs.system.reservoirs, strict=True)
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


def _show(advised: SystemRuleAdvice, units: UnitSystem, notes: tuple[str, ...]) -> None:
    from rich.markup import escape

    from reservoir.cli.screen import Column, console, show_table
    from reservoir.hydro.calendar import MONTH_NAMES

    screen, inputs = console(), advised.inputs
    about = f"{MONTH_NAMES[advised.month - 1]}, rule {escape(inputs.file.family)}"
    screen.print(f"[bold]{escape(inputs.system.name)}[/], {about}", soft_wrap=True)
    for note in notes:
        screen.print(f"[yellow]{escape(note[:1].upper() + note[1:])}[/]", soft_wrap=True)
    heads, rows = advised.table(units)
    columns = [Column(title, "right" if place else "left") for place, title in enumerate(heads)]
    show_table(columns, [(escape(name), *cells) for name, *cells in rows], lines_after=[len(rows) - 2])
    for sentence in (*advised.reasons(units), *advised.chances()):
        screen.print(escape(sentence), soft_wrap=True)
    for words in advised.assumed:
        screen.print(f"[yellow]Assumed: {escape(words)}[/]", soft_wrap=True)
    for sentence in advised.warnings(units):
        screen.print(f"[bold red]{escape(sentence)}[/]", soft_wrap=True)
