"""Fit on some years, simulate the others: blocks of consecutive years, or one year at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.plan import Plan
from reservoir.rules import Forecast, Training, fit
from reservoir.rules.simulation import Simulation, simulate
from reservoir.solvers.progress import Progress, silent


def blocks(years: int, folds: int) -> list[range]:
    """Cut years into blocks of consecutive years, as equal as can be; as many folds as years leave one out at a time.

    Raises
    ------
    InputError
        If there are not between 2 and `years` folds.
    """
    if not 2 <= folds <= years:
        raise InputError(Mistake("is no number of folds", f"2 to {years}, the number of years", value=folds))
    edges = np.linspace(0, years, folds + 1).round().astype(int)
    return [range(int(first), int(last)) for first, last in pairwise(edges)]


def held_out(
    family: str, plan: Plan, forecast: Forecast, folds: int, start_hm3: float, progress: Progress = silent
) -> Simulation:
    """Simulate every year with a rule fitted to the years outside its block.

    The storage is carried on within a block, which starts at `start_hm3`; the inflow of the month before a block is
    known, since it is past.

    Parameters
    ----------
    family : str
    plan : Plan
        Optimised years.
    forecast : Forecast
    folds : int
        Number of blocks.
    start_hm3 : float
        Storage at the start of every block.

    Returns
    -------
    Simulation
        All years, in order.
    """
    training = Training.of(plan)
    pieces = []
    parts = blocks(training.years, folds)
    for done, block in enumerate(parts, start=1):
        others = [year for year in range(training.years) if year not in block]
        rule = fit(family, training.select(others), forecast)
        before = float(training.inflow_before_m3s[block.start, 0]) if block.start else None
        record = years_of(plan.inflow, block)
        pieces.append(simulate(rule, training.model, record, start_hm3, inflow_before_m3s=before))
        progress(done, len(parts))
    return _joined(pieces)


def years_of(inflow: Inflow, block: range) -> Inflow:
    """Consecutive years of a record."""
    calendar = inflow.calendar
    part = Calendar(calendar.first_year + block.start, len(block), calendar.first_month)
    return Inflow(inflow.flow_m3s[block.start : block.stop], part, caveat=inflow.caveat, source=inflow.source)


def _joined(pieces: Sequence[Simulation]) -> Simulation:
    return Simulation(
        tuple(label for piece in pieces for label in piece.labels),
        tuple(operation for piece in pieces for operation in piece.operations),
        np.concatenate([piece.asked_m3s for piece in pieces]),
        np.concatenate([piece.repaired for piece in pieces]),
        np.concatenate([piece.carried for piece in pieces]),
        np.concatenate([piece.volume_per_flow for piece in pieces]),
    )
