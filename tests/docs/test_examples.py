"""The examples that CONTRIBUTING shows run as they stand, and do what they say."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from reservoir import rules
from reservoir.bench.experiment import QUICK_WARNING, RunBudget
from reservoir.bench.runs import Journal
from reservoir.cli.bench import EXPERIMENTS
from reservoir.errors import InputError, OutputError
from reservoir.io.rule_file import read_rule, write_rule
from reservoir.planning.plan import optimise
from reservoir.rules import FAMILIES, Training
from reservoir.solvers import SOLVERS, settings_of

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


@pytest.fixture
def example(monkeypatch):
    """Import an example by its name, for as long as a test runs."""

    def load(name: str):
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def family(example, monkeypatch):
    """The example's family of rules, in the registry for as long as a test runs."""
    module = example("rule_family")
    monkeypatch.setitem(FAMILIES, module.FAMILY, None)  # put back afterwards, whatever the example registers
    return module


def test_the_family_of_rules_is_fitted_through_the_registry_and_beats_the_weak_baseline(family):
    energy = family.main()
    assert energy["standard"] < energy["share"] < 1.05 * energy["guide-curve"]


def test_a_rule_of_the_example_is_read_back_from_its_file(family, tmp_path, xiaowan, five_years):
    family.register()
    rule = rules.fit(family.FAMILY, Training.of(optimise(xiaowan, five_years, solver="dp")))
    write_rule(rule, tmp_path / "share.json", {})
    assert read_rule(tmp_path / "share.json") == rule


def test_the_problem_is_solved_on_a_device_and_in_compiled_python(example, device):
    found = example("problem").main(str(device.index))
    assert found["lshade"] == pytest.approx([4.2, 0.9, 0.55], rel=1e-3)
    assert found["clpso-sequential"] == pytest.approx([4.2, 0.9, 0.55], rel=0.02)


def test_the_solver_solves_years_through_the_registry_and_states_its_settings(example, monkeypatch):
    module = example("solver")
    monkeypatch.setitem(SOLVERS, module.NAME, None)  # put back afterwards, whatever the example registers
    energy = module.main()
    assert 0.9 * energy["dp"] < energy[module.NAME] < energy["dp"]
    assert settings_of(module.NAME) == ("evaluations", "first_step")
    with pytest.raises(InputError, match=r"first_step is out of range \(found 2\)"):
        module.EvolutionSettings(first_step=2)


@pytest.fixture
def experiment(example, monkeypatch):
    """The example's experiment, with its row of the table for as long as a test runs."""
    module = example("experiment")
    monkeypatch.setitem(EXPERIMENTS, module.NAME, None)  # put back afterwards, whatever the example registers
    return module


def test_an_experiment_is_a_module_and_a_row_of_the_table(experiment, tmp_path, capsys):
    folder = tmp_path / "points"
    assert experiment.main("--points", "10,1000", "--runs", "3", "--out", str(folder)) == 0
    runs = pd.read_csv(folder / "runs.csv")
    assert runs.groupby("points").size().to_dict() == {10: 3, 1000: 3}
    assert {path.name for path in folder.iterdir()} == {"bench.json", "runs.csv", "tables.md"}
    page = (folder / "tables.md").read_text()
    assert all(words in page for words in ("## Acceptance", "over that of the fewest", "## Best value", "of 3 runs"))
    assert "of 1,000 points" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["points"]  # the journal went with the last run
    with pytest.raises(InputError, match=r"--points.*is no number of points.*0"):
        experiment.run(budget=RunBudget(), points="0,10")


def test_an_experiment_goes_on_from_its_journal_and_a_quick_trial_of_it_claims_nothing(
    experiment, tmp_path, monkeypatch
):
    budget = RunBudget(runs=2, quick=True, journal=Journal(tmp_path / "runs.jsonl"))
    whole = experiment.run(budget=budget)
    assert whole.checks == ()
    assert QUICK_WARNING in whole.warnings
    monkeypatch.setattr(experiment.PointStudy, "_row", lambda *_: pytest.fail("was made"))
    again = experiment.run(budget=replace(budget, journal=Journal(tmp_path / "runs.jsonl")))
    pd.testing.assert_frame_equal(whole.data["runs"], again.data["runs"])
    with pytest.raises(OutputError, match="other settings"):
        experiment.run(budget=replace(budget, seed=2, journal=Journal(tmp_path / "runs.jsonl")))
