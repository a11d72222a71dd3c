"""What the rules of all families share: a frozen object that is written to JSON and read back with every check."""

from __future__ import annotations

from typing import Any, Self

from reservoir.rules.base.fields import Block
from reservoir.rules.base.monthly import Months
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.wording import validated


class RuleModel(Block):
    """A fitted rule.

    Parameters
    ----------
    family : str
        Name of the family in the registry; each family allows its own alone.
    reservoir : str
        Name of the reservoir that it was fitted for.
    forecast : Forecast
        What it may know of a month's inflow.
    months : Months
        The months of a water year.
    """

    family: str
    reservoir: str
    forecast: Forecast
    months: Months

    def to_dict(self) -> dict[str, Any]:
        """Everything that makes the rule, as JSON can hold it."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, content: object) -> Self:
        """Read back what `to_dict` gave.

        Raises
        ------
        InputError
            With every mistake in it.
        """
        return validated(cls, content)
