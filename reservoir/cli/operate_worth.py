"""What ``reservoir operate`` says of the value of water around a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reservoir.text.quantities import quantity

if TYPE_CHECKING:
    from reservoir.cli.rule_inputs import RuleInputs
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.rules.advice import Advice, Situation
    from reservoir.rules.marginal_worth import MarginalWorth


def worth_of(found: RuleInputs, situation: Situation, advice: Advice) -> MarginalWorth | None:
    """What water is worth around a decision: by the rule, or by the table of water values beside it."""
    from reservoir.rules.marginal_worth import marginal_worth

    own = marginal_worth(found.rule, situation, advice)
    table = None if own is not None else found.beside("water-value")
    return own if table is None else marginal_worth(table, situation, advice)


def words(worth: MarginalWorth, found: RuleInputs, units: UnitSystem) -> str:
    """What water is worth, on the screen."""
    found_in = (units.per_volume(each, found.reservoir.objective.unit) for each in (worth.kept, worth.last, worth.more))
    kept, last, more = (f"{quantity(value)} {unit}" for value, unit in found_in)
    return f"kept {kept} later (by {worth.source}); released now, the last of it makes {last}, more would make {more}"


def as_json(worth: MarginalWorth, found: RuleInputs, units: UnitSystem) -> dict[str, Any]:
    """What water is worth, for machines, in the units asked for."""
    unit = found.reservoir.objective.unit
    values = {"kept": worth.kept, "last_released": worth.last, "one_more_released": worth.more}
    ending = units.column("_gwh_per_hm3" if unit == "GWh" else "_per_hm3")
    told = {f"{name}{ending}": units.per_volume(value, unit)[0] for name, value in values.items()}
    return {"by_rule": worth.source, "unit": unit} | told
