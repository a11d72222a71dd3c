"""A plan's folder holds copies of its inputs, as long as these say what was planned."""

import json
from dataclasses import replace

from reservoir import optimise
from reservoir.report.folder import write_plan


def test_a_reservoir_that_was_changed_in_python_is_not_copied_as_it_was(xiaowan, five_years, tmp_path):
    lower = replace(xiaowan, installed_mw=xiaowan.installed_mw / 2, guaranteed_energy_gwh=None)
    for plant, name in ((xiaowan, "read"), (lower, "changed"), (replace(xiaowan, name="other"), "renamed")):
        write_plan(optimise(plant, five_years, solver="dp"), tmp_path / name, (), figures=False)
    kept = (tmp_path / "read/reservoir.toml").read_bytes()
    assert kept == xiaowan.content
    for name in ("changed", "renamed"):
        assert not (tmp_path / name / "reservoir.toml").exists()
        assert json.loads((tmp_path / name / "plan.json").read_text())["reservoir"]["sha256"] == ""


def test_a_remark_that_was_changed_in_python_leaves_the_copy(xiaowan, five_years, tmp_path):
    write_plan(optimise(replace(xiaowan, caveat="mine"), five_years, solver="dp"), tmp_path / "plan", (), figures=False)
    assert (tmp_path / "plan/reservoir.toml").is_file()
