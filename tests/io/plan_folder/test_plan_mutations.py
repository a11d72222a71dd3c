"""Folders of a plan with anything in them are read or refused: nothing but the program's own error, and no warning."""

import copy
import json
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from reservoir.errors import InputError
from reservoir.io.plan_folder.files import FILES, file_hashes, write_provenance
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.plan_folder.tables import read_schedule
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
    """A copy of a plan's folder that may be spoilt."""
    return shutil.copytree(planned, tmp_path / "plan")


def outcome(folder, read=read_plan) -> str:
    """What becomes of a folder."""
    try:
        read(folder)
    except InputError as refused:
        assert str(refused).encode()
        return "refused"
    return "read"


def test_any_provenance_is_read_or_refused_even_with_a_hash_of_its_own(folder):
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
        assert outcome(folder) == "refused" or spoilt == told
        if abs(max(numbers(spoilt), key=abs)) < 1e300:
            write_provenance(folder, spoilt)
            found[outcome(folder)] += 1
    assert min(found["read"], found["refused"]) > 20


def numbers(value):
    """All numbers of JSON, and 0."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [
        0 if value is None or isinstance(value, str | dict | list) else value,
        *(n for each in inside for n in numbers(each)),
    ]


def test_any_array_is_read_or_refused_even_with_a_hash_of_its_own(folder):
    chance = random.Random(18)
    told = json.loads((folder / "plan.json").read_text())
    names, found = sorted(name for name in told[FILES] if name.startswith("arrays/")), Counter()
    for _ in range(100):
        name = chance.choice(names)
        content = bytearray((folder / name).read_bytes())
        before, place = bytes(content), chance.choice((chance.randrange(128), chance.randrange(len(content))))
        content[place] ^= 1 << chance.randrange(8)
        (folder / name).write_bytes(content)
        assert outcome(folder) == "refused"
        write_provenance(folder, told | {FILES: file_hashes(folder, list(told[FILES]))})
        found[outcome(folder)] += 1
        (folder / name).write_bytes(before)
        write_provenance(folder, told)
    assert min(found["read"], found["refused"]) > 5


def test_any_table_is_read_or_refused(folder):
    chance = random.Random(18)
    table = [row.split(",") for row in (folder / "schedule.csv").read_text().splitlines()]
    found = Counter()
    for _ in range(60):
        spoilt = copy.deepcopy(table)
        if chance.random() < 0.8:
            row = chance.choice(spoilt)
            row[chance.randrange(len(row))] = chance.choice(CELLS)
        else:
            spoilt.insert(chance.randrange(len(spoilt)), spoilt.pop(chance.randrange(len(spoilt))))
        (folder / "schedule.csv").write_text("\n".join(",".join(row) for row in spoilt) + "\n")
        found[outcome(folder, read_schedule)] += 1
        assert outcome(folder) == "refused" or spoilt == table
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
