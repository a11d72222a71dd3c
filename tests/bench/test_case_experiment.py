"""The experiment on a case, as small as it can be."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from reservoir.bench import case
from reservoir.bench.case import DEVICE_ENGINE, PAPER, SEQUENTIAL
from reservoir.bench.experiment import QUICK_WARNING, RunBudget
from reservoir.bench.scaling import Point, ScalingStudy
from reservoir.cli.bench import EXPERIMENTS
from reservoir.planning.checks import all_pass


@pytest.fixture
def brief(monkeypatch):
    """A single point, and a limit found in no time."""
    monkeypatch.setattr(ScalingStudy, "points", lambda _: [Point("generations", 3, generations=20)])
    monkeypatch.setattr("reservoir.bench.scaling.LEAST_SECONDS", 1e-4)
    monkeypatch.setattr(case, "QUICK_GENERATIONS", 50)


@pytest.fixture
def budget(device) -> RunBudget:
    return RunBudget(runs=2, quick=True)


def test_engines_run_in_turn_with_different_seeds(brief, small, small_inflow, budget):
    record = case.run(small, small_inflow, budget=budget)
    runs = record.data["runs"]
    counted = runs[runs["counted"] & (runs["random"] != PAPER)]
    assert list(counted["engine"]) == [DEVICE_ENGINE, SEQUENTIAL] * 2
    assert counted["seed"].is_unique
    assert all_pass(record.checks)
    assert list(record.figures) == ["times", "scaling"]
    assert record.warnings[0] == QUICK_WARNING
    assert record.origin["device"]["driver"]


def test_caveats_stand_among_the_warnings(brief, xiaowan, five_years, budget):
    warnings = case.run(xiaowan, five_years, budget=budget).warnings
    assert xiaowan.caveat in warnings


def test_a_race_against_other_libraries_is_added(brief, small, small_inflow, budget, monkeypatch):
    frame = pd.DataFrame({"library": ["one", "other"], "total_seconds": [1.0, np.nan]})
    race = SimpleNamespace(frame=lambda: frame, title="A race", notes=("On one machine.",))
    asked = {}

    def time_peers(years, references, **options):
        asked.update(options, years=len(years), references=len(references))
        return race

    peers = SimpleNamespace(time_peers=time_peers, draw_peers=lambda axis, race: axis)
    monkeypatch.setitem(sys.modules, "reservoir.bench.peers", peers)
    record = case.run(small, small_inflow, budget=budget, peers=True)
    assert record.tables[-1].title == "A race"
    assert record.tables[-1].notes == ("On one machine.",)
    assert record.data["peers"] is frame
    assert "peers" in record.figures
    assert (asked["years"], asked["references"], asked["budget"].quick) == (3, 3, True)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_can_be_run(name):
    from importlib import import_module

    assert callable(import_module(EXPERIMENTS[name].module).run)
