"""Folders of a plan, of which any file is spoiled; what is read can be reported."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

import reservoir as package
from reservoir.hydro.curves.approximation import approximate
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.plan_folder.tables import read_caveats
from reservoir.io.records.reader import read_inflow
from reservoir.io.reservoir_toml.reader import file_content, read_reservoir, reservoir_of
from reservoir.planning.checks import plan_checks
from reservoir.report.folder import write_plan
from reservoir.report.html.page import render
from reservoir.report.html.plan_page import plan_heading, plan_sections
from reservoir.report.rules_folder import check_pictures
from tests.fuzz.case import Case, Oddity, Reader
from tests.fuzz.json_spoiling import spoiled_json
from tests.fuzz.spoiling import spoiled
from tests.io.small_reservoir import SMALL

Draw = Callable[[st.SearchStrategy[Any]], Any]

_RECORD = (
    "date,inflow\n" + "\n".join(f"{1953 + at // 12}-{at % 12 + 1:02},{20 + at % 12 * 5}" for at in range(24)) + "\n"
)
_CELLS = (
    b"1953",
    b"1954",
    b"1953/54",
    b"13",
    b"0",
    b"1e15",
    b"1e16",
    b"1e-10",
    b"-5",
    b'"1"',
    b"1953,1,",
    b"99999999999",
)
#: Reservoirs that are kept with their fitted curves.
_MOST_KEPT = 100


def sound_folder() -> dict[str, bytes]:
    """The files of a plan of two years."""
    return dict(_sound())


@cache
def _sound() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "small.toml").write_text(SMALL)
        (folder / "record.csv").write_text(_RECORD)
        plan = package.optimise(read_reservoir(folder / "small.toml"), read_inflow(folder / "record.csv"), solver="dp")
        written = write_plan(plan, folder / "plan", plan_checks(plan), figures=False)
        return {path.name: path.read_bytes() for path in written.iterdir() if path.suffix != ".html"}


def reader() -> Reader:
    """`read_plan`, and the page that is written anew for it."""
    return Reader("plan.json", _cases(_sound()), _read)


@st.composite
def _cases(draw: Draw, sound: dict[str, bytes]) -> Case:
    """One file spoiled or gone; in most folders no hash tells."""
    name = draw(st.sampled_from((*sound, *["plan.json"] * 3, *["schedule.csv"] * 2, "summary.csv")))
    files: dict[str, bytes | Oddity] = dict(sound)
    told = json.loads(sound["plan.json"])
    if draw(st.integers(0, 5)):
        del told["files"]
    if name == "plan.json":
        files[name] = draw(spoiled_json([told], most=2))
        return files
    files[name] = (
        draw(st.sampled_from(Oddity)) if draw(st.integers(0, 19)) == 0 else draw(spoiled([sound[name]], _CELLS))
    )
    content = files[name]
    if isinstance(content, bytes) and draw(st.booleans()):
        for section in ("reservoir", "inflow"):
            if name.startswith(section):
                told[section]["sha256"] = hashlib.sha256(content).hexdigest()
    files["plan.json"] = json.dumps(told).encode()
    return files


_reservoir_of = lru_cache(_MOST_KEPT)(reservoir_of)
_approximate = lru_cache(_MOST_KEPT)(approximate)


def _read_reservoir(path: Path) -> Reservoir:
    """`read_reservoir`, quick where it has read the same bytes before: most cases spoil another file."""
    return _reservoir_of(file_content(path), str(path))


def _read(folder: Path) -> None:
    read_caveats(folder)
    with (
        patch("reservoir.io.plan_folder.saved_plan.read_reservoir", _read_reservoir),
        patch("reservoir.problems.reservoir.year.approximate", _approximate),
    ):
        saved = read_plan(folder)
    plan = saved.plan
    assert np.isfinite(plan.operation.energy_gwh).all()
    assert np.isfinite(plan.operation.storage_hm3).all()
    assert plan.inflow.years == plan.inflow.years >= 1
    check_pictures(saved)
    render(plan_heading(plan, saved.checks), plan_sections(plan, saved.checks, saved.origin, [])).encode()
