"""Inputs of commands about one rule: the rule, its reservoir, and the plan that it was fitted to, if present."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reservoir.cli.options import read_plant, unit_said
from reservoir.errors import InputError, Mistake

if TYPE_CHECKING:
    from reservoir.hydro.inflow import Inflow
    from reservoir.hydro.reservoir import Reservoir
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.io.rule_file import RuleFile
    from reservoir.rules import Rule


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
        told = self.file.fitted_to.get("plan")
        record = told.get("inflow") if isinstance(told, dict) else None
        return unit_said(record) if isinstance(record, dict) else ""

    def units(self, asked: str | None, inflow: Inflow | None = None) -> UnitSystem:
        """The units asked for, else those of the rule's plan: by ``plan.json``, or by the rule's file elsewhere.

        Raises
        ------
        InputError
            If these are not known, or ``plan.json`` cannot be read.
        """
        from reservoir.hydro.unit_system import UnitSystem
        from reservoir.io.plan_folder.files import read_units
        from reservoir.io.rule_file import UNITS

        of_plan = read_units(self.plan_folder) if self.plan_folder else str(self.file.fitted_to.get(UNITS, "si"))
        return UnitSystem.of(asked or of_plan)

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


def said_units(units: UnitSystem, asked: str | None) -> str:
    """A line on units that a call does not name and that are not SI, see `RuleInputs.units`; else empty."""
    if asked or not units.by_ending:
        return ""
    theirs, usual = ("{flow}, {volume} and {level}".format_map(each.as_dict) for each in (units, units.of("si")))
    return f"Units: {theirs}, as in the plan; for {usual} give --units si"


def read_rule_inputs(rule_file: Path, reservoir_file: Path | None, step: str | None = None) -> RuleInputs:
    """Read a rule, and its reservoir from the file given or from the plan's folder that the rule stands in.

    A `step` replaces that of the reservoir file.

    Raises
    ------
    InputError
        With every mistake of both files, if there is no reservoir file, or if the rule was fitted to another one.
    """
    from reservoir.io.plan_folder.files import PROVENANCE, RESERVOIR
    from reservoir.io.rule_file import read_rule_file, require_same_reservoir
    from reservoir.io.workplace import clear_abandoned

    folder = rule_file.absolute().parent.parent
    clear_abandoned(folder)  # a run that was killed in the midst of an exchange of files
    plan_folder = folder if (folder / PROVENANCE).is_file() else None
    beside = folder / RESERVOIR if plan_folder is not None else None
    path = reservoir_file or beside
    mistakes: list[Mistake] = []
    file = plant = None
    try:
        file = read_rule_file(rule_file)
    except InputError as error:
        mistakes += error.mistakes
    try:
        if path is not None:
            plant = read_plant(path, step)
        elif file is not None:
            mend = "give --reservoir FILE.toml, or use the rule file in the rules folder of its plan"
            raise InputError(Mistake("the rule's reservoir file is unknown", mend=mend, file=str(rule_file)))
    except InputError as error:
        mistakes += error.mistakes
    if file is None or plant is None:
        raise InputError(mistakes)
    require_same_reservoir(file, plant)
    return RuleInputs(file.rule, file, plant, plan_folder)
