"""The meanings that the documentation shows are those of the columns that are written, all of them, in their order."""

import csv

import pytest

from reservoir.io.plan_folder import columns


def head_of(path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as lines:
        return next(csv.reader(lines))


@pytest.mark.parametrize(
    ("table", "meanings"),
    [
        ("schedule.csv", columns.SCHEDULE_COLUMNS),
        ("water_values.csv", columns.WATER_VALUES_COLUMNS),
        ("summary.csv", columns.SUMMARY_COLUMNS),
        ("scores.csv", columns.SCORES_COLUMNS),
    ],
)
def test_every_column_of_a_plan_has_a_meaning(ruled, table, meanings):
    # Of plans of long horizons, and of plans with years that cannot keep their limits.
    rare = ["horizon", "storage_change_hm3", "reference_violation"] if table == "summary.csv" else []
    assert head_of(ruled / table) == [name for name in meanings if name not in rare]


def test_every_column_of_a_simulation_has_a_meaning(call, ruled, tmp_path):
    call("simulate", ruled / "rules" / "standard.json", ruled / "inflow.csv", "--out", tmp_path / "out")
    assert head_of(tmp_path / "out" / "simulation.csv") == list(columns.SIMULATION_COLUMNS)
    assert head_of(tmp_path / "out" / "summary.csv") == list(columns.SIMULATED_YEARS_COLUMNS)
