"""What a page has open, and its answers to what a browser asks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reservoir import __version__
from reservoir.cases import bundled_case
from reservoir.errors import InputError, ReservoirError
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
#: Keys that are changed at once.
_MOST_CHANGES = 200
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
        of_case = bundled_case(self.words[1]).reservoir_file if self.words[:1] == ("--case",) else None
        bundled = of_case is not None and self.file.resolve() == of_case.resolve()
        return () if bundled else ("--reservoir", str(self.file))


@dataclass(frozen=True)
class Opened:
    """A case that is open, who plans its changes, its own plan, and the changes that it was saved with."""

    case: OpenCase
    session: PlanningSession
    plan: Plan | SystemPlan
    wish: Changes

    @property
    def several(self) -> bool:
        """Whether it is a system."""
        return isinstance(self.case.base, System)

    @property
    def reservoirs(self) -> tuple[Reservoir, ...]:
        """The reservoir, or those of the system."""
        return self.case.base.reservoirs if isinstance(self.case.base, System) else (self.case.base,)

    @property
    def solver(self) -> tuple[str, ...]:
        """Words that name the solver; of a system, the session has the first of what the command runs."""
        return () if self.several else ("--solver", self.session.solver)


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
    current : Opened or None
        None until something is opened.
    """

    def __init__(
        self, workspace: Workspace, read: Callable[[Sequence[str]], OpenCase], how: Mapping[str, Any] | None = None
    ) -> None:
        self.workspace, self.how = workspace, dict(how or {})
        self.current: Opened | None = None
        self._read = read

    @property
    def opened(self) -> Opened:
        """What is open.

        Raises
        ------
        InputError
            If nothing is.
        """
        if self.current is None:
            raise InputError("nothing is open", mend="open a case on the Start screen")
        return self.current

    def open(self, words: Sequence[str], tell: Tell, wish: Changes | None = None) -> None:
        """Read a case and `take` it.

        Raises
        ------
        InputError
            With every mistake of its files.
        """
        self.take(self._read(words), tell, wish)

    def take(self, case: OpenCase, tell: Tell, wish: Changes | None = None) -> None:
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
        session = PlanningSession(case.base, case.inflow, **self.how, **case.how)
        session.prepare()
        self.current = Opened(case, session, session.plan({}), wish or {})

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

    @staticmethod
    def wish_of(ask: Mapping[str, Any]) -> Changes:
        """The changed keys of a question.

        Raises
        ------
        InputError
            If they are no mapping of keys to values of a file.
        """
        wish = ask.get("wish", {})
        if not isinstance(wish, dict) or len(wish) > _MOST_CHANGES:
            raise InputError("is no list of changes", "values by the keys of a reservoir file", column="wish")
        return wish

    @contextmanager
    def changed_files(self, wish: Changes, name: str, *, replaced: bool = False) -> Iterator[tuple[str, ...]]:
        """Write the files of what is open with changes, for a command; gives the words that name them.

        Where the command writes no folder of that name, files are again as they were.

        Raises
        ------
        InputError
            With every mistake of the changes; if there are such files and they are not to be replaced.
        """
        keys, folder = self.opened.session.keys, self.workspace.path(name)
        keys.changed(wish)
        self.workspace.folder.mkdir(parents=True, exist_ok=True)
        files = keys.edited(wish, self.workspace.folder, name)
        before = {path: path.read_bytes() for path in files if path.exists()}
        again = {"choose": "choose another name", "replace": "let it be replaced"}
        try:
            for path, content in files.items():
                write_new(path, content.decode(), force=replaced, **again)
            yield ("--reservoir", f"{name}.toml")
        except ReservoirError:
            for path in files:
                if path in before:
                    path.write_bytes(before[path])
                elif not folder.exists():
                    path.unlink(missing_ok=True)
            raise


def _info(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """What is open, and its plan."""
    saved, now = {"saved": desk.workspace.saved(), "folder": str(desk.workspace.folder)}, desk.current
    if now is None:
        return saved | {"info": None}
    base = drawn_plan(now.plan, now.plan, checked=True)
    return saved | {"info": described(now.case.base, now.plan), "base": base, "wish": now.wish}


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
    stated: Any = json.loads(page.read_text("utf-8")) if page.is_file() else {"base": [str(folder)], "wish": {}}
    desk.open(stated["base"], tell, stated["wish"])


def _planned(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Plan a wish: as a ``preview``, or in ``full``."""
    now, full = desk.opened, ask["kind"] == "full"
    plan = (now.session.plan if full else now.session.preview)(desk.wish_of(ask), progress=tell)
    return drawn_plan(plan, now.plan, checked=full)


def _prepare(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Build the kernels for a reservoir of the kind that a wish makes of it, while somebody types."""
    desk.opened.session.preview(desk.wish_of(ask))
    return {}


def _values(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Water values by month and level, which dynamic programming finds."""
    case = desk.opened.case
    if not isinstance(case.base, Reservoir) or not isinstance(case.inflow, Inflow):
        raise InputError("is of one reservoir", mend="`reservoir plan` writes the prices of a system (prices.csv)")
    tell("water values by dynamic programming", 0, None)
    lake = desk.opened.session.keys.changed(desk.wish_of(ask))
    plan = optimise(lake, case.inflow, solver=_VALUES_SOLVER, reference=False, **desk.how, **case.how)
    values = plan.water_values
    assert values is not None
    table = values.table
    return {
        str(name): numbers(column) if column.dtype.kind == "f" else column.tolist() for name, column in table.items()
    }


def _save(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Write the changed files of the reservoir or the system, and the plan by the command, which reads them."""
    now, wish, name, replaced = desk.opened, desk.wish_of(ask), str(ask.get("name", "")), bool(ask.get("replace"))
    folder = desk.workspace.path(name)
    if folder.exists() and not replaced:
        raise InputError("there is a folder of this name", mend="choose another name", column="name", value=name)
    with desk.changed_files(wish, name, replaced=replaced) as changed:
        words = ["plan", *now.case.words, *changed, *now.solver, "--out", name, *["--force"] * replaced]
        text = desk.workspace.run(words, tell)
    base = [*now.case.words, *now.case.reservoir]
    (folder / PAGE).write_text(json.dumps({"base": base, "wish": wish, "version": __version__}, indent=1), "utf-8")
    return {"saved": desk.workspace.saved(), "command": desk.workspace.shown(words), "said": text, "name": name}


#: Questions that a browser may ask; those of the other screens stand in their modules.
ANSWERS: dict[str, Answer] = {"info": _info, "open": _open, "preview": _planned, "full": _planned}
ANSWERS |= {"prepare": _prepare, "values": _values, "save": _save}


def answers() -> dict[str, Answer]:
    """The questions of all screens."""
    from reservoir.page import comparing, fronts, operating, start

    return ANSWERS | start.ANSWERS | comparing.ANSWERS | fronts.ANSWERS | operating.ANSWERS
