"""Read a plan back from the folder that ``reservoir plan`` wrote, and refuse one that was changed since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.checks import Check
from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTHS_PER_YEAR, Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.plan import Plan
from reservoir.plan_tables import (
    AGAIN,
    PROVENANCE,
    RESERVOIR,
    SCHEDULE,
    SUMMARY,
    changed,
    read_schedule,
    read_summary,
)
from reservoir.solvers import Solution
from reservoir.solvers.reservoir_year import ReservoirYear, reservoir_problems

FloatArray = NDArray[np.float64]

#: Energy that the schedule states and energy that follows from its releases differ by less than this part.
ENERGY_TOLERANCE = 1e-6
_ORIGIN = {"reservoir", "inflow", "solver", "device", "settings", "seconds", "notes", "checks", "figures"}


@dataclass(frozen=True, eq=False)
class SavedPlan:
    """A plan from its folder.

    Parameters
    ----------
    folder : Path
    plan : Plan
        Recomputed from the releases; its solutions have no convergence trace.
    origin : mapping
        Content of ``plan.json``.
    """

    folder: Path
    plan: Plan
    origin: Mapping[str, Any]

    @property
    def checks(self) -> list[Check]:
        """The acceptance table that was written with the plan."""
        return [
            Check(
                str(each["check"]),
                float("nan") if each["value"] is None else float(each["value"]),
                float(each["threshold"]),
                bool(each.get("at_least", False)),
            )
            for each in self.origin["checks"]
        ]


def read_plan(folder: Path) -> SavedPlan:
    """Read a plan's folder.

    Raises
    ------
    InputError
        If it is no such folder, if a file is missing or was changed, or if the schedule does not follow from the
        reservoir.
    """
    origin = _provenance(folder)
    plant = _reservoir(folder, origin)
    schedule, summary = read_schedule(folder), read_summary(folder)
    inflow = _inflow(folder / SCHEDULE, schedule, plant, origin)
    if list(summary["year"]) != list(inflow.labels):
        raise changed(folder / SUMMARY, "does not hold the years of schedule.csv")
    years = tuple(reservoir_problems(plant, inflow))
    positions = [_position(year, rows) for year, rows in zip(years, _by_year(schedule), strict=True)]
    operations = tuple(year.operate(position) for year, position in zip(years, positions, strict=True))
    plan = Plan(
        plant,
        inflow,
        years,
        operations,
        tuple(_solutions(years, positions, summary, origin)),
        tuple(_references(years, positions, summary, origin)),
        tuple(origin["notes"]),
        dict(origin["seconds"]),
    )
    _check_energy(folder / SCHEDULE, schedule, plan)
    return SavedPlan(folder, plan, origin)


def _provenance(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        problem = "is a file, not a folder" if folder.exists() else "is not there"
        raise InputError(Mistake(problem, "a folder that `reservoir plan` wrote", file=str(folder)))
    try:
        content = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
        wanted = {
            "reservoir",
            "inflow",
            "years",
            "solver",
            "device",
            "settings",
            "seconds",
            "caveats",
            "notes",
            "checks",
        }
        if not wanted <= content.keys() or not content["reservoir"].keys() >= {"sha256", "name"}:
            raise ValueError
    except FileNotFoundError as error:
        problem = f"is no plan: it holds no {PROVENANCE}"
        raise InputError(Mistake(problem, "a folder that `reservoir plan` wrote", file=str(folder))) from error
    except (OSError, ValueError, AttributeError) as error:
        raise changed(folder / PROVENANCE, "cannot be read as the provenance of a plan") from error
    assert isinstance(content, dict)
    return content


def _reservoir(folder: Path, origin: Mapping[str, Any]) -> Reservoir:
    path = folder / RESERVOIR
    if not path.is_file():
        problem = "is missing: the plan was made without a reservoir file"
        raise InputError(Mistake(problem, mend="plan from files, or fit rules in Python", file=str(path)))
    if hashlib.sha256(path.read_bytes()).hexdigest() != origin["reservoir"]["sha256"]:
        raise changed(path, "was changed since the plan was made")
    return Reservoir.read(path)


def _inflow(path: Path, schedule: pd.DataFrame, plant: Reservoir, origin: Mapping[str, Any]) -> Inflow:
    years = len(schedule) // MONTHS_PER_YEAR
    first = str(schedule["year"].iloc[0])[:4] if len(schedule) else ""
    if not first.isdigit() or len(schedule) != years * MONTHS_PER_YEAR:
        raise changed(path, "does not hold whole years")
    calendar = Calendar(int(first), years, plant.first_month)
    for name, wanted in (
        ("year", np.repeat(np.array(calendar.labels, dtype=object), MONTHS_PER_YEAR)),
        ("month", np.tile(calendar.months, years)),
    ):
        wrong = np.flatnonzero(schedule[name].to_numpy() != wanted)
        if len(wrong):
            row = int(wrong[0])
            mistake = Mistake(
                f"is another {name} than the one that follows",
                str(wanted[row]),
                AGAIN,
                str(path),
                row + 2,
                name,
                str(schedule[name].iloc[row]),
            )
            raise InputError(mistake)
    flow = schedule["inflow_m3s"].to_numpy(float).reshape(years, MONTHS_PER_YEAR)
    source = origin["inflow"]
    return Inflow(
        flow,
        calendar,
        caveat=str(source.get("caveat", "")),
        source=str(source.get("file", "")),
        sha256=str(source.get("sha256", "")),
    )


def _by_year(schedule: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for first in range(0, len(schedule), MONTHS_PER_YEAR):
        yield schedule.iloc[first : first + MONTHS_PER_YEAR]


def _position(year: ReservoirYear, rows: pd.DataFrame) -> FloatArray:
    start = [float(rows["storage_start_hm3"].iloc[0])] if year.limits.cyclic else []
    return np.concatenate([rows["release_m3s"].to_numpy(float), start])


def _solutions(
    years: tuple[ReservoirYear, ...], positions: list[FloatArray], summary: pd.DataFrame, origin: Mapping[str, Any]
) -> Iterator[Solution]:
    wall = float(origin["seconds"].get(origin["solver"], 0.0))
    for year, position, row in zip(years, positions, summary.to_dict("records"), strict=True):
        found = year.certify(position)
        yield Solution(
            position,
            found.fitness,
            found.benefit,
            found.violation,
            int(row["generations"]),
            int(row["evaluations"]),
            wall,
            origin.get("device_seconds"),
            str(origin["solver"]),
            str(origin["device"]),
            origin["settings"],
        )


def _references(
    years: tuple[ReservoirYear, ...], positions: list[FloatArray], summary: pd.DataFrame, origin: Mapping[str, Any]
) -> Iterator[Solution]:
    """The reference optima, known by their worth alone."""
    if summary["reference_gwh"].isna().any() or not origin.get("reference"):
        return
    settings = dict(origin["reference"])
    solver = str(settings.pop("solver", "dp"))
    wall = float(origin["seconds"].get(solver, 0.0))
    for position, worth in zip(positions, summary["reference_gwh"], strict=True):
        unknown = np.full_like(position, np.nan)
        yield Solution(unknown, float(worth), float(worth), 0.0, 0, 0, wall, None, solver, "", settings)


def _check_energy(path: Path, schedule: pd.DataFrame, plan: Plan) -> None:
    stated, follows = schedule["energy_gwh"].to_numpy(float), plan.stacked("energy_gwh").ravel()
    apart = np.abs(stated - follows) > ENERGY_TOLERANCE * max(float(np.abs(follows).max()), 1.0)
    mistakes = [
        Mistake(
            "does not follow from the releases and reservoir.toml",
            f"{follows[row]:,.6f} GWh",
            AGAIN,
            str(path),
            int(row) + 2,
            "energy_gwh",
            float(stated[row]),
        )
        for row in np.flatnonzero(apart)
    ]
    if mistakes:
        raise InputError(mistakes)
