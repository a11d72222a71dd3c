"""Whatever stands in a reservoir file, however large or odd, it is read within bounds or refused in plain words."""

from __future__ import annotations

import os
import random
import re
import threading
from pathlib import Path

import pytest

from reservoir.errors import InputError
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.text import data_file as limited_read
from tests.io.small_reservoir import SMALL

DATA = Path(__file__).parents[2] / "data"


def complaint(tmp_path: Path, text: str) -> str:
    path = tmp_path / "r.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_reservoir(path)
    return str(caught.value).replace(str(path), "r.toml")


def with_line(line: str) -> str:
    return SMALL.replace("first_month = 1\n", f"first_month = 1\n{line}\n")


def test_a_large_file_is_refused_before_it_is_held(tmp_path: Path) -> None:
    assert "is too large; expected at most 1 MB" in complaint(tmp_path, SMALL + "# comment\n" * 110_000)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_an_endless_device_is_refused() -> None:
    with pytest.raises(InputError, match="is too large"):
        read_reservoir("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_without_a_writer_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited_read, "PATIENCE_SECONDS", 0.2)
    os.mkfifo(tmp_path / "r.toml")
    with pytest.raises(InputError, match="a pipe that received no data"):
        read_reservoir(tmp_path / "r.toml")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_read_once_and_its_bytes_are_kept(tmp_path: Path) -> None:
    pipe = tmp_path / "r.toml"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(SMALL,))
    writer.start()
    reservoir = read_reservoir(pipe)
    writer.join()
    assert reservoir.content == SMALL.encode()
    assert "content" not in repr(reservoir)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a." * 900 + "a = 1", "row 3: has a key of more than 32 parts"),
        ('"a".' * 900 + "a = 1", "row 3: has a key of more than 32 parts"),
        ("[" + "a . " * 900 + "a]", "row 3: has a key of more than 32 parts"),
        ("a." * 100_000, "row 3: has a key of more than 32 parts"),
        ('"#\\"".' + "a." * 900 + "a = 1", "row 3: has a key of more than 32 parts"),
        ("a." * 30 + "a = 1", "a: is not a known key"),
        ("a = " + "[" * 20_000, "too many nested lists or sections"),
        ("a = " + "{a=" * 20_000, "too many nested lists or sections"),
        ("a = " + "[" * 200 + "]" * 200, "a: is not a known key"),
        ("a = " + "9" * 5000, "row 3: has a number of 5,000 digits"),
        ("a = 0x" + "f" * 5000, "row 3: has a number of 5,002 digits"),
        ("\n".join(f"a{each} = 1" for each in range(5000)), "keys"),
        ("a = 1\na = 2", "row 4: repeats a key"),
        ('first_month = "\x00"', "row 3"),
    ],
)
def test_what_no_decoder_takes_is_refused_with_its_row(tmp_path: Path, line: str, words: str) -> None:
    said = complaint(tmp_path, with_line(line))
    assert words in said
    assert len(said) < 1000


def test_a_text_full_of_points_is_no_key(tmp_path: Path) -> None:
    text = "e.g. " * 60 + "." * 60 + " 1.5 2.5" * 40
    (tmp_path / "r.toml").write_text(with_line(f'caveat = "{text}"\n# {text}'))
    assert read_reservoir(tmp_path / "r.toml").caveat == text


@pytest.mark.parametrize("key", ["caveat", "description"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x" * 1001, "has 1,001 characters"),
        ("bell \\u0007", "has the unprintable character U+0007"),
        ("escape \\u001b[31m", "U+001B"),
        ("none \\uffff", "U+FFFF"),
        ("backwards \\u202e", "U+202E"),
    ],
)
def test_a_text_that_cannot_be_shown_is_refused_with_its_key(tmp_path: Path, key: str, text: str, words: str) -> None:
    said = complaint(tmp_path, with_line(f'{key} = "{text}"'))
    assert said.startswith(f"r.toml, {key}: ")
    assert words in said


def test_a_text_of_the_longest_kind_is_taken(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(with_line(f'caveat = "{"x" * 1000}"'))
    assert len(read_reservoir(tmp_path / "r.toml").caveat) == 1000


def test_the_lines_of_a_text_become_one(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(with_line('description = """\nOne\n  two\tthree\r\n"""'))
    assert read_reservoir(tmp_path / "r.toml").description == "One two three"


@pytest.mark.parametrize(("name", "words"), [("a" * 65, "at most 64"), ("a\\u0000b", "U+0000"), ("a/b", "file names")])
def test_a_name_stays_short_and_plain(tmp_path: Path, name: str, words: str) -> None:
    said = complaint(tmp_path, SMALL.replace('"small"', f'"{name}"'))
    assert said.startswith("r.toml, name: ")
    assert words in said


# What stands in the file, what is written in its place, and the key that is named.
BEYOND = [
    ("dead_hm3 = 20", "dead_hm3 = 1e38", "storage.dead_hm3"),
    ("full_hm3 = 120", "full_hm3 = 1e308", "storage.full_hm3"),
    ("full_hm3 = 120", "full_hm3 = 20.001", "storage.dead_hm3"),
    ("initial_hm3 = 110", "initial_hm3 = 1e38", "storage.initial_hm3"),
    ("[80, 80, 80, 80, 120, 200,", "[80, 80, 80, 80, 120, 2e7,", "release.upper_m3s"),
    ("installed_capacity_mw = 30", "installed_capacity_mw = 1e38", "plant.installed_capacity_mw"),
    ("installed_capacity_mw = 30", "installed_capacity_mw = 1e-38", "plant.installed_capacity_mw"),
    ("installed_capacity_mw = 30", "installed_capacity_mw = 30000", "plant.installed_capacity_mw"),
    ("output_coefficient = 8.3", "output_coefficient = 1e-38", "plant.output_coefficient"),
    ("output_coefficient = 8.3", "efficiency = 1e-38", "plant.efficiency"),
    ("hydraulic_capacity_m3s = 45", "hydraulic_capacity_m3s = 1e38", "plant.hydraulic_capacity_m3s"),
    ("hydraulic_capacity_m3s = 45", "guaranteed_energy_gwh = 1e38", "plant.guaranteed_energy_gwh"),
    ("normal_m = 445", "normal_m = 1e308", "marks.normal_m"),
    ("120, 130]", "120, 1e308]", "curves.level.storage_hm3"),
    ("445, 447.2]", "445, 1e308]", "curves.level.level_m"),
    ("[405, 412,", "[-1e308, 412,", "curves.level.level_m"),
    ("offset_m = 362", "offset_m = -1e308", "curves.tailrace"),
    ("factor = 0.16", "factor = 1e308", "curves.tailrace"),
    ("exponent = 0.6", "exponent = 0.6\n[objective]\npenalty_gwh = 1e38", "objective.penalty_gwh"),
]


@pytest.mark.parametrize(("old", "new", "key"), BEYOND)
def test_what_no_lake_river_or_plant_has_is_refused_with_its_key(tmp_path: Path, old: str, new: str, key: str) -> None:
    assert SMALL.count(old) == 1
    said = complaint(tmp_path, SMALL.replace(old, new))
    assert any(line.startswith(f"r.toml, {key}: ") for line in said.splitlines()), said


def test_a_range_is_told_in_the_unit_of_the_key(tmp_path: Path) -> None:
    said = complaint(tmp_path, SMALL.replace("full_hm3 = 120", "full_acre_ft = 1e38"))
    assert "of at most 8.107132e+10 acre-ft" in said or "of at most 81071319378 acre-ft" in said


def test_marks_that_differ_are_read_and_noted(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(SMALL.replace("normal_m = 445", "normal_m = 444\ndead_m = 412.4"))
    (note,) = read_reservoir(tmp_path / "r.toml").notes
    assert note.startswith("The normal level (marks.normal_m) is 444 m, but the level curve gives")


ODD = ["", "0", "-1", "1e308", "5e-324", "nan", "-inf", "9" * 5000, "0x1f", "true", '"\\uffff"', "[[1]]", "{a.b = 1}"]
ODD += ["1979-05-27", "07:32:00", "1e38", "[]", '"', "]", "[[a]]", '"a.b"', "a.a", "\x00", "é", "_km3", "_m3"]


def spoilt(text: str, rng: random.Random) -> bytes:
    """Change a few tokens and bytes."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        tokens = list(re.finditer(r"[\w.]+|[^\w\s]", text))
        token = rng.choice(tokens)
        text = text[: token.start()] + rng.choice([*ODD, rng.choice(tokens)[0]]) + text[token.end() :]
    content = bytearray(text.encode())
    if rng.random() < 0.3:
        content[rng.randrange(len(content))] = rng.randrange(256)
    return bytes(content)


@pytest.mark.parametrize("file", ["template.toml", "xiaowan/reservoir.toml"])
def test_a_spoilt_file_is_refused_or_gives_a_sound_reservoir(tmp_path: Path, file: str) -> None:
    text = re.sub(r"(?m)^#.*\n| #.*", "", (DATA / file).read_text(encoding="utf-8"))
    rng, read = random.Random(18), 0
    path = tmp_path / "r.toml"
    for _ in range(150):
        path.write_bytes(spoilt(text, rng))
        try:
            assert isinstance(read_reservoir(path).notes, tuple)
            read += 1
        except InputError as error:
            assert error.mistakes
    assert 0 < read < 150
