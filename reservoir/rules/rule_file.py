"""Rule files (JSON): written whole or not at all, and read back with every mistake in them stated at once."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import reservoir as package
from reservoir.errors import InputError, Mistake, OutputError
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.reservoir import Reservoir
from reservoir.rules import rule_from_dict
from reservoir.rules.rule import Rule
from reservoir.rules.wording import WRITTEN

#: Number of the format; another one is not read.
FORMAT = 1
_EXPECTED = 'a rule file (JSON), as "reservoir rules" writes it'


def write_rule(rule: Rule, path: str | Path, fitted_to: Mapping[str, Any]) -> None:
    """Write a rule to a file; the whole file or none of it.

    Parameters
    ----------
    rule : Rule
        A rule of any family.
    path : str or Path
        Written over if it is there.
    fitted_to : mapping
        What the rule was fitted to, for whoever reads the file: JSON's kinds of values under any names.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    content = {
        "format": FORMAT,
        "program": f"reservoir {package.__version__}",
        "fitted_to": dict(fitted_to),
        "rule": rule.to_dict(),
    }
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    target = Path(path)
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".reservoir-") as workplace:
            draft = Path(workplace) / target.name
            draft.write_text(text, encoding="utf-8")
            draft.replace(target)
    except OSError as error:
        mistake = Mistake(f"cannot be written ({error.strerror})", file=str(path), mend="choose another place")
        raise OutputError(mistake) from error


def read_rule(path: str | Path) -> Rule:
    """Read and check a rule file.

    Raises
    ------
    InputError
        With every mistake in the file.
    """
    try:
        return _rule_in(_parsed(_text(path)))
    except InputError as refused:
        mistakes = [replace(mistake, file=str(path)) for mistake in refused.mistakes]
    raise InputError(mistakes)


def require_reservoir(rule: Rule, reservoir: Reservoir, source: str = "") -> None:
    """Refuse a rule that was fitted for another reservoir, or for other water years.

    Parameters
    ----------
    rule : Rule
        A rule of any family.
    reservoir : Reservoir
        What it is to operate.
    source : str
        File that the rule was read from.

    Raises
    ------
    InputError
        If they do not belong together.
    """
    if rule.reservoir != reservoir.name:
        mend = f"give the file of reservoir {rule.reservoir}, or fit rules for {reservoir.name}"
        problem = "is a rule for another reservoir"
        raise InputError(Mistake(problem, f"one for {reservoir.name}", mend, source, value=rule.reservoir))
    first = rule.months.calendar_month[0]
    if first != reservoir.first_month:
        expected = f"{MONTH_NAMES[reservoir.first_month - 1]}, the first_month of {reservoir.name}"
        mend = f"say first_month = {first} in the reservoir's file, or fit rules for the file as it is"
        problem = "is a rule for water years that begin in another month"
        raise InputError(Mistake(problem, expected, mend, source, value=MONTH_NAMES[first - 1]))


def _text(path: str | Path) -> str:
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        problem, mend = "is not there", "check the path"
    except IsADirectoryError:
        problem, mend = "is a folder, not a file", "name the JSON file in it"
    except OSError as error:
        problem, mend = f"cannot be read: {error.strerror}", ""
    else:
        return _decoded(content)
    raise InputError(Mistake(problem, _EXPECTED, mend))


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
    raise InputError(Mistake("is not UTF-8 text", _EXPECTED, "save the file as UTF-8, without a code page", row=row))


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        mistake = Mistake(f"is not JSON: {error.msg}", _EXPECTED, WRITTEN, row=error.lineno, column=str(error.colno))
    except (ValueError, RecursionError) as error:
        mistake = Mistake(f"is not JSON that can be read: {error}", _EXPECTED, WRITTEN)
    raise InputError(mistake)


def _rule_in(content: object) -> Rule:
    """Read the rule in a file's content; its keys are those of the file."""
    if not isinstance(content, dict) or "format" not in content:
        raise InputError(Mistake("is not a rule file", _EXPECTED, "check the path"))
    found = content["format"]
    if type(found) is not int or found != FORMAT:
        mend = "fit the rules anew, or use the program that wrote them"
        raise InputError(Mistake("is of another format", str(FORMAT), mend, column="format", value=found))
    if "rule" not in content:
        raise InputError(Mistake("is missing", "the rule itself", WRITTEN, column="rule"))
    try:
        return rule_from_dict(content["rule"])
    except InputError as refused:
        mistakes = [replace(each, column=f"rule.{each.column}".rstrip(".")) for each in refused.mistakes]
    raise InputError(mistakes)
