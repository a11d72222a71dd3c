"""Rule files (JSON): written completely or not at all, and read with all their mistakes reported at once.

Whether a rule belongs to a reservoir and to a plan is told by their content, not only by their names.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import reservoir as package
from reservoir.errors import InputError, Mistake, OutputError, worth_telling
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.reservoir import Reservoir, differing_parts, reservoir_digests
from reservoir.io.output import content_sha256
from reservoir.io.plan_folder.files import PROVENANCE, RESERVOIR, schedule_file, schedule_sha256
from reservoir.rules import rule_from_dict
from reservoir.rules.base.fields import WRITTEN
from reservoir.rules.base.rule import Rule
from reservoir.text.data_file import check_path, read_limited
from reservoir.text.strict_json import each_key_once

if TYPE_CHECKING:
    from reservoir.rules.families.separable import Separable

#: Number of the format; another one is not read.
FORMAT = 1
#: A table of releases takes some hundred kilobytes.
MOST_BYTES = 1_000_000
#: Key of ``fitted_to``: the units that the plan is shown in, unless these are SI.
UNITS = "units"
_EXPECTED = 'a rule file (JSON) written by "reservoir rules"'


def write_rule(rule: Rule | Separable, path: str | Path, fitted_to: Mapping[str, Any]) -> None:
    """Write a rule to a file; the whole file or none of it.

    Parameters
    ----------
    rule : Rule or Separable
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
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        mistake = Mistake(f"cannot be written ({reason})", file=str(path), mend="choose another path")
        raise OutputError(mistake) from error


@dataclass(frozen=True)
class RuleFile:
    """A rule as its file holds it.

    Parameters
    ----------
    rule : Rule
    fitted_to : mapping
        What the file says of it, sound or not.
    source, sha256 : str
        The file, and the hash of its bytes.
    """

    rule: Rule
    fitted_to: Mapping[str, Any]
    source: str
    sha256: str = ""

    @property
    def record(self) -> Mapping[str, Any]:
        """What the rule's plan says of its inflow record; nothing where the file says nothing sound."""
        plan = self.fitted_to.get("plan")
        record = plan.get("inflow") if isinstance(plan, dict) else None
        return record if isinstance(record, dict) else {}

    def reading_of(self, name: str, options: Collection[str]) -> dict[str, Any]:
        """How the record of the rule's plan was read, by these arguments of `read_inflow`, if its file is named so."""
        reading = self.record.get("reading")
        if self.record.get("file") != name or not isinstance(reading, dict):
            return {}
        return {option: value for option, value in reading.items() if option in options}


def read_rule(path: str | Path) -> Rule:
    """Read and check a rule file, and take the rule from it.

    Raises
    ------
    InputError
        With every mistake in the file.
    """
    return read_rule_file(path).rule


def read_rule_file(path: str | Path) -> RuleFile:
    """Read and check a rule file.

    Raises
    ------
    InputError
        With every mistake in the file.
    """
    return file_of(path, rule_from_dict)


def file_of(path: str | Path, from_dict: Callable[[object], Any], most_bytes: int = MOST_BYTES) -> RuleFile:
    """Read and check a rule file whose rule is what a function makes of its keys; raises as `read_rule_file` does."""
    try:
        read = _bytes(path, most_bytes)
        content = _parsed(read)
        rule = _rule_in(content, from_dict)
        fitted_to = content.get("fitted_to") if isinstance(content, dict) else None
        fitted_to = fitted_to if isinstance(fitted_to, dict) else {}
        return RuleFile(rule, fitted_to, str(path), hashlib.sha256(read).hexdigest())
    except InputError as refused:
        mistakes = [replace(mistake, file=str(path)) for mistake in worth_telling(refused.mistakes, str(path))]
    raise InputError(mistakes)


def _bytes(path: str | Path, most_bytes: int) -> bytes:
    try:
        return read_limited(path, most_bytes)
    except FileNotFoundError:
        problem, mend = "does not exist", check_path(path)
        mend += _rules_in(Path(path).parent)
    except IsADirectoryError:
        problem, mend = "is a folder, not a file", "give the JSON file in it" + _rules_in(Path(path))
    except (OSError, ValueError) as error:
        problem, mend = f"cannot be read: {getattr(error, 'strerror', None) or error}", ""
    raise InputError(problem, _EXPECTED, mend)


def _rules_in(folder: Path) -> str:
    """What rules there are in a folder, in that of a plan, or how they are made, as the end of a sentence."""
    rules = sorted([*folder.glob("*.json"), *folder.glob("rules/*.json")])
    names = ", ".join(str(file) for file in rules if file.name not in (PROVENANCE, "rules.json"))
    return f"; rules there: {names}" if names else '; "reservoir rules PLAN_DIR" writes rules into PLAN_DIR/rules'


def _parsed(content: bytes) -> object:
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=each_key_once)
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        mistake = Mistake("is not UTF-8 text", _EXPECTED, "save the file as UTF-8", row=row)
    except json.JSONDecodeError as error:
        mistake = Mistake(f"is not JSON: {error.msg}", _EXPECTED, WRITTEN, row=error.lineno, column=str(error.colno))
    except RecursionError:
        problem = "cannot be read as JSON: too many nested lists or objects"
        mistake = Mistake(problem, _EXPECTED, WRITTEN)
    except ValueError as error:
        mistake = Mistake(f"cannot be read as JSON: {error}", _EXPECTED, WRITTEN)
    raise InputError(mistake)


def _rule_in(content: object, from_dict: Callable[[object], Any]) -> Any:
    """Read the rule in a file's content; its keys are those of the file."""
    if not isinstance(content, dict) or "format" not in content:
        raise InputError("is not a rule file", _EXPECTED, "check the path")
    number = content["format"]
    if type(number) is not int or number != FORMAT:
        mend = "fit the rules again, or use the program version that wrote them"
        raise InputError("is not a supported format", str(FORMAT), mend, column="format", value=number)
    if "rule" not in content:
        raise InputError("is missing", "an object with the rule", WRITTEN, column="rule")
    try:
        return from_dict(content["rule"])
    except InputError as refused:
        mistakes = [replace(each, column=f"rule.{each.column}".rstrip(".")) for each in refused.mistakes]
    raise InputError(mistakes)


#: Keys of a rule file's ``fitted_to``.
PARTS, SCHEDULE_HASH = "reservoir_parts", "schedule_sha256"
AGAIN = "fit the rule again: `reservoir plan`, then `reservoir rules`"


def belongings(reservoir: Reservoir, plan_folder: Path) -> dict[str, Any]:
    """What a rule file says of the reservoir and the plan that its rule was fitted to."""
    return {PARTS: reservoir_digests(reservoir), SCHEDULE_HASH: schedule_sha256(plan_folder)}


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
        mend = f"give the reservoir file of {rule.reservoir}, or fit rules for {reservoir.name}"
        problem = "is a rule for another reservoir"
        raise InputError(problem, f"a rule for {reservoir.name}", mend, source, value=rule.reservoir)
    first = rule.months.calendar_month[0]
    if first != reservoir.first_month:
        expected = f"{MONTH_NAMES[reservoir.first_month - 1]}, the first_month of {reservoir.name}"
        mend = f"set first_month = {first} in the reservoir file, or fit the rule again"
        problem = "has water years that begin in another month"
        raise InputError(problem, expected, mend, source, value=MONTH_NAMES[first - 1])


def require_same_reservoir(file: RuleFile, reservoir: Reservoir) -> None:
    """Refuse a rule that was fitted to a reservoir that works in another way, whatever its name.

    Raises
    ------
    InputError
        With the names of the parts that differ.
    """
    require_reservoir(file.rule, reservoir, file.source)
    parts, problem = file.fitted_to.get(PARTS), "does not say which reservoir it was fitted to"
    if isinstance(parts, dict):
        differing = differing_parts(reservoir, parts)
        if not differing:
            return
        than, what = reservoir.source or "the given reservoir", f"different: {', '.join(differing)}"
        problem = f"was fitted to another {reservoir.name} than that of {than}; {what}"
    mend = f"give the reservoir file that it was fitted to, {RESERVOIR} in the folder of its plan, or {AGAIN}"
    raise InputError(problem, mend=mend, file=file.source)


def require_same_plan(file: RuleFile, plan_folder: Path) -> None:
    """Refuse a rule beside the schedule of another plan than the one that it was fitted to, if it says which.

    Raises
    ------
    InputError
        If the schedule differs or cannot be read.
    """
    wanted = file.fitted_to.get(SCHEDULE_HASH)
    same = wanted is None or wanted == schedule_sha256(plan_folder)
    if not same and wanted != content_sha256(schedule_file(plan_folder)):  # by which rules knew their plan before
        problem = f"was fitted to another plan: {schedule_file(plan_folder)} was changed, or is that of another plan"
        mend = f"restore that file, {AGAIN}, or copy the rule elsewhere and give --reservoir"
        raise InputError(problem, mend=mend, file=file.source)
