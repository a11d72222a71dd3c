"""Synthetic inflow: methods fitted to a record, an ensemble of any size, and its acceptance against the record.

A method is one module with ``fit(flow_m3s) -> FlowModel``, and one line in `METHODS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from reservoir.errors import InputError, Mistake

if TYPE_CHECKING:
    from reservoir.synthetic.base import FloatArray, FlowModel

__all__ = ["METHODS", "Method", "method_named"]


@dataclass(frozen=True)
class Method:
    """A registry entry: a module (dotted path) with ``fit``, which is imported when it is called."""

    name: str
    module: str
    summary: str

    def fit(self, flow_m3s: FloatArray) -> FlowModel:
        """Fit the method to the flows of a record, shape (years, steps)."""
        model: FlowModel = import_module(self.module).fit(flow_m3s)
        return model


METHODS: dict[str, Method] = {
    name: Method(name, f"{__name__}.{module}", summary)
    for name, module, summary in (
        ("kirsch", "kirsch", "bootstrap of standardised months, correlated by Cholesky factors (Kirsch et al. 2013)"),
        ("thomas-fiering", "thomas_fiering", "a regression for each month with normal noise (Thomas and Fiering 1962)"),
        ("knn", "knn", "a regression for each month, its errors drawn from similar months (Lall and Sharma 1996)"),
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
        raise InputError(Mistake("unknown method of synthetic inflow", ", ".join(METHODS), value=name))
    return METHODS[name]
