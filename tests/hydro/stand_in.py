"""A reservoir whose curves are the forms that solvers evaluate, for the paper's equations to run on."""

from __future__ import annotations

from types import SimpleNamespace

from reservoir.hydro.attributes import ConversionKind
from reservoir.problems.reservoir.year import ReservoirModel


def with_forms(model: ReservoirModel) -> SimpleNamespace:
    """As much of a reservoir as `paper.powers` asks for; held at their ends, unlike the curves."""
    forms = model.approximation.plant
    return SimpleNamespace(
        level=lambda x: forms.level(x),
        tailrace=lambda x: forms.tailrace(x),
        conversion=lambda x: 3.6 / forms.conversion(x),
        conversion_kind=ConversionKind.RATE,
        capacity_m3s=lambda x: forms.capacity(x),
        installed_mw=model.reservoir.installed_mw,
    )
