"""The experiment on tours: its tables, its claims, and what a user may ask for."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reservoir import runtime
from reservoir.bench.experiment import RunBudget
from reservoir.bench.tours import ENGINES, ERRORS, SERIAL, WAITING, TourStudy, run
from reservoir.errors import InputError
from reservoir.problems.tours import tour_problem

SQUARE = "EDGE_WEIGHT_TYPE : EUC_2D\nDIMENSION : 4\nNODE_COORD_SECTION\n1 0 0\n2 0 3\n3 4 3\n4 4 0\nEOF\n"


@pytest.fixture(scope="module")
def record(device):
    budget = RunBudget(runs=2, quick=True)
    return run(budget=budget, iterations=60, populations="256,512")


def test_every_table_of_the_paper_is_there(record):
    titles = " ".join(table.title for table in record.tables)
    assert [f"Table {number})" in titles for number in (1, 3, 4, 5)] == [True] * 4
    assert "Figure 7" in titles
    assert "Figure 8" in titles
    assert set(record.figures) == set(record.captions) == {"times", "speed_ups", "errors"}


def test_all_engines_that_the_device_takes_run_as_often_as_asked(record):
    runs = record.data["runs"].groupby(["engine", "population"]).size()
    for engine in [name for name in (*ENGINES, *WAITING) if name not in ("lim-cg", "slk")]:
        assert [runs[engine, population] for population in (256, 512)] == [2, 2]


def test_what_is_the_same_by_design_is_the_same(record):
    lengths = record.data["runs"].groupby("engine")["length"].apply(list)
    assert lengths[SERIAL] == lengths["tim"] == lengths["lim-is"] == lengths["tim, waiting"]
    assert lengths["sak"] == lengths["sak, waiting"] != lengths["lim-is"]


def test_synchronisations_are_counted(record):
    counted = record.data["synchronisations"].set_index("engine")
    assert counted.loc["sak", "launches"] == 1 + 3 * 60
    assert counted.loc["tim", "launches"] == 1 + 60 + 1
    assert counted.loc["lim-is", "launches"] == 1 + 2 + 1
    assert counted.loc["lim-is", "group_meetings"] > 2 * 60


def test_refusals_are_told(record, device):
    if device.compute_units >= 4:
        pytest.skip("needs a device that cannot hold four islands at once")
    notes = " ".join(note for table in record.tables for note in table.notes)
    assert "Refused: LIM-CG with 512" in notes or "LIM-CG with 256, 512" in notes


def test_a_quick_trial_claims_nothing_and_says_that_it_is_one(record):
    assert record.checks == ()
    assert "Quick trial" in record.warnings[0]


def test_a_file_of_ones_own_is_solved_without_a_known_optimum(device, tmp_path):
    path = tmp_path / "square.tsp"
    path.write_text(SQUARE, encoding="utf-8")
    budget = RunBudget(runs=1, quick=True)
    found = run(budget=budget, path=path, iterations=3, populations="128")
    assert (found.data["runs"]["length"] == 14).all()
    notes = " ".join(note for table in found.tables for note in table.notes)
    assert "the best of all runs, 14" in notes


@pytest.mark.parametrize("populations", ["100", "0", "1024,x", "131072"])
def test_populations_are_whole_islands(populations):
    with pytest.raises(InputError, match=r"--populations.*multiples of 128"):
        run(budget=RunBudget(quick=True), populations=populations)


def claimed(two_cores, kind="GPU", units=132, **changes):
    """Checks of figures that are at their bars, or changed."""
    problem = tour_problem(runtime.package_path("data", "tsp/att48.tsp"))
    device = replace(two_cores, kind=kind, compute_units=units)
    budget = RunBudget(runs=1)
    asked = {"problem": problem, "iterations": 1000, "populations": tuple(ERRORS)}
    seconds = {"lim-is": 1.0, "tim": 4.6, "sak": 1.6, "slk": 1.6, SERIAL: 28.0} | changes.get("seconds", {})
    errors = ERRORS | changes.get("errors", {})
    rows = [
        {"engine": name, "population": population, "seconds": time, "length": int(10_628 * (1 + error))}
        for name, time in seconds.items()
        for population, error in errors.items()
        if np.isfinite(time)
    ]
    strong = pd.DataFrame({"length": changes.get("strong", [10_628]), "seconds": changes.get("strong_s", 0.5)})
    data = {"runs": pd.DataFrame(rows), "other_operators": strong}
    return list(TourStudy(device=device, budget=budget, data=data, **asked).claims())


def test_figures_at_their_bars_pass_and_a_cpu_is_not_held_to_a_gpus(two_cores):
    checks = claimed(two_cores)
    assert len(checks) == 10
    assert all(check.passed for check in checks)
    assert len(claimed(two_cores, "CPU", 2)) == 6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"errors": {1024: 0.13}}, "relative error of LIM-IS, population 1,024"),
        ({"errors": {16384: 0.0995}}, "over that of the next smaller"),
        ({"strong": [10_629, 10_628]}, "fraction of runs"),
        ({"strong_s": 1.2}, "longest run"),
        ({"seconds": {"tim": 4.0}}, "time of TIM"),
        ({"seconds": {"slk": float("nan")}}, "time of SLK"),
        ({"seconds": {SERIAL: 20.0}}, "time of serial"),
    ],
)
def test_what_misses_its_bar_fails(two_cores, changes, words):
    failed = [check.check for check in claimed(two_cores, **changes) if not check.passed]
    assert any(words in check for check in failed)
