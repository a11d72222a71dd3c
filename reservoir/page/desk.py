"""What a page has open, and its answers to what a browser asks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reservoir import __version__
from reservoir.cases import bundled_case
from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.io.file_keys import Changes
from reservoir.io.output import write_new
from reservoir.io.plan_folder.files import PROVENANCE
from reservoir.page.drawn import described, drawn_plan, numbers
from reservoir.page.session import PlanningSession
from reservoir.page.workspace import Tell, Workspace
from reservoir.planning.plan import Plan, optimise
from reservoir.planning.system_plan import SystemPlan

#: Years that are planned while somebody waits.
MOST_YEARS = 8_000
#: In the folder of a saved plan: what was changed, and of which base.
PAGE = "page.json"
_VALUES_SOLVER = "dp-opencl"
#: What answers a kind of question: with the desk, the question, and whom to tell of progress.
Answer = Callable[["Desk", Mapping[str, Any], Tell], dict[str, Any]]


@dataclass(frozen=True)
class OpenCase:
    """A reservoir, or a system, and its record.

    Parameters
    ----------
    base : Reservoir or System
    inflow : Inflow or SiteInflows
    words : tuple of str
        Words by which a command reads the record and how, without the reservoir: ``("inflow.csv", "--unit", "cfs")``.
    file : Path
        The file of the reservoir or the system, whose text is edited where it is saved with changes.
    how : mapping
        Arguments of plans that the words ask for, such as ``horizon``.
    """

    base: Reservoir | System
    inflow: Inflow | SiteInflows
    words: tuple[str, ...]
    file: Path
    how: Mapping[str, Any]

    @property
    def reservoir(self) -> tuple[str, ...]:
        """Words that name the reservoir besides; none of a bundled case, which they name already."""
        bundled = self.words[:1] == ("--case",) and self.file == bundled_case(self.words[1]).reservoir_file
        return () if bundled else ("--reservoir", str(self.file))


class Desk:
    """What is open on a page, and who plans it.

    Parameters
    ----------
    workspace : Workspace
    read : callable
        Reads the case that words of a command name: ``read(["inflow.csv", "--reservoir", "base.toml"])``.
    how : mapping
        Arguments of every plan, such as ``device``.

    Attributes
    ----------
    case : OpenCase or None
        None until something is opened.
    """

    def __init__(
        self, workspace: Workspace, read: Callable[[Sequence[str]], OpenCase], how: Mapping[str, Any] | None = None
    ) -> None:
        self.workspace = workspace
        self.case: OpenCase | None = None
        self.wish: Changes = {}
        self._read, self._how = read, dict(how or {})
        self._session: PlanningSession | None = None
        self._plan: Plan | SystemPlan | None = None

    @property
    def session(self) -> PlanningSession:
        """Plans of what is open.

        Raises
        ------
        InputError
            If nothing is.
        """
        if self._session is None:
            raise InputError("nothing is open", mend="open a case on the Start screen")
        return self._session

    @property
    def plan(self) -> Plan | SystemPlan:
        """The plan of the base."""
        _ = self.session
        assert self._plan is not None
        return self._plan

    def open(self, words: Sequence[str], tell: Tell) -> None:
        """Read a case and `take` it.

        Raises
        ------
        InputError
            With every mistake of its files.
        """
        self.take(self._read(words), tell)

    def take(self, case: OpenCase, tell: Tell) -> None:
        """Plan a case that was read, which is open then; what was open stays if it is refused.

        Raises
        ------
        InputError
            If it has too many years, or cannot be planned.
        """
        if case.inflow.years > MOST_YEARS:
            expected = f"at most {MOST_YEARS:,} years on a page"
            raise InputError(f"has {case.inflow.years:,} years", expected, "plan it with `reservoir plan`")
        tell("preparing: curves are fitted and kernels are built", 0, None)
        session = PlanningSession(case.base, case.inflow, **self._how, **case.how)
        session.prepare()
        plan = session.plan({})
        self.case, self._session, self._plan, self.wish = case, session, plan, {}

    def answer(self, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Answer a question, by its ``kind``.

        Raises
        ------
        InputError
            If there is no such kind, or what it asks for is refused.
        """
        known = answers()
        kind = str(ask.get("kind"))
        if kind not in known:
            raise InputError("is no question of this page", f"one of {', '.join(known)}", value=kind)
        return known[kind](self, ask, tell)

    def require_case(self) -> OpenCase:
        """What is open.

        Raises
        ------
        InputError
            If nothing is.
        """
        _ = self.session
        assert self.case is not None
        return self.case


def changes_of(ask: Mapping[str, Any]) -> Changes:
    """The changed keys of a question.

    Raises
    ------
    InputError
        If they are no mapping of keys to values of a file.
    """
    wish = ask.get("wish", {})
    if not isinstance(wish, dict) or len(wish) > 200:
        raise InputError("is no list of changes", "values by the keys of a reservoir file", column="wish")
    return wish


def _info(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """What is open, and its plan."""
    saved = {"saved": desk.workspace.saved(), "folder": str(desk.workspace.folder)}
    if desk.case is None:
        return saved | {"info": None}
    base = drawn_plan(desk.plan, desk.plan, checked=True)
    return saved | {"info": described(desk.case.base, desk.plan), "base": base, "wish": desk.wish}


def _open(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Open a saved plan of the workspace, or what words of a command name."""
    if name := ask.get("plan"):
        open_plan(desk, desk.workspace.file(f"{name}/{PROVENANCE}").parent, tell)
    else:
        words = [str(word) for word in ask.get("words", ())]
        for word in words:
            desk.workspace.require_inside(word)
        desk.open(words, tell)
    return _info(desk, ask, tell)


def open_plan(desk: Desk, folder: Path, tell: Tell) -> None:
    """Open the folder of a plan: its base with what was changed, or itself as a base."""
    page = folder / PAGE
    if page.is_file():
        stated = json.loads(page.read_text("utf-8"))
        desk.open(stated["base"], tell)
        desk.wish = stated["wish"]
        return
    desk.open([str(folder)], tell)


def _preview(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    return drawn_plan(desk.session.preview(changes_of(ask), progress=tell), desk.plan, checked=False)


def _prepare(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Build the kernels for a reservoir of the kind that a wish makes of it, while somebody types."""
    desk.session.preview(changes_of(ask))
    return {}


def _full(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    return drawn_plan(desk.session.plan(changes_of(ask), progress=tell), desk.plan, checked=True)


def _values(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Water values by month and level, which dynamic programming finds."""
    case = desk.require_case()
    if not isinstance(case.base, Reservoir) or not isinstance(case.inflow, Inflow):
        raise InputError("is of one reservoir", mend="`reservoir plan` writes the prices of a system (prices.csv)")
    tell("water values by dynamic programming", 0, None)
    lake = desk.session.keys.changed(changes_of(ask))
    plan = optimise(lake, case.inflow, solver=_VALUES_SOLVER, reference=False, **desk._how, **case.how)
    values = plan.water_values
    assert values is not None
    table = values.table
    return {
        str(name): numbers(column) if column.dtype.kind == "f" else column.tolist() for name, column in table.items()
    }


def _save(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Write the changed files of the reservoir or the system, and the plan by the command, which reads them."""
    case, wish, name = desk.require_case(), changes_of(ask), str(ask.get("name", ""))
    folder = desk.workspace.path(name)
    replaced = bool(ask.get("replace"))
    if folder.exists() and not replaced:
        raise InputError("there is a folder of this name", mend="choose another name", column="name", value=name)
    desk.session.keys.changed(wish)
    desk.workspace.folder.mkdir(parents=True, exist_ok=True)
    for path, content in desk.session.keys.edited(wish, desk.workspace.folder, name).items():
        again = {"choose": "choose another name", "replace": "let it be replaced"}
        write_new(path, content.decode(), force=replaced, **again)
    # of a system, the session has the first of what the command runs
    solver = [] if isinstance(case.base, System) else ["--solver", desk.session.solver]
    words = ["plan", *case.words, "--reservoir", f"{name}.toml", *solver, "--out", name]
    words += ["--force"] * replaced
    text = desk.workspace.run(words, tell)
    base = [*case.words, *case.reservoir]
    (folder / PAGE).write_text(json.dumps({"base": base, "wish": wish, "version": __version__}, indent=1), "utf-8")
    return {"saved": desk.workspace.saved(), "command": desk.workspace.shown(words), "said": text, "name": name}


#: Questions that a browser may ask; those of the other screens stand in their modules.
ANSWERS: dict[str, Answer] = {"info": _info, "open": _open, "preview": _preview, "full": _full}
ANSWERS |= {"prepare": _prepare, "values": _values, "save": _save}


def answers() -> dict[str, Answer]:
    """The questions of all screens."""
    from reservoir.page import comparing, fronts, operating, start

    return ANSWERS | start.ANSWERS | comparing.ANSWERS | fronts.ANSWERS | operating.ANSWERS
