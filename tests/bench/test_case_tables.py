"""The paper's tables, from runs whose numbers are known."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.bench.case import (
    DEVICE_ENGINE,
    SEQUENTIAL,
    CaseStudy,
)


def test_only_runs_of_the_products_own_streams_count(case_study):
    assert [len(case_study.counted[engine]) for engine in (SEQUENTIAL, DEVICE_ENGINE)] == [4, 4]
    assert list(case_study.counted[DEVICE_ENGINE]["seed"]) == [1, 2, 3, 4]


def test_times_are_in_milliseconds_and_energy_in_both_units(case_study):
    frame = case_study.table_5().frame.set_index(["quantity", "engine"])
    assert frame.loc[("execution time, ms", DEVICE_ENGINE), "mean"] == "115.00"
    assert frame.loc[("execution time, ms", SEQUENTIAL), "maximum"] == "1,300.00"
    assert frame.loc[("total best benefit, GWh", SEQUENTIAL), "minimum"] == "1,000.00"
    assert frame.loc[("total best benefit, 1e8 kWh", SEQUENTIAL), "minimum"] == "10.0000"


def test_the_speed_up_is_the_ratio_of_medians(case_study):
    assert case_study.speed_up() == pytest.approx(1.15 / 0.115)
    np.testing.assert_allclose(case_study.speed_ups(), [1.0 / 0.1, 1.1 / 0.11, 1.2 / 0.12, 1.3 / 0.13])
    row = case_study.table_6().frame.iloc[0]
    assert row["its lower quartile"] <= row["speed-up"] * (1 + 1e-9)


def test_equal_engines_pass_the_t_test_and_different_ones_fail(runs, case_study):
    assert case_study.t_test() > 0.05
    better = runs.assign(benefit_gwh=runs["benefit_gwh"] + (runs["engine"] == DEVICE_ENGINE))
    assert replace(case_study, data={"runs": better}).t_test() < 1e-6


def test_a_single_run_cannot_be_tested(runs, case_study):
    one = runs.drop_duplicates(["engine", "random", "counted"])
    assert np.isnan(replace(case_study, data={"runs": one}).t_test())


def test_the_segments_and_the_rest_make_the_whole_call(case_study):
    frame = case_study.table_7().frame
    parts = frame.drop(columns=["random numbers", "run", "whole call", "device"])
    np.testing.assert_allclose(parts.sum(axis=1), frame["whole call"])
    assert list(frame["whole call"]) == pytest.approx([500, 115, 900, 200])


def test_the_worst_year_is_named_with_the_seed_that_found_it(case_study, monkeypatch):
    monkeypatch.setattr(CaseStudy, "reference_gwh", 1000.0)
    frame = case_study.gap_table().frame.set_index("engine")
    assert frame.loc[DEVICE_ENGINE, "in"] == "1953, seed 4"
    assert frame.loc[DEVICE_ENGINE, "worst gap of a year"] == pytest.approx(4e-5)
    assert frame.loc[DEVICE_ENGINE, "worst gap of the total"] == pytest.approx(4e-7)
    assert frame.index[-1] == f"{DEVICE_ENGINE}, the paper's random numbers"
    assert frame.iloc[-1]["in"] == "1953, seed 2"


def test_the_energy_of_the_reference_has_no_penalty_in_it(case_study, six_year_plan):
    energy = six_year_plan.energy_gwh
    assert f"({energy.sum():,.2f} GWh in 6 years)" in case_study.gap_table().notes[0]
    # The first year is one that no schedule can keep.
    references = replace(six_year_plan.references, fitness=six_year_plan.references.fitness - 1e6 * (np.arange(6) == 0))
    lost = replace(six_year_plan, references=references)
    lost.__dict__["feasible_problems"] = np.arange(6) > 0
    note = replace(case_study, plan=lost).gap_table().notes[0]
    assert f"({energy[1:].sum():,.2f} GWh in 5 years; the limits of 1 year (1953) cannot be kept: gaps there" in note
