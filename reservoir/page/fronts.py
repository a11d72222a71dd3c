"""The front between two goals: the command finds it, and plans a point of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, goal_label
from reservoir.page.workspace import CancelledError, Tell
from reservoir.planning.tradeoff import FRONT_STAGES
from reservoir.report.tradeoff_folder import INFLOW, PROVENANCE, read_tradeoff
from reservoir.text.quantities import told_apart

if TYPE_CHECKING:
    from reservoir.page.desk import Desk

#: Points of a front, at least and at most, on a page.
_FEWEST, _MOST = 3, 201


def fronts_in(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Folders of fronts in a folder by name, and what each says of itself, the newest last; none that is damaged."""
    for file in sorted(folder.glob(f"*/{PROVENANCE}"), key=lambda file: file.stat().st_mtime):
        with suppress(InputError):
            yield file.parent.name, read_tradeoff(file.parent)


def values_of(origin: Mapping[str, Any]) -> list[list[float]]:
    """What the points of a front give of each of its two goals."""
    return [[point[goal.replace("-", "_")] for point in origin["points"]] for goal in origin["between"]]


def fronts(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Goals that there are, with their labels, and the folders of fronts of what is open, the newest last."""
    currency = desk.opened.case.base.objective.currency
    names = [name for name, origin in fronts_in(desk.workspace.folder) if _is_of(desk, origin)]
    return {"goals": {str(goal): goal_label(goal, currency) for goal in Goal}, "fronts": names}


def find_front(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Find the front between the two ``goals`` of what is open, with the changes of a wish, of so many ``points``."""
    case, points, wish = desk.opened.case, ask.get("points", 21), desk.wish_of(ask)
    goals = [str(goal) for goal in ask.get("goals", ())]
    if not isinstance(points, int) or not _FEWEST <= points <= _MOST:
        raise InputError("is no number of points", f"{_FEWEST} to {_MOST}", column="points", value=points)
    if not set(goals) <= {*Goal}:
        raise InputError("are no goals", f"two of {', '.join(Goal)}", column="goals", value=", ".join(goals))
    name, far = _free(desk, f"front-{'-'.join(goals)}"[:36]), list[tuple[str, float, int | None]]()

    def told(stage: str, done: float, total: int | None) -> None:
        """Of a system, tell how many points are planned, and what is done for the next one."""
        if stage in FRONT_STAGES:
            far[:] = [(stage, done, total)]
        tell(*((f"{far[0][0]} ({stage})", *far[0][1:]) if far and stage not in FRONT_STAGES else (stage, done, total)))

    with desk.changed_files(wish, name) if wish else nullcontext(case.reservoir) as reservoir:
        words = ["tradeoff", *_words(desk), *reservoir, "--between", ",".join(goals)]
        words += ["--points", str(points), "--no-figures", "--out", name]
        try:
            desk.workspace.run(words, told)
        except CancelledError as end:
            planned = (
                ["nothing was written; {1:g} of {2} {0} were planned, and fewer take less time".format(*far[0])]
                if far
                else []
            )
            raise CancelledError(end.why, *planned) from None
    return front(desk, {"folder": name}, tell) | {"command": desk.workspace.shown(words)}


def front(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """The points of a ``folder`` by the command."""
    case, folder = desk.opened.case, desk.workspace.path(str(ask.get("folder", "")))
    origin = read_tradeoff(folder)
    if not _is_of(desk, origin):
        raise InputError("is the front of another case", mend="open that one", column="folder", value=folder.name)
    goals, points, values = [Goal(name) for name in origin["between"]], origin["points"], values_of(origin)
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
    case = desk.opened.case
    record = case.inflow if isinstance(case.inflow, Inflow) else case.inflow.first
    return bool((origin["reservoir"]["name"], origin["inflow"]["sha256"]) == (case.base.name, record.sha256))


def _words(desk: Desk) -> list[str]:
    """Words by which a command reads the record that is open; the goals are those of the front."""
    words = [*desk.opened.case.words]
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
