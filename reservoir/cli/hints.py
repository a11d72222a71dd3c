"""What may have been meant by a call that cannot be understood: said behind why it cannot."""

from __future__ import annotations

import re
from difflib import get_close_matches

import click

#: What arguments of commands are, by their names.
_ARGUMENTS = {
    "plan_folder": 'It is a folder that "reservoir plan" wrote.',
    "plan": 'It is a folder that "reservoir plan" wrote, or a table with a release for each step.',
    "rule_file": 'It is a rule that "reservoir rules PLAN_DIR" wrote, such as PLAN_DIR/rules/linear.json.',
    "inflow_file": "It is a record of inflow: a table of dates, or years, and flows.",
    "name": 'It is a name for the reservoir, such as hill-lake; "reservoir new hill-lake" writes hill-lake.toml.',
}
_RESERVOIR_FILES = (".toml", ".xlsx", ".xlsm")


def with_hint(error: click.ClickException) -> click.ClickException:
    """The same refusal of a call, with what to do about it where that is known."""
    said = _hint(error)
    if said:
        end = "" if error.message.endswith((".", "?")) or not error.message else "."
        error.message = f"{error.message}{end} {said}".strip()
    return error


def _hint(error: click.ClickException) -> str:
    command = error.ctx.command if isinstance(error, click.UsageError) and error.ctx is not None else None
    if isinstance(error, click.MissingParameter):
        return _ARGUMENTS.get(getattr(error.param, "name", None) or "", "")
    if command is None:
        return ""
    if isinstance(command, click.Group) and (unknown := re.search(r"No such command '(.*)'", error.message)):
        known = command.list_commands(error.ctx)  # type: ignore[attr-defined]
        near = get_close_matches(unknown[1], known, 1, 0.6)
        return f"Did you mean {near[0]}?" if near else f"Commands are {', '.join(known)}."
    if extra := re.search(r"unexpected extra arguments? \((.*)\)", error.message):
        file = next((word for word in extra[1].split() if word.casefold().endswith(_RESERVOIR_FILES)), None)
        if file and any(parameter.name == "reservoir_file" for parameter in command.params):
            return f"The reservoir is given by an option: --reservoir {file}"
        return "A value with blanks stands in quotation marks; names in a list have commas and no blanks between them."
    return ""
