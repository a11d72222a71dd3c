"""What an inflow is, before anything is planned: means, outliers against its own months, and its reservoir's size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR, SECONDS_PER_DAY, TimeStep
from reservoir.hydro.commitments import is_committed, surely_hm3, unkeepable
from reservoir.hydro.inflow import ASSUMED, FileRows, Inflow
from reservoir.hydro.power import generation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import SI, UnitSystem, UnitText
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3
from reservoir.text.quantities import counted, typeset_unit

FloatArray = NDArray[np.float64]

#: Years from which values of a calendar month can be compared with each other.
LEAST_YEARS = 8
#: Tukey's fence of values far out, in interquartile ranges, and the least such range of a flow's logarithm.
FENCE, LEAST_SPREAD = 3.0, 0.1
#: Parts of the turbines' capacity below and above which a mean inflow is doubted whose unit nobody gave; those that
#: fit, the usual one, and units that are named.
_TOO_LITTLE, _TOO_MUCH, _FITS, _USUAL, _MOST_UNITS = 0.06, 5.0, (0.1, 2.0), 0.5, 3
#: Storages and releases at which the turbines are looked at.
_STORAGES, _RELEASES = 25, 200


@dataclass(frozen=True)
class Outlier:
    """A value that lies far from the others of its calendar month: its flow, and the median of that month.

    `year` is the water year, and the member of an ensemble; `place` the year and the step in the inflow.
    """

    year: str
    month: str
    flow_m3s: float
    median_m3s: float
    place: tuple[int, int]

    def sentence(self, units: UnitSystem) -> str:
        """What it is, with flows in some units."""
        usual = f"the median {self.month} has {units.number(self.median_m3s, 'm3/s')}"
        return f"{self.month} of {self.year}: {units.stated(self.flow_m3s, 'm3/s')}, {usual}"


@dataclass(frozen=True)
class ReservoirSize:
    """A reservoir beside its inflow."""

    #: Between the lowest and the highest storage of any month.
    active_storage_hm3: float
    #: That storage, in mean annual inflows; None of a record without inflow.
    storage_years: float | None
    #: The largest discharge of the turbines at any storage, and the mean inflow over it: None if that is 0.
    turbine_capacity_m3s: float
    inflow_fraction: float | None

    def sentences(self, units: UnitSystem) -> tuple[str, ...]:
        """What these say, in some units."""
        years = self.storage_years
        carries = " - a year by itself says little, see --horizon record" if years is not None and years >= 1 else ""
        inflows = "" if years is None else f", {years:.3g} mean annual inflows{carries}"
        fraction = "far beyond" if self.inflow_fraction is None else f"{self.inflow_fraction:.0%} of"
        active, capacity = units.stated(self.active_storage_hm3, "hm3"), units.stated(self.turbine_capacity_m3s, "m3/s")
        return (
            f"active storage {active}{inflows}",
            f"mean inflow {fraction} the turbines' capacity of {capacity}",
        )


class Stretch(NamedTuple):
    """Rows of a record, one after another, that are all alike: the first and the last, their number and their flow.

    `usual_m3s` is the median of their calendar months, of the rows in which the river flows.
    """

    first: str
    last: str
    rows: int
    flow_m3s: float = 0.0
    usual_m3s: float = 0.0

    @property
    def name(self) -> str:
        """When they were."""
        return self.first if self.first == self.last else f"{self.first} to {self.last}"


#: Rows of each step from which equal ones are looked at. One stretch must be so many times longer than all others of
#: the record but for so many, or one in a hundred; and a value of fewer units of the last digit may stay for long.
_LEAST_EQUAL, _LONGER, _AT_ODDS, _COARSE = {TimeStep.MONTH: 4, TimeStep.TEN_DAYS: 5, TimeStep.WEEK: 5}, 3.0, 2, 5.0
_LEAST_EQUAL_DAYS = 10
#: A month is wet if its other rows, so many at least, are zero at most so often; and the flow before or after a zero is
#: no trickle from so large a part of the usual one on: rivers fall dry by and by.
_LEAST_OTHERS, _SELDOM, _TRICKLE = 3, 0.25, 0.2
#: A river that is dry more often than this is so in any month.
_INTERMITTENT = 0.5


def _stretches(alike: NDArray[np.bool_]) -> NDArray[np.int64]:
    """First and last place of rows that are like the ones before them, shape (stretches, 2)."""
    begins = np.flatnonzero(~alike)
    return np.stack([begins, np.append(begins[1:], len(alike)) - 1], axis=1)


def _months_of(rows: FileRows) -> NDArray[np.int64]:
    """Calendar month of each row, from 0."""
    return np.asarray(rows.starts.astype("datetime64[M]").astype(np.int64) % MONTHS_PER_YEAR)


def _described(rows: FileRows, places: Iterable[tuple[int, int]]) -> tuple[Stretch, ...]:
    """Stretches by the places of their first and last rows."""
    months, usual, stretches = _months_of(rows), dict[bytes, float](), list[Stretch]()
    for first, last in places:
        within = np.unique(months[first : last + 1])
        if (key := within.tobytes()) not in usual:
            flowing = rows.flow_m3s[np.isin(months, within) & (rows.flow_m3s > 0)]
            usual[key] = float(np.median(flowing)) if len(flowing) else 0.0
        begin, end = map(str, rows.starts[[first, last]])
        stretches.append(Stretch(begin, end, last - first + 1, float(rows.flow_m3s[first]), usual[key]))
    return tuple(stretches)


def _equal_rows(rows: FileRows) -> NDArray[np.int64]:
    """Stretches of equal values, as `_stretches` has them; a hole between two rows ends one."""
    steps = np.diff(rows.starts).astype(np.int64)
    usual = float(np.median(steps)) if len(steps) else 0.0
    within = steps <= max(usual, 1.0) * (1.5 if rows.step is not TimeStep.TEN_DAYS else 1.2)
    return _stretches(np.append(False, (np.diff(rows.flow_m3s) == 0) & within))


@dataclass(frozen=True, eq=False)
class InflowCheck:
    """An inflow, and the reservoir that it may be planned for; what reservoirs above can store."""

    inflow: Inflow
    reservoir: Reservoir | None = None
    above_hm3: float = 0.0

    @cached_property
    def annual_hm3(self) -> FloatArray:
        """Volume of each water year (hm3), shape (years,)."""
        return np.asarray((self.inflow.flow_m3s * self.inflow.calendar.hm3_per_m3s).sum(axis=1))

    @cached_property
    def outliers(self) -> tuple[Outlier, ...]:
        """Values outside Tukey's fence of the logarithms of their calendar month, the furthest first."""
        flow = self.inflow.flow_m3s
        if self.inflow.years < LEAST_YEARS:
            return ()
        median = np.median(flow, axis=0)
        size = np.log(np.maximum(flow, 1e-3 * np.maximum(median, 1e-9)))
        low, high = np.percentile(size, [25, 75], axis=0)
        spread = np.maximum(high - low, LEAST_SPREAD)
        beyond = np.maximum(low - size, size - high) / spread
        places = np.argwhere(beyond > FENCE)
        order = np.argsort(-beyond[tuple(places.T)], kind="stable")
        labels, months = self.inflow.labels, self.inflow.calendar.step_names
        return tuple(
            Outlier(labels[year], months[step], float(flow[year, step]), float(median[step]), (year, step))
            for year, step in places[order].tolist()
        )

    @cached_property
    def rows(self) -> FileRows | None:
        """The rows of the file, or the steps where there is none; None of an ensemble."""
        inflow, calendar = self.inflow, self.inflow.calendar
        if inflow.rows is not None or inflow.members is not None:
            return inflow.rows
        unit = "M" if calendar.step is TimeStep.MONTH else "D"
        return FileRows(calendar.starts.ravel().astype(f"datetime64[{unit}]"), inflow.flow_m3s.ravel(), calendar.step)

    @cached_property
    def zeros(self) -> tuple[Stretch, ...]:
        """Rows of exactly 0 in months in which the river flows, and where it did not fall dry by and by."""
        rows = self.rows
        if rows is None or (rows.flow_m3s == 0).mean() > _INTERMITTENT:
            return ()
        flow, months = rows.flow_m3s, _months_of(rows)
        count, dry = (np.bincount(months[which], minlength=MONTHS_PER_YEAR) for which in (slice(None), flow == 0))
        wet = list[tuple[int, int]]()
        for first, last in _equal_rows(rows).tolist():
            if flow[first] == 0:
                within, length = np.unique(months[first : last + 1]), last - first + 1
                others, dry_others = int(count[within].sum()) - length, int(dry[within].sum()) - length
                if others >= _LEAST_OTHERS and dry_others <= _SELDOM * others:
                    wet.append((first, last))
        beside = (max(flow[max(first - 1, 0)], flow[min(last + 1, len(flow) - 1)]) for first, last in wet)
        zeros = zip(_described(rows, wet), beside, strict=True)
        return tuple(zero for zero, flow_m3s in zeros if flow_m3s >= _TRICKLE * zero.usual_m3s > 0)

    @cached_property
    def stuck(self) -> tuple[Stretch, ...]:
        """Values that stay the same far longer than others of the record do.

        None of these are zeros, values of a few units of the last digit, which a small river may keep, and a value that
        comes back and stays, such as a minimum release from above.
        """
        rows = self.rows
        if rows is None or len(rows.starts) < 2:
            return ()
        equal, flow = _equal_rows(rows), rows.flow_m3s
        lengths, values = equal[:, 1] - equal[:, 0] + 1, flow[equal[:, 0]]
        least = _LEAST_EQUAL.get(rows.step, _LEAST_EQUAL_DAYS * rows.per_day)
        others = np.sort(lengths)[: -max(_AT_ODDS, len(lengths) // 100)]
        long = lengths >= max(least, _LONGER * int(others.max(initial=1)))
        gaps = np.diff(np.unique(flow))
        digit = float(gaps[gaps > 1e-6 * np.abs(flow).max()].min(initial=np.inf))
        back = {value for value in values[long].tolist() if (values[lengths >= least] == value).sum() > 1}
        long &= (values > _COARSE * digit) & ~np.isin(values, [*back])
        return _described(rows, equal[long].tolist())

    @cached_property
    def gaps(self) -> tuple[Stretch, ...]:
        """Days of these years that the file has no value of, where its rows are those of days or hours."""
        rows, calendar = self.rows, self.inflow.calendar
        if rows is None or not len(rows.days):
            return ()
        begin, end = calendar.starts[0, 0].astype("datetime64[D]"), calendar.edges[-1, -1].astype("datetime64[D]")
        within = rows.days[(rows.days >= begin) & (rows.days < end)]
        days = np.concatenate([[begin - 1], within, [end]])
        holes = np.flatnonzero(np.diff(days).astype(np.int64) > 1).tolist()
        ends = ((days[at] + 1, days[at + 1] - 1) for at in holes)
        return tuple(Stretch(str(first), str(last), int((last - first).astype(np.int64)) + 1) for first, last in ends)

    @cached_property
    def years_by_first_month(self) -> dict[int, int]:
        """Whole water years of the file by the calendar month in which they begin; none of an ensemble."""
        rows = self.rows
        if rows is None:
            return {}
        lacking = self.inflow.reading.get("missing_days", 0)
        months = rows.starts.astype("datetime64[M]")
        first, last = (int(month) for month in months[[0, -1]].astype(np.int64))
        if rows.step is not TimeStep.MONTH:
            last_day = rows.starts[-1] + {TimeStep.DAY: 0, TimeStep.WEEK: 6}.get(rows.step, 7)
            first += int((rows.starts[0] - months[0]).astype(np.int64)) > lacking
            next_month = (last_day.astype("datetime64[M]") + 1).astype("datetime64[D]")
            last = int(last_day.astype("datetime64[M]").astype(np.int64))
            last -= int((next_month - last_day).astype(np.int64)) - 1 > lacking
        return {
            month: (last + 1 - first - (month - 1 - first) % MONTHS_PER_YEAR) // MONTHS_PER_YEAR
            for month in range(1, 13)
        }

    @property
    def all_doubts(self) -> tuple[str, ...]:
        """Doubts of the unit, and of commitments at the reservoir's own horizon."""
        return (*self.doubts, *self._commitment_doubts())

    def _commitment_doubts(self) -> Iterator[str]:
        """In how many years the annual release cannot be kept whatever is done, if there are any."""
        if self.reservoir is None or not is_committed(self.reservoir):
            return
        missing, least = unkeepable(self.reservoir, self.annual_hm3, self.above_hm3), surely_hm3(self.reservoir)
        short, worst = int((missing > 0).sum()), int(missing.argmax())
        if short:
            yield UnitText(
                lambda units: (
                    f"the annual release of {units.stated(least, 'hm3')} is more than inflow and storage have in "
                    f"{short:,} of {counted(len(missing))}, by {units.stated(float(missing[worst]), 'hm3', ',.4g')} in "
                    f"{self.inflow.labels[worst]}; lower it in [commitments], or check the unit of the inflow"
                )
            )

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Why the unit may be another than the one that was assumed, and which ones would fit, if it is doubtful."""
        if self.inflow.unit_from != ASSUMED or self.size is None:
            return ()
        fraction, capacity = self.size.inflow_fraction, self.size.turbine_capacity_m3s
        if fraction is None or _TOO_LITTLE <= fraction <= _TOO_MUCH:
            return ()
        hm3 = float(np.mean(self.inflow.calendar.hm3_per_m3s))
        sizes = {name: size for name, size in FLOW_M3S.items() if name != self.inflow.unit}
        sizes |= {name: size / hm3 for name, size in VOLUME_HM3.items()}
        sizes |= {f"{name}/day": size * 1e6 / SECONDS_PER_DAY for name, size in VOLUME_HM3.items()}
        fits = {size: name for name, size in reversed(sizes.items()) if _FITS[0] <= fraction * size <= _FITS[1]}
        best = sorted(fits, key=lambda size: abs(math.log(fraction * size / _USUAL)))[:_MOST_UNITS]
        named = " or ".join(f"{fits[size]} (then {fraction * size:.0%})" for size in best)
        mend = f"give the unit: {named} would fit" if named else "no known unit would fit: is it this river?"
        times = f"{fraction:,.0f} times" if fraction > 1 else f"{fraction:.2g} of"
        read = f"the file gives no unit, and read as {typeset_unit(self.inflow.unit)} its mean flow"
        return (
            UnitText(
                lambda units: (
                    f"{read} of {units.stated(self.inflow.mean_m3s, 'm3/s')} is {times} what the turbines take, "
                    f"{units.stated(capacity, 'm3/s')}; {mend}"
                )
            ),
        )

    @cached_property
    def size(self) -> ReservoirSize | None:
        """The reservoir beside its inflow; None without one."""
        if self.reservoir is None:
            return None
        lower, upper = self.reservoir.storage_bounds_hm3
        active = float(upper.max() - lower.min())
        storages = np.linspace(lower.min(), upper.max(), _STORAGES)[:, np.newaxis]
        releases = np.linspace(0.0, self.reservoir.release_upper_m3s.max(), _RELEASES)
        capacity = float(generation(self.reservoir, storages, releases).turbined_m3s.max())
        annual, fraction = float(self.annual_hm3.mean()), self.inflow.mean_m3s / capacity if capacity > 0 else None
        return ReservoirSize(active, active / annual if annual > 0 else None, capacity, fraction)

    def as_dict(self, units: UnitSystem = SI) -> dict[str, object]:
        """Everything as JSON has it, in some units."""
        inflow, calendar, annual = self.inflow, self.inflow.calendar, self.annual_hm3 / units.size("annual_hm3")
        values = {
            "file": inflow.source,
            "years": inflow.years,
            "members": inflow.member_count,
            "first": inflow.labels[0],
            "last": inflow.labels[-1],
            "first_month": calendar.first_month,
            "step": str(calendar.step),
            "unit": inflow.unit,
            "unit_from": inflow.unit_from,
            "mean_m3s": inflow.mean_m3s,
            "annual_hm3": {"mean": float(annual.mean()), "least": float(annual.min()), "most": float(annual.max())},
            "years_by_first_month": self.years_by_first_month,
            "missing_days": [{"first": gap.first, "last": gap.last, "days": gap.rows} for gap in self.gaps],
            "zeros": [units.values(stretch._asdict()) for stretch in self.zeros],
            "stuck": [units.values(stretch._asdict()) for stretch in self.stuck],
            "zero_months": int((inflow.flow_m3s == 0).sum()),
            "negative_months": int((inflow.flow_m3s < 0).sum()),
            "outliers": [
                units.values({name: value for name, value in vars(outlier).items() if name != "place"})
                for outlier in self.outliers
            ],
            "caveat": inflow.caveat,
            "notes": [*map(units.text, inflow.notes)],
            "doubts": [*map(units.text, self.all_doubts)],
        }
        if self.size is None or self.reservoir is None:
            return units.values(values)
        notes = [*map(units.text, self.reservoir.notes)]
        return units.values(values) | {"reservoir": units.values(vars(self.size)) | {"notes": notes}}

    def sentences(self, units: UnitSystem = SI) -> dict[str, tuple[str, ...]]:
        """What a reader should know, by topic, with amounts in some units."""
        inflow, calendar, annual = self.inflow, self.inflow.calendar, self.annual_hm3
        noun, (begin, end) = calendar.step.noun, [MONTH_NAMES[calendar.first_month - back] for back in (1, 2)]
        of_next = "" if calendar.first_month == 1 else " of the next year"
        mean, most = (units.stated(float(volume), "hm3") for volume in (annual.mean(), annual.max()))
        volumes = f"{mean} in a mean year ({units.number(float(annual.min()), 'hm3')} to {most})"
        dry = int((inflow.flow_m3s <= 0).sum())
        by_topic = {
            "Years": (
                f"{counted(inflow.years)}, {inflow.span_text}; each {begin} to {end}{of_next}",
                *self._more_years(),
            ),
            "Unit": (inflow.scale_in(units), volumes),
            "Reading": tuple(map(units.text, inflow.notes)),
            "Gaps": self._gap_sentences(noun),
            "Zeros": self._stretch_sentences(self.zeros, "of exactly 0", units),
            "Stuck": self._stretch_sentences(self.stuck, "of the same value", units),
            "Outliers": self._outlier_sentences(units),
            "No flow": (f"{counted(dry, noun)} without inflow",) if dry else (),
            "Size": self.size.sentences(units) if self.size else (),
            "Doubt": tuple(map(units.text, self.all_doubts)),
        }
        return {topic: sentences for topic, sentences in by_topic.items() if sentences}

    def _more_years(self) -> tuple[str, ...]:
        """The first month of the water year that would keep more years of the file."""
        by_month = self.years_by_first_month
        most = max(by_month.values(), default=0)
        if most <= by_month.get(self.inflow.calendar.first_month, most):
            return ()
        months = [MONTH_NAMES[month - 1] for month, years in by_month.items() if years == most]
        named = months[0] if len(months) == 1 else f"{', '.join(months[:-1])} or {months[-1]}"
        return (f"{counted(most)} if they begin in {named}: first_month of the reservoir file",)

    def _gap_sentences(self, noun: str) -> tuple[str, ...]:
        whole = f"every {noun} of these years has a value"
        days = sum(gap.rows for gap in self.gaps)
        named = _listed(gap.name for gap in self.gaps)
        return (f"{whole}, without {counted(days, 'day')} that the file lacks: {named}" if days else f"none: {whole}",)

    def _stretch_sentences(self, stretches: Sequence[Stretch], alike: str, units: UnitSystem) -> tuple[str, ...]:
        rows = self.rows
        if not stretches or rows is None:
            return ()
        noun = rows.step.noun if rows.per_day == 1 else "row"
        count = sum(stretch.rows for stretch in stretches)
        named = _listed(
            f"{stretch.name} ("
            + (f"{units.stated(stretch.flow_m3s, 'm3/s')}, " if stretch.flow_m3s else "")
            + f"usually {units.stated(stretch.usual_m3s, 'm3/s')})"
            for stretch in sorted(stretches, key=lambda stretch: -stretch.rows)
        )
        return (f"{counted(count, noun)} {alike}: {named}; are these measured?",)

    def _outlier_sentences(self, units: UnitSystem, most: int = 10) -> tuple[str, ...]:
        if self.inflow.years < LEAST_YEARS:
            return (f"not looked for: fewer than {LEAST_YEARS} years",)
        more = len(self.outliers) - most
        step = self.inflow.calendar.step
        alike = "each calendar month" if step is TimeStep.MONTH else f"the same {step.noun} of all years"
        shown = [outlier.sentence(units) for outlier in self.outliers[:most]] or [f"none among the values of {alike}"]
        return (*shown, *((f"and {more:,} more",) if more > 0 else ()))


#: Stretches that are named.
_NAMED = 6


def _listed(names: Iterable[str]) -> str:
    texts = [*names]
    return ", ".join(texts[:_NAMED]) + (f" and {len(texts) - _NAMED:,} more" if len(texts) > _NAMED else "")
