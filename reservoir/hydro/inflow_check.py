"""What an inflow is, before anything is planned: means, outliers against its own months, and its reservoir's size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTH_NAMES, SECONDS_PER_DAY, TimeStep
from reservoir.hydro.inflow import ASSUMED, Inflow
from reservoir.hydro.power import generation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import SI, UnitSystem, UnitText
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3
from reservoir.text.quantities import counted

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
    #: That storage, in mean annual inflows.
    storage_years: float
    #: The largest discharge of the turbines at any storage, and the mean inflow over it.
    turbine_capacity_m3s: float
    inflow_fraction: float

    def sentences(self, units: UnitSystem) -> tuple[str, ...]:
        """What these say, in some units."""
        carries = " - a year by itself says little, see --horizon record" if self.storage_years >= 1 else ""
        active, capacity = units.stated(self.active_storage_hm3, "hm3"), units.stated(self.turbine_capacity_m3s, "m3/s")
        return (
            f"active storage {active}, {self.storage_years:.3g} mean annual inflows{carries}",
            f"mean inflow {self.inflow_fraction:.0%} of the turbines' capacity of {capacity}",
        )


@dataclass(frozen=True, eq=False)
class InflowCheck:
    """An inflow, and the reservoir that it may be planned for."""

    inflow: Inflow
    reservoir: Reservoir | None = None

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
    def doubts(self) -> tuple[str, ...]:
        """Why the unit may be another than the one that was assumed, and which ones would fit, if it is doubtful."""
        if self.inflow.unit_from != ASSUMED or self.size is None:
            return ()
        fraction, capacity = self.size.inflow_fraction, self.size.turbine_capacity_m3s
        if _TOO_LITTLE <= fraction <= _TOO_MUCH:
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
        read = f"the file gives no unit, and read as {self.inflow.unit} its mean flow"
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
        return ReservoirSize(active, active / float(self.annual_hm3.mean()), capacity, self.inflow.mean_m3s / capacity)

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
            "zero_months": int((inflow.flow_m3s == 0).sum()),
            "negative_months": int((inflow.flow_m3s < 0).sum()),
            "outliers": [
                units.values({name: value for name, value in vars(outlier).items() if name != "place"})
                for outlier in self.outliers
            ],
            "caveat": inflow.caveat,
            "notes": [*map(units.text, inflow.notes)],
            "doubts": [*map(units.text, self.doubts)],
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
            "Years": (f"{counted(inflow.years)}, {inflow.span_text}; each {begin} to {end}{of_next}",),
            "Unit": (inflow.scale_in(units), volumes),
            "Reading": tuple(map(units.text, inflow.notes)),
            "Gaps": (f"none: every {noun} of these years has a value",),
            "Outliers": self._outlier_sentences(units),
            "No flow": (f"{counted(dry, noun)} without inflow",) if dry else (),
            "Size": self.size.sentences(units) if self.size else (),
            "Doubt": tuple(map(units.text, self.doubts)),
        }
        return {topic: sentences for topic, sentences in by_topic.items() if sentences}

    def _outlier_sentences(self, units: UnitSystem, most: int = 10) -> tuple[str, ...]:
        if self.inflow.years < LEAST_YEARS:
            return (f"not looked for: fewer than {LEAST_YEARS} years",)
        more = len(self.outliers) - most
        step = self.inflow.calendar.step
        alike = "each calendar month" if step is TimeStep.MONTH else f"the same {step.noun} of all years"
        shown = [outlier.sentence(units) for outlier in self.outliers[:most]] or [f"none among the values of {alike}"]
        return (*shown, *((f"and {more:,} more",) if more > 0 else ()))
