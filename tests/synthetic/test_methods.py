"""Every method keeps its record's statistics, and makes the same member whatever else it makes."""

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.planning.checks import all_pass
from reservoir.synthetic import METHODS, method_named
from reservoir.synthetic.acceptance import compare_flows
from reservoir.synthetic.ensemble import LEAST_YEARS, synthetic_inflow

#: Members of 62 years that have 1,000 years.
MEMBERS = 17


@pytest.fixture(scope="module", params=METHODS)
def method(request) -> str:
    return request.param


def checks(record, flow):
    return [each.check for each in compare_flows(record.flow_m3s, flow, record.calendar)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_thousand_years_are_like_their_record(inflow, method, seed):
    flow = synthetic_inflow(inflow, method, seed=seed).flows(0, MEMBERS, inflow.years)
    failed = [check for check in checks(inflow, flow) if not check.passed]
    assert not failed


@pytest.mark.parametrize("month", range(12))
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_month_of_which_the_mean_is_ten_percent_off_is_found(inflow, method, month, factor):
    flow = synthetic_inflow(inflow, method).flows(0, MEMBERS, inflow.years)
    flow[:, :, month] *= factor
    found = checks(inflow, flow)[0]
    assert not found.passed
    assert found.check.startswith(f"mean of the month ({inflow.calendar.step_names[month]})")


def test_ten_thousand_years_are_like_their_record_within_their_own_smaller_error(inflow, method):
    few, many = (
        compare_flows(inflow.flow_m3s, synthetic_inflow(inflow, method).flows(0, count, 62), inflow.calendar)
        for count in (MEMBERS, 162)
    )
    assert many[0].limit < 0.6 * few[0].limit
    assert all_pass(each.check for each in many)


def test_the_same_seed_makes_the_same_bytes_and_another_seed_other_flows(inflow, method):
    one, same, other = (synthetic_inflow(inflow, method, seed=seed).flows(0, 3, 20) for seed in (1, 1, 2))
    assert one.tobytes() == same.tobytes()
    assert not np.isin(one.round(6), other.round(6)).any() or method == "kirsch"
    assert (one != other).mean() > 0.9


@pytest.mark.parametrize("years", [1, 5, 62])
def test_a_member_does_not_depend_on_the_others_nor_its_first_years_on_what_follows(inflow, method, years):
    source = synthetic_inflow(inflow, method)
    many = source.flows(0, 200, 62)
    assert source.flows(7, 8, years).tobytes() == many[7:8, :years].tobytes()
    assert source.flows(0, 10, years).tobytes() == many[:10, :years].tobytes()


def test_members_made_in_blocks_are_the_same(inflow, method, monkeypatch):
    source = synthetic_inflow(inflow, method)
    whole = source.ensemble(10, 7)
    monkeypatch.setattr("reservoir.synthetic.ensemble._BLOCK_YEARS", 21)
    assert source.ensemble(10, 7).flow_m3s.tobytes() == whole.flow_m3s.tobytes()


def test_members_differ_and_do_not_follow_each_other(inflow, method):
    annual = synthetic_inflow(inflow, method).flows(0, 200, 62).mean(axis=2)
    between = np.corrcoef(annual)[~np.eye(200, dtype=bool)]
    assert abs(between.mean()) < 0.01
    assert between.max() < 0.75


def test_a_river_that_falls_dry_has_synthetic_months_without_flow_and_none_below(arid, method):
    flow = synthetic_inflow(arid, method).flows(0, 50, 40)
    assert np.isfinite(flow).all()
    assert (flow >= 0).all()
    assert (flow[:, :, 10] == 0).all()  # which never flowed
    dry, dry_of_record = ((each == 0).mean(axis=(0, 1)) for each in (flow, arid.flow_m3s[np.newaxis]))
    assert dry_of_record[9] > 0.1
    assert dry == pytest.approx(dry_of_record, abs=0.1)  # two standard errors of 40 years are 0.12
    standard_error = arid.flow_m3s.mean(axis=1).std() / np.sqrt(arid.years)
    assert flow.mean() == pytest.approx(arid.flow_m3s.mean(), abs=standard_error)


def test_rivers_that_fall_dry_in_any_way_keep_their_mean_their_dry_years_and_the_size_of_their_floods(
    falling_dry, method
):
    """Zeros in a transform that takes the skew of all flows made months of 139 million m3/s."""
    record = falling_dry.flow_m3s
    flow = synthetic_inflow(falling_dry, method).flows(0, 60, falling_dry.years)
    standard_error = record.mean(axis=1).std(ddof=1) / np.sqrt(falling_dry.years)
    assert flow.mean() == pytest.approx(record.mean(), abs=0.4 * standard_error)
    of_month = record.std(axis=0, ddof=1) / np.sqrt(falling_dry.years)
    assert (np.abs(flow.mean(axis=(0, 1)) - record.mean(axis=0)) <= 0.5 * of_month + 1e-9).all()
    assert flow.max() <= 4.5 * record.max()
    dry, dry_of_record = ((each <= 1e-3 * record.mean(axis=0)).mean(axis=(0, 1)) for each in (flow, record[None]))
    assert dry == pytest.approx(dry_of_record, abs=0.04)
    found = {each.statistic: each.check for each in compare_flows(record, flow, falling_dry.calendar)}
    by_record = ("mean of the month", "largest flow of the month", "annual mean", "years without flow in the month")
    assert all(found[name].passed for name in by_record)


def test_dry_months_follow_each_other_as_on_record(method):
    """Of two months that fall dry in the same years, both are dry in as many of the synthetic years."""
    random = np.random.default_rng(2)
    flow = np.exp(random.normal(3, 0.4, (60, 12)))
    flow[random.random(60) < 0.5, :2] = 0
    made = synthetic_inflow(Inflow(flow, Calendar(1950, 60)), method).flows(0, 50, 60)
    both, both_of_record = ((each[..., :2] == 0).all(axis=-1).mean() for each in (made, flow))
    alone = (flow[:, 0] == 0).mean() ** 2
    assert both > 0.5 * both_of_record + 0.5 * alone


def test_a_record_that_never_changes_is_repeated(method):
    steady = Inflow(np.tile(np.arange(12.0), (20, 1)), Calendar(1990, 20))
    assert np.allclose(synthetic_inflow(steady, method).flows(0, 3, 20), np.arange(12.0), atol=1e-12)


def test_the_ensemble_has_the_calendar_of_the_record_and_its_caveat(arid, method):
    ensemble = synthetic_inflow(arid, method, seed=5).ensemble(3, 15)
    assert ensemble.labels[0] == "1: 1970/71"
    assert ensemble.labels[-1] == "3: 1984/85"
    assert ensemble.calendar.first_month == 10
    expected = f"synthetic inflow by {method}, seed 5, from a record (1970/71 to 2009/10); that record: invented"
    assert ensemble.caveat == expected


def test_a_record_that_is_too_short_is_refused_in_words(inflow, method):
    with pytest.raises(InputError, match=rf"too short .* \(found {LEAST_YEARS - 1}\); expected at least {LEAST_YEARS}"):
        synthetic_inflow(inflow.span(0, LEAST_YEARS - 1), method)
    assert synthetic_inflow(inflow.span(0, LEAST_YEARS), method).flows(0, 100, 50).max() < 1e5


def test_an_ensemble_is_no_record(inflow, method):
    members = synthetic_inflow(inflow, method).ensemble(2)
    with pytest.raises(InputError, match="the inflow has members; expected one record"):
        synthetic_inflow(members, method)


def test_a_member_ends_before_the_year_10000(inflow, method):
    with pytest.raises(InputError, match="at most 8046 years"):
        synthetic_inflow(inflow, method).ensemble(1, 8047)


def test_an_unknown_method_is_refused_with_the_names_of_all():
    with pytest.raises(InputError, match=r"unknown method .*\(found \"arma\"\); expected kirsch, thomas-fiering, knn"):
        method_named("arma")
