"""The record of a plan's folder: the steps of its schedule, with the flows of the file that was planned."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import COMPANIONS, Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_calendar import on_calendar_of
from reservoir.hydro.reservoir_kinds import CalendarKind
from reservoir.hydro.time_step import TimeStep
from reservoir.io.plan_folder.saved_tables import SavedTables, at_row
from reservoir.io.plan_folder.tables import AGAIN, COPY, INFLOW, MEMBER, changed, sha256_of
from reservoir.io.records.reader import read_inflow
from reservoir.io.records.writer import FILE, VALUES, reading_of
from reservoir.planning.schedule import FIRST_DAY
from reservoir.text.quantities import counted

#: How a plan says that its unit was given by the caller; the second is that of plans before 0.2.
BY_ARGUMENT = ("from the unit argument", "said by the call")
#: Flows of the record and of the schedule, which has six decimals of them, differ by no more than this.
INFLOW_M3S = 5.1e-7


def saved_record(folder: Path, tables: SavedTables, plant: Reservoir, origin: Mapping[str, Any]) -> Inflow:
    """The record that a plan was made for.

    Parameters
    ----------
    folder : Path
    tables : SavedTables
    plant : Reservoir
        As it was planned.
    origin : mapping
        ``plan.json``.

    Raises
    ------
    InputError
        If the steps of the schedule do not follow each other, or are not those that were planned.
    """
    return _as_read(folder / INFLOW, _inflow(tables, plant, origin), plant, origin["inflow"].get(COPY))


def _inflow(tables: SavedTables, plant: Reservoir, origin: Mapping[str, Any]) -> Inflow:
    path, schedule = tables.schedule_path, tables.schedule
    first = str(schedule["year"].iloc[0])[:4]
    if not first.isdecimal() or int(first) == 0:
        problem, expected, found = "is not a year", "a year such as 1953 or 1953/54", str(schedule["year"].iloc[0])
        mistake = Mistake(problem, expected, AGAIN, str(path), column="year", value=found)
        raise InputError(at_row(mistake, schedule, 0))
    years = origin["years"]
    steps = max(len(schedule) // max(years, 1), 1) if origin.get("start") else plant.step.per_year
    source, members = origin["inflow"], None
    equal = plant.calendar is CalendarKind.EQUAL_MONTHS
    calendar = Calendar(
        int(first), len(schedule) // steps + 1, plant.first_month, steps, equal_months=equal, step=plant.step
    )
    if MEMBER in schedule:
        calendar = replace(calendar, years_each=int(source.get("years_each", 0)) or years)
        members = schedule[MEMBER].to_numpy(object)[:: calendar.years_each * steps].astype(str)
    _check_calendar(path, schedule, calendar)
    if len(schedule) != years * steps:
        raise changed(path, f"has {counted(len(schedule), plant.step.noun)}; the plan has {years * steps}")
    calendar = replace(calendar, years=years)
    flows = schedule["inflow_m3s"].to_numpy(float)
    reading = source.get("reading") if isinstance(source.get("reading"), dict) else {}
    kept = reading.get("negative") == "keep"
    negative = partial(Mistake, "is negative", "0 or more", AGAIN, str(path), column="inflow_m3s")
    below = [] if kept else np.flatnonzero(flows < 0).tolist()
    if below:
        mistakes = (at_row(negative(value=float(flows[row])), schedule, row) for row in below)
        raise InputError(worth_telling(mistakes, str(path)))
    return Inflow(
        flows.reshape(years, steps),
        calendar,
        members=members,
        caveat=str(source.get("caveat", "")),
        source=str(source.get("file", "")),
        sha256=str(source.get("sha256", "")),
        unit=str(source.get("unit", "")),
        unit_from=str(source.get("unit_from", "")),
        reading=reading,
        allow_negative=kept,
    )


def _as_read(path: Path, planned: Inflow, plant: Reservoir, copy: object) -> Inflow:
    """The plan's record with the flows of its own file, or a copy, of which the schedule states six decimals.

    The schedule's stand where there is no file, or the record was another when it was planned: changed in Python, or
    read by an earlier version that took what this one refuses.
    """
    told = copy if isinstance(copy, dict) else {"kind": FILE, "sha256": planned.sha256}
    if not path.is_file() or sha256_of(path) != told.get("sha256"):
        return planned
    reading = dict(reading_of(str(told.get("kind")), planned))
    if planned.unit_from in BY_ARGUMENT and told.get("kind") != VALUES:
        reading.setdefault("unit", planned.unit)
    with suppress(InputError, TypeError):  # what plan.json says of the reading may have been changed
        record = on_calendar_of(
            plant, read_inflow(path, first_month=planned.calendar.first_month, step=plant.step, **reading)
        )
        first = planned.calendar.first_year - record.calendar.first_year
        flow = record.flow_m3s[max(first, 0) : first + planned.years]
        if flow.shape == planned.flow_m3s.shape and np.abs(flow - planned.flow_m3s).max() <= INFLOW_M3S:
            same = record.span(max(first, 0), max(first, 0) + planned.years)
            beside: dict[str, Any] = {name: getattr(same, name) for name in COMPANIONS}
            return replace(planned, flow_m3s=flow, **beside)
    return planned


def _check_calendar(path: Path, schedule: pd.DataFrame, calendar: Calendar) -> None:
    """Refuse the first row that is not the step after the one before it."""
    months = schedule["month"].to_numpy(float)
    rows, labels = len(months), np.array(list(calendar.labels), object)
    labels = np.repeat(labels, calendar.steps)[:rows]
    wanted = {"year": labels, "month": np.resize(calendar.months, rows)}
    wrong = {"year": schedule["year"].to_numpy(object) != labels, "month": months != wanted["month"]}
    if calendar.step is not TimeStep.MONTH and FIRST_DAY in schedule:
        wanted[FIRST_DAY] = calendar.starts.ravel().astype(str)[:rows]
        wrong[FIRST_DAY] = schedule[FIRST_DAY].to_numpy(object).astype(str) != wanted[FIRST_DAY]
    rows_wrong = np.flatnonzero(np.any(list(wrong.values()), axis=0))
    if rows_wrong.size:
        row = int(rows_wrong[0])
        name = next(name for name, each in wrong.items() if each[row])
        found = f"{months[row]:g}" if name == "month" else str(schedule[name].iloc[row])
        mistake = Mistake("is out of sequence", str(wanted[name][row]), AGAIN, str(path), column=name, value=found)
        raise InputError(at_row(mistake, schedule, row))
