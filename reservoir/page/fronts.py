"""The front between two goals: the command finds it, and plans a point of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, goal_label
from reservoir.page.workspace import Tell
from reservoir.report.tradeoff_folder import INFLOW, PROVENANCE, read_tradeoff
from reservoir.text.quantities import told_apart

if TYPE_CHECKING:
    from reservoir.page.desk import Desk

#: Points of a front, at least and at most, on a page.
_FEWEST, _MOST = 3, 201


def fronts(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Goals that there are, with their labels, and the folders of fronts of what is open, the newest last."""
    currency = desk.require_case().base.objective.currency
    found = sorted(desk.workspace.folder.glob(f"*/{PROVENANCE}"), key=lambda path: path.stat().st_mtime)
    names = [path.parent.name for path in found if _is_of(desk, read_tradeoff(path.parent))]
    return {"goals": {str(goal): goal_label(goal, currency) for goal in Goal}, "fronts": names}


def find_front(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Find the front between the two ``goals`` of what is open, of so many ``points``."""
    case, points = desk.require_case(), ask.get("points", 21)
    goals = [str(goal) for goal in ask.get("goals", ())]
    if not isinstance(points, int) or not _FEWEST <= points <= _MOST:
        raise InputError("is no number of points", f"{_FEWEST} to {_MOST}", column="points", value=points)
    if not set(goals) <= {*Goal}:
        raise InputError("are no goals", f"two of {', '.join(Goal)}", column="goals", value=", ".join(goals))
    name = _free(desk, f"front-{'-'.join(goals)}"[:36])
    words = ["tradeoff", *_words(desk), *case.reservoir, "--between", ",".join(goals)]
    words += ["--points", str(points), "--no-figures", "--out", name]
    desk.workspace.run(words, tell)
    return front(desk, {"folder": name}, tell) | {"command": desk.workspace.shown(words)}


def front(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """The points of a ``folder`` by the command."""
    case, folder = desk.require_case(), desk.workspace.path(str(ask.get("folder", "")))
    origin = read_tradeoff(folder)
    if not _is_of(desk, origin):
        raise InputError("is the front of another case", mend="open that one", column="folder", value=folder.name)
    goals, points = [Goal(name) for name in origin["between"]], origin["points"]
    values = [[point[goal.replace("-", "_")] for point in points] for goal in goals]
    return {
        "folder": folder.name,
        "labels": [goal_label(goal, case.base.objective.currency, case.inflow.years) for goal in goals],
        "points": [point["point"] for point in points],
        "values": values,
        "shown": [told_apart(each) for each in values],
        "missed": [round(point["violation"], 6) > 0 for point in points],
    }


def plan_point(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Plan a ``point`` of a ``folder`` in full, into a folder of the workspace, unless it is there."""
    folder, point = desk.workspace.path(str(ask.get("folder", ""))), desk.workspace.path(str(ask.get("point", "")))
    name = f"{folder.name}-{point.name}"[-40:]
    words = ["plan", "--point", f"{folder.name}/{point.name}", "--no-figures", "--out", name]
    if not (folder / INFLOW).is_file():  # the folder has no copy of a workbook, nor of an ensemble
        words[1:1] = _words(desk)
    if name not in desk.workspace.saved():
        desk.workspace.run(words, tell)
    return {"plan": name, "saved": desk.workspace.saved(), "command": desk.workspace.shown(words)}


def _is_of(desk: Desk, origin: Mapping[str, Any]) -> bool:
    """Whether a front is of the record and the reservoir that are open."""
    case = desk.require_case()
    record = case.inflow if isinstance(case.inflow, Inflow) else case.inflow.first
    return bool((origin["reservoir"]["name"], origin["inflow"]["sha256"]) == (case.base.name, record.sha256))


def _words(desk: Desk) -> list[str]:
    """Words by which a command reads the record that is open; the goals are those of the front."""
    words = [*desk.require_case().words]
    if "--objective" in words:
        place = words.index("--objective")
        del words[place : place + 2]
    return words


def _free(desk: Desk, name: str) -> str:
    """A name that no folder has."""
    names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next(each for each in names if not desk.workspace.path(each).exists())


#: Questions of this screen.
ANSWERS = {"fronts": fronts, "find-front": find_front, "front": front, "plan-point": plan_point}
