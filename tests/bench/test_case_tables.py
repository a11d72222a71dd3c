"""The paper's tables, from runs whose numbers are known."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.bench.case import (
    DEVICE_ENGINE,
    PAPER,
    SEQUENTIAL,
    CaseStudy,
    counted_runs,
    gap_table,
    speed_up,
    speed_ups,
    t_test,
    table_5,
    table_6,
    table_7,
)


def test_only_runs_of_the_products_own_streams_count_unless_asked(runs):
    assert len(counted_runs(runs, DEVICE_ENGINE)) == len(counted_runs(runs, SEQUENTIAL)) == 4
    assert list(counted_runs(runs, DEVICE_ENGINE, PAPER)["seed"]) == [2]


def test_times_are_in_milliseconds_and_energy_in_both_units(case_study):
    frame = table_5(case_study).frame.set_index(["quantity", "engine"])
    assert frame.loc[("execution time, ms", DEVICE_ENGINE), "mean"] == "115.00"
    assert frame.loc[("execution time, ms", SEQUENTIAL), "maximum"] == "1,300.00"
    assert frame.loc[("total best benefit, GWh", SEQUENTIAL), "minimum"] == "1,000.00"
    assert frame.loc[("total best benefit, 1e8 kWh", SEQUENTIAL), "minimum"] == "10.0000"


def test_the_speed_up_is_the_ratio_of_medians(runs, case_study):
    assert speed_up(runs) == pytest.approx(1.15 / 0.115)
    np.testing.assert_allclose(speed_ups(runs), [1.0 / 0.1, 1.1 / 0.11, 1.2 / 0.12, 1.3 / 0.13])
    row = table_6(case_study).frame.iloc[0]
    assert row["its lower quartile"] <= row["speed-up"] * (1 + 1e-9)


def test_equal_engines_pass_the_t_test_and_different_ones_fail(runs):
    assert t_test(runs) > 0.05
    better = runs.assign(benefit_gwh=runs["benefit_gwh"] + (runs["engine"] == DEVICE_ENGINE))
    assert t_test(better) < 1e-6


def test_a_single_run_cannot_be_tested(runs):
    assert np.isnan(t_test(runs.drop_duplicates(["engine", "random", "counted"])))


def test_the_segments_and_the_rest_make_the_whole_call(case_study):
    frame = table_7(case_study).frame
    parts = frame.drop(columns=["random numbers", "run", "whole call", "device"])
    np.testing.assert_allclose(parts.sum(axis=1), frame["whole call"])
    assert list(frame["whole call"]) == pytest.approx([500, 115, 900, 200])


def test_the_worst_year_is_named_with_the_seed_that_found_it(case_study, monkeypatch):
    monkeypatch.setattr(CaseStudy, "reference_gwh", 1000.0)
    frame = gap_table(case_study).frame.set_index("engine")
    assert frame.loc[DEVICE_ENGINE, "in"] == "1953, seed 4"
    assert frame.loc[DEVICE_ENGINE, "worst gap of a year"] == pytest.approx(4e-5)
    assert frame.loc[DEVICE_ENGINE, "worst gap of the total"] == pytest.approx(4e-7)


def test_the_energy_of_the_reference_has_no_penalty_in_it(case_study, six_year_plan):
    energy = six_year_plan.energy_gwh
    assert f"({energy.sum():,.2f} GWh in 6 years)" in gap_table(case_study).notes[0]
    # The first year is one that no schedule can keep.
    references = replace(six_year_plan.references, fitness=six_year_plan.references.fitness - 1e6 * (np.arange(6) == 0))
    lost = replace(six_year_plan, references=references)
    lost.__dict__["feasible_problems"] = np.arange(6) > 0
    note = gap_table(replace(case_study, plan=lost)).notes[0]
    assert f"({energy[1:].sum():,.2f} GWh in 5 years; the limits of 1 year (1953) cannot be kept: gaps there" in note
