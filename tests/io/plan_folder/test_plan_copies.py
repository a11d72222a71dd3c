"""A plan's folder holds copies of its inputs, as long as these say what was planned."""

import hashlib
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from reservoir import optimise, read_reservoir
from reservoir.cli import cli
from reservoir.errors import InputError
from reservoir.hydro.reservoir import reservoir_digests
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.report.folder import write_plan
from tests.year_ends import cyclic, free


def test_a_reservoir_that_was_changed_in_python_is_not_copied_as_it_was(xiaowan, five_years, tmp_path):
    lower = replace(xiaowan, installed_mw=xiaowan.installed_mw / 2, guaranteed_energy_gwh=None)
    for plant, name in ((xiaowan, "read"), (lower, "changed"), (replace(xiaowan, name="other"), "renamed")):
        write_plan(optimise(plant, five_years, solver="dp"), tmp_path / name, (), figures=False)
    kept = (tmp_path / "read/reservoir.toml").read_bytes()
    assert kept == xiaowan.content
    for plant, name in ((lower, "changed"), (replace(xiaowan, name="other"), "renamed")):
        file = tmp_path / name / "reservoir.toml"
        back = read_reservoir(file)
        assert back.name == plant.name
        assert reservoir_digests(back) == reservoir_digests(plant)
        told = json.loads((tmp_path / name / "plan.json").read_text())["reservoir"]
        assert (told["file"], told["sha256"]) == ("", hashlib.sha256(file.read_bytes()).hexdigest())


@pytest.mark.parametrize("end", [lambda same: same, cyclic, free], ids=["fixed", "cyclic", "free"])
def test_a_plan_made_in_python_is_read_back_and_has_rules(end, small, small_inflow, tmp_path):
    """Neither the reservoir nor the record was ever a file."""
    plan = optimise(end(small), small_inflow, solver="dp", horizon=2)
    folder = plan.save(tmp_path / "plan", figures=False)
    saved = read_plan(folder)
    assert reservoir_digests(saved.plan.reservoir) == reservoir_digests(plan.reservoir)
    assert saved.plan.horizon == plan.horizon
    assert saved.plan.energy_gwh.tolist() == plan.energy_gwh.tolist()
    done = CliRunner().invoke(cli, ["rules", str(folder), "--family", "standard", "--folds", "2", "--no-figures"])
    assert done.exit_code in (0, 1), done.output
    assert (folder / "rules" / "standard.json").is_file()
    operated = ["operate", str(folder / "rules" / "standard.json"), "--month", "7", "--storage", "80", "--inflow", "30"]
    assert CliRunner().invoke(cli, operated).exit_code == 0


def test_a_reservoir_that_no_file_can_contain_is_left_out_and_named(small, small_inflow, tmp_path):
    plan = optimise(replace(small, name="the lake on the hill"), small_inflow, solver="dp")
    folder = plan.save(tmp_path / "plan", figures=False)
    assert not (folder / "reservoir.toml").exists()
    with pytest.raises(InputError, match=r"reservoir\.toml: is missing: the reservoir was made in Python.*Fix: "):
        read_plan(folder)


def test_a_remark_that_was_changed_in_python_leaves_the_copy(xiaowan, five_years, tmp_path):
    write_plan(optimise(replace(xiaowan, caveat="mine"), five_years, solver="dp"), tmp_path / "plan", (), figures=False)
    assert (tmp_path / "plan/reservoir.toml").is_file()
