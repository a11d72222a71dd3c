"""Rules with what they belong to: their reservoir or system, and the folder of their plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reservoir.hydro.inflow import ASSUMED
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.plan_folder.files import PROVENANCE, RESERVOIR, SYSTEM, read_caveats, read_units
from reservoir.io.plan_folder.tables import read_schedule
from reservoir.io.rule_file import UNITS, RuleFile, read_rule_file, require_same_plan, require_same_reservoir
from reservoir.io.system_file import read_system
from reservoir.io.system_rule_file import SystemRuleFile, read_system_rule
from reservoir.io.workplace import clear_abandoned
from reservoir.rules import FAMILIES, Rule
from reservoir.rules.families.separable import SEPARABLE, Separable, SystemRule

if TYPE_CHECKING:
    import pandas as pd


def unit_said(record: Mapping[str, Any]) -> str:
    """The unit of a plan's record, as its provenance has it; empty if it was assumed."""
    unit, said_by = (str(record.get(name) or "") for name in ("unit", "unit_from"))
    return unit if said_by not in ("", ASSUMED) else ""


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
    others : dict of str to Rule or None
        Those beside it that were read, by family; None where there is none.
    """

    rule: Rule
    file: RuleFile
    reservoir: Reservoir
    plan_folder: Path | None
    others: dict[str, Rule | None] = field(default_factory=dict, repr=False)

    @property
    def family(self) -> str:
        """The family of the rule."""
        return self.rule.family

    @property
    def record_unit(self) -> str:
        """The unit of the record that the plan was made for; empty if nobody said it."""
        return unit_said(self.file.record)

    def units(self, asked: str | None) -> UnitSystem:
        """The units asked for, or those of the rule's plan (`units_of`)."""
        return units_of(self.plan_folder, self.file, asked)

    @cached_property
    def schedule(self) -> pd.DataFrame | None:
        """The months of the plan, which must be that of the rule; None of a rule alone."""
        if self.plan_folder is None:
            return None
        schedule = read_schedule(self.plan_folder)
        require_same_plan(self.file, self.plan_folder)
        return schedule

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """Caveats of the plan, or of the reservoir of a rule alone."""
        if self.plan_folder is not None:
            return read_caveats(self.plan_folder)
        return (self.reservoir.caveat,) if self.reservoir.caveat else ()

    def beside(self, family: str) -> Rule | None:
        """The rule of a family for the same plan: this one, or that of the file beside it; None if there is none.

        Raises
        ------
        InputError
            If the file beside belongs to another reservoir or plan.
        """
        if self.rule.family == family or self.plan_folder is None:
            return self.rule if self.rule.family == family else None
        if family not in self.others:
            path, other = self.plan_folder / "rules" / f"{family}.json", None
            if path.is_file():
                other = read_rule_file(path)
                require_same_reservoir(other, self.reservoir)
                require_same_plan(other, self.plan_folder)
            self.others[family] = None if other is None else other.rule
        return self.others[family]


def units_of(plan_folder: Path | None, file: RuleFile, asked: str | None) -> UnitSystem:
    """The units asked for, else those of the rule's plan: by ``plan.json``, or by the rule's file elsewhere.

    Raises
    ------
    InputError
        If these are not known, or ``plan.json`` cannot be read.
    """
    of_plan = read_units(plan_folder) if plan_folder else str(file.fitted_to.get(UNITS, "si"))
    return UnitSystem.of(asked or of_plan)


def plan_folder_of(rule_file: Path) -> Path | None:
    """The folder of a plan whose ``rules/`` a rule's file stands in."""
    folder = rule_file.absolute().parent.parent
    return folder if (folder / PROVENANCE).is_file() else None


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
    def family(self) -> str:
        """The family of the rule."""
        return self.file.family

    @property
    def record_unit(self) -> str:
        """The unit of the record that the plan was made for; empty if nobody said it, or sites differ in it."""
        units = {unit_said(record) for record in self.file.records.values()}
        return units.pop() if len(units) == 1 else ""

    @cached_property
    def values(self) -> Separable | None:
        """Separable values: the rule itself, or those of the file beside it for the same plan; None without any."""
        beside = Path(self.file.first.source).with_name(f"{SEPARABLE}.json")
        if isinstance(self.rule, Separable) or self.plan_folder is None or not beside.is_file():
            return self.rule if isinstance(self.rule, Separable) else None
        other = read_system_rule(beside, self.system)
        other.require_same_plan(self.plan_folder)
        return other.rule if isinstance(other.rule, Separable) else None

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """Caveats of the plan, which must be that of the rule, or of the system and reservoirs of a rule alone."""
        if self.plan_folder is not None:
            self.file.require_same_plan(self.plan_folder)
            return read_caveats(self.plan_folder)
        each = (self.system.caveat, *(each.caveat for each in self.system.reservoirs))
        return tuple(dict.fromkeys(filter(None, each)))

    def units(self, asked: str | None) -> UnitSystem:
        """The units asked for, or those of the rule's plan."""
        return units_of(self.plan_folder, self.file.first, asked)


def read_system_rule_inputs(rule_file: Path, system_file: Path) -> SystemRuleInputs:
    """Read a rule of a system.

    Raises
    ------
    InputError
        With every mistake of the files, or if the rule was fitted to another system or plan.
    """
    clear_abandoned(rule_file.absolute().parent.parent)  # a run that was killed in the midst of an exchange of files
    system, plan_folder = read_system(system_file), plan_folder_of(rule_file)
    return SystemRuleInputs(read_system_rule(rule_file, system), system, plan_folder)


#: All rules of a plan.
PlanRules = tuple[RuleInputs | SystemRuleInputs, ...]


def read_rules_of(plan_folder: Path) -> PlanRules:
    """Read all rules of a plan, in the order of families.

    Raises
    ------
    InputError
        With the mistakes of a file, or if it was fitted to another reservoir, system or plan.
    """
    from reservoir.io.reservoir_toml.reader import read_reservoir
    from reservoir.rules.system_evaluation import SYSTEM_FAMILIES

    files = sorted(plan_folder.glob("rules/*.json"))
    if (plan_folder / SYSTEM).is_file():
        system = read_system(plan_folder / SYSTEM)
        families = {path.stem.removesuffix(f"-{system.names[0]}"): path for path in files}  # one file of each
        of_system = (read_system_rule(families[each], system) for each in SYSTEM_FAMILIES if each in families)
        return tuple(SystemRuleInputs(each, system, plan_folder) for each in of_system)
    plant, read = read_reservoir(plan_folder / RESERVOIR), [read_rule_file(path) for path in files]
    for each in read:
        require_same_reservoir(each, plant)
        require_same_plan(each, plan_folder)
    others: dict[str, Rule | None] = {each.rule.family: each.rule for each in read}
    read.sort(key=lambda each: list(FAMILIES).index(each.rule.family))
    return tuple(RuleInputs(each.rule, each, plant, plan_folder, others) for each in read)
