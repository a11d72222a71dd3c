"""The meanings that the documentation shows are those of the columns that are written, all of them, in their order."""

import csv

import pytest

from reservoir.cases import bundled_case
from reservoir.planning.columns import meanings as meanings_of

LOSSES = (
    *("evaporation_hm3", "seepage_hm3", "withdrawal_m3s", "shortage_m3s"),
    *("withdrawal_hm3", "shortage_hm3"),
)
#: Of plans that do not optimise energy.
OF_OBJECTIVES = {"objective", "firm_power_mw", "reference_objective", "mean_energy_gwh"}
#: The same of a record operated by a rule.
OF_OPERATED_OBJECTIVES = {"objective", "objective_at_equal_storage", "foresight_objective"}
#: Of steps that are not months.
OF_STEPS = {"first_day"}
#: Of schedules with a step that has too little water for its minimum release.
OF_LITTLE_WATER = {"missing_m3s"}
#: Of plans with `--prove`, and of reservoirs with commitments.
OF_FEW = {"proven_bound", "proven_gap", "missing_release_hm3", "excess_release_hm3"}


def head_of(path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as lines:
        return next(csv.reader(lines))


@pytest.mark.parametrize(
    ("table", "meanings"),
    [
        ("schedule.csv", meanings_of("schedule")),
        ("water_values.csv", meanings_of("water_values")),
        ("summary.csv", meanings_of("summary")),
        ("scores.csv", meanings_of("scores")),
    ],
)
def test_every_column_of_a_plan_has_a_meaning(ruled, table, meanings):
    # Of ensembles, of plans of long horizons, of plans with years that cannot keep their limits or that hold the
    # schedule of the reference in place of the solver's, and of reservoirs with losses.
    rare = {
        "member",
        "horizon",
        "storage_change_hm3",
        "reference_violation",
        "engine_gap",
        *LOSSES,
        *OF_OBJECTIVES,
        *OF_STEPS,
        *OF_LITTLE_WATER,
        *OF_FEW,
    }
    kept = {"member", *LOSSES} if table == "scores.csv" else set()
    expected = [name for name in meanings if name not in rare - kept]
    assert head_of(ruled / table) == expected


def test_every_column_of_a_plan_with_losses_has_a_meaning(call, tmp_path):
    years = tmp_path / "years.csv"
    lines = bundled_case("carryover").inflow_file.read_text().splitlines()
    years.write_text("\n".join(lines[:7]))
    lake = str(bundled_case("carryover").reservoir_file)
    call("plan", str(years), "--reservoir", lake, "--out", tmp_path / "out", "--solver", "dp", "--no-figures")
    assert head_of(tmp_path / "out" / "schedule.csv") == [
        name for name in meanings_of("schedule") if name not in {"member", *OF_STEPS, *OF_LITTLE_WATER}
    ]
    rare = {"member", "reference_violation", "engine_gap", *OF_FEW, *OF_OBJECTIVES}
    assert head_of(tmp_path / "out" / "summary.csv") == [name for name in meanings_of("summary") if name not in rare]


@pytest.mark.parametrize(
    ("goal", "others"),
    [("firm-power", {"reference_objective"}), ("unused-capacity", {"firm_power_mw", "reference_gwh"})],
)
def test_every_column_of_a_plan_of_another_goal_has_a_meaning(call, short_record, tmp_path, goal, others):
    call("plan", short_record, "--objective", goal, "--solver", "dp", "--no-figures", "--out", tmp_path / "out")
    rare = {"member", "horizon", "storage_change_hm3", "reference_violation", "engine_gap", *OF_FEW}
    rare |= {*LOSSES, *others}
    assert head_of(tmp_path / "out" / "summary.csv") == [name for name in meanings_of("summary") if name not in rare]


def without(name: str, meanings, rare=OF_LITTLE_WATER) -> list[str]:
    """Columns of a record of months operated for energy, without one of them."""
    return [each for each in meanings if each not in {name, *rare, *OF_STEPS, *LOSSES, *OF_OPERATED_OBJECTIVES}]


def test_what_is_missing_of_the_minimum_release_has_a_column_where_there_is_some(call, ruled, short_record, tmp_path):
    lines = short_record.read_text().splitlines()
    short_record.write_text("\n".join([*lines[:2], "1954" + ",40" * 12, lines[3]]))
    toml = bundled_case("xiaowan").reservoir_file.read_text(encoding="utf-8")
    (tmp_path / "lake.toml").write_text(toml.replace("\nlower_m3s = 300", "\nlower_m3s = 600"), encoding="utf-8")
    options = ("--reservoir", "lake.toml", "--solver", "dp", "--no-figures", "--out", tmp_path / "dry")
    call("plan", short_record, *options, status=None)
    assert head_of(tmp_path / "dry" / "schedule.csv") == [
        name for name in meanings_of("schedule") if name not in {"member", *OF_STEPS, *LOSSES}
    ]
    rule = ruled / "rules" / "standard.json"
    call("simulate", rule, short_record, "--level", "1100", "--no-foresight", "--out", tmp_path / "out")
    assert head_of(tmp_path / "out" / "simulation.csv") == without("member", meanings_of("simulation"), ())


def test_every_column_of_a_simulation_has_a_meaning(call, ruled, tmp_path):
    call("simulate", ruled / "rules" / "standard.json", ruled / "inflow.csv", "--out", tmp_path / "out")
    assert head_of(tmp_path / "out" / "simulation.csv") == without("member", meanings_of("simulation"))
    assert head_of(tmp_path / "out" / "summary.csv") == without("member", meanings_of("simulated_years"))


def test_a_simulation_of_an_ensemble_has_the_member_before_these(call, ruled, tmp_path):
    flows = [
        f"{member},{year}-{month:02},{400 + 90 * month}"
        for member in "ab"
        for year in (2001, 2002)
        for month in range(1, 13)
    ]
    (tmp_path / "members.csv").write_text("\n".join(["member,date,flow_m3s", *flows]))
    call("simulate", ruled / "rules" / "linear.json", tmp_path / "members.csv", "--out", tmp_path / "out")
    assert head_of(tmp_path / "out" / "simulation.csv") == without("", meanings_of("simulation"))
    assert head_of(tmp_path / "out" / "summary.csv") == without("", meanings_of("simulated_years"))
