"""The examples that CONTRIBUTING shows run as they stand, and do what they say."""

import importlib.util
import sys
from pathlib import Path

import pytest

from reservoir import rules
from reservoir.errors import InputError
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
