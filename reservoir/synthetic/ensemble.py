"""An ensemble of synthetic inflow from a record."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from reservoir.errors import InputError, Mistake, shortened
from reservoir.hydro.calendar import HOURS_OF_MONTHS, Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.rules.inflow_model import uniform_numbers
from reservoir.rules.standardised_months import dry_years
from reservoir.synthetic import METHODS, method_named
from reservoir.synthetic.methods import FloatArray, FlowModel

#: Days of the months of a mean year, January first.
_MEAN_DAYS = np.array(HOURS_OF_MONTHS) / 24
_YEAR_DAYS = float(_MEAN_DAYS.sum())
#: Farthest shift; more is a shift the other way.
MOST_DAYS = 183
#: Powers of a month's flows that are tried for a coefficient of variation.
_POWERS = (0.01, 50.0)
#: In months that fall dry: how often they do hardly leaves the coefficient of variation to the flows of wet years, and
#: large powers would make floods of the few.
_POWERS_WHERE_DRY = (0.2, 3.0)

_PERCENT = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*%")
_DAYS = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*d")


@dataclass(frozen=True)
class Adjustments:
    """What a climate scenario changes.

    Parameters
    ----------
    mean, variation : float
        Factors of the mean flow, and of the coefficient of variation of every month.
    shift_days : float
        By how much the season comes later; earlier if negative.
    """

    mean: float = 1.0
    variation: float = 1.0
    shift_days: float = 0.0

    @classmethod
    def of(cls, mean: str | None = None, variation: str | None = None, shift: str | None = None) -> Adjustments:
        """Read adjustments as they are typed: ``-10%``, ``+15%``, ``15d``.

        Raises
        ------
        InputError
            With every one that is not understood.
        """
        mistakes: list[Mistake] = []

        def read(column: str, text: str | None, pattern: re.Pattern[str], expected: str, unit: str) -> float:
            number = pattern.fullmatch((text or "").strip())
            value = float(number[1]) if number else 0.0
            sound = abs(value) <= MOST_DAYS if unit == "d" else math.isfinite(value) and -100 < value <= 1000
            if text is not None and not (number and sound):
                mend = f"write a number and {unit}"
                mistakes.append(Mistake("is not understood", expected, mend, column=column, value=text))
            return value

        percentage = "a percentage above -100% and up to +1000%, such as -10%"
        percents = [read(name, text, _PERCENT, percentage, "%") for name, text in (("mean", mean), ("cv", variation))]
        days = read("shift_season", shift, _DAYS, f"days from -{MOST_DAYS}d to {MOST_DAYS}d, such as 15d", "d")
        if mistakes:
            raise InputError(mistakes)
        of_mean, of_variation = (1 + percent / 100 for percent in percents)
        return cls(of_mean, of_variation, days)

    def __str__(self) -> str:
        factors = {"mean": self.mean, "coefficient of variation": self.variation}
        words = [f"{name} {100 * (factor - 1):+.3g} %" for name, factor in factors.items() if factor != 1]
        return ", ".join(words + ([f"season shifted by {self.shift_days:+.3g} days"] if self.shift_days else []))

    @property
    def whole_months(self) -> int:
        """Months that the flows are moved by; the rest of the shift is interpolated."""
        return round(self.shift_days / (_YEAR_DAYS / 12))


@dataclass(frozen=True, eq=False)
class FlowAdjuster:
    """Adjustments fitted to a record, so that they are the same for every year.

    Parameters
    ----------
    adjustments : Adjustments
    power, factor : ndarray, shape (steps,)
        Flows of each step become ``factor * flow ** power``: the record's mean stays, its coefficient of variation
        changes as asked. Flows stay in their order, and none becomes negative.
    shifted : ndarray, shape (steps,)
        Factors of the flows that were moved by whole months.
    mixed : ndarray, shape (steps, 3), optional
        Of a river that falls dry, in place of these factors, which have nothing to multiply in a dry month: what the
        month before the moved one, that month and the one after it give to each step.
    wet_alone : ndarray of bool, shape (steps,)
        Months whose dry years leave no room for another coefficient of variation: that of their wet years changes.
    """

    adjustments: Adjustments
    power: FloatArray
    factor: FloatArray
    shifted: FloatArray
    mixed: FloatArray | None
    wet_alone: NDArray[np.bool_]

    @classmethod
    def of(
        cls, adjustments: Adjustments, flow_m3s: FloatArray, first_month: int, before_fit: bool = False
    ) -> FlowAdjuster:
        """Fit to a record, shape (years, 12), of years that begin in `first_month`.

        With `before_fit`, it is adjusted as one that falls dry.

        Raises
        ------
        InputError
            If a month cannot vary as much as asked.
        """
        mean = flow_m3s.mean(axis=0)
        scale = np.where(mean > 0, mean, 1.0)
        relative = flow_m3s / scale
        powers = [_power(each, adjustments.variation) for each in relative.T]
        power, wet_alone = np.array([each[0] for each in powers]), np.array([each[1] for each in powers])
        of_power = (relative**power).mean(axis=0)
        factor = adjustments.mean * scale ** (1 - power) / np.where(of_power > 0, of_power, 1.0)
        moved = np.roll(mean, adjustments.whole_months)
        days = np.roll(_MEAN_DAYS, 1 - first_month)
        shifted = shifted_regime(mean, days, adjustments.shift_days) / np.where(moved > 0, moved, 1.0)
        if not (before_fit or dry_years(flow_m3s).any()):
            return cls(adjustments, power, factor, shifted, None, wet_alone)
        ends = np.concatenate([[0.0], np.cumsum(np.tile(days, 3))])
        step = np.arange(len(days), 2 * len(days))[:, np.newaxis]
        source, days_later = step - adjustments.whole_months + np.arange(-1, 2), adjustments.shift_days
        first = np.maximum(ends[step] - days_later, ends[source])
        covered = np.minimum(ends[step + 1] - days_later, ends[source + 1]) - first
        mixed = np.maximum(covered, 0.0) / days[:, np.newaxis]
        return cls(adjustments, power, factor, shifted, mixed, wet_alone)

    def words(self, names: Sequence[str]) -> str:
        """What is adjusted, for a caveat; empty if nothing is. `names` are those of the steps."""
        months = [name for name, alone in zip(names, self.wet_alone, strict=True) if alone]
        alone = f" (of {', '.join(months)} in wet years alone, as far as they can)" if months else ""
        return f"{self.adjustments}{alone}"

    @property
    def before_fit(self) -> bool:
        """Whether the record is adjusted before a method is fitted to it, and not what the method makes.

        So it is where the river falls dry: floods beyond the few on record, raised to a power, would be any size.
        """
        return self.mixed is not None

    @property
    def margin_years(self) -> int:
        """Years that are needed before the first and behind the last, for months that are moved in from there."""
        return 1 if self.adjustments.whole_months or (self.before_fit and self.adjustments.shift_days) else 0

    def adjusted(self, flow_m3s: FloatArray) -> FloatArray:
        """Adjusted flows of shape (members, years, steps), from those and `margin_years` more at both ends."""
        members, years, steps = flow_m3s.shape
        margin = self.margin_years
        flow = flow_m3s
        if self.adjustments.variation != 1 or self.adjustments.mean != 1:
            flow = self.factor * flow_m3s**self.power
        if not self.adjustments.shift_days:
            return flow
        first = margin * steps - self.adjustments.whole_months
        stop = first + (years - 2 * margin) * steps
        flow = flow.reshape(members, -1)
        if self.mixed is None:
            return flow[:, first:stop].reshape(members, -1, steps) * self.shifted
        beside = [flow[:, first + by : stop + by].reshape(members, -1, steps) for by in (-1, 0, 1)]
        return np.asarray(sum(part * each for part, each in zip(self.mixed.T, beside, strict=True)))

    def of_record(self, flow_m3s: FloatArray) -> FloatArray:
        """A record adjusted in the same way, shape (years, steps); months are moved in from its other end."""
        margin = self.margin_years
        rows = np.arange(-margin, len(flow_m3s) + margin) % len(flow_m3s)
        return np.asarray(self.adjusted(flow_m3s[rows][np.newaxis])[0])


def shifted_regime(mean_m3s: FloatArray, days: FloatArray, shift_days: float) -> FloatArray:
    """Mean flows of the steps of a year, of which each day comes `shift_days` later; the year's volume is kept.

    Parameters
    ----------
    mean_m3s, days : ndarray, shape (steps,)
        Mean flow and length of each step.
    shift_days : float
        Within a year.
    """
    ends = np.concatenate([[0.0], np.cumsum(days)])
    volumes = np.concatenate([[0.0], np.cumsum(mean_m3s * days)])
    year, volume = ends[-1], volumes[-1]
    three_ends = np.concatenate([ends[:-1] - year, ends[:-1], ends + year])
    three_volumes = np.concatenate([volumes[:-1] - volume, volumes[:-1], volumes + volume])
    return np.asarray(np.diff(np.interp(ends - shift_days, three_ends, three_volumes)) / days)


def _power(relative: FloatArray, variation: float) -> tuple[float, bool]:
    """The power of a month's flows that multiplies their coefficient of variation, or that of wet years alone."""

    def cv(power: float, flow: FloatArray) -> float:
        values = flow**power
        return float(values.std() / values.mean()) if values.max(initial=0.0) > 0 else 0.0

    if variation == 1 or cv(1.0, relative) == 0:
        return 1.0, False
    wet = relative[relative > 0]
    falls_dry = len(wet) < len(relative)
    bounds = _POWERS_WHERE_DRY if falls_dry else _POWERS
    for flow in (relative, wet):
        now = cv(1.0, flow)
        least, most = (cv(power, flow) / now if now else 1.0 for power in bounds)
        if least <= variation <= most and now:
            power = brentq(lambda power, flow, now: cv(power, flow) - variation * now, *bounds, args=(flow, now))
            return float(power), flow is wet
        if not falls_dry:
            problem = "a month of the record cannot vary as much as asked"
            expected = f"{100 * (least - 1):+.0f}% to {100 * (most - 1):+.0f}%"
            raise InputError(problem, expected, "choose a smaller change", column="cv")
    return float(np.clip(variation, *bounds)), True


#: Years of a record, below which nothing is fitted to it.
LEAST_YEARS = 15
#: No date is written with more than four digits.
_LAST_YEAR = 9999
#: Years that are made at once: what a method takes of memory on the way.
_BLOCK_YEARS = 100_000
#: Characters of a caveat: readers of inflow files take so many (see `reservoir.io.records.table`), and all of it
#: stands on figures.
MOST_CAVEAT = 900


@dataclass(frozen=True, eq=False)
class SyntheticInflow:
    """A method fitted to a record: makes any part of an ensemble without end.

    Parameters
    ----------
    record : Inflow
    method : str
        A name of `METHODS`.
    model : FlowModel
    adjuster : FlowAdjuster
    seed : int
    """

    record: Inflow
    method: str
    model: FlowModel
    adjuster: FlowAdjuster
    seed: int

    def flows(self, first: int, stop: int, years: int) -> FloatArray:
        """Flows (m3/s) of the members `first` up to `stop`, shape (stop - first, years, steps).

        A member is the same whichever others are made, and its first years are, whichever follow.
        """
        margins = 0 if self.adjuster.before_fit else 2 * self.adjuster.margin_years
        drawn = years + self.model.lead_years + margins
        made = self.model.flows(uniform_numbers(self.seed, first, stop, drawn, self.record.steps))
        return made if self.adjuster.before_fit else self.adjuster.adjusted(made)

    def ensemble(self, members: int, years: int | None = None) -> Inflow:
        """The first members, of as many years as the record or of `years`; see `laid_out`."""
        years = self.record.years if years is None else years
        calendar, blocks = laid_out(self.record, members, years)
        parts = [self.flows(first, stop, years) for first, stop in blocks]
        return Inflow(np.concatenate(parts).reshape(-1, self.record.steps), calendar, caveat=self.caveat)

    @property
    def calendar(self) -> Calendar:
        """The calendar of the record."""
        return self.record.calendar

    @property
    def sites(self) -> Mapping[str, SyntheticInflow]:
        """The method at each site: at the only one, which has no name."""
        return {"": self}

    def flows_of_sites(self, first: int, stop: int, years: int) -> Mapping[str, FloatArray]:
        """The flows of members (`flows`) by the name of the site."""
        return {"": self.flows(first, stop, years)}

    @property
    def methods(self) -> Sequence[str]:
        """The methods that could be fitted to the same."""
        return list(METHODS)

    def by(self, method: str) -> SyntheticInflow:
        """Another method, fitted to the same."""
        return synthetic_inflow(self.record, method, seed=self.seed, adjustments=self.adjuster.adjustments)

    @property
    def adjusted_record(self) -> FloatArray:
        """The flows of the record (m3/s), adjusted as the ensemble is, shape (years, steps)."""
        return self.adjuster.of_record(self.record.flow_m3s)

    @property
    def caveat(self) -> str:
        """What every file and figure says of the ensemble."""
        labels, source = self.record.labels, Path(self.record.source).name or "a record"
        text = f"synthetic inflow by {self.method}, seed {self.seed}, from {source} ({labels[0]} to {labels[-1]})"
        if words := self.adjuster.words(self.record.calendar.step_names):
            text += f", adjusted: {words}"
        if self.record.caveat:
            text += f"; that record: {self.record.caveat}"
        return shortened(text, MOST_CAVEAT)


def laid_out(record: Inflow, members: int, years: int) -> tuple[Calendar, list[tuple[int, int]]]:
    """The calendar of members, which begin as their record does, and the first and last of those made at once.

    Raises
    ------
    InputError
        If their last year has more than four digits.
    """
    first_year = record.calendar.first_year
    if first_year + years > _LAST_YEAR:
        problem, expected = "a member is too long", f"at most {_LAST_YEAR - first_year} years"
        raise InputError(problem, expected, "make more members", column="member_years", value=years)
    calendar = Calendar(first_year, members * years, record.calendar.first_month, years_each=years)
    block = max(_BLOCK_YEARS // years, 1)
    return calendar, [(first, min(first + block, members)) for first in range(0, members, block)]


def synthetic_inflow(
    record: Inflow, method: str, *, seed: int = 1, adjustments: Adjustments | None = None, before_fit: bool = False
) -> SyntheticInflow:
    """Fit a method of synthetic inflow to a record.

    Parameters
    ----------
    record : Inflow
        Of months, at least `LEAST_YEARS` years.
    method : str
        A name of `METHODS`.
    seed : int
        The same seed gives the same flows.
    adjustments : Adjustments, optional
        Of the climate; none by default.
    before_fit : bool
        Adjust the record in any case, and not what the method makes.

    Raises
    ------
    InputError
        If the method is unknown, the record is too short or an ensemble, or a month cannot vary as much as asked.
    """
    chosen = method_named(method)
    record.require_months("synthetic inflow")
    if record.calendar.is_ensemble:
        problem, mend = "the inflow has members", "give the record that the ensemble was made from"
        raise InputError(problem, "one record", mend, file=record.source)
    if record.years < LEAST_YEARS:
        problem, expected = "the record is too short to derive synthetic inflow from", f"at least {LEAST_YEARS} years"
        mend = "extend the record, for example with that of a neighbouring gauge"
        raise InputError(problem, expected, mend, file=record.source, value=record.years)
    flow = np.asarray(record.flow_m3s)
    if flow.min() < 0:
        problem, mend = "the record has negative flows", "set them to zero (--negative zero)"
        raise InputError(problem, "flows of 0 m3/s or more", mend, file=record.source, value=float(flow.min()))
    adjuster = FlowAdjuster.of(adjustments or Adjustments(), flow, record.calendar.first_month, before_fit)
    fitted = chosen.fit(adjuster.of_record(flow) if adjuster.before_fit else flow)
    return SyntheticInflow(record, method, fitted, adjuster, seed)
