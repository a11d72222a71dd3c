"""Train the network of an `ann` rule in two stages, and choose its size by years it has not seen.

Stage 1, regression: the network learns which part of the feasible range the plan releases (the optimised ensemble).
Stage 2, direct policy search: from there the swarm goes on, and what counts is the penalised energy that the operation
itself makes, over the training years and, behind them, synthetic years made from them, so that the network does not
learn a few years by heart. Both stages by the swarm of the solver ``ann-pso``. The second is run several times, each
with other synthetic years, and the mean of the networks it ends with is the rule's: a network with the units of all.

Before, for each size, both stages are tried in short on parts of the training years and judged on the others: the size
is taken that makes the most energy there, and each stage stops where it did best there (early stopping).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reservoir.hydro.step import release_to_reach
from reservoir.problems.mlp import Perceptron, TrainingError
from reservoir.rules.base.rule import Forecast, Months
from reservoir.rules.base.training import FloatArray, Training, made_once, outside, parts_of, parts_of_fit, tell_part
from reservoir.rules.families.ann import AnnRegressionRule, AnnRule, Scales, input_names, known_inputs
from reservoir.rules.families.ann_operation import NetworkOperation
from reservoir.rules.inflow_model import InflowModel, uniform_numbers
from reservoir.solvers import Problem, Solutions, runs_here, solve

#: Hidden units that are tried, and what is taken where there are too few years to try.
SIZES, SMALLEST = (3, 4, 6), 4
#: Parts of the training years that are held out in turn to choose the size, and the fewest years of one.
PARTS, YEARS_A_PART = 3, 4
#: Coefficients with which a swarm settles (Clerc and Kennedy 2002, IEEE Trans. Evol. Comput. 6:58).
SETTLING: dict[str, Any] = {"inertia": 0.7298, "cognitive": 1.49618, "social": 1.49618, "velocity_fraction": 0.5}
#: The swarm of each stage, and of the trials of the second.
REGRESSION = {"particles": 128, "group": 128, "generations": 400, "exchange_every": 20}
SEARCH = {"particles": 32, "group": 32, "generations": 3000, "exchange_every": 50}
TRIAL = SEARCH | {"particles": 64, "generations": 300, "exchange_every": 20}
#: Searches whose mean is the rule; synthetic years behind the training years in each, and in the trials.
SEARCHES, SYNTHETIC_YEARS, TRIAL_YEARS = 3, 300, 60
#: Fewer years tell nothing of years that might have been.
FEWEST_YEARS = 4
#: Part of the swarm that begins the search about the fitted network, and how far about it.
ABOUT, SPREAD = 0.5, 0.3
#: A feasible range narrower than this part of the largest release tells nothing about decisions.
NARROWEST = 1e-3
SEED = 1


def fit(training: Training, forecast: Forecast) -> AnnRule:
    """The rule after both stages."""
    network = trained(training, forecast)
    return AnnRule.of(training, forecast, network.scales, network.mean, network.searched)


def fit_regression(training: Training, forecast: Forecast) -> AnnRule:
    """The rule after the first stage."""
    network = fitted(training, forecast)
    return AnnRegressionRule.of(training, forecast, network.scales, network.network, network.fitted)


@dataclass(frozen=True)
class Fitted:
    """A network after the first stage.

    ``network`` is its shape, of the size that did best, ``fitted`` its numbers, and ``search_part`` after which part of
    the second stage it did best. ``validated`` is the mean benefit of a year that each size made in years held out;
    empty if none was tried.
    """

    scales: Scales
    network: Perceptron
    fitted: FloatArray
    search_part: float
    validated: dict[int, float]


@dataclass(frozen=True)
class Trained(Fitted):
    """A network after both stages: ``mean`` and ``searched`` are the mean of the networks, and its numbers."""

    mean: Perceptron
    searched: FloatArray


@made_once
def fitted(training: Training, forecast: Forecast) -> Fitted:
    """Choose a size and train it in the first stage; the same training years give the same network.

    Raises
    ------
    DeviceError
        If an OpenCL device is there but cannot be used.
    """
    training = training.searched()
    stages, inputs = _Stages(training, forecast, Scales.of(training)), len(input_names(forecast))
    sizes = SIZES if training.years >= PARTS * YEARS_A_PART else ()
    tried = parts_of_fit(sizes, len(sizes) + 1)
    choices = {size: stages.choice(Perceptron(inputs, size, 1, bias=True)) for size in tried}
    size = max(choices, key=lambda each: choices[each][0], default=SMALLEST)
    _, regression_part, search_part = choices.get(size, (-np.inf, 1.0, 1.0))
    network = Perceptron(inputs, size, 1, bias=True)
    tell_part(len(sizes) / (len(sizes) + 1))
    found = stages.regression(network, [np.ones(training.years)])[0]
    stop = max(1, round(regression_part * len(found.best_position_history)))
    validated = {each: benefit for each, (benefit, _, _) in choices.items()}
    return Fitted(stages.scales, network, found.best_position_history[stop - 1], search_part, validated)


@made_once
def trained(training: Training, forecast: Forecast) -> Trained:
    """Train the network of `fitted` in the second stage; raises what it does."""
    begun = fitted(training, forecast)
    stages = _Stages(training.searched(), forecast, begun.scales)
    operations = [stages.operation(begun.network, SYNTHETIC_YEARS, rng_stream_id=search) for search in range(SEARCHES)]
    swarm = SEARCH | {"generations": max(1, round(begun.search_part * SEARCH["generations"]))}
    searches = _searched(operations, [begun.fitted] * SEARCHES, swarm)
    mean, position = begun.network.mean_of([found.position for found in searches])
    return Trained(**vars(begun), mean=mean, searched=position)


@dataclass(frozen=True, eq=False)
class _Stages:
    """Both stages on optimised years, for rules that are told a forecast; a network is told it on these scales."""

    training: Training
    forecast: Forecast
    scales: Scales

    def select(self, years: Sequence[int]) -> _Stages:
        """The same on some of the years, by their place."""
        return replace(self, training=self.training.select(years))

    def choice(self, network: Perceptron) -> tuple[float, float, float]:
        """Try a size in both stages, holding out each part of the years in turn; all of them at once.

        Mean benefit of a held-out year, and after which part of each stage it was best.
        """
        years = self.training.years
        parts = parts_of(self.training, PARTS)
        others = [outside(years, part) for part in parts]
        fits = self.regression(network, [np.isin(range(years), each).astype(np.float64) for each in others])
        held_out = [self.select(part) for part in parts]
        errors = [stages.errors(network, fit.best_position_history) for stages, fit in zip(held_out, fits, strict=True)]
        stop = int(np.mean(errors, axis=0).argmin())
        room = max(map(len, others)) + TRIAL_YEARS
        tell_part(0.5)
        operations = [
            self.select(each).operation(network, TRIAL_YEARS, room, place) for place, each in enumerate(others)
        ]
        searches = _searched(operations, [fit.best_position_history[stop] for fit in fits], TRIAL)
        trials = zip(held_out, searches, strict=True)
        energies = np.mean(
            [stages.operation(network).mean_benefits(found.best_position_history) for stages, found in trials], axis=0
        )
        best = int(energies.argmax())
        tried = len(fits[0].best_position_history), len(energies)
        return float(energies[best]), (stop + 1) / tried[0], (best + 1) / tried[1]

    def regression(self, network: Perceptron, years: Sequence[FloatArray]) -> Solutions:
        """Fit a network to the plan for each weighting of the years."""
        inputs, parts, weights = samples(self.training, self.forecast, self.scales)
        if np.ptp(parts) == 0:
            parts = parts + np.linspace(-1e-6, 1e-6, len(parts))[:, None]  # the plan always decides alike
        every = [self.training.counts_of_decisions(counted) for counted in years]
        counts = [np.repeat(counted, self.training.steps) * weights for counted in every]
        problems = [TrainingError(network, inputs, parts, each, rng_stream_id=at) for at, each in enumerate(counts)]
        return _solved(problems, **REGRESSION)

    def errors(self, network: Perceptron, positions: FloatArray) -> list[float]:
        """Root of the mean square by which networks of these numbers miss the plan's decisions."""
        inputs, parts, weights = samples(self.training, self.forecast, self.scales)
        missed = [(weights[:, None] * (network(position, inputs) - parts) ** 2).sum() for position in positions]
        return [float(np.sqrt(square / max(weights.sum(), 1.0))) for square in missed]

    def operation(
        self, network: Perceptron, synthetic: int = 0, room_years: int = 0, rng_stream_id: int = 0
    ) -> NetworkOperation:
        """The years to operate, and behind them synthetic ones, others for every stream."""
        return NetworkOperation.of(
            self.training,
            network,
            self.forecast,
            self.scales,
            more_m3s=synthetic_years(self.training, synthetic, rng_stream_id),
            room=room_years * self.training.steps,
            rng_stream_id=rng_stream_id,
        )


def synthetic_years(training: Training, years: int, stream: int) -> FloatArray:
    """So many years of the inflow model behind the last month, m3/s, shape (years, steps); none of too few years."""
    if training.years < FEWEST_YEARS or not years:
        return np.empty((0, training.steps))
    uniform = uniform_numbers(SEED, 0, 1, years + 1, training.steps, stream)[0]
    return InflowModel.of(training).years(float(training.inflow_m3s[-1, -1]), uniform)


def samples(training: Training, forecast: Forecast, scales: Scales) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What the plan decided, from other starts too: inputs, parts of the feasible range, and how much each counts.

    Returns
    -------
    inputs : ndarray, shape (decided years * steps, inputs)
    parts : ndarray, shape (decided years * steps, 1)
    weights : ndarray, shape (decided years * steps,)
        0 where the feasible range is too narrow to tell anything, else 1; 1 of a plant that stores nothing.
    """
    plant, months, decided = training.model.reservoir, Months.of(training), training.decisions
    lower, upper = plant.storage_bounds_hm3[0], decided.storage_upper_hm3
    volume = np.asarray(months.volume_per_flow)
    inflow = decided.inflow_m3s
    if forecast is Forecast.NONE:
        inflow = np.broadcast_to(months.inflow_m3s, inflow.shape)
    gain = inflow - np.asarray(months.loss_m3s)
    reached = (release_to_reach(decided.storage_start_hm3, end, gain, volume) for end in (upper, lower))
    filling, emptying = (np.clip(each, months.release_lower_m3s, months.release_upper_m3s) for each in reached)
    width = emptying - filling
    narrow = width <= NARROWEST * max(months.release_upper_m3s)
    part = np.clip((decided.release_m3s - filling) / np.where(narrow, 1.0, width), 0.0, 1.0)
    known = known_inputs(
        scales, forecast, decided.inflow_m3s.ravel(), decided.inflow_before_m3s.ravel(), training.steps
    )
    inputs = np.column_stack([scales.storage(decided.storage_start_hm3.ravel()), known])
    return inputs, part.reshape(-1, 1), np.where(narrow & (not plant.is_run_of_river), 0.0, 1.0).ravel()


def _searched(operations: Sequence[NetworkOperation], begun: Sequence[FloatArray], swarm: dict[str, Any]) -> Solutions:
    """Direct policy search from networks that are fitted."""
    random = np.random.default_rng(SEED)
    about = random.normal(0, SPREAD, (max(1, int(ABOUT * swarm["particles"])), operations[0].dimension))
    about[0] = 0
    return _solved(operations, first=[position + about for position in begun], **swarm)


def _solved(problems: Sequence[Problem], **options: Any) -> Solutions:
    """By the swarm in OpenCL, or on CPU threads where there is none."""
    name = "ann-pso" if runs_here("ann-pso") else "ann-pso-parallel"
    return solve(problems, solver=name, seed=SEED, best_position_history=True, **(SETTLING | options))
