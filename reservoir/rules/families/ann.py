"""A perceptron as a rule: which part of the feasible range of releases to let go, by what is known at a month's start.

Cancelliere, Giuliano, Ancarani and Rossi 2002, Water Resour. Manag. 16:71, fit such networks to optimised years;
Pianosi, Thi and Soncini-Sessa 2011, Proc. 18th IFAC World Congress, search for their numbers by what the operation
brings (direct policy search; Giuliani et al. 2016, J. Water Resour. Plan. Manag. 142:04015050). Here the second begins
where the first ends: see `ann_training`. The network's inputs are scaled to about -1 to 1.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from reservoir.problems.mlp import Perceptron
from reservoir.rules.base.fields import (
    Monthly,
    Number,
    Numbers,
    Positive,
    Refusal,
    as_long_as,
    check,
    not_below,
    require,
)
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import FloatArray, Training

#: Inputs in the network's order; the month's own inflow is left out where it is not known.
START_STORAGE, INFLOW, INFLOW_BEFORE = "start_storage", "inflow", "inflow_before"
MONTH_SINE, MONTH_COSINE = "month_sine", "month_cosine"
#: An inflow below this part of the mean is taken for it, since a logarithm has no zero.
LEAST_INFLOW = 1e-3
#: The least ratio of the largest to the smallest inflow on the scale.
LEAST_RATIO = 1.01
#: No inflow is scaled by less (m3/s), and no range of storages (hm3) or inflows is narrower: quotients stay finite.
TINIEST_INFLOW, NARROWEST = 1e-9, 1e-12


def input_names(forecast: Forecast) -> tuple[str, ...]:
    """Names of the inputs of a rule that is told a forecast."""
    inflows = (INFLOW, INFLOW_BEFORE) if forecast is Forecast.MONTH else (INFLOW_BEFORE,)
    return (START_STORAGE, *inflows, MONTH_SINE, MONTH_COSINE)


@dataclass(frozen=True)
class Scales:
    """The range of storages, and that of inflows, whose logarithm is scaled."""

    storage_low_hm3: float
    storage_high_hm3: float
    inflow_low_m3s: float
    inflow_high_m3s: float

    @classmethod
    def of(cls, training: Training) -> Scales:
        """The bounds of the reservoir, and the inflows of the training years."""
        plant = training.model.reservoir
        flow = training.inflow_m3s
        low = max(float(flow.min()), LEAST_INFLOW * float(flow.mean()), TINIEST_INFLOW)
        lowest, highest = float(plant.storage_lower_hm3.min()), float(plant.storage_upper_hm3.max())
        return cls(lowest, max(highest, lowest + 1e-9), low, max(float(flow.max()), LEAST_RATIO * low))

    def storage(self, storage_hm3: ArrayLike) -> FloatArray:
        """-1 at the lowest storage, 1 at the highest."""
        place = np.asarray(storage_hm3, float) - self.storage_low_hm3
        return np.asarray(2 * place / (self.storage_high_hm3 - self.storage_low_hm3) - 1)

    def inflow(self, inflow_m3s: ArrayLike) -> FloatArray:
        """-1 at the lowest inflow and below, 1 at the highest, by its logarithm."""
        ratio = np.maximum(np.asarray(inflow_m3s, float), self.inflow_low_m3s) / self.inflow_low_m3s
        return np.asarray(2 * np.log(ratio) / math.log(self.inflow_high_m3s / self.inflow_low_m3s) - 1)


def month_inputs(steps: ArrayLike, months: int) -> FloatArray:
    """Sine and cosine of the time of year in the middle of steps, shape (..., 2)."""
    turns = 2 * np.pi * (np.asarray(steps, float) + 0.5) / months
    return np.stack([np.sin(turns), np.cos(turns)], axis=-1)


def known_inputs(
    scales: Scales, forecast: Forecast, inflow_m3s: ArrayLike, inflow_before_m3s: ArrayLike, months: int
) -> FloatArray:
    """All inputs but the start storage, for consecutive steps from the first of a year, shape (steps, inputs - 1)."""
    now = [scales.inflow(inflow_m3s)] if forecast is Forecast.MONTH else []
    before = scales.inflow(inflow_before_m3s)
    columns = np.stack([*now, before], axis=-1)
    return np.concatenate([columns, month_inputs(np.arange(len(columns)) % months, months)], axis=-1)


def _names(names: tuple[str, ...], known: Any) -> Any:
    expected = input_names(known["forecast"]) if "forecast" in known else names
    if names != expected:
        yield Refusal("are not the inputs of a rule of this family", ", ".join(expected), found=list(names))


def _row_for_each_input(rows: tuple[tuple[float, ...], ...], known: Any) -> Any:
    wanted = len(known.get("inputs", ()))
    if not rows:
        yield Refusal("has no hidden unit", "one or more lists of weights", found=0)
    for place, row in enumerate(rows):
        if wanted and len(row) != wanted:
            yield Refusal("has the wrong number of values", f"{wanted}, one for each of inputs", (place,), len(row))


def _above(other: str) -> Any:
    def claim(value: float, known: Any) -> Any:
        if value <= known.get(other, -math.inf) + NARROWEST:
            yield Refusal(f"is not above {other}", f"more than {known[other]:.10g}", found=value)

    return check(claim)


class AnnRule(Rule):
    """A network with one hidden layer of sigmoids; its output is the part of the feasible range of releases.

    The range goes from the release that fills the reservoir to its upper bound at the month's end to the one that
    empties it to its lower, both within the bounds of the release.

    Parameters
    ----------
    inputs : tuple of str
        What the network is told, in its order. The start storage is scaled to -1 at ``storage_low_hm3`` and 1 at
        ``storage_high_hm3``, and the logarithm of an inflow likewise (an inflow below ``inflow_low_m3s`` is taken for
        that); month_sine and month_cosine are of 2 pi (step + 1/2) / 12, where step 0 is the first month of
        ``months``.
    hidden_weights : tuple of tuple of float
        Of each hidden unit, one weight an input.
    hidden_biases, output_weights : tuple of float
        One a hidden unit: 1 / (1 + exp(-(bias + weights x inputs))) is what it passes on.
    output_bias : float
        The output is this and the output weights x the units; below 0 it counts as 0, above 1 as 1.
    storage_lower_hm3, storage_upper_hm3 : tuple of float
        Bounds of the storage at the end of each month.
    """

    family: Literal["ann"]
    inputs: Annotated[tuple[str, ...], check(_names)]
    storage_low_hm3: Number
    storage_high_hm3: Annotated[Number, _above("storage_low_hm3")]
    inflow_low_m3s: Annotated[
        Positive, require(lambda value: value >= TINIEST_INFLOW, "is too small", f"{TINIEST_INFLOW:g} or more")
    ]
    inflow_high_m3s: Annotated[Number, _above("inflow_low_m3s")]
    hidden_weights: Annotated[tuple[Numbers, ...], check(_row_for_each_input)]
    hidden_biases: Annotated[Numbers, as_long_as("hidden_weights")]
    output_weights: Annotated[Numbers, as_long_as("hidden_weights")]
    output_bias: Number
    storage_lower_hm3: Monthly
    storage_upper_hm3: Annotated[Monthly, not_below("storage_lower_hm3")]

    @classmethod
    def of(
        cls, training: Training, forecast: Forecast, scales: Scales, network: Perceptron, position: FloatArray
    ) -> Self:
        """The rule of a network's numbers."""
        units, inputs = network.units(position), network.inputs
        lower, upper = training.model.reservoir.storage_bounds_hm3
        return cls.fitted(
            training,
            forecast,
            inputs=input_names(forecast),
            **asdict(scales),
            hidden_weights=units[:, :inputs],
            hidden_biases=units[:, inputs],
            output_weights=units[:, inputs + 1],
            output_bias=float(network.biases(position)[0]),
            storage_lower_hm3=lower,
            storage_upper_hm3=upper,
        )

    @cached_property
    def _scales(self) -> Scales:
        return Scales(self.storage_low_hm3, self.storage_high_hm3, self.inflow_low_m3s, self.inflow_high_m3s)

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """Releases that are the network's part of the feasible range, as far as the month's inflow is known."""
        now = inflow_now_m3s if self.forecast is Forecast.MONTH else None
        upper: Any = self.storage_upper_hm3[step] if self._upper_hm3 is None else self._upper_hm3
        bounds = self.storage_lower_hm3[step], upper
        filling, emptying = self.months.feasible_releases(step, storage_hm3, bounds, now)
        return np.asarray(filling + self.parts(step, storage_hm3, now, inflow_before_m3s) * (emptying - filling))

    def parts(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """Output of the network, between 0 and 1, shape (situations,)."""
        scales = self._scales
        inflows = [inflow_before_m3s] if inflow_now_m3s is None else [inflow_now_m3s, inflow_before_m3s]
        month = month_inputs(step, len(self.months.calendar_month))
        known = [scales.storage(storage_hm3), *map(scales.inflow, inflows), *month]
        output = np.full(len(storage_hm3), self.output_bias)
        # Number by number, so that a decision does not depend on how many are made at once.
        for weights, bias, weight in zip(self.hidden_weights, self.hidden_biases, self.output_weights, strict=True):
            reached = bias + sum(factor * value for factor, value in zip(weights, known, strict=True))
            output = output + weight * (0.5 + 0.5 * _tanh(0.5 * reached).astype(float))
        return np.asarray(np.clip(output, 0.0, 1.0))


#: That of the C library: numpy's own differs from it in the last bit.
_tanh = np.frompyfunc(math.tanh, 1, 1)


class AnnRegressionRule(AnnRule):
    """An `AnnRule` as the regression leaves it: the first stage alone, its network not searched further."""

    family: Literal["ann-regression"]  # type: ignore[assignment]
