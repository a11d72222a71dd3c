"""Climate adjustments do what they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.synthetic import METHODS
from reservoir.synthetic.acceptance import compare_flows
from reservoir.synthetic.ensemble import Adjustments, FlowAdjuster, shifted_regime, synthetic_inflow

DAYS = np.array([31, 28.25, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


def cv(flow):
    return flow.std(axis=0) / flow.mean(axis=0)


def test_adjustments_are_read_as_they_are_typed():
    assert Adjustments.of("-10%", "+15 %", "15d") == Adjustments(0.9, 1.15, 15)
    assert Adjustments.of() == Adjustments()
    assert str(Adjustments.of("-10%", "+15%", "-15d")) == (
        "mean -10 %, coefficient of variation +15 %, season shifted by -15 days"
    )
    assert str(Adjustments.of()) == ""


@pytest.mark.parametrize("text", ["-100%", "-150%", "ten", "0.9", "1e3%", "", "%", "99999%", "nan%"])
def test_what_is_no_percentage_is_refused_in_words(text):
    with pytest.raises(InputError, match="a percentage above -100% and up to") as refused:
        Adjustments.of(mean=text, variation=text)
    assert [mistake.column for mistake in refused.value.mistakes] == ["mean", "cv"]


@pytest.mark.parametrize("text", ["15", "184d", "-1000d", "d", "1 month", "infd"])
def test_what_are_no_days_is_refused_in_words(text):
    with pytest.raises(InputError, match="days from -183d to 183d"):
        Adjustments.of(shift=text)


def test_the_mean_and_the_coefficient_of_variation_of_the_record_change_by_their_factors(inflow):
    record = inflow.flow_m3s
    drier = FlowAdjuster.of(Adjustments(mean=0.8), record, 1).of_record(record)
    assert np.allclose(drier, 0.8 * record)
    wilder = FlowAdjuster.of(Adjustments(variation=1.3), record, 1).of_record(record)
    assert np.allclose(wilder.mean(axis=0), record.mean(axis=0))
    assert np.allclose(cv(wilder), 1.3 * cv(record))
    assert (np.argsort(wilder, axis=0) == np.argsort(record, axis=0)).all()


def test_no_flow_becomes_negative_however_much_more_it_varies(arid):
    record = arid.flow_m3s
    wilder = FlowAdjuster.of(Adjustments(variation=1.6), record, 10).of_record(record)
    assert (wilder >= 0).all()
    flowing = record.max(axis=0) > 0
    assert np.allclose(cv(wilder[:, flowing]), 1.6 * cv(record[:, flowing]))
    assert ((wilder == 0) == (record == 0)).all()


def test_a_month_that_cannot_vary_as_much_is_refused(arid):
    with pytest.raises(InputError, match="cannot vary as much as asked; expected "):
        FlowAdjuster.of(Adjustments(variation=8.0), arid.flow_m3s, 10)


@pytest.mark.parametrize(
    "typed", [("-10%", "+15%", "15d"), ("+20%", "-20%", "-40d"), (None, "+40%", None), (None, "-60%", "100d")]
)
def test_a_river_that_falls_dry_is_adjusted_too_and_keeps_the_size_of_its_floods(falling_dry, typed):
    source = synthetic_inflow(falling_dry, "kirsch", adjustments=Adjustments.of(*typed))
    adjusted, flow = source.adjusted_record, source.flows(0, 40, falling_dry.years)
    wanted = {"-10%": 0.9, "+20%": 1.2}.get(typed[0], 1.0) * (falling_dry.flow_m3s * DAYS).sum()
    assert (adjusted * DAYS).sum() == pytest.approx(wanted, rel=1e-3, abs=1e-12)
    assert flow.max() <= 6 * adjusted.max()
    standard_error = adjusted.mean(axis=1).std(ddof=1) / np.sqrt(falling_dry.years)
    assert flow.mean() == pytest.approx(adjusted.mean(), abs=0.6 * standard_error)
    assert source.flows(3, 4, 7).tobytes() == flow[3:4, :7].tobytes()


def test_the_season_of_a_river_that_falls_dry_moves_into_dry_months_year_by_year():
    """A factor has nothing to multiply there, and the few wet years of a month do not get the water of all."""
    flow = np.zeros((20, 12))
    flow[:, 4] = np.arange(1.0, 21.0)  # May, of 31 days; June, of 30, has water in one year
    flow[3, 5] = 1.0
    moved = FlowAdjuster.of(Adjustments(shift_days=15), flow, 1).of_record(flow)
    assert moved[:, 4] == pytest.approx(flow[:, 4] * 16 / 31)
    assert moved[:, 5] == pytest.approx((flow[:, 4] * 15 + flow[:, 5] * 15) / 30)
    assert (moved * DAYS).sum() == pytest.approx((flow * DAYS).sum())
    back = FlowAdjuster.of(Adjustments(shift_days=-45), flow, 1).of_record(flow)
    assert back[:, 3] == pytest.approx((flow[:, 4] * 16 + flow[:, 5] * 14) / 30)
    assert (back * DAYS).sum() == pytest.approx((flow * DAYS).sum())


def test_months_whose_dry_years_leave_no_room_vary_in_their_wet_years_and_are_named():
    flow = np.exp(np.random.default_rng(1).normal(2, 0.3, (20, 12)))
    flow[3:, 1] = 0
    flow[1:, 7] = 0
    source = synthetic_inflow(Inflow(flow, Calendar(1990, 20)), "kirsch", adjustments=Adjustments(variation=0.6))
    wet = source.adjusted_record[:3, 1]
    assert wet.std() / wet.mean() == pytest.approx(0.6 * flow[:3, 1].std() / flow[:3, 1].mean())
    assert source.adjusted_record[0, 7] == pytest.approx(flow[0, 7])
    assert "coefficient of variation -40 % (of Feb, Aug in wet years alone, as far as they can)" in source.caveat


@given(days=st.floats(-183, 183), seed=st.integers(0, 1000))
def test_a_shifted_regime_keeps_the_volume_of_the_year(days, seed):
    mean = np.random.default_rng(seed).exponential(100, 12)
    shifted = shifted_regime(mean, DAYS, days)
    assert shifted @ DAYS == pytest.approx(mean @ DAYS)
    assert shifted.min() >= mean.min() - 1e-9
    assert shifted.max() <= mean.max() + 1e-9
    assert np.allclose(shifted_regime(mean, DAYS, 0), mean)
    other_way = days - np.copysign(DAYS.sum(), days)
    assert np.allclose(shifted_regime(mean, DAYS, other_way), shifted)


def test_half_a_month_later_mixes_a_month_with_the_one_before():
    mean = np.zeros(12)
    mean[4] = 10.0  # May, of 31 days; June has 30
    shifted = shifted_regime(mean, DAYS, 15)
    assert shifted[4:6] == pytest.approx([10 * 16 / 31, 10 * 15 / 30])
    assert np.delete(shifted, [4, 5]) == pytest.approx(0)


@pytest.mark.parametrize("days", [10, 15, 61, -45, 183])
def test_the_season_of_the_record_comes_later_by_so_many_days_and_keeps_its_volume(inflow, days):
    record = inflow.flow_m3s
    moved = FlowAdjuster.of(Adjustments(shift_days=days), record, 1).of_record(record)
    middles = np.cumsum(DAYS) - DAYS / 2

    def centre(flow):
        angle = 2 * np.pi * middles / DAYS.sum()
        weights = flow.mean(axis=0) * DAYS
        return np.arctan2(weights @ np.sin(angle), weights @ np.cos(angle)) * DAYS.sum() / (2 * np.pi)

    later = (centre(moved) - centre(record)) % DAYS.sum()
    assert later == pytest.approx(days % DAYS.sum(), abs=1.0)
    assert moved.mean(axis=0) @ DAYS == pytest.approx(record.mean(axis=0) @ DAYS)


def test_months_are_moved_with_their_own_variation(inflow):
    """Two months later, each month varies as the one that was moved there."""
    record = inflow.flow_m3s
    moved = FlowAdjuster.of(Adjustments(shift_days=61), record, 1).of_record(record)
    assert np.allclose(cv(moved), np.roll(cv(record), 2))


@pytest.mark.parametrize("method", METHODS)
def test_an_adjusted_ensemble_is_like_the_record_adjusted_in_the_same_way_and_unlike_the_record(inflow, method):
    source = synthetic_inflow(inflow, method, adjustments=Adjustments.of("-10%", "+15%", "40d"))
    flow = source.flows(0, 17, 62)
    adjusted, plain = (
        [each.check for each in compare_flows(record, flow, inflow.calendar)]
        for record in (source.adjusted_record, inflow.flow_m3s)
    )
    assert [check for check in adjusted if not check.passed] == []
    assert not plain[0].passed
    assert source.flows(3, 4, 20).tobytes() == flow[3:4, :20].tobytes()
    assert "adjusted: mean -10 %, coefficient of variation +15 %, season shifted by +40 days" in source.caveat


def test_without_adjustments_flows_are_as_they_were(inflow):
    source = synthetic_inflow(inflow, "kirsch")
    assert source.adjusted_record.tobytes() == inflow.flow_m3s.tobytes()
