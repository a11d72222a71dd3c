"""Folders of a plan with anything in them are read or refused: nothing but the program's own error, and no warning."""

import copy
import json
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from reservoir.errors import InputError
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.report.html.page import render
from reservoir.report.html.plan_page import plan_heading, plan_sections
from reservoir.report.rules_folder import check_pictures
from tests.spoilt_json import somewhere

ODD = (
    None,
    True,
    0,
    -1,
    1.5,
    1e308,
    1e31,
    10**400,
    2**63,
    "x",
    "",
    "\x00",
    "\x1b[31m",
    "\ud800",
    [],
    {},
    [None],
    {"a": 1},
)
CELLS = ("", "nan", "-inf", "1e308", "1e-320", "0", "-1", "9999", "0001", "٣", "abc", '"', "\x00", "9" * 5000, "1e15")


@pytest.fixture
def folder(planned, tmp_path) -> Path:
    """A copy of a plan's folder, as earlier versions wrote it: without the hashes that would refuse every change."""
    copied = shutil.copytree(planned, tmp_path / "plan")
    told = json.loads((copied / "plan.json").read_text())
    del told["files"]
    (copied / "plan.json").write_text(json.dumps(told))
    return copied


def outcome(folder) -> str:
    """What becomes of a folder; whatever is read can be reported, too."""
    try:
        saved = read_plan(folder)
        check_pictures(saved)
        render(
            plan_heading(saved.plan, saved.checks), plan_sections(saved.plan, saved.checks, saved.origin, [])
        ).encode()
    except InputError as refused:
        assert str(refused).encode()
        return "refused"
    return "read"


def test_any_provenance_is_read_or_refused(folder):
    chance = random.Random(18)
    told = json.loads((folder / "plan.json").read_text())
    found = Counter()
    for _ in range(150):
        spoilt, holder, last = somewhere(told, chance)
        if chance.random() < 0.2:
            del holder[last]
        else:
            holder[last] = chance.choice(ODD)
        (folder / "plan.json").write_text(json.dumps(spoilt))
        found[outcome(folder)] += 1
    assert min(found["read"], found["refused"]) > 20


@pytest.mark.parametrize("name", ["schedule.csv", "summary.csv"])
def test_any_table_is_read_or_refused(folder, name):
    chance = random.Random(18)
    table = [row.split(",") for row in (folder / name).read_text().splitlines()]
    found = Counter()
    for _ in range(60):
        spoilt = copy.deepcopy(table)
        if chance.random() < 0.8:
            row = chance.choice(spoilt)
            row[chance.randrange(len(row))] = chance.choice(CELLS)
        else:
            spoilt.insert(chance.randrange(len(spoilt)), spoilt.pop(chance.randrange(len(spoilt))))
        (folder / name).write_text("\n".join(",".join(row) for row in spoilt) + "\n")
        found[outcome(folder)] += 1
    assert min(found["read"], found["refused"]) > 5


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b'{"a":' * 100_000, b'{"years":' + b"9" * 5000 + b"}", b"\xff", b""]
)
def test_a_provenance_beyond_reading_is_refused(folder, content):
    (folder / "plan.json").write_bytes(content)
    assert outcome(folder) == "refused"


@pytest.mark.parametrize("name", ["plan.json", "schedule.csv", "summary.csv", "reservoir.toml"])
def test_a_folder_in_the_place_of_a_file_is_refused(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    assert outcome(folder) == "refused"
