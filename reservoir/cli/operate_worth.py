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


def words(worth: MarginalWorth, found: RuleInputs) -> str:
    """What water is worth, on the screen."""
    unit = f"{found.reservoir.objective.unit} per hm3".strip()
    return (
        f"kept {quantity(worth.kept)} {unit} later (by {worth.source}); released now, "
        f"the last of it makes {quantity(worth.last)} {unit}, more would make {quantity(worth.more)} {unit}"
    )


def as_json(worth: MarginalWorth, found: RuleInputs, units: UnitSystem) -> dict[str, Any]:
    """What water is worth, for machines; per hm3 of energy in the units asked for."""
    unit = found.reservoir.objective.unit
    names = ("kept", "last_released", "one_more_released")
    ending = "gwh_per_hm3" if unit == "GWh" else "per_hm3"
    values = dict(zip((f"{name}_{ending}" for name in names), (worth.kept, worth.last, worth.more), strict=True))
    return {"by_rule": worth.source, "unit": unit} | units.values(values)
