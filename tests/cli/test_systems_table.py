"""The table of what takes systems, and the tutorial of two dams, say what the program does."""

import re
import shutil
import sys

import click
import pytest

from reservoir.cli import main
from reservoir.errors import InputError
from tests.cli.test_every_option import commands, typed
from tests.docs.documents import DOCS, blocks
from tests.io.two_dams import wide, write_two

ROW = re.compile(r"^\| `(\w+)` \| (takes|refuses|no reservoir) \|(.*)\|$", re.MULTILINE)
TABLE = {name: (what, set(re.findall(r"`(--[\w-]+)`", options)))
         for name, what, options in ROW.findall((DOCS / "how-to/systems.md").read_text(encoding="utf-8"))}  # fmt: skip
#: What a refusal of systems says.
REFUSED = re.compile(r"takes? systems|draw systems yet|file of a system|system file|of a system;|"
                     r"levels of one reservoir")  # fmt: skip
#: Calls with a system that every command takes, but for the option in question.
CALLS = {
    "simulate": ["flows.csv", "--reservoir", "two.toml", "--releases", "releases.csv"],
    "new": ["river", "--system", "--reservoir", "a", "--reservoir", "b"],
    "rules": ["plan"],
    "prove": ["releases.csv", "--reservoir", "two.toml", "--inflow", "flows.csv"],
    "operate": ["rule.json", "--month", "3", "--reservoir", "two.toml"],
}
#: What does the work of commands that take systems.
WORK = (
    *("planning.system_plan.optimise_system", "planning.comparison.compare_system", "planning.tradeoff.tradeoff"),
    *(
        "planning.checked_system.checked_system",
        "planning.simulation.simulate_system",
        "planning.validation.validate_system",
        "synthetic.sites.synthetic_sites",
        "page.desk.PlanningSession",
    ),
)
USUAL = ["flows.csv", "--reservoir", "two.toml"]
EVERY = {**commands(), "bench": None}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "flows.csv").write_text(wide())
    write_two(tmp_path)
    months = [f"1990-{month:02d},9,12" for month in range(1, 13)]
    (tmp_path / "releases.csv").write_text("\n".join(["date,upper_m3s,lower_m3s", *months]))
    (tmp_path / "plan").mkdir()
    shutil.copy(tmp_path / "two.toml", tmp_path / "plan/system.toml")


@pytest.fixture
def idle(monkeypatch):
    """No work begins: that a call comes so far shows that it is taken."""

    def stop(*_, **__):
        raise InputError("work begins")

    for name in WORK:
        monkeypatch.setattr(f"reservoir.{name}", stop)


@pytest.fixture
def told(monkeypatch, capsys, tmp_path):
    """What a call says on standard error, however it ends."""

    def execute(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["reservoir", *arguments])
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr().err

    return execute


def test_every_command_has_a_row():
    assert set(TABLE) == set(EVERY)


@pytest.mark.parametrize("name", [name for name, (what, _) in TABLE.items() if what == "takes"])
def test_options_are_taken_or_refused_as_the_table_says(name, told, files, idle):
    refused = set()
    for option in EVERY[name].params:
        if not isinstance(option, click.Option) or option.name in ("help", "debug", "reservoir_file", "reservoirs"):
            continue
        words = ("x.png" if word == "x" else word for word in typed(option))  # what figures may be called, too
        if REFUSED.search(told(name, *CALLS.get(name, USUAL), *words)):
            refused.add(option.opts[0])
    assert refused == TABLE[name][1]
    assert not REFUSED.search(told(name, *CALLS.get(name, USUAL)))


@pytest.mark.parametrize("name", [name for name, (what, _) in TABLE.items() if what == "refuses"])
def test_commands_that_take_one_reservoir_say_so(name, call, files):
    assert REFUSED.search(call(name, *CALLS.get(name, USUAL), status=2).err)


@pytest.mark.parametrize("name", [name for name, (what, _) in TABLE.items() if what == "no reservoir"])
def test_commands_without_a_reservoir_have_no_option_for_one(name):
    options = [] if EVERY[name] is None else [each.name for each in EVERY[name].params]
    assert not {"reservoir_file", "reservoirs", "plan_folder"} & set(options)


def test_the_tutorial_shows_what_the_program_prints(call, tmp_path):
    shutil.copytree(DOCS / "own-reservoir", tmp_path, dirs_exist_ok=True)
    shown = 0
    for block in blocks(DOCS / "two-dams.md"):
        if block.language != "console":
            continue
        line, *lines = block.text.splitlines()
        printed = call(*line.removeprefix("$ reservoir ").split())
        for each in lines:
            shown += 1
            assert each.rstrip() in printed.out.splitlines(), each
    assert shown >= 12
