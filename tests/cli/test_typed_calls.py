"""Every option of every command is typed once, as a user types it; none may be left out.

The first call of each command is a process of its own, the others are typed in this one: a start takes seconds.
"""

import math
import shutil
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from reservoir.cli.bench import EXPERIMENTS
from tests.cli.test_every_option import commands, experiments
from tests.problems.tours.square import SQUARE

OWN = ["inflow.csv", "--reservoir", "hill-lake.toml", "--unit", "m3/s"]
SWARM = ["--particles", "8", "--generations", "30", "--seed", "3", "--device", "pocl"]
#: A daily record of two columns, of which some days are missing or negative.
DAYS = ["days.csv", "--reservoir", "hill-lake.toml", "--column", "inflow_m3s", "--missing-days", "2"]
DAYS += ["--dates", "month-first", "--first-year", "2001"]
#: Refused in the call: the file has dates.
FORECAST = "date,member,inflow_m3s\n5/1/27,low,60\n6/1/27,low,40\n5/1/27,high,120\n6/1/27,high,150\n"
REFUSED = [*DAYS[3:], "--water-year", "ends", "--negative", "keep", "--sheet", "Days"]
BENCH = ["--quick", "--runs", "2", "--seed", "3", "--device", "pocl", "--force", "--json", "--debug"]

#: Calls in an order in which each finds what it needs, with the status they end with: 1 where a search of a few
#: generations does not reach its thresholds.
CALLS: list[tuple[list[str], int]] = [
    (["devices", "--json", "--debug"], 0),
    (["solvers", "--json", "--debug"], 0),
    (["solvers", "island-ga"], 0),
    (["new", "lake", "--out", "lake.toml", "--debug"], 0),
    (["new", "lake", "--force"], 0),
    (["new", "river", "--system", "--reservoir", "lake.toml", "--reservoir", "mill"], 0),
    (["new", "surveyed", "--from-csv", "levels.csv"], 0),
    (["new", "booked", "--from", "hill-lake.xlsx", "--sheet", "Daily inflow", "--sheet", "Level curve"], 0),
    (["new", "recorded", "--from", "levels.csv", "--inflow", *DAYS[:1], *DAYS[3:], "--negative", "zero"], 0),
    (["new", "nothing", "--sheet", "Level curve"], 2),
    (["new", "refused", "--from", "levels.csv", "--inflow", "days.csv", *REFUSED, "--unit", "m3/s"], 2),
    (["check", "hill-lake.xlsx"], 0),
    (["plan", "hill-lake.xlsx", "--solver", "dp", "--no-figures", "--format", "xlsx", "--out", "of-book"], 0),
    (["plan", *DAYS[:1], *DAYS[3:], "--negative", "zero", "--reservoir", "recorded.toml", "--out", "first-file"], 0),
    (["prove", "of-book/plan.xlsx", "--reservoir", "hill-lake.xlsx", "--sheet", "schedule"], 0),
    (["prove", "of-book/plan.xlsx", "--reservoir", "hill-lake.xlsx", "--sheet", "Plan B"], 2),
    (["rules", "of-book", "--family", "linear", "--folds", "2", "--no-figures", "--format", "xlsx"], 0),
    (["prove", "of-book", "--gap", "1e-3"], 0),
    (
        [
            *("operate", "of-book/rules/linear.json", "--reservoir", "hill-lake.xlsx", "--sheet", "Level curve"),
            *("--month", "5", "--level", "317", "--inflow", "80", "--inflow-before", "70"),
        ],
        0,
    ),
    (["simulate", "of-book/rules/linear.json", "hill-lake.xlsx", "--no-foresight", "--format", "xlsx"], 0),
    (["synth", "hill-lake.xlsx", "--years", "20", "--no-check", "--out", "of-book.csv"], 0),
    (["synth", "hill-lake.xlsx", "--years", "20", "--no-check", "--format", "xlsx", "--out", "of-book.xlsx"], 0),
    (["check", "of-book.xlsx", "--reservoir", "hill-lake.xlsx", "--sheet", "Level curve"], 0),
    (["tradeoff", "hill-lake.xlsx", "--points", "3", "--no-figures", "--format", "xlsx", "--out", "front-book"], 0),
    (["plan", "--point", "front-book/p2", "hill-lake.xlsx", "--solver", "dp", "--no-figures", "--out", "p2"], 0),
    (["compare", "hill-lake.xlsx", "--sheet", "Daily inflow", "--solver", "dp"], 0),
    (["compare", "hill-lake.xlsx", "--sheet", "Hourly inflow"], 2),
    (["plan", *OWN, "--solver", "dp", "--out", "best", "--json", "--debug"], 0),
    (["plan", *OWN, "--horizon", "record", "--units", "us", "--out", "whole"], 0),
    (["plan", "--case", "lancang-2", "--seconds", "0", "--no-figures", "--out", "two-dams"], 0),
    (
        [
            "simulate",
            "two-dams/inflow.csv",
            "--reservoir",
            "two-dams/system.toml",
            "--releases",
            "two-dams/schedule.csv",
        ],
        0,
    ),
    (["rules", "two-dams", "--family", "standard", "--folds", "2", "--no-figures"], 0),
    (["rules", "two-dams", "--family", "standard", "--bound", "2", "--force"], 2),
    (["rules", "best", "--bound", "2"], 2),
    (
        [
            *("operate", "two-dams/rules/standard-xiaowan.json", "--month", "1", "--state", "two-dams/schedule.csv"),
            *("--inflow", "xiaowan=900", "--inflow", "nuozhadu=300", "--released", "xiaowan=800"),
        ],
        0,
    ),
    (["plan", *OWN, "--objective", "firm-power", "--solver", "dp", "--no-figures", "--out", "firm"], 0),
    (["plan", *OWN, "--objective", "revenue", "--solver", "dp", "--no-figures", "--out", "sold"], 2),
    (["plan", *OWN, "--solver", "dp", "--no-figures", "--format", "netcdf", "--out", "dataset"], 0),
    (["plan", *OWN, "--from", "2026-09", "--level", "320.5", "--solver", "dp", "--out", "from-today"], 0),
    (["plan", *OWN, "--from", "2026-9", "--storage", "80", "--horizon", "2", "--out", "two-years"], 0),
    (
        [
            *("plan", *OWN, "--horizon", "record", "--solver", "lshade", "--set", "window_steps=20"),
            *("--set", "most-sweeps=25", "--set", "sweep_tolerance=1e-5", "--no-figures", "--out", "swept"),
        ],
        0,
    ),
    (
        [
            "plan",
            *OWN,
            *SWARM,
            "--set",
            "random=kernel",
            "--no-reference",
            "--no-figures",
            "--profile",
            "--out",
            "short",
        ],
        0,
    ),
    (["plan", *OWN, *SWARM, "--solver", "clpso", "--reference", "--figures", "--out", "short", "--force"], 0),
    (["plan", *OWN, *SWARM, "--engine-only", "--no-figures", "--out", "own"], 1),
    (["plan", *OWN, "--set", "exchange_interval=5", "--generations", "1000", "--no-figures", "--out", "exchanged"], 0),
    (["plan", *OWN, "--solver", "lshade", "--set", "polish=false", "--no-figures", "--out", "unpolished"], 0),
    (["plan", *OWN, "--solver", "lshade", "--set", "polish=true", "--no-figures", "--out", "polished"], 0),
    (
        ["plan", *OWN, "--solver", "island-ga", "--set", "scheme=lim-async", "--evaluations", "2000", "--out", "genes"],
        0,
    ),
    (["plan", *OWN, "--solver", "ring-pso", "--set", "mode=async", "--generations", "20", "--out", "ring"], 0),
    (["plan", *OWN, "--solver", "dsmga2", "--set", "model=sequential", "--set", "bits=3", "--out", "bits"], 0),
    (["plan", "inflow.csv", "--case", "xiaowan", "--solver", "lshade", "--evaluations", "200", "--out", "other"], 0),
    (["plan", *DAYS, "--negative", "zero", "--solver", "dp", "--no-figures", "--out", "from-days"], 0),
    (["plan", *DAYS, "--negative", "keep", "--solver", "dp", "--no-figures", "--out", "with-negative"], 0),
    (
        [
            *("plan", *OWN, "--solver", "dp", "--prove", "--prove-seconds", "60", "--no-reference", "--no-figures"),
            *("--out", "proven"),
        ],
        0,
    ),
    (["prove", "proven", "--gap", "1e-4", "--prove-seconds", "60", "--json", "--debug"], 0),
    (["prove", "proven", "--gap", "1e-3", "--device", "pocl"], 0),
    (
        [
            *("prove", "proven/schedule.csv", "--reservoir", "hill-lake.toml", "--inflow", "inflow.csv"),
            *("--unit", "m3/s", "--horizon", "year", "--step", "month"),
        ],
        0,
    ),
    (["prove", "proven/schedule.csv", "--reservoir", "hill-lake.toml", "--inflow", *DAYS[:1], *DAYS[3:]], 2),
    (["prove", "proven/schedule.csv", "--reservoir", "hill-lake.toml", "--inflow", "days.csv", *REFUSED], 2),
    (["rules", "with-negative", "--family", "linear", "--folds", "2", "--no-figures"], 0),
    (["plan", "days.csv", *REFUSED], 2),
    (["plan", *OWN, "--solver", "dp", "--prove-seconds", "5", "--out", "unproven"], 2),
    (["plan", *DAYS, "--negative", "zero", "--step", "day"], 2),
    (["check", "record.csv", "--reservoir", "hill-lake.toml", "--unit", "m3/s", "--out", "r.png", "--json"], 0),
    (["check", *DAYS, "--negative", "zero", "--out", "r.png", "--force", "--debug"], 0),
    (["check", "days.csv", *REFUSED], 2),
    (["check", *DAYS, "--negative", "zero", "--step", "ten-days"], 0),
    (["check", "days.csv", *DAYS[3:], "--negative", "zero", "--step", "week", "--units", "us"], 0),
    (["compare", *DAYS, "--negative", "zero", "--step", "ten-days", "--solver", "dp"], 0),
    (
        [
            "compare",
            "of-book",
            "p2",
            "--units",
            "us",
            "--format",
            "xlsx",
            "--no-figures",
            "--out",
            "three",
        ],
        0,
    ),
    (["compare", "best", "whole", "--figures", "--out", "both", "--json", "--debug"], 0),
    (["compare", "best", "proven", "--no-figures", "--out", "both", "--force"], 0),
    (["compare", "best", "two-dams"], 2),
    (["page", *OWN[:3], "--no-browser", "--stop-when-closed", "--port", "0", "--device", "pocl", "--out", "desk"], 0),
    (["page", "best", "--no-browser"], 0),
    (["page", "first-file", "--no-browser"], 0),  # whose record needs options
    (["page", "inflow.csv", "--case", "xiaowan", "--horizon", "2", "--objective", "firm-power", "--no-browser"], 0),
    (["page", *DAYS, "--negative", "zero", "--step", "ten-days", "--no-browser", "--debug"], 0),
    (["page", *REFUSED, "days.csv", "--unit", "m3/s", "--browser"], 2),
    (["page", "nowhere"], 2),
    (["plan", *OWN, "--solver", "dp", "--no-figures", "--vary", "storage.full=95:97:2", "--out", "batch"], 0),
    (["tradeoff", "inflow.csv", "--reservoir", "hill-lake.toml", "--step", "day"], 2),
    (["compare", "days.csv", *REFUSED], 2),
    (["validate", "days.csv", *REFUSED], 2),
    (["synth", "days.csv", *REFUSED], 2),
    (["bench", "case", "days.csv", *REFUSED, "--out", "none"], 2),
    (["bench", "scale", "days.csv", *REFUSED, "--out", "none"], 2),
    (["rules", "best", "--test", "days.csv", *REFUSED, "--no-figures", "--force"], 2),
    (["rules", "best", "--family", "zones", "--family", "standard", "--folds", "2", "--no-figures", "--json"], 0),
    (["rules", "best", "--family", "standard", "--horizon", "record", "--folds", "2", "--no-figures", "--force"], 0),
    (["rules", "best", "--family", "water-value", "--reliability", "0.9", "--folds", "2", "--force"], 0),
    (["rules", "best", "--family", "replan", "--family", "water-value", "--folds", "2", "--force"], 0),
    (
        [
            *("operate", "best/rules/replan.json", "--month", "5", "--level", "317", "--inflow", "80"),
            *("--members", "50", "--months-ahead", "18", "--figure", "next-months.png"),
        ],
        0,
    ),
    (["operate", "best/rules/water-value.json", "--month", "5", "--level", "317", "--inflow", "80", "--replan"], 0),
    (["operate", "best/rules/replan.json", "--month", "5", "--level", "317", "--ensemble", "forecast.csv"], 2),
    (
        [
            *("operate", "best/rules/replan.json", "--month", "5", "--level", "317", "--ensemble", "forecast.csv"),
            *("--dates", "month-first", "--first-year", "2027"),
        ],
        0,
    ),
    (
        [
            *("operate", "best/rules/replan.json", "--month", "5", "--level", "317", "--ensemble", "days.csv"),
            *(*REFUSED, "--unit", "m3/s"),
        ],
        2,
    ),
    (["operate", "best/rules/water-value.json", "--month", "5", "--level", "317", "--inflow", "80"], 0),
    (
        [
            "rules",
            "best",
            "--family",
            "standard",
            "--forecast",
            "none",
            "--folds",
            "leave-one-out",
            "--figures",
            "--force",
            "--debug",
        ],
        0,
    ),
    (["rules", "dataset", "--family", "linear", "--folds", "3", "--units", "us", "--no-figures"], 0),
    (["operate", "dataset/rules/linear.json", "--month", "May", "--level", "317", "--inflow", "80"], 0),
    (["operate", "dataset/rules/linear.json", "--month", "5", "--level", "1040", "--inflow", "80", "--units", "us"], 0),
    (["operate", "best/rules/standard.json", "--month", "5", "--level", "317", "--inflow", "80", "--json"], 0),
    (
        [
            "operate",
            "best/rules/standard.json",
            "--month",
            "5",
            "--level",
            "317",
            "--inflow",
            "80",
            "--flood-index",
            "300",
        ],
        2,
    ),
    (
        [
            *("operate", "best/rules/standard.json", "--reservoir", "hill-lake.toml", "--month", "5"),
            *("--storage", "70", "--inflow-before", "60", "--debug"),
        ],
        0,
    ),
    (["simulate", "best/rules/standard.json", "inflow.csv", "--unit", "m3/s", "--yearly", "--no-foresight"], 0),
    (["simulate", "best/rules/standard.json", "days.csv", *REFUSED], 2),
    (["simulate", "best/rules/standard.json", "days.csv", "--step", "week"], 2),
    (["simulate", "best/rules/standard.json", "inflow.csv", "--units", "us", "--out", "in-feet"], 0),
    (
        [
            *("simulate", "best/rules/standard.json", "inflow.csv", "--reservoir", "hill-lake.toml", "--level", "317"),
            *("--foresight", "--out", "operated", "--json", "--debug"),
        ],
        0,
    ),
    (
        [
            *("synth", "record.csv", "--reservoir", "hill-lake.toml", "--unit", "m3/s", "--years", "60"),
            *("--member-years", "30", "--method", "knn", "--seed", "3", "--mean", "-10%", "--cv", "+15%"),
            *("--shift-season", "15d", "--check", "--device", "pocl", "--units", "us"),
            *("--out", "drier.csv", "--json", "--debug"),
        ],
        0,
    ),
    (["plan", "drier.csv", "--reservoir", "hill-lake.toml", "--solver", "dp", "--no-figures", "--out", "members"], 0),
    (["rules", "members", "--family", "linear", "--folds", "2", "--test", "inflow.csv", "--unit", "m3/s"], 0),
    (["simulate", "members/rules/linear.json", "drier.csv", "--out", "operated-members"], 0),
    (["synth", "--case", "xiaowan", "--no-check", "--out", "made.nc"], 0),
    (["synth", "--case", "xiaowan", "--no-check", "--out", "made.nc", "--force"], 0),
    (["compare", *OWN, *SWARM, "--solver", "dp", "--set", "states=101", "--repeats", "2", "--json", "--debug"], 0),
    (["compare", *OWN, "--horizon", "2", "--solver", "dp", "--units", "us"], 0),
    (
        [
            *("tradeoff", *OWN, "--points", "4", "--horizon", "record", "--figures", "--device", "pocl"),
            *("--units", "us", "--out", "front"),
        ],
        0,
    ),
    (
        ["tradeoff", *OWN, "--between", "energy,unused-capacity", "--points", "3", "--no-figures", "--json", "--debug"],
        0,
    ),
    (["tradeoff", "inflow.csv", "--case", "xiaowan", "--between", "energy"], 2),
    (["tradeoff", "days.csv", *REFUSED], 2),
    (["plan", "--point", "front/p2", "--solver", "dp", "--no-figures", "--out", "at-point"], 0),
    (["compare", *OWN, "--objective", "unused-capacity", "--solver", "dp"], 0),
    (["compare", "inflow.csv", "--case", "xiaowan", "--solver", "lshade", "--evaluations", "400"], 0),
    (["validate", *OWN, *SWARM, "--set", "refreshing_gap=5", "--runs", "2", "--no-zoo", "--json", "--debug"], 1),
    (["validate", *OWN, "--horizon", "record"], 0),
    (["validate", *OWN, "--horizon", "record", "--runs", "3"], 2),
    (["validate", "inflow.csv", "--case", "xiaowan", *SWARM, "--zoo"], 0),
    (
        ["bench", "functions", "--solver", "lshade", "--functions", "f1", "--evaluations", "99", *BENCH, "--out", "b8"],
        0,
    ),
    (["bench", "case", *OWN, *BENCH, "--case", "xiaowan", "--peers", "--out", "b0"], 0),
    (
        [
            *("plan", "inflow.csv", "--reservoir", "hill-lake.toml", "--solver", "lshade", "--evaluations", "500"),
            *("--cluster", "local:1", "--no-figures", "--out", "p9"),
        ],
        0,
    ),
    (
        [
            *("bench", "scale", "record.csv", "--reservoir", "hill-lake.toml", "--years", "50", "--solvers", "lshade"),
            *("--no-reference", *BENCH, "--runs", "1", "--out", "b10"),
        ],
        0,
    ),
    (["bench", "scale", "--case", "xiaowan", "--unit", "m3/s", "--years", "51", "--reference"], 2),
    (["bench", "clpso", "--functions", "f5", "--models", "lanes", *BENCH, "--out", "b1"], 0),
    (
        [
            *("bench", "ann", "--tables", "1", "--iterations", "2", "--iterations-3", "2", "--iterations-5", "2"),
            *("--baseline-iterations", "2", "--group", "16", "--inertia", "0.9", "--exchange-every", "2"),
            *("--cognitive", "1.5", "--social", "1.5", "--velocity-fraction", "0.02", "--reach", "0.5"),
            *("--threads", "1", "--random", "congruential", *BENCH, "--out", "b2"),
        ],
        0,
    ),
    (
        ["bench", "ring-pso", "--dimensions", "2", "--generations", "4", "--particles", "4", *BENCH, "--out", "b3"],
        0,
    ),
    (
        [
            *("bench", "tsp", "--file", "square.tsp", "--optimum", "40", "--iterations", "3", "--populations", "256"),
            *(*BENCH, "--out", "b4"),
        ],
        0,
    ),
    (["bench", "dsmga2", "--sweep", "--problems", "mk", "--sizes", "20", *BENCH, "--out", "b5"], 0),
    (["bench", "dsmga2", "--problems", "spin", "--spin", "pair", *BENCH, "--out", "b6"], 0),
    (
        [
            *("bench", "zoo", "--part", "tuning", "--solvers", "lshade,clpso-sequential", "--reservoirs", "2"),
            *("--years", "2", "--host-reservoirs", "1", "--host-years", "1", "--jobs", "2", *BENCH, "--out", "b9"),
        ],
        0,
    ),
    (
        [
            *("bench", "proof", "--part", "tuning", "--solvers", "dp-opencl,slp", "--years", "2", "--gap", "1e-4"),
            *("--prove-seconds", "6", "--jobs", "1", "--systems", "1", "--committed", "1", *BENCH, "--out", "b11"),
        ],
        0,
    ),
    (
        [
            *("bench", "cascade", "--sets", "linear,lancang", "--part", "test", "--solvers", "auto,lshade", "--peers"),
            *("--systems", "1", "--jobs", "1", *BENCH, "--runs", "1", "--out", "b12"),
        ],
        0,
    ),
    (["bench", "cascade", "--sets", "rivers", "--quick"], 2),
    (
        [
            *("bench", "functions", "--solver", "clpso", "--dim", "3", "--functions", "f7", "--rotations", "2"),
            *("--particles", "5", "--generations", "5", *BENCH, "--out", "b7"),
        ],
        0,
    ),
]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory) -> Path:
    """The folder of a user who has a record and three years of it, a reservoir file, a tour and a spin glass."""
    folder = tmp_path_factory.mktemp("user")
    example = Path(__file__).resolve().parents[2] / "docs" / "own-reservoir"
    shutil.copy(example / "hill-lake.toml", folder)
    shutil.copy(example / "levels.csv", folder)
    shutil.copy(example / "hill-lake.xlsx", folder)
    lines = (example / "inflow.csv").read_text().splitlines()
    (folder / "inflow.csv").write_text("\n".join(lines[:6]) + "\n")
    shutil.copy(example / "inflow.csv", folder / "record.csv")
    (folder / "days.csv").write_text("\n".join(days()) + "\n")
    (folder / "forecast.csv").write_text(FORECAST)
    (folder / "square.tsp").write_text(SQUARE)
    (folder / "pair").write_text("3\n-1.0\n1 2 1\n2 3 1\n1 3 1\n")
    return folder


def days() -> list[str]:
    """Lines of a daily record of three years: two columns of flows, a day in fifty missing, some below zero."""
    first = date(2001, 1, 1)
    flows = ((day, 60 + 50 * math.sin(day / 58) - 400 * (day % 97 == 0)) for day in range(3 * 365) if day % 50)
    rows = (f"{first + timedelta(day):%m/%d/%y},{flow:.2f},{2 * flow:.2f}" for day, flow in flows)
    return ["date,inflow_m3s,other_m3s", *rows]


def name_of(words: list[str]) -> str:
    return " ".join(words[:2]) if words[0] == "bench" else words[0]


def serves_until_it_is_interrupted(words: list[str], folder: Path) -> None:
    """A page that answers at the address it prints, and ends in peace."""
    pytest.importorskip("uvicorn", reason="the page (pip install 'reservoir[page]') is not installed")
    line = [sys.executable, "-m", "reservoir", *words]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(line, cwd=folder, **how) as page:
        end = threading.Timer(200, page.kill)
        end.start()
        said = []
        for each in page.stdout:
            said.append(each)
            if "http://" in each:
                opener = build_opener(HTTPCookieProcessor())
                with closing(opener.open(each.split()[-1])) as answer:
                    assert b"<main" in answer.read()
                page.send_signal(signal.SIGINT)
        end.cancel()
    assert page.returncode == 0, "".join(said)
    assert "Traceback" not in "".join(said)


def is_first(call: int) -> bool:
    """Whether no call before it is of the same command."""
    return CALLS[call][0][0] not in {words[0] for words, _ in CALLS[:call]}


@pytest.mark.pocl(reason="the calls name a device")
@pytest.mark.parametrize("number", range(len(CALLS)), ids=[" ".join(words) for words, _ in CALLS])
def test_the_call_ends_as_it_should(workplace, call_in, brief, number):
    words, status = CALLS[number]
    if words[0] == "page" and status == 0:
        serves_until_it_is_interrupted(words, workplace)
    elif is_first(number):
        line = [sys.executable, "-m", "reservoir", *words]
        done = subprocess.run(line, cwd=workplace, capture_output=True, text=True, timeout=250)
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
    else:
        assert "Traceback" not in call_in(workplace, *words, status=status).err
    if words[0] == "bench" and status != 2:
        assert (workplace / words[-1] / "tables.md").is_file()


def test_every_experiment_is_run():
    assert {words[1] for words, status in CALLS if words[0] == "bench" and status != 2} == EXPERIMENTS.keys()


def test_no_option_of_the_program_is_left_out():
    typed = defaultdict(set)
    for words, _ in CALLS:
        typed[name_of(words)] |= {word for word in words if word.startswith("--")}
    known = commands() | {f"bench {name}": command for name, command in experiments().items()}
    for name, command in known.items():
        every = {
            word for each in command.params for word in (*each.opts, *each.secondary_opts) if word.startswith("--")
        }
        assert every - {"--help"} - typed[name] == set(), name
        assert typed[name] <= every, name
