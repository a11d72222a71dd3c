"""A perceptron as a rule: which part of the feasible range of releases to let go, by what is known at a month's start.

Cancelliere, Giuliano, Ancarani and Rossi 2002, Water Resour. Manag. 16:71, fit such networks to optimised years;
Pianosi, Thi and Soncini-Sessa 2011, Proc. 18th IFAC World Congress, search for their numbers by what the operation
brings (direct policy search; Giuliani et al. 2016, J. Water Resour. Plan. Manag. 142:04015050). Here the second begins
where the first ends: see `reservoir.rules.families.ann.training`.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np

from reservoir.problems.mlp import Perceptron
from reservoir.rules.base.fields import Monthly, Number, Numbers, Refusal, as_long_as, check, not_below
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.families.ann.inputs import NARROWEST, TINIEST_INFLOW, Scales, input_names, month_inputs


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


def _positive(value: float, known: Any) -> Any:
    if value <= 0:
        yield Refusal("is not positive", "more than 0", found=value)
    elif value < TINIEST_INFLOW:
        yield Refusal("is too small", f"{TINIEST_INFLOW:g} or more", found=value)


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
    inflow_low_m3s: Annotated[Number, check(_positive)]
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

    @cached_property
    def _month_inputs(self) -> list[list[float]]:
        steps = len(self.months.calendar_month)
        found: list[list[float]] = month_inputs(range(steps), steps).tolist()
        return found

    def release(self, step: int, storage_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float) -> float:
        """Release that is the network's part of the feasible range, as far as the month's inflow is known."""
        now = inflow_now_m3s if self.forecast is Forecast.MONTH else None
        bounds = self.storage_lower_hm3[step], self.storage_upper_hm3[step]
        filling, emptying = self.months.feasible_releases(step, storage_hm3, bounds, now)
        return filling + self.part(step, storage_hm3, now, inflow_before_m3s) * (emptying - filling)

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """`release` in many situations."""
        now = inflow_now_m3s if self.forecast is Forecast.MONTH else None
        scales = self._scales
        inflows = [inflow_before_m3s] if now is None else [now, inflow_before_m3s]
        known = [scales.storage(storage_hm3), *map(scales.inflow, inflows)]
        month = np.broadcast_to(self._month_inputs[step], (len(storage_hm3), 2))
        inputs = np.column_stack([*known, month])
        reached = inputs @ np.array(self.hidden_weights).T + np.array(self.hidden_biases)
        output = self.output_bias + (0.5 + 0.5 * np.tanh(0.5 * reached)) @ np.array(self.output_weights)
        bounds = self.storage_lower_hm3[step], self.storage_upper_hm3[step]
        filling, emptying = self.months.all_feasible_releases(step, storage_hm3, bounds, now)
        return np.asarray(filling + np.clip(output, 0.0, 1.0) * (emptying - filling))

    def part(self, step: int, storage_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float) -> float:
        """Output of the network, between 0 and 1."""
        scales = self._scales
        inflows = [inflow_before_m3s] if inflow_now_m3s is None else [inflow_now_m3s, inflow_before_m3s]
        known = [
            float(scales.storage(storage_hm3)),
            *map(float, map(scales.inflow, inflows)),
            *self._month_inputs[step],
        ]
        output = self.output_bias
        for weights, bias, weight in zip(self.hidden_weights, self.hidden_biases, self.output_weights, strict=True):
            reached = bias + sum(factor * value for factor, value in zip(weights, known, strict=True))
            output += weight * (0.5 + 0.5 * math.tanh(0.5 * reached))
        return min(max(output, 0.0), 1.0)


def fit(training: Training, forecast: Forecast) -> AnnRule:
    """Both stages of `reservoir.rules.families.ann.training`."""
    from reservoir.rules.families.ann.training import trained

    found = trained(training, forecast)
    return AnnRule.of(training, forecast, found.scales, found.mean, found.searched)
