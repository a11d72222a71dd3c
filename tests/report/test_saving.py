"""A plan is saved and drawn from Python as by the command line."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import reservoir
from reservoir.errors import OutputError
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning.checks import plan_checks
from reservoir.planning.plan import Plan
from reservoir.report.figures.figures import plan_figures


def test_a_saved_plan_is_read_back(tmp_path: Path, one_year: Plan) -> None:
    case = reservoir.bundled_case().reservoir()
    plan = reservoir.optimise(case, replace(one_year.inflow), solver="dp")
    folder = plan.save(str(tmp_path / "plans" / "mine"))
    assert folder == tmp_path / "plans" / "mine"
    saved = read_plan(folder)
    np.testing.assert_array_equal(saved.plan.energy_gwh, plan.energy_gwh)
    assert [each.check for each in saved.checks] == [each.check for each in plan_checks(plan)]
    assert (folder / "report.html").is_file()
    assert {path.stem for path in (folder / "figures").glob("*.svg")} == set(plan.plots())


def test_a_folder_is_replaced_only_by_force_and_only_if_it_is_a_plans(tmp_path: Path, one_year: Plan) -> None:
    folder = one_year.save(tmp_path / "plan", figures=False)
    assert not (folder / "figures").exists()
    before = (folder / "plan.json").stat().st_ino
    with pytest.raises(OutputError, match=r"not empty\. Fix: choose another folder, or replace it with force=True"):
        one_year.save(folder)
    assert (folder / "plan.json").stat().st_ino == before
    assert reservoir.save_plan(one_year, folder, force=True, figures=False) == folder
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="not a plan folder"):
        one_year.save(tmp_path / "other", force=True)
    assert (tmp_path / "other" / "mine.txt").read_text() == "mine"


def test_plots_are_the_figures_of_the_report(plan: Plan) -> None:
    plots = plan.plots()
    assert list(plots) == list(plan_figures(plan))
    assert "storage-fan" in plots
    assert all(isinstance(each, Figure) for each in plots.values())
