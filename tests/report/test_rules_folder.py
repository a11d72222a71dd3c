"""Rules are added to a plan's folder as a whole or not at all, and nothing of earlier rules is left."""

import json
import shutil

import pandas as pd
import pytest

from reservoir.errors import OutputError
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.rule_file import read_rule
from reservoir.report.html import rules_page
from reservoir.report.rules_folder import check_rules_target, write_rules
from reservoir.rules.findings import rules_checks

FIRST_COLUMNS = ["family", "sample", "mean_gwh", "percent_of_foresight", "worst_decile_gwh", "worst_gwh"]
FIRST_COLUMNS += ["reliability", "resilience", "vulnerability", "spill_hm3", "repairs"]


@pytest.fixture
def folder(planned, tmp_path):
    """A copy of a plan's folder without rules."""
    return shutil.copytree(planned, tmp_path / "plan")


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write(six_year_rules, folder, **options):
    evaluation, _ = six_year_rules
    return write_rules(evaluation, read_plan(folder), rules_checks(evaluation), figures=False, **options)


def test_the_scores_begin_with_the_agreed_columns_in_their_order(ruled):
    scores = pd.read_csv(ruled / "scores.csv")
    assert list(scores.columns)[: len(FIRST_COLUMNS)] == FIRST_COLUMNS
    assert set(scores["sample"]) == {"training", "held-out"}
    assert scores["run"].iloc[0] == "continuous"


def test_the_rules_read_back_decide_the_same(ruled, six_year_rules):
    evaluation, _ = six_year_rules
    for result in evaluation.families:
        again = read_rule(ruled / "rules" / f"{result.family}.json")
        assert again.release(4, 9000.0, 800.0, 600.0) == result.rule.release(4, 9000.0, 800.0, 600.0)


def test_the_provenance_tells_the_plan_the_targets_and_the_checks(ruled, planned):
    told = json.loads((ruled / "rules.json").read_text())
    assert told["plan"]["inflow"] == json.loads((planned / "plan.json").read_text())["inflow"]
    assert told["years"] == ["1953", "1958"]
    assert told["folds"] == 2
    assert told["targets"]["annual_gwh"] == 19000
    assert told["figures"] == {}
    assert all(set(check) >= {"check", "value", "threshold", "pass"} for check in told["checks"])


def test_the_files_of_the_plan_and_of_others_are_kept(folder, six_year_rules):
    (folder / "notes.txt").write_text("mine")
    before = content(folder)
    write(six_year_rules, folder)
    assert before.items() <= content(folder).items()


def test_rules_are_not_replaced_unless_forced_and_then_wholly(folder, six_year_rules):
    write(six_year_rules, folder)
    (folder / "rules/old.json").write_text("{}")
    (folder / "figures").mkdir()
    for name in ("regret.svg", "regret.png", "mine.svg"):
        (folder / "figures" / name).write_text("earlier")
    with pytest.raises(OutputError, match="--force"):
        check_rules_target(folder, force=False)
    with pytest.raises(OutputError, match="--force"):
        write(six_year_rules, folder)
    write(six_year_rules, folder, force=True)
    assert not (folder / "rules/old.json").exists()
    assert [path.name for path in (folder / "figures").iterdir()] == ["mine.svg"]


@pytest.mark.parametrize("kind", ["file", "link"])
def test_whatever_stands_where_the_rules_belong_is_replaced_only_if_forced(folder, six_year_rules, kind):
    if kind == "file":
        (folder / "rules").write_text("")
    else:
        (folder / "rules").symlink_to("nothing")
    with pytest.raises(OutputError, match="already exists"):
        check_rules_target(folder, force=False)
    write(six_year_rules, folder, force=True)
    assert (folder / "rules/linear.json").is_file()


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_folder_as_it_was(folder, six_year_rules, tmp_path, monkeypatch, failure):
    def fail(*_):
        raise failure

    before = content(folder)
    monkeypatch.setattr(rules_page, "rules_report", fail)
    with pytest.raises((OutputError, KeyboardInterrupt)) as failed:
        write(six_year_rules, folder)
    if isinstance(failure, OSError):
        assert "No space left on device" in str(failed.value)
        assert "--out" not in str(failed.value)
    assert content(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["plan"]


def test_a_plan_behind_a_link_is_written_where_it_is(folder, six_year_rules, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    write(six_year_rules, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (folder / "scores.csv").is_file()
