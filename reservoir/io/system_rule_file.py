"""Files of a system's rules: one of all reservoirs together, or one for each, ``FAMILY-RESERVOIR.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reservoir.errors import InputError
from reservoir.hydro.reservoir import reservoir_digests
from reservoir.hydro.system import System
from reservoir.io.plan_folder.files import SYSTEM
from reservoir.io.rule_file import (
    AGAIN,
    PARTS,
    RuleFile,
    file_of,
    read_rule_file,
    require_same_plan,
    require_same_reservoir,
    write_rule,
)
from reservoir.rules import rule_from_dict
from reservoir.rules.families.separable import SEPARABLE, Separable, SystemRule
from reservoir.rules.families.system_replan import REPLAN, SystemReplan

#: The values of a reservoir take some hundred kilobytes.
MOST_BYTES = 20_000_000
#: Key of ``fitted_to``: the links of the system, which `_stated` has.
LINKS = "links"


@dataclass(frozen=True)
class SystemRuleFile:
    """A rule of a system as its files hold it.

    Parameters
    ----------
    rule : SystemRule
    files : mapping of str to RuleFile
        Of each reservoir: its own file, or its part of that of all.
    """

    rule: SystemRule
    files: Mapping[str, RuleFile]

    @property
    def first(self) -> RuleFile:
        """One of the files: what it says of the plan holds for all."""
        return next(iter(self.files.values()))

    @property
    def records(self) -> Mapping[str, Any]:
        """What the rule's plan says of the record of each site; nothing where the file says nothing sound."""
        plan = self.first.fitted_to.get("plan")
        records = plan.get("inflows") if isinstance(plan, dict) else None
        return records if isinstance(records, dict) else {}

    @property
    def family(self) -> str:
        """Its family."""
        return self.rule.family if isinstance(self.rule, Separable) else self.first.rule.family

    @property
    def provenance(self) -> dict[str, Any]:
        """What a run of it says of the rule."""
        sources = {each.source: each.sha256 for each in self.files.values()}
        names = {Path(source).name: sha256 for source, sha256 in sources.items()}
        return {"family": self.family, "forecast": str(self.first.rule.forecast), "files": names}

    def require_same_plan(self, plan_folder: Path) -> None:
        """Refuse a rule beside the schedule of another plan than the one that it was fitted to.

        Raises
        ------
        InputError
            If the schedule differs or cannot be read.
        """
        for source in {each.source: each for each in self.files.values()}.values():
            require_same_plan(source, plan_folder)


def write_system_rule(
    family: str, rule: SystemRule, system: System, folder: Path, fitted_to: Mapping[str, Any]
) -> None:
    """Write a rule of a system into a folder; raises as `write_rule` does."""
    parts = {each.name: reservoir_digests(each) for each in system.reservoirs}
    fitted_to = {**fitted_to, LINKS: _stated(system)}
    if isinstance(rule, Separable):
        write_rule(rule, folder / f"{family}.json", fitted_to | {PARTS: parts})
        return
    for name, own in rule.items():
        write_rule(own, folder / f"{family}-{name}.json", fitted_to | {PARTS: parts[name]})


def read_system_rule(path: str | Path, system: System) -> SystemRuleFile:
    """Read and check a rule of a system: of a family with a file for each reservoir, from any of these.

    Raises
    ------
    InputError
        With every mistake in the files; if they are of another kind, or the rule was fitted to another system.
    """
    file = file_of(path, _rule_of_either_kind, MOST_BYTES)
    if isinstance(file.rule, Separable):
        rule: SystemRule = file.rule
        parts = file.fitted_to.get(PARTS)
        parts = parts if isinstance(parts, dict) else {}
        files = {
            name: replace(file, rule=site, fitted_to={**file.fitted_to, PARTS: parts.get(name)})
            for name, site in file.rule.of_each.items()
        }
        if list(files) != list(system.names):
            problem, expected = f"is a rule for other reservoirs: {', '.join(files)}", f"{', '.join(system.names)}"
            mend = f"give the system file that it was fitted to, {SYSTEM} in the folder of its plan, or {AGAIN}"
            raise InputError(problem, f"a rule for those of {system.name}: {expected}", mend, str(path))
    else:
        family = file.rule.family
        files = {name: read_rule_file(Path(path).with_name(f"{family}-{name}.json")) for name in system.names}
        rule = {name: each.rule for name, each in files.items()}
    for reservoir in system.reservoirs:
        require_same_reservoir(files[reservoir.name], reservoir)
        if files[reservoir.name].fitted_to.get(LINKS) != _stated(system):
            problem = f"was fitted to a system with other links than those of {system.source or system.name}"
            mend = f"give the system file that it was fitted to, {SYSTEM} in the folder of its plan, or {AGAIN}"
            raise InputError(problem, mend=mend, file=files[reservoir.name].source)
    return SystemRuleFile(rule, files)


def _rule_of_either_kind(content: object) -> Any:
    """A rule of all reservoirs together, or of one of them."""
    family = content.get("family") if isinstance(content, dict) else None
    if family == REPLAN and "sites" in content:  # type: ignore[operator] # one reservoir's has none
        return SystemReplan.from_dict(content)
    return Separable.from_dict(content) if family == SEPARABLE else rule_from_dict(content)


def _stated(system: System) -> list[dict[str, Any]]:
    """What links do, but for what is under way at the start of a plan."""
    numbers = ("travel_steps", "lost_share", "lost_m3s")
    return [
        {"from": link.source, "to": link.target, "carries": str(link.carries), "backwater": link.backwater}
        | {name: f"{getattr(link, name):.9g}" for name in numbers}
        for link in system.links
    ]
