"""Flows as standardised values of nearly no skew, month by month, and back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reservoir.rules.base.training import FloatArray

#: Standard deviations beyond which no value is let: one in 1e9 normal values is.
_MOST_DEVIATIONS = 6.0
#: Beyond which no flow of a month that falls dry is let: fewer years tell less of its tail.
_MOST_DEVIATIONS_WET = 3.0
#: Part of a month's lowest flow that its lower bound may reach.
_MOST_OF_LOWEST = 0.95
#: Of a month's mean flow: what is not more is a trace of water, and the month fell dry. So is what lies below a gap in
#: the month's flows, of at least this factor, and is not more than this part of the mean.
TRACE, _GAP, _BELOW_GAP = 1e-3, 30.0, 0.1
#: Beyond all values: in place of infinity, in a month that never fell dry, or always.
ALL_VALUES = 10.0
#: Flows above the lower bound, in parts of the mean flow, are not below this, so that every flow has a value.
_LEAST_RELATIVE = 1e-6
#: Of fewer flows the skew says nothing: their cube root is taken, as that of a gamma distribution (Wilson and Hilferty
#: 1931, Proc. Natl. Acad. Sci. 17:684).
_FEWEST_FLOWS, _CUBE_ROOT = 8, 1 / 3
#: A month's fit has the mean of its flows within so many of their standard errors, and at the farthest no more than so
#: many times the largest of them. That of a river that never falls dry stays up to so many times more.
_MOST_ERRORS, _MOST_TIMES, _MOST_MORE = 1.0, 4.0, 3.0
#: Quantiles that the mean of a month is taken over.
_QUANTILES = 4000
#: Rounds in which the values of dry months settle.
_ROUNDS = 25


def ndtr(values: FloatArray | float) -> FloatArray:
    """Probability of less, of normal values."""
    from scipy.special import ndtr as probability  # a quarter of a second: rivers that never fall dry need none

    return np.asarray(probability(values))


def ndtri(probability: FloatArray | float) -> FloatArray:
    """The normal value of a probability of less."""
    from scipy.special import ndtri as quantile

    return np.asarray(quantile(probability))


@dataclass(frozen=True, eq=False)
class StandardisedMonths:
    """The Box-Cox transform of each month (Box and Cox 1964), standardised by its mean and deviation.

    A month that falls dry does so with a probability of its own, that of the normal values below `dry_below`; the rest
    of the normal distribution belongs to the years in which it flows, of which alone the transform is fitted.

    Parameters
    ----------
    exponent : ndarray, shape (steps,)
        From 0, the logarithm (as Kirsch et al. 2013 have it), to 1, the flow itself; chosen so that the transformed
        record has no skew, as nearly as these bounds allow, or, where that makes another mean than the record's or
        floods of many times its largest, the nearest that does not.
    lower_m3s : ndarray, shape (steps,)
        Subtracted before the logarithm is taken, in months whose logarithm is skewed to the right: the lower bound of
        the lognormal distribution of three parameters (Matalas 1967, Water Resour. Res. 3:937-945); else 0.
    scale_m3s, mean, deviation : ndarray, shape (steps,)
        The record's mean flow, where it flows; mean and standard deviation of the transformed record.
    dry_below : ndarray, shape (steps,)
        Values below this are no flow: as many of normal values as years of the record in which the month fell dry.
    apart : bool
        Whether any month was not fitted like those of a river that never falls dry, so that the record's means have to
        be kept by `with_mean`.
    traces : dict of ndarray by step, optional
        What is left in dry years, rising, of months where that is not always nothing.
    made : dict of two ndarrays by step, optional
        In months that fall dry, values as they are made, rising, and the normal value that each stands for.
    """

    exponent: FloatArray
    lower_m3s: FloatArray
    scale_m3s: FloatArray
    mean: FloatArray
    deviation: FloatArray
    dry_below: FloatArray
    apart: bool = False
    traces: dict[int, FloatArray] = field(default_factory=dict)
    made: dict[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @classmethod
    def of(cls, flow_m3s: FloatArray) -> StandardisedMonths:
        """Fit to a record, shape (years, steps); months of a constant flow stay constant."""
        dry = dry_years(flow_m3s)
        flow = np.where(dry.any(axis=0), 1.0, flow_m3s)  # a constant in place of months that are fitted where wet
        scale = flow.mean(axis=0)
        relative = flow / scale
        exponent, lower = np.array([_without_skew(each) for each in relative.T]).T
        values = _transformed(relative - lower, exponent)
        mean, deviation = values.mean(axis=0), values.std(axis=0, ddof=1)
        fitted = np.array([exponent, lower * scale, scale, mean, deviation, np.full(len(scale), -np.inf)])
        most = 1.0 if dry.any() else _MOST_MORE
        tried = [_tried(*each, _MOST_DEVIATIONS_WET)[-1] for each in zip(relative.T, exponent, lower, strict=True)]
        apart = np.flatnonzero(dry.any(axis=0) | (np.array(tried) > most))
        for step in apart:
            fitted[:, step] = _fitted_where_wet(flow_m3s[:, step], dry[:, step])
        left = [np.sort(of_step[of_dry]) for of_step, of_dry in zip(flow_m3s.T, dry.T, strict=True)]
        traces = {step: each for step, each in enumerate(left) if each.any()}
        return replace(cls(*fitted), apart=bool(apart.size), traces=traces)

    def at(self, steps: NDArray[np.integer]) -> StandardisedMonths:
        """The months of these steps, one after another, as the six numbers of each have them."""
        numbers = self.exponent, self.lower_m3s, self.scale_m3s, self.mean, self.deviation, self.dry_below
        return StandardisedMonths(*(each[steps] for each in numbers))

    @cached_property
    def falls_dry(self) -> NDArray[np.bool_]:
        """Months that fell dry in some years of the record, or always, shape (steps,)."""
        return np.asarray(self.dry_below > -ALL_VALUES)

    @cached_property
    def varies(self) -> NDArray[np.bool_]:
        """Months whose values are not always 0, shape (steps,)."""
        return np.asarray(((self.deviation > 0) | self.falls_dry) & (self.dry_below < ALL_VALUES))

    def dry(self, flow_m3s: FloatArray) -> NDArray[np.bool_]:
        """Where a month that falls dry has no more than a trace of its mean flow, shape (..., steps)."""
        if not self.falls_dry.any():
            return np.zeros(np.broadcast_shapes(flow_m3s.shape, self.falls_dry.shape), bool)
        return np.asarray(self.falls_dry & (flow_m3s <= TRACE * self.scale_m3s * ndtr(-self.dry_below)))

    def values(self, flow_m3s: FloatArray) -> FloatArray:
        """Standardised values of flows, shape (..., steps); of a dry month the mean of all below `dry_below`."""
        relative = np.maximum((flow_m3s - self.lower_m3s) / self.scale_m3s, _LEAST_RELATIVE)
        values = _transformed(relative, self.exponent) - self.mean
        values = np.divide(values, self.deviation, out=np.zeros_like(values), where=self.deviation > 0)
        dry = self.dry(flow_m3s)
        for step in np.flatnonzero(self.falls_dry):
            bound, at = self.dry_below[step], (..., step)
            wet = np.clip(values[at], -_MOST_DEVIATIONS_WET, _MOST_DEVIATIONS_WET)
            of_dry = -np.exp(-(bound**2) / 2) / np.sqrt(2 * np.pi) / ndtr(bound)
            values[at] = np.where(dry[at], of_dry, -ndtri(ndtr(-wet) * ndtr(-bound))) if self.varies[step] else 0.0
        return np.asarray(values)

    def values_of_record(self, flow_m3s: FloatArray, follows: NDArray[np.bool_] | None = None) -> FloatArray:
        """Standardised values of the record, shape (years, steps), with which its dry months are normal as all are.

        How dry a dry month was is not known. The dry years of a month have the normal scores below `dry_below`, in an
        order that is drawn given the months beside them, again and again, until all months suit each other (as data
        augmentation; Tanner and Wong 1987, J. Am. Stat. Assoc. 82:528). The numbers are the same for every call.

        Parameters
        ----------
        flow_m3s : ndarray, shape (years, steps)
        follows : ndarray of bool, shape (years,), optional
            Whether a year follows the one before it; by default all do but the first.
        """
        values = self.values(flow_m3s)
        dry = dry_years(flow_m3s) & self.varies
        years, steps = values.shape
        drawn_steps = np.flatnonzero(dry.any(axis=0))
        if not drawn_steps.size:
            return values
        joined = np.arange(years) > 0 if follows is None else follows
        random = np.random.default_rng(0)
        for _ in range(_ROUNDS):
            for step in drawn_steps:
                before, after = values[:, step - 1], values[:, (step + 1) % steps]
                if step == 0:
                    before = np.where(joined, np.roll(before, 1), 0.0)
                if step == steps - 1:
                    after = np.where(np.roll(joined, -1), np.roll(after, -1), 0.0)
                rows = np.flatnonzero(dry[:, step])
                beside = np.stack([before, after], axis=1)
                # Dry years tell nothing of how months follow each other but what was drawn for them.
                gram = beside.T @ beside + len(rows) * np.eye(2)
                expected = beside @ np.linalg.solve(gram, beside.T @ values[:, step])
                spread = (values[:, step] - expected).std()
                order = np.argsort(expected[rows] + spread * random.standard_normal(len(rows)))
                values[rows[order], step] = ndtri((np.arange(len(rows)) + 0.5) / years)
        return values

    def with_mean(self, mean_m3s: FloatArray, values: FloatArray) -> StandardisedMonths:
        """Months scaled so that values as they are made, of shape (..., steps), have given means, of shape (steps,)."""
        made = self.flows(values).reshape(-1, len(mean_m3s)).mean(axis=0)
        factor = np.divide(mean_m3s, made, out=np.ones_like(made), where=made > 0)
        return replace(self, lower_m3s=self.lower_m3s * factor, scale_m3s=self.scale_m3s * factor)

    def as_made(self, values: FloatArray) -> StandardisedMonths:
        """As many dry years as on record, from a method whose values, of shape (..., steps), are not quite normal."""
        rising = np.sort(values.reshape(-1, values.shape[-1]), axis=0)
        normal = ndtri((np.arange(len(rising)) + 0.5) / len(rising))
        pairs = {}
        for step in np.flatnonzero(self.falls_dry):
            distinct, place = np.unique(rising[:, step], return_inverse=True)
            pairs[int(step)] = distinct, np.bincount(place, normal) / np.bincount(place)
        return replace(self, made=pairs)

    def flows(self, values: FloatArray) -> FloatArray:
        """Flows (m3/s) of standardised values, shape (..., steps)."""
        values = values.copy() if self.made else values
        for at, made in self.made.items():
            values[..., at] = np.interp(values[..., at], *made)
        normal, dry = values, values < self.dry_below
        values = np.clip(values, -_MOST_DEVIATIONS, _MOST_DEVIATIONS)
        for at in map(int, np.flatnonzero(self.falls_dry & self.varies)):
            part = np.minimum(ndtr(-values[..., at]) / ndtr(-self.dry_below[at]), 1.0)
            values[..., at] = np.clip(-ndtri(part), -_MOST_DEVIATIONS_WET, _MOST_DEVIATIONS_WET)
        values = self.mean + self.deviation * values
        flows = np.empty_like(values)
        for step, exponent in enumerate(self.exponent):
            flows[..., step] = self.lower_m3s[step] + self.scale_m3s[step] * _inverse(values[..., step], exponent)
        flows[dry] = 0.0
        for at, traces in self.traces.items():
            part = ndtr(normal[..., at]) / ndtr(self.dry_below[at])
            chosen = traces[np.minimum((part * len(traces)).astype(np.int64), len(traces) - 1)]
            flows[..., at] = np.where(dry[..., at], chosen, flows[..., at])
        return flows


def dry_years(flow_m3s: FloatArray) -> NDArray[np.bool_]:
    """Where no more than a trace of water flows in the months of a record, shape (years, steps)."""
    mean = flow_m3s.mean(axis=0)
    rising = np.sort(flow_m3s, axis=0)
    gaps = (rising[1:] > _GAP * rising[:-1]) & (rising[:-1] <= _BELOW_GAP * mean)
    return np.asarray(flow_m3s <= np.where(gaps, rising[:-1], TRACE * mean).max(axis=0, initial=0.0))


def _transformed(relative: FloatArray, exponent: FloatArray) -> FloatArray:
    logarithmic = exponent == 0
    power = np.where(logarithmic, 1.0, exponent)
    return np.where(logarithmic, np.log(relative), (relative**power - 1) / power)


def _inverse(values: FloatArray, exponent: float) -> FloatArray:
    return np.exp(values) if exponent == 0 else np.maximum(1 + exponent * values, 0) ** (1 / exponent)


def _fitted_where_wet(flow_m3s: FloatArray, dry: NDArray[np.bool_]) -> tuple[float, ...]:
    """The six numbers of a month, fitted to the years in which it flows."""
    wet, bound = flow_m3s[~dry], float(ndtri(dry.mean()))
    if not wet.size:
        return 1.0, 0.0, 1.0, 0.0, 0.0, bound
    scale = wet.mean()
    first, lower = _without_skew(wet / scale) if wet.size >= _FEWEST_FLOWS else (_CUBE_ROOT, 0.0)
    reach = _MOST_DEVIATIONS_WET if dry.any() else _MOST_DEVIATIONS
    for exponent in (first, *np.arange(first, 1.0, 0.05)[1:], 1.0):
        mean, deviation, off = _tried(wet / scale, exponent, lower, reach)
        if off <= 1:
            break
    return exponent, lower * scale, scale, mean, deviation, bound


def _tried(relative: FloatArray, exponent: float, lower: float, reach: float) -> tuple[float, float, float]:
    """Mean and deviation of transformed flows of mean 1, and how far off what they make is: up to 1 is sound."""
    values = _transformed(relative - lower, np.asarray(exponent))
    mean, deviation = values.mean(), values.std(ddof=1) if len(values) > 1 else 0.0
    normal = np.clip(ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES), -reach, reach)
    made = lower + _inverse(mean + deviation * normal, exponent)
    largest = lower + float(_inverse(mean + deviation * reach, exponent))
    error = max(_MOST_ERRORS * relative.std() / np.sqrt(max(len(relative) - 1, 1)), 1e-6)
    off = max(abs(made.mean() - 1) / error, largest / made.mean() / (_MOST_TIMES * relative.max()))
    return mean, deviation, off


def _without_skew(relative: FloatArray) -> tuple[float, float]:
    """The exponent and the lower bound that leave no skew; the bounds that are nearest to it if there are none."""
    from scipy.optimize import brentq  # half a second, of which only fitting has need

    def skew(exponent: float, lower: float = 0.0) -> float:
        values = _transformed(relative - lower, np.array(exponent))
        deviations = values - values.mean()
        return float((deviations**3).sum())

    lowest = float(relative.min())
    if relative.max() == lowest:
        return 1.0, 0.0
    if skew(0.0) < 0:
        return 1.0 if skew(1.0) <= 0 else float(brentq(skew, 0.0, 1.0)), 0.0
    most = _MOST_OF_LOWEST * lowest
    if skew(0.0, most) >= 0:
        return 0.0, most
    return 0.0, float(brentq(lambda lower: skew(0.0, lower), 0.0, most))
