"""A front between two goals as a folder of files, and what one of its points is planned from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reservoir.errors import InputError, Mistake
from reservoir.hydro.objectives import Goal, goal_label
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System
from reservoir.io.output import Claim, content_sha256, drafted
from reservoir.io.plan_folder.files import FILES, file_hashes
from reservoir.io.plan_folder.tables import write_tables
from reservoir.io.reservoir_toml.writer import write_reservoir, write_system
from reservoir.io.system_file import read_system
from reservoir.planning.columns import FIRM_POWER
from reservoir.planning.tradeoff import Tradeoff
from reservoir.report.folder import (
    check_new,
    figure_texts,
    figures_left_out,
    record_provenance,
    run_provenance,
    write_json,
)
from reservoir.report.html.page import Column, Heading, HtmlTable, Picture, Section, picture, render
from reservoir.report.html.tables import without_constants
from reservoir.text.quantities import counted, told_apart
from reservoir.text.strict_json import read_json

#: Names of the files.
PROVENANCE, POINTS, INFLOW, REPORT = "tradeoff.json", "points", "inflow.csv", "report.html"
TABLE, WORKBOOK = "front.csv", "front.xlsx"
_MOST_BYTES = 10_000_000
_CHANGED = "was changed after the tradeoff was made"
_AGAIN = "run `reservoir tradeoff` again, or restore the file; plan a changed one by its own name, without --point"
#: How a record can have been read.
_READING: dict[str, type] = dict.fromkeys(("unit", "column", "water_year", "negative", "dates"), str)
_READING |= dict.fromkeys(("missing_days", "first_year"), int)
#: Where the unit of a record was said, if the caller gave it.
_BY_ARGUMENT = "from the unit argument"
#: Heads of columns of the report's table that are no goals.
_TITLES = {f"asked_{FIRM_POWER}": "Firm power asked for (MW)"}


def front_table(front: Tradeoff) -> pd.DataFrame:
    """One row a point: its name, its weights or firm power, and what it gives of both goals."""
    goals = [goal.replace("-", "_") for goal in front.goals]
    rows = []
    for point in front.points:
        stated = {f"weight_{goal.replace('-', '_')}": weight for goal, weight in point.objective.weights.items()}
        if point.objective.firm_power_mw is not None:
            stated = {f"asked_{FIRM_POWER}": point.objective.firm_power_mw}
        values = dict(zip(goals, point.values, strict=True))
        rows.append({"point": point.name, **stated, **values, "energy_gwh": point.energy_gwh})
    table = pd.DataFrame(rows)
    if "energy" in table:
        table = table.drop(columns="energy_gwh")
    return table.assign(violation=[point.violation for point in front.points])


def write_tradeoff(
    front: Tradeoff,
    target: Path | Claim,
    *,
    figures: bool = True,
    workbook: bool = False,
    tell: Callable[[str], None] = warnings.warn,
) -> Path:
    """Write table, figure, report, and a reservoir file for each point; `tell` is told of a figure that fails.

    With `workbook`, the table is the sheet of ``front.xlsx``.

    Raises
    ------
    OutputError
        If the folder holds something, or cannot be written.
    """
    with drafted(target, check_new) as claim:
        draft = claim.draft
        write_tables({TABLE: front_table(front)}, draft, WORKBOOK if workbook else "")
        (draft / POINTS).mkdir()
        for point in front.points:
            one = point.reservoir
            text = write_system(_with_files(one)) if isinstance(one, System) else write_reservoir(one)
            (draft / POINTS / f"{point.name}.toml").write_text(text, encoding="utf-8")
        if front.inflow.content:
            (draft / INFLOW).write_bytes(front.inflow.content)
        left_out, pictures = dict[str, str](), tuple[Picture, ...]()
        if figures:
            from reservoir.report.figures.figures import attempted, write_figures
            from reservoir.report.figures.front import front_caption, front_figure

            drawn = attempted("front", lambda: (front_figure(front), front_caption(front)), left_out)
            if drawn and write_figures({"front": drawn[0]}, draft / "figures", left_out=left_out):
                drawing = (draft / "figures/front.svg").read_bytes()
                pictures = (picture("front", "The front", drawn[1], drawing),)
        names = [f"{POINTS}/{point.name}.toml" for point in front.points]
        names += [INFLOW] if front.inflow.content else []
        names += _own_files(front.reservoir)
        made_of = {FILES: file_hashes(draft, names)}
        made_of |= figures_left_out(left_out, tell, *(figure_texts(front) if figures else ()))
        write_json(draft / PROVENANCE, tradeoff_provenance(front) | made_of)
        (draft / REPORT).write_text(_report(front, pictures), encoding="utf-8")
    return claim.place


def _with_files(system: System) -> System:
    """A system whose records in files of their own are found from any folder."""
    sources = system.inflow_of.items()
    files = {name: each._replace(file=str(Path(each.file).resolve())) for name, each in sources if each.file}
    return replace(system, inflow_of={**system.inflow_of, **files})


def _own_files(of: Reservoir | System) -> list[str]:
    """Files of their own that records of reservoirs of a system are in, with their folders."""
    sources = _with_files(of).inflow_of.values() if isinstance(of, System) else ()
    files = dict.fromkeys(each.file for each in sources if each.file)
    return [file for file in files if Path(file).is_file() or Path(file).is_dir()]  # a pipe is read once


def tradeoff_provenance(front: Tradeoff) -> dict[str, Any]:
    """Where a front comes from, and its points."""
    record = {"file": Path(front.inflow.source).name, "sha256": front.inflow.sha256}
    unit = {"unit": front.inflow.unit} if front.inflow.unit_from == _BY_ARGUMENT else {}
    reading = dict(front.inflow.reading) | unit
    return {
        **run_provenance(),
        "reservoir": {"name": front.reservoir.name, "sha256": front.reservoir.sha256},
        "inflow": {**record, "reading": reading, **record_provenance(front.inflow)},
        "units": front.units.as_dict,
        "between": [str(goal) for goal in front.goals],
        "horizon": str(front.horizon),
        "solver": front.solver,
        "device": front.device,
        "seconds": round(front.seconds, 3),
        "caveats": list(front.caveats),
        "points": front_table(front).to_dict("records"),
    }


def _report(front: Tradeoff, pictures: tuple[Picture, ...]) -> str:
    labels, table = front.labels, front_table(front)
    written = {name: told_apart(table[name].tolist()) for name in table.columns[1:]}
    if written.get(asked := f"asked_{FIRM_POWER}") == written.get(FIRM_POWER.removesuffix("_mw")):
        written.pop(asked, None)  # a column twice
    cells = zip(table["point"].astype(str), *written.values(), strict=True)
    titles = dict(zip((goal.replace("-", "_") for goal in front.goals), labels, strict=True)) | _TITLES
    titles["energy_gwh"] = goal_label(Goal.ENERGY, years=front.inflow.years)
    named = (titles.get(name, name.replace("_", " ").capitalize()) for name in written)
    columns = (Column("Point", text=True), *map(Column, named))
    how = "The command 'reservoir plan --point FOLDER/NAME' plans a point in full."
    ends = (told_apart(values)[:: len(values) - 1] for values in np.transpose(front.goal_values).tolist())
    figures = tuple((label, f"{first} to {last}") for label, (first, last) in zip(labels, ends, strict=True))
    heading = Heading(
        title=f"Tradeoff of {front.reservoir.name}: {' against '.join(front.goals).replace('-', ' ')}",
        description=front.reservoir.description,
        caveats=tuple(caveat[:1].upper() + caveat[1:] for caveat in front.caveats),
        figures=figures,
    )
    facts = (
        ("Record", f"{front.inflow.span_text}, {counted(front.inflow.years)}; {front.inflow.scale_in(front.units)}"),
        ("Horizon", str(front.horizon)),
        ("Solver", f"{front.solver} on {front.device}, {front.seconds:.3g} s"),
    )
    sections = [
        Section("figures", "Figure", pictures=pictures) if pictures else None,
        Section("points", "Points", tables=(without_constants(HtmlTable("points-table", how, columns, tuple(cells))),)),
        Section("provenance", "Provenance", facts=facts),
    ]
    return render(heading, [section for section in sections if section is not None])


def point_inputs(point: Path, given: Mapping[str, Path | None]) -> dict[str, Any]:
    """Files of a point, and how its record was read, as the options of a call.

    Parameters
    ----------
    point : Path
        ``FOLDER/NAME``.
    given : mapping
        The files of the call: a ``reservoir`` is refused, an ``inflow`` taken in place of the folder's.

    Raises
    ------
    InputError
        If there is no such point, its files are not as they were written, or a reservoir is given beside it.
    """
    if given["reservoir"] is not None:
        problem = "a point has a reservoir of its own"
        raise InputError(problem, mend="leave out --reservoir", column="--point", value=str(point))
    folder, reservoir = point.parent, point.parent / POINTS / f"{point.name}.toml"
    if not reservoir.is_file():
        known = sorted(file.stem for file in (folder / POINTS).glob("*.toml"))
        expected = f"one of {known[0]} to {known[-1]}" if known else "FOLDER/NAME of a folder by `reservoir tradeoff`"
        raise InputError("there is no such point", expected, column="--point", value=str(point))
    origin, inflow = read_tradeoff(folder), folder / INFLOW
    own = [name for name in origin[FILES] if Path(name).is_absolute()]  # of systems; all others are in the folder
    used = [f"{POINTS}/{reservoir.name}", *own]
    if given["inflow"] is not None:
        _require_as_written(folder, origin, *used)
        return {"reservoir_file": reservoir}
    of_all: dict[str, Any] = {}
    if inflow.is_file():
        of_all, used = {"inflow_file": inflow}, [*used, INFLOW]
    elif not own or not all(each.file for each in read_system(reservoir).inflow_of.values()):
        problem = "the folder has no copy of the record, which was a workbook, an ensemble or made in Python"
        raise InputError(problem, mend="give the record", column="--point", value=str(point))
    _require_as_written(folder, origin, *used)
    reading = origin["inflow"]["reading"]
    reading = {name: reading[name] for name, kind in _READING.items() if isinstance(reading.get(name), kind)}
    return {"reservoir_file": reservoir, **of_all, **reading}


def read_tradeoff(folder: Path) -> dict[str, Any]:
    """What the folder of a tradeoff says of itself, as `tradeoff_provenance` has it.

    Raises
    ------
    InputError
        If it is none.
    """
    path = folder / PROVENANCE
    try:
        origin = read_json(path, _MOST_BYTES)
        if all(isinstance(part, dict) for part in (origin["inflow"], origin["inflow"]["reading"], origin[FILES])):
            return dict(origin)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise InputError("is not the provenance of a tradeoff", mend=_AGAIN, file=str(path))


def _require_as_written(folder: Path, origin: Mapping[str, Any], *names: str) -> None:
    """Refuse files that are not those of the tradeoff, by their hashes."""
    mistakes = []
    for name in names:
        try:
            same, problem = content_sha256(folder / name) == origin[FILES].get(name), _CHANGED
        except OSError as error:
            same, problem = False, f"cannot be read ({error.strerror or error})"
        if not same:
            mistakes.append(Mistake(problem, mend=_AGAIN, file=str(folder / name)))
    if mistakes:
        raise InputError(mistakes)
