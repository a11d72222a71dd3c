"""Inputs of commands about one rule: the rule, its reservoir, and the plan that it was fitted to, if present."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reservoir.cli.options import read_plant
from reservoir.errors import InputError, Mistake

if TYPE_CHECKING:
    from reservoir.hydro.reservoir import Reservoir
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

    def beside(self, family: str) -> Rule | None:
        """The rule of a family for the same plan: this one, or that of the file beside it; None if there is none.

        Raises
        ------
        InputError
            If the file beside belongs to another reservoir or plan.
        """
        from reservoir.io.rule_belonging import require_same_plan, require_same_reservoir
        from reservoir.io.rule_file import read_rule_file

        if self.rule.family == family or self.plan_folder is None:
            return self.rule if self.rule.family == family else None
        path = self.plan_folder / "rules" / f"{family}.json"
        if not path.is_file():
            return None
        other = read_rule_file(path)
        require_same_reservoir(other, self.reservoir)
        require_same_plan(other, self.plan_folder)
        return other.rule


def read_rule_inputs(rule_file: Path, reservoir_file: Path | None, step: str | None = None) -> RuleInputs:
    """Read a rule, and its reservoir from the file given or from the plan's folder that the rule stands in.

    A `step` replaces that of the reservoir file.

    Raises
    ------
    InputError
        With every mistake of both files, if there is no reservoir file, or if the rule was fitted to another one.
    """
    from reservoir.io.placing.workplace import clear_abandoned
    from reservoir.io.plan_folder.tables import PROVENANCE, RESERVOIR
    from reservoir.io.rule_belonging import require_same_reservoir
    from reservoir.io.rule_file import read_rule_file

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
