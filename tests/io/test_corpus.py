"""Every odd file of the corpus is refused with its whole message: where, what was found, what is expected, the fix."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reservoir.errors import InputError
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.plan_folder.tables import read_schedule
from reservoir.io.records.reader import read_inflow
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.io.rule_file import read_rule
from reservoir.problems.bits import read_spin_glass
from reservoir.problems.tours import read_tour, tour_problem
from tests.fuzz.plan_reader import sound_folder
from tests.io.corpus import inflow, plan, problems, reservoir, rule
from tests.io.small_reservoir import SMALL
from tests.problems.tours.square import SQUARE

RULE = Path(__file__).parents[1] / "earlier" / "rules" / "guide-curve.json"


def read_a_tour(path: Path) -> object:
    return read_tour(path, 4)


#: Name of the file, what it is made from, how it is read, and the changes.
CHANGED: tuple[tuple[str, str, Callable[[Path], object], dict[str, tuple[str, str, str]]], ...] = (
    ("inflow.csv", inflow.LONG, read_inflow, inflow.BY_MONTHS),
    ("inflow.csv", inflow.WIDE, read_inflow, inflow.BY_YEARS),
    ("r.toml", SMALL, read_reservoir, reservoir.ODD),
    ("some.tsp", SQUARE, tour_problem, problems.OF_CITIES),
    ("some.tour", problems.TOUR, read_a_tour, problems.OF_A_TOUR),
    ("glass", problems.GLASS, read_spin_glass, problems.OF_A_GLASS),
)


def said_of(read: Callable[[Path], object], path: Path) -> str:
    """What is said of a file, or a folder, with its place left out."""
    with pytest.raises(InputError) as refused:
        read(path)
    folder = path if path.is_dir() else path.parent
    return str(refused.value).replace(f"{folder}/", "").replace(str(folder), "FOLDER")


@pytest.mark.parametrize(("name", "base", "read", "_"), CHANGED)
def test_what_is_changed_was_sound_before(name, base, read, _, tmp_path):
    (tmp_path / name).write_text(base, encoding="utf-8")
    read(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "base", "read", "change"),
    [
        pytest.param(name, base, read, change, id=f"{name}: {oddity}")
        for name, base, read, table in CHANGED
        for oddity, change in table.items()
    ],
)
def test_an_odd_file_is_refused_with_its_message(name, base, read, change, tmp_path):
    old, new, said = change
    assert old in base
    (tmp_path / name).write_text(base.replace(old, new, 1) if old else new, encoding="utf-8")
    assert said_of(read, tmp_path / name) == said


@pytest.mark.parametrize(("content", "said"), inflow.NO_RECORD.values(), ids=inflow.NO_RECORD)
def test_what_is_no_record_is_refused_with_its_message(content, said, tmp_path):
    (tmp_path / "inflow.csv").write_bytes(content)
    assert said_of(read_inflow, tmp_path / "inflow.csv") == said


@pytest.mark.parametrize(("key", "value", "said"), rule.ODD)
def test_an_odd_rule_is_refused_with_its_message(key, value, said, tmp_path):
    content: Any = {"format": 1, "rule": json.loads(RULE.read_text())["rule"]}
    *above, last = [int(part) if part.isdigit() else part for part in re.findall(r"\w+", key)]
    holder = content
    for part in above:
        holder = holder[part]
    holder[last] = "HERE"
    (tmp_path / "rule.json").write_text(json.dumps(content).replace('"HERE"', value))
    assert said_of(read_rule, tmp_path / "rule.json") == said


@pytest.mark.parametrize(("read", "name", "old", "new", "said"), plan.ODD.values(), ids=plan.ODD)
def test_an_odd_plan_is_refused_with_its_message(read, name, old, new, said, tmp_path):
    files = sound_folder()
    for each, content in files.items():
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).write_bytes(content)
    if old is None:
        (tmp_path / name).unlink()
    else:
        assert old.encode() in files[name]
        changed = new.encode(errors="surrogateescape")  # which stands for a byte that is no UTF-8
        (tmp_path / name).write_bytes(files[name].replace(old.encode(), changed, 1))
    assert said_of({"plan": read_plan, "schedule": read_schedule}[read], tmp_path) == said


def test_the_corpus_has_at_least_150_files():
    tables = [*(table for *_, table in CHANGED), inflow.NO_RECORD, rule.ODD, plan.ODD]
    assert sum(map(len, tables)) >= 150
