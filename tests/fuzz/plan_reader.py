"""Folders of a plan, of which any file is spoiled; in some of them the hashes are those of what is spoiled."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st

import reservoir as package
from reservoir.hydro.curves.approximation import approximate
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.plan_folder.files import FILES, read_caveats, write_provenance
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.plan_folder.tables import read_schedule
from reservoir.io.records.reader import read_inflow
from reservoir.io.reservoir_toml.draft import file_content
from reservoir.io.reservoir_toml.reader import read_reservoir, reservoir_of
from reservoir.planning.checks import plan_checks
from reservoir.report.folder import write_plan
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
        files = [path for path in sorted(written.rglob("*")) if path.is_file() and path.suffix != ".html"]
        return {path.relative_to(written).as_posix(): path.read_bytes() for path in files}


def reader() -> Reader:
    """`read_plan`, and what `reservoir operate` reads of a plan."""
    return Reader("plan.json", _cases(_sound()), _read)


@st.composite
def _cases(draw: Draw, sound: dict[str, bytes]) -> Case:
    """One file spoiled or gone; in most folders no hash tells."""
    name = draw(st.sampled_from((*sound, *["plan.json"] * 9, *["schedule.csv"] * 4)))
    files: dict[str, bytes | Oddity] = dict(sound)
    told = json.loads(sound["plan.json"])
    if name == "plan.json":
        content = draw(spoiled_json([told], most=2))
        files[name] = _hashed(content) if draw(st.integers(0, 5)) else content
        return files
    odd = draw(st.integers(0, 19)) == 0
    content = draw(st.sampled_from(Oddity)) if odd else draw(spoiled([sound[name]], _CELLS))
    files[name] = content
    if isinstance(content, bytes) and draw(st.integers(0, 3)):
        told[FILES][name] = hashlib.sha256(content).hexdigest()
        files["plan.json"] = _hashed(json.dumps(told).encode())
    return files


def _hashed(content: bytes) -> bytes:
    """A provenance with the hash of what it says, if it can have one."""
    try:
        told = json.loads(content)
        with tempfile.TemporaryDirectory() as place:
            write_provenance(Path(place), told)
            return (Path(place) / "plan.json").read_bytes()
    except (ValueError, AttributeError, TypeError, RecursionError):
        return content


_reservoir_of = lru_cache(_MOST_KEPT)(reservoir_of)
_approximate = lru_cache(_MOST_KEPT)(approximate)


def _read_reservoir(path: Path) -> Reservoir:
    """`read_reservoir`, quick where it has read the same bytes before: most cases spoil another file."""
    return _reservoir_of(file_content(path), str(path))


def _read(folder: Path) -> None:
    read_caveats(folder)
    read_schedule(folder)
    with (
        patch("reservoir.io.plan_folder.saved_plan.read_reservoir", _read_reservoir),
        patch("reservoir.problems.reservoir.year.approximate", _approximate),
    ):
        saved = read_plan(folder)
    assert saved.plan.inflow.years >= 1
