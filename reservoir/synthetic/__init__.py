"""Synthetic inflow: methods fitted to a record, an ensemble of any size, and its acceptance against the record.

A method is a class of `methods` with ``fit(flow_m3s) -> FlowModel``, and one line in `METHODS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from reservoir.errors import InputError
from reservoir.text.quantities import near_names

if TYPE_CHECKING:
    from reservoir.synthetic.methods import FloatArray, FlowModel

__all__ = ["METHODS", "Method", "method_named"]


@dataclass(frozen=True)
class Method:
    """A registry entry: a class of `reservoir.synthetic.methods`, which is imported when it is fitted.

    Flows that rise with the random numbers correlate where these do: several sites can be drawn together.
    """

    name: str
    model: str
    summary: str
    rises: bool = True

    def fit(self, flow_m3s: FloatArray) -> FlowModel:
        """Fit the method to the flows of a record, shape (years, steps)."""
        model: FlowModel = getattr(import_module(f"{__name__}.methods"), self.model).fit(flow_m3s)
        return model


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "kirsch",
            "KirschModel",
            "bootstrap of standardised months, correlated by Cholesky factors (Kirsch et al. 2013)",
        ),
        Method(
            "thomas-fiering",
            "ThomasFieringModel",
            "a regression for each month with normal noise (Thomas and Fiering 1962)",
        ),
        Method(
            "knn",
            "NearestNeighbourModel",
            "a regression for each month, its errors drawn from similar months (Lall and Sharma 1996)",
            rises=False,
        ),
    )
}


def method_named(name: str) -> Method:
    """A method by name.

    Raises
    ------
    InputError
        If there is no such method.
    """
    if name not in METHODS:
        near = near_names(name, {each.name: each.summary for each in METHODS.values()})
        mend = f"write {' or '.join(near)}" if near else ""
        raise InputError("unknown method of synthetic inflow", ", ".join(METHODS), mend, value=name)
    return METHODS[name]
