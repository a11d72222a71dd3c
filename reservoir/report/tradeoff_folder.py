"""A front between two goals as a folder of files, written as a whole or not at all."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from reservoir.hydro.objectives import Goal, goal_label
from reservoir.io.csv_table import write_table
from reservoir.io.output import Claim, drafted
from reservoir.io.plan_folder.files import FILES, file_hashes
from reservoir.io.reservoir_toml.writer import write_reservoir
from reservoir.io.tradeoff_point import INFLOW, POINTS, PROVENANCE
from reservoir.planning.columns import FIRM_POWER
from reservoir.planning.tradeoff import Tradeoff
from reservoir.report.folder import check_new, figures_left_out, record_provenance, run_provenance, write_json
from reservoir.report.html.page import Column, Heading, HtmlTable, Section, picture, render
from reservoir.text.quantities import counted, quantity

#: Further names of the files.
TABLE, REPORT = "front.csv", "report.html"
#: Where the unit of a record was said, if the caller gave it.
_BY_ARGUMENT = "from the unit argument"
#: Heads of columns of the report's table that are no goals.
_TITLES = {f"asked_{FIRM_POWER}": "Firm power asked for (MW)"}


def front_table(front: Tradeoff) -> pd.DataFrame:
    """One row a point: its name, its weights or firm power, and what it gives of both goals."""
    goals = [goal.replace("-", "_") for goal in front.goals]
    rows = []
    for point in front.points:
        objective = point.objective
        stated = {f"weight_{goal.replace('-', '_')}": weight for goal, weight in objective.weights.items()}
        if objective.firm_power_mw is not None:
            stated = {f"asked_{FIRM_POWER}": objective.firm_power_mw}
        values = dict(zip(goals, point.values, strict=True))
        rows.append({"point": point.name, **stated, **values, "energy_gwh": point.energy_gwh})
    table = pd.DataFrame(rows)
    if "energy" in table:
        table = table.drop(columns="energy_gwh")
    return table.assign(violation=[point.violation for point in front.points])


def write_tradeoff(
    front: Tradeoff, target: Path | Claim, *, figures: bool = True, tell: Callable[[str], None] = warnings.warn
) -> Path:
    """Write table, figure, report, and a reservoir file for each point; `tell` is told of a figure that fails.

    Raises
    ------
    OutputError
        If the folder exists already or cannot be written.
    """
    with drafted(target, check_new) as claim:
        draft = claim.draft
        write_table(front_table(front), draft / TABLE)
        (draft / POINTS).mkdir()
        for point in front.points:
            (draft / POINTS / f"{point.name}.toml").write_text(write_reservoir(point.reservoir), encoding="utf-8")
        if front.inflow.content:
            (draft / INFLOW).write_bytes(front.inflow.content)
        left_out: dict[str, str] = {}
        drawn = _draw(front, draft, left_out) if figures else ("", b"")
        names = [f"{POINTS}/{point.name}.toml" for point in front.points]
        names += [INFLOW] if front.inflow.content else []
        made_of = {FILES: file_hashes(draft, names)}
        write_json(draft / PROVENANCE, tradeoff_provenance(front) | made_of | figures_left_out(left_out, tell))
        (draft / REPORT).write_text(_report(front, *drawn), encoding="utf-8")
    return claim.place


def tradeoff_provenance(front: Tradeoff) -> dict[str, Any]:
    """Where a front comes from, and its points."""
    return {
        **run_provenance(),
        "reservoir": {"name": front.reservoir.name, "sha256": front.reservoir.sha256},
        "inflow": {
            "file": Path(front.inflow.source).name,
            "sha256": front.inflow.sha256,
            "reading": _reading(front),
            **record_provenance(front.inflow),
        },
        "units": front.units.as_dict,
        "between": [str(goal) for goal in front.goals],
        "horizon": str(front.horizon),
        "solver": front.solver,
        "device": front.device,
        "seconds": round(front.seconds, 3),
        "caveats": list(front.caveats),
        "points": front_table(front).to_dict("records"),
    }


def _reading(front: Tradeoff) -> dict[str, Any]:
    """How the record was read, with the unit if the call named it."""
    unit = {"unit": front.inflow.unit} if front.inflow.unit_from == _BY_ARGUMENT else {}
    return dict(front.inflow.reading) | unit


def _draw(front: Tradeoff, folder: Path, left_out: dict[str, str]) -> tuple[str, bytes]:
    """Write the figure, and return how to read it, and the drawing; nothing of one that fails, which is noted."""
    from reservoir.report.figures.figures import attempted, write_figures
    from reservoir.report.figures.front import front_caption, front_figure

    drawn = attempted("front", lambda: (front_figure(front), front_caption(front)), left_out)
    files = write_figures({"front": drawn[0]}, folder / "figures", left_out=left_out) if drawn else []
    return (drawn[1], (folder / "figures/front.svg").read_bytes()) if drawn and files else ("", b"")


def _report(front: Tradeoff, front_caption: str, drawn: bytes) -> str:
    labels = front.labels
    table = front_table(front)
    cells = [
        (str(row[0]), *(quantity(float(value)) if value == value else "–" for value in row[1:]))
        for row in table.itertuples(index=False)
    ]
    titles = dict(zip((goal.replace("-", "_") for goal in front.goals), labels, strict=True)) | _TITLES
    titles["energy_gwh"] = goal_label(Goal.ENERGY, years=front.inflow.years)
    named = (titles.get(name, name.replace("_", " ").capitalize()) for name in table.columns[1:])
    columns = (Column("Point", text=True), *map(Column, named))
    told = "The command 'reservoir plan --point FOLDER/NAME' plans a point in full."
    first, last = front.goal_values[0], front.goal_values[-1]
    figures = tuple(
        (label, f"{quantity(float(one))} to {quantity(float(other))}")
        for label, one, other in zip(labels, first, last, strict=True)
    )
    heading = Heading(
        title=f"Tradeoff of {front.reservoir.name}: {' against '.join(front.goals).replace('-', ' ')}",
        description=front.reservoir.description,
        caveats=tuple(caveat[:1].upper() + caveat[1:] for caveat in front.caveats),
        figures=figures,
    )
    pictures = (picture("front", "The front", front_caption, drawn),) if drawn else ()
    facts = (
        ("Record", f"{front.inflow.span_text}, {counted(front.inflow.years)}; {front.inflow.scale_in(front.units)}"),
        ("Horizon", str(front.horizon)),
        ("Solver", f"{front.solver} on {front.device}, {front.seconds:.3g} s"),
    )
    sections = [
        Section("figures", "Figure", pictures=pictures) if pictures else None,
        Section("points", "Points", text=(told,), tables=(HtmlTable("points-table", "", columns, tuple(cells)),)),
        Section("provenance", "Provenance", facts=facts),
    ]
    return render(heading, [section for section in sections if section is not None])
