import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

QUICK = ("--no-figures", "--family", "standard")


@pytest.fixture
def plan(planned, tmp_path):
    """A copy of a plan's folder, without rules, in the folder where commands run."""
    return shutil.copytree(planned, tmp_path / "plan")


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def strict(text):
    """JSON as its standard has it, without NaN."""

    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


def test_rules_scores_and_a_report_are_added_to_the_plan(run, plan):
    before = content(plan)
    printed = run("rules", "plan", "--no-figures", "--family", "linear", "--family", "guide-curve", "--folds", 2).stdout
    assert "Written to plan: rules/*.json, scores.csv, rules.json, rules.html" in printed
    assert "2 blocks of years" in printed
    assert "Checks    all 4 pass: the water balance closes, releases keep their limits, " in printed
    assert "Written to plan" in printed
    assert "…" not in printed
    assert sorted(path.name for path in (plan / "rules").iterdir()) == ["guide-curve.json", "linear.json"]
    assert set(pd.read_csv(plan / "scores.csv")["family"]) == {"guide-curve", "linear"}
    strict((plan / "rules.json").read_text())
    assert before.items() <= content(plan).items()


def test_a_check_that_fails_is_status_1_and_the_rules_are_there(call, plan, monkeypatch):
    monkeypatch.setattr("reservoir.rules.findings.FORESIGHT_TOLERANCE", -1.0)  # below all of foresight
    options = ("--no-figures", "--family", "linear", "--family", "standard", "--folds", "2")
    assert "NO" in call("rules", "plan", *options, status=1).out
    assert (plan / "rules/linear.json").is_file()


def test_a_family_worse_than_the_weak_baseline_is_a_finding_and_status_0(call, plan, strict):
    """Three years are too few for the linear rule to beat the weak baseline: that is no fault of the result."""
    options = ("--no-figures", "--family", "linear", "--family", "standard", "--folds", "2")
    said = call("rules", "plan", *options).out
    assert "Finding: linear against standard, the weak baseline:" in said
    assert "more regret" in said
    kept = strict((plan / "rules.json").read_text())["findings"]
    assert [each["compared"] for each in kept][-1] == "linear against standard, the weak baseline"


def test_json_is_for_machines_and_alone_on_standard_output(call, plan):
    printed = strict(call("rules", "plan", *QUICK, "--json").out)
    assert printed["folder"] == "plan"
    assert all(check["pass"] for check in printed["checks"])
    assert {row["sample"] for row in printed["scores"]} == {"training", "held-out"}


def test_five_scores_stand_beside_family_and_years_and_files_have_all(call, plan):
    printed = call("rules", "plan", "--no-figures", "--family", "linear", "--folds", "2").out.splitlines()
    head = next(line for line in printed if "family" in line and "┃" in line)
    heads = ["family", "years", "mean", "% of foresight", "worst year", "reliable", "spill, hm³"]
    assert [cell.strip() for cell in head.strip("┃").split("┃")] == heads
    assert {"regret_gwh", "repairs", "months_violated"} <= set(pd.read_csv(plan / "scores.csv").columns)


def test_rules_with_a_promise_say_who_keeps_it(call, plan, strict):
    options = ("--no-figures", "--family", "water-value", "--family", "guide-curve", "--folds", "2", "--json")
    printed = strict(call("rules", "plan", *options, "--reliability", "0.9").out)
    said = {each["compared"]: each["found"] for each in printed["findings"]}
    assert said["2,167 MW in 90 % of the months"].startswith("given in held-out months by water-value (")
    assert printed["best_fitted"] == "water-value"
    assert [each["compared"] for each in printed["spills"]] == ["spill of guide-curve with room in the lake"]
    kept = strict((plan / "rules.json").read_text())
    assert kept["targets"]["reliability"] == 0.9
    assert kept["spills"] == printed["spills"]
    assert "asked in 90 % of the months" in (plan / "rules.html").read_text()


def test_the_same_plan_gives_the_same_rules_and_scores(call, plan, tmp_path):
    shutil.copytree(plan, tmp_path / "again")
    for folder in ("plan", "again"):
        call("rules", folder, "--no-figures", "--family", "linear", "--folds", "3")
    assert (plan / "scores.csv").read_bytes() == (tmp_path / "again/scores.csv").read_bytes()
    one, two = (strict((folder / "rules/linear.json").read_text()) for folder in (plan, tmp_path / "again"))
    assert one["rule"] == two["rule"]
    assert one["fitted_to"] | {"created": ""} == two["fitted_to"] | {"created": ""}


def test_a_family_named_twice_is_fitted_once(call, plan):
    printed = strict(call("rules", "plan", *QUICK, "--family", "standard", "--json").out)
    assert [row["sample"] for row in printed["scores"] if row["run"] == "continuous"] == ["training", "held-out"]


def test_leave_one_out_holds_out_every_year(call, plan):
    assert "leave one year out" in call("rules", "plan", *QUICK, "--folds", "leave-one-out").out


def test_rules_are_kept_unless_forced(call, plan):
    call("rules", "plan", *QUICK)
    before = content(plan)
    assert "plan/rules: already exists" in call("rules", "plan", *QUICK, status=2).err
    assert content(plan) == before
    call("rules", "plan", "--no-figures", "--family", "guide-curve", "--force")
    assert [path.name for path in (plan / "rules").iterdir()] == ["guide-curve.json"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--folds", "1"), "'1' is not a number of blocks"),
        (("--folds", "0"), "'0' is not a number of blocks"),
        (("--folds", "abc"), "leave-one-out"),
        (("--folds", "²"), "'²' is not a number of blocks"),
        (("--folds", "9" * 5000), "is not a number of blocks"),
        (("--folds", "7"), "--folds: more blocks than years in the plan (found 7); expected 2 to 6"),
        (("--family", "magic"), 'there is no such family of rules (found "magic"); expected one of guide-curve'),
        (("--family", "guide"), "Fix: write guide-curve."),
        (("--family", "neural"), "Fix: write ann-regression or ann."),
        (("--family", "zone"), "Fix: write zones."),
        (("--reliability", "95"), "is not a share of 1; for 95 % give 0.95"),
        (("--reliability", "0"), "0.0<x<=1.0"),
        (("--reliability", "nan"), "not a finite number"),
        (("--forecast", "week"), "'month', 'none'"),
    ],
)
def test_a_wrong_option_says_what_would_be_right_and_nothing_is_written(call, plan, arguments, words):
    before = content(plan)
    assert words in call("rules", "plan", "--no-figures", *arguments, status=2).err
    assert content(plan) == before


def test_all_wrong_options_are_told_at_once(call, plan):
    told = call("rules", "plan", "--family", "x", "--family", "y", "--folds", "99", status=2).err.splitlines()
    assert [line.split(":")[1].strip() for line in told] == ["--family", "--family", "--folds"]


def test_a_plan_of_one_year_is_too_short(call, short_record, tmp_path):
    short_record.write_text("".join(short_record.read_text().splitlines(keepends=True)[:2]))
    call("plan", short_record, "--solver", "dp", "--no-figures", "--out", "plan")
    assert "the plan has only one year" in call("rules", "plan", *QUICK, status=2).err
    assert not (tmp_path / "plan/rules").exists()


def test_a_plan_that_was_changed_is_refused_without_a_traceback(run, plan):
    table = (plan / "schedule.csv").read_text().splitlines()
    (plan / "schedule.csv").write_text("\n".join([*table[:5], *table[6:]]))
    before = content(plan)
    refused = run("rules", "plan", *QUICK, status=2).stderr
    assert refused.startswith(
        "Error: plan/schedule.csv: was changed after the plan was made. Fix: run `reservoir plan`"
    )
    assert len(refused.splitlines()) == 1
    assert content(plan) == before


@pytest.mark.parametrize("command", ["rules", "prove"])
def test_a_folder_by_an_earlier_version_is_refused_with_what_to_do(call, tmp_path, command):
    earlier = Path(__file__).parents[1] / "earlier/plan.json"
    (tmp_path / "old").mkdir()
    shutil.copy(earlier, tmp_path / "old")
    said = call(command, "old", status=2).err
    assert "old/plan.json: was written by an earlier version of this program" in said
    assert "Fix: run `reservoir plan` again" in said


def test_a_folder_below_a_file_is_no_plan(call, tmp_path):
    (tmp_path / "file").write_text("")
    assert "does not exist" in call("rules", "file/plan", *QUICK, status=2).err


def test_an_interrupted_run_leaves_the_plan_as_it_was(call, plan, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    before = content(plan)
    monkeypatch.setattr("reservoir.rules.evaluation.evaluate", interrupt)
    assert call("rules", "plan", *QUICK, status=130).err.strip() == "Interrupted; nothing was written."
    assert content(plan) == before
    assert [path.name for path in tmp_path.iterdir()] == ["plan"]


@pytest.fixture
def nothing_is_fitted(monkeypatch):
    def evaluate(*_, **__):
        raise AssertionError("the folder is to be checked first")

    monkeypatch.setattr("reservoir.rules.evaluation.evaluate", evaluate)


@pytest.mark.parametrize("name", ["plan.json", "summary.csv", "arrays/release_m3s.npy", "reservoir.toml"])
def test_a_plan_that_was_changed_is_refused_before_anything_is_fitted(call, plan, nothing_is_fitted, name):
    with (plan / name).open("ab") as file:
        file.write(b" " if name != "plan.json" else b"}")
    assert f"plan/{name}: " in call("rules", "plan", *QUICK, status=2).err


def test_the_best_family_and_violations_are_in_the_json(call, plan):
    told = json.loads(call("rules", "plan", *QUICK, "--family", "guide-curve", "--json").out)
    assert told["best_fitted"] == "guide-curve"
    assert told["shortfalls"] == []
    assert {row["months_violated"] for row in told["scores"]} == {0}


FITTED = ("rules", "plan", "--family", "guide-curve", "--family", "linear", "--folds", "2")


@pytest.fixture
def fits(monkeypatch):
    """What is fitted by the command, in its order; with a place in ``end`` that fit raises what stands there."""
    from reservoir.io import kept_fits

    fit, end = kept_fits.fit, {}

    def watched(family, training, forecast):
        if len(watched.families) in end:
            raise end.pop(len(watched.families))
        watched.families.append(family)
        return fit(family, training, forecast)

    watched.families, watched.end = [], end
    monkeypatch.setattr(kept_fits, "fit", watched)
    return watched


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (RuntimeError("a family that cannot be fitted"), 70, "4 fits kept in plan/rules.parts: the same call goes on"),
        (KeyboardInterrupt(), 130, "nothing was written; 4 fits kept in plan/rules.parts: the same call goes on"),
    ],
)
def test_fits_of_a_call_that_ends_early_are_taken_by_the_next(call, plan, tmp_path, fits, error, status, said):
    shutil.copytree(plan, tmp_path / "whole")
    call("rules", "whole", *FITTED[2:], "--no-figures")
    assert fits.families == ["guide-curve", "linear"] * 3
    fits.families.clear()
    fits.end[4] = error
    assert said in call(*FITTED, "--no-figures", status=status).err
    assert not (plan / "rules").exists()
    assert fits.families == ["guide-curve", "linear"] * 2
    again = call(*FITTED, "--no-figures")
    assert fits.families == ["guide-curve", "linear"] * 3
    assert "Fits of an earlier run are kept in plan/rules.parts" in again.err
    assert not (plan / "rules.parts").exists()
    assert (plan / "scores.csv").read_bytes() == (tmp_path / "whole/scores.csv").read_bytes()
    for family in ("guide-curve", "linear"):
        one, two = (strict((folder / f"rules/{family}.json").read_text()) for folder in (plan, tmp_path / "whole"))
        assert one["rule"] == two["rule"]


@pytest.mark.parametrize("change", ["settings", "program", "inputs", "spoilt", "link"])
def test_fits_of_other_settings_programs_or_inputs_are_not_taken(call, plan, tmp_path, fits, monkeypatch, change):
    fits.end[2] = RuntimeError("stopped")
    call(*FITTED, "--no-figures", status=70)
    kept, further = sorted((plan / "rules.parts").iterdir()), ()
    assert len(kept) == 2
    if change == "settings":
        further = ("--forecast", "none")
    elif change == "program":
        monkeypatch.setattr("reservoir.io.kept_fits._program", lambda: "another")
    elif change == "inputs":
        further = ("--folds", "3")  # the rule of all years is the same, those of the blocks are not
    elif change == "spoilt":
        for path in kept:
            told = json.loads(path.read_text())
            name, numbers = next((name, each) for name, each in told["rule"].items() if isinstance(each, list))
            told["rule"][name] = [each + 1 for each in numbers]
            path.write_text(json.dumps(told))
    else:
        shutil.move(plan / "rules.parts", tmp_path / "elsewhere")
        (plan / "rules.parts").symlink_to(tmp_path / "elsewhere")
    fits.families.clear()
    call(*FITTED, "--no-figures", *further)
    assert fits.families == ["guide-curve", "linear"] * 3
    if change == "link":
        assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == [path.name for path in kept]


def test_a_plan_replaces_kept_fits_with_all_else(call, plan, fits):
    fits.end[2] = RuntimeError("stopped")
    call(*FITTED, "--no-figures", status=70)
    call("plan", "plan/inflow.csv", "--solver", "dp", "--no-figures", "--out", "plan", "--force", status=None)
    assert not (plan / "rules.parts").exists()


def test_a_figure_that_fails_is_left_out_with_a_line(call, plan, monkeypatch):
    def fail(*_, **__):
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")

    monkeypatch.setattr("reservoir.report.figures.rule_charts.draw_rule_curves", fail)
    monkeypatch.setattr("reservoir.report.figures.rule_scores.draw_regret", fail)
    said = call(*FITTED).err
    problem = "(IndexError: index 0 is out of bounds for axis 0 with size 0); all else is complete"
    assert f"The figure rule-curves is left out, for it could not be drawn {problem}" in said
    assert f"The figure regret is left out, for it could not be drawn {problem}" in said
    told = strict((plan / "rules.json").read_text())
    assert list(told["figures_left_out"]) == ["rule-curves", "regret"]
    drawn = {path.stem for path in (plan / "figures").iterdir()}
    assert drawn == set(told["figures"])
    assert {"rule-energy", "level-trace"} <= drawn
    assert not {"rule-curves", "regret"} & drawn
    assert "Operation rules" in (plan / "rules.html").read_text()
