"""What the runs say: times and errors by engine and population, and what is claimed of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd

from reservoir.bench.tours.runs import ENGINES, SERIAL, WAITING, TourSetup
from reservoir.planning.checks import Check

#: How engines are called in tables.
TITLES = {name: name.upper().replace("ASYNC", "async") for name in ENGINES} | {SERIAL: "serial"}
TITLES |= {name: name.replace("tim", "TIM").replace("sak", "SAK") for name in WAITING}
#: Relative error of the paper's operators on att48 by population, of an independent program.
ERRORS = {1024: 0.127, 4096: 0.099, 16384: 0.056}
#: The problem that they are of, its optimum, and iterations of a run that claims hold for.
KNOWN, ITERATIONS = ("att48", 10628), 1000
#: How many times as long as LIM others take on a large GPU, and the population that the last is of.
RATIOS, RATIO_POPULATION = {"sak": 1.5, "slk": 1.5, "tim": 4.5, SERIAL: 27.0}, 16384
#: Seconds in which other operators reach the optimum.
STRONG_SECONDS = 1.0

#: A number of each engine, by population.
ByPopulation = dict[int, dict[str, float]]


def by_population(runs: pd.DataFrame, values: pd.Series[float], statistic: str) -> ByPopulation:
    """A statistic of each engine's runs, by population and engine in the order of `TITLES`."""
    told = values.groupby([runs["population"], runs["engine"]]).agg(statistic)
    return {
        int(population): {name: float(told[population, name]) for name in TITLES if (population, name) in told.index}
        for population in sorted(runs["population"].unique())
    }


def median_ms(runs: pd.DataFrame, column: str = "seconds") -> ByPopulation:
    """Median milliseconds."""
    return by_population(runs, 1e3 * runs[column], "median")


@dataclass(frozen=True, eq=False)
class TourFindings:
    """Tables of runs: of all engines, by blocks, counted, and with other operators (see `runs`)."""

    setup: TourSetup
    runs: pd.DataFrame
    blocks: pd.DataFrame
    counted: pd.DataFrame
    strong: pd.DataFrame

    @property
    def reference(self) -> int:
        """Length that errors are stated against: the optimum, or the best that any run found."""
        return self.setup.problem.optimum or int(self.runs["length"].min())

    @property
    def strong_reference(self) -> int:
        """The same for the other operators."""
        return self.setup.problem.optimum or int(self.strong["length"].min())

    def relative_errors(self) -> ByPopulation:
        """Mean relative error (eq. 1)."""
        return by_population(self.runs, (self.runs["length"] - self.reference) / self.reference, "mean")


def tour_checks(found: TourFindings) -> Iterator[Check]:
    """Claims that this problem, device and effort can be held to; a quick trial claims nothing."""
    setup, problem = found.setup, found.setup.problem
    if setup.effort.quick:
        return
    if setup.iterations >= ITERATIONS and (problem.label, problem.optimum) == KNOWN:
        yield from _quality(found)
    times = median_ms(found.runs).get(RATIO_POPULATION)
    if setup.large_gpu and times is not None:
        for name, least in RATIOS.items():
            title = f"time of {TITLES[name]} / LIM-IS, population {RATIO_POPULATION:,}"
            yield Check(title, times.get(name, math.nan) / times["lim-is"], least, at_least=True)


def _quality(found: TourFindings) -> Iterator[Check]:
    errors = {population: each["lim-is"] for population, each in found.relative_errors().items()}
    known = [population for population in ERRORS if population in errors]
    for population in known:
        title = f"mean relative error of LIM-IS, population {population:,}"
        yield Check(title, errors[population], ERRORS[population])
    ratios = [errors[larger] / errors[smaller] for smaller, larger in pairwise(known)]
    if ratios:
        yield Check("mean relative error beside that of the next smaller population, most", max(ratios), 1.0)
    reached = float((found.strong["length"] == found.strong_reference).mean())
    yield Check("other operators: part of the runs that reach the optimum", reached, 1.0, at_least=True)
    yield Check("other operators: longest run, s", float(found.strong["seconds"].max()), STRONG_SECONDS)
