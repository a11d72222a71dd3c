"""What the runs say: shares of years beyond a gap, violations, seconds; and what is claimed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.experiment import in_order, select
from reservoir.bench.zoo.runs import FIRST_RUN, FROM_REFERENCE, SECOND_RUN, ZooRuns, ZooSetup
from reservoir.planning.checks import YEAR_GAP, Check, largest
from reservoir.planning.solving import DEVICE_REFERENCE, HOST_REFERENCE
from reservoir.planning.validation import REFERENCE_GAP
from reservoir.solvers import SOLVERS

#: Largest values of the classes of a trait that is a number, and the format of these values.
_CLASSES: dict[str, tuple[str, tuple[float, ...], str]] = {
    "storage_ratio": ("active storage, mean annual inflows", (0.1, 0.5, 1.5), "g"),
    "head_share": ("share of the head that depends on storage", (0.1, 0.3), ".0%"),
    "capacity_ratio": ("hydraulic capacity, mean inflows", (1.5, 3.0), "g"),
    "least_release_share": ("least release, parts of the mean inflow", (0.1, 0.3), ".0%"),
}
#: Traits whose values are classes, and those that a reservoir has or not.
_NAMED = {"regime": "inflow", "year_end": "end of the year", "start": "start of the year"}
_HAD = {
    "flood_share": "flood limit",
    "evaporation_mm": "evaporation",
    "persistence": "persistence of wet and dry years",
}


def classes_of(reservoirs: pd.DataFrame) -> Iterator[tuple[str, str, pd.Series[bool]]]:
    """Each kind, each of its classes, and which reservoirs belong to it; classes without reservoirs are left out.

    Parameters
    ----------
    reservoirs : DataFrame
        A row for each reservoir, with its traits.
    """
    for trait, kind in _NAMED.items():
        yield from _named(kind, reservoirs[trait], sorted(reservoirs[trait].unique()), lambda value: value)
    for trait, (kind, bounds, form) in _CLASSES.items():
        place = sum((reservoirs[trait] > bound).astype(int) for bound in bounds)
        names = [_class_name(bounds, each, form) for each in range(len(bounds) + 1)]
        yield from _named(kind, place, range(len(names)), names.__getitem__)
    for trait, kind in _HAD.items():
        yield from _named(kind, reservoirs[trait] > 0, (False, True), lambda has: "yes" if has else "no")


def _named(
    kind: str, values: Any, classes: Any, name: Callable[[Any], str]
) -> Iterator[tuple[str, str, pd.Series[bool]]]:
    for each in classes:
        chosen = values == each
        if chosen.any():
            yield kind, name(each), chosen


def _class_name(bounds: tuple[float, ...], place: int, form: str) -> str:
    if place == 0:
        return f"≤ {bounds[0]:{form}}"
    if place == len(bounds):
        return f"> {bounds[-1]:{form}}"
    return f"{bounds[place - 1]:{form}} to {bounds[place]:{form}}"


#: Gaps that years are counted beyond, and the one by which kinds of reservoirs are compared.
GAPS = (1e-5, 1e-4, 1e-3, 1e-2)
KIND_GAP = 1e-3
#: The solver that must hold on every reservoir: largest share of years beyond `KIND_GAP`, and largest gap of all years.
STRONG, STRONG_SHARE, STRONG_WORST = "lshade", 1e-3, 1e-2
#: Reservoirs that are listed for each solver, the worst.
WORST = 5

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class ZooFindings:
    """Runs, and numbers of them."""

    setup: ZooSetup
    runs: ZooRuns

    @property
    def solvers(self) -> list[str]:
        """Solvers that solved a year, in order."""
        return in_order(self.runs.years["solver"]) if len(self.runs.years) else []

    @property
    def parts(self) -> list[str]:
        """Parts that ran."""
        return in_order(self.runs.reservoirs["part"])

    def feasible(self, **chosen: Any) -> pd.DataFrame:
        """Years that can keep their limits, by part or solver."""
        return select(self.runs.years[self.runs.years["feasible"]], **chosen)

    def infeasible(self, **chosen: Any) -> pd.DataFrame:
        """Years that cannot."""
        return select(self.runs.years[~self.runs.years["feasible"]], **chosen)

    def by_solver(self) -> pd.DataFrame:
        """A row for each solver and part: shares, gaps, violations, seconds."""
        return pd.DataFrame([self._of_solver(solver, part) for solver in self.solvers for part in self.parts])

    def _of_solver(self, solver: str, part: str) -> Row:
        able, unable = self.feasible(solver=solver, part=part), self.infeasible(solver=solver, part=part)
        calls = select(self.runs.calls, solver=solver, part=part)
        solved = calls[calls["refused"] == ""]
        row: Row = {"solver": solver, "part": part, "reservoirs": solved["number"].nunique(), "years": len(able)}
        row |= {beyond(gap): share_beyond(able, gap) for gap in GAPS}
        row |= {"worst gap": largest(able["gap"]), "its range": SOLVERS[solver].zoo_gap}
        row |= {"better than dp": -min(able["gap"].min(), 0.0) + 0.0}
        row |= {"years that violate": int(violates(able).sum()), "infeasible years": len(unable)}
        row |= {"of them worse": int(violates(unable).sum()), "refused": int((calls["refused"] != "").sum())}
        alone = solved["device_seconds"] if SOLVERS[solver].opencl else solved["seconds"]
        row |= {"seconds a year": (alone / solved["years"]).median()}
        return row | {"seconds to compile": (solved["seconds"] - solved["device_seconds"]).median()}

    def plans(self) -> pd.DataFrame:
        """A row for each solver and part: what plans by the solver hold, and where it comes from."""
        rows = []
        for solver, part in product(self.solvers, self.parts):
            years = select(self.runs.years, solver=solver, part=part)
            able = self.feasible(solver=solver, part=part)
            row: Row = {"solver": solver, "part": part, "years": len(years)}
            row |= {name: (years["source"] == name).mean() for name in (FIRST_RUN, SECOND_RUN, FROM_REFERENCE)}
            row |= {"worst gap": largest(able["plan_gap"]), "years that violate": int(violates(years, "plan_").sum())}
            rows.append(row)
        return pd.DataFrame(rows)

    def by_kind(self) -> pd.DataFrame:
        """Share of years beyond `KIND_GAP`: a row for each class of reservoirs, a column for each solver."""
        reservoirs = self.runs.reservoirs
        years = self.feasible().merge(reservoirs, on=["part", "number"])
        rows = []
        classes = {(kind, name): chosen for kind, name, chosen in classes_of(years)}
        for kind, name, chosen in classes_of(reservoirs):
            mine = years[classes[kind, name]] if (kind, name) in classes else years[:0]
            shares = {solver: share_beyond(select(mine, solver=solver), KIND_GAP) for solver in self.solvers}
            rows.append({"kind": kind, "class": name, "reservoirs": int(chosen.sum())} | shares)
        return pd.DataFrame(rows)

    def worst(self) -> pd.DataFrame:
        """The reservoirs on which each solver is worst, with their traits; none on which it is within `YEAR_GAP`."""
        of_reservoir = self.feasible().groupby(["solver", "part", "number"], sort=False)["gap"]
        worst = pd.DataFrame(
            {
                "beyond": of_reservoir.agg(lambda gap: float((gap > KIND_GAP).mean())),
                "worst gap": of_reservoir.max(),
            }
        ).reset_index()
        worst = worst[worst["worst gap"] > YEAR_GAP].sort_values("worst gap", ascending=False, kind="stable")
        listed = [select(worst, solver=solver).head(WORST) for solver in self.solvers]
        return pd.concat(listed).merge(self.runs.reservoirs, on=["part", "number"], how="left") if listed else worst


def short_gap(gap: float) -> str:
    """A gap in little room: ``1e-3``."""
    return f"{gap:g}" if gap == 1 else f"{gap:.0e}".replace("e-0", "e-")


def share_beyond(years: pd.DataFrame, gap: float) -> float:
    """Share of years that fall short of the reference by more; NaN of none."""
    return float((~(years["gap"] <= gap)).mean()) if len(years) else np.nan


def beyond(gap: float) -> str:
    """Name of a column of such shares."""
    return f"beyond {short_gap(gap)}"


def violates(years: pd.DataFrame, of: str = "") -> pd.Series[bool]:
    """Years that violate limits more than the reference does; of ``plan_``, those of plans."""
    return ~(years[f"{of}violation"] <= (1 + YEAR_GAP) * years["reference_violation"])


def zoo_checks(found: ZooFindings) -> Iterator[Check]:
    """What must hold on every reservoir; a quick trial claims nothing."""
    if found.setup.budget.quick:
        return
    for row in found.by_solver().to_dict("records"):
        who, solver = f"{row['part']} part: {row['solver']}", row["solver"]
        if not row["years"]:
            continue
        if solver == STRONG:
            yield Check(f"{who}: share of years beyond {short_gap(KIND_GAP)}", row[beyond(KIND_GAP)], STRONG_SHARE)
            yield Check(f"{who}: worst gap to {HOST_REFERENCE}", row["worst gap"], STRONG_WORST)
        elif solver == DEVICE_REFERENCE:
            apart = max(row["worst gap"], row["better than dp"])
            yield Check(f"{who} against {HOST_REFERENCE}, worst year (absolute value)", apart, REFERENCE_GAP)
        yield Check(f"{who}: years that violate limits that {HOST_REFERENCE} keeps", row["years that violate"], 0)
    for part, plans in found.plans().groupby("part", sort=False):
        who = f"{part} part: plans by all solvers"
        yield Check(f"{who}, worst gap to {HOST_REFERENCE}", largest(plans["worst gap"]), YEAR_GAP)
        yield Check(
            f"{who}, years that violate limits that {HOST_REFERENCE} keeps", plans["years that violate"].sum(), 0
        )
