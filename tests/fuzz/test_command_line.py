"""Commands called with anything end with 0, 1 or 2, show no traceback, and write nothing outside the output folder."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reservoir.cli import COMMANDS, LazyGroup, main
from reservoir.cli.bench import EXPERIMENTS, BenchGroup
from reservoir.errors import InputError, Mistake
from reservoir.text import data_file as limited_read
from tests.fuzz.judge import time_limit
from tests.fuzz.tiny_calls import PLAN, PREPARATIONS, tiny_calls
from tests.io.corpus.inflow import WIDE
from tests.io.small_reservoir import SMALL

Draw = Callable[[st.SearchStrategy[Any]], Any]

#: What may stand where a word is asked for: names of files that are there, of files that are not, and odd words.
WORDS = (
    *(
        "record.csv",
        "small.toml",
        "rule.json",
        "odd.csv",
        "odd.toml",
        "odd.json",
        "folder",
        "none",
        "loop",
        "pipe",
        ".",
    ),
    *(
        "",
        " ",
        "0",
        "1",
        "-1",
        "1.5",
        "nan",
        "inf",
        "1e400",
        "9" * 30,
        "2**64",
        "x",
        "--",
        "-",
        "\x1b[31m",
        "\udcff",
        "é",
    ),
    *("a" * 300, "../..", "/", "/proc/self/mem", "xiaowan", "small", "m3/s", "hm3", "Jan", "month", "none,all", "[/]"),
)
#: What fits, by the name of an option or argument.
FITTING = {
    "inflow_file": "record.csv",
    "reservoir_file": "small.toml",
    "rule_file": "rule.json",
    "seed": "7",
    "runs": "2",
    "solver": "dp",
    "case": "xiaowan",
    "unit": "m3/s",
    "column": "inflow",
    "method": "knn",
    "mean": "-10%",
    "cv": "15%",
    "shift_season": "15d",
}
#: Where results are asked for, of which commands that replace any file with --force are given the first alone.
#: And what may stand anywhere in a call.
PLACES = ("out", "out", "out/deep", "record.csv", "folder", "loop", "pipe/out")
STRAY = (*WORDS, "--no-such", "--help", "-h", "--json")
#: What computes; a call that gets there has been understood.
HEAVY = (
    "reservoir.planning.plan.optimise",
    "reservoir.planning.comparison.compare",
    "reservoir.planning.validation.validate",
    "reservoir.rules.evaluation.evaluate",
    "reservoir.rules.scores.evaluate_record",
    "reservoir.synthetic.ensemble.synthetic_inflow",
)


def _commands() -> dict[tuple[str, ...], click.Command]:
    context = click.Context(click.Command("reservoir"))
    group, bench = LazyGroup("reservoir"), BenchGroup("bench")
    found = {(name,): group.get_command(context, name) for name in COMMANDS if name != "bench"}
    return found | {("bench", name): bench.get_command(context, name) for name in EXPERIMENTS}


def _words(parameter: click.Parameter) -> st.SearchStrategy[str]:
    """Words for an option or argument, of which most fit."""
    fitting = list(getattr(parameter.type, "choices", ())) or [FITTING.get(parameter.name or "", "1")]
    return st.one_of(*[st.sampled_from(fitting)] * 3, st.sampled_from(WORDS))


@st.composite
def calls(draw: Draw, commands: dict[tuple[str, ...], click.Command]) -> list[str]:
    """A command with some of its options and arguments, each with a word that may fit; now and then another word."""
    name = draw(st.sampled_from([each for each in sorted(commands) for _ in range(1 if each[0] == "bench" else 4)]))
    typed = list(name)
    for parameter in commands[name].params:
        chosen = draw(st.integers(0, 3)) == 0
        if isinstance(parameter, click.Argument):
            typed += [draw(_words(parameter))] if chosen or parameter.required else []
        elif chosen and parameter.name not in ("help", "out", "debug"):
            typed += [draw(st.sampled_from(parameter.opts)), *([] if parameter.is_flag else [draw(_words(parameter))])]
    if any(parameter.name == "out" for parameter in commands[name].params):
        typed += [
            "--out",
            draw(st.sampled_from(PLACES if name not in (("new",), ("synth",)) else PLACES[:1])),
        ]
    if draw(st.integers(0, 9)) == 0:
        typed.insert(draw(st.integers(0, len(typed))), draw(st.sampled_from(STRAY)))
    return typed


#: Three years of the small reservoir, of one row a month.
_MONTHS = "date,inflow\n" + "".join(f"{1953 + at // 12}-{at % 12 + 1:02},{20 + at % 12 * 5 + at}\n" for at in range(36))
#: Seconds of a call that computes.
_SECONDS = 120


def _lay_out(folder: Path, record: str = WIDE) -> None:
    files = {"record.csv": record, "small.toml": SMALL, "odd.csv": WIDE[:90], "odd.toml": SMALL[:200], "odd.json": "{}"}
    for name, text in files.items():
        (folder / name).write_text(text)
    rules = Path(__file__).parents[2] / "reports" / "xiaowan" / "rules"
    (folder / "rule.json").write_bytes((rules / "guide-curve.json").read_bytes())
    (folder / "folder").mkdir()
    (folder / "folder" / "kept.txt").write_text("kept")
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")


def _what_stands(folder: Path) -> dict[str, bytes | None]:
    """Everything but what is written as asked for, with its content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.split("/")[0] not in ("out", "out.toml"):
            found[name] = path.read_bytes() if path.is_file() else None
    return found


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of files to call commands in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(limited_read, "PATIENCE_SECONDS", 0.01)
    return tmp_path


@pytest.fixture
def without_computing(monkeypatch):
    """Commands compute nothing, and say so."""

    def understood(*_: object, **__: object) -> None:
        raise InputError(Mistake("understood"))

    for name in HEAVY:
        monkeypatch.setattr(name, understood)
    monkeypatch.setattr("reservoir.cli.bench._run", lambda experiment: understood)


def _ended(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["reservoir", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def _cases(least: int) -> settings:
    """So many cases, or as many as the profile asks for."""
    return settings(max_examples=max(least, settings().max_examples), suppress_health_check=list(HealthCheck))


@pytest.mark.device
@pytest.mark.usefixtures("without_computing")
def test_any_call_ends_with_its_status_and_writes_nowhere_else(place, monkeypatch, capsys):
    _lay_out(place)
    before = _what_stands(place)
    found = set()

    @_cases(200)
    @given(arguments=calls(_commands()))
    def every(arguments: list[str]) -> None:
        status = _ended(arguments, monkeypatch)
        said = capsys.readouterr()
        assert status in (0, 1, 2), f"{arguments}: {said.err}"
        assert "Traceback" not in said.err + said.out
        assert status != 2 or "rror" in said.err, f"{arguments}: nothing is said"
        assert "\x1b" not in said.err
        now = _what_stands(place)
        written = {name for name in now if name not in before}
        assert arguments[0] == "new" or not written, f"{arguments}: wrote {written}"
        for name in (*written, "out"):
            if (place / name).is_file():
                (place / name).unlink()
        assert before.items() <= now.items(), f"{arguments}: changed or removed a file"
        found.add((status, "understood" in said.err))

    every()
    assert {(0, False), (2, False), (2, True)} <= found


@pytest.mark.device
def test_calls_that_compute_end_with_their_status_and_write_where_they_are_asked_to(place, monkeypatch, capsys):
    _lay_out(place, _MONTHS)
    for call in PREPARATIONS:
        assert _ended(list(call), monkeypatch) in (0, 1), capsys.readouterr().err
    before, planned = _what_stands(place), place.with_name("planned")
    shutil.copytree(place / PLAN, planned)
    capsys.readouterr()
    computed: Counter[bool] = Counter()

    @_cases(50)
    @given(arguments=tiny_calls())
    def every(arguments: list[str]) -> None:
        with time_limit(_SECONDS):
            status = _ended(arguments, monkeypatch)
        said = capsys.readouterr()
        assert status in (0, 1, 2), f"{arguments}: {said.err}"
        assert "Traceback" not in said.err + said.out
        assert status != 2 or "rror" in said.err, f"{arguments}: nothing is said"
        assert status == 2 or said.out, f"{arguments}: nothing is shown"
        asked = {"reports", *(word.split("/")[0] for word in arguments)}
        now = _what_stands(place)
        differing = {name.split("/")[0] for name, _ in before.items() ^ now.items()}
        assert differing <= asked, f"{arguments}: wrote {differing - asked}"
        kept = {name: content for name, content in before.items() if name.split("/")[0] != PLAN}
        assert kept.items() <= now.items(), f"{arguments}: changed or removed a file"
        for name in (differing | {"out"}) - {each.split("/")[0] for each in kept}:
            shutil.rmtree(place / name, ignore_errors=True)
        if PLAN in differing:
            shutil.copytree(planned, place / PLAN)
        computed[status < 2] += 1

    every()
    assert min(computed[True], computed[False]) > computed.total() / 6
