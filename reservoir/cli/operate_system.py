"""Rules of a system, as commands about one rule read them; and the advice of ``reservoir operate``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reservoir.cli import options
from reservoir.cli.operate import plan_folder_of, units_of

if TYPE_CHECKING:
    from reservoir.hydro.system import System
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.io.system_rule_file import SystemRuleFile
    from reservoir.rules.families.separable import SystemRule


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
