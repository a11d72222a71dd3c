"""The inflow model of a rule: fitted to the training years, written into the rule, and drawn from with what is known.

Months are standardised by a power that takes their skew, and follow each other by a regression on the two months before
and on the mean of the last year, with normal noise (`StandardisedMonths`, `MonthlyRegression`; the method
``thomas-fiering`` of ``reservoir synth``). The standardised months of a year are then jointly normal, so that what is
not known of the past year is drawn given what is. Noise is such that in the long run every standardised month has mean
0 and variance 1, and flows are scaled to the record's mean: neither follows from the regression alone.

Stochastic dynamic programming knows inflow as a lag-1 Markov chain that repeats every year (`inflow_chain`): classes of
each month, and which follows which, counted in many years of the inflow model, not in the few on record: a class of
three or four years, and what followed it, is chance for the most part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.rules.base.fields import (
    Block,
    Known,
    Monthly,
    NotNegative,
    Number,
    Numbers,
    Positive,
    Refusal,
    check,
    count,
    require,
)
from reservoir.rules.base.training import FloatArray, Training, made_once
from reservoir.rules.standardised_months import ALL_VALUES, StandardisedMonths, ndtr, ndtri

#: Below every uniform number, so that its normal quantile is finite.
_LEAST_UNIFORM = 2.0**-54


def uniform_numbers(seed: int, first: int, stop: int, years: int, steps: int, stream: int = 0) -> FloatArray:
    """Uniform numbers in (0, 1) of the members `first` up to `stop`, shape (stop - first, years, steps).

    Counter-based (Philox; Salmon et al. 2011): the member is part of the counter, so that every member can be made by
    itself; more years continue its numbers. Streams of one seed are independent.
    """
    numbers = np.empty((stop - first, years, steps))
    for of_member, generator in zip(numbers, _generators(seed, first, stop, stream), strict=True):
        generator.random(out=of_member)
    return np.maximum(numbers, _LEAST_UNIFORM, out=numbers)


def normal_numbers(seed: int, members: int, months: int, sites: int, stream: int = 0) -> FloatArray:
    """Normal numbers of members of sites, shape (members, months, sites), as `uniform_numbers` are made."""
    made = [each.standard_normal((months, sites)) for each in _generators(seed, 0, members, stream)]
    return np.stack(made)


def _generators(seed: int, first: int, stop: int, stream: int) -> Iterator[np.random.Generator]:
    for member in range(first, stop):
        counter = np.array([0, 0, 0, member], np.uint64)
        yield np.random.Generator(np.random.Philox(key=np.array([seed, stream], np.uint64), counter=counter))


#: Years that the recursion runs before the first year of flows, to forget that it began at the mean.
WARM_UP_YEARS = 10
#: The month before, the one before that, the mean of the last year, and a constant.
PREDICTORS = 4

#: Noise of a step: its place in the year, what the regression predicts, uniform numbers; arrays of members.
Noise = Callable[[int, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class MonthlyRegression:
    """Regressions of standardised months: on the two months before, and on the mean of the last twelve.

    Thomas and Fiering's regression has the month before alone. It forgets too quickly: annual flows of the bundled
    record vary 12 % less than they should, and hardly follow each other (0.01 instead of 0.29). The mean of the last
    year keeps both (as in Sharma and O'Neill 2002, Water Resour. Res. 38(7)), the second month the correlation with it.

    Parameters
    ----------
    coefficients : ndarray, shape (steps, predictors)
    predicted, residual : ndarray, shape (steps, fitted years)
        Of the record, by default from its second year on; the residuals are scaled to the variance `deviation` ** 2.
    deviation : ndarray, shape (steps,)
        Standard deviation of the residuals, with the degrees of freedom that are left.
    """

    coefficients: FloatArray
    predicted: FloatArray
    residual: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, values: FloatArray, fitted_years: NDArray[np.int64] | None = None) -> MonthlyRegression:
        """Fit by least squares to standardised values of a record, shape (years, steps).

        Of a record with gaps, `fitted_years` are the places of those years that follow the year before them.
        """
        years, steps = values.shape
        series = values.ravel()
        of_years = np.arange(1, years) if fitted_years is None else fitted_years
        coefficients = np.zeros((steps, PREDICTORS))
        predicted = np.zeros((steps, len(of_years)))
        for step in range(steps):
            at = of_years * steps + step
            last_year = np.mean([series[at - back] for back in range(1, steps + 1)], axis=0)
            predictors = np.stack([series[at - 1], series[at - 2], last_year, np.ones(at.size)], axis=1)
            coefficients[step] = np.linalg.lstsq(predictors, series[at], rcond=None)[0]
            predicted[step] = predictors @ coefficients[step]
        residual = values[of_years].T - predicted
        free = max(len(of_years) - PREDICTORS, 1)
        deviation = np.sqrt((residual**2).sum(axis=1) / free)
        spread = residual.std(axis=1)
        residual *= np.divide(deviation, spread, out=np.zeros(steps), where=spread > 0)[:, np.newaxis]
        return cls(coefficients, predicted, residual, deviation)

    def values(self, uniform: FloatArray, noise: Noise) -> FloatArray:
        """Run the recursion; standardised values of shape (members, years, steps).

        Parameters
        ----------
        uniform : ndarray, shape (members, WARM_UP_YEARS + years, steps)
        noise : callable
            Added to what the regression predicts.
        """
        members, years, steps = uniform.shape
        series = np.zeros((steps * (years + 1), members))  # one year at the mean precedes
        total = np.zeros(members)
        for at in range(steps, len(series)):
            year, step = divmod(at - steps, steps)
            before, second, last_year, constant = self.coefficients[step]
            predicted = before * series[at - 1] + second * series[at - 2] + last_year * (total / steps) + constant
            series[at] = predicted + noise(step, predicted, uniform[:, year, step])
            total += series[at] - series[at - steps]
        return series[steps * (1 + WARM_UP_YEARS) :].T.reshape(members, years - WARM_UP_YEARS, steps)


#: Fewer years that follow another tell the regression on the last year nothing: then a month follows the month before.
FEWEST_YEARS = 15
#: Fewer years tell no correlation of a month with the month before.
FEWEST_YEARS_OF_CORRELATION = 4
#: A regression whose values shrink by less than this in a year would not come to rest: as with too few years.
_MOST_REMEMBERED = 0.95
_MOST_CORRELATION = 0.99
#: A flow, known or drawn, is no more standard deviations off than this: beyond what a record of some decades shows, a
#: skewed month's tail would be made up.
_MOST_DEVIATIONS = 3.0
#: Quantiles that the mean of a month is taken over.
_QUANTILES = 4000
#: The fields of the model that are those of `StandardisedMonths`.
_STANDARD = ("exponent", "lower_m3s", "scale_m3s", "mean", "deviation", "dry_below")
#: Years after which a recursion has forgotten where it began.
_YEARS_TO_REST = 200


def _at_rest(rows: tuple[Numbers, ...], known: Known) -> Any:
    if all(len(row) == PREDICTORS for row in rows) and _remembered(np.array(rows)) >= 1:
        yield Refusal("do not come to rest", "regressions whose values stay finite")


_Exponent = Annotated[Number, require(lambda value: 0 <= value <= 1, "is not an exponent", "0 to 1")]
_A_MONTH = count(MONTHS_PER_YEAR, "one per month")
_MonthlyNotNegative = Annotated[tuple[NotNegative, ...], _A_MONTH]
_PER_PREDICTOR = count(PREDICTORS, "one each for the month before, the second before, the last year and a constant")


class InflowModel(Block):
    """Inflow of consecutive months; values a step of the water year.

    Parameters
    ----------
    exponent, lower_m3s, scale_m3s, mean, deviation, dry_below : tuple of float
        How flows are standardised, see `StandardisedMonths`.
    coefficients : tuple of tuple of float
        Regression of each standardised month on the month before, the second before, the mean of the last twelve, and a
        constant.
    noise : tuple of float
        Standard deviation of what the regression leaves.
    """

    exponent: Annotated[tuple[_Exponent, ...], _A_MONTH]
    lower_m3s: _MonthlyNotNegative
    scale_m3s: Annotated[tuple[Positive, ...], _A_MONTH]
    mean: Monthly
    deviation: _MonthlyNotNegative
    dry_below: Monthly
    coefficients: Annotated[
        tuple[Annotated[Numbers, _PER_PREDICTOR], ...], count(MONTHS_PER_YEAR, "one list per month"), check(_at_rest)
    ]
    noise: _MonthlyNotNegative

    @staticmethod
    @made_once
    def of(training: Training) -> InflowModel:
        """Fit to the training years; where years between them are left out, nothing is learned across the gap."""
        flow = np.maximum(training.inflow_m3s, 0.0)
        months = StandardisedMonths.of(flow if len(flow) > 1 else np.repeat(flow, 2, axis=0))
        coefficients = _coefficients(training, months)
        coefficients[:, -1] = 0.0
        noise = _noise_at_rest(coefficients, months.varies.astype(float))
        normal = np.repeat(ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES)[:, np.newaxis], training.steps, axis=1)
        months = months.with_mean(flow.mean(axis=0), np.clip(normal, -_most(months), _most(months)))
        months = replace(months, dry_below=np.clip(months.dry_below, -ALL_VALUES, ALL_VALUES))
        standard: dict[str, Any] = {name: getattr(months, name).tolist() for name in _STANDARD}
        return InflowModel(**standard, coefficients=coefficients.tolist(), noise=noise.tolist())

    @cached_property
    def months(self) -> StandardisedMonths:
        """Flows as standardised values, and back."""
        fields: list[Any] = [np.array(getattr(self, name), float) for name in _STANDARD]
        return StandardisedMonths(*fields)

    @cached_property
    def _past(self) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of the twelve months that end with each step, the latest first."""
        return at_rest_moments(np.array([self.coefficients], float), np.array(self.noise)[:, None, None] ** 2)

    def value(self, step: int, flow_m3s: FloatArray) -> FloatArray:
        """Standardised value of flows of a step."""
        one = self.months.at(np.array([step % len(self.noise)]))
        least = one.lower_m3s + 1e-6 * one.scale_m3s
        values = one.values(np.maximum(np.asarray(flow_m3s, float), least)[..., None])[..., 0]
        return np.asarray(np.clip(values, -_most(one), _most(one)))

    def futures(self, step: int, known_m3s: FloatArray, uniform: FloatArray) -> FloatArray:
        """Flows (m3/s) from a step on, given those of the months before it.

        Parameters
        ----------
        step : int
            First step of the futures in the water year.
        known_m3s : ndarray, shape (situations, known)
            Flows of the months before, the latest first; none where nothing is known.
        uniform : ndarray, shape (members, 12 + months) or (situations, members, 12 + months)
            Uniform numbers in (0, 1): for what is not known of the past year, and for the months to come. Without
            situations, all have the same.

        Returns
        -------
        ndarray, shape (situations, members, months)
        """
        known, alone = known_m3s[:, :, np.newaxis], np.ones((len(self.noise), 1, 1))
        return futures_of_sites([self], alone, self._past, step, known, ndtri(uniform)[..., np.newaxis])[..., 0]

    def years(self, first_m3s: float, uniform: FloatArray) -> FloatArray:
        """Flows of consecutive years behind a month, shape (years, steps); of a year more of uniform numbers."""
        members = uniform.reshape(1, -1)
        made = self.futures(0, np.array([[first_m3s]]), members)[0, 0]
        return np.asarray(made.reshape(-1, uniform.shape[1]))


def futures_of_sites(
    models: Sequence[InflowModel],
    factor: FloatArray,
    past: tuple[FloatArray, FloatArray],
    step: int,
    known_m3s: FloatArray,
    normal: FloatArray,
) -> FloatArray:
    """Flows (m3/s) of sites from a step on, given those of the months before it.

    Parameters
    ----------
    models : sequence of InflowModel
        Of each site.
    factor : ndarray, shape (steps, sites, sites)
        Lower Cholesky factor of the correlation of what the regressions of the sites leave, by step.
    past : tuple of two ndarrays
        From `at_rest_moments`.
    step : int
        First step of the futures in the water year.
    known_m3s : ndarray, shape (situations, known, sites)
        Flows of the months before, the latest first; none where nothing is known.
    normal : ndarray, shape (members, 12 + months, sites) or (situations, members, 12 + months, sites)
        Normal numbers: for what is not known of the past year, and for the months to come.

    Returns
    -------
    ndarray, shape (situations, members, months, sites)
    """
    steps, sites = factor.shape[:2]
    drawn = _drawn_past(models, past, step, known_m3s, normal[..., :steps, :].reshape(*normal.shape[:-2], -1))
    pasts: list[Any] = [list(np.moveaxis(drawn[..., site::sites], -1, 0)) for site in range(sites)]
    made: list[list[Any]] = [[] for _ in models]
    for at in range(normal.shape[-2] - steps):
        of_step, numbers = (step + at) % steps, normal[..., steps + at, :]
        for site, model in enumerate(models):
            before, second, last_year, constant = model.coefficients[of_step]
            values = pasts[site]
            value = values[0] * before + values[1] * second + np.mean(values, axis=0) * last_year + constant
            # A product of matrices may round differently for more members.
            correlated = sum(factor[of_step, site, other] * numbers[..., other] for other in range(site + 1))
            value = value + model.noise[of_step] * correlated
            made[site].append(value)
            pasts[site] = [value, *values[:-1]]
    flows = []
    for model, of_site in zip(models, made, strict=True):
        months, values = model.months.at(np.arange(step, step + len(of_site)) % steps), np.stack(of_site, axis=-1)
        flows.append(np.maximum(months.flows(np.clip(values, -_most(months), _most(months))), 0.0))
    return np.stack(flows, axis=-1)


def _drawn_past(
    models: Sequence[InflowModel],
    past: tuple[FloatArray, FloatArray],
    step: int,
    known_m3s: FloatArray,
    normal: FloatArray,
) -> FloatArray:
    """Standardised values of the year before a step, the latest first, shape (situations, members, months x sites)."""
    steps, seen = len(past[0]), known_m3s.shape[1] * len(models)
    mean, covariance = (each[(step - 1) % steps] for each in past)
    values = np.array(
        [
            [model.value(step - 1 - back, flows) for model, flows in zip(models, of_sites, strict=True)]
            for back, of_sites in enumerate(known_m3s.transpose(1, 2, 0))
        ]
    )
    values = values.reshape(seen, len(known_m3s)).T
    gain = covariance[:, :seen] @ np.linalg.pinv(covariance[:seen, :seen], hermitian=True)
    left = covariance - gain @ covariance[:seen]
    size, vectors = np.linalg.eigh((left + left.T) / 2)
    deviation = normal @ (vectors * np.sqrt(np.maximum(size, 0.0))).T
    known = _drawn_where_dry(models, past, step, known_m3s, values, normal)
    expected = mean + (known.reshape(known.shape[0] * known.shape[1], seen) - mean[:seen]) @ gain.T
    drawn = expected.reshape(*known.shape[:2], len(mean)) + deviation
    drawn[:, :, :seen] = known
    return np.asarray(drawn)


def _drawn_where_dry(
    models: Sequence[InflowModel],
    past: tuple[FloatArray, FloatArray],
    step: int,
    known_m3s: FloatArray,
    values: FloatArray,
    normal: FloatArray,
) -> FloatArray:
    """Values of the known months, shape (situations, 1 or members, known x sites): of a dry one, any that are no flow.

    They are drawn from the earliest on, each given those before it; the numbers are the first of `normal`, which
    belong to what is known and are not used otherwise.
    """
    steps, sites, seen = len(past[0]), len(models), values.shape[1]
    places = np.arange(step - 1, step - 1 - known_m3s.shape[1], -1) % steps
    of_sites = [model.months.at(places) for model in models]
    dry = [months.dry(known_m3s[:, :, site]) & months.varies for site, months in enumerate(of_sites)]
    is_dry, known = np.stack(dry, axis=-1).reshape(len(values), -1), values[:, None, :]
    if not is_dry.any():
        return known
    known = np.repeat(known, normal.shape[-2], axis=1)
    mean, covariance = (each[(step - 1) % steps] for each in past)
    for at in np.flatnonzero(is_dry.any(axis=0))[::-1]:
        older, dry_below = slice(at + 1, seen), of_sites[at % sites].dry_below[at // sites]
        gain = covariance[at, older] @ np.linalg.pinv(covariance[older, older], hermitian=True)
        expected = mean[at] + (known[..., older] - mean[older]) @ gain
        spread = np.sqrt(max(covariance[at, at] - gain @ covariance[older, at], 1e-6))
        share = ndtr((dry_below - expected) / spread)
        drawn = expected + spread * ndtri(share * ndtr(normal[..., at]))
        drawn = np.clip(drawn, -_MOST_DEVIATIONS, dry_below)
        known[..., at] = np.where(is_dry[:, at, None], drawn, known[..., at])
    return known


def _most(months: StandardisedMonths) -> FloatArray:
    """How far the values of months may be off; those that fall dry are held by their own transform."""
    return np.where(months.falls_dry, ALL_VALUES, _MOST_DEVIATIONS)


def _noise_at_rest(coefficients: FloatArray, variance: FloatArray) -> FloatArray:
    """Deviation of the noise of each step with which, in the long run, each step has a variance, as nearly as may be.

    The variances are linear in those of the noise.
    """
    from scipy.optimize import nnls  # half a second, of which only fitting has need

    alone = np.eye(len(coefficients))[:, :, np.newaxis, np.newaxis]
    of_noise = [at_rest_moments(coefficients[np.newaxis], each)[1][:, 0, 0] for each in alone]
    return np.asarray(np.sqrt(nnls(np.array(of_noise).T, variance)[0]))


def _coefficients(training: Training, months: StandardisedMonths) -> FloatArray:
    """Coefficients of each step, shape (steps, predictors)."""
    flow, before = (np.maximum(each, 0.0) for each in (training.inflow_m3s, training.inflow_before_m3s))
    joined = np.append(False, flow[:-1, -1] == before[1:, 0])
    values, follows = months.values_of_record(flow, joined), np.flatnonzero(joined)
    if len(follows) >= FEWEST_YEARS:
        fitted = MonthlyRegression.of(values, follows)
        if _remembered(fitted.coefficients) < _MOST_REMEMBERED:
            return fitted.coefficients
    earlier = np.roll(months.values(np.roll(before, -1, axis=1)), 1, axis=1)
    earlier[:, 1:] = np.where(months.falls_dry[:-1], values[:, :-1], earlier[:, 1:])
    follows_month = _correlations(values, earlier) if training.years >= FEWEST_YEARS_OF_CORRELATION else 0.0
    coefficients = np.zeros((training.steps, PREDICTORS))
    coefficients[:, 0] = follows_month
    return coefficients


def _correlations(now: FloatArray, before: FloatArray) -> FloatArray:
    """Correlation of each step with the step before, shape (steps,); 0 where one of them never changes."""
    centred = [each - each.mean(axis=0) for each in (now, before)]
    scale = np.sqrt((centred[0] ** 2).sum(axis=0) * (centred[1] ** 2).sum(axis=0))
    both = (centred[0] * centred[1]).sum(axis=0)
    correlations = np.divide(both, scale, out=np.zeros_like(both), where=scale > 0)
    return np.asarray(np.clip(correlations, -_MOST_CORRELATION, _MOST_CORRELATION))


def _transition(coefficients: FloatArray) -> FloatArray:
    """What a regression makes of the last twelve values, the latest first, shape (12, 12)."""
    steps = MONTHS_PER_YEAR
    matrix = np.eye(steps, k=-1)
    matrix[0] = coefficients[2] / steps
    matrix[0, :2] += coefficients[:2]
    return np.asarray(matrix)


def _remembered(coefficients: FloatArray) -> float:
    """Part of the values that is left after a year."""
    year = np.eye(MONTHS_PER_YEAR)
    for each in coefficients:
        year = _transition(each) @ year
    return float(np.abs(np.linalg.eigvals(year)).max())


def at_rest_moments(coefficients: FloatArray, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of the year that ends with each step, of sites that follow themselves, their noise together.

    Parameters
    ----------
    coefficients : ndarray, shape (sites, steps, predictors)
    noise : ndarray, shape (steps, sites, sites)
        Covariance.

    Returns
    -------
    means, covariances : ndarray, shape (steps, 12 x sites) and (steps, 12 x sites, 12 x sites)
        The latest month first, and in each the sites.
    """
    sites, steps = coefficients.shape[:2]
    matrices = [np.array([_transition(each) for each in of_step]) for of_step in coefficients.swapaxes(0, 1)]
    mean, covariance = np.zeros((sites, steps)), np.zeros((sites, sites, steps, steps))
    for _ in range(_YEARS_TO_REST):
        begun = covariance
        means, covariances = [], []
        for matrix, constant, of_noise in zip(matrices, coefficients[:, :, 3].T, noise, strict=True):
            mean = (matrix @ mean[:, :, np.newaxis])[:, :, 0]
            covariance = matrix[:, np.newaxis] @ covariance @ matrix.swapaxes(1, 2)
            mean[:, 0] += constant
            covariance[:, :, 0, 0] += of_noise
            means.append(mean.copy())
            covariances.append(covariance.copy())
        if np.abs(covariance - begun).max() < 1e-9:
            break
    size = sites * steps
    of_months = np.array(covariances).transpose(0, 3, 1, 4, 2)
    return np.array(means).swapaxes(1, 2).reshape(steps, size), of_months.reshape(steps, size, size)


#: Parts of the months that lie below the edges of classes: narrow ones for droughts and floods, which decide most.
EDGES = (0.01, 0.05, 0.15, 0.35, 0.6, 0.8, 0.93, 0.985)
#: Years that the classes are counted in: so many members of so many consecutive years.
_MEMBERS, _YEARS = 1000, 20
_SEED = 7
#: Years that the months' own frequencies of classes count for beside the transitions seen.
CLIMATOLOGY_YEARS = 1.0


def inflow_chain(training: Training) -> tuple[FloatArray, FloatArray]:
    """Inflow classes of each step, and the probability of each after each class of the step before.

    The transitions seen are mixed with the frequency of the classes, as if `CLIMATOLOGY_YEARS` more had been seen after
    each class, so that every class may follow.

    Returns
    -------
    classes : ndarray, shape (steps, classes)
        Mean inflow of each class, not falling; over all classes, the mean of the training years.
    transitions : ndarray, shape (steps, classes, classes)
        By step, class of the step before and class.
    """
    # Years of the inflow model, scaled to the mean of each month, and the month before each month of them.
    steps = training.steps
    uniform = uniform_numbers(_SEED, 0, _MEMBERS, 1, steps + 1 + steps * _YEARS)[:, 0]
    made = InflowModel.of(training).futures(-1, np.empty((1, 0)), uniform)[0]
    now, before = (flows.reshape(-1, steps) for flows in (made[:, 1:], made[:, :-1]))
    mean, wanted = now.mean(axis=0), np.maximum(training.inflow_m3s, 0.0).mean(axis=0)
    factor = np.divide(wanted, mean, out=np.ones_like(mean), where=mean > 0)
    now, before = now * factor, before * np.roll(factor, 1)
    edges, count = np.quantile(now, EDGES, axis=0).T, len(EDGES) + 1
    classes, transitions = np.empty((steps, count)), np.empty((steps, count, count))
    for step in range(steps):
        place = np.searchsorted(edges[step], now[:, step])
        of_before = np.searchsorted(edges[step - 1], before[:, step])
        share, total = (np.bincount(place, weights, count) / len(now) for weights in (None, now[:, step]))
        filled = np.flatnonzero(share)  # a class that no year is in lies between those beside it
        classes[step] = np.interp(np.arange(count), filled, total[filled] / share[filled])
        seen = np.zeros((count, count))
        np.add.at(seen, (of_before, place), 1.0)
        seen += CLIMATOLOGY_YEARS * share
        transitions[step] = seen / seen.sum(axis=1, keepdims=True)
    return classes, transitions
