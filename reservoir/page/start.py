"""The Start screen: files as a newcomer has them become a case, once nothing is invented that was not agreed to."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reservoir.cases import bundled_case, case_names
from reservoir.errors import InputError, Mistake
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.first_case import READING, FirstCase, first_case
from reservoir.io.output import write_new
from reservoir.io.reservoir_toml.writer import write_draft

if TYPE_CHECKING:
    from reservoir.page.desk import Desk
    from reservoir.page.workspace import Tell

#: Cells of a workbook that is dropped on the page.
MOST_CELLS = 1_000_000
_RECORDS = (".csv", ".txt", ".tsv", ".xlsx", ".xlsm", ".nc")


def offered(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """What can be opened: bundled cases with their caveats, saved plans, reservoir files and records."""
    kinds = {name: kind for kind in ("reservoir", "system") for name in case_names(kind)}
    folder = desk.workspace.folder
    found = sorted(each.relative_to(folder).as_posix() for some in ("*.*", "uploads/*.*") for each in folder.glob(some))
    return {
        "cases": [{"name": name, "kind": kind, "says": bundled_case(name).says} for name, kind in kinds.items()],
        "plans": desk.workspace.saved(),
        "reservoirs": [path for path in found if path.endswith(".toml")],
        "records": [path for path in found if path.casefold().endswith(_RECORDS)],
        "reading": READING,
    }


def read(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """How files were read, and the fields of numbers that nobody gave."""
    case, units = _case(desk, ask, tell), UnitSystem.of("us" if ask.get("units") == "us" else "si")
    return {
        "read": list(case.draft.read) if case.draft else [],
        "record": {topic: [*said] for topic, said in case.check.sentences(units).items()} if case.check else {},
        "sheets": case.sheets,
        "fields": list(case.fields()),
        "left": [each.column for each in case.left()],
        "faults": {about: [*map(_on_page, mistakes)] for about, mistakes in case.faults.items()},
    }


def begin(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Write the reservoir file and the record into the workspace; gives the words that open them.

    Raises
    ------
    InputError
        With all that was refused, and every invented number that was not agreed to.
    """
    case, folder = _case(desk, ask, tell), desk.workspace.folder
    wrong = [replace(each, column=each.column or about) for about, some in case.faults.items() for each in some]
    wrong += case.left()
    if wrong or case.draft is None or case.check is None:
        raise InputError(wrong or [Mistake("two files are needed", "a table of levels, and a record of inflow")])
    record = desk.workspace.file(str(ask.get("inflow") or ask["table"]))
    endings = (f"-{number}" * (number > 1) for number in range(1, 1000))
    names = ((folder / f"base{end}.toml", folder / f"inflow{end}{record.suffix.casefold()}") for end in endings)
    base, own = next(files for files in names if not any(map(Path.exists, files)))
    write_draft(case.draft, base)
    write_new(own, partial(shutil.copyfile, record), force=False, choose="", replace="")
    return {"words": [own.name, "--reservoir", base.name, *case.words]}


def _on_page(mistake: Mistake) -> str:
    """A mistake in the words of the page: options of commands are its fields."""
    fields = {name.replace("_", "-"): label for name, (label, *_) in READING.items()}
    return re.sub(rf"--({'|'.join(fields)})\b", lambda option: f"“{fields[option[1]]}”", str(mistake))


def _case(desk: Desk, ask: Mapping[str, Any], tell: Tell) -> FirstCase:
    """What a browser has dropped and typed, as a case."""
    tell("reading", 0, None)
    files = dict[str, Path]()
    missing = FirstCase({})
    for which in ("table", "inflow"):
        with missing.telling(which):
            if ask.get(which):
                files[which] = desk.workspace.file(str(ask[which]))
    try:
        typed = {str(key): (str(text), str(unit)) for key, (text, unit) in dict(ask.get("typed") or {}).items()}
        reading, kept = (
            {str(key): str(text) for key, text in dict(ask.get(of) or {}).items()} for of in ("reading", "kept")
        )
        sheets = [str(name) for name in ask.get("sheets") or ()]
    except (TypeError, ValueError):
        raise InputError("is no question of the Start screen", "pairs of a number and its unit, by key") from None
    how: dict[str, Any] = {"sheets": sheets, "reading": reading, "typed": typed, "kept": kept, "most_cells": MOST_CELLS}
    case = first_case(files.get("table"), files.get("inflow"), name=str(ask.get("name") or ""), **how)
    case.faults |= missing.faults
    return case


ANSWERS = {"offered": offered, "read": read, "begin": begin}
