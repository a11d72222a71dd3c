"""Rules of a record know storages off the plan: years from an empty and a full reservoir, led back to it."""

import numpy as np
import pytest

from reservoir.planning.plan import optimise
from reservoir.rules import Training
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.training import SPAN_YEARS
from reservoir.rules.families import linear
from reservoir.zoo import Part, zoo_case


@pytest.fixture(scope="module")
def training():
    case = zoo_case(14, 12, part=Part.TEST)
    return Training.of(optimise(case.reservoir, case.inflow, solver="dp", horizon="record", reference=False))


def test_spans_begin_empty_or_full_and_lead_back_to_the_plan(training):
    others, decided = training.other_starts, training.other_starts.decisions
    lowest, highest = training.model.reservoir.storage_bounds_hm3[:, -1]
    assert len(others.span) > 0
    starts = decided.storage_start_hm3[::SPAN_YEARS, 0]
    assert set(starts.round(6)) == {round(lowest, 6), round(highest, 6)}
    back = slice(SPAN_YEARS - 1, None, SPAN_YEARS)
    planned = training.storage_end_hm3[others.span[back, -1], -1]
    assert decided.storage_end_hm3[back, -1] == pytest.approx(planned)


def test_they_are_years_of_the_same_inflow_within_the_limits(training):
    others, decided = training.other_starts, training.other_starts.decisions
    place = others.span[np.arange(len(others.span)), np.arange(len(others.span)) % SPAN_YEARS]
    assert np.array_equal(decided.inflow_m3s, training.inflow_m3s[place])
    lower, upper = training.model.reservoir.storage_bounds_hm3
    room = 1e-6 * upper.max()
    assert np.all(decided.storage_end_hm3 >= lower - room)
    assert np.all(decided.storage_end_hm3 <= upper + room)


def test_a_span_with_a_year_held_out_is_not_known(training):
    held_out = 2
    chosen = [year for year in range(training.years) if year != held_out]
    others = training.select(chosen).other_starts
    assert 0 < len(others.span) < len(training.other_starts.span)
    known = np.array(chosen)[others.span]
    assert held_out not in known
    place = known[np.arange(len(known)), np.arange(len(known)) % SPAN_YEARS]
    assert np.array_equal(others.decisions.inflow_m3s, training.inflow_m3s[place])


def test_a_span_counts_as_its_least_year(training):
    counted = np.ones(training.years)
    counted[1] = 0.0
    counts = training.counts_of_decisions(counted)
    assert np.array_equal(counts[: training.years], counted)
    assert np.array_equal(counts[training.years :] == 0, (training.other_starts.span == 1).any(axis=1))


def test_a_rule_may_end_a_month_where_the_plan_never_does(training):
    rule = linear.fit(training, Forecast.MONTH)
    assert np.any(np.array(rule.lowest_hm3) < training.storage_end_hm3.min(axis=0) - 1.0)


def test_years_planned_by_themselves_have_none(xiaowan, inflow):
    plan = optimise(xiaowan, inflow.span(0, 6), solver="dp", reference=False)
    assert Training.of(plan).other_starts is None


def test_a_record_shorter_than_a_span_has_none():
    case = zoo_case(14, SPAN_YEARS - 1, part=Part.TEST)
    plan = optimise(case.reservoir, case.inflow, solver="dp", horizon="record", reference=False)
    training = Training.of(plan)
    assert not len(training.other_starts.span)
    assert linear.fit(training, Forecast.MONTH).factors
