"""The experiment on ring PSO: its tables, its claims, and what a user may ask for."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reservoir.bench.experiment import RunBudget
from reservoir.bench.ring import (
    ASYNC,
    ENGINES,
    REFERENCE,
    SEQUENTIAL,
    STANDARD,
    SYNC,
    RingStudy,
    mean_of_best,
    run,
)
from reservoir.errors import InputError
from reservoir.problems.functions import RING_FUNCTIONS


@pytest.fixture(scope="module")
def record(device):
    budget = RunBudget(runs=3, quick=True)
    return run(budget=budget, generations=30, dimensions="2,5", particles=8)


def test_every_engine_runs_every_function_as_often_as_asked(record):
    runs = record.data["runs"].groupby(["function", "dimension", "engine"]).size()
    assert len(runs) == len(RING_FUNCTIONS) * 2 * len(ENGINES)
    assert (runs == 3).all()
    assert np.isfinite(record.data["runs"]["value"]).all()


def test_the_figure_of_the_paper_is_there_as_tables_and_drawn(record):
    titles = " ".join(table.title for table in record.tables)
    assert [each in titles for each in ("left", "middle", "right", "Standard PSO 2006")] == [True] * 4
    assert set(record.figures) == set(record.captions) == {"by_variables"}


def test_whether_particles_were_at_work_at_once_is_said(record):
    assert "ran concurrently" in " ".join(record.tables[0].notes)


def test_a_quick_trial_claims_nothing_and_says_that_it_is_one(record):
    assert record.checks == ()
    assert "Quick trial" in record.warnings[0]


@pytest.mark.parametrize("dimensions", ["1", "2,x", "2000"])
def test_numbers_of_variables_are_checked(dimensions):
    with pytest.raises(InputError, match=r"--dimensions.*2 to 1,024"):
        run(budget=RunBudget(quick=True), dimensions=dimensions)


def test_the_best_98_percent_are_meant():
    assert mean_of_best(np.append(np.ones(98), [1e9, 1e9])) == 1
    assert mean_of_best(np.array([2.0])) == 2


@pytest.mark.parametrize(("later", "sync", "ratio"), [(1e-9, 1e-38, 1), (4.0, 2.0, 2)])
def test_values_that_are_zero_for_float32_are_as_good(two_cores, later, sync, ratio):
    about = {"function": "sphere", "dimension": 2}
    rows = [
        about | {"engine": engine, "value": value} for engine, value in ((ASYNC, later), (SYNC, sync)) for _ in "abc"
    ]
    asked = {"dimensions": (2,), "generations": 1, "particles": 2}
    study = RingStudy(device=two_cores, budget=RunBudget(), data={"runs": pd.DataFrame(rows)}, **asked)
    assert study.median_ratios()["sphere", 2] == ratio


def claimed(two_cores, **changes):
    """Checks of figures that are at their bars, or changed."""
    device = replace(two_cores, kind="GPU", compute_units=132)
    sizes = {"dimensions": (10, 128), "generations": 10_000, "particles": 32}
    rows, times = [], []
    seconds = {SEQUENTIAL: 100.0, SYNC: 3.1, ASYNC: 1.0} | changes.get("seconds", {})
    for name in RING_FUNCTIONS:
        for dimension in sizes["dimensions"]:
            for engine in ENGINES:
                middle = 0.99 * max(REFERENCE[name][dimension], 1e-7)
                worse = changes.get("values", {}).get((name, engine), 1.0)
                rows += [
                    {
                        "function": name,
                        "dimension": dimension,
                        "engine": engine,
                        "value": worse * middle * (1 + (k - 1.5) / 50),
                    }
                    for k in range(4)
                ]
                about = {"function": name, "dimension": dimension, "engine": engine}
                times += [about | {"swarms": 1, "alone": alone, "seconds": seconds[engine]} for alone in (True, False)]
    runs = pd.DataFrame(rows).assign(resident=True)
    published = [
        {"function": name, "value": mean + deviation * sign}
        for name, (mean, deviation) in STANDARD.items()
        for sign in (-1, 1)
    ]
    standard = pd.DataFrame(published)
    if "standard" in changes:
        standard["value"] += changes["standard"]
    data = {"runs": runs, "times": pd.DataFrame(times), "standard_pso_2006": standard}
    return RingStudy(device=device, budget=RunBudget(runs=4), data=data, **sizes).claims()


def test_figures_at_their_bars_pass(two_cores):
    assert [check.check for check in claimed(two_cores) if not check.passed] == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"values": {("rastrigin", SYNC): 1.3}}, "sync, Rastrigin"),
        ({"values": {("elliptic", SEQUENTIAL): 1.3}}, "sequential, High"),
        ({"values": {("rosenbrock", ASYNC): 2.1}}, "async / sync, Rosenbrock"),
        ({"standard": 500.0}, "Standard PSO 2006"),
        ({"seconds": {SYNC: 2.5}}, "async / sync, speed"),
        ({"seconds": {SEQUENTIAL: 60.0}}, "async / sequential, speed"),
    ],
)
def test_what_misses_its_bar_fails(two_cores, changes, words):
    failed = [check.check for check in claimed(two_cores, **changes) if not check.passed]
    assert any(words in check for check in failed)
