"""The acceptance of synthetic inflow with a reservoir: optimised energy and firm power too."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.flood_space import FloodSpace
from reservoir.hydro.inflow import Inflow
from reservoir.planning.plan import optimise
from reservoir.synthetic import METHODS
from reservoir.synthetic.acceptance import (
    LEAST_RECORDS,
    Assessment,
    Comparison,
    assessed,
    compare_energy,
    optimised,
    what_to_try,
)
from reservoir.synthetic.ensemble import synthetic_inflow


@pytest.mark.device
@pytest.mark.parametrize("method", METHODS)
def test_a_thousand_years_make_the_energy_of_their_record(inflow, xiaowan, method):
    found = assessed(synthetic_inflow(inflow, method), 17, xiaowan)
    assert [check for check in found.checks if not check.passed] == []
    assert {"optimised energy, mean of the years", "firm power of the record"} <= {
        each.statistic for each in found.comparisons
    }
    assert found.not_checked == ""


@pytest.mark.device
def test_records_are_optimised_each_by_itself(inflow, xiaowan):
    flow = synthetic_inflow(inflow, "kirsch").flows(0, 3, 5)
    found = optimised(xiaowan, flow, inflow.calendar)
    alone = optimise(xiaowan, Inflow(flow[1], Calendar(1953, 5)), solver="dp-opencl")
    assert np.allclose(found.energy_gwh[1], alone.energy_gwh, rtol=1e-6)
    assert np.allclose(found.storage_hm3[1, :, -1], 14_557)
    assert found.firm_mw.shape == (3, 5)


@pytest.mark.device
def test_water_that_is_a_tenth_more_is_found_in_the_energy(inflow, xiaowan):
    flow = synthetic_inflow(inflow, "kirsch").flows(0, LEAST_RECORDS, inflow.years)
    record, more = (optimised(xiaowan, each, inflow.calendar) for each in (inflow.flow_m3s[np.newaxis], 1.1 * flow))
    failed = {each.statistic for each in compare_energy(record, more) if not each.check.passed}
    assert "optimised energy, mean of the years" in failed


@pytest.mark.device
def test_years_that_fill_no_window_of_the_horizon_are_left_out(xiaowan, inflow):
    flow = synthetic_inflow(inflow, "kirsch").flows(0, 2, 5)
    found = optimised(replace(xiaowan, horizon="2"), flow, inflow.calendar)
    assert found.energy_gwh.shape == (2, 4)


def test_without_a_reservoir_the_energy_is_said_not_to_be_checked(inflow):
    found = assessed(synthetic_inflow(inflow, "kirsch"), 1)
    assert found.optimised is None
    assert found.not_checked == "optimised energy and firm power: no reservoir is given"
    assert len(found.comparisons[0].synthetic) == LEAST_RECORDS


def test_with_limits_on_the_change_of_the_release_too(inflow, xiaowan):
    found = assessed(synthetic_inflow(inflow, "kirsch"), 1, replace(xiaowan, ramp_up_m3s=500.0))
    assert "cannot limit the change of the release" in found.not_checked


def test_with_flood_space_that_depends_on_a_column_too(inflow, xiaowan):
    space = FloodSpace("snow", (0.0, 1.0), [xiaowan.storage_upper_hm3, xiaowan.storage_upper_hm3])
    found = assessed(synthetic_inflow(inflow, "kirsch"), 1, replace(xiaowan, flood_space=space))
    assert found.optimised is None
    assert 'depends on the column "snow", which synthetic inflow does not have' in found.not_checked


@pytest.fixture
def to_try(inflow, monkeypatch):
    """What is said to try after kirsch, where so many lines of each method fail."""

    def said(**lines):
        values = np.arange(16.0)[:, np.newaxis]

        def assessment(method):
            record = [0.0 if place < lines[method] else 7.5 for place in range(3)]
            of_lines = enumerate(record)
            compared = [Comparison(f"line {n}", ("",), np.array([9 * each - 60]), values) for n, each in of_lines]
            return Assessment(tuple(compared), None, "")

        made = "reservoir.synthetic.acceptance.assessed"
        monkeypatch.setattr(made, lambda source, *_, **__: assessment(source.method.partition("-")[0]))
        source = synthetic_inflow(inflow, "kirsch")
        return what_to_try(source, assessment("kirsch"), 16)

    return said


def test_nothing_is_to_be_tried_where_all_lines_pass(to_try):
    assert to_try(kirsch=0, thomas=2, knn=2) == ""


def test_a_method_is_named_that_passes(to_try):
    assert to_try(kirsch=1, thomas=1, knn=0) == "--method knn: with the same seed every line passes"
    assert to_try(kirsch=1, thomas=0, knn=0).startswith("--method thomas-fiering or knn:")


def test_where_none_passes_another_seed_is_and_the_method_that_fails_least(to_try):
    said = to_try(kirsch=3, thomas=2, knn=3)
    assert said.startswith("another --seed: ")
    assert "thomas-fiering fails least (2 lines: line 0, line 1)" in said
    assert "this record of 62 years" in said
