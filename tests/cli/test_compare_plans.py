"""``reservoir compare`` of plans, and ``plan --vary``, as a user types them."""

import csv
import json
import shutil
from pathlib import Path

import pytest

import reservoir
from reservoir.planning.columns import meanings
from reservoir.planning.plan_comparison import alike_spill
from tests.io.two_dams import wide, write_two

OWN = Path(__file__).resolve().parents[2] / "docs" / "own-reservoir"


@pytest.fixture(scope="module")
def plans(tmp_path_factory) -> Path:
    """A folder of plans: of four years, of two of them, of too large a release, and of another goal."""
    folder = tmp_path_factory.mktemp("plans")
    lake, lines = (OWN / "hill-lake.toml").read_text(), (OWN / "inflow.csv").read_text().splitlines()
    head, years = lines[:3], lines[3:7]

    def plan(name, lake=lake, years=years, **how):
        (folder / f"{name}.toml").write_text(lake)
        (folder / f"{name}.csv").write_text("\n".join([*head, *years]) + "\n")
        record = reservoir.read_inflow(folder / f"{name}.csv")
        case = reservoir.read_reservoir(folder / f"{name}.toml"), record
        reservoir.optimise(*case, solver="dp", reference=False, **how).save(folder / name, figures=False)

    plan("base")
    plan("strict", lake.replace("lower_m3s = 6", "lower_m3s = 23"))
    plan("early", years=years[:2])
    plan("late", years=years[2:])
    plan("idle", f'{lake}\n[objective]\ngoal = "unused-capacity"\n', horizon="record")
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_variant_is_what_the_command_writes_of_the_file_edited_by_hand(call, tmp_path, plans, strict):
    lake = (plans / "base.toml").read_text()
    (tmp_path / "lake.toml").write_text(lake)
    (tmp_path / "by-hand.toml").write_text(lake.replace("full_hm3 = 98.0", "full_hm3 = 90"))
    words = ("plan", plans / "early.csv", "--solver", "dp", "--no-reference", "--no-figures", "--reservoir")
    vary = ("--vary", "storage.full_hm3=90:110:2", "--out", "batch")
    shown = call(*words, "lake.toml", *vary, status=1).out
    assert shown.startswith("1 of 2: base\n2 of 2: full_hm3-90\n")
    assert "full_hm3-110 was not planned: batch/full_hm3-110.toml, curves.level: covers only 9.1 hm3" in shown
    assert (tmp_path / "batch/full_hm3-90.toml").read_text() == (tmp_path / "by-hand.toml").read_text()
    assert not (tmp_path / "batch/full_hm3-110").exists()
    call(*words, "by-hand.toml", "--out", "hand")
    names = ("hand", "batch/full_hm3-90", "batch/base")
    hand, less, base = (strict((tmp_path / name / "plan.json").read_text())["files"] for name in names)
    assert hand == less != base
    told = strict((tmp_path / "batch/comparison/comparison.json").read_text())
    assert told["differences"] == [{"plan": "full_hm3-90", "what": "storage.full_hm3", "base": "98.0", "value": "90"}]
    assert [*told["not_planned"]] == ["full_hm3-110"]
    first, second = (row["energy_gwh"] for row in told["plans"])
    assert second - first == pytest.approx(told["plans"][1]["energy_change_gwh"])
    assert second < first
    assert "batch: already exists and is not empty" in call(*words, "lake.toml", *vary, status=2).err


def test_an_interrupted_batch_leaves_the_plans_that_are_whole_with_their_files(call, plans, tmp_path, monkeypatch):
    from reservoir.cli import plan as of_command

    def read(request, *words, **how):
        if (tmp_path / "batch/full_hm3-90").exists():
            raise KeyboardInterrupt
        return begin(request, *words, **how)

    begin = of_command.options.Request.read
    monkeypatch.setattr(of_command.options.Request, "read", read)
    words = ("plan", plans / "early.csv", "--reservoir", plans / "base.toml", "--solver", "dp", "--no-reference")
    told = call(*words, "--no-figures", "--vary", "storage.full_hm3=90:96:3", "--out", "batch", status=130)
    assert told.err.strip() == "Interrupted; written to batch/full_hm3-90.toml, batch/base, batch/full_hm3-90."
    assert sorted(path.name for path in tmp_path.glob("batch/*")) == ["base", "full_hm3-90", "full_hm3-90.toml"]


def test_what_no_variant_can_be_is_refused(call, plans, tmp_path):
    words = ("plan", plans / "base.csv", "--reservoir", plans / "base.toml", "--out", "b", "--vary")
    for key, said in (
        ("storage.full_af=9:10:2", "storage.full_af: is in another unit there; expected full_hm3, as the file has it"),
        ("x:storage.full_hm3=9:10:2", 'is no reservoir or link of this file (found "x")'),
        ("storage.full_hm3=9:9:2", "has no key, or not two different ends of its range"),
        ("storage.full_hm3=9:nan:2", "has no key, or not two different ends"),
        ("storage.full_hm3=9:10:1", "asks for 1 values, not for 2 to 100"),
        ("storage.full_hm3=9-10", "is not KEY=FROM:TO:N, such as storage.full_hm3=90:110:5"),
        ("plant.capacitty=9:10:2", "plant.capacitty: is not a known key"),
    ):
        assert said in call(*words, key, status=2).err
    one, two, three = (f"storage.{name}=9:10:2" for name in ("a", "b", "c"))
    assert "asks for 3 keys, 8 plans" in call(*words, one, "--vary", two, "--vary", three, status=2).err
    assert not (tmp_path / "b").exists()
    assert "is a workbook, which is not edited" in call("plan", OWN / "hill-lake.xlsx", "--vary", one, status=2).err


def test_years_that_fail_are_named_first_and_energy_is_of_those_that_do_not(call_in, plans, tmp_path):
    shown = call_in(plans, "compare", "base", "strict", "--out", tmp_path / "both", "--no-figures").out
    base, strict = rows_of(tmp_path / "both/comparison.csv")
    assert [(row["failing_years"], row["compared_years"]) for row in (base, strict)] == [("0", "4"), ("3", "1")]
    assert shown.startswith(
        "strict: 3 of 4 years violate their limits (1981, 1982, 1984)\nstrict: compared are the 1 year"
    )
    years = [rows_of(plans / name / "summary.csv") for name in ("base", "strict")]
    kept = [place for place, row in enumerate(years[1]) if float(row["violation"]) == 0]
    means = [sum(float(rows[place]["energy_gwh"]) for place in kept) for rows in years]
    assert float(strict["energy_gwh"]) == pytest.approx(means[1], abs=1e-5)
    assert float(strict["energy_change_gwh"]) == pytest.approx(means[1] - means[0], abs=1e-5)
    page = (tmp_path / "both/report.html").read_text()
    assert page.index("violate their limits") < page.index('id="plans-table"')
    written = [name for name in meanings("compared_plans") if name != "reservoir" and "objective" not in name]
    assert [*base] == written


def test_only_the_years_that_both_have_are_compared(call_in, plans):
    told = json.loads(call_in(plans, "compare", "early", "base", "--json").out)
    assert told["notes"][0] == "base: 2 years of its 4 are compared: the base has no others"
    assert [(each["what"], each["value"].split(",")[:2]) for each in told["differences"]] == [
        ("inflow", ["base.csv", " 1981 to 1984"])
    ]
    assert [row["energy_change_gwh"] for row in told["plans"]] == [0, 0]
    refused = call_in(plans, "compare", "early", "base", "late", status=2).err
    assert "late: the plan has no year in common with early (1983 to 1984 against 1981 to 1982)" in refused


def test_goals_and_horizons_are_told_where_they_differ(call_in, plans, tmp_path):
    told = json.loads(call_in(plans, "compare", "base", "idle", "--json").out)
    found = {each["what"]: (each["base"], each["value"]) for each in told["differences"]}
    assert found == {"objective.goal": ("–", "unused-capacity"), "horizon": ("year", "record")}
    shutil.copytree(plans / "idle", tmp_path / "copy")
    shown = call_in(plans, "compare", "idle", tmp_path / "copy", "idle", "--units", "us").out
    assert "nothing" in shown
    assert "unused capacity" in shown.casefold()
    assert "acre-ft a year" in shown


def test_the_best_rule_counts_where_rules_were_fitted(call, plan, tmp_path):
    shutil.copytree(plan, tmp_path / "bare")
    (tmp_path / "bare" / "scores.csv").unlink()
    base, bare = json.loads(call("compare", "plan", "bare", "--json").out)["plans"]
    scores = rows_of(plan / "scores.csv")
    held = {row["family"]: float(row["percent_of_foresight"]) for row in scores if row["sample"] == "held-out"}
    assert held[base["best_rule"]] == max(held.values()) == pytest.approx(base["percent_of_foresight"], abs=1e-5)
    assert (bare["percent_of_foresight"], bare["best_rule"]) == (None, "")
    assert "% of foresight" in call("compare", "plan", "bare").out


def test_broken_folders_and_options_that_do_not_count_are_refused(call, plans, tmp_path):
    base = plans / "base"
    shutil.copytree(base, tmp_path / "broken")
    (tmp_path / "broken/arrays/release_m3s.npy").unlink()
    (tmp_path / "empty").mkdir()
    refused = call("compare", base, "broken", "empty", status=2).err
    assert "release_m3s.npy: is missing. Fix: run `reservoir plan` again" in refused
    assert "empty: is not a plan folder: plan.json is missing" in refused
    assert "base: is a plan alone, with nothing to compare it with" in call("compare", base, status=2).err
    refused = call("compare", base, "broken", "--solver", "dp", "--seed", "3", status=2).err
    assert "--solver: is of solvers, and plans are compared" in refused
    assert "--seed: is of solvers" in refused
    refused = call("compare", plans / "base.csv", "--out", "x", "--solver", "dp", status=2).err
    assert "--out: is of plans, and solvers are compared" in refused
    assert "unexpected extra arguments (b.csv)" in call("compare", plans / "base.csv", "b.csv", status=2).err


def test_a_key_of_a_reservoir_of_a_system_is_varied(call, tmp_path, strict):
    (tmp_path / "flows.csv").write_text(wide())
    write_two(tmp_path)
    quick = ("--solver", "lshade-sequential", "--evaluations", "300", "--no-figures", "--out", "out", "--json")
    vary = ("--vary", "lower:plant.installed_capacity_mw=8:9:2")
    told = strict(call("plan", "flows.csv", "--reservoir", "two.toml", *quick, *vary).out)
    assert [(each["plan"], each["what"], each["value"]) for each in told["differences"]] == [
        (f"lower-installed_capacity_mw-{value}", "lower: plant.installed_capacity_mw", f"{value}.0") for value in (8, 9)
    ]
    assert [row["reservoir"] for row in told["plans"]] == ["system", "upper", "lower"] * 3
    sums = [row["energy_gwh"] for row in told["plans"]]
    assert sums[0] == pytest.approx(sums[1] + sums[2])
    shown = call("compare", "out/base", "out/lower-installed_capacity_mw-8").out
    assert "upper" in shown
    (tmp_path / "hand.toml").write_text((tmp_path / "two.toml").read_text().replace("lower.toml", "less.toml"))
    lake = (tmp_path / "lower.toml").read_text()
    line = next(line for line in lake.splitlines() if line.startswith("installed_capacity_mw"))
    (tmp_path / "less.toml").write_text(lake.replace(line, "installed_capacity_mw = 8"))
    call("plan", "flows.csv", "--reservoir", "hand.toml", *quick[:-3], "--out", "hand")
    files = [
        json.loads((tmp_path / name / "plan.json").read_text())["files"]
        for name in ("hand", "out/lower-installed_capacity_mw-8")
    ]
    assert files[0] == files[1]


def test_plans_of_a_system_for_another_goal_than_energy_are_compared(call, tmp_path):
    (tmp_path / "flows.csv").write_text(wide())
    path = write_two(tmp_path)
    path.write_text(path.read_text() + '\n[objective]\ngoal = "revenue"\nprice_per_mwh = 40\n')
    quick = ("--reservoir", path.name, "--solver", "slp", "--set", "most_programs=2", "--no-figures")
    for name in "ab":
        call("plan", "flows.csv", *quick, "--out", name)
    assert "revenue" in call("compare", "a", "b", "--out", "c").out
    rows = rows_of(tmp_path / "c/comparison.csv")
    assert [row["reservoir"] for row in rows] == ["system", "upper", "lower"] * 2
    assert [bool(row["objective"]) for row in rows] == [True, False, False] * 2  # goals are of the sum


@pytest.mark.parametrize(
    ("spill", "change", "alike"), [(278, -9, True), (104, 4, True), (106, 6, False), (5, 5, False), (0, 0, True)]
)
def test_small_changes_of_spill_are_none(spill, change, alike):
    assert alike_spill({"spill_hm3": spill, "spill_change_hm3": change}) == alike
    assert not alike_spill({"spill_hm3": float("nan"), "spill_change_hm3": float("nan")})
