"""``reservoir solvers``: every solver, and every setting that words can give."""

import json
from dataclasses import fields

import pytest

from reservoir.solvers import SOLVERS, _engine_class, described_settings


def test_all_solvers_are_listed(call):
    printed = call("solvers").out
    assert all(name in printed for name in SOLVERS)
    assert [row["name"] for row in json.loads(call("solvers", "--json").out)["solvers"]] == list(SOLVERS)


@pytest.mark.parametrize("name", SOLVERS)
def test_settings_have_a_default_a_range_and_a_meaning(call, name):
    printed = call("solvers", name).out
    rows = {row[0]: row for row in described_settings(name)}
    assert {each.name for each in fields(_engine_class(SOLVERS[name]).settings_class)} - set(rows) <= {"first"}
    for setting, default, expected, meaning in rows.values():
        assert f"\n{setting}{'' if default is None else f' = {default}'}  ({expected})" in printed
        assert meaning, setting
    told = json.loads(call("solvers", name, "--json").out)["settings"]
    assert [row["name"] for row in told] == list(rows)


def test_an_unknown_solver_is_refused_with_the_names_there_are(call):
    assert "there is no such solver" in call("solvers", "simplex", status=2).err
