"""Years that hold another schedule than the solver's own, as a user of the command line sees them."""

import csv
import json

import pytest

from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning.plan import optimise
from reservoir.report.figures.figures import plan_figures
from reservoir.report.figures.style import FOOT

POOR = ("--solver", "ann-pso", "--generations", "20")


def rows_of(path):
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.device
def test_the_screen_counts_them_once_and_the_exit_status_is_0(call, short_record, tmp_path):
    printed = call("plan", short_record, *POOR, "--out", "out").out
    sources = [line for line in printed.splitlines() if line.startswith("Sources")]
    assert len(sources) == 1
    assert "3 years from dp-opencl, where the first run of ann-pso was not close enough" in sources[0]
    told = json.loads((tmp_path / "out/plan.json").read_text())
    assert [check for check in told["checks"] if check["check"].startswith("ann-pso by itself: gap to dp, worst year")]
    assert told["sources"] == {"ann-pso": 0, "dp-opencl": 3}
    assert told["settings"]["generations"] == 20
    assert told["second_run"]["settings"]["generations"] == 80
    assert told["seconds"]["ann-pso (second run)"] > 0
    for name, count in (("summary.csv", 3), ("schedule.csv", 36)):
        assert [row["source"] for row in rows_of(tmp_path / "out" / name)] == ["dp-opencl"] * count
    page = (tmp_path / "out/report.html").read_text()
    assert "3 years from dp-opencl, where the first run of ann-pso was not close enough" in page
    assert "Schedule: whose it is" in page
    assert "years of 3 with the schedule of dp-opencl" in page


@pytest.mark.device
def test_the_engines_own_schedules_may_be_kept(call, short_record, tmp_path):
    printed = call("plan", short_record, *POOR, "--engine-only", "--no-figures", "--out", "own", status=1).out
    assert "3 years are not close enough to the reference optimum" in printed
    assert "NO" in printed
    told = json.loads((tmp_path / "own/plan.json").read_text())
    assert told["sources"] == {"ann-pso": 3}
    assert told["second_run"] is None
    summary = rows_of(tmp_path / "own/summary.csv")
    assert all(float(row["gap"]) > 2e-4 and row["source"] == "ann-pso" for row in summary)
    assert "engine_gap" not in summary[0]


@pytest.mark.device
def test_the_sources_are_in_the_json(call, short_record):
    told = json.loads(call("plan", short_record, *POOR, "--no-figures", "--out", "out", "--json").out)
    assert told["sources"] == {"ann-pso": 0, "dp-opencl": 3}
    assert [check["pass"] for check in told["checks"] if check["threshold"] is None] == [None] * 4
    assert all(check["pass"] for check in told["checks"] if check["threshold"] is not None)


@pytest.mark.device
def test_nothing_is_advised_where_every_year_is_close_enough(call, short_record):
    for solver in ("clpso", "lshade"):
        printed = call("plan", short_record, "--solver", solver, "--no-figures", "--out", solver).out
        assert "Sources" not in printed
        assert "--solver" not in printed
        assert "evaluations" not in printed


@pytest.mark.device
def test_rules_are_fitted_to_the_schedules_that_the_plan_holds(call, short_record, tmp_path):
    call("plan", short_record, *POOR, "--no-figures", "--out", "mixed")
    call("plan", short_record, "--solver", "dp-opencl", "--no-figures", "--out", "best")
    for folder in ("mixed", "best"):
        call("rules", folder, "--family", "standard", "--family", "linear", "--folds", "2", "--no-figures", status=None)
    mixed, best = (rows_of(tmp_path / folder / "scores.csv") for folder in ("mixed", "best"))
    assert mixed == best
    page = (tmp_path / "mixed/report.html").read_text()
    assert "3 years from dp-opencl, where the first run of ann-pso was not close enough" in page


@pytest.mark.device
def test_a_plan_read_back_knows_its_sources_and_begins_another(call, short_record, tmp_path):
    call("plan", short_record, *POOR, "--no-figures", "--out", "out")
    plan = read_plan(tmp_path / "out").plan
    assert plan.source.tolist() == ["dp-opencl"] * 3
    assert plan.from_reference.all()
    assert (plan.engine_gap > 2e-4).all()
    stated = [float(row["engine_gap"]) for row in rows_of(tmp_path / "out/summary.csv")]
    assert plan.engine_gap == pytest.approx(stated, rel=1e-3)
    assert plan.settings["generations"] == 20
    assert plan.sources.second_settings["generations"] == 80
    figures = plan_figures(plan)
    assert all("3 years by dp-opencl" in foot_of(figure) for figure in figures.values())
    warm = read_plan(tmp_path / "out").plan
    again = optimise(plan.reservoir, plan.inflow, solver="clpso", generations=2, particles=5, initial=warm)
    assert set(again.source) == {"clpso"}, "it begins with the optimum"


def foot_of(figure) -> str:
    return next(text.get_text() for part in figure.subfigs for text in part.texts if text.get_gid() == FOOT)
